// The names of `crates/kernels/cu/base/hopper.cuh` on a CPU, for tests: each thread of a cluster is a coroutine, and what
// threads, barriers, copies and products do to one another is done by the emulator (`src/`). It is found in that file's
// place by the order of include folders. What needs no other thread is here.
//
// Copies and products happen as late as the barriers that wait for them allow, or at a random moment before; threads run
// in random order. An address is that of the GPU: bytes into the block's memory, with 1 + rank in the upper 8 bits where
// another block of the cluster is meant.
#pragma once
#include "platform.cuh"

extern "C" {
u32 emulated_thread();
u32 emulated_block(u32 axis);
u32 emulated_rank();
void* emulated_shared(u32 at, u32 bytes);
void emulated_wrote(u32 at);
void emulated_publish();
void emulated_gather(u64 mine, u64* all);
void emulated_barrier(u32 id, u32 threads);
void emulated_cluster_sync();
void emulated_barrier_init(u32 b, u32 arrivals);
void emulated_arrive(u32 b, u32 bytes);
void emulated_wait(u32 b, u32 parity);
void emulated_load(u32 to, const void* map, i32 column, i32 row, i32 member, u32 b);
void emulated_store(const void* map, i32 column, i32 row, i32 member, u32 from);
void emulated_commit_stores();
void emulated_wait_stores(u32 left);
void emulated_product(u32 columns, float* d, const u32* a, u64 a_at, u64 b_at, u32 add, u32 across);
void emulated_commit_products();
void emulated_wait_products(u32 left);
}

struct Index { u32 x, y; };
FN Index thread_index() { return {emulated_thread(), 0}; }
FN Index block_index() { return {emulated_block(0), emulated_block(1)}; }
#define threadIdx thread_index()
#define blockIdx block_index()
FN int min(int a, int b) { return a < b ? a : b; }
FN u32 min(u32 a, u32 b) { return a < b ? a : b; }
FN int max(int a, int b) { return a > b ? a : b; }

static constexpr int BLOCK_BYTES = 64 * 128;

// ---- shared memory by its 32-bit address -----------------------------------------------------------------------
FN void put_shared(u32 at, u32 x) { *(u32*)emulated_shared(at, 4) = x; emulated_wrote(at); }
FN u32 get_shared(u32 at) { return *(const u32*)emulated_shared(at, 4); }
FN void put_shared_float(u32 at, float x) { put_shared(at, bits(x)); }
FN float get_shared_float(u32 at) { return from_bits(get_shared(at)); }
FN void put_shared2(u32 at, float x, float y) { emulated_shared(at, 8); put_shared_float(at, x); put_shared_float(at + 4, y); }
FN void add_shared(u32 at, u32 x) { put_shared(at, get_shared(at) + x); }  // no other thread runs in between
FN void barrier(int id, int threads) { emulated_barrier((u32)id, (u32)threads); }
FN void __syncthreads() { emulated_barrier(0, 0); }

// ---- a warp ------------------------------------------------------------------------------------------------------
FN void __syncwarp() { u64 all[32]; emulated_gather(0, all); }
template<class T> FN T __shfl_sync(u32, T x, int lane) {
  u64 all[32];
  emulated_gather((u64)x, all);
  return (T)all[lane & 31];
}
template<class T> FN T __shfl_xor_sync(u32 mask, T x, int lanes) { return __shfl_sync(mask, x, (int)(emulated_thread() ^ (u32)lanes)); }
FN float shuffle_xor(float x, int lanes) { return from_bits(__shfl_xor_sync(0xffffffffu, bits(x), lanes)); }
FN void load_transposed(u32 (&r)[4], u32 at) {
  u64 all[32];
  emulated_gather(at, all);
  const u32 lane = emulated_thread() & 31;
  for (u32 i = 0; i < 4; ++i) {
    const auto element = [&](u32 row) -> u32 { return ((const u16*)emulated_shared((u32)all[8 * i + row], 16))[lane / 4]; };
    r[i] = element(2 * (lane % 4)) | element(2 * (lane % 4) + 1) << 16;
  }
}

// ---- barriers that count arrivals and bytes --------------------------------------------------------------------
FN void barrier_init(u32 b, u32 arrivals) { emulated_barrier_init(b, arrivals); }
FN void barriers_ready() {}
FN void arrive(u32 b) { emulated_arrive(b, 0); }
FN void expect_bytes(u32 b, u32 bytes) { emulated_arrive(b, bytes); }
FN void wait_for(u32 b, u32 parity) { emulated_wait(b, parity); }

// ---- tensor copies ---------------------------------------------------------------------------------------------
struct alignas(64) TensorMap { u64 opaque[16]; };
FN void load_block(u32 to, const TensorMap& map, int column, int row, int member, u32 b) { emulated_load(to, &map, column, row, member, b); }
FN void store_block(const TensorMap& map, int column, int row, int member, u32 from) { emulated_store(&map, column, row, member, from); }
FN void commit_stores() { emulated_commit_stores(); }
template<int N> FN void wait_stores_read() { emulated_wait_stores(N); }
FN void publish_shared() { emulated_publish(); }

// ---- clusters ---------------------------------------------------------------------------------------------------
FN u32 cluster_rank() { return emulated_rank(); }
FN void cluster_sync() { emulated_cluster_sync(); }
FN u32 shared_of_rank(u32 at, u32 rank) { return (at & 0xffffffu) | (rank + 1) << 24; }
FN void put_remote(u32 at, u32 x) { *(u32*)emulated_shared(at, 4) = x; }
FN void arrive_remote(u32 b) { emulated_arrive(b, 0); }
FN void wait_for_remote(u32 b, u32 parity) { emulated_wait(b, parity); }
struct Float2 { float x, y; };
FN Float2 get_remote2(u32 at) { const u32* const p = (const u32*)emulated_shared(at, 8); return {from_bits(p[0]), from_bits(p[1])}; }

// ---- pairs of BF16 in a register --------------------------------------------------------------------------------
FN u32 pack2(float low, float high) { return (u32)round_to_bf16(low) | (u32)round_to_bf16(high) << 16; }
FN float low2(u32 x) { return from_bits(x << 16); }
FN float high2(u32 x) { return from_bits(x & 0xffff0000u); }
FN u32 multiply2(u32 a, u32 b) { return pack2(low2(a) * low2(b), high2(a) * high2(b)); }
FN float relu(float x) { return x != x ? from_bits(ONE_NAN) : x > 0.f ? x : 0.f; }
FN u32 positive2(u32 x) { return (low2(x) > 0.f ? 0xffffu : 0u) | (high2(x) > 0.f ? 0xffff0000u : 0u); }

// ---- products of a warpgroup -------------------------------------------------------------------------------------
FN u64 descriptor(u32 at, u32 leading, u32 stride) {
  return (u64)((at & 0x3ffff) >> 4) | (u64)(leading >> 4) << 16 | (u64)(stride >> 4) << 32 | 1ull << 62;
}
FN u64 along(u32 block, int k) { return descriptor(block + 32 * k, 16, 1024); }
FN u64 across(u32 block, int k, u32 leading = BLOCK_BYTES) { return descriptor(block + 2048 * k, leading, 1024); }
FN void products_begin() {}
FN void products_commit() { emulated_commit_products(); }
template<int N> FN void products_wait() { emulated_wait_products(N); }
template<int N> FN void pin(float (&)[N]) {}
template<int N> FN void pin(u32 (&)[N]) {}
FN u32 opaque_zero() { return 0; }
template<int N> FN void registers_fewer() {}
template<int N> FN void registers_more() {}
template<int N> FN void clear(float (&d)[N]) { for (int i = 0; i < N; ++i) d[i] = 0.f; }
template<int ACROSS, int N> FN void ss(float (&d)[N], u64 a, u64 b, int add) { emulated_product(2 * N, d, nullptr, a, b, (u32)(add != 0), ACROSS); }
template<int ACROSS, int N> FN void rs(float (&d)[N], u32 a0, u32 a1, u32 a2, u32 a3, u64 b, int add) {
  const u32 a[4] = {a0, a1, a2, a3};
  emulated_product(2 * N, d, a, 0, b, (u32)(add != 0), ACROSS);
}

// ---- arithmetic ---------------------------------------------------------------------------------------------------
FN float flushed(float x) { return __builtin_fabsf(x) < 1.17549435e-38f ? 0.f : x; }
FN float exp2_fast(float x) { return flushed(__builtin_exp2f(flushed(x))); }
FN float log2_fast(float x) { return __builtin_log2f(flushed(x)); }
FN float larger(float x, float y) { return x != x ? y : y != y ? x : x > y ? x : y; }
FN float smaller(float x, float y) { return x != x ? y : y != y ? x : x < y ? x : y; }
FN int nearest_int(float x) {
  if (x != x) return 0;
  return x >= 2147483648.f ? 2147483647 : x <= -2147483648.f ? -2147483647 - 1 : (int)__builtin_rintf(x);
}

#define __cluster_dims__(x, y, z) x
struct EmulatedInfo { u32 args_bytes, shared_bytes, threads, cluster; };
#define GPU_KERNEL(name, Args, BYTES, THREADS, BLOCKS, ...) \
  FN void name##_body(const Args& a, u32 shared); \
  extern "C" const EmulatedInfo JOIN(name##_emulated_info, SUFFIX); \
  extern "C" const EmulatedInfo JOIN(name##_emulated_info, SUFFIX) = {sizeof(Args), (BYTES) + 1024, THREADS, (__VA_ARGS__ + 0)}; \
  extern "C" void JOIN(name##_emulated, SUFFIX)(const Args* a); \
  extern "C" void JOIN(name##_emulated, SUFFIX)(const Args* a) { name##_body(*a, 1024); } \
  FN void name##_body(const Args& a, u32 shared)
