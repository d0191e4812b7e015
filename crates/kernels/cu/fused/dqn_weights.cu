// gpu: sm_90a
// bounds: DQN_INPUTS=128 DQN_TRUNK1=256 DQN_TRUNK2=256 DQN_STREAM=128 DQN_BRANCHES=3 DQN_ACTIONS0=9 DQN_ACTIONS1=3 DQN_ACTIONS2=3 DQN_ATOMS=51 DQN_PARTS=4 DQN_SPLIT=8
// bounds: DQN_INPUTS=64 DQN_TRUNK1=128 DQN_TRUNK2=128 DQN_STREAM=64 DQN_BRANCHES=3 DQN_ACTIONS0=9 DQN_ACTIONS1=3 DQN_ACTIONS2=3 DQN_ATOMS=51 DQN_PARTS=2 DQN_SPLIT=1
// bounds: DQN_INPUTS=128 DQN_TRUNK1=256 DQN_TRUNK2=256 DQN_STREAM=128 DQN_BRANCHES=3 DQN_ACTIONS0=9 DQN_ACTIONS1=3 DQN_ACTIONS2=3 DQN_ATOMS=51 DQN_PARTS=1 DQN_SPLIT=1
// bounds: DQN_INPUTS=128 DQN_TRUNK1=256 DQN_TRUNK2=256 DQN_STREAM=128 DQN_BRANCHES=3 DQN_ACTIONS0=9 DQN_ACTIONS1=3 DQN_ACTIONS2=3 DQN_ATOMS=51 DQN_PARTS=1 DQN_SPLIT=2
// All gradients of weights and biases of a branching network, from what `dqn_rows.cu` left:
//   dW = d^T h,   db = sum of d;   of action j of a branch, d = (1[j = action] - 1/n) g
// Each warpgroup of a block has 64 rows of a weight matrix by 128 columns, or one unit of the head: a part. Large batches have four
// parts in a block, so that less is read twice. Small ones two, and two blocks on a multiprocessor, of which one computes while the
// other begins or ends; or one, where multiprocessors are left over, and most of the batch on its way at once. The blocks of a
// cluster split the batch. Their F32 sums are added on chip in order of rank: one BF16 store, and bits that follow from the batch
// alone.
// Shapes as in `dqn_rows.cu`. Overwrites the gradients, and a partial squared norm (2^-32) per part and block of a cluster.
#include "hopper.cuh"
#include "dqn.cuh"
#include "optimiser.cuh"

static constexpr int SPLIT = DQN_SPLIT;                       // blocks of a cluster
static constexpr int PARTS = DQN_PARTS;                       // warpgroups side by side: 1, 2 or 4
static constexpr int COMPUTE = 128 * PARTS, BLOCKS = PARTS == 2 ? 2 : 1;  // threads; blocks on a multiprocessor
static constexpr int STAGES = PARTS == 4 ? 4 : PARTS == 2 ? 3 : 8, STAGE_BYTES = (PARTS + 2) * BLOCK_BYTES;
FN constexpr int row_tiles(int n) { return (n + 64 * PARTS - 1) / (64 * PARTS); }
FN constexpr int column_tiles(int n) { return (n + 127) / 128; }
static constexpr int TASKS1 = row_tiles(TRUNK1) * column_tiles(INPUTS), TASKS2 = row_tiles(TRUNK2) * column_tiles(TRUNK1);
static constexpr int TASKS3 = row_tiles(STREAMS * STREAM) * column_tiles(TRUNK2);
static constexpr int PAIRS = 34;  // of a thread's sums: 32 of weights, 2 of biases
static constexpr int OF_ONES = STAGES * STAGE_BYTES, OF_BARRIERS = OF_ONES + 256, OF_NORMS = OF_BARRIERS + 16 * STAGES, SHARED_BYTES = OF_NORMS + 64;
static_assert(PAIRS * COMPUTE * 8 <= STAGES * STAGE_BYTES, "sums take the place of the stages");

// Number of a part's partial norm, whatever the parts of a block: trunk and stream layers by their tiles of 64 by 128, then the units.
FN constexpr int norms_of(int rows, int columns) { return (rows + 63) / 64 * column_tiles(columns); }
static constexpr int NORMS1 = norms_of(TRUNK1, INPUTS), NORMS2 = NORMS1 + norms_of(TRUNK2, TRUNK1);
static constexpr int NORMS3 = NORMS2 + norms_of(STREAMS * STREAM, TRUNK2);

struct WeightsArgs {
  TensorMap x, h1, h2, h3, d1, d2, d3, g;
  Members<const u8> actions;
  Members<real> w1, w2, w3, head, b1, b2, b3, b_head;
  Members<u64> norm;
  i32 rows, ld_actions, ld1, ld2, ld3, ld_head;
  u32 padding[2];
};

// Which part of which gradient.
struct Task {
  int kind;                  // 0 to 2: a trunk or stream layer; 3: units of the head
  int row, column;           // of the weight matrix
  int stream, unit, units;   // of the head: the first unit, and how many the stream has
};
FN Task task_of(int i) {
  Task t{0, 0, 0, 0, 0, 0};
  const auto tile = [&](int kind, int columns) { t.kind = kind; t.row = i / columns * 64 * PARTS; t.column = i % columns * 128; };
  if (i < TASKS1) { tile(0, column_tiles(INPUTS)); return t; }
  i -= TASKS1;
  if (i < TASKS2) { tile(1, column_tiles(TRUNK1)); return t; }
  i -= TASKS2;
  if (i < TASKS3) { tile(2, column_tiles(TRUNK2)); return t; }
  i -= TASKS3;
  t.kind = 3;
  for (;; t.stream += 1) {
    const int tasks = (actions_of(t.stream) + PARTS - 1) / PARTS;
    if (i < tasks) break;
    i -= tasks;
  }
  t.unit = PARTS * i;
  t.units = actions_of(t.stream);
  return t;
}

GPU_KERNEL(dqn_weights, WeightsArgs, SHARED_BYTES, COMPUTE, BLOCKS, __cluster_dims__(DQN_SPLIT, 1, 1)) {
  let_next_begin();
  const int warp = __shfl_sync(0xffffffffu, threadIdx.x / 32, 0), lane = threadIdx.x & 31, member = blockIdx.y;
  const u32 full = shared + OF_BARRIERS, empty = full + 8 * STAGES;
  const int rank = blockIdx.x % SPLIT;
  const Task task = task_of(blockIdx.x / SPLIT);
  const int batch_tiles = (a.rows + 63) / 64, begin = rank * batch_tiles / SPLIT, end = (rank + 1) * batch_tiles / SPLIT;
  if (threadIdx.x == 0) {
    for (int i = 0; i < STAGES; ++i) { barrier_init(full + 8 * i, 1); barrier_init(empty + 8 * i, 4 * PARTS); }
    barriers_ready();
  }
  if (threadIdx.x < 64) put_shared(shared + OF_ONES + 4 * threadIdx.x, 0x3f803f80u);
  publish_shared();
  __syncthreads();

  const int part = warp / 4, quad = lane & 3;
  float d[64], ones[4];
  const auto load = [&](int t) {
    const int stage = (t - begin) % STAGES;
    const u32 to = shared + stage * STAGE_BYTES, bar = full + 8 * stage;
    const auto blocks = [&](const TensorMap& d_map, int d_blocks, int d_column, const TensorMap& h_map, int h_column) {
      expect_bytes(bar, (d_blocks + 2) * BLOCK_BYTES);
      for (int b = 0; b < d_blocks; ++b) load_block(to + b * BLOCK_BYTES, d_map, d_column + 64 * b, 64 * t, member, bar);
      for (int b = 0; b < 2; ++b) load_block(to + (PARTS + b) * BLOCK_BYTES, h_map, h_column + 64 * b, 64 * t, member, bar);
    };
    if (task.kind == 0) blocks(a.d1, PARTS, task.row, a.x, task.column);
    else if (task.kind == 1) blocks(a.d2, PARTS, task.row, a.h1, task.column);
    else if (task.kind == 2) blocks(a.d3, PARTS, task.row, a.h2, task.column);
    else blocks(a.g, 1, 64 * task.stream, a.h3, task.stream * STREAM);
  };
  if (threadIdx.x == 0)
    for (int t = begin; t < end && t < begin + STAGES; ++t) load(t);
  {
    const bool head = task.kind == 3;
    const int unit = task.unit + part;
    const float inv = head && task.stream ? 1.f / (float)task.units : 0.f;
    const u32 own = pack2(1.f - inv, 0.f) & 0xffffu, others = pack2(-inv, 0.f) & 0xffffu;
    const bool chosen = head && task.stream;  // the gradient depends on the action taken
    // Actions of two rows of a tile: of each lane's rows, for all of its warp.
    struct Taken { u32 x, y; };
    const auto taken = [&](int t) -> Taken {
      const u8* const of = a.actions.of(member) + (task.stream - 1);
      const int r = 64 * t + 2 * lane;
      return {r < a.rows ? of[(i64)r * a.ld_actions] : 0u, r + 1 < a.rows ? of[(i64)(r + 1) * a.ld_actions] : 0u};
    };
    Taken now{0, 0}, next{0, 0};
    if (chosen) next = taken(begin);
    UNROLL for (int i = 0; i < 64; ++i) d[i] = 0.f;
    UNROLL for (int i = 0; i < 4; ++i) ones[i] = 0.f;
#pragma unroll 1
    for (int t = begin; t < end; ++t) {
      const int done = t - begin, stage = done % STAGES;
      // The last tile's stage, which the others are through with by now or soon, has room for the next.
      if (threadIdx.x == 0 && done && t - 1 + STAGES < end) {
        wait_for(empty + 8 * ((done - 1) % STAGES), (done - 1) / STAGES & 1);
        load(t - 1 + STAGES);
      }
      __syncwarp();
      u32 factor[8];
      if (chosen) {
        now = next;
        next = taken(t + 1);
        const u32 mine = (now.x == unit ? own : others) | (now.y == unit ? own : others) << 16;
        UNROLL for (int k = 0; k < 8; ++k) factor[k] = __shfl_sync(0xffffffffu, mine, 4 * k + quad);
      }
      const u32 at = shared + stage * STAGE_BYTES, from = at + (head ? 0 : part * BLOCK_BYTES);
      wait_for(full + 8 * stage, done / STAGES & 1);
      u32 left[4][4];
      UNROLL for (int k = 0; k < 4; ++k) {
        const int r = 16 * k + (lane >> 4) * 8 + (lane & 7), piece = 2 * (warp & 3) + (lane >> 3 & 1);
        load_transposed(left[k], from + 128 * r + ((piece ^ (r & 7)) << 4));
        if (chosen) {
          left[k][0] = multiply2(left[k][0], factor[2 * k]);
          left[k][1] = multiply2(left[k][1], factor[2 * k]);
          left[k][2] = multiply2(left[k][2], factor[2 * k + 1]);
          left[k][3] = multiply2(left[k][3], factor[2 * k + 1]);
        }
        pin(left[k]);
      }
      pin(d);
      pin(ones);
      products_begin();
      UNROLL for (int k = 0; k < 4; ++k) {
        rs<1>(d, left[k][0], left[k][1], left[k][2], left[k][3], across(at + PARTS * BLOCK_BYTES, k), 1);
        // A matrix of ones is the same in every layout.
        rs<0>(ones, left[k][0], left[k][1], left[k][2], left[k][3],
          (u64)(((shared + OF_ONES) & 0x3ffff) >> 4) | (u64)(128 >> 4) << 16 | (u64)(128 >> 4) << 32, 1);
      }
      products_commit();
      products_wait<0>();
      pin(d);
      pin(ones);
      if (lane == 0) arrive(empty + 8 * stage);
    }
  }

  // Where this thread's sums go: rows r and r + 8 of the matrix, columns 8 i + 2 quad.
  float squares = 0.f;
  const bool head = task.kind == 3;
  const int row = 16 * (warp & 3) + lane / 4 + (head ? 0 : 64 * part);
  const int rows = task.kind == 0 ? TRUNK1 : task.kind == 1 ? TRUNK2 : task.kind == 2 ? STREAMS * STREAM : UNIT;
  const int columns = task.kind == 0 ? INPUTS : task.kind == 1 ? TRUNK1 : task.kind == 2 ? TRUNK2 : STREAM;
  const int ld = task.kind == 0 ? a.ld1 : task.kind == 1 ? a.ld2 : task.kind == 2 ? a.ld3 : a.ld_head;
  const int first_row = head ? (first_unit(task.stream) + task.unit + part) * UNIT : 0;
  real* const w = (task.kind == 0 ? a.w1 : task.kind == 1 ? a.w2 : task.kind == 2 ? a.w3 : a.head).of(member);
  real* const b = (task.kind == 0 ? a.b1 : task.kind == 1 ? a.b2 : task.kind == 2 ? a.b3 : a.b_head).of(member);
  const bool live = head ? task.unit + part < task.units : task.row + 64 * part < rows;
  const auto store_pair = [&](int i, float x, float y) {  // pair i of a thread: 2 j + h
    const int j = i / 2, r = task.row + row + 8 * (i & 1);
    if (!live || r >= rows) return;
    if (j < 16) {
      const int column = task.column + 8 * j + 2 * quad;
      if (column >= columns) return;
      const u32 v = pack2(x, y);
      *(u32*)(w + (i64)(first_row + r) * ld + column) = v;
      squares = fma_(low2(v), low2(v), fma_(high2(v), high2(v), squares));
    } else if (task.column == 0 && quad == 0) {
      const u32 v = pack2(x, 0.f);
      b[first_row + r].b = (u16)v;
      squares = fma_(low2(v), low2(v), squares);
    }
  };
  if constexpr (SPLIT == 1) {
    UNROLL for (int i = 0; i < 32; ++i) store_pair(i, d[2 * i], d[2 * i + 1]);
    UNROLL for (int h = 0; h < 2; ++h) store_pair(32 + h, ones[2 * h], 0.f);
  } else {
    __syncthreads();  // all stages are done with
    // A thread's sums lie where those of its partners in other blocks do.
    const u32 slot = shared + threadIdx.x * 8;
    UNROLL for (int i = 0; i < 32; ++i) put_shared2(slot + i * COMPUTE * 8, d[2 * i], d[2 * i + 1]);
    UNROLL for (int h = 0; h < 2; ++h) put_shared2(slot + (32 + h) * COMPUTE * 8, ones[2 * h], 0.f);
    cluster_sync();
    constexpr int EACH = (PAIRS + SPLIT - 1) / SPLIT;
    UNROLL for (int e = 0; e < EACH; ++e) {
      const int i = rank * EACH + e;
      if (i >= PAIRS) break;
      Float2 v[SPLIT];
      UNROLL for (int r = 0; r < SPLIT; ++r) v[r] = get_remote2(shared_of_rank(slot + i * COMPUTE * 8, r));
      float x = v[0].x, y = v[0].y;
      UNROLL for (int r = 1; r < SPLIT; ++r) { x = x + v[r].x; y = y + v[r].y; }
      store_pair(i, x, y);
    }
    cluster_sync();
  }
  UNROLL for (int lanes = 16; lanes; lanes /= 2) squares = squares + shuffle_xor(squares, lanes);
  if (lane == 0) put_shared_float(shared + OF_NORMS + 4 * warp, squares);
  __syncthreads();
  if ((threadIdx.x & 127) == 0 && live) {
    float total = 0.f;
    for (int i = 0; i < 4; ++i) total = total + get_shared_float(shared + OF_NORMS + 4 * (4 * part + i));
    const int before = task.kind == 0 ? 0 : task.kind == 1 ? NORMS1 : NORMS2;
    const int number = head ? NORMS3 + first_unit(task.stream) + task.unit + part
                            : before + (task.row / 64 + part) * column_tiles(columns) + task.column / 128;
    a.norm.of(member)[number * SPLIT + rank] = to_fixed_q32(total);
  }
}
