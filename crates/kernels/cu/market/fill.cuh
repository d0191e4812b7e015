// At what price, how many lots, at which fee.
#pragma once
#include "order.cuh"

// Price of a fill, units, rounded against the trader. reference4: four times the reference price (open, mean of the
// bar, limit, level); half: h; impact4: four times the impact that this fill pays.
//   buy ceil((4 ref + 4h + 4i) / 4), sell floor((4 ref - 4h - 4i) / 4), within [1, max_price] (cases 3 to 8)
FN i32 fill_price(const Rules& r, bool buy, i64 reference4, i32 half, i64 impact4) {
  const i64 cost = 4 * (i64)half + impact4;
  return (i32)clamped(buy ? div_up(reference4 + cost, 4) : div_down(reference4 - cost, 4), 1, r.max_price);
}

// Lots that fill of `lots` wanted, rounded down. depth / range: the share of the bar that lay beyond a maker's limit;
// 1 / 1 for orders that take. A bar without volume fills nothing.
//   min(lots, floor(floor(V cap) depth / range)) (cases 7, 19)
CALLED i32 fill_quantity(const Rules& r, i64 lots, i64 volume, i64 depth, i64 range) {
  const i64 capacity = mul_div_by<10000>(volume, r.cap_e4, DOWN);
  return (i32)smaller(lots, depth < range ? mul_div(capacity, depth, range, DOWN) : capacity);
}

// Fee of |lots| at a price, money, rounded up (so that a rebate shrinks).
//   ceil(|x| P tv rate / 1e7) (cases 3 to 5, 11)
CALLED i64 commission(const Rules& r, i64 lots, i32 price, i32 rate_e7) {
  return mul_div_by<ONE_E7>(absolute(lots) * price * r.tv, rate_e7, UP);
}

// A maker's fill in a bar: lots at its limit, or none. Touch is not a fill: the bar must trade through by a tick, with
// a rebate by the half-spread (what a rebate buys must not be the spread itself). end: why lots are missing.
FN i32 maker_quantity(const Rules& r, bool buy, i64 lots, i64 limit, i32 half, const Bar& bar, u8& end) {
  const i32* p = side(bar, buy);
  const i64 into = buy ? limit - p[LOW] : p[HIGH] - limit, opened = buy ? limit - p[OPEN] : p[OPEN] - limit;
  if (bar.gap_seconds && opened > 0) {  // entered at the open, where it would have taken
    end = END_REJECTED;
    return 0;
  }
  end = END_LIMIT;
  if (into < (r.maker_fee_e7 < 0 ? larger(r.tick, half) : r.tick)) return 0;
  end = fill_quantity(r, 1, bar.volume, 1, 1) ? END_PART_VOLUME : END_NO_VOLUME;
  return fill_quantity(r, lots, bar.volume, into, (i64)p[HIGH] - p[LOW]);
}
