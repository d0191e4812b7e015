// Epsilon-greedy actions (acting.cuh). actions [E, 3] overwritten.
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

template<class Best> FN void act(const EnvActArgs& a, u32 member, u32 e, Best best) {
  const Choice c = drawn_or(explore(*a.exploration.of(member), a.member.of(member)->seed, a.env.of(member)[e].step, e), best);
  UNROLL for (u32 d = 0; d < ACTION_BRANCHES; ++d) a.actions.of(member)[3 * (u64)e + d] = c.action[d];
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
