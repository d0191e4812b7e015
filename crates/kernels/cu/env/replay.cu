// Uniform replay with n-step returns, by index. The ring [R, E] is time-major: the successor of (row, e) is
// (row + 1, e), so a window never crosses environments; it stops at an episode's end and at the write head, the
// environments' step.
//   replay_gather          s [B, S], next [B, S], actions [B, 3], samples [B] overwritten, for given indices: a prioritised sampler's
//   replay_gather_uniform  the same for indices that it draws, uniform over the rows written, and overwrites. A node of its own for
//                          them would cost a step as much time again as it takes
//   replay_advance         draws += 1, after a uniform batch
// With m the smallest of n, the steps to the episode's end (inclusive) and to the head:
//   R = sum_{k<m} gamma^k r_{t+k};  discount = gamma^m (1 - terminated_{t+m-1});  next = the true s' of step t+m-1
// gamma^k is Q31, rounded to nearest at each power; products are summed in 2^-40 and rounded to 2^-20 once.
#include "observation.cuh"

struct Sample {
  i32 return_q20;      // R of scaled rewards, 2^-20; saturates
  u32 discount_q31;    // gamma^m (1 - terminated)
  u32 index, steps;    // row * E + env; m
};

struct ReplayAdvanceArgs { Members<u64> draws; };
KERNEL(replay_advance, ReplayAdvanceArgs, None, 32, 32, 1) {
  t.each(1, [&](int) { *a.draws.of(t.member) += 1; });
}

struct ReplayGatherArgs {
  Members<const Env> env;
  Members<const EnvMember> member;
  Members<const Rules> rules;
  Members<const Bar> bars;
  Members<const Context> context;
  Members<const real> features;
  Members<const Transition> ring;
  Members<u32> indices;
  Members<real> s, next;
  Members<u8> actions;
  Members<Sample> samples;
  Members<const u64> draws;  // batches drawn so far; null and unread where indices are given
  ObservationShape shape;
  u32 envs, rows, batch, markets, reserved;
};
// s of a team's samples, then s'.
struct Gathered { Seen row[2 * TEAM_ROWS]; };

template<bool UNIFORM, class Tm> FN void gather(const ReplayGatherArgs& a, Gathered& m, Tm& t) {
  let_next_begin();
  const int first = (int)t.index * TEAM_ROWS, left = (int)a.batch - first, count = left < TEAM_ROWS ? left : TEAM_ROWS;
  u64 seed = 0, draws = 0, places = 0;
  if constexpr (UNIFORM) {
    const u64 step = a.env.of(t.member)->step;
    seed = a.member.of(t.member)->seed;
    draws = *a.draws.of(t.member);
    places = (step < a.rows ? step : a.rows) * a.envs;
  }
  t.each(2 * count, [&](int i) {
    const bool after = i >= count;
    const int j = after ? i - count : i;
    u32 index;
    if constexpr (UNIFORM) {
      const Words w = draw(seed, draws, 0, SAMPLE, (u32)(first + j));
      index = (u32)mul_high((u64)w.x << 32 | w.y, places);
      if (after) a.indices.of(t.member)[first + j] = index;
    } else {
      index = a.indices.of(t.member)[first + j];
    }
    const u32 e = index % a.envs, market = market_of(e, a.markets, a.envs);
    const EnvMember& who = a.member.of(t.member)[market];
    const Rules& r = a.rules.of(t.member)[market];
    const Transition *ring = a.ring.of(t.member) + e, *last = ring + (u64)(index / a.envs) * a.envs;
    if (after) {
      u32 row = index / a.envs;
      const Transition& start = *last;
      const u32 newest = (u32)((a.env.of(t.member)->step - 1) % a.rows);
      const u32 written = (newest + a.rows - row) % a.rows + 1;  // rows from this one to the head
      const u32 most = who.n_step < written ? who.n_step : written;
      u64 power = 1ull << 31;
      i64 sum = 0;
      u32 steps = 0;
      for (;;) {
        last = ring + (u64)row * a.envs;
        sum += ((i64)last->scaled_q20 * (i64)power) >> 11;
        power = (power * who.discount_q31 + (1u << 30)) >> 31;
        steps += 1;
        if (steps >= most || last->flags & (TERMINATED | TRUNCATED)) break;
        row = row + 1 == a.rows ? 0 : row + 1;
      }
      const i64 total = clamped((sum + (1 << 19)) >> 20, -0x7fffffff, 0x7fffffff);
      const u32 discount = last->flags & TERMINATED ? 0 : (u32)power;
      a.samples.of(t.member)[first + j] = Sample{(i32)total, discount, index, steps};
      UNROLL for (int k = 0; k < 3; ++k) a.actions.of(t.member)[3 * (u64)(first + j) + k] = start.action[k];
    }
    const u32 bar = last->bar + after;
    const Summary& account = after ? last->after : last->before;
    const MarketFeatures known =
        market_features(r, who, a.bars.of(t.member)[bar], a.context.of(t.member)[bar], last->volatility_e9);
    m.row[i].account = account_features(r, known, account);
    m.row[i].newest = ((i64)bar + who.feature_shift) * a.shape.feature_ld;
  });
  t.sync();
  const i64 o = (i64)first * a.shape.state_ld;
  real *const s = a.s.of(t.member) + o, *const next = a.next.of(t.member) + o;
  write_observations(t, a.shape, 2 * count, a.features.of(t.member), [&](int i) -> const Seen& { return m.row[i]; },
                     [&](int j, int i) { return (j < count ? s : next) + (i64)(j < count ? j : j - count) * a.shape.state_ld + 8 * i; });
}

KERNEL(replay_gather, ReplayGatherArgs, Gathered, 256, 256, 1) { gather<false>(a, m, t); }
KERNEL(replay_gather_uniform, ReplayGatherArgs, Gathered, 256, 256, 1) { gather<true>(a, m, t); }
