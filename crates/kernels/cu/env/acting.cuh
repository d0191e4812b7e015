// What acting needs whatever the rule: the branches of an action, and the schedule that a rule's one number follows.
#pragma once
#include "environment.cuh"

static constexpr u32 ACTION_BRANCHES = 3;
FN u32 branch_offset(u32 d) { return d == 0 ? 0 : d == 1 ? 9 : 12; }
FN u32 branch_actions(u32 d) { return d == 0 ? 9 : 3; }

// start + (end - start) min(step, steps) / steps: epsilon in 2^-31, or a temperature in 2^-24.
struct Exploration { u32 start, end, steps, reserved; };
FN i64 scheduled(const Exploration& x, u64 step) {
  const i64 at = (i64)(step < x.steps ? step : x.steps), fall = (i64)x.end - x.start;
  return x.start + (x.steps ? mul_div(fall, at, x.steps, DOWN) : fall);
}

// Epsilon-greedy, each branch on its own: eps_b = 1 - (1 - eps)^(1/3), so that all three are greedy with probability 1 - eps.
// eps falls linearly with the environment's step, in fixed point on the device. Draws are keyed by seed, step and environment.
// best(d): the greedy action of branch d.

// Probability of exploring in one branch, 2^-24.
FN u32 branch_epsilon_q24(const Exploration& x, u64 step) {
  const i64 eps_q31 = scheduled(x, step);
  const float all = log1p_called((float)eps_q31 * -4.656612873077393e-10f);  // ln(1 - eps); -Inf where eps is 1
  return (u32)((1.f - exp_(all * 0.33333333f)) * 16777216.f);
}

struct Choice { u8 action[ACTION_BRANCHES]; };
// What is drawn whatever the greedy action is: of each branch an action, or that it is GREEDY.
static constexpr u8 GREEDY = 255;
FN Choice explore(const Exploration& x, u64 seed, u64 step, u32 e) {
  const u32 threshold = branch_epsilon_q24(x, step);
  const Words coin = draw_called(seed, step, 0, EXPLORE, e), pick = draw_called(seed, step, 1, EXPLORE, e);
  const u32 coins[3] = {coin.x, coin.y, coin.z}, picks[3] = {pick.x, pick.y, pick.z};
  Choice c;
  UNROLL for (u32 d = 0; d < ACTION_BRANCHES; ++d)
    c.action[d] = (u8)(coins[d] >> 8 < threshold ? below(picks[d], branch_actions(d)) : GREEDY);
  return c;
}
template<class Best> FN Choice drawn_or(Choice c, Best best) {
  UNROLL for (u32 d = 0; d < ACTION_BRANCHES; ++d) if (c.action[d] == GREEDY) c.action[d] = (u8)best(d);
  return c;
}
