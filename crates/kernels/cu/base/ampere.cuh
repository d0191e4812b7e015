// gpu: sm_80+
// What Ampere brought and every later GPU has: copies to shared memory that a thread need not wait for (cp.async), and products
// of a warp on tensor cores (mma.sync). PTX ISA 8.x, sections 9.7.9.25.3 and 9.7.14. In both storage types: numbers in BF16 are
// multiplied as they are, numbers in F32 as TF32, rounded to nearest.
//
// Layouts. A line is 128 bytes of a row, eight pieces of 16; piece `c` of row `r` lies at 128 r + 16 (c ^ (r % 8)), so that
// neither eight rows of one piece nor eight pieces of one row meet in a bank. A panel is the lines of all rows; a matrix is
// its panels one after another. A step of a product is 32 bytes of K: 16 BF16, or 8 F32, for which the same bytes go to the
// same threads.
#pragma once
#include "warp.cuh"

static constexpr int SIZE = REAL_IS_BF16 ? 2 : 4, LINE = 128 / SIZE;  // bytes of a number, numbers of a line
static constexpr int PACK = 16 / SIZE, STEP = 32 / SIZE;              // numbers of a piece, of a step

FN u32 piece_at(int row, int piece) { return 128 * row + ((piece ^ (row & 7)) << 4); }

// ---- copies ----------------------------------------------------------------------------------------------------
// A piece to shared memory: zeros where it isn't there.
FN void copy_piece(u32 to, const real* from, bool there) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(to), "l"(from), "r"(there ? 16 : 0) : "memory");
}
FN void copies_commit() { asm volatile("cp.async.commit_group;" ::: "memory"); }
// Until all but the last `N` groups of this thread's copies are there.
template<int N> FN void copies_wait() { asm volatile("cp.async.wait_group %0;" ::"n"(N) : "memory"); }

// ---- numbers as products take them ---------------------------------------------------------------------------------
FN u32 nearest_tf32(u32 x) { u32 r; asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(r) : "r"(x)); return r; }
FN u32 operand(u32 x) { return REAL_IS_BF16 ? x : nearest_tf32(x); }
FN float operand(float x) { return REAL_IS_BF16 ? x : from_bits(nearest_tf32(bits(x))); }
// The numbers of a register by those of another, rounded: two in BF16, one in F32.
FN u32 scaled(u32 x, u32 by) {
  if constexpr (!REAL_IS_BF16) return operand(bits(from_bits(x) * from_bits(by)));
  u32 r;
  asm("fma.rn.bf16x2 %0, %1, %2, %3;" : "=r"(r) : "r"(x), "r"(by), "r"(0x80008000u));
  return r;
}
// Factors as `scaled` takes them: of a register's two numbers, or of its one.
FN u32 factors(float x, float y) { return REAL_IS_BF16 ? pack2(x, y) : bits(x); }
FN u32 factor(float x) { return factors(x, x); }
// The numbers of a register where those of another are above 0, elsewhere 0.
FN u32 where_positive(u32 x, u32 of) {
  if constexpr (!REAL_IS_BF16) return from_bits(of) > 0.f ? x : 0u;
  return x & ((low2(of) > 0.f ? 0xffffu : 0u) | (high2(of) > 0.f ? 0xffff0000u : 0u));
}
// Two neighbours to shared memory, as operands.
FN void put_two(u32 at, float x, float y) {
  if constexpr (REAL_IS_BF16) put_shared(at, pack2(x, y));
  else put_shared2(at, operand(x), operand(y));
}

// ---- pieces and pairs in memory ----------------------------------------------------------------------------------
struct alignas(16) Piece { u32 w[4]; };
FN Piece get_piece(const real* p) {
  Piece x;
  asm volatile("ld.global.v4.u32 {%0, %1, %2, %3}, [%4];" : "=r"(x.w[0]), "=r"(x.w[1]), "=r"(x.w[2]), "=r"(x.w[3]) : "l"(p) : "memory");
  return x;
}
FN void put_piece(real* p, const Piece& x) { *(Piece*)p = x; }
FN Piece get_shared_piece(u32 at) {
  Piece x;
  asm volatile("ld.shared.v4.u32 {%0, %1, %2, %3}, [%4];" : "=r"(x.w[0]), "=r"(x.w[1]), "=r"(x.w[2]), "=r"(x.w[3]) : "r"(at) : "memory");
  return x;
}
FN void put_shared_piece(u32 at, const Piece& x) {
  asm volatile("st.shared.v4.u32 [%0], {%1, %2, %3, %4};" ::"r"(at), "r"(x.w[0]), "r"(x.w[1]), "r"(x.w[2]), "r"(x.w[3]) : "memory");
}
// Two neighbours, from an even column on: numbers, or whole numbers that their place has the bits for.
struct Two { u32 x, y; };
FN void store_two(real* p, float x, float y) {
  if constexpr (REAL_IS_BF16) *(u32*)p = pack2(x, y);
  else { store(p, x); store(p + 1, y); }
}
FN void store_shares(real* p, u32 x, u32 y) {
  if constexpr (REAL_IS_BF16) *(u32*)p = x | y << 16;
  else *(u64*)p = (u64)x | (u64)y << 32;
}
FN Two load_shares(const real* p) {
  if constexpr (REAL_IS_BF16) return {*(const u32*)p & 0xffffu, *(const u32*)p >> 16};
  else return {(u32)*(const u64*)p, (u32)(*(const u64*)p >> 32)};
}

// ---- products ----------------------------------------------------------------------------------------------------
// Eight rows of a piece each, by the address that lane l gives for row l % 8 of matrix l / 8: 32 bits to a thread, of row
// lane / 4 the number lane % 4, or of BF16 two numbers.
FN void load_matrices(u32 (&r)[4], u32 at) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];" : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3]) : "r"(at) : "memory");
}
FN void load_matrices(u32 (&r)[2], u32 at) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%0, %1}, [%2];" : "=r"(r[0]), "=r"(r[1]) : "r"(at) : "memory");
}
FN void load_transposed(u32 (&r)[2], u32 at) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%0, %1}, [%2];" : "=r"(r[0]), "=r"(r[1]) : "r"(at) : "memory");
}
// d[16 x 8] += a[16 x STEP] b[STEP x 8] of a warp. Thread t holds of d rows t / 4 (d[0], d[1]) and t / 4 + 8 (d[2], d[3]),
// columns 2 (t % 4) and the next; of a the pieces (t / 4, first), (t / 4 + 8, first), (t / 4, second), (t / 4 + 8, second), and of
// b those of column t / 4.
FN void multiply(float (&d)[4], const u32 (&a)[4], u32 b0, u32 b1) {
  if constexpr (REAL_IS_BF16)
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
                 : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]) : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
  else
    asm volatile("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
                 : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]) : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}
