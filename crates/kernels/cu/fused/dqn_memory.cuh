// gpu: sm_90a
// What lies where in the shared memory of a block that runs a branching network forward: stages of weights, and of each
// computing warpgroup x, the trunk's output, and where one LEARNS, a buffer, distributions of a tile's rows, masks. The includer
// says whether one does, how many OWN_BYTES come last, for its own ends, and whether its code is to be COMPACT: loops, where copies of
// their bodies take fewer cycles, for a kernel that has so much other code that it waits for instructions.
#pragma once
#include "hopper.cuh"
#include "dqn.cuh"

static constexpr int GROUPS = DQN_GROUPS;            // warpgroups that compute; one more loads
static constexpr int ROLES = DQN_ROLES;              // blocks of a cluster that share a tile's passes
static_assert(ROLES == 1 || GROUPS == 1, "a tile of its own is what roles share");
static constexpr int THREADS = 128 * GROUPS + (GROUPS == 1 ? 32 : 128);
static constexpr int STAGE_BYTES = 2 * BLOCK_BYTES;
static constexpr int CHUNKS = TRUNK1 / 64;           // of the first layer's outputs
static constexpr int X_BLOCKS = INPUTS / 64, TRUNK_BLOCKS = TRUNK2 / 64, STREAM_BLOCKS = STREAM / 64;
static constexpr int HALVES = TRUNK2 / 128;
static constexpr int X_STAGES = (X_BLOCKS + 1) / 2;
static constexpr int STREAM_STAGES = STREAM == 128 ? TRUNK_BLOCKS : TRUNK_BLOCKS / 2;

static constexpr int round_up(int x, int to) { return (x + to - 1) / to * to; }
static constexpr int WARP_ATOMS = 2 * PACKS * 128, BRANCH_ATOMS = 4 * WARP_ATOMS;  // a branch's distributions in BF16
static constexpr int MASK_WORDS = LEARNS ? CHUNKS + TRUNK_BLOCKS + STREAMS * STREAM_BLOCKS : 0;  // which activations are positive
// With one group x and x' have memory of their own and come early; with two that learn they lie where the trunk's output goes.
static constexpr bool EARLY_X = GROUPS == 1 || !LEARNS;
static constexpr int OF_TRUNK = EARLY_X ? (LEARNS ? 2 : 1) * X_BLOCKS * BLOCK_BYTES : 0;
static constexpr int OF_BUFFER = OF_TRUNK + (TRUNK_BLOCKS > X_BLOCKS || EARLY_X ? TRUNK_BLOCKS : X_BLOCKS) * BLOCK_BYTES;
static constexpr int OF_ATOMS = OF_BUFFER + (LEARNS ? 2 : 0) * BLOCK_BYTES;
static constexpr int ATOMS_BYTES = !LEARNS ? 0 : BRANCHES * BRANCH_ATOMS > STREAM * 128 ? BRANCHES * BRANCH_ATOMS : STREAM * 128;
static constexpr int OF_MASKS = round_up(OF_ATOMS + ATOMS_BYTES, 1024);
// Distributions that blocks of a cluster set aside, in F32, while they wait for one another: the taken actions' of all branches
// but the last where one learns, the first actions' where one makes targets. In the place of x, which is done with by then, if
// those of the former fit there.
static constexpr int TAKEN_BYTES = 16 * PACKS * 128, ALL_TAKEN_BYTES = ROLES > 1 ? (BRANCHES - 1) * TAKEN_BYTES : 0;
static constexpr bool TAKEN_IN_X = ALL_TAKEN_BYTES <= 2 * X_BLOCKS * BLOCK_BYTES;
static constexpr int ASIDE = ROLES == 1 ? 0 : TAKEN_IN_X ? 2 * X_BLOCKS * BLOCK_BYTES / TAKEN_BYTES : BRANCHES - 1;  // that fit
static constexpr int OF_TAKEN = TAKEN_IN_X ? 0 : OF_MASKS + MASK_WORDS * 512;
static constexpr int GROUP_BYTES = round_up(OF_MASKS + MASK_WORDS * 512 + (TAKEN_IN_X ? 0 : ALL_TAKEN_BYTES), 1024);
static constexpr int NETS = LEARNS ? 2 : 1;  // whose biases are kept
static constexpr int CHOICE_BYTES = ROLES > 1 ? 1024 : 0;  // of both rows of each thread, or which are beyond
static constexpr int MOST_STAGES = 8, BARRIER_BYTES = round_up(8 * (2 * MOST_STAGES + 2 * GROUPS + 2), 64);
// Of all biases of a net, each of so many bytes, and the means over units in F32.
FN constexpr int bias_bytes(int each) { return round_up(each * (TRUNK1 + TRUNK2 + STREAMS * STREAM + UNITS * UNIT), 16) + 4 * BRANCHES * UNIT; }
FN constexpr int stages_beside(int biases) {
  const int fit = (227 * 1024 - GROUPS * GROUP_BYTES - NETS * biases - BARRIER_BYTES - CHOICE_BYTES - OWN_BYTES) / STAGE_BYTES;
  return fit < MOST_STAGES ? fit : MOST_STAGES;
}
// In F32 biases need not be unpacked: so they are where it costs no stage.
static constexpr int BIAS = stages_beside(bias_bytes(4)) == stages_beside(bias_bytes(2)) ? 4 : 2;
static constexpr int BIAS1 = 0, BIAS2 = BIAS * TRUNK1, BIAS3 = BIAS2 + BIAS * TRUNK2, BIAS_HEAD = BIAS3 + BIAS * STREAMS * STREAM;
static constexpr int BIAS_BYTES = bias_bytes(BIAS), BIAS_MEAN = BIAS_BYTES - 4 * BRANCHES * UNIT, STAGES = stages_beside(BIAS_BYTES);
static_assert(STAGES >= 3, "three stages of weights must fit");
static constexpr int OF_GROUPS = STAGES * STAGE_BYTES, OF_BIAS = OF_GROUPS + GROUPS * GROUP_BYTES;
static constexpr int OF_BARRIERS = OF_BIAS + NETS * BIAS_BYTES, OF_CHOICES = OF_BARRIERS + BARRIER_BYTES, OF_OWN = OF_CHOICES + CHOICE_BYTES, SHARED_BYTES = OF_OWN + OWN_BYTES;

struct NetMaps { TensorMap w1, w2, w3, head; };

// Biases 2 i and 2 i + 1 of those at `at`.
FN void put_biases(u32 at, int i, u32 x) {
  if constexpr (BIAS == 4) put_shared2(at + 8 * i, low2(x), high2(x));
  else put_shared(at + 4 * i, x);
}
FN Float2 get_biases(u32 at, int i) {
  if constexpr (BIAS == 4) return get_shared2(at + 8 * i);
  const u32 x = get_shared(at + 4 * i);
  return {low2(x), high2(x)};
}
// N biases on their way to shared memory, by the threads that compute.
template<int N> struct Vector {
  static constexpr int EACH = (N / 2 + 128 * GROUPS - 1) / (128 * GROUPS);
  u32 x[EACH];
  static METHOD int place(int e) { return threadIdx.x + e * 128 * GROUPS; }
  METHOD void ask(const real* from) { UNROLL for (int e = 0; e < EACH; ++e) x[e] = place(e) < N / 2 ? ((const u32*)from)[place(e)] : 0; }
  METHOD void put(u32 to) const { UNROLL for (int e = 0; e < EACH; ++e) if (place(e) < N / 2) put_biases(to, place(e), x[e]); }
};
// The biases of one net. All are asked for before any is waited for: one after the other took 7 us.
struct Biases {
  Vector<TRUNK1> b1;
  Vector<TRUNK2> b2;
  Vector<STREAMS * STREAM> b3;
  Vector<UNITS * UNIT> head;
  METHOD void ask(const NetBiases& b, u32 member) {
    b1.ask(b.b1.of(member));
    b2.ask(b.b2.of(member));
    b3.ask(b.b3.of(member));
    head.ask(b.head.of(member));
  }
  METHOD void put(u32 to) const {
    b1.put(to + BIAS1);
    b2.put(to + BIAS2);
    b3.put(to + BIAS3);
    head.put(to + BIAS_HEAD);
  }
};
// By the same threads: the mean over each branch's units.
FN void mean_biases(u32 at) {
#pragma unroll 1
  for (int i = threadIdx.x; i < BRANCHES * UNIT / 2; i += 128 * GROUPS) {
    const int s = 1 + 2 * i / UNIT, column = 2 * i % UNIT, n = actions_of(s);
    float low = 0.f, high = 0.f;
#pragma unroll 1
    for (int u = 0; u < n; ++u) {
      const Float2 b = get_biases(at + BIAS_HEAD, ((first_unit(s) + u) * UNIT + column) / 2);
      low = low + b.x;
      high = high + b.y;
    }
    put_shared2(at + BIAS_MEAN + 8 * i, low / (float)n, high / (float)n);
  }
}
// Both, of one net.
FN void biases_of(const NetBiases& of, u32 member, u32 to) {
  Biases biases;
  biases.ask(of, member);
  biases.put(to);
  barrier(1 + GROUPS, 128 * GROUPS);
  mean_biases(to);
  barrier(1 + GROUPS, 128 * GROUPS);
}
