// What each environment's network sees now: out [E, S] overwritten, from env [E] and the tables. Deterministic.
#include "observation.cuh"

struct EnvObserveArgs {
  Members<const Env> env;
  Members<const EnvMember> member;
  Members<const Rules> rules;
  Members<const Bar> bars;
  Members<const Context> context;
  Members<const real> features;
  Members<real> out;
  ObservationShape shape;
  u32 envs, markets, reserved;
};

struct ObservedRows { Seen row[TEAM_ROWS]; };

KERNEL(env_observe, EnvObserveArgs, ObservedRows, 256, 256, 1) {
  const int first = (int)t.index * TEAM_ROWS, left = (int)a.envs - first, count = left < TEAM_ROWS ? left : TEAM_ROWS;
  t.each(count, [&](int j) {
    const u32 e = (u32)(first + j), k = market_of(e, a.markets, a.envs);
    m.row[j] = see(a.rules.of(t.member)[k], a.member.of(t.member)[k], a.bars.of(t.member), a.context.of(t.member),
                   a.env.of(t.member)[e], a.shape.feature_ld);
  });
  t.sync();
  real* out = a.out.of(t.member) + (i64)first * a.shape.state_ld;
  write_observations(t, a.shape, count, a.features.of(t.member), [&](int j) -> const Seen& { return m.row[j]; },
                     [&](int j, int i) { return out + (i64)j * a.shape.state_ld + 8 * i; });
}
