// A matrix product whose result stays on chip: out(row, column) = x[row, .] . w[column, .] for 16 rows, F32 sums.
// Portable: one (row, column) an item; packs are added in order by fma_, then folded by strides 4, 2, 1.
// Tensor cores (BF16 on a GPU): a warp takes eight columns at a time; sums agree within F32 rounding of K terms.
#pragma once
#include "platform.cuh"
#include "reduce.cuh"

static constexpr int PRODUCT_ROWS = 16;

// put(row, column, value) for the rows 0..16 and columns 0..n; x has `rows` valid rows (others read as 0), K = 8 packs.
template<class Tm, class Put>
FN void product_portable(Tm& t, const real* x, i64 ld_x, int rows, const real* w, i64 ld_w, int n, int packs, Put put) {
  t.each(PRODUCT_ROWS * n, [&](int j) {
    const int row = j / n, column = j % n;
    F8 s = constant<F8>(0.f);
    if (row < rows)
      for (int i = 0; i < packs; ++i) s = fma_(load8(x + row * ld_x + 8 * i), load8(w + column * ld_w + 8 * i), s);
    put(row, column, fold8<Add>(s));
  });
}

// Inner indices are dealt to threads so that each loads 16 bytes: of every 32, thread q of four takes 8q .. 8q + 7,
// and the products of any one index meet in the same mma. n and K must be multiples of 8 and 32.
template<class Tm, class Put>
FN void product_tensor(Tm& t, const real* x, i64 ld_x, int rows, const real* w, i64 ld_w, int n, int packs, Put put) {
  static_assert(Tm::THREADS % 32 == 0, "whole warps");
  const int lane = lane_of_warp(), group = lane / 4, q = lane % 4, warp = t.thread / 32;
  const bool lower = group < rows, upper = group + 8 < rows;
  for (int column = 8 * warp; column < n; column += 8 * (Tm::THREADS / 32)) {
    Fragment4 c = {{0.f, 0.f, 0.f, 0.f}};
    const real* const wc = w + (column + group) * ld_w + 8 * q;
    const real* const xr = x + group * ld_x + 8 * q;
#pragma unroll 4
    for (int k = 0; k < 8 * packs; k += 32) {
      const Quad b = load_quad(wc + k);
      const Quad lo = lower ? load_quad(xr + k) : Quad{}, hi = upper ? load_quad(xr + 8 * ld_x + k) : Quad{};
      mma_16x8x16(c, lo.w[0], hi.w[0], lo.w[1], hi.w[1], b.w[0], b.w[1]);
      mma_16x8x16(c, lo.w[2], hi.w[2], lo.w[3], hi.w[3], b.w[2], b.w[3]);
    }
    put(group, column + 2 * q, c.v[0]);
    put(group, column + 2 * q + 1, c.v[1]);
    put(group + 8, column + 2 * q, c.v[2]);
    put(group + 8, column + 2 * q + 1, c.v[3]);
  }
}

template<bool TENSOR, class Tm, class Put>
FN void product(Tm& t, const real* x, i64 ld_x, int rows, const real* w, i64 ld_w, int n, int packs, Put put) {
  if constexpr (TENSOR && HAS_TENSOR_CORES) product_tensor(t, x, ld_x, rows, w, ld_w, n, packs, put);
  else product_portable(t, x, ld_x, rows, w, ld_w, n, packs, put);
}
