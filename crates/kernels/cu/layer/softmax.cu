// Softmax and log-softmax over the columns of a row.
//   forward    y = exp(x - max) / sum, or y = x - max - log(sum)
//   backward   dx = y (dy - sum(dy y)), or dx = dy - exp(y) sum(dy)
// Shapes: all [rows, n]. Overwrites; padding columns become 0. SM_N bounds n.
// bounds: SM_N=256
// bounds: SM_N=1024
#ifndef SM_N
#define SM_N 4096
#endif
#include "platform.cuh"
#include "reduce.cuh"
#include "math.cuh"

static constexpr int PACKS = SM_N / 8;
struct SoftmaxArgs { Members<const real> x, dy; Members<real> y; i32 rows, n, ld, log; };

KERNEL(softmax_forward, SoftmaxArgs, None, 32, 32, 4) {
  if (t.index >= (u32)a.rows) return;
  const int p = (a.n + 7) / 8;
  const i64 row = (i64)t.index * a.ld;
  PerItem<F8, PACKS> x, e;
  const float top = maximum<PACKS>(t, p, [&](int i, Slot s) {
    return x[s] = keep(load8(a.x.of(t.member) + row + 8 * i), i, a.n, -INFINITY_F32);
  });
  const float z = sum<PACKS>(t, p, [&](int i, Slot s) { return e[s] = keep(exp_(x[s] - top), i, a.n, 0.f); });
  const float log_z = log_(z), inv_z = 1.f / z;
  t.template each<PACKS>(p, [&](int i, Slot s) {
    const F8 y = a.log ? x[s] - top - log_z : e[s] * inv_z;
    store8(a.y.of(t.member) + row + 8 * i, keep(y, i, a.n, 0.f));
  });
}

// x here is the forward pass's y; y is dx.
KERNEL(softmax_backward, SoftmaxArgs, None, 32, 32, 4) {
  if (t.index >= (u32)a.rows) return;
  const int p = (a.n + 7) / 8;
  const i64 row = (i64)t.index * a.ld;
  PerItem<F8, PACKS> y, dy;
  const float total = sum<PACKS>(t, p, [&](int i, Slot s) {
    y[s] = load8(a.x.of(t.member) + row + 8 * i);
    dy[s] = keep(load8(a.dy.of(t.member) + row + 8 * i), i, a.n, 0.f);
    return a.log ? dy[s] : keep(dy[s] * y[s], i, a.n, 0.f);
  });
  t.template each<PACKS>(p, [&](int i, Slot s) {
    const F8 dx = a.log ? dy[s] - exp_(y[s]) * total : y[s] * (dy[s] - total);
    store8(a.y.of(t.member) + row + 8 * i, keep(dx, i, a.n, 0.f));
  });
}
