// What trade physics works on: a bar, the rules of one member, an account, an action. Mirrored in
// crates/kernels/src/market/types.rs. Prices are i32 in price units, quantities i32 lots (short < 0), money i64,
// rates i32 in 1e-7, unless a name ends in another unit.
#pragma once
#include "integer.cuh"

enum Price { OPEN, HIGH, LOW, CLOSE };

// One row of the bar table, four 16-byte words. On trade bars `ask` repeats `bid`. sigma, atr and mean_volume are known
// at the bar's close; volume is what a trader may not know before it.
struct alignas(16) Bar {
  i32 bid[4], ask[4];          // open, high, low, close
  i64 volume, mean_volume;     // lots of this bar; mean, >= 1
  i32 sigma, atr;              // volatility of one bar and ATR24, units, >= 1
  u32 gap_seconds, bar_seconds;  // previous close to open; open to close, and SESSION_END
};
// Of bar_seconds: positions are closed at this bar's close, the last of a session.
static constexpr u32 SESSION_END = 0x80000000u;
FN u32 bar_seconds(const Bar& b) { return b.bar_seconds & ~SESSION_END; }
FN bool ends_session(const Bar& b) { return b.bar_seconds & SESSION_END; }

// Every number that an instrument and a configuration set, one row per member.
struct alignas(16) Rules {
  i64 tv;           // money of one unit times one lot
  i64 start_cash;   // money
  i64 ruin_equity;  // money: at or below it the episode is terminated
  i32 tick;         // units: limits and "through" are in ticks
  i32 max_price;    // units: no fill is dearer (an overflow guard, four times the data's highest price)
  i32 max_position;  // lots: targets are clamped to it and counted
  i32 quotes;       // 1: bars have a bid and an ask side, fills are on the true side with h = 0
  i32 taker_fee_e7, maker_fee_e7;  // of notional; negative is a rebate
  i32 min_half_spread, half_spread_e7, atr_spread_e7, gap_spread_factor;  // units; of C_t; of ATR; times
  i32 impact_e2;    // Y, 1e-2
  i32 cap_e4;       // largest share of a bar's volume, 1e-4
  i32 penalty_e7;   // of a liquidation, of notional
  i32 initial_e7, maintenance_e7;  // margin, of notional
  i32 leverage_e4;  // notional over equity at exposure 1, 1e-4
  i32 band_bp;      // orders smaller than this share of the position are dropped, 1e-4
  i32 financing_long_e7, financing_short_e7;  // a year
  i32 financing_borrowed;  // 0: on the whole notional; 1: a long pays on what it borrows, a short on the whole
  i32 stop_e4;      // stop distance in ATRs, 1e-4; 0 is no stop
  i32 market_orders;  // 1: whatever type is chosen, a market order is sent
};

// How an order ended: nothing to do, all filled, cut by volume or margin, too small to send, limit not traded through,
// IOC beyond its limit, maker crossing after a gap, no volume; the rest cancelled by a stop or a liquidation.
enum OrderEnd { END_NONE, END_FILLED, END_PART_VOLUME, END_PART_MARGIN, END_BAND, END_LIMIT, END_IOC, END_REJECTED,
                END_NO_VOLUME, END_STOP, END_LIQUIDATION };
// What closed a position against its will.
enum Exit { EXIT_NONE, EXIT_STOP, EXIT_LIQUIDATION };

// State of one account between decisions. cash = start + realised - fees - financing (margin accounting: buying moves
// no cash); equity is derived at a mark, never stored.
struct alignas(16) Account {
  i64 cash, basis;              // money; sum of signed price * lots, 0 when flat
  i64 realised, fees, financing;  // money so far; the liquidation penalty counts as a fee
  i64 peak;                     // money: highest equity at a close
  i32 position, stop_distance;  // lots; units, fixed when the position left flat or flipped
  u32 bars;                     // closes since then
  u8 fill_share;                // filled part of the last decision's order, 1/255; 0 without an order
  u8 order_end, exit;           // OrderEnd of it; Exit of the last bar
  u8 reserved;
  u32 legs, stops, liquidations, clamped;  // counts since the start
};

enum OrderType { MARKET, MAKER, IOC };
enum Urgency { PATIENT, NORMAL, AGGRESSIVE };
struct Action { u8 exposure, type, urgency; };  // 0..8 is -1..+1; OrderType; Urgency
// The action as it is sent.
FN Action sent_as(const Rules& r, Action a) { return Action{a.exposure, r.market_orders ? (u8)MARKET : a.type, a.urgency}; }

enum Flag { TERMINATED = 1, TRUNCATED = 2, REWARD_FLOOR = 4, REWARD_SATURATED = 8, STOPPED = 16, LIQUIDATED = 32,
            RECORDED = 128 };

// The side of a bar that an order meets: buyers pay the ask, sellers get the bid.
FN const i32* side(const Bar& b, bool buy) { return buy ? b.ask : b.bid; }
// The mark: the close, or the mid of a quote bar (whole, for the grid of quote bars is half a tick or finer).
FN i32 mark(const Bar& b) { return (i32)(((i64)b.bid[CLOSE] + b.ask[CLOSE]) >> 1); }
