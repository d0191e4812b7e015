// Noise of the standard Gumbel distribution in F32. The index with the largest x + noise, each x with noise of its own, is
// a draw from softmax(x) (Gumbel 1954; the "Gumbel-max trick").
#pragma once
#include "math.cuh"

// The middle of one of 2^23 equal parts of (0, 1): exact in F32, and never an end, where a logarithm is infinite. With the
// 24 bits that a float has for numbers below 1, the middle of the last part would be 1.
FN float open_unit(u32 word) { return ((float)(word >> 9) + 0.5f) * 1.1920928955078125e-7f; }

// -ln(-ln u): from -2.82 to 16.7.
FN float gumbel(u32 word) { return 0.f - log_(0.f - log_(open_unit(word))); }
