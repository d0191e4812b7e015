// gpu: sm_80+
// The branching dueling C51 network of one build: its sizes, and the smaller parts of a fused step that need them.
#pragma once
#include "warp.cuh"

static constexpr int INPUTS = DQN_INPUTS, TRUNK1 = DQN_TRUNK1, TRUNK2 = DQN_TRUNK2, STREAM = DQN_STREAM;
static constexpr int BRANCHES = DQN_BRANCHES, STREAMS = 1 + BRANCHES, ATOMS = DQN_ATOMS;
static constexpr int UNIT = (ATOMS + 7) / 8 * 8;  // columns of a distribution
static constexpr int PACKS = UNIT / 8;
static_assert(INPUTS % 64 == 0 && INPUTS <= 256, "inputs are 64 to 256, a multiple of 64");
static_assert(TRUNK1 % 64 == 0, "the first trunk layer is a multiple of 64");
static_assert(TRUNK2 == 128 || TRUNK2 == 256, "the second trunk layer is 128 or 256");
static_assert((STREAM == 64 || STREAM == 128) && 2 * STREAM <= TRUNK2, "streams are 64 or 128, at most half of the trunk");
static_assert(BRANCHES >= 1 && BRANCHES <= 3, "one to three branches");

FN constexpr int actions_of(int stream) { return stream == 0 ? 1 : stream == 1 ? DQN_ACTIONS0 : stream == 2 ? DQN_ACTIONS1 : DQN_ACTIONS2; }
FN constexpr int first_unit(int stream) { return stream == 0 ? 0 : stream == 1 ? 1 : stream == 2 ? 1 + DQN_ACTIONS0 : 1 + DQN_ACTIONS0 + DQN_ACTIONS1; }
static constexpr int UNITS = first_unit(STREAMS - 1) + actions_of(STREAMS - 1);

struct NetBiases { Members<const real> b1, b2, b3, head; };

static constexpr float LOG2_E = 1.44269504f;

// Atoms of two rows in a thread: of row r (h = 0) and r + 8 (h = 1), column 8 i + 2 (lane % 4) + c, at [4 i + 2 h + c].
typedef float Atoms[4 * PACKS];
FN bool is_atom(int i, int c, int quad) { return 8 * i + 7 < ATOMS || 8 * i + 2 * quad + c < ATOMS; }
FN float sum4(float x) { x = x + shuffle_xor(x, 1); return x + shuffle_xor(x, 2); }  // over the threads of a row
// The sums of two rows, each over its threads: the first's to the even threads, the second's to the odd ones.
FN float sum4_of_two(float first, float second, int quad) {
  const float x = (quad & 1 ? second : first) + shuffle_xor(quad & 1 ? first : second, 1);
  return x + shuffle_xor(x, 2);
}
FN float max4(float x) { x = max_(x, shuffle_xor(x, 1)); return max_(x, shuffle_xor(x, 2)); }

// Of one row: e[2 i + c] = 2^((x - top) log2 e), 0 beyond the atoms; their sum, or this thread's part of it. NaN stays.
struct Exponentials { float e[2 * PACKS], sum, top; };
FN void exponentials_apart(Exponentials& r, const Atoms& x, int h, int quad) {
  r.top = -INFINITY_F32;
  UNROLL for (int i = 0; i < PACKS; ++i)
    UNROLL for (int c = 0; c < 2; ++c) if (is_atom(i, c, quad)) r.top = max_(r.top, x[4 * i + 2 * h + c]);
  r.top = max4(r.top);
  const float top = r.top * -LOG2_E;
  r.sum = 0.f;
  UNROLL for (int i = 0; i < PACKS; ++i)
    UNROLL for (int c = 0; c < 2; ++c) {
      const float e = is_atom(i, c, quad) ? exp2_fast(fma_(x[4 * i + 2 * h + c], LOG2_E, top)) : 0.f;
      r.e[2 * i + c] = e;
      r.sum = r.sum + e;
    }
}
FN void exponentials(Exponentials& r, const Atoms& x, int h, int quad) {
  exponentials_apart(r, x, h, quad);
  r.sum = sum4(r.sum);
}
