// What a learner sees of one sample, whichever replay it is drawn from, and what it counts of many.
#pragma once
#include "platform.cuh"

// n-step return; gamma^m, 0 where terminated; which row of the replay it is; m.
struct Outcome { i32 return_q20; u32 discount_q31, index, steps; };
// Loss over a stretch of training: its sum over rows, 2^-32; rows summed; rows whose loss was not finite; rows whose target
// return lies beyond the support for some branch.
struct LossTotal { u64 loss_q32, rows, bad, edge; };
