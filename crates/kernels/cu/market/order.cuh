// From a wish to an order: target, spread, impact, limits.
#pragma once
#include "market.cuh"

// Lots to hold. e4: exposure in quarters, -4..4; equity money; close units; out lots, rounded towards flat.
//   target = sign(e4) floor(|e4| lev equity / (4e4 C_t tv)), 0 without equity, clamped to max_position (case 1)
FN i32 target_position(const Rules& r, i32 e4, i64 equity, i32 close, bool& clamp) {
  clamp = false;
  if (equity <= 0) return 0;
  // Two floors equal one: floor(floor(x / m) / n) = floor(x / (m n)).
  const i64 lots = mul_div_by<40000>(equity, absolute(e4) * (i64)r.leverage_e4, DOWN) / (close * r.tv);
  clamp = lots > r.max_position;
  return (i32)with_sign(clamp ? r.max_position : lots, e4 < 0);
}

// Whether an order is too small to send: |order| 1e4 < band max(|target|, |position|), unless the target is flat.
// (case 21)
FN bool in_band(const Rules& r, i32 target, i32 position) {
  const i64 order = absolute((i64)target - position);
  return target && order * 10000 < r.band_bp * larger(absolute(target), absolute(position));
}

// Half the spread, units, rounded up.
//   h = max(min_half, ceil(bps C_t), ceil(share ATR)) (cases 3 to 6)
// A fill pays h, times 6 on the first bar after a time gap; 0 on quote bars, whose prices are the true side's. Limits are placed
// by what is known at t, so never by a gap's; on quote bars by half the quoted spread.
struct Spreads { i32 fill, limit; };
CALLED Spreads half_spreads(const Rules& r, const Bar& seen, bool after_gap) {
  if (r.quotes) return Spreads{0, (i32)(((i64)seen.ask[CLOSE] - seen.bid[CLOSE] + 1) >> 1)};
  const i64 h = larger(r.min_half_spread, larger(mul_div_by<ONE_E7>(mark(seen), r.half_spread_e7, UP),
                                                 mul_div_by<ONE_E7>(seen.atr, r.atr_spread_e7, UP)));
  return Spreads{(i32)smaller(after_gap ? h * r.gap_spread_factor : h, r.max_price), (i32)smaller(h, r.max_price)};
}

// How far `lots` move the price, units, rounded up: the square-root law.
//   i = ceil(sqrt(Y^2 sigma^2 q / Vbar)) (case 2)
CALLED i32 market_impact(const Rules& r, const Bar& seen, i64 lots) {
  const i64 swing = smaller((i64)r.impact_e2 * seen.sigma, 3000000000);  // Y sigma, 1e-2 units; its square fits i64
  return (i32)smaller((i64)isqrt_up((u64)mul_div(swing * swing, lots, seen.mean_volume * 10000, UP)), 1 << 28);
}

// Limit of a maker order, units on the tick grid, rounded away from the market. half: limit_spread.
//   C_t - h, - 3h, - 5h for aggressive, normal, patient buys; sells mirrored (cases 7, 8)
FN i64 maker_limit(const Rules& r, bool buy, i32 close, i32 half, u8 urgency) {
  const i64 distance = (5 - 2 * (i64)urgency) * half;
  return (buy ? div_down(close - distance, r.tick) : div_up(close + distance, r.tick)) * r.tick;
}

// Worst price of an IOC order, units: C_t + 4h, + 2h, + 0 for aggressive, normal, patient buys; sells mirrored.
// (case 6)
FN i64 ioc_limit(bool buy, i32 close, i32 half, u8 urgency) {
  return close + with_sign(2 * (i64)urgency * half, !buy);
}
