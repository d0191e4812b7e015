// Epsilon-greedy actions, each branch on its own: eps_b = 1 - (1 - eps)^(1/3), so that all three are greedy with
// probability 1 - eps. eps falls linearly with the environment's step, in fixed point on the device. Draws are keyed by
// the member's seed, the step and the environment. actions [E, 3] overwritten.
//   env_act_q       greedy = argmax of q [E, 15] within each branch, ties to the lowest index
//   env_act_greedy  greedy [E, 3] is given (a head that keeps Q on chip)
// Recorded or scripted actions need neither: write them to `actions`.
#include "acting.cuh"

struct EnvActArgs {
  Members<const Env> env;
  Members<const EnvMember> member;
  Members<const Exploration> exploration;
  Members<const real> q;
  Members<const u8> greedy;
  Members<u8> actions;
  u32 envs, q_ld;
};

// Probability of exploring in one branch, 2^-24.
FN u32 branch_epsilon_q24(const Exploration& x, u64 step) {
  const i64 eps_q31 = scheduled(x, step);
  const float all = log1p_((float)eps_q31 * -4.656612873077393e-10f);  // ln(1 - eps); -Inf where eps is 1
  return (u32)((1.f - exp_(all * 0.33333333f)) * 16777216.f);
}

template<class Best> FN void act(const EnvActArgs& a, u32 member, u32 e, Best best) {
  const u64 step = a.env.of(member)[e].step, seed = a.member.of(member)->seed;
  const u32 threshold = branch_epsilon_q24(*a.exploration.of(member), step);
  const Words coin = draw(seed, step, 0, EXPLORE, e), pick = draw(seed, step, 1, EXPLORE, e);
  const u32 coins[3] = {coin.x, coin.y, coin.z}, picks[3] = {pick.x, pick.y, pick.z};
  UNROLL for (u32 d = 0; d < BRANCHES; ++d) {
    const bool explores = coins[d] >> 8 < threshold;
    a.actions.of(member)[3 * (u64)e + d] = (u8)(explores ? below(picks[d], branch_actions(d)) : best(d));
  }
}

KERNEL(env_act_q, EnvActArgs, None, 32, 32, 4) {
  const int first = (int)t.index * 32, left = (int)a.envs - first;
  t.each(left < 32 ? left : 32, [&](int j) {
    const real* q = a.q.of(t.member) + (i64)(first + j) * a.q_ld;
    act(a, t.member, (u32)(first + j), [&](u32 d) {
      u32 best = 0;
      float most = load(q + branch_offset(d));
      for (u32 k = 1; k < branch_actions(d); ++k) {
        const float x = load(q + branch_offset(d) + k);
        if (x > most) {
          most = x;
          best = k;
        }
      }
      return best;
    });
  });
}

KERNEL(env_act_greedy, EnvActArgs, None, 32, 32, 4) {
  const int first = (int)t.index * 32, left = (int)a.envs - first;
  t.each(left < 32 ? left : 32, [&](int j) {
    const u8* greedy = a.greedy.of(t.member) + 3 * (u64)(first + j);
    act(a, t.member, (u32)(first + j), [&](u32 d) { return (u32)greedy[d]; });
  });
}
