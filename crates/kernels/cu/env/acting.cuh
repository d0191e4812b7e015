// What acting needs whatever the rule: the branches of an action, and the schedule that a rule's one number follows.
#pragma once
#include "environment.cuh"

static constexpr u32 BRANCHES = 3;
FN u32 branch_offset(u32 d) { return d == 0 ? 0 : d == 1 ? 9 : 12; }
FN u32 branch_actions(u32 d) { return d == 0 ? 9 : 3; }

// start + (end - start) min(step, steps) / steps: epsilon in 2^-31, or a temperature in 2^-24.
struct Exploration { u32 start, end, steps, reserved; };
FN i64 scheduled(const Exploration& x, u64 step) {
  const i64 at = (i64)(step < x.steps ? step : x.steps), fall = (i64)x.end - x.start;
  return x.start + (x.steps ? mul_div(fall, at, x.steps, DOWN) : fall);
}
