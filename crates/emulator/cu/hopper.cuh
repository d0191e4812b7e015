// The names of `crates/kernels/cu/base/hopper.cuh` on a CPU, as `warp.cuh` has those of its file. An address may be of another
// block of the cluster: 1 + its rank is in the upper 8 bits.
#pragma once
#include "warp.cuh"

extern "C" {
u32 emulated_rank();
void emulated_publish();
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

static constexpr int BLOCK_BYTES = 64 * 128;

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
FN Float2 get_remote2(u32 at) { const u32* const p = (const u32*)emulated_shared(at, 8); return {from_bits(p[0]), from_bits(p[1])}; }

// ---- pairs of BF16 in a register --------------------------------------------------------------------------------
FN u32 multiply2(u32 a, u32 b) { return pack2(low2(a) * low2(b), high2(a) * high2(b)); }
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
template<int ACROSS, int N> FN void ss(float (&d)[N], u64 a, u64 b, int add) { emulated_product(2 * N, d, nullptr, a, b, (u32)(add != 0), ACROSS); }
template<int ACROSS, int N> FN void rs(float (&d)[N], u32 a0, u32 a1, u32 a2, u32 a3, u64 b, int add) {
  const u32 a[4] = {a0, a1, a2, a3};
  emulated_product(2 * N, d, a, 0, b, (u32)(add != 0), ACROSS);
}
