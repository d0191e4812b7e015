// AdamW with decoupled weight decay (Loshchilov and Hutter 2019), global-norm clip and EMA target, on a net's linear
// image: all parameters of a member in one buffer, cut into tiles of 256 packs that belong to one tensor each.
//   g' = g * clip      m = m + (1-b1)(g' - m)      v = v + (1-b2)(g'^2 - v)
//   p = p - lr (m/(1-b1^t) / (sqrt(v/(1-b2^t)) + eps) + decay p)      target = target + tau (p - target)
// p, m, v and target are rounded once each, stochastically, from the F32 registers (rng.cuh); the update uses m and v
// before their rounding. Overwrites all four. The noise of an element is keyed by tensor and logical element, so the
// layout of the image changes no bit. Per-step scalars are integers on the device, advanced once a step.
#include "platform.cuh"
#include "rng.cuh"

static constexpr int TILE = 256;  // packs

struct OptimiserState { u64 step, beta1_power, beta2_power; };  // powers as Q0.64; 0 is 1, before the first step
struct Hyper { u64 beta1_q64, beta2_q64, eps_q64, seed; u32 lr_q40, tau_q32, decay_q32, clip_q16; };
// Which part of which tensor a tile is: its packs are `packs`, the first is logical pack `first`.
struct Tile { u32 tensor, first, packs, decays; };
struct AdamArgs {
  Members<real> p, m, v, target;
  Members<const real> g;
  Members<const OptimiserState> state;
  Members<const Hyper> hyper;
  Members<const real> clip;
  Members<const Tile> tiles;
};

FN float from_q64(u64 x) { return (float)x * 5.421010862427522e-20f; }  // 2^-64
FN float one_minus_q64(u64 x) { return from_q64(0ull - x); }             // 1 - x, x > 0

KERNEL(adamw, AdamArgs, None, 256, 256, 1) {
  const Hyper h = *a.hyper.of(t.member);
  const OptimiserState s = *a.state.of(t.member);
  const Tile tile = a.tiles.of(t.member)[t.index];
  const float lr = (float)h.lr_q40 * 9.094947017729282e-13f;        // 2^-40
  const float tau = (float)h.tau_q32 * 2.3283064365386963e-10f;     // 2^-32
  const float decay = tile.decays ? (float)h.decay_q32 * 2.3283064365386963e-10f : 0.f;
  const float w1 = one_minus_q64(h.beta1_q64), w2 = one_minus_q64(h.beta2_q64), eps = from_q64(h.eps_q64);
  const float c1 = 1.f / one_minus_q64(s.beta1_power), c2 = 1.f / one_minus_q64(s.beta2_power);
  const float clip = load(a.clip.of(t.member));
  real *const pp = a.p.of(t.member), *const mm = a.m.of(t.member), *const vv = a.v.of(t.member);
  real* const tt = a.target.of(t.member);
  const real* const gg = a.g.of(t.member);
  t.each((int)tile.packs, [&](int j) {
    const i64 o = 8 * ((i64)t.index * TILE + j);
    const u32 pack = tile.first + j;
    F8 g = load8(gg + o) * clip, p = load8(pp + o), m = load8(mm + o), v = load8(vv + o), e = load8(tt + o);
    m = fma_(g - m, constant<F8>(w1), m);
    v = fma_(g * g - v, constant<F8>(w2), v);
    const F8 u = m * c1 / (sqrt_(v * c2) + eps);
    p = p - lr * fma_(constant<F8>(decay), p, u);
    e = fma_(p - e, constant<F8>(tau), e);
    store8_stochastic(pp + o, p, draw16(h.seed, s.step, tile.tensor, ROUND_WEIGHT, pack));
    store8_stochastic(mm + o, m, draw16(h.seed, s.step, tile.tensor, ROUND_M, pack));
    store8_stochastic(vv + o, v, draw16(h.seed, s.step, tile.tensor, ROUND_V, pack));
    store8_stochastic(tt + o, e, draw16(h.seed, s.step, tile.tensor, ROUND_TARGET, pack));
  });
}

// Before the step: the step counter and the powers of beta.
struct AdvanceArgs { Members<OptimiserState> state; Members<const Hyper> hyper; };
KERNEL(adamw_advance, AdvanceArgs, None, 32, 32, 1) {
  t.each(1, [&](int) {
    OptimiserState& s = *a.state.of(t.member);
    const Hyper& h = *a.hyper.of(t.member);
    s.step += 1;
    s.beta1_power = s.beta1_power ? mul_high(s.beta1_power, h.beta1_q64) : h.beta1_q64;
    s.beta2_power = s.beta2_power ? mul_high(s.beta2_power, h.beta2_q64) : h.beta2_q64;
  });
}
