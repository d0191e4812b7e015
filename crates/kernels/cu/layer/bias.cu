// Bias, with or without ReLU.
//   forward   y = x + b            or y = max(x + b, 0)           in place (y may be x)
//   backward  dz = dy              or dz = dy where y > 0, else 0
//             db[c] = sum over rows of dz[., c]   as partial sums of row runs, then column_sum (below)
// Shapes: x, y, dy, dz [rows, n]; b, db [1, n]; part [parts, n]. Overwrites. Padding columns are written as 0.
// Bits do not depend on the launch shape; the number of parts is part of the definition of db.
#include "platform.cuh"
#include "reduce.cuh"
#include "columns.cuh"

struct BiasArgs {
  Members<const real> x, b;
  Members<real> y;
  i32 rows, n, ld_x, ld_y, relu, reserved;
};
KERNEL(bias_forward, BiasArgs, None, 32, 32, 8) {
  if (t.index >= (u32)a.rows) return;
  const real* const x = a.x.of(t.member) + (i64)t.index * a.ld_x;
  const real* const b = a.b.of(t.member);
  real* const y = a.y.of(t.member) + (i64)t.index * a.ld_y;
  t.each((a.n + 7) / 8, [&](int i) {
    F8 z = load8(x + 8 * i) + load8(b + 8 * i);
    if (a.relu) z = select(z < 0.f, constant<F8>(0.f), z);  // NaN stays
    store8(y + 8 * i, keep(z, i, a.n, 0.f));
  });
}

struct BiasGradientArgs {
  Members<const real> dy, y;
  Members<real> dz, part;
  i32 rows, n, ld, ld_part, parts, relu;
};
KERNEL(bias_backward, BiasGradientArgs, ColumnSums<1>, 256, 256, 1) {
  const int blocks = (a.n + 63) / 64, part = t.index / blocks, base = t.index % blocks * COLUMN_PACKS;
  if (part >= a.parts) return;
  int first, last;
  rows_of_part(a.rows, a.parts, part, first, last);
  const real* const dy = a.dy.of(t.member);
  const real* const y = a.y.of(t.member);
  real *const dz = a.dz.of(t.member), *const out = a.part.of(t.member) + (i64)part * a.ld_part;
  column_sums<1>(t, m, (a.n + 7) / 8 - base, first, last,
    [&](int r, int pack, F8 (&v)[1]) {
      const i64 o = (i64)r * a.ld + 8 * (base + pack);
      F8 d = keep(load8(dy + o), base + pack, a.n, 0.f);
      if (a.relu) {
        d = select(load8(y + o) > 0.f, d, constant<F8>(0.f));
        store8(dz + o, d);
      }
      v[0] = d;
    },
    [&](int pack, F8 (&s)[1]) { store8(out + 8 * (base + pack), s[0]); });
}

// out[c] = sum over rows of x[., c]: the second pass of every column sum.
struct ColumnSumArgs { Members<const real> x; Members<real> out; i32 rows, n, ld, reserved; };
KERNEL(column_sum, ColumnSumArgs, ColumnSums<1>, 256, 256, 1) {
  const int base = t.index * COLUMN_PACKS;
  if (8 * base >= a.n) return;
  const real* const x = a.x.of(t.member);
  real* const out = a.out.of(t.member);
  column_sums<1>(t, m, (a.n + 7) / 8 - base, 0, a.rows,
    [&](int r, int pack, F8 (&v)[1]) { v[0] = keep(load8(x + (i64)r * a.ld + 8 * (base + pack)), base + pack, a.n, 0.f); },
    [&](int pack, F8 (&s)[1]) { store8(out + 8 * (base + pack), s[0]); });
}
