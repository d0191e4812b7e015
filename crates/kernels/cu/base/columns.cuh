// Sums down the columns of a matrix: a team owns 64 columns (eight packs) and a run of rows, split over 32 row lanes.
// Lane l adds rows first + l, first + l + 32, … in order; lanes fold by strides 16, 8, 4, 2, 1.
#pragma once
#include "platform.cuh"

static constexpr int COLUMN_LANES = 32, COLUMN_PACKS = 8;
template<int K> struct ColumnSums { F8 v[K][COLUMN_LANES * COLUMN_PACKS]; };

// row(r, pack, values) fills K packs of row r; out(pack, sums) gets the K sums of a pack of the team's 64 columns.
template<int K, class Tm, class Row, class Out>
FN void column_sums(Tm& t, ColumnSums<K>& m, int packs, int first, int last, Row row, Out out) {
  t.each(COLUMN_LANES * COLUMN_PACKS, [&](int j) {
    const int lane = j / COLUMN_PACKS, pack = j % COLUMN_PACKS;
    F8 s[K];
    UNROLL for (int k = 0; k < K; ++k) s[k] = constant<F8>(-0.f);
    if (pack < packs)
      for (int r = first + lane; r < last; r += COLUMN_LANES) {
        F8 v[K];
        row(r, pack, v);
        UNROLL for (int k = 0; k < K; ++k) s[k] = s[k] + v[k];
      }
    UNROLL for (int k = 0; k < K; ++k) m.v[k][j] = s[k];
  });
  for (int o = COLUMN_LANES / 2; o; o >>= 1) {
    t.sync();
    t.each(COLUMN_PACKS * o, [&](int j) {
      UNROLL for (int k = 0; k < K; ++k) m.v[k][j] = m.v[k][j] + m.v[k][j + COLUMN_PACKS * o];
    });
  }
  t.sync();
  t.each(COLUMN_PACKS, [&](int pack) {
    if (pack >= packs) return;
    F8 s[K];
    UNROLL for (int k = 0; k < K; ++k) s[k] = m.v[k][pack];
    out(pack, s);
  });
}

// The run of rows of part `part` of `parts`.
FN void rows_of_part(int rows, int parts, int part, int& first, int& last) {
  const int per = (rows + parts - 1) / parts;
  first = part * per < rows ? part * per : rows;
  last = first + per < rows ? first + per : rows;
}
