// AdamW with decoupled weight decay (Loshchilov and Hutter 2019), global-norm clip and EMA target, on a net's linear
// image: all parameters of a member in one buffer of packs.
//   g' = g min(1, clip / |g|)      m = m + (1-b1)(g' - m)      v = v + (1-b2)(g'^2 - v)
//   p = p - lr (m/(1-b1^t) / (sqrt(v/(1-b2^t)) + eps) + decay p)      target = target + tau (p - target)
// p, m, v and target are rounded once each, stochastically, from the F32 registers (rng.cuh); the update uses m and v
// before their rounding. Overwrites all four. The noise of an element is keyed by tensor and logical element, so the
// layout of the image changes no bit. Per-step scalars are integers on the device, advanced once a step.
// A gradient that is not finite changes nothing: the step is skipped and counted.
#include "platform.cuh"
#include "reduce.cuh"
#include "rng.cuh"
#include "optimiser.cuh"

static constexpr int TILE = 256;  // packs a team

struct AdamArgs {
  Members<real> p, m, v, target;
  Members<const real> g;
  Members<const OptimiserState> state;
  Members<const Hyper> hyper;
  Members<const u64> norm;
  Members<const PackId> ids;
  i32 packs, partials;
};

// The factor of the gradients, from the partial squared norms; negative where one of them is not finite.
template<class Tm> FN float clip_factor(Tm& t, const Members<const u64>& norm, int partials, u32 clip_q16) {
  const u64* const part = norm.of(t.member);
  const float square = sum<NORM_PARTIALS / 8>(t, (partials + 7) / 8, [&](int i, Slot) {
    F8 x = constant<F8>(0.f);
    EACH8 if (8 * i + k < partials)
      put(x, k, part[8 * i + k] == NOT_FINITE ? INFINITY_F32 : from_q32(part[8 * i + k]));
    return x;
  });
  if (!(square < INFINITY_F32)) return -1.f;
  const float clip = (float)clip_q16 * 1.52587890625e-5f, length = sqrt_(square);
  return clip_q16 && length > clip ? clip / length : 1.f;
}

// beta^(t+1) from beta^t. What sinks below 2^-64 stays there (0.9^t does after 420 steps): 0 would be taken for 1.
FN u64 next_power(u64 power, u64 beta) {
  const u64 next = power ? mul_high(power, beta) : beta;
  return next ? next : 1;
}

KERNEL(adamw, AdamArgs, None, 256, 256, 1) {
  const Hyper h = *a.hyper.of(t.member);
  const OptimiserState s = *a.state.of(t.member);
  const float clip = clip_factor(t, a.norm, a.partials, h.clip_q16);
  if (clip < 0.f) return;
  const float lr = (float)h.lr_q40 * 9.094947017729282e-13f;  // 2^-40
  const float tau = (float)h.tau_q32 * 2.3283064365386963e-10f, wd = (float)h.decay_q32 * 2.3283064365386963e-10f;
  const float w1 = one_minus_q64(h.beta1_q64), w2 = one_minus_q64(h.beta2_q64), eps = from_q64(h.eps_q64);
  const float c1 = 1.f / one_minus_q64(s.beta1_power), c2 = 1.f / one_minus_q64(s.beta2_power);
  real *const pp = a.p.of(t.member), *const mm = a.m.of(t.member), *const vv = a.v.of(t.member);
  real* const tt = a.target.of(t.member);
  const real* const gg = a.g.of(t.member);
  const PackId* const ids = a.ids.of(t.member);
  const int base = (int)t.index * TILE, left = a.packs - base;
  t.each(left < TILE ? left : TILE, [&](int j) {
    const i64 o = 8 * ((i64)base + j);
    const PackId id = ids[base + j];
    if (id.element == 0xffffffffu) return;
    const float decay = id.tensor & 1 ? wd : 0.f;
    const u32 tensor = id.tensor >> 1;
    F8 g = load8(gg + o) * clip, p = load8(pp + o), m = load8(mm + o), v = load8(vv + o), e = load8(tt + o);
    m = fma_(g - m, constant<F8>(w1), m);
    v = fma_(g * g - v, constant<F8>(w2), v);
    const F8 u = m * c1 / (sqrt_(v * c2) + eps);
    p = p - lr * fma_(constant<F8>(decay), p, u);
    e = fma_(p - e, constant<F8>(tau), e);
    store8_stochastic(pp + o, p, draw16(h.seed, s.step, tensor, ROUND_WEIGHT, id.element));
    store8_stochastic(mm + o, m, draw16(h.seed, s.step, tensor, ROUND_M, id.element));
    store8_stochastic(vv + o, v, draw16(h.seed, s.step, tensor, ROUND_V, id.element));
    store8_stochastic(tt + o, e, draw16(h.seed, s.step, tensor, ROUND_TARGET, id.element));
  });
}

// Before the step, after the norm: the step counter and the powers of beta.
struct AdvanceArgs { Members<OptimiserState> state; Members<const Hyper> hyper; Members<const u64> norm; i32 partials, reserved; };
KERNEL(adamw_advance, AdvanceArgs, None, 32, 32, 1) {
  const float clip = clip_factor(t, a.norm, a.partials, 0);
  t.each(1, [&](int) {
    OptimiserState& s = *a.state.of(t.member);
    const Hyper& h = *a.hyper.of(t.member);
    s.step += 1;
    if (clip < 0.f) { s.skipped += 1; return; }
    s.beta1_power = next_power(s.beta1_power, h.beta1_q64);
    s.beta2_power = next_power(s.beta2_power, h.beta2_q64);
  });
}
