// gpu: sm_90a
// What the emulator's own tests run: copies and products that are right, and faults that must be found.
#include "hopper.cuh"

struct ProbeArgs { TensorMap a, b, to; Members<f32> sums; i32 column, row; };
static constexpr int A = 0, B = BLOCK_BYTES, FULL = 2 * BLOCK_BYTES, SHARED_BYTES = 2 * BLOCK_BYTES + 1024;

FN void load_both(const ProbeArgs& a, u32 shared) {
  if (threadIdx.x == 0) {
    barrier_init(shared + FULL, 1);
    barriers_ready();
  }
  __syncthreads();
  if (threadIdx.x == 0) {
    expect_bytes(shared + FULL, 2 * BLOCK_BYTES);
    load_block(shared + A, a.a, a.column, a.row, blockIdx.y, shared + FULL);
    load_block(shared + B, a.b, 0, 0, blockIdx.y, shared + FULL);
  }
  wait_for(shared + FULL, 0);
}
FN void put_sums(const ProbeArgs& a, const float (&d)[32]) {
  const int t = threadIdx.x, row = 16 * (t / 32) + t % 32 / 4, column = 2 * (t % 4);
  for (int i = 0; i < 32; ++i) store(a.sums.of(blockIdx.y) + (row + 8 * (i / 2 % 2)) * 64 + 8 * (i / 4) + column + i % 2, d[i]);
}

// to = the block of a at (row, column), moved to the block at (0, 0).
GPU_KERNEL(probe_copy, ProbeArgs, SHARED_BYTES, 128, 1) {
  load_both(a, shared);
  if (threadIdx.x == 0) {
    store_block(a.to, 0, 0, blockIdx.y, shared + A);
    commit_stores();
    wait_stores_read<0>();
  }
}
// sums = a b^T, both operands in shared memory.
GPU_KERNEL(probe_along, ProbeArgs, SHARED_BYTES, 128, 1) {
  load_both(a, shared);
  float d[32];
  products_begin();
  for (int k = 0; k < 4; ++k) ss<0>(d, along(shared + A, k), along(shared + B, k), k);
  products_commit();
  products_wait<0>();
  put_sums(a, d);
}
// sums = a^T b, a from registers.
GPU_KERNEL(probe_across, ProbeArgs, SHARED_BYTES, 128, 1) {
  load_both(a, shared);
  float d[32];
  clear(d);
  const int warp = threadIdx.x / 32, lane = threadIdx.x & 31;
  products_begin();
  for (int k = 0; k < 4; ++k) {
    u32 left[4];
    const int r = 16 * k + (lane >> 4) * 8 + (lane & 7), piece = 2 * warp + (lane >> 3 & 1);
    load_transposed(left, shared + A + 128 * r + ((piece ^ (r & 7)) << 4));
    rs<1>(d, left[0], left[1], left[2], left[3], across(shared + B, k), 1);
  }
  products_commit();
  products_wait<0>();
  put_sums(a, d);
}
// The blocks of a cluster add their ranks to the memory of the next one; sums[thread] = what came.
GPU_KERNEL(probe_cluster, ProbeArgs, SHARED_BYTES, 128, 1, __cluster_dims__(4, 1, 1)) {
  if (threadIdx.x == 0) barrier_init(shared + FULL, 128);
  cluster_sync();
  const u32 next = (cluster_rank() + 1) % 4;
  put_remote(shared_of_rank(shared + 4 * threadIdx.x, next), 100 * cluster_rank() + threadIdx.x);
  arrive_remote(shared_of_rank(shared + FULL, next));
  wait_for_remote(shared + FULL, 0);
  store(a.sums.of(blockIdx.y) + 128 * blockIdx.x + threadIdx.x, (float)get_shared(shared + 4 * threadIdx.x));
  cluster_sync();
}

// ---- faults ----
GPU_KERNEL(probe_unpublished, ProbeArgs, SHARED_BYTES, 128, 1) {
  put_shared(shared + A + 4 * threadIdx.x, threadIdx.x);
  __syncthreads();
  if (threadIdx.x == 0) {
    store_block(a.to, 0, 0, blockIdx.y, shared + A);
    commit_stores();
    wait_stores_read<0>();
  }
}
GPU_KERNEL(probe_unread, ProbeArgs, SHARED_BYTES, 128, 1) {
  if (threadIdx.x == 0) {
    for (int i = 0; i < 64; ++i) store_block(a.to, 0, 0, blockIdx.y, shared + A);
    commit_stores();
  }
}
GPU_KERNEL(probe_deadlock, ProbeArgs, SHARED_BYTES, 128, 1) {
  if (threadIdx.x == 0) barrier_init(shared + FULL, 2);
  __syncthreads();
  if (threadIdx.x == 0) arrive(shared + FULL);
  wait_for(shared + FULL, 0);
}
GPU_KERNEL(probe_beyond, ProbeArgs, SHARED_BYTES, 128, 1) {
  put_shared(shared + SHARED_BYTES + 4 * threadIdx.x, 0);
}
GPU_KERNEL(probe_unmade, ProbeArgs, SHARED_BYTES, 128, 1) {
  if (threadIdx.x == 3) arrive(shared + FULL);
}
GPU_KERNEL(probe_crowd, ProbeArgs, SHARED_BYTES, 128, 1) {
  if (threadIdx.x == 0) barrier_init(shared + FULL, 256);
  __syncthreads();
  barrier_init(shared + FULL + 8 * (1 + threadIdx.x), 1);
  arrive(shared + FULL + 8 * (1 + threadIdx.x));
  arrive(shared + FULL);
  if (threadIdx.x == 5) barrier_init(shared + FULL, 1);
}
GPU_KERNEL(probe_over_barrier, ProbeArgs, SHARED_BYTES, 128, 1) {
  if (threadIdx.x == 0) barrier_init(shared + FULL, 1);
  __syncthreads();
  if (threadIdx.x == 7) put_shared_float(shared + FULL + 4, 1.f);
}
