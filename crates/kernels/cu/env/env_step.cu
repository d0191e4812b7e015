// Reset and step of the batched environment. [E] environments a member; tables are read by row of the bar table.
//   env_reset  overwrites env [E] (step and episode 0) and the tally
//   env_step   env [E] read and overwritten; actions [E, 3]; ring [R, E] overwritten at row step mod R; tally added to
//   env_step_greedy  env_act_greedy and env_step in one: actions are the greedy ones, chosen [E, 3] is overwritten
// An episode that ends is recorded with its true final account and then begun anew; terminated and truncated stay two
// facts. Deterministic: environments are independent, the tally is integer sums.
#include "stepping.cuh"

KERNEL(env_reset, EnvStepArgs, None, 32, 32, 4) {
  const int first = (int)t.index * 32, left = (int)a.envs - first;
  if (t.index == 0) t.each(1, [&](int) { *a.tally.of(t.member) = Tally{}; });
  t.each(left < 32 ? left : 32, [&](int j) {
    Env s{};
    const u32 e = (u32)(first + j), k = market_of(e, a.markets, a.envs);
    begin_episode(a.rules.of(t.member)[k], episode_at(a.member.of(t.member)[k], a.context.of(t.member), e, 0), s);
    a.env.of(t.member)[first + j] = s;
  });
}

KERNEL(env_step, EnvStepArgs, None, 32, 32, 4) {
  const int first = (int)t.index * 32, left = (int)a.envs - first;
  t.each(left < 32 ? left : 32, [&](int j) {
    const u32 e = (u32)(first + j);
    const u8* actions = a.actions.of(t.member) + 3 * (u64)e;
    step_env(a, t.member, e, Choice{{actions[0], actions[1], actions[2]}});
  });
}

KERNEL(env_step_greedy, EnvStepGreedyArgs, None, 32, 32, 4) {
  const int first = (int)t.index * 32, left = (int)a.step.envs - first;
  t.each(left < 32 ? left : 32, [&](int j) {
    const u32 e = (u32)(first + j);
    const u8* greedy = a.step.actions.of(t.member) + 3 * (u64)e;
    const Choice c = drawn_or(explore(a, t.member, e, a.step.env.of(t.member)[e]), [&](u32 d) { return greedy[d]; });
    write_chosen(a, t.member, e, c);
    step_env(a.step, t.member, e, c);
  });
}
