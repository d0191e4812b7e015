// A backtest: env_step's decision without replay and without a new episode, with a ledger. [E] environments a member,
// each over its member's whole window; env_observe and env_act see the same state as in training.
//   env_backtest_begin    env [E] overwritten: a fresh account at the window's first decision
//   env_backtest_actions  actions [E, 3] overwritten with row k of recorded [K, 3], k = decisions since the first; left as
//                         they are past its end
//   env_backtest          env read and overwritten; rows [capacity, E] and fills [capacity, E, 5] overwritten at row k
//   env_backtest_close    env and the last row amended: what is held is closed
// An environment that was ruined, or whose bar is the window's last, is left alone. Deterministic: environments are
// independent.
#include "environment.cuh"
#include "ledger.cuh"

struct EnvBacktestArgs {
  Members<Env> env;
  Members<const EnvMember> member;
  Members<const Rules> rules;
  Members<const Bar> bars;
  Members<const Context> context;
  Members<const u8> actions;
  Members<LedgerRow> rows;
  Members<FillRow> fills;
  u32 envs, capacity;
};

// The window's first decision, as in begin_episode: a whole observation lies before it.
FN u32 first_decision(const EnvMember& m) { return m.begin + m.lookback - 1; }

KERNEL(env_backtest_begin, EnvBacktestArgs, None, 32, 32, 4) {
  const EnvMember& who = *a.member.of(t.member);
  const int first = (int)t.index * 32, left = (int)a.envs - first;
  t.each(left < 32 ? left : 32, [&](int j) {
    Env s{};
    s.bar = first_decision(who);
    s.end = who.end - 1;
    s.volatility_e9 = (u32)larger(a.context.of(t.member)[s.bar].volatility_e9, who.volatility_floor_e9);
    s.account.cash = s.account.peak = a.rules.of(t.member)->start_cash;
    a.env.of(t.member)[first + j] = s;
  });
}

KERNEL(env_backtest, EnvBacktestArgs, None, 32, 32, 4) {
  const int first = (int)t.index * 32, left = (int)a.envs - first;
  t.each(left < 32 ? left : 32, [&](int j) {
    const u32 e = (u32)(first + j);
    Env s = a.env.of(t.member)[e];
    const u32 k = s.bar - first_decision(*a.member.of(t.member));
    if (s.bar >= s.end || k >= a.capacity) return;
    const u8* chosen = a.actions.of(t.member) + 3 * (u64)e;
    const u64 place = (u64)k * a.envs + e;
    LedgerRow& row = a.rows.of(t.member)[place];
    record_decision(*a.rules.of(t.member), s.account, a.bars.of(t.member), s.bar,
                    Action{chosen[0], chosen[1], chosen[2]}, s.bar + 1 == s.end, row,
                    a.fills.of(t.member) + place * MAX_FILLS);
    s.bar += 1;
    s.step += 1;
    s.return_q20 += row.reward_q20;
    if (row.flags & TERMINATED) s.end = s.bar;
    a.env.of(t.member)[e] = s;
  });
}

// Closes at the close of the bar where the environment stopped.
KERNEL(env_backtest_close, EnvBacktestArgs, None, 32, 32, 4) {
  const Rules& r = *a.rules.of(t.member);
  const int first = (int)t.index * 32, left = (int)a.envs - first;
  t.each(left < 32 ? left : 32, [&](int j) {
    const u32 e = (u32)(first + j);
    Env s = a.env.of(t.member)[e];
    const u32 k = s.bar - first_decision(*a.member.of(t.member));
    s.end = s.bar;
    if (k > 0) {
      const u64 place = (u64)(k - 1) * a.envs + e;
      LedgerRow& row = a.rows.of(t.member)[place];
      const i32 reward = row.reward_q20;
      record_close(r, s.account, a.bars.of(t.member)[s.bar], row, a.fills.of(t.member) + place * MAX_FILLS);
      s.return_q20 += row.reward_q20 - reward;
    }
    a.env.of(t.member)[e] = s;
  });
}

struct EnvBacktestActionsArgs {
  Members<const Env> env;
  Members<const EnvMember> member;
  Members<const u8> recorded;
  Members<u8> actions;
  u32 envs, rows;
};

KERNEL(env_backtest_actions, EnvBacktestActionsArgs, None, 32, 32, 4) {
  const int first = (int)t.index * 32, left = (int)a.envs - first;
  t.each(left < 32 ? left : 32, [&](int j) {
    const u32 e = (u32)(first + j);
    const u32 k = a.env.of(t.member)[e].bar - first_decision(*a.member.of(t.member));
    if (k >= a.rows) return;
    const u8* row = a.recorded.of(t.member) + 3 * (u64)k;
    UNROLL for (int d = 0; d < 3; ++d) a.actions.of(t.member)[3 * (u64)e + d] = row[d];
  });
}
