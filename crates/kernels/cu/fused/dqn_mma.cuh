// gpu: sm_80+
// Products of a block's eight warps, each of which has MT tiles of 16 rows by NT tiles of 8 columns of a result. Operands lie in
// shared memory as panels (ampere.cuh). The order of a sum is that of K, whatever the tiles are.
#pragma once
#include "ampere.cuh"
#include "dqn.cuh"

static constexpr int WARPS = 8, THREADS = 32 * WARPS;
static constexpr int STAGE_BYTES = 16384;  // of operands on their way
static constexpr int MOST_SHARED = 99 * 1024;  // of a block on Ada and the smaller Ampere

FN int lane() { return threadIdx.x & 31; }
FN int quad() { return threadIdx.x & 3; }

template<int MT, int NT> struct Sums { float v[MT][NT][4]; };
template<int MT, int NT> FN void clear(Sums<MT, NT>& d) {
  UNROLL for (int m = 0; m < MT; ++m)
    UNROLL for (int n = 0; n < NT; ++n) clear(d.v[m][n]);
}
template<int MT> struct Left { u32 v[MT][4]; };
template<int NT> struct Right { u32 v[NT][2]; };
template<int MT, int NT> FN void multiply(Sums<MT, NT>& d, const Left<MT>& a, const Right<NT>& b) {
  UNROLL for (int n = 0; n < NT; ++n)
    UNROLL for (int m = 0; m < MT; ++m) multiply(d.v[m][n], a.v[m], b.v[n][0], b.v[n][1]);
}

// Rows `row` and on of a panel, as they are in it: a step of K.
template<int MT> FN void left_along(Left<MT>& a, u32 panel, int row, int step) {
  UNROLL for (int m = 0; m < MT; ++m) load_matrices(a.v[m], panel + piece_at(row + 16 * m + (lane() & 15), 2 * step + (lane() >> 4)));
}
// The same of numbers that may have more digits than a product takes.
template<int MT> FN void round_left(Left<MT>& a) {
  UNROLL for (int m = 0; m < MT; ++m)
    UNROLL for (int i = 0; i < 4; ++i) a.v[m][i] = operand(a.v[m][i]);
}
// Columns of the result that are rows of a panel: `lines` those from the warp's first on.
template<int NT> FN void right_along(Right<NT>& b, u32 lines, int step) {
  const int l = lane();
  if constexpr (NT == 1) {
    u32 r[2];
    load_matrices(r, lines + piece_at(l & 7, 2 * step + (l >> 3 & 1)));
    b.v[0][0] = operand(r[0]);
    b.v[0][1] = operand(r[1]);
  } else {
    UNROLL for (int n = 0; n < NT; n += 2) {
      u32 r[4];
      load_matrices(r, lines + 1024 * n + piece_at((l & 7) + (l >> 4) * 8, 2 * step + (l >> 3 & 1)));
      UNROLL for (int i = 0; i < 4; ++i) b.v[n + i / 2][i & 1] = operand(r[i]);
    }
  }
}
// The word of F32 at (row, column) of panels of `lines` rows.
FN u32 word_across(u32 panels, int lines, int row, int column) {
  return operand(get_shared(panels + column / LINE * lines * 128 + piece_at(row, column % LINE / PACK) + 4 * (column % PACK)));
}
// Columns of the result that are columns of panels of `lines` rows, from tile `tile` of 8 on: rows `k` and on are the step of K.
template<int NT> FN void right_across(Right<NT>& b, u32 panels, int lines, int k, int tile) {
  const int l = lane();
  if constexpr (!REAL_IS_BF16) {
    UNROLL for (int n = 0; n < NT; ++n)
      UNROLL for (int i = 0; i < 2; ++i) b.v[n][i] = word_across(panels, lines, k + (l & 3) + 4 * i, 8 * (tile + n) + l / 4);
  } else if constexpr (NT == 1) {
    u32 r[2];
    load_transposed(r, panels + tile / 8 * lines * 128 + piece_at(k + (l & 15), tile & 7));
    b.v[0][0] = r[0];
    b.v[0][1] = r[1];
  } else {
    UNROLL for (int n = 0; n < NT; n += 2) {
      u32 r[4];
      load_transposed(r, panels + (tile + n) / 8 * lines * 128 + piece_at(k + (l & 15), ((tile + n) & 7) + (l >> 4)));
      UNROLL for (int i = 0; i < 4; ++i) b.v[n + i / 2][i & 1] = r[i];
    }
  }
}
// Rows of the result that are columns of panels of `lines` rows, from column `column` on.
template<int MT> FN void left_across(Left<MT>& a, u32 panels, int lines, int k, int column) {
  const int l = lane();
  UNROLL for (int m = 0; m < MT; ++m) {
    const int at = column + 16 * m;
    if constexpr (!REAL_IS_BF16) {
      UNROLL for (int i = 0; i < 4; ++i) a.v[m][i] = word_across(panels, lines, k + (l & 3) + 4 * (i / 2), at + 8 * (i & 1) + l / 4);
    } else {
      load_transposed(a.v[m], panels + at / LINE * lines * 128 + piece_at(k + (l & 7) + (l >> 4) * 8, at % LINE / PACK + (l >> 3 & 1)));
    }
  }
}

// A product over a panel of K: rows of both sides along it.
template<bool ROUND, int MT, int NT> FN void multiply_panel(Sums<MT, NT>& d, u32 left, int row, u32 lines) {
  UNROLL for (int step = 0; step < 4; ++step) {
    Left<MT> a;
    Right<NT> b;
    left_along(a, left, row, step);
    if constexpr (ROUND) round_left(a);
    right_along(b, lines, step);
    multiply(d, a, b);
  }
}
