// Decisions that leave a ledger: what the backtests of market_step.cu and env_backtest.cu share.
#pragma once
#include "step.cuh"

FN void write_row(LedgerRow* row, const Account& a, const Outcome& o, Action action, u32 bar, u8 flags, i32 q20,
                  const Recorder& rec) {
  *row = LedgerRow{o.after, rec.worst_equity, a.cash, a.basis, a.realised, a.fees, a.financing, a.position, o.target,
                   o.order, o.filled, q20, a.stop_distance, bar, a.bars, action.exposure, action.type, action.urgency,
                   (u8)(flags | RECORDED), a.cancel, (u8)rec.count, {0, 0}};
}

// The unscaled reward, which needs no volatility.
FN Reward plain_reward(const Rules& r, i64 before, i64 after) {
  Reward out = step_reward(r, before, after, 1000000, 0);
  out.flags &= (u8)~REWARD_SATURATED;
  return out;
}

// Carries out a decision at the close of bars[at] into `row` and `fills` [MAX_FILLS]. ends: the next close is the last.
FN void record_decision(const Rules& r, Account& account, const Bar* bars, u32 at, Action action, bool ends,
                        LedgerRow* row, FillRow* fills) {
  Recorder rec{fills, 0, I64_MAX};
  const Outcome o = decide(r, account, bars[at], bars[at + 1], action, rec);
  const Reward reward = plain_reward(r, o.before, o.after);
  write_row(row, account, o, action, at + 1, (u8)(o.flags | reward.flags | (ends ? TRUNCATED : 0)), reward.q20, rec);
}
