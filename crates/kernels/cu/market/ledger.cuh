// Decisions that leave a ledger: what the backtests of market_step.cu and env_backtest.cu share.
#pragma once
#include "step.cuh"

// The unscaled reward, which needs no volatility.
FN Reward plain_reward(const Rules& r, i64 before, i64 after) { return step_reward(r, before, after, 1000000, 0); }

// Carries out a decision at the close of bars[at] into `row` and `fills` [MAX_FILLS]. ends: the next close is the last.
// The row holds the action as it was sent, so that playing its actions again gives the same row under any rules on types.
FN void record_decision(const Rules& r, Account& a, const Bar* bars, u32 at, Action chosen, bool ends, LedgerRow& row,
                        FillRow* fills) {
  Recorder rec{fills, 0, false, 0, 0};
  const Action action = sent_as(r, chosen);
  const Bar& bar = bars[at + 1];
  const Opened opened = open_bar(r, a, bars[at], bar, rec);
  const Decided o = decide(r, a, bars[at], bar, opened, action, rec);
  if (!rec.met) rec.worst(mark(bar), o.after);
  const Reward reward = plain_reward(r, o.before, o.after);
  const u8 flags = (u8)(o.flags | reward.flags | RECORDED | (ends ? TRUNCATED : 0));
  row = LedgerRow{o.before, o.after, rec.worst_equity, a.cash, a.basis, a.realised, a.fees, a.financing, a.position,
                  o.target, o.order, o.filled, reward.q20, a.stop_distance, (i32)rec.worst_price, at + 1, a.bars,
                  {action.exposure, action.type, action.urgency}, flags, a.order_end, a.exit, (u8)rec.count, {}};
}

// Closes what is held at the close of `bar`, the last, ruined or not, and books it in that bar's row, so that a ledger
// has one row a bar. Beside the four legs of a decision there is room for this one.
FN void record_close(const Rules& r, Account& a, const Bar& bar, LedgerRow& row, FillRow* fills) {
  Recorder rec{fills, row.fills, true, 0, 0};
  close_out(r, a, bar, FILL_END, rec);
  const i64 after = mark_to_market(r, a, mark(bar));
  const Reward reward = plain_reward(r, row.before, after);
  const bool ruined = row.flags & TERMINATED || after <= r.ruin_equity;
  row.equity = after;
  row.cash = a.cash;
  row.basis = a.basis;
  row.realised = a.realised;
  row.fees = a.fees;
  row.position = a.position;
  row.reward_q20 = reward.q20;
  row.stop_distance = a.stop_distance;
  row.bars = a.bars;
  row.flags = (u8)(row.flags | reward.flags | (ruined ? TERMINATED : TRUNCATED));
  row.fills = (u8)rec.count;
}
