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

// Lots that fill of `lots` wanted, rounded down: of orders that take min(lots, capacity), of a maker's its share of the bar that lay
// beyond the limit. A bar without volume fills nothing.
//   capacity = floor(V cap); min(lots, floor(capacity depth / range)) (cases 7, 19)
FN i64 bar_capacity(const Rules& r, const Bar& bar) { return mul_div_by<10000>(bar.volume, r.cap_e4, DOWN); }

// Fee of |lots| at a price, money, rounded up (so that a rebate shrinks).
//   ceil(|x| P tv rate / 1e7) (cases 3 to 5, 11)
CALLED i64 commission(const Rules& r, i64 lots, i32 price, i32 rate_e7) {
  return mul_div_by<ONE_E7>(absolute(lots) * price * r.tv, rate_e7, UP);
}

// A maker's fill in a bar: lots at its limit, or none. Touch is not a fill: the bar must trade through by a tick, with
// a rebate by the half-spread (what a rebate buys must not be the spread itself). end: why lots are missing.
FN i32 maker_quantity(const Rules& r, bool buy, i64 lots, i64 limit, i32 half, i64 capacity, const Bar& bar, u8& end) {
  const i32* p = side(bar, buy);
  const i64 into = buy ? limit - p[LOW] : p[HIGH] - limit, opened = buy ? limit - p[OPEN] : p[OPEN] - limit;
  if (bar.gap_seconds && opened > 0) {  // entered at the open, where it would have taken
    end = END_REJECTED;
    return 0;
  }
  end = END_LIMIT;
  if (into < (r.maker_fee_e7 < 0 ? larger(r.tick, half) : r.tick)) return 0;
  end = capacity ? END_PART_VOLUME : END_NO_VOLUME;
  const i64 range = (i64)p[HIGH] - p[LOW];
  return (i32)smaller(lots, into < range ? mul_div(capacity, into, range, DOWN) : capacity);
}
