// AdamW with decoupled weight decay (Loshchilov and Hutter 2019), global-norm clip and EMA target, on a net's linear
// image: all parameters of a member in one buffer of packs.
//   g' = g min(1, clip / |g|)      m = m + (1-b1)(g' - m)      v = v + (1-b2)(g'^2 - v)
//   p = p - lr (m/(1-b1^t) / (sqrt(v/(1-b2^t)) + eps) + decay p)      target = target + tau (p - target)
// p, m, v and target are rounded once each, stochastically, from the F32 registers (rng.cuh); the update uses m and v
// before their rounding. Overwrites all four. The noise of an element is keyed by tensor and logical element, so the
// layout of the image changes no bit. Per-step scalars are integers on the device, advanced once a step.
// A gradient that is not finite changes nothing: the step is skipped and counted.
//
// The entries share this body, and differ in how numbers are stored: `_pair` keeps p and target as pairs whose low
// words are images of their own (`low`, `target_low`; null and unread elsewhere); `_nearest` rounds all that is
// rounded to nearest, or one quantity, for study. Of a pair the low word is what is rounded with noise; the high word is the nearest.
#include "platform.cuh"
#include "math.cuh"
#include "reduce.cuh"
#include "rng.cuh"
#include "optimiser.cuh"

static constexpr int TILE = 256;  // packs a team
// What is rounded to nearest.
enum Nearest { NONE = 0, P = 1, M = 2, V = 4, TARGET = 8, ALL = P | M | V | TARGET };

struct AdamArgs {
  Members<real> p, m, v, target;
  Members<const real> g;
  Members<OptimiserState> state;
  Members<const Hyper> hyper;
  Members<const u64> norm;
  Members<const PackId> ids;
  Members<real> low, target_low;
  i32 packs, partials, tiles_each, padding;
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

// Which noise rounds a pack.
struct Noise { u64 seed, step; u32 tensor, element; };

template<bool NEAREST> FN void put8(real* to, F8 x, const Noise& n, u32 purpose) {
  if constexpr (NEAREST) store8(to, x);
  else store8_stochastic(to, x, draw16(n.seed, n.step, n.tensor, purpose, n.element));
}

// A weight or target: the number itself, or the nearest one and what remains.
template<bool PAIR, bool NEAREST>
FN void put8_value(real* to, real* low, F8 x, const Noise& n, u32 purpose, u32 low_purpose) {
  if constexpr (PAIR) {
    const Pair8 pair = split(to, x);
    store8(to, pair.high);
    put8<NEAREST>(low, pair.low, n, low_purpose);
  } else {
    put8<NEAREST>(to, x, n, purpose);
  }
}

// What a step reads of a pack: asked for before the norm is known, which takes as long as they do to come; of the first tile all but
// the gradient before even that is made (`early` of the launch).
struct Before { Early8 g, p, m, v, target, low, target_low; PackId id; };

template<bool PAIR, class Tm, class Pack>
FN void ask(const AdamArgs& a, Tm& t, int base, int count, Pack& packs) {
  t.template each<TILE>(count, [&](int j, Slot s) {
    const i64 o = 8 * ((i64)base + j);
    Before& b = packs[s];
    b.id = a.ids.of(t.member)[base + j];
    b.p = early8((const real*)a.p.of(t.member) + o);
    b.m = early8((const real*)a.m.of(t.member) + o);
    b.v = early8((const real*)a.v.of(t.member) + o);
    b.target = early8((const real*)a.target.of(t.member) + o);
    if constexpr (PAIR) {
      b.low = early8((const real*)a.low.of(t.member) + o);
      b.target_low = early8((const real*)a.target_low.of(t.member) + o);
    }
  });
}

// What all threads need of state and hyperparameters, worked out by one of them: of the step under way, if it is finite.
struct Scalars { float lr, tau, decay, w1, w2, eps, c1, c2; u64 seed, step; };
FN Scalars scalars(const Hyper& h, const OptimiserState& before) {
  const OptimiserState s = advanced(before, h, true);
  return {learning_rate(h, s.step), (float)h.tau_q32 * 2.3283064365386963e-10f, (float)h.decay_q32 * 2.3283064365386963e-10f,
    one_minus_q64(h.beta1_q64), one_minus_q64(h.beta2_q64), from_q64(h.eps_q64),
    1.f / one_minus_q64(s.beta1_power), 1.f / one_minus_q64(s.beta2_power), h.seed, s.step};
}

template<class Tm, class Pack> FN void ask_gradient(const AdamArgs& a, Tm& t, int base, int count, Pack& packs) {
  t.template each<TILE>(count, [&](int j, Slot s) { packs[s].g = early8(a.g.of(t.member) + 8 * ((i64)base + j)); });
}

template<bool PAIR, int NEAREST, class Tm, class Pack>
FN void update(const AdamArgs& a, Tm& t, const Scalars& k, float clip, int base, int count, Pack& packs) {
  real *const pp = a.p.of(t.member), *const mm = a.m.of(t.member), *const vv = a.v.of(t.member);
  real *const tt = a.target.of(t.member), *const ll = a.low.of(t.member), *const kk = a.target_low.of(t.member);
  t.template each<TILE>(count, [&](int j, Slot slot) {
    const i64 o = 8 * ((i64)base + j);
    const Before& b = packs[slot];
    const PackId id = b.id;
    if (id.element == 0xffffffffu) return;
    const float decay = id.tensor & 1 ? k.decay : 0.f;
    const Noise n{k.seed, k.step, id.tensor >> 1, id.element};
    F8 g = load8(b.g) * clip, p = load8(b.p), m = load8(b.m), v = load8(b.v), e = load8(b.target);
    if constexpr (PAIR) {
      p = p + load8(b.low);
      e = e + load8(b.target_low);
    }
    m = fma_(g - m, constant<F8>(k.w1), m);
    v = fma_(g * g - v, constant<F8>(k.w2), v);
    F8 square = v * k.c2;
    square = select(square < 1e38f, square, constant<F8>(1e38f));
    const F8 u = m * k.c1 * reciprocal_(fma_(square, inverse_sqrt_(square), constant<F8>(k.eps)));
    p = p - k.lr * fma_(constant<F8>(decay), p, u);
    e = fma_(p - e, constant<F8>(k.tau), e);
    put8_value<PAIR, (NEAREST & P) != 0>(pp + o, ll + o, p, n, ROUND_WEIGHT, ROUND_LOW);
    put8<(NEAREST & M) != 0>(mm + o, m, n, ROUND_M);
    put8<(NEAREST & V) != 0>(vv + o, v, n, ROUND_V);
    put8_value<PAIR, (NEAREST & TARGET) != 0>(tt + o, kk + o, e, n, ROUND_TARGET, ROUND_TARGET_LOW);
  });
}

template<bool PAIR, int NEAREST, class Tm> FN void adamw_step(const AdamArgs& a, Scalars& k, Tm& t) {
  const Hyper& h = *a.hyper.of(t.member);
  OptimiserState& state = *a.state.of(t.member);
  // Where tiles are many a team has several: it works out once what all of them need, and asks for the next before it is at work
  // on one.
  const auto base = [&](int i) { return ((int)t.index * a.tiles_each + i) * TILE; };
  const auto count = [&](int i) { return a.packs - base(i) < TILE ? a.packs - base(i) : TILE; };
  PerItemOf<Before, TILE, Tm> packs, next;
  ask<PAIR>(a, t, base(0), count(0), packs);
  wait_for_previous();
  let_next_begin();
  ask_gradient(a, t, base(0), count(0), packs);
  float clip = 0.f;
#pragma unroll 1
  for (int i = 0; i < a.tiles_each; ++i) {
    if (i == 0) {
      // By a thread that has no part of the norm.
      t.each(TILE, [&](int j) { if (j == TILE - 1) k = scalars(h, state); });
      clip = clip_factor(t, a.norm, a.partials, h.clip_q16);
      t.sync();
    }
    if (i + 1 < a.tiles_each) {
      ask<PAIR>(a, t, base(i + 1), count(i + 1), next);
      ask_gradient(a, t, base(i + 1), count(i + 1), next);
    }
    if (!(clip < 0.f)) update<PAIR, NEAREST>(a, t, k, clip, base(i), count(i), packs);
    packs = next;
  }
  const bool finite = !(clip < 0.f);
  // The last team to come here writes the state that all have read.
  t.sync();
  t.each(1, [&](int) {
    const OptimiserState after = advanced(state, h, finite);
    if (fetch_add(&state.arrived, 1) == t.count - 1) state = after;
  });
}

EARLY_KERNEL(adamw, AdamArgs, Scalars, 256, 256, 1) { adamw_step<false, NONE>(a, m, t); }
EARLY_KERNEL(adamw_pair, AdamArgs, Scalars, 256, 256, 1) { adamw_step<true, NONE>(a, m, t); }
EARLY_KERNEL(adamw_nearest, AdamArgs, Scalars, 256, 256, 1) { adamw_step<false, ALL>(a, m, t); }
EARLY_KERNEL(adamw_pair_nearest, AdamArgs, Scalars, 256, 256, 1) { adamw_step<true, ALL>(a, m, t); }
EARLY_KERNEL(adamw_nearest_weights, AdamArgs, Scalars, 256, 256, 1) { adamw_step<false, P>(a, m, t); }
EARLY_KERNEL(adamw_nearest_m, AdamArgs, Scalars, 256, 256, 1) { adamw_step<false, M>(a, m, t); }
EARLY_KERNEL(adamw_nearest_v, AdamArgs, Scalars, 256, 256, 1) { adamw_step<false, V>(a, m, t); }
EARLY_KERNEL(adamw_nearest_targets, AdamArgs, Scalars, 256, 256, 1) { adamw_step<false, TARGET>(a, m, t); }
