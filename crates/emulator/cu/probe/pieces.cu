// gpu: sm_80+
// What the emulator's own tests run of copies that a thread need not wait for: right, and faults that must be found.
#include "ampere.cuh"

// from, to: a piece for each of 64 threads.
struct PieceArgs { Members<const real> from; Members<real> to; };
static constexpr int PIECES = 64, SHARED_BYTES = 2 * 16 * PIECES;

// to = from, each thread's piece by way of its neighbour; where `waits`, none reads before it came.
FN void pass_on(const PieceArgs& a, u32 shared, bool waits) {
  const int t = threadIdx.x, next = (t + 1) % PIECES;
  copy_piece(shared + 16 * t, a.from.of(blockIdx.y) + PACK * t, true);
  copies_commit();
  copy_piece(shared + 16 * (PIECES + t), a.from.of(blockIdx.y), false);
  copies_commit();
  if (waits) copies_wait<1>();
  __syncthreads();
  put_piece(a.to.of(blockIdx.y) + PACK * next, get_shared_piece(shared + 16 * next));
  copies_wait<0>();
  if (get_shared(shared + 16 * (PIECES + t)) != 0) put_piece(a.to.of(blockIdx.y) + PACK * next, get_shared_piece(shared + 16 * (PIECES + t)));
}
GPU_KERNEL(pieces_waited_for, PieceArgs, SHARED_BYTES, PIECES, 1) { pass_on(a, shared, true); }
GPU_KERNEL(pieces_read_early, PieceArgs, SHARED_BYTES, PIECES, 1) { pass_on(a, shared, false); }
GPU_KERNEL(pieces_left_behind, PieceArgs, SHARED_BYTES, PIECES, 1) {
  copy_piece(shared + 16 * threadIdx.x, a.from.of(blockIdx.y) + PACK * threadIdx.x, true);
  copies_commit();
}
GPU_KERNEL(pieces_askew, PieceArgs, SHARED_BYTES, PIECES, 1) {
  copy_piece(shared, a.from.of(blockIdx.y) + 1, true);
}
GPU_KERNEL(pieces_beyond, PieceArgs, SHARED_BYTES, PIECES, 1) {
  copy_piece(shared + SHARED_BYTES + 1024, a.from.of(blockIdx.y), true);
}
