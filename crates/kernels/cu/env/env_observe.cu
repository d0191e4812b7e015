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

KERNEL(env_observe, EnvObserveArgs, AccountFeatures, 32, 32, 4) {
  if (t.index >= a.envs) return;
  const Env& s = a.env.of(t.member)[t.index];
  const u32 k = market_of(t.index, a.markets, a.envs);
  const EnvMember& who = a.member.of(t.member)[k];
  t.each(1, [&](int) {
    const Rules& r = a.rules.of(t.member)[k];
    const Bar& bar = a.bars.of(t.member)[s.bar];
    m = account_features(r, who, bar, a.context.of(t.member)[s.bar], summarise(r, s.account, bar), s.volatility_e9);
  });
  t.sync();
  const real* newest = a.features.of(t.member) + ((i64)s.bar + who.feature_shift) * a.shape.feature_ld;
  write_observation(t, a.shape, m, newest, a.out.of(t.member) + (i64)t.index * a.shape.state_ld);
}
