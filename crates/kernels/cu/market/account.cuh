// Margin accounting: what fills, time and marks do to an account.
#pragma once
#include "fill.cuh"

// Equity at a price, money, exact (case 3).
//   cash + (position P - basis) tv
FN i64 mark_to_market(const Rules& r, const Account& a, i64 price) {
  return a.cash + (a.position * price - a.basis) * r.tv;
}

// Books one leg of signed `lots` at `price` units with `fee` money; a leg closes or opens, never both.
//   closing x of p: cost_out = sign(B) floor(|B| |x| / |p|), all of B when x = p; realised += (-x P - cost_out) tv
//   opening: B += x P (cases 9 to 11)
FN void apply_fill(const Rules& r, Account& a, i32 lots, i32 price, i64 fee) {
  if (a.position && (a.position < 0) != (lots < 0)) {
    const bool all = lots == -a.position;
    const i64 cost_out = all ? a.basis : with_sign(mul_div(absolute(a.basis), absolute(lots), absolute(a.position), DOWN), a.basis < 0);
    const i64 gain = (-(i64)lots * price - cost_out) * r.tv;
    a.basis -= cost_out;
    a.realised += gain;
    a.cash += gain;
  } else {
    a.basis += (i64)lots * price;
  }
  a.position += lots;
  a.fees += fee;
  a.cash -= fee;
  a.legs += 1;
}

// Cost of holding the position for `seconds` at mark `close`, money, rounded up (a credit shrinks).
//   ceil(base rate seconds / (1e7 31,536,000)); base = |p| C tv, or for a long that pays on loans max(0, B tv - cash),
//   which is notional less equity at any mark (case 18)
CALLED i64 financing(const Rules& r, i64 position, i64 basis, i64 cash, i32 close, u32 seconds) {
  const bool is_short = position < 0;
  const i64 whole = absolute(position) * close * r.tv;
  const i64 base = r.financing_borrowed && !is_short ? clamped(basis * r.tv - cash, 0, whole) : whole;
  const i64 rate = is_short ? r.financing_short_e7 : r.financing_long_e7;
  return mul_div_by<ONE_E7 * 31536000>(base, rate * seconds, UP);
}

// The largest n <= lots that the initial margin lets an account add on its side (or open from flat) at `price`.
//   1e7 (equity(P) - fee(n)) >= (|p| + n) P tv im (case 20)
// fee: of so many lots, money; unset for none.
FN i32 margin_lots(const Rules& r, const Account& a, i64 lots, i32 price, i32 rate_e7, i64& fee) {
  const i64 equity = mark_to_market(r, a, price), held = absolute(a.position), lot = price * r.tv;
  const auto holds = [&](i64 n) {
    fee = commission(r, n, price, rate_e7);
    return (i128)(equity - fee) * ONE_E7 >= (i128)((held + n) * lot) * r.initial_e7;
  };
  if (holds(lots)) return (i32)lots;
  const i128 room = (i128)equity * ONE_E7 - (i128)(held * lot) * r.initial_e7;
  if (room <= 0) return 0;
  // The bound without the fee's rounding is never too small, and too large by about one lot.
  i64 n = smaller(lots, (i64)((u128)room / ((u128)lot * (u128)(r.initial_e7 + rate_e7))));
  while (n > 0 && !holds(n)) --n;
  return (i32)n;
}

// Whether a position of an account stays open at a price > 0: what margin_and_stops solves for the price, without its divisions.
CALLED bool stays_open(const Rules& r, i64 position, i64 stop_distance, i64 basis, i64 cash, i64 price) {
  // Signed, the two sides are one: value (1 - mm) + funds >= 0, with value < 0 of a short and its mm against it.
  const i64 value = price * position * r.tv, funds = cash - basis * r.tv;
  const i64 kept = position > 0 ? ONE_E7 - r.maintenance_e7 : ONE_E7 + r.maintenance_e7;
  const i64 nearest = position > 0 ? price + stop_distance - 1 : price - stop_distance + 1;
  return (!stop_distance || nearest * position >= basis) && (i128)value * kept + (i128)funds * ONE_E7 >= 0;
}

// Levels at which a position is closed against its will, units; none is 0 for a long, 2^62 for a short.
struct Levels { i64 stop, liquidation; };
// Long: at or below. Short: at or above. Rounded so that the trader is closed sooner (cases 12 to 17).
//   stop: long ceil(B / p) - d, short floor(B / p) + d
//   liquidation, where 1e7 equity(P) < |p| P tv mm: long ceil(1e7 (B tv - cash) / (p tv (1e7 - mm))) - 1,
//   short floor(1e7 (cash - B tv) / (|p| tv (1e7 + mm))) + 1
FN Levels margin_and_stops(const Rules& r, const Account& a) {
  const i64 lots = absolute(a.position), none = (i64)1 << 62;
  if (a.position > 0) {
    const i64 debt = mul_div(a.basis * r.tv - a.cash, ONE_E7, ONE_E7 - r.maintenance_e7, UP);
    return Levels{a.stop_distance ? larger(div_up(a.basis, lots) - a.stop_distance, 0) : 0,
                  larger(div_up(debt, lots * r.tv) - 1, 0)};
  }
  const i64 funds = mul_div(a.cash - a.basis * r.tv, ONE_E7, ONE_E7 + r.maintenance_e7, DOWN);
  return Levels{a.stop_distance ? div_down(-a.basis, lots) + a.stop_distance : none, div_down(funds, lots * r.tv) + 1};
}
