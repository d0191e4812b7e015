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

// What is known of a step before its action, and what does not depend on it.
struct Ahead {
  Opened opened;
  Transition* row;  // of the ring, where what is known of it stands already: kept for later, it takes registers
};
// What remains of a step to be written, which nobody who acts waits for.
struct Stepped {
  Summary after;
  i64 before, returned;  // equity, money; the episode's rewards before this one
  u32 volatility_e9, stops, liquidations;
  Choice chosen;
  u8 flags;
  bool clamped;
};

FN Ahead look_ahead(const EnvStepArgs& a, u32 member, u32 e, Env& s) {
  const u32 k = market_of(e, a.markets, a.envs);
  const Rules& r = a.rules.of(member)[k];
  const Bar* bars = a.bars.of(member);
  Transition* const row = a.ring.of(member) + (s.step % a.rows * a.envs + e);
  row->before = summarise(r, s.account, bars[s.bar]);
  row->bar = s.bar;
  row->episode = s.episode;
  row->volatility_e9 = s.volatility_e9;
  NoRecord none;
  return Ahead{open_bar(r, s.account, bars[s.bar], bars[s.bar + 1], none), row};
}

// Where an environment goes on if its episode ends.
FN Episode next_episode(const EnvStepArgs& a, u32 member, u32 e, const Env& s) {
  return episode_at(a.member.of(member)[market_of(e, a.markets, a.envs)], a.context.of(member), e, s.episode + 1);
}

// next(): that, asked for only where the episode ends.
template<class Next>
FN Stepped take_step(const EnvStepArgs& a, u32 member, u32 e, Env& s, const Ahead& ahead, const Choice& chosen, Next next) {
  const Rules& r = a.rules.of(member)[market_of(e, a.markets, a.envs)];
  const Bar* bars = a.bars.of(member);
  const Bar& bar = bars[s.bar + 1];
  NoRecord none;
  const Action action{chosen.action[0], chosen.action[1], chosen.action[2]};
  const Decided o = decide(r, s.account, bars[s.bar], bar, ahead.opened, action, none);
  s.bar += 1;
  s.step += 1;
  Stepped out{summarise(r, s.account, bar), o.before, s.return_q20, s.volatility_e9, s.account.stops, s.account.liquidations, chosen,
              o.flags, o.clamped};
  out.flags |= (u8)((at_floor(o.before, o.after) ? TERMINATED : 0) | (s.bar == s.end ? TRUNCATED : 0));
  if (out.flags & (TERMINATED | TRUNCATED)) {
    const Episode episode = next();
    s.episode += 1;
    begin_episode(r, episode, s);
  }
  return out;
}

FN void write_step(const EnvStepArgs& a, u32 member, u32 e, Env& s, const Ahead& ahead, const Stepped& x) {
  const u32 k = market_of(e, a.markets, a.envs);
  const u32 gain_q32 = a.member.of(member)[k].gain_q32;
  const Reward reward = step_reward(a.rules.of(member)[k], x.before, x.after.equity, x.volatility_e9, gain_q32);
  const u8 flags = x.flags | reward.flags;
  Transition& row = *ahead.row;
  row.after = x.after;
  row.reward_q20 = reward.q20;
  row.scaled_q20 = reward.scaled_q20;
  UNROLL for (int d = 0; d < 3; ++d) row.action[d] = x.chosen.action[d];
  row.flags = flags;
  UNROLL for (int i = 0; i < 2; ++i) row.reserved[i] = 0;
  Tally& tally = *a.tally.of(member);
  const auto count = [](u64& into, u64 n) { if (n) atomic_add(&into, n); };
  count(tally.floors, (flags & REWARD_FLOOR) != 0);
  count(tally.saturated, (flags & REWARD_SATURATED) != 0);
  count(tally.clamped, x.clamped);
  const i64 returned = x.returned + reward.q20;
  if (flags & (TERMINATED | TRUNCATED)) {
    count(tally.episodes, 1);
    count(tally.terminated, (flags & TERMINATED) != 0);
    count(tally.stops, x.stops);
    count(tally.liquidations, x.liquidations);
    count(tally.return_q20, (u64)returned);
  } else {
    s.return_q20 = returned;
  }
}

// One decision of environment e, all of it.
FN void step_env(const EnvStepArgs& a, u32 member, u32 e, const Choice& chosen) {
  Env s = a.env.of(member)[e];
  const Ahead ahead = look_ahead(a, member, e, s);
  const Stepped stepped = take_step(a, member, e, s, ahead, chosen, [&] { return next_episode(a, member, e, s); });
  write_step(a, member, e, s, ahead, stepped);
  a.env.of(member)[e] = s;
}

struct EnvStepGreedyArgs {
  EnvStepArgs step;
  Members<const Exploration> exploration;
  Members<u8> chosen;
};

// What environment e explores in its next decision.
FN Choice explore(const EnvStepGreedyArgs& a, u32 member, u32 e, const Env& s) {
  return explore(*a.exploration.of(member), a.step.member.of(member)->seed, s.step, e);
}
FN void write_chosen(const EnvStepGreedyArgs& a, u32 member, u32 e, const Choice& c) {
  UNROLL for (u32 d = 0; d < ACTION_BRANCHES; ++d) a.chosen.of(member)[3 * (u64)e + d] = c.action[d];
}
