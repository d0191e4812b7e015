// One decision of an environment as training takes it: a transition into the replay's ring, and a new episode where one ended.
#pragma once
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

struct EnvStepGreedyArgs {
  EnvStepArgs step;
  Members<const Exploration> exploration;
  Members<u8> chosen;
};

// One decision of environment e, epsilon-greedy around best(d), which `chosen` tells.
template<class Best> FN void step_greedy(const EnvStepGreedyArgs& a, u32 member, u32 e, Best best) {
  Env s = a.step.env.of(member)[e];
  const Choice c = explore_or(best, *a.exploration.of(member), a.step.member.of(member)->seed, s.step, e);
  UNROLL for (u32 d = 0; d < ACTION_BRANCHES; ++d) a.chosen.of(member)[3 * (u64)e + d] = c.action[d];
  step_env(a.step, member, e, s, c);
}
