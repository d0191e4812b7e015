// A replay of stored states: one row of S numbers per transition, the next state in the row after it. What `bench step`
// samples from; training on a market replays by index instead.
//   index[b] = below(draw(seed, draws, 0, SAMPLE, b), rows - 1); draws: batches so far, which `replay_advance` counts
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
  Members<const u64> draws;
  Members<const Hyper> hyper;
  Members<u32> index;
  Members<real> x;
  Members<u8> actions_out;
  Members<Outcome> outcome_out;
  i32 batch, rows, ld, branches;
};
KERNEL(column_gather, GatherArgs, None, 32, 32, 8) {
  let_next_begin();
  if (t.index >= (u32)a.batch) return;
  const u64 draws = *a.draws.of(t.member), seed = a.hyper.of(t.member)->seed;
  const i64 row = below(draw(seed, draws, 0, SAMPLE, t.index).x, a.rows - 1);
  const real* const s = a.state.of(t.member) + row * a.ld;
  real *const now = a.x.of(t.member) + (i64)t.index * a.ld, *const next = now + (i64)a.batch * a.ld;
  // All that a thread has to read is asked for before any of it is waited for.
  struct Rest { u8 action; Outcome outcome; };
  PerItem<Rest, 32> rest;
  t.template each<32>(a.branches + 1, [&](int d, Slot slot) {
    if (d < a.branches) rest[slot].action = a.actions.of(t.member)[row * a.branches + d];
    else rest[slot].outcome = a.outcome.of(t.member)[row];
  });
  // Both states lie one after the other.
  t.each(a.ld / 4, [&](int i) { copy8((i < a.ld / 8 ? now : next - a.ld) + 8 * i, s + 8 * i); });
  t.template each<32>(a.branches + 1, [&](int d, Slot slot) {
    if (d < a.branches) {
      a.actions_out.of(t.member)[(i64)t.index * a.branches + d] = rest[slot].action;
    } else {
      a.index.of(t.member)[t.index] = (u32)row;
      a.outcome_out.of(t.member)[t.index] = rest[slot].outcome;
    }
  });
}
