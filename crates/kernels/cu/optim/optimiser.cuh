// What the optimiser's kernels share: per-member state and hyperparameters in fixed point, and the gradient norm.
#pragma once
#include "platform.cuh"

static constexpr int NORM_CHUNK = 256;               // packs that a team adds at once
static constexpr int NORM_PARTIALS = 1024;           // at most, per member
static constexpr u64 NOT_FINITE = 0xffffffffffffffffull;

// Powers of beta as Q0.64; 0 stands for 1, before the first step. `skipped` counts steps with a gradient that was
// not finite. `arrived` counts the teams that are through with a step, and is 0 between steps.
struct OptimiserState { u64 step, beta1_power, beta2_power, skipped; u32 arrived, reserved; };
// The learning rate goes in a straight line from lr_q40 to lr_end_q40 over lr_steps steps, and stays there; 0 steps: it
// stays where it is.
struct Hyper { u64 beta1_q64, beta2_q64, eps_q64, seed; u32 lr_q40, tau_q32, decay_q32, clip_q16, lr_end_q40, lr_steps; };
// Where a pack of the linear image belongs: tensor << 1 | decays, and its logical pack there; ~0: padding.
struct PackId { u32 tensor, element; };

// beta^(t+1) from beta^t. What sinks below 2^-64 stays there (0.9^t does after 404 steps): 0 would be taken for 1.
FN u64 next_power(u64 power, u64 beta) {
  const u64 next = power ? mul_high(power, beta) : beta;
  return next ? next : 1;
}
// The state after one more step, whose gradient was finite or not. `arrived` is not read: others are counting it up.
FN OptimiserState advanced(const OptimiserState& before, const Hyper& h, bool finite) {
  OptimiserState s{before.step + 1, before.beta1_power, before.beta2_power, before.skipped, 0, 0};
  if (finite) {
    s.beta1_power = next_power(s.beta1_power, h.beta1_q64);
    s.beta2_power = next_power(s.beta2_power, h.beta2_q64);
  } else {
    s.skipped += 1;
  }
  return s;
}
// Of step `step`, counted from 1.
FN float learning_rate(const Hyper& h, u64 step) {
  const u64 done = step - 1;
  const bool rises = h.lr_end_q40 > h.lr_q40;
  const u64 apart = rises ? h.lr_end_q40 - h.lr_q40 : h.lr_q40 - h.lr_end_q40;
  u64 gone = 0;  // of two numbers below 2^32 the product fits, without a sign
  if (h.lr_steps) gone = done < h.lr_steps ? apart * done / h.lr_steps : apart;
  return (float)(rises ? h.lr_q40 + gone : h.lr_q40 - gone) * 9.094947017729282e-13f;  // 2^-40
}
FN float from_q64(u64 x) { return (float)x * 5.421010862427522e-20f; }  // 2^-64
FN float one_minus_q64(u64 x) { return from_q64(0ull - x); }             // 1 - x, for x > 0
FN float from_q32(u64 x) { return (float)x * 2.3283064365386963e-10f; }  // 2^-32
FN u64 to_fixed_q32(float x) {                                           // saturates below NOT_FINITE
  if (!(x < INFINITY_F32)) return NOT_FINITE;
  return x < 2147483648.f ? (u64)(x * 4294967296.f) : 9223372036854775807ull;
}
