// A replay of stored states: one row of S numbers per transition, the next state in the row after it. What `bench step`
// samples from; training on a market replays by index instead.
//   index[b] = below(draw(seed, step, 0, SAMPLE, b), rows - 1)
//   x[b] = state[index[b]], x[B + b] = state[index[b] + 1]; action, outcome of row index[b]
// Shapes: state [rows, S] shared by all members; actions [rows, D]; outcome [rows]; x [2B, S]; D bytes of actions.
#include "platform.cuh"
#include "rng.cuh"
#include "optimiser.cuh"
#include "outcome.cuh"

struct GatherArgs {
  Members<const real> state;
  Members<const u8> actions;
  Members<const Outcome> outcome;
  Members<const OptimiserState> counters;
  Members<const Hyper> hyper;
  Members<u32> index;
  Members<real> x;
  Members<u8> actions_out;
  Members<Outcome> outcome_out;
  i32 batch, rows, ld, branches;
};
KERNEL(column_gather, GatherArgs, None, 32, 32, 8) {
  if (t.index >= (u32)a.batch) return;
  const u64 step = a.counters.of(t.member)->step, seed = a.hyper.of(t.member)->seed;
  const i64 row = below(draw(seed, step, 0, SAMPLE, t.index).x, a.rows - 1);
  const real* const s = a.state.of(t.member) + row * a.ld;
  real *const now = a.x.of(t.member) + (i64)t.index * a.ld, *const next = now + (i64)a.batch * a.ld;
  t.each(a.ld / 8, [&](int i) { store8(now + 8 * i, load8(s + 8 * i)); });
  t.each(a.ld / 8, [&](int i) { store8(next + 8 * i, load8(s + a.ld + 8 * i)); });
  t.each(a.branches, [&](int d) {
    a.actions_out.of(t.member)[(i64)t.index * a.branches + d] = a.actions.of(t.member)[row * a.branches + d];
  });
  t.each(1, [&](int) { a.index.of(t.member)[t.index] = (u32)row; });
  t.each(1, [&](int) { a.outcome_out.of(t.member)[t.index] = a.outcome.of(t.member)[row]; });
}
