// The names of `crates/kernels/cu/base/warp.cuh` on a CPU, for tests: each thread of a cluster is a coroutine, and what threads,
// barriers, copies and products do to one another is done by the emulator (`src/`). It is found in that file's place by the
// order of include folders, as are those that include it. What needs no other thread is here.
//
// Copies and products happen as late as what waits for them allows, or at a random moment before; threads run in random order.
// An address is that of the GPU: bytes into the block's memory.
#pragma once
#include "platform.cuh"

extern "C" {
u32 emulated_thread();
u32 emulated_block(u32 axis);
void* emulated_shared(u32 at, u32 bytes);
void emulated_wrote(u32 at);
void emulated_gather(u64 mine, u64* all);
void emulated_barrier(u32 id, u32 threads);
}

struct Index { u32 x, y; };
FN Index thread_index() { return {emulated_thread(), 0}; }
FN Index block_index() { return {emulated_block(0), emulated_block(1)}; }
#define threadIdx thread_index()
#define blockIdx block_index()
FN int min(int a, int b) { return a < b ? a : b; }
FN u32 min(u32 a, u32 b) { return a < b ? a : b; }
FN int max(int a, int b) { return a > b ? a : b; }

// ---- shared memory by its 32-bit address -----------------------------------------------------------------------
FN void put_shared(u32 at, u32 x) { *(u32*)emulated_shared(at, 4) = x; emulated_wrote(at); }
FN u32 get_shared(u32 at) { return *(const u32*)emulated_shared(at, 4); }
FN void put_shared_float(u32 at, float x) { put_shared(at, bits(x)); }
FN float get_shared_float(u32 at) { return from_bits(get_shared(at)); }
FN void put_shared2(u32 at, float x, float y) { emulated_shared(at, 8); put_shared_float(at, x); put_shared_float(at + 4, y); }
struct Float2 { float x, y; };
FN Float2 get_shared2(u32 at) { const u32* const p = (const u32*)emulated_shared(at, 8); return {from_bits(p[0]), from_bits(p[1])}; }
template<class T> FN T& in_shared(u32 at) { emulated_shared(at + sizeof(T) - 4, 4); return *(T*)emulated_shared(at, 4); }
FN real* pack_in_shared(u32 at) {
  real* const p = (real*)emulated_shared(at, 16);
  for (u32 i = 0; i < 16; i += 4) emulated_wrote(at + i);
  return p;
}
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
FN u32 ballot(bool x) {
  u64 all[32];
  emulated_gather(x, all);
  u32 which = 0;
  for (int i = 0; i < 32; ++i) which |= (u32)all[i] << i;
  return which;
}
template<class T> FN T __shfl_xor_sync(u32 mask, T x, int lanes) { return __shfl_sync(mask, x, (int)(emulated_thread() ^ (u32)lanes)); }
FN u32 shuffle_xor(u32 x, int lanes) { return __shfl_xor_sync(0xffffffffu, x, lanes); }
FN float shuffle_xor(float x, int lanes) { return from_bits(__shfl_xor_sync(0xffffffffu, bits(x), lanes)); }
template<int N> FN void transposed(u32 (&r)[N], u32 at) {
  u64 all[32];
  emulated_gather(at, all);
  const u32 lane = emulated_thread() & 31;
  for (u32 i = 0; i < N; ++i) {
    const auto element = [&](u32 row) -> u32 { return ((const u16*)emulated_shared((u32)all[8 * i + row], 16))[lane / 4]; };
    r[i] = element(2 * (lane % 4)) | element(2 * (lane % 4) + 1) << 16;
  }
}
FN void load_transposed(u32 (&r)[4], u32 at) { transposed(r, at); }

// ---- pairs of BF16 in a register --------------------------------------------------------------------------------
FN u32 pack2(float low, float high) { return (u32)round_to_bf16(low) | (u32)round_to_bf16(high) << 16; }
FN float low2(u32 x) { return from_bits(x << 16); }
FN float high2(u32 x) { return from_bits(x & 0xffff0000u); }
FN float relu(float x) { return x != x ? from_bits(ONE_NAN) : x > 0.f ? x : 0.f; }
FN u32 pack2_relu(float low, float high) { return pack2(relu(low), relu(high)); }

// ---- registers and arithmetic -----------------------------------------------------------------------------------
template<int N> FN void clear(float (&d)[N]) { for (int i = 0; i < N; ++i) d[i] = 0.f; }
FN float flushed(float x) { return __builtin_fabsf(x) < 1.17549435e-38f ? 0.f : x; }
FN float exp2_fast(float x) { return flushed(__builtin_exp2f(flushed(x))); }
FN float reciprocal_fast(float x) { return flushed(1.f / flushed(x)); }
FN float log2_fast(float x) { return __builtin_log2f(flushed(x)); }
FN float max_(float x, float y) { return x != x ? y : y != y ? x : x > y ? x : y; }
FN float min_(float x, float y) { return x != x ? y : y != y ? x : x < y ? x : y; }
FN int nearest_int(float x) {
  if (x != x) return 0;
  return x >= 2147483648.f ? 2147483647 : x <= -2147483648.f ? -2147483647 - 1 : (int)__builtin_rintf(x);
}

#define __cluster_dims__(x, y, z) x
struct EmulatedInfo { u32 args_bytes, shared_bytes, threads, cluster; };
#define EARLY_GPU_KERNEL GPU_KERNEL
#define GPU_KERNEL(name, Args, BYTES, THREADS, BLOCKS, ...) \
  FN void name##_body(const Args& a, u32 shared); \
  extern "C" const EmulatedInfo JOIN(name##_emulated_info, SUFFIX); \
  extern "C" const EmulatedInfo JOIN(name##_emulated_info, SUFFIX) = {sizeof(Args), (BYTES) + 1024, THREADS, (__VA_ARGS__ + 0)}; \
  extern "C" void JOIN(name##_emulated, SUFFIX)(const Args* a); \
  extern "C" void JOIN(name##_emulated, SUFFIX)(const Args* a) { name##_body(*a, 1024); } \
  FN void name##_body(const Args& a, u32 shared)
