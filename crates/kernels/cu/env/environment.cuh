// What the batched environment keeps: E environments for each of P members, their windows, and what a network sees of
// an account. Mirrored in crates/kernels/src/env/types.rs.
#pragma once
#include "rng.cuh"
#include "step.cuh"

// What else is known at the close of a bar: one row beside each row of the bar table.
struct Context { u32 volatility_e9, session_seconds; };  // 30-day EWMA of one bar's volatility; to the session's close

// One member's row, or one of several, a market each: where its data lie, and how it learns. What does not belong to a market
// (seed, length of episodes, return) is the same in all.
struct alignas(16) EnvMember {
  u64 seed;                 // Philox key
  i64 feature_shift;        // row of the feature table less row of the bar table: which normaliser made the features
  u32 begin, end;           // training window, rows of the bar table
  u32 episode_bars;         // L, decisions of an episode
  u32 lookback;             // W, rows of an observation
  u32 volatility_floor_e9;  // least sigma_ep: 5th percentile of the window
  u32 gain_q32;             // sqrt(1 - gamma^2)
  u32 discount_q31;         // gamma
  u32 n_step;
};

// State of one environment between decisions. Every environment of a member has the same step.
struct alignas(16) Env {
  Account account;
  u64 step;                  // decisions so far: the clock of exploration and of the replay ring
  i64 return_q20;            // sum of the episode's unscaled rewards
  u32 bar, end;              // rows of the bar table: decide at the close of `bar`; the episode ends at that of `end`
  u32 episode;               // number, from 0
  u32 volatility_e9;         // sigma_ep, fixed at the episode's start
};

// Counts of one member since the reset, for people.
struct alignas(16) Tally {
  u64 episodes, terminated, floors, saturated, stops, liquidations, clamped;
  u64 return_q20;  // sum of the finished episodes' unscaled rewards, two's complement
};

// What a network sees of an account at a close, in integers: kept in replay, before and after a step.
struct alignas(16) Summary {
  i64 equity, unrealised, peak;  // money
  i32 position;                  // lots
  u16 bars;                      // closes since the position was opened, at most 65,535
  u8 fill_share;
  u8 ended;                      // OrderEnd in the low four bits, Exit in the high
};

// One row of replay: everything that s, a, r, s' are rebuilt from.
struct alignas(16) Transition {
  Summary before, after;   // at the closes of `bar` and of the next bar: never the reset's
  u32 bar;                 // row of the bar table that was decided at
  u32 episode, volatility_e9;
  i32 reward_q20, scaled_q20;  // log return of equity, 2^-20; over the member's unit
  u8 action[3], flags;
  u32 reserved[2];
};

FN Summary summarise(const Rules& r, const Account& a, const Bar& bar) {
  const i32 close = mark(bar);
  return Summary{mark_to_market(r, a, close), (a.position * (i64)close - a.basis) * r.tv, a.peak, a.position,
                 (u16)smaller(a.bars, 65535), a.fill_share, (u8)(a.order_end | a.exit << 4)};
}

// Which of its member's markets an environment trades: equal shares, neighbours together, so that a warp mostly agrees.
FN u32 market_of(u32 e, u32 markets, u32 envs) { return markets == 1 ? 0 : e * markets / envs; }

// Where an episode of an environment begins and ends: at a random bar of the window, L bars later (sooner in a window shorter
// than that).
// The draw is keyed by seed, environment and episode, so no two environments replay the same path.
struct Episode { u32 bar, end, volatility_e9; };
FN Episode episode_at(const EnvMember& m, const Context* context, u32 e, u32 episode) {
  const u32 first = m.begin + m.lookback - 1, last = m.end - 1;  // decisions at [first, last)
  const u32 fits = last - first > m.episode_bars ? last - first - m.episode_bars + 1 : last - first;
  const u32 bar = first + below(draw_called(m.seed, episode, 0, EPISODE, e).x, fits);
  return Episode{bar, last - bar > m.episode_bars ? bar + m.episode_bars : last,
              (u32)larger(context[bar].volatility_e9, m.volatility_floor_e9)};
}
// It begins, with a fresh account.
FN void begin_episode(const Rules& r, const Episode& episode, Env& s) {
  s.bar = episode.bar;
  s.end = episode.end;
  s.volatility_e9 = episode.volatility_e9;
  s.return_q20 = 0;
  s.account = Account{};
  s.account.cash = s.account.peak = r.start_cash;
}
