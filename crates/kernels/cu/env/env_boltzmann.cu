// Boltzmann actions (rl.md 14): each branch draws from softmax(q / T), as the largest of q / T + Gumbel noise, ties to the
// lowest index. T follows its schedule with the environment's step, in fixed point on the device. Draws are keyed by the
// member's seed, the step and the environment: four of four words, one for each action in order.
// Shapes: q [E, 15], values or values less the best of their branch, which is the same softmax; actions [E, 3]. Overwrites
// actions. A value of -Inf is never drawn beside a finite one.
#include "acting.cuh"
#include "gumbel.cuh"

struct EnvBoltzmannArgs {
  Members<const Env> env;
  Members<const EnvMember> member;
  Members<const Exploration> temperature;
  Members<const real> q;
  Members<u8> actions;
  u32 envs, q_ld;
};

KERNEL(env_boltzmann, EnvBoltzmannArgs, None, 32, 32, 4) {
  const int first = (int)t.index * 32, left = (int)a.envs - first;
  t.each(left < 32 ? left : 32, [&](int j) {
    const u32 e = (u32)(first + j);
    const u64 step = a.env.of(t.member)[e].step, seed = a.member.of(t.member)->seed;
    const float temperature = (float)scheduled(*a.temperature.of(t.member), step) * 5.9604644775390625e-8f;
    const real* const q = a.q.of(t.member) + (i64)e * a.q_ld;
    u8* const actions = a.actions.of(t.member) + 3 * (u64)e;
    Words noise = {};
    u32 action = 0;
    for (u32 d = 0; d < ACTION_BRANCHES; ++d) {
      u32 best = 0;
      float most = 0.f;
      for (u32 k = 0; k < branch_actions(d); ++k, ++action) {
        const u32 word = action & 3;
        if (word == 0) noise = draw(seed, step, action / 4, GUMBEL, e);
        const u32 drawn = word == 0 ? noise.x : word == 1 ? noise.y : word == 2 ? noise.z : noise.w;
        const float x = load(q + action) / temperature + gumbel(drawn);
        if (k == 0 || x > most) {
          most = x;
          best = k;
        }
      }
      actions[d] = (u8)best;
    }
  });
}
