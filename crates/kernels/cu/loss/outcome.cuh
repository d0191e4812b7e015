// What a learner sees of one sample, whichever replay it is drawn from.
#pragma once
#include "platform.cuh"

// n-step return; gamma^m, 0 where terminated; which row of the replay it is; m.
struct Outcome { i32 return_q20; u32 discount_q31, index, steps; };
