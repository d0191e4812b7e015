// The learning rate of given steps, one an item: `learning_rate` of optimiser.cuh alone, since no weight shows it exactly.
// Shapes: hyper [1, 1], steps [1, n], rate [1, n]. Overwrites rate; in BF16 it is rounded by the store.
#include "optimiser.cuh"

struct ScheduleArgs { Members<const Hyper> hyper; Members<const u64> steps; Members<real> rate; i32 count, reserved; };
KERNEL(schedule, ScheduleArgs, None, 32, 32, 1) {
  const u64* const steps = a.steps.of(t.member);
  t.each(a.count, [&](int i) { store(a.rate.of(t.member) + i, learning_rate(a.hyper.of(t.member)[0], steps[i])); });
}
