// What a decision step tells a ledger. Training tells nobody: `NoRecord` compiles to nothing.
#pragma once
#include "market.cuh"

// Which rule filled a leg. Of an exit: whether the bar opened at or beyond the level.
enum FillKind { FILL_OPEN = 1, FILL_MEAN, FILL_MAKER, FILL_IOC, FILL_STOP_AT_OPEN, FILL_STOP_IN_BAR,
                FILL_LIQUIDATION_AT_OPEN, FILL_LIQUIDATION_IN_BAR, FILL_END, FILL_SESSION };

// One leg of one fill. price - reference = h + impact, to the rounding: a buyer's; a seller's mirrored.
struct alignas(16) FillRow {
  i64 reference4;    // four times the reference price: open, mean of the bar, limit, level; units
  i64 fee, penalty;  // money; the penalty is that of a liquidation
  i32 lots, price, close;  // signed; units; C_t of the decision, units
  i32 half_spread, impact4;  // h, and four times the impact paid, units
  u8 kind, opens;    // FillKind; 1 for a leg that opens, 0 for one that closes
  u8 reserved[2];
};
// A decision has at most four legs (two at the open, one more, one exit; or exit, open, add, exit). One more closes what is
// held at a session's last close, or at the end of a backtest: never both, for after the first nothing is held.
static constexpr int MAX_FILLS = 5;

struct NoRecord {
  METHOD void fill(const FillRow&) {}
  METHOD void worst(i64, i64) {}
};
// Writes the legs of one step to `rows`, and keeps the worst price that the position met (after what fills before the
// adverse move: the bar's low or high on the side it would trade at, or the price that closed it) with equity there. Of a
// flip within the bar both positions meet one, and the lower equity is kept.
struct Recorder {
  FillRow* rows;
  int count;
  bool met;
  i64 worst_price, worst_equity;
  METHOD void fill(const FillRow& row) {
    if (count < MAX_FILLS) rows[count] = row;
    ++count;
  }
  METHOD void worst(i64 price, i64 equity) {
    if (met && equity >= worst_equity) return;
    met = true;
    worst_price = price;
    worst_equity = equity;
  }
};

// One line of a ledger: the account at the close of bar `bar`, and the decision that led there.
struct alignas(16) LedgerRow {
  i64 before;                // equity at the close that was decided at
  i64 equity, worst_equity;  // at the close; at `worst`
  i64 cash, basis, realised, fees, financing;
  i32 position, target, order, filled;  // lots; order signed as sent, filled unsigned
  i32 reward_q20;        // log return of equity, 2^-20
  i32 stop_distance;     // units
  i32 worst;             // the worst price that the position met, units; the close if nothing was held
  u32 bar, bars;         // row of the bar table; closes since the position was opened
  u8 action[3], flags;   // exposure, order type, urgency; Flag
  u8 order_end, exit, fills;  // OrderEnd; Exit; legs written
  u8 reserved[5];
};
