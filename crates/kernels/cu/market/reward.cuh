// What the learner is paid: the only floating-point numbers of trade physics, made from exact money and stored as
// integers.
#pragma once
#include "market.cuh"
#include "math.cuh"

static constexpr float LOG_FLOOR = -4.6051702f;  // ln 0.01

// Nearest i32 of x 2^20, ties to even below |x| = 4 and towards zero beyond; saturates.
FN i32 to_q20(float x, bool& saturated) {
  const float y = x * 1048576.f;
  saturated = !(abs_(y) < 2147483520.f);
  if (saturated) return y < 0.f ? -2147483520 : 2147483520;
  if (abs_(y) < 4194304.f) return (i32)(bits(y + 12582912.f) - 0x4b400000u);  // rounds at the unit
  return (i32)y;
}

// Whether so much is lost that a decision is paid the floor, and ends its episode.
FN bool at_floor(i64 before, i64 after) { return before <= 0 || after <= before / 100; }

struct Reward { i32 q20, scaled_q20; u8 flags; };
// Log return of equity from one close to the next, 2^-20, and the same over the member's unit u (case 3).
// volatility_e9: sigma_ep, of one bar, 1e-9; gain_q32: sqrt(1 - gamma^2), 2^-32.
//   r = log1p((E1 - E0) / E0), ln 0.01 and terminated where E1 <= E0 / 100;  u = lev sigma_ep / sqrt(1 - gamma^2)
// Where half is lost, 1 + (E1 - E0) / E0 would cancel: the same number is then ln(E1 / E0).
FN Reward step_reward(const Rules& r, i64 before, i64 after, u32 volatility_e9, u32 gain_q32) {
  Reward out{0, 0, 0};
  float x = LOG_FLOOR;
  if (at_floor(before, after)) out.flags = REWARD_FLOOR | TERMINATED;
  else if (after < before / 2) x = log_((float)after / (float)before);
  else x = log1p_called(ratio((float)(after - before), (float)before));
  bool saturated;
  out.q20 = to_q20(x, saturated);
  const float unit = (float)r.leverage_e4 * 1e-4f * ((float)larger(volatility_e9, 1) * 1e-9f);
  out.scaled_q20 = to_q20(x * ((float)gain_q32 * 2.3283064365386963e-10f) / unit, saturated);
  if (saturated) out.flags |= REWARD_SATURATED;
  return out;
}
