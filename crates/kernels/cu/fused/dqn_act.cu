// gpu: sm_90a
// bounds: DQN_INPUTS=128 DQN_TRUNK1=256 DQN_TRUNK2=256 DQN_STREAM=128 DQN_BRANCHES=3 DQN_ACTIONS0=9 DQN_ACTIONS1=3 DQN_ACTIONS2=3 DQN_ATOMS=51 DQN_GROUPS=1 DQN_ROLES=1
// bounds: DQN_INPUTS=256 DQN_TRUNK1=512 DQN_TRUNK2=256 DQN_STREAM=128 DQN_BRANCHES=3 DQN_ACTIONS0=9 DQN_ACTIONS1=3 DQN_ACTIONS2=3 DQN_ATOMS=51 DQN_GROUPS=2 DQN_ROLES=1
// Greedy acting of a branching network (rl.md 1 to 3): the first pass of `dqn_rows.cu` alone, in the same arithmetic.
// Shapes: x [rows, S]; weights and mean as there, of the online net; greedy [rows, D]: the action of each branch with the
// largest Q, ties to the lowest. Overwrites greedy. `blocks` of a member take its tiles in turn: the copies of the next tile's
// weights run ahead of the last one's products.
static constexpr bool LEARNS = false, COMPACT = false;
static constexpr int OWN_BYTES = 0;
#include "dqn_forward.cuh"
#include "dqn_loader.cuh"

struct ActArgs {
  NetMaps online;
  TensorMap x, mean;
  NetBiases online_bias;
  Members<u8> greedy;
  i32 rows, ld_greedy, blocks;
  u32 padding[9];
};

struct Actor : Forward<ActArgs> {
  struct Hooks {
    const Actor& g;
    int next;  // first row of the next tile, or none if negative
    Best best;
    METHOD void value() {  // the trunk is done with x
      if (next >= 0 && g.thread() == 0) g.request_x(0, next);
    }
    METHOD void begin() {}
    METHOD void use(const Atoms& q, int, int j) { best.consider(q, j, g.quad()); }
    METHOD void done(int s) {
      const int h = g.quad() & 1;
      if (g.quad() < 2 && g.inside(h))
        g.a.greedy.of(g.member)[(i64)(g.first + g.row() + 8 * h) * g.a.ld_greedy + s - 1] = (u8)best.action;
    }
  };
};

GPU_KERNEL(dqn_act, ActArgs, SHARED_BYTES, THREADS, 1) {
  const int warp = __shfl_sync(0xffffffffu, threadIdx.x / 32, 0), group = warp / 4;
  const u32 full = shared + OF_BARRIERS, empty = full + 8 * STAGES, x_full = empty + 8 * STAGES;
  const int member = blockIdx.y, tiles = (a.rows + 64 * GROUPS - 1) / (64 * GROUPS);
  if (threadIdx.x == 0) {
    for (int i = 0; i < STAGES; ++i) { barrier_init(full + 8 * i, 1); barrier_init(empty + 8 * i, 4 * GROUPS); }
    for (int i = 0; i < 2 * GROUPS; ++i) barrier_init(x_full + 8 * i, 1);
    barriers_ready();
  }
  __syncthreads();
  if (group == GROUPS) {
    if constexpr (GROUPS == 2) registers_fewer<24>();
    if (threadIdx.x == 128 * GROUPS) {
      Loader l{shared, full, empty, 0, 0, member};
#pragma unroll 1
      for (int tile = blockIdx.x; tile < tiles; tile += a.blocks) l.forward(a.online, a.mean, 0, (1 << BRANCHES) - 1);
    }
    return;
  }
  if constexpr (GROUPS == 2) registers_more<240>();
  Actor g{{a, shared, shared + OF_GROUPS + group * GROUP_BYTES, 0, 0, 0, group, ((int)blockIdx.x * GROUPS + group) * 64, member}};
  const int further = a.blocks * GROUPS * 64;
  if (g.thread() == 0) g.request_x(0, g.first);
  biases_of(a.online_bias, member, shared + OF_BIAS);
  u32 parity = 0;
#pragma unroll 1
  for (int tile = blockIdx.x; tile < tiles; tile += a.blocks) {
    wait_for(g.x_full(0), parity);
    Actor::Hooks hooks{g, tile + a.blocks < tiles ? g.first + further : -1, {0, 0.f}};
    g.forward(g.x_at(0), shared + OF_BIAS, (1 << BRANCHES) - 1, false, hooks);
    g.first += further;
    parity ^= 1;
  }
}
