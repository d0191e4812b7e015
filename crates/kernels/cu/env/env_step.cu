// Reset and step of the batched environment. [E] environments a member; tables are read by row of the bar table.
//   env_reset  overwrites env [E] (step and episode 0) and the tally
//   env_step   env [E] read and overwritten; actions [E, 3]; ring [R, E] overwritten at row step mod R; tally added to
//   env_step_greedy  env_act_greedy and env_step in one: actions are the greedy ones, chosen [E, 3] is overwritten
// An episode that ends is recorded with its true final account and then begun anew; terminated and truncated stay two
// facts. Deterministic: environments are independent, the tally is integer sums.
#include "acting.cuh"

struct EnvStepArgs {
  Members<Env> env;
  Members<const EnvMember> member;
  Members<const Rules> rules;
  Members<const Bar> bars;
  Members<const Context> context;
  Members<const u8> actions;
  Members<Transition> ring;
  Members<Tally> tally;
  u32 envs, rows, markets, reserved;
};

KERNEL(env_reset, EnvStepArgs, None, 32, 32, 4) {
  const int first = (int)t.index * 32, left = (int)a.envs - first;
  if (t.index == 0) t.each(1, [&](int) { *a.tally.of(t.member) = Tally{}; });
  t.each(left < 32 ? left : 32, [&](int j) {
    Env s{};
    const u32 e = (u32)(first + j), k = market_of(e, a.markets, a.envs);
    begin_episode(a.member.of(t.member)[k], a.rules.of(t.member)[k], a.context.of(t.member), e, s);
    a.env.of(t.member)[first + j] = s;
  });
}

// One decision of one environment.
FN void step_env(const EnvStepArgs& a, u32 member, u32 e, Env& s, const Choice& chosen) {
  const u32 k = market_of(e, a.markets, a.envs);
  const EnvMember& who = a.member.of(member)[k];
  const Rules& r = a.rules.of(member)[k];
  const Bar* bars = a.bars.of(member);
  const Bar &seen = bars[s.bar], &bar = bars[s.bar + 1];
  const u32 clamped_before = s.account.clamped;
  Transition row{};
  row.before = summarise(r, s.account, seen);
  NoRecord none;
  const Decided o = decide(r, s.account, seen, bar, Action{chosen.action[0], chosen.action[1], chosen.action[2]}, none);
  const Reward reward = step_reward(r, o.before, o.after, s.volatility_e9, who.gain_q32);
  row.after = summarise(r, s.account, bar);
  row.bar = s.bar;
  row.episode = s.episode;
  row.volatility_e9 = s.volatility_e9;
  row.reward_q20 = reward.q20;
  row.scaled_q20 = reward.scaled_q20;
  UNROLL for (int d = 0; d < 3; ++d) row.action[d] = chosen.action[d];
  s.bar += 1;
  s.return_q20 += reward.q20;
  row.flags = (u8)(o.flags | reward.flags | (s.bar == s.end ? TRUNCATED : 0));
  a.ring.of(member)[s.step % a.rows * a.envs + e] = row;
  s.step += 1;
  Tally& tally = *a.tally.of(member);
  const auto count = [](u64& into, u64 n) { if (n) atomic_add(&into, n); };
  count(tally.floors, (row.flags & REWARD_FLOOR) != 0);
  count(tally.saturated, (row.flags & REWARD_SATURATED) != 0);
  count(tally.clamped, s.account.clamped - clamped_before);
  if (row.flags & (TERMINATED | TRUNCATED)) {
    count(tally.episodes, 1);
    count(tally.terminated, (row.flags & TERMINATED) != 0);
    count(tally.stops, s.account.stops);
    count(tally.liquidations, s.account.liquidations);
    count(tally.return_q20, (u64)s.return_q20);
    s.episode += 1;
    begin_episode(who, r, a.context.of(member), e, s);
  }
  a.env.of(member)[e] = s;
}

KERNEL(env_step, EnvStepArgs, None, 32, 32, 4) {
  const int first = (int)t.index * 32, left = (int)a.envs - first;
  t.each(left < 32 ? left : 32, [&](int j) {
    const u32 e = (u32)(first + j);
    Env s = a.env.of(t.member)[e];
    const u8* actions = a.actions.of(t.member) + 3 * (u64)e;
    step_env(a, t.member, e, s, Choice{{actions[0], actions[1], actions[2]}});
  });
}

struct EnvStepGreedyArgs {
  EnvStepArgs step;
  Members<const Exploration> exploration;
  Members<u8> chosen;
};

KERNEL(env_step_greedy, EnvStepGreedyArgs, None, 32, 32, 4) {
  const int first = (int)t.index * 32, left = (int)a.step.envs - first;
  t.each(left < 32 ? left : 32, [&](int j) {
    const u32 e = (u32)(first + j);
    Env s = a.step.env.of(t.member)[e];
    const u8* greedy = a.step.actions.of(t.member) + 3 * (u64)e;
    const Choice c = explore_or([&](u32 d) { return (u32)greedy[d]; }, *a.exploration.of(t.member), a.step.member.of(t.member)->seed, s.step, e);
    UNROLL for (u32 d = 0; d < BRANCHES; ++d) a.chosen.of(t.member)[3 * (u64)e + d] = c.action[d];
    step_env(a.step, t.member, e, s, c);
  });
}
