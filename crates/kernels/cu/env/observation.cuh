// The network's input at a close: a window of the feature table, then the account, then zeros up to S columns.
//   x[0 .. W F) = features of bars t-W+1 .. t, oldest first;  x[W F .. W F + 13) = account
// Acting and replay go through the same lines, so a replayed observation is the one acted on, bit for bit.
#pragma once
#include "environment.cuh"

static constexpr int ACCOUNT_FEATURES = 13;
struct AccountFeatures { float v[16]; };  // 0 beyond the thirteen
struct ObservationShape { u32 features, feature_ld, lookback, state, state_ld; };  // F, its row; W; S, its row

// What of the account's features needs no account, so that it can be had before a step. volatility: sigma_ep of the episode, 1e-9.
struct MarketFeatures {
  i32 close;
  float unit;  // the reward's
  float depth, volatility, gap, session;
};
FN MarketFeatures market_features(const Rules& r, const EnvMember& m, const Bar& bar, const Context& now, u32 volatility_e9) {
  const float leverage = (float)r.leverage_e4 * 1e-4f, volatility = (float)larger(volatility_e9, 1) * 1e-9f;
  const i32 close = mark(bar);
  return MarketFeatures{close, leverage * volatility / ((float)larger(m.gain_q32, 1) * 2.3283064365386963e-10f),
                        (float)bar.mean_volume * (float)larger(r.cap_e4, 1) * 1e-4f, (float)bar.sigma / (float)close / volatility,
                        log1p_called(ratio((float)bar.gap_seconds, (float)larger(bar_seconds(bar), 1))) * 0.25f,
                        (float)now.session_seconds * 1.1574074e-5f};
}

// Thirteen numbers of order 1. Equity counts as at least a hundredth of the start's: an account that lost all would be divided by 1,
// its growth be ln 0, and a discount of 0 does not undo a NaN.
FN AccountFeatures account_features(const Rules& r, const MarketFeatures& market, const Summary& s) {
  const i64 alive = larger(s.equity, larger(r.start_cash / 100, 1));
  const float equity = (float)alive, leverage = (float)r.leverage_e4 * 1e-4f, unit = market.unit;
  const float notional = (float)(s.position * (i64)market.close * r.tv), lot = (float)(market.close * r.tv);
  const float start = (float)r.start_cash;
  AccountFeatures x{};
  x.v[0] = ratio(notional, equity * leverage);                                            // exposure, -1..1
  x.v[1] = ratio(ratio((float)s.unrealised, equity), unit);                               // unrealised return, in rewards
  x.v[2] = log1p_called((float)s.bars) * 0.25f;                                           // bars in position
  x.v[3] = ratio((float)(s.peak - s.equity), (float)larger(s.peak - r.ruin_equity, 1));   // drawdown, 1 is ruin
  x.v[4] = ratio(abs_(notional) * ((float)r.maintenance_e7 * 1e-7f), equity);             // margin use, 1 is liquidation
  x.v[5] = log1p_called(ratio((float)(alive - r.start_cash), start));                     // growth since the start
  x.v[6] = market.volatility;                                                             // volatility now over sigma_ep
  x.v[7] = log1p_called(equity * leverage / lot / market.depth);                          // size
  x.v[8] = market.gap;                                                                    // time since the last bar
  x.v[9] = market.session;                                                                // days to the session's close
  x.v[10] = (float)s.fill_share * 0.003921569f;                                           // filled part of the last order
  const u8 end = s.ended & 15;
  x.v[11] = end > END_FILLED && end < END_STOP ? (float)(end - END_FILLED) * 0.14285715f : 0.f;  // what did not fill
  x.v[12] = (float)(s.ended >> 4) * 0.5f;                                                 // stopped 1/2, liquidated 1
  return x;
}

// What one row is written from. newest: the feature table's row of bar t, in elements from the table's start.
static constexpr int TEAM_ROWS = 32;  // an account is one thread's work, a row that of many: a team has 32 of both
struct Seen { AccountFeatures account; i64 newest; };

// What environment s sees at its bar: `r` and `who` of the market that it trades.
FN Seen see(const Rules& r, const EnvMember& who, const Bar* bars, const Context* context, const Env& s, u32 feature_ld) {
  const Bar& bar = bars[s.bar];
  return {account_features(r, market_features(r, who, bar, context[s.bar], s.volatility_e9), summarise(r, s.account, bar)),
          ((i64)s.bar + who.feature_shift) * feature_ld};
}

// Eight columns of a row, from column 8 i, to `out`; account(a) is the account's a-th.
template<class Of>
FN void observe8(const ObservationShape& shape, i64 newest, Of account, const real* features, int i, real* out) {
  const int window = (int)(shape.lookback * shape.features), each = (int)shape.features, column = 8 * i;
  const real* oldest = features + newest - (i64)(shape.lookback - 1) * shape.feature_ld;
  F8 x = constant<F8>(0.f);
  if (each % 8 == 0 && column + 8 <= window) {
    x = load8(oldest + (i64)(column / each) * shape.feature_ld + column % each);
  } else if (column >= window) {
    EACH8 {
      const int a = column + k - window;
      put(x, k, account(a < ACCOUNT_FEATURES ? a : ACCOUNT_FEATURES));
    }
  } else {
    int bar = column / each, feature = column % each;
    EACH8 {
      const int a = column + k - window;
      if (a < 0) put(x, k, load(oldest + (i64)bar * shape.feature_ld + feature));
      else if (a < ACCOUNT_FEATURES) put(x, k, account(a));
      if (++feature == each) { feature = 0; bar += 1; }
    }
  }
  store8(out, x);
}

// Writes `count` rows: of row j what seen(j) says, columns 8 i and on to out(j, i).
template<class Tm, class Of, class Out>
FN void write_observations(Tm& t, const ObservationShape& shape, int count, const real* features, Of seen, Out out) {
  const int packs = (int)shape.state / 8;
  t.each(count * packs, [&](int i) {
    const int j = i / packs;
    const Seen& row = seen(j);
    observe8(shape, row.newest, [&](int k) { return row.account.v[k]; }, features, i % packs, out(j, i % packs));
  });
}

// Writes the account alone: columns of pack i to out(i).
template<class Out> FN void write_account(const ObservationShape& shape, const AccountFeatures& account, Out out) {
  const int window = (int)(shape.lookback * shape.features), first = window / 8, skip = window % 8;
  const int last = (skip + ACCOUNT_FEATURES - 1) / 8;  // pack, from the first: 1 or 2
  real *const start = out(first) + skip, *const middle = out(first + 1) + (skip - 8), *const end = out(first + last) + (skip - 8 * last);
  UNROLL for (int k = 0; k < ACCOUNT_FEATURES; ++k) store((skip + k < 8 ? start : skip + k < 16 ? middle : end) + k, account.v[k]);
}
