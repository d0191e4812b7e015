// Layer normalisation over the columns of a row (Ba et al. 2016).
//   forward    y = (x - mean) / sqrt(var + eps) * gain + bias          var is the mean of squares about the mean
//   backward   h = (x - mean) rstd;  d = dy gain;  dx = rstd (d - mean(d) - h mean(d h))
//              dgain[c] = sum over rows of dy h,  dbias[c] = sum over rows of dy: a partial sum per run of rows, then
//              column_sum (bias.cu)
// Shapes: x, y, dy, dx [rows, n]; gain, bias [1, n]; part_gain, part_bias [parts, n]. Statistics are recomputed in the
// backward pass: nothing is saved but x. Overwrites; padding columns become 0. LN_N bounds n.
// bounds: LN_N=256
// bounds: LN_N=1024
#ifndef LN_N
#define LN_N 4096
#endif
#include "platform.cuh"
#include "reduce.cuh"

static constexpr int PACKS = LN_N / 8;
struct LayerNormArgs {
  Members<const real> x, gain, bias, dy;
  Members<real> y, dx, part_gain, part_bias;
  i32 rows, n, ld, parts;
  float eps, inv_n;
};

template<class Tm, class X> FN void statistics(const LayerNormArgs& a, Tm& t, X& x, float& mean, float& rstd) {
  const int p = (a.n + 7) / 8;
  mean = sum<PACKS>(t, p, [&](int, Slot s) { return x[s]; }) * a.inv_n;
  const float var = sum<PACKS>(t, p, [&](int i, Slot s) {
    const F8 d = keep(x[s] - mean, i, a.n, 0.f);
    return d * d;
  }) * a.inv_n;
  rstd = 1.f / sqrt_(var + a.eps);
}

KERNEL(layer_norm_forward, LayerNormArgs, None, 32, 32, 4) {
  if (t.index >= (u32)a.rows) return;
  const int p = (a.n + 7) / 8;
  const i64 row = (i64)t.index * a.ld;
  const real *const gain = a.gain.of(t.member), *const bias = a.bias.of(t.member);
  PerItem<F8, PACKS> x;
  t.template each<PACKS>(p, [&](int i, Slot s) { x[s] = keep(load8(a.x.of(t.member) + row + 8 * i), i, a.n, 0.f); });
  float mean, rstd;
  statistics(a, t, x, mean, rstd);
  t.template each<PACKS>(p, [&](int i, Slot s) {
    const F8 y = (x[s] - mean) * rstd * load8(gain + 8 * i) + load8(bias + 8 * i);
    store8(a.y.of(t.member) + row + 8 * i, keep(y, i, a.n, 0.f));
  });
}

// Team k owns a run of rows: its share of the gradients of gain and bias stays on chip.
KERNEL(layer_norm_backward, LayerNormArgs, None, 32, 32, 4) {
  if (t.index >= (u32)a.parts) return;
  const int p = (a.n + 7) / 8;
  const real* const gain = a.gain.of(t.member);
  PerItem<F8, PACKS> x, d, dg, db;
  t.template each<PACKS>(p, [&](int, Slot s) { dg[s] = constant<F8>(0.f); db[s] = constant<F8>(0.f); });
  const int per = (a.rows + a.parts - 1) / a.parts;
  const int first = (int)t.index * per, last = first + per < a.rows ? first + per : a.rows;
  for (int r = first; r < last; ++r) {
    const i64 row = (i64)r * a.ld;
    t.template each<PACKS>(p, [&](int i, Slot s) { x[s] = keep(load8(a.x.of(t.member) + row + 8 * i), i, a.n, 0.f); });
    float mean, rstd;
    statistics(a, t, x, mean, rstd);
    float s2[2];
    reduce<Add, PACKS>(t, p, s2, [&](int i, Slot s, F8 (&v)[2]) {
      const F8 dy = keep(load8(a.dy.of(t.member) + row + 8 * i), i, a.n, 0.f);
      const F8 h = keep((x[s] - mean) * rstd, i, a.n, 0.f);
      dg[s] = dg[s] + dy * h;
      db[s] = db[s] + dy;
      d[s] = dy * load8(gain + 8 * i);
      x[s] = h;
      v[0] = keep(d[s], i, a.n, 0.f);
      v[1] = keep(d[s] * h, i, a.n, 0.f);
    });
    const float m0 = s2[0] * a.inv_n, m1 = s2[1] * a.inv_n;
    t.template each<PACKS>(p, [&](int i, Slot s) {
      store8(a.dx.of(t.member) + row + 8 * i, keep(rstd * (d[s] - m0 - x[s] * m1), i, a.n, 0.f));
    });
  }
  t.template each<PACKS>(p, [&](int i, Slot s) {
    store8(a.part_gain.of(t.member) + (i64)t.index * a.ld + 8 * i, keep(dg[s], i, a.n, 0.f));
    store8(a.part_bias.of(t.member) + (i64)t.index * a.ld + 8 * i, keep(db[s], i, a.n, 0.f));
  });
}
