// gpu: sm_90a
// Hopper's asynchronous machinery: barriers in shared memory, tensor copies (TMA), warpgroup products (wgmma),
// clusters. PTX ISA 8.x, sections 9.7.9, 9.7.13 and 9.7.15. For kernels of the GPU alone, which start with
//   // gpu: sm_90a
// and so have no host build: each stands beside a portable span of the plan, and a test holds the two together.
//
// Layouts. A block is 64 rows of 64 BF16 (128 bytes), as a tensor copy with the 128-byte swizzle leaves it in shared
// memory: 16-byte piece `c` of row `r` lies at 128 r + 16 (c ^ (r % 8)). Blocks lie at multiples of 1024 bytes. The
// same block serves a product with its rows as M or N (K along the row: `along`) or as K (`across`).
#pragma once
#include "warp.cuh"

static constexpr int BLOCK_BYTES = 64 * 128;

// ---- barriers that count arrivals and bytes --------------------------------------------------------------------
FN void barrier_init(u32 b, u32 arrivals) { asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(b), "r"(arrivals) : "memory"); }
FN void barriers_ready() { asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory"); }
FN void arrive(u32 b) { asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(b) : "memory"); }
FN void expect_bytes(u32 b, u32 bytes) { asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(b), "r"(bytes) : "memory"); }
FN void wait_for(u32 b, u32 parity) {
  asm volatile("{ .reg .pred p; WAIT: mbarrier.try_wait.parity.shared::cta.b64 p, [%0], %1; @p bra DONE; bra WAIT; DONE: }" ::"r"(b), "r"(parity) : "memory");
}

// ---- tensor copies ---------------------------------------------------------------------------------------------
// What the driver makes of a buffer's address, sizes and box (`TensorMap` of the launch).
struct alignas(64) TensorMap { u64 opaque[16]; };
FN void load_block(u32 to, const TensorMap& map, int column, int row, int member, u32 barrier) {
  asm volatile("cp.async.bulk.tensor.3d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3, %4}], [%5];"
               ::"r"(to), "l"(&map), "r"(column), "r"(row), "r"(member), "r"(barrier) : "memory");
}
FN void store_block(const TensorMap& map, int column, int row, int member, u32 from) {
  asm volatile("cp.async.bulk.tensor.3d.global.shared::cta.tile.bulk_group [%0, {%1, %2, %3}], [%4];"
               ::"l"(&map), "r"(column), "r"(row), "r"(member), "r"(from) : "memory");
}
FN void commit_stores() { asm volatile("cp.async.bulk.commit_group;" ::: "memory"); }
// Until all but `N` groups of stores have been read from shared memory.
template<int N> FN void wait_stores_read() { asm volatile("cp.async.bulk.wait_group.read %0;" ::"n"(N) : "memory"); }
// What this thread wrote to shared memory is there for copies and products.
FN void publish_shared() { asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); }

// ---- clusters ---------------------------------------------------------------------------------------------------
FN u32 cluster_rank() { u32 r; asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(r)); return r; }
FN void cluster_sync() { asm volatile("barrier.cluster.arrive.release.aligned;\n\tbarrier.cluster.wait.acquire.aligned;" ::: "memory"); }
FN u32 shared_of_rank(u32 at, u32 rank) { u32 r; asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(r) : "r"(at), "r"(rank)); return r; }
FN void put_remote(u32 at, u32 x) { asm volatile("st.shared::cluster.u32 [%0], %1;" ::"r"(at), "r"(x) : "memory"); }
FN void arrive_remote(u32 b) { asm volatile("mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%0];" ::"r"(b) : "memory"); }
FN void wait_for_remote(u32 b, u32 parity) {
  asm volatile("{ .reg .pred p; WAIT: mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 p, [%0], %1; @p bra DONE; bra WAIT; DONE: }" ::"r"(b), "r"(parity) : "memory");
}
FN Float2 get_remote2(u32 at) { Float2 v; asm volatile("ld.shared::cluster.v2.f32 {%0, %1}, [%2];" : "=f"(v.x), "=f"(v.y) : "r"(at) : "memory"); return v; }

// ---- pairs of BF16 in a register --------------------------------------------------------------------------------
FN u32 multiply2(u32 a, u32 b) { u32 r; asm("mul.rn.bf16x2 %0, %1, %2;" : "=r"(r) : "r"(a), "r"(b)); return r; }
// Which of the two are above 0: all bits of a half.
FN u32 positive2(u32 x) { u32 r; asm("set.gt.u32.bf16x2 %0, %1, %2;" : "=r"(r) : "r"(x), "r"(0)); return r; }

// ---- products of a warpgroup -------------------------------------------------------------------------------------
// d[64 x N] (+)= a[64 x 16] b[16 x N]. Thread t of 128 holds of d, for i < N / 8: rows r = 16 (t / 32) + t % 32 / 4 (d[4i],
// d[4i + 1]) and r + 8 (d[4i + 2], d[4i + 3]), columns 8 i + 2 (t % 4) and the next. a is in shared memory (`ss`) or in four
// registers of pairs (`rs`): (r, k), (r + 8, k), (r, k + 8), (r + 8, k + 8) with k = 2 (t % 4).
// Of `further` bytes beyond `at`. Where only that differs, one addition makes the next: shared memory ends below 2^18, so that
// nothing carries.
FN u64 descriptor(u32 at, u32 further, u32 leading, u32 stride) {
  return (u64)(((at & 0x3ffff) >> 4) + (further >> 4 | leading >> 4 << 16)) | (u64)(stride >> 4 | 1u << 30) << 32;
}
// 16 columns of K from byte 32 k of the rows of blocks; rows go on through blocks that follow one another.
FN u64 along(u32 block, int k) { return descriptor(block, 32 * k, 16, 1024); }
// 16 rows of K from row 16 k; columns beyond 64 lie in the block `leading` bytes on.
FN u64 across(u32 block, int k, u32 leading = BLOCK_BYTES) { return descriptor(block, 2048 * k, leading, 1024); }

FN void products_begin() { asm volatile("wgmma.fence.sync.aligned;" ::: "memory"); }
FN void products_commit() { asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory"); }
template<int N> FN void products_wait() { asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(N) : "memory"); }
// Keeps the compiler from moving registers of a product past it.
template<int N> FN void pin(float (&d)[N]) { UNROLL for (int i = 0; i < N; ++i) asm volatile("" : "+f"(d[i]) :: "memory"); }
template<int N> FN void pin(u32 (&d)[N]) { UNROLL for (int i = 0; i < N; ++i) asm volatile("" : "+r"(d[i]) :: "memory"); }
// Registers of each thread of a warpgroup from here on.
template<int N> FN void registers_fewer() { asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(N)); }
template<int N> FN void registers_more() { asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(N)); }
#define T0 "%0, %1, %2, %3"
#define T1 T0 ", %4, %5, %6, %7"
#define T2 T1 ", %8, %9, %10, %11"
#define T3 T2 ", %12, %13, %14, %15"
#define T4 T3 ", %16, %17, %18, %19"
#define T5 T4 ", %20, %21, %22, %23"
#define T6 T5 ", %24, %25, %26, %27"
#define T7 T6 ", %28, %29, %30, %31"
#define T15 T7 ", %32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, %48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63"
#define A4(i) "+f"(d[i]), "+f"(d[i + 1]), "+f"(d[i + 2]), "+f"(d[i + 3])
#define D0 A4(0)
#define D1 D0, A4(4)
#define D2 D1, A4(8)
#define D3 D2, A4(12)
#define D4 D3, A4(16)
#define D5 D4, A4(20)
#define D6 D5, A4(24)
#define D7 D6, A4(28)
#define D15 D7, A4(32), A4(36), A4(40), A4(44), A4(48), A4(52), A4(56), A4(60)
// N columns, their registers, the number of the operand after them and of the next ones.
#define PRODUCT(N, T, D, o0, o1, o2, o3, o4, o5, o6) \
  template<int ACROSS> FN void ss(float (&d)[N / 2], u64 a, u64 b, int add) { \
    asm volatile("{ .reg .pred p; setp.ne.b32 p, %" #o2 ", 0; wgmma.mma_async.sync.aligned.m64n" #N "k16.f32.bf16.bf16 {" T \
                 "}, %" #o0 ", %" #o1 ", p, 1, 1, 0, %" #o3 "; }" : D : "l"(a), "l"(b), "r"(add), "n"(ACROSS)); \
  } \
  template<int ACROSS> FN void rs(float (&d)[N / 2], u32 a0, u32 a1, u32 a2, u32 a3, u64 b, int add) { \
    asm volatile("{ .reg .pred p; setp.ne.b32 p, %" #o5 ", 0; wgmma.mma_async.sync.aligned.m64n" #N "k16.f32.bf16.bf16 {" T \
                 "}, {%" #o0 ", %" #o1 ", %" #o2 ", %" #o3 "}, %" #o4 ", p, 1, 1, %" #o6 "; }" \
                 : D : "r"(a0), "r"(a1), "r"(a2), "r"(a3), "l"(b), "r"(add), "n"(ACROSS)); \
  }
PRODUCT(8, T0, D0, 4, 5, 6, 7, 8, 9, 10)
PRODUCT(16, T1, D1, 8, 9, 10, 11, 12, 13, 14)
PRODUCT(24, T2, D2, 12, 13, 14, 15, 16, 17, 18)
PRODUCT(32, T3, D3, 16, 17, 18, 19, 20, 21, 22)
PRODUCT(40, T4, D4, 20, 21, 22, 23, 24, 25, 26)
PRODUCT(48, T5, D5, 24, 25, 26, 27, 28, 29, 30)
PRODUCT(56, T6, D6, 28, 29, 30, 31, 32, 33, 34)
PRODUCT(64, T7, D7, 32, 33, 34, 35, 36, 37, 38)
PRODUCT(128, T15, D15, 64, 65, 66, 67, 68, 69, 70)
#undef PRODUCT
