// gpu: sm_90a
// bounds: DQN_INPUTS=128 DQN_TRUNK1=256 DQN_TRUNK2=256 DQN_STREAM=128 DQN_BRANCHES=3 DQN_ACTIONS0=9 DQN_ACTIONS1=3 DQN_ACTIONS2=3 DQN_ATOMS=51 DQN_GROUPS=1 DQN_ROLES=1
// bounds: DQN_INPUTS=256 DQN_TRUNK1=512 DQN_TRUNK2=256 DQN_STREAM=128 DQN_BRANCHES=3 DQN_ACTIONS0=9 DQN_ACTIONS1=3 DQN_ACTIONS2=3 DQN_ATOMS=51 DQN_GROUPS=1 DQN_ROLES=1
// Decisions of the batched environment, as many as are asked for: env_observe, dqn_act and env_step_greedy over and over, bit for
// bit, in one launch. A block owns tiles of environments, and environments never meet, so that nothing waits for other blocks.
// Shapes: [E] environments, weights and mean as in `dqn_act.cu`, all else as in `env_step.cu`; chosen has the last decision's.
// The parts of a block go through its rounds, each a decision of one tile: a computing warpgroup acts for the tile of a round while
// stepping warps carry out the actions of the round before, and lay out x of the round after, where the block has two tiles or
// more. One more warp loads weights.
#include "observation.cuh"
#include "stepping.cuh"

static constexpr bool LEARNS = false;
static_assert(DQN_GROUPS == 1, "one warpgroup computes: beside two there are registers for three stepping warps");
// Warps that step, with the one that loads in two warpgroups; environments of a tile that each of them has.
static constexpr int STEPPERS = 7, EACH = 10;
static constexpr int TILE = 64;
static constexpr int ACTIONS_BYTES = 4 * TILE;  // a byte a branch
static constexpr int SEEN_BYTES = EACH * sizeof(Seen);
static constexpr int OWN_BYTES = 2 * ACTIONS_BYTES + STEPPERS * SEEN_BYTES;
#include "dqn_forward.cuh"
#include "dqn_loader.cuh"

static constexpr int ALL_THREADS = 384;
// Of the 168 registers that a thread starts with.
static constexpr int COMPUTING_REGISTERS = 240, STEPPING_REGISTERS = 128;

struct CollectArgs {
  NetMaps online;
  TensorMap mean;
  NetBiases online_bias;
  EnvStepGreedyArgs env;
  Members<const real> features;
  ObservationShape shape;
  i32 decisions, blocks;
  u32 padding[9];
};

// The rounds of a block, and what its parts tell one another with.
struct Rounds {
  u32 shared;
  int tiles, all, lag;  // of the block; rounds; how many x is laid out ahead
  METHOD Rounds(const CollectArgs& a, u32 shared) : shared(shared) {
    const int whole = ((int)a.env.step.envs + TILE - 1) / TILE;
    tiles = (whole - (int)blockIdx.x + a.blocks - 1) / a.blocks;
    all = tiles * a.decisions;
    lag = tiles > 1 ? 2 : 1;
  }
  METHOD u32 barrier_at(int i) const { return shared + OF_BARRIERS + 16 * STAGES + 8 * i; }
  METHOD u32 ready() const { return barrier_at(0); }                  // x is there
  METHOD u32 free() const { return barrier_at(1); }                   // the trunk is done with x
  METHOD u32 acted(int round) const { return barrier_at(2 + (round & 1)); }
  METHOD u32 actions(int round) const { return shared + OF_OWN + (round & 1) * ACTIONS_BYTES; }
  METHOD void init() const {
    // Each thread arrives for itself where others read or write what it has written or read: racecheck does not see that a warp's
    // first lane may arrive for all.
    barrier_init(ready(), 32 * STEPPERS);
    barrier_init(free(), 4);
    barrier_init(acted(0), 128);
    barrier_init(acted(1), 128);
  }
};

// ---- a computing warpgroup ---------------------------------------------------------------------------------------------
struct Actor : Forward<CollectArgs> {
  struct Hooks {
    const Actor& g;
    const Rounds& rounds;
    int round;
    Best best;
    u32 chosen[2];  // a byte per branch, of both rows
    METHOD void value() { if (g.lane() == 0) arrive(rounds.free()); }
    METHOD void begin() {}
    METHOD void use(const Atoms& q, int, int j) { best.consider(q, j, g.quad()); }
    METHOD void done(int s) {
      UNROLL for (int h = 0; h < 2; ++h) chosen[h] |= (u32)best.action[h] << 8 * (s - 1);
      if (s != BRANCHES) return;
      if (g.quad() == 0) UNROLL for (int h = 0; h < 2; ++h) put_shared(rounds.actions(round) + 4 * (g.row() + 8 * h), chosen[h]);
      arrive(rounds.acted(round));
    }
  };
};

// ---- a stepping warp ---------------------------------------------------------------------------------------------------
struct Stepper {
  const CollectArgs& a;
  const Rounds& rounds;
  int id, member;
  METHOD int lane() const { return threadIdx.x & 31; }
  template<class F> METHOD void each(int n, F f) const { for (int i = lane(); i < n; i += 32) f(i); }
  METHOD int row() const { return id * EACH; }  // its first of a tile
  // Its first environment of a round's tile, and how many it has.
  METHOD int first(int round) const { return ((int)blockIdx.x + round % rounds.tiles * a.blocks) * TILE + row(); }
  METHOD int count(int first) const { return max(0, min(min(EACH, TILE - row()), (int)a.env.step.envs - first)); }

  METHOD void step(int round) const {
    const int from = first(round);
    wait_for(rounds.acted(round), round >> 1 & 1);
    each(count(from), [&](int j) {
      const u32 greedy = get_shared(rounds.actions(round) + 4 * (row() + j));
      step_greedy(a.env, member, (u32)(from + j), [&](u32 d) { return greedy >> 8 * d & 255; });
    });
  }
  METHOD void observe(int round) const {
    const EnvStepArgs& env = a.env.step;
    const int from = first(round), rows = count(from);
    const u32 seen = rounds.shared + OF_OWN + 2 * ACTIONS_BYTES + id * SEEN_BYTES;
    const auto seen_by = [&](int j) -> Seen& { return in_shared<Seen>(seen + j * (int)sizeof(Seen)); };
    __syncwarp();  // what was seen last is written
    each(rows, [&](int j) {
      const u32 e = (u32)(from + j), k = market_of(e, env.markets, env.envs);
      seen_by(j) = see(env.rules.of(member)[k], env.member.of(member)[k], env.bars.of(member), env.context.of(member),
                       env.env.of(member)[e], a.shape.feature_ld);
    });
    __syncwarp();
    if (round > 0) wait_for(rounds.free(), (round - 1) & 1);
    write_observations(*this, a.shape, rows, a.features.of(member), seen_by, [&](int j, int i) {
      const int at = row() + j;
      return pack_in_shared(rounds.shared + OF_GROUPS + i / 8 * BLOCK_BYTES + 128 * at + ((i ^ at) % 8 << 4));
    });
    publish_shared();
    arrive(rounds.ready());
  }
  METHOD void run() const {
#pragma unroll 1
    for (int round = -rounds.lag; round < rounds.all; ++round) {
      const int ahead = round + rounds.lag;
      if (round >= 0) step(round);
      if (ahead < rounds.all) observe(ahead);
    }
  }
};

GPU_KERNEL(dqn_collect, CollectArgs, SHARED_BYTES, ALL_THREADS, 1) {
  const int warp = __shfl_sync(0xffffffffu, threadIdx.x / 32, 0), other = warp - 4;
  const u32 full = shared + OF_BARRIERS, empty = full + 8 * STAGES;
  const int member = blockIdx.y;
  const Rounds rounds(a, shared);
  if (threadIdx.x == 0) {
    for (int i = 0; i < STAGES; ++i) { barrier_init(full + 8 * i, 1); barrier_init(empty + 8 * i, 4); }
    rounds.init();
    barriers_ready();
  }
  __syncthreads();
  if (other >= 0) {
    registers_fewer<STEPPING_REGISTERS>();
    if (other < STEPPERS) {
      Stepper{a, rounds, other, member}.run();
    } else if ((threadIdx.x & 31) == 0) {
      Loader l{shared, full, empty, 0, 0, member};
#pragma unroll 1
      for (int round = 0; round < rounds.all; ++round) l.forward(a.online, a.mean, 0, (1 << BRANCHES) - 1);
    }
    return;
  }
  registers_more<COMPUTING_REGISTERS>();
  biases_of(a.online_bias, member, shared + OF_BIAS);
  Actor g{{a, shared, shared + OF_GROUPS, 0, 0, 0, 0, 0, member}};
#pragma unroll 1
  for (int round = 0; round < rounds.all; ++round) {
    wait_for(rounds.ready(), round & 1);
    Actor::Hooks hooks{g, rounds, round, {{0, 0}, {0.f, 0.f}}, {0, 0}};
    g.forward(g.x_at(0), shared + OF_BIAS, (1 << BRANCHES) - 1, false, hooks);
  }
}
