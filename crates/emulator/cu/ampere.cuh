// The names of `crates/kernels/cu/base/ampere.cuh` on a CPU, as `warp.cuh` has those of its file. A copy to shared memory happens as
// late as the wait of its thread allows, or at a random moment before.
#pragma once
#include "warp.cuh"

extern "C" {
void emulated_piece(u32 to, const void* from);
void emulated_commit_pieces();
void emulated_wait_pieces(u32 left);
}

static constexpr int SIZE = REAL_IS_BF16 ? 2 : 4, LINE = 128 / SIZE;
static constexpr int PACK = 16 / SIZE, STEP = 32 / SIZE;
FN u32 piece_at(int row, int piece) { return 128 * row + ((piece ^ (row & 7)) << 4); }

// ---- copies ----------------------------------------------------------------------------------------------------
FN void copy_piece(u32 to, const real* from, bool there) { emulated_piece(to, there ? from : nullptr); }
FN void copies_commit() { emulated_commit_pieces(); }
template<int N> FN void copies_wait() { emulated_wait_pieces(N); }

// ---- numbers as products take them ---------------------------------------------------------------------------------
// F32 is not rounded to TF32 here: a difference from the span that is then left is a fault.
FN u32 operand(u32 x) { return x; }
FN float operand(float x) { return x; }
FN u32 scaled(u32 x, u32 by) {
  if constexpr (REAL_IS_BF16) return pack2(low2(x) * low2(by), high2(x) * high2(by));
  else return operand(bits(from_bits(x) * from_bits(by)));
}
FN u32 factors(float x, float y) { return REAL_IS_BF16 ? pack2(x, y) : bits(x); }
FN u32 factor(float x) { return factors(x, x); }
FN u32 where_positive(u32 x, u32 of) {
  if constexpr (!REAL_IS_BF16) return from_bits(of) > 0.f ? x : 0u;
  else return x & ((low2(of) > 0.f ? 0xffffu : 0u) | (high2(of) > 0.f ? 0xffff0000u : 0u));
}
FN void put_two(u32 at, float x, float y) {
  if constexpr (REAL_IS_BF16) put_shared(at, pack2(x, y));
  else put_shared2(at, operand(x), operand(y));
}

// ---- pieces and pairs in memory ----------------------------------------------------------------------------------
struct alignas(16) Piece { u32 w[4]; };
FN Piece get_piece(const real* p) { Piece x; __builtin_memcpy(&x, p, sizeof x); return x; }
FN void put_piece(real* p, const Piece& x) { __builtin_memcpy(p, &x, sizeof x); }
FN Piece get_shared_piece(u32 at) { Piece x; __builtin_memcpy(&x, emulated_shared(at, 16), sizeof x); return x; }
FN void put_shared_piece(u32 at, const Piece& x) {
  emulated_shared(at, 16);
  for (u32 i = 0; i < 4; ++i) put_shared(at + 4 * i, x.w[i]);
}
struct Two { u32 x, y; };
FN void store_two(real* p, float x, float y) { store(p, x); store(p + 1, y); }
FN void store_shares(real* p, u32 x, u32 y) { p[0].b = x; p[1].b = y; }
FN Two load_shares(const real* p) { return {p[0].b, p[1].b}; }

// ---- products ----------------------------------------------------------------------------------------------------
FN u32 matrix_word(u32 at, u32 word) { return ((const u32*)emulated_shared(at, 16))[word]; }
template<int N> FN void load_matrices(u32 (&r)[N], u32 at) {
  u64 all[32];
  emulated_gather(at, all);
  const u32 lane = emulated_thread() & 31;
  for (u32 i = 0; i < N; ++i) r[i] = matrix_word((u32)all[8 * i + lane / 4], lane % 4);
}
FN void load_transposed(u32 (&r)[2], u32 at) { transposed(r, at); }
FN void multiply(float (&d)[4], const u32 (&a)[4], u32 b0, u32 b1) {
  u64 rows[2][32], columns[32];
  emulated_gather((u64)a[0] | (u64)a[2] << 32, rows[0]);
  emulated_gather((u64)a[1] | (u64)a[3] << 32, rows[1]);
  emulated_gather((u64)b0 | (u64)b1 << 32, columns);
  const u32 lane = emulated_thread() & 31;
  const auto number = [](u64 words, int word, int e) {
    const u32 x = (u32)(words >> 32 * word);
    return REAL_IS_BF16 ? (e ? high2(x) : low2(x)) : from_bits(x);
  };
  // Products of BF16 are exact in F32.
  for (u32 i = 0; i < 4; ++i)
    for (int word = 0; word < 2; ++word)
      for (u32 t = 0; t < 4; ++t)
        for (int e = 0; e < 4 / SIZE; ++e)
          d[i] = d[i] + number(rows[i / 2][lane / 4 * 4 + t], word, e) * number(columns[(2 * (lane % 4) + i % 2) * 4 + t], word, e);
}
