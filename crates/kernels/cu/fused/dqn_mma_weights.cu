// gpu: sm_80+
// bounds: DQN_INPUTS=128 DQN_TRUNK1=256 DQN_TRUNK2=256 DQN_STREAM=128 DQN_BRANCHES=3 DQN_ACTIONS0=9 DQN_ACTIONS1=3 DQN_ACTIONS2=3 DQN_ATOMS=51
// bounds: DQN_INPUTS=64 DQN_TRUNK1=128 DQN_TRUNK2=128 DQN_STREAM=64 DQN_BRANCHES=3 DQN_ACTIONS0=9 DQN_ACTIONS1=3 DQN_ACTIONS2=3 DQN_ATOMS=51
// What `dqn_weights.cu` does, with products of warps: for GPUs from Ampere on, and for F32 as TF32. A block has 64 by 64 of a weight
// matrix, or 64 columns of a unit of the head, over the whole batch: four warps share the tile, and four more take every other
// half of a stage. Both halves' F32 sums meet on chip: the order of addition is the same whatever the batch is.
// Shapes as in `dqn_rows.cu`. Overwrites the gradients, and a partial squared norm (2^-32) per block.
#include "dqn_mma.cuh"
#include "optimiser.cuh"

static constexpr int TILE = 64, MT = 2, NT = 4;  // of a warp 32 by 32
static constexpr int PANELS = TILE / LINE, LINES = STAGE_BYTES / 256 / PANELS;  // of both sides of a stage: rows of the batch
static constexpr int STEPS = LINES / STEP, STAGES = 3;
static constexpr int OF_RIGHT = LINES * PANELS * 128;
static constexpr int OF_NORMS = STAGES * STAGE_BYTES, SHARED_BYTES = OF_NORMS + 64;
static constexpr int PAIRS = MT * (NT + 1) * 2;  // of a thread's sums, biases among them
static_assert(PAIRS * 128 * 8 <= STAGES * STAGE_BYTES, "sums take the place of the stages");
FN constexpr int tiles(int n) { return (n + TILE - 1) / TILE; }
static constexpr int TASKS1 = tiles(TRUNK1) * tiles(INPUTS), TASKS2 = tiles(TRUNK2) * tiles(TRUNK1), TASKS3 = tiles(STREAMS * STREAM) * tiles(TRUNK2);

struct MmaWeightsArgs {
  Members<const real> x, h1, h2, h3, d1, d2, d3, g;
  Members<const u8> actions;
  Members<real> w1, w2, w3, head, b1, b2, b3, b_head;
  Members<u64> norm;
  i32 rows, ld_actions, ld_x, ld_h1, ld_h2, ld_h3, ld_d1, ld_d2, ld_d3, ld_g, ld1, ld2, ld3, ld_head;
};

// Which part of which gradient: dW = d^T h.
struct Task {
  const real *d, *h;
  real *w, *b;                           // where its first weight, and its first bias go
  int ld_d, ld_h, ld_w, rows, columns;   // of what the tile covers of the weight matrix
  int stream, unit, units;               // of the head: the unit in its stream, and how many that has
  bool head, first;                      // of a row of tiles, which has the biases
};
FN Task layer(const Members<const real>& d, int ld_d, const Members<const real>& h, int ld_h, const Members<real>& w, int ld_w,
              const Members<real>& b, int member, int i, int columns) {
  const int row = i / tiles(columns) * TILE, column = i % tiles(columns) * TILE;
  return {d.of(member) + row, h.of(member) + column, w.of(member) + (i64)row * ld_w + column, b.of(member) + row,
    ld_d, ld_h, ld_w, TILE, TILE, 0, 0, 0, false, column == 0};
}
FN Task task_of(const MmaWeightsArgs& a, int member, int i) {
  if (i < TASKS1) return layer(a.d1, a.ld_d1, a.x, a.ld_x, a.w1, a.ld1, a.b1, member, i, INPUTS);
  i -= TASKS1;
  if (i < TASKS2) return layer(a.d2, a.ld_d2, a.h1, a.ld_h1, a.w2, a.ld2, a.b2, member, i, TRUNK1);
  i -= TASKS2;
  if (i < TASKS3) return layer(a.d3, a.ld_d3, a.h2, a.ld_h2, a.w3, a.ld3, a.b3, member, i, TRUNK2);
  i -= TASKS3;
  const int unit = i / tiles(STREAM), column = i % tiles(STREAM) * TILE;
  int s = 0;
  while (s + 1 < STREAMS && unit >= first_unit(s + 1)) s += 1;
  return {a.g.of(member) + 64 * s, a.h3.of(member) + s * STREAM + column, a.head.of(member) + (i64)unit * UNIT * a.ld_head + column,
    a.b_head.of(member) + unit * UNIT, a.ld_g, a.ld_h3, a.ld_head, UNIT, TILE, s, unit - first_unit(s), actions_of(s), true, column == 0};
}

GPU_KERNEL(dqn_mma_weights, MmaWeightsArgs, SHARED_BYTES, THREADS, 2) {
  const int warp = threadIdx.x / 32, l = lane(), member = blockIdx.y;
  const Task task = task_of(a, member, blockIdx.x);
  const int half = warp / 4, row0 = warp / 2 % 2 * 32, column0 = warp % 2 * 32;
  const bool sums_bias = task.first && column0 == 0;
  const int stages = (a.rows + LINES - 1) / LINES;

  const auto ask = [&](int t) {
    if (t < stages) {
      const u32 to = shared + t % STAGES * STAGE_BYTES;
      UNROLL for (int e = 0; e < STAGE_BYTES / 16 / THREADS; ++e) {
        const int i = threadIdx.x + e * THREADS, right = i / (LINES * PANELS * 8), j = i % (LINES * PANELS * 8);
        const int line = j / (PANELS * 8), piece = j % (PANELS * 8), row = t * LINES + line;
        // Of a unit's gradient what lies beyond its columns was never written.
        const bool there = row < a.rows && (right || piece * PACK < task.rows);
        const real* const from = (right ? task.h + (i64)(there ? row : 0) * task.ld_h : task.d + (i64)(there ? row : 0) * task.ld_d) + piece * PACK;
        copy_piece(to + right * OF_RIGHT + piece / 8 * LINES * 128 + piece_at(line, piece & 7), from, there);
      }
    }
    copies_commit();
  };
  // The gradient of an action's distribution is g by a factor that depends on the action taken: of each lane's rows of a stage, for
  // all of its warp.
  const bool chosen = task.head && task.stream;
  const float inv = chosen ? 1.f / (float)task.units : 0.f;
  constexpr int EACH = LINES / 32;
  struct Taken { int action[EACH]; };
  const auto taken = [&](int t) {
    Taken r;
    UNROLL for (int e = 0; e < EACH; ++e) {
      const int row = t * LINES + EACH * l + e;
      r.action[e] = chosen && row < a.rows ? a.actions.of(member)[(i64)row * a.ld_actions + task.stream - 1] : 0;
    }
    return r;
  };

  UNROLL for (int t = 0; t < STAGES - 1; ++t) ask(t);
  Sums<MT, NT> d;
  Sums<MT, 1> bias;
  clear(d);
  clear(bias);
  Right<1> ones;
  ones.v[0][0] = ones.v[0][1] = factor(1.f);
  Taken now, next = taken(0);
#pragma unroll 1
  for (int t = 0; t < stages; ++t) {
    copies_wait<STAGES - 2>();
    __syncthreads();
    ask(t + STAGES - 1);
    now = next;
    u32 mine = 0;
    if (chosen) {
      next = taken(t + 1);
      float by[EACH];
      UNROLL for (int e = 0; e < EACH; ++e) by[e] = now.action[e] == task.unit ? 1.f - inv : -inv;
      mine = factors(by[0], by[EACH - 1]);
    }
    const u32 at = shared + t % STAGES * STAGE_BYTES;
    UNROLL for (int j = 0; j < STEPS / 2; ++j) {
      const int k = 2 * j + half;
      Left<MT> left;
      Right<NT> right;
      left_across(left, at, LINES, k * STEP, row0);
      if (chosen) {
        // Of the rows of K that a thread has: the first four words' worth, and the second.
        const u32 first = __shfl_sync(0xffffffffu, mine, 8 * k + (l & 3)), second = __shfl_sync(0xffffffffu, mine, 8 * k + 4 + (l & 3));
        UNROLL for (int m = 0; m < MT; ++m)
          UNROLL for (int i = 0; i < 4; ++i) left.v[m][i] = scaled(left.v[m][i], i < 2 ? first : second);
      }
      right_across(right, at + OF_RIGHT, LINES, k * STEP, column0 / 8);
      multiply(d, left, right);
      if (sums_bias) multiply(bias, left, ones);
    }
  }

  // Sums of the second half to those of the first, a thread's beside its partner's.
  __syncthreads();
  const auto slot = [&](int pair) { return shared + (pair * 128 + (threadIdx.x & 127)) * 8; };
  if (half == 1)
    UNROLL for (int m = 0; m < MT; ++m)
      UNROLL for (int h = 0; h < 2; ++h) {
        UNROLL for (int n = 0; n < NT; ++n) put_shared2(slot((m * 2 + h) * (NT + 1) + n), d.v[m][n][2 * h], d.v[m][n][2 * h + 1]);
        put_shared2(slot((m * 2 + h) * (NT + 1) + NT), bias.v[m][0][2 * h], 0.f);
      }
  __syncthreads();
  float squares = 0.f;
  if (half == 0)
    UNROLL for (int m = 0; m < MT; ++m)
      UNROLL for (int h = 0; h < 2; ++h) {
        const int row = row0 + 16 * m + 8 * h + l / 4;
        if (row >= task.rows) continue;
        UNROLL for (int n = 0; n < NT; ++n) {
          const Float2 other = get_shared2(slot((m * 2 + h) * (NT + 1) + n));
          const float x = rounded(task.w, d.v[m][n][2 * h] + other.x), y = rounded(task.w, d.v[m][n][2 * h + 1] + other.y);
          store_two(task.w + (i64)row * task.ld_w + column0 + 8 * n + 2 * quad(), x, y);
          squares = fma_(x, x, fma_(y, y, squares));
        }
        if (sums_bias && quad() == 0) {
          const float x = rounded(task.w, bias.v[m][0][2 * h] + get_shared2(slot((m * 2 + h) * (NT + 1) + NT)).x);
          store(task.b + row, x);
          squares = fma_(x, x, squares);
        }
      }
  UNROLL for (int lanes = 16; lanes; lanes /= 2) squares = squares + shuffle_xor(squares, lanes);
  if (l == 0) put_shared_float(shared + OF_NORMS + 4 * warp, squares);
  __syncthreads();
  if (threadIdx.x == 0) {
    float total = 0.f;
    for (int i = 0; i < WARPS / 2; ++i) total = total + get_shared_float(shared + OF_NORMS + 4 * i);
    a.norm.of(member)[blockIdx.x] = to_fixed_q32(total);
  }
}
