// gpu: sm_90a
// bounds: DQN_INPUTS=128 DQN_TRUNK1=256 DQN_TRUNK2=256 DQN_STREAM=128 DQN_BRANCHES=3 DQN_ACTIONS0=9 DQN_ACTIONS1=3 DQN_ACTIONS2=3 DQN_ATOMS=51 DQN_GROUPS=1 DQN_ROLES=1
// bounds: DQN_INPUTS=256 DQN_TRUNK1=512 DQN_TRUNK2=256 DQN_STREAM=128 DQN_BRANCHES=3 DQN_ACTIONS0=9 DQN_ACTIONS1=3 DQN_ACTIONS2=3 DQN_ATOMS=51 DQN_GROUPS=1 DQN_ROLES=1
// Decisions of the batched environment, as many as are asked for: env_observe, dqn_act and env_step_greedy over and over, bit for
// bit, in one launch. A block owns a tile of environments, and environments never meet, so that nothing waits for other blocks.
// Shapes: [E] environments, weights and mean as in `dqn_act.cu`, all else as in `env_step.cu`; chosen has the last decision's.
// A computing warpgroup acts for the tile, and seven warps step it; one more loads weights. Acting and stepping wait for each other,
// so what stepping can do without an action it does while the network acts: all of the step that does not need one, what was
// explored, and the windows of the next observation. What nobody who acts reads is written after the observation.
#include "observation.cuh"
#include "stepping.cuh"

static constexpr bool LEARNS = false, COMPACT = true;
static_assert(DQN_GROUPS == 1, "one warpgroup computes: beside two there are registers for three stepping warps");
// Warps that step, with the one that loads in two warpgroups; environments of a tile that each of them has.
static constexpr int STEPPERS = 7, EACH = 10;
static constexpr int TILE = 64;
static constexpr int ACTIONS_BYTES = 4 * TILE;  // a byte a branch
static constexpr int NEWEST_BYTES = EACH * sizeof(i64);  // where the features of a warp's environments lie
static constexpr int OWN_BYTES = ACTIONS_BYTES + STEPPERS * NEWEST_BYTES;
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
  i32 decisions;
  u32 padding[10];
};

// What the parts of a block tell one another with, a round for each decision.
struct Rounds {
  u32 shared;
  METHOD u32 barrier_at(int i) const { return shared + OF_BARRIERS + 16 * STAGES + 8 * i; }
  METHOD u32 ready() const { return barrier_at(0); }  // x is there
  METHOD u32 free() const { return barrier_at(1); }   // the trunk is done with x
  METHOD u32 acted() const { return barrier_at(2); }
  METHOD u32 actions() const { return shared + OF_OWN; }
  METHOD void init() const {
    // Each thread arrives for itself where others read or write what it has written or read: racecheck does not see that a warp's
    // first lane may arrive for all.
    barrier_init(ready(), 32 * STEPPERS);
    barrier_init(free(), 4);
    barrier_init(acted(), 128);
  }
};

// ---- a computing warpgroup ---------------------------------------------------------------------------------------------
struct Actor : Forward<CollectArgs> {
  struct Hooks {
    const Actor& g;
    const Rounds& rounds;
    Best best;
    u32 chosen[2];  // a byte per branch, of both rows
    METHOD void value() { if (g.lane() == 0) arrive(rounds.free()); }
    METHOD void begin() {}
    METHOD void use(const Atoms& q, int, int j) { best.consider(q, j, g.quad()); }
    METHOD void done(int s) {
      best.add_to(chosen, s - 1, g.quad());
      if (s != BRANCHES) return;
      if (g.quad() == 0) UNROLL for (int h = 0; h < 2; ++h) put_shared(rounds.actions() + 4 * (g.row() + 8 * h), chosen[h]);
      arrive(rounds.acted());
    }
  };
};

// ---- a stepping warp ---------------------------------------------------------------------------------------------------
// Each of its first lanes has an environment, whose state stays with it.
struct Stepper {
  const CollectArgs& a;
  const Rounds& rounds;
  int id, member;
  METHOD int lane() const { return threadIdx.x & 31; }
  METHOD int row() const { return id * EACH; }  // its first of the tile
  METHOD real* x_pack(int j, int i) const {
    const int at = row() + j;
    return pack_in_shared(rounds.shared + OF_GROUPS + i / 8 * BLOCK_BYTES + 128 * at + ((i ^ at) % 8 << 4));
  }
  METHOD i64& newest(int j) const {
    return in_shared<i64>(rounds.shared + OF_OWN + ACTIONS_BYTES + id * NEWEST_BYTES + j * (int)sizeof(i64));
  }
  // x of those of its rows that are in a mask, without their accounts.
  METHOD void lay_out_windows(u32 which) const {
    static constexpr int ROW_PACKS = INPUTS / 8;
    const auto none = [](int) { return 0.f; };
#pragma unroll 1
    for (int i = lane(); i < EACH * ROW_PACKS; i += 32) {
      const int j = i / ROW_PACKS;
      if (which >> j & 1) observe8(a.shape, newest(j), none, a.features.of(member), i % ROW_PACKS, x_pack(j, i % ROW_PACKS));
    }
  }
  METHOD void run() const {
    const EnvStepArgs& env = a.env.step;
    const int first = (int)blockIdx.x * TILE + row(), rows = max(0, min(min(EACH, TILE - row()), (int)env.envs - first));
    const bool mine = lane() < rows;
    const u32 e = (u32)first + (mine ? lane() : 0), k = market_of(e, env.markets, env.envs);
    const EnvMember& who = env.member.of(member)[k];
    const Rules& r = env.rules.of(member)[k];
    const Bar* const bars = env.bars.of(member);
    Env s{};
    if (mine) s = env.env.of(member)[e];
#pragma unroll 1
    for (int round = -1; round < a.decisions; ++round) {
      const bool acts = round >= 0;
      Ahead ahead{};
      Choice chosen{};
      Stepped stepped{};
      // Where the next observation is made, as far as is known: only ruin ends an episode unforeseen.
      u32 bar = s.bar, volatility_e9 = s.volatility_e9;
      bool ends = false;
      Episode next{};
      if (acts && mine) {
        chosen = explore(a.env, member, e, s);
        ahead = look_ahead(env, member, e, s);
        bar += 1;
        ends = bar == s.end;
        if (ends) {
          next = next_episode(env, member, e, s);
          bar = next.bar;
          volatility_e9 = next.volatility_e9;
        }
      }
      if (acts) wait_for(rounds.free(), round & 1);
      MarketFeatures market{};
      bool left = acts;
      u32 which = (1u << rows) - 1;
      do {
        if (mine) {
          newest(lane()) = ((i64)bar + who.feature_shift) * a.shape.feature_ld;
          market = market_features(r, who, bars[bar], env.context.of(member)[bar], volatility_e9);
        }
        __syncwarp();
        lay_out_windows(which);
        __syncwarp();
        if (!left) break;
        left = false;
        wait_for(rounds.acted(), round & 1);
        if (mine) {
          const u32 greedy = get_shared(rounds.actions() + 4 * (row() + lane()));
          chosen = drawn_or(chosen, [&](u32 d) { return greedy >> 8 * d & 255; });
          stepped = take_step(env, member, e, s, ahead, chosen, [&] { return ends ? next : next_episode(env, member, e, s); });
          ends = !ends && stepped.flags & TERMINATED;
          if (ends) {
            bar = s.bar;
            volatility_e9 = s.volatility_e9;
          }
        }
        which = ballot(mine && ends);
      } while (which);
      if (mine) {
        const AccountFeatures account = account_features(r, market, summarise(r, s.account, bars[s.bar]));
        write_account(a.shape, account, [&](int i) { return x_pack(lane(), i); });
      }
      publish_shared();
      arrive(rounds.ready());
      if (acts && mine) {
        write_step(env, member, e, s, ahead, stepped);
        write_chosen(a.env, member, e, chosen);
      }
    }
    if (mine) env.env.of(member)[e] = s;
  }
};

GPU_KERNEL(dqn_collect, CollectArgs, SHARED_BYTES, ALL_THREADS, 1) {
  const int warp = __shfl_sync(0xffffffffu, threadIdx.x / 32, 0), other = warp - 4;
  const u32 full = shared + OF_BARRIERS, empty = full + 8 * STAGES;
  const int member = blockIdx.y;
  const Rounds rounds{shared};
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
      for (int round = 0; round < a.decisions; ++round) l.forward(a.online, a.mean, 0, (1 << BRANCHES) - 1);
    }
    return;
  }
  registers_more<COMPUTING_REGISTERS>();
  biases_of(a.online_bias, member, shared + OF_BIAS);
  Actor g{{a, shared, shared + OF_GROUPS, 0, 0, 0, 0, 0, member}};
#pragma unroll 1
  for (int round = 0; round < a.decisions; ++round) {
    wait_for(rounds.ready(), round & 1);
    Actor::Hooks hooks{g, rounds, {0, 0.f}, {0, 0}};
    g.forward(g.x_at(0), shared + OF_BIAS, (1 << BRANCHES) - 1, false, hooks);
  }
}
