// One decision, from the close of bar t (`seen`) to the close of bar t+1 (`bar`): the rules in their order (a) to (h).
// Shared by training and backtest. Whatever a bar hides is decided against the trader; nothing decided at t fills at a
// price of bar t. In two parts, so that whoever waits for an action can have what needs none done by then.
#pragma once
#include "account.cuh"
#include "record.cuh"
#include "reward.cuh"

// A price that was agreed on: what `trade` books, and what the ledger says of it.
struct Quote { i64 reference4, impact4; i32 price, half, rate_e7; u8 kind; };

template<class Rec> struct Desk {
  const Rules& r;
  Account& a;
  const Bar &seen, &bar;
  Rec& rec;
  i32 close, half;  // C_t, h of this bar
  bool cut;         // the margin took lots off

  METHOD Quote quote(bool buy, i64 reference4, i64 impact4, u8 kind) const {
    return Quote{reference4, impact4, fill_price(r, buy, reference4, half, impact4), half, r.taker_fee_e7, kind};
  }

  METHOD i64 fee_of(i32 lots, const Quote& q) const { return commission(r, lots, q.price, q.rate_e7); }

  // One leg: closes or opens.
  METHOD void leg(i32 lots, i64 fee, const Quote& q, bool opens) {
    const bool liquidated = q.kind == FILL_LIQUIDATION_AT_OPEN || q.kind == FILL_LIQUIDATION_IN_BAR;
    const i64 penalty = liquidated ? commission(r, lots, q.price, r.penalty_e7) : 0;
    if (opens && a.position == 0) {  // left flat, or the second leg of a flip
      a.bars = 0;
      a.stop_distance = r.stop_e4 ? (i32)clamped(mul_div_by<10000>(seen.atr, r.stop_e4, UP), 1, r.max_price) : 0;
    }
    apply_fill(r, a, lots, q.price, fee + penalty);
    rec.fill(FillRow{q.reference4, fee, penalty, lots, q.price, close, q.half, (i32)q.impact4, q.kind, opens, {0, 0}});
  }

  METHOD void close_all(const Quote& q) { leg(-a.position, fee_of(a.position, q), q, false); }

  // Fills `lots` (> 0): first what closes, then what adds, cut to the margin. Returns how many filled.
  METHOD i32 trade(bool buy, i32 lots, const Quote& q) {
    const i32 closing = a.position && (a.position < 0) == buy ? (i32)smaller(lots, absolute(a.position)) : 0;
    i32 filled = 0;
#pragma unroll 1
    for (int opens = 0; opens < 2; ++opens) {
      i32 n = opens ? lots - closing : closing;
      i64 fee = 0;
      if (n && opens) {
        const i32 allowed = margin_lots(r, a, n, q.price, q.rate_e7, fee);
        cut |= allowed < n;
        n = allowed;
      } else if (n) {
        fee = fee_of(n, q);
      }
      if (n) leg((i32)with_sign(n, !buy), fee, q, opens);
      filled += n;
    }
    return filled;
  }

  // Closes the position if the bar, at its open or on the way to its worst price, is at or beyond its stop or
  // liquidation level: at the worse of the open and the level met first, uncapped, h and the impact of the whole
  // position paid.
  METHOD u8 exit(Price at) {
    if (!a.position) return EXIT_NONE;
    const bool is_long = a.position > 0, open = at == OPEN;
    const i32* p = side(bar, !is_long);
    const i64 worst = open ? p[OPEN] : is_long ? p[LOW] : p[HIGH];
    if (stays_open(r, a.position, a.stop_distance, a.basis, a.cash, worst)) {
      if (!open) rec.worst(worst, mark_to_market(r, a, worst));
      return EXIT_NONE;
    }
    const Levels levels = margin_and_stops(r, a);
    const i64 level = is_long ? larger(levels.stop, levels.liquidation) : smaller(levels.stop, levels.liquidation);
    const i64 met = is_long ? smaller(level, p[OPEN]) : larger(level, p[OPEN]);
    const bool ruined = is_long ? met <= levels.liquidation : met >= levels.liquidation;
    const u8 kind = ruined ? (open ? FILL_LIQUIDATION_AT_OPEN : FILL_LIQUIDATION_IN_BAR)
                           : (open ? FILL_STOP_AT_OPEN : FILL_STOP_IN_BAR);
    const Quote q = quote(!is_long, 4 * met, 4 * (i64)market_impact(r, seen, absolute(a.position)), kind);
    if (!open) rec.worst(q.price, mark_to_market(r, a, q.price));
    close_all(q);
    if (ruined) a.liquidations += 1;
    else a.stops += 1;
    return ruined ? EXIT_LIQUIDATION : EXIT_STOP;
  }
};

// The end of a backtest, or of a session: whatever is held is closed at C -+ (h + i) of `last`, uncapped; of quote bars h is
// half the quoted spread, so that this is the side's own close less impact.
template<class Rec> FN void close_out(const Rules& r, Account& a, const Bar& last, u8 kind, Rec& rec) {
  if (!a.position) return;
  const bool buy = a.position < 0;
  Desk<Rec> desk{r, a, last, last, rec, mark(last), half_spreads(r, last, false).limit, false};
  const i64 impact = market_impact(r, last, absolute(a.position));
  desk.close_all(desk.quote(buy, 4 * (i64)desk.close, 4 * impact, kind));
  a.bars = 0;
  a.stop_distance = 0;
}

// What is known of a decision before its action.
struct Opened {
  i64 before;    // equity at the mark of the close that is decided at, money
  i64 capacity;  // lots of the bar that orders may take
  i32 close;     // C_t
  Spreads half;
  i32 held;      // the position that is decided with, as the exit at the open finds it
  u8 exited;     // Exit, at the open
};

struct Decided {
  i64 before, after;  // equity at the marks of both closes, money
  i32 target, order, filled;  // lots: target; target - position as sent; lots of it that filled, unsigned
  u8 flags;           // of Flag, without what the reward adds
  bool clamped;       // the target
};

FN void finance(const Rules& r, Account& a, i32 close, u32 seconds) {
  const i64 cost = financing(r, a.position, a.basis, a.cash, close, seconds);
  a.financing += cost;
  a.cash -= cost;
}

template<class Rec> FN Opened open_bar(const Rules& r, Account& a, const Bar& seen, const Bar& bar, Rec& rec) {
  const i32 close = mark(seen);
  Opened out{mark_to_market(r, a, close), bar_capacity(r, bar), close, half_spreads(r, seen, bar.gap_seconds != 0), a.position,
             EXIT_NONE};
  // (a) Financing of the gap. (b) The old position at the open.
  finance(r, a, close, bar.gap_seconds);
  out.exited = Desk<Rec>{r, a, seen, bar, rec, close, out.half.fill, false}.exit(OPEN);
  return out;
}

template<class Rec>
FN Decided decide(const Rules& r, Account& a, const Bar& seen, const Bar& bar, const Opened& opened, Action chosen, Rec& rec) {
  const Action action = sent_as(r, chosen);
  const i32 close = opened.close, old = opened.held;
  const u8 exited = opened.exited;
  Desk<Rec> desk{r, a, seen, bar, rec, close, opened.half.fill, false};
  Decided out{opened.before, 0, 0, 0, 0, 0, false};
  out.target = target_position(r, (i32)action.exposure - 4, out.before, close, out.clamped);
  a.clamped += out.clamped;
  const bool banded = in_band(r, out.target, old);
  u8 end = END_NONE;

  // After an exit the order may only open the opposite side.
  i64 order = (i64)out.target - a.position;
  const auto cancelled_by = [](u8 exit) { return (u8)(exit == EXIT_STOP ? END_STOP : END_LIQUIDATION); };
  if (banded) {
    end = out.target != old ? END_BAND : END_NONE;
    order = 0;
  } else if (exited && (out.target == 0 || (out.target < 0) == (old < 0))) {
    if (out.target != old) end = cancelled_by(exited);
    order = 0;
  }
  out.order = (i32)order;

  // What fills at the open, and what fills later in the bar: `now` and `late` lots, and their quotes.
  const bool buy = order > 0;
  const i64 wanted = absolute(order), open4 = 4 * (i64)side(bar, buy)[OPEN];
  i32 now = 0, late = 0;
  Quote now_quote{}, late_quote{};
  if (wanted && action.type == MAKER) {
    const i64 limit = maker_limit(r, buy, close, opened.half.limit, action.urgency);
    late = maker_quantity(r, buy, wanted, limit, (i32)larger(opened.half.limit, desk.half), opened.capacity, bar, end);
    late_quote = Quote{4 * limit, 0, (i32)limit, 0, r.maker_fee_e7, FILL_MAKER};
  } else if (wanted) {
    const i32 lots = (i32)smaller(wanted, opened.capacity);
    const i64 impact = lots ? market_impact(r, seen, lots) : 0;
    i64 now_impact = impact;
    now = lots;
    end = lots ? END_PART_VOLUME : END_NO_VOLUME;
    if (action.type == IOC) {
      const i64 limit = ioc_limit(buy, close, opened.half.limit, action.urgency);
      const i64 price = fill_price(r, buy, open4, desk.half, 4 * impact);
      if (lots && (buy ? price > limit : price < limit)) {
        now = 0;
        end = END_IOC;
      }
    } else if (action.urgency != AGGRESSIVE) {
      const i32* p = side(bar, buy);
      const bool patient = action.urgency == PATIENT;
      now = patient ? 0 : lots - lots / 2;
      now_impact = (impact + 1) / 2;
      late = lots - now;
      const i64 mean4 = (i64)p[OPEN] + p[HIGH] + p[LOW] + p[CLOSE];
      late_quote = desk.quote(buy, mean4, patient ? impact : 2 * impact, FILL_MEAN);
    }
    now_quote = desk.quote(buy, open4, 4 * now_impact, action.type == IOC ? FILL_IOC : FILL_OPEN);
  }

  // (c) What fills at the open fills. (d) Financing of the bar. (e) What adds fills as if before the adverse move,
  // (f) which may meet a level and cancel the rest; (g) otherwise what reduces fills after it, and the opening leg of a
  // flip last, to be tested itself. A loop, since a GPU fetches its body once.
  bool adds = false;
  u8 hit = EXIT_NONE;
#pragma unroll 1
  for (int part = 0; part < 3; ++part) {
    if (part == 1) {
      finance(r, a, close, bar_seconds(bar));
      adds = late && (a.position == 0 || (a.position > 0) == buy);
    }
    const i32 lots = part == 0 ? now : (part == 1) == adds && !hit ? late : 0;
    const bool flips = part == 2 && lots > absolute(a.position);
    if (lots) out.filled += desk.trade(buy, lots, part ? late_quote : now_quote);
    if (part == 1 || flips) hit = desk.exit(CLOSE);
    if (part == 1 && hit && late && !adds) end = cancelled_by(hit);
  }

  // The session's last close, before (h): an order may open in this bar, and nothing is carried over it.
  if (ends_session(bar)) close_out(r, a, bar, FILL_SESSION, rec);

  // (h) The mark.
  out.after = mark_to_market(r, a, mark(bar));
  a.peak = larger(a.peak, out.after);
  a.bars = a.position ? a.bars + 1 : 0;
  if (!a.position) a.stop_distance = 0;
  if (wanted && out.filled == wanted) end = END_FILLED;
  else if (desk.cut && end != END_STOP && end != END_LIQUIDATION) end = END_PART_MARGIN;
  a.order_end = end;
  a.exit = hit ? hit : exited;
  a.fill_share = wanted ? (u8)((i64)out.filled * 255 / wanted) : 0;
  const auto met = [&](u8 what) { return exited == what || hit == what; };
  out.flags = (u8)((out.after <= r.ruin_equity ? TERMINATED : 0) | (met(EXIT_STOP) ? STOPPED : 0) |
                   (met(EXIT_LIQUIDATION) ? LIQUIDATED : 0));
  return out;
}
