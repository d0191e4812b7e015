// One decision of each of E accounts of a member, with its ledger: the backtest's form of step.cuh.
//   accounts [E] read and overwritten; cursor [E] the bar whose close is decided at, advanced by one
//   actions [E, 3]; bars [T]; rules [1]; span [1]; rows [capacity, E] and fills [capacity, E, 5] overwritten at row
//   (cursor - begin) mod capacity
// An account that was ruined, or whose cursor stands on the span's last bar, is left alone. Deterministic: accounts are
// independent.
#include "step.cuh"

struct Span { u32 begin, end; };  // rows of the bar table: first decision at the close of `begin`, last mark at end - 1
static constexpr u32 ENDED = 0x80000000u;  // of a cursor: ruined or closed out
static constexpr int LANE_ENVS = 32;

struct MarketStepArgs {
  Members<Account> accounts;
  Members<u32> cursor;
  Members<const Rules> rules;
  Members<const Span> span;
  Members<const Bar> bars;
  Members<const u8> actions;
  Members<LedgerRow> rows;
  Members<FillRow> fills;
  u32 envs, capacity;
};

KERNEL(market_step, MarketStepArgs, None, 32, 32, 4) {
  const Rules& r = *a.rules.of(t.member);
  const Span span = *a.span.of(t.member);
  const Bar* bars = a.bars.of(t.member);
  const int first = (int)t.index * LANE_ENVS, left = (int)a.envs - first;
  t.each(left < LANE_ENVS ? left : LANE_ENVS, [&](int j) {
    const u32 e = (u32)(first + j), at = a.cursor.of(t.member)[e];
    if (at & ENDED || at + 1 >= span.end) return;
    const u8* chosen = a.actions.of(t.member) + 3 * (u64)e;
    const Action action{chosen[0], chosen[1], chosen[2]};
    const u64 place = (u64)((at - span.begin) % a.capacity) * a.envs + e;
    Account account = a.accounts.of(t.member)[e];
    Recorder rec{a.fills.of(t.member) + place * MAX_FILLS, 0, false, 0, 0};
    const Bar& bar = bars[at + 1];
    const Outcome o = decide(r, account, bars[at], bar, action, rec);
    if (!rec.met) rec.worst(mark(bar), o.after);
    const Reward reward = step_reward(r, o.before, o.after, 1000000, 0);
    u8 flags = (u8)(o.flags | reward.flags | RECORDED);
    if (at + 2 == span.end) flags |= TRUNCATED;
    a.rows.of(t.member)[place] =
      LedgerRow{o.before, o.after, rec.worst_equity, account.cash, account.basis, account.realised, account.fees,
                account.financing, account.position, o.target, o.order, o.filled, reward.q20, account.stop_distance,
                (i32)rec.worst_price, at + 1, account.bars, action.exposure, action.type, action.urgency, flags,
                account.order_end, account.exit, (u8)rec.count, {}};
    a.accounts.of(t.member)[e] = account;
    a.cursor.of(t.member)[e] = (at + 1) | (flags & TERMINATED ? ENDED : 0);
  });
}

// The end of a backtest: closes what is held at the close of the last row's bar, into that row.
KERNEL(market_close, MarketStepArgs, None, 32, 32, 4) {
  const Rules& r = *a.rules.of(t.member);
  const Span span = *a.span.of(t.member);
  const int first = (int)t.index * LANE_ENVS, left = (int)a.envs - first;
  t.each(left < LANE_ENVS ? left : LANE_ENVS, [&](int j) {
    const u32 e = (u32)(first + j), at = a.cursor.of(t.member)[e] & ~ENDED;
    a.cursor.of(t.member)[e] = at | ENDED;
    if (at == span.begin) return;  // no row: nothing was decided
    const u64 place = (u64)((at - 1 - span.begin) % a.capacity) * a.envs + e;
    LedgerRow& row = a.rows.of(t.member)[place];
    Account account = a.accounts.of(t.member)[e];
    const Bar& bar = a.bars.of(t.member)[at];
    Recorder rec{a.fills.of(t.member) + place * MAX_FILLS, row.fills, true, 0, 0};
    close_out(r, account, bar, rec);
    const i64 after = mark_to_market(r, account, mark(bar));
    const Reward reward = step_reward(r, row.before, after, 1000000, 0);
    row.equity = after;
    row.cash = account.cash;
    row.basis = account.basis;
    row.realised = account.realised;
    row.fees = account.fees;
    row.position = account.position;
    row.reward_q20 = reward.q20;
    row.stop_distance = account.stop_distance;
    row.bars = account.bars;
    row.flags = (u8)(row.flags | reward.flags | (row.flags & TERMINATED ? 0 : TRUNCATED));
    row.fills = (u8)rec.count;
    a.accounts.of(t.member)[e] = account;
  });
}
