// gpu: sm_80+
// What a row's threads do with its distributions, four threads a row as in `Exponentials`: the target's projection, the loss.
#pragma once
#include "dqn.cuh"
#include "outcome.cuh"

// Of the mean of the atoms' numbers, Q up to the support, which keeps its order, this thread's part, and times x.sum.
FN float index_sum_apart(const Exponentials& x, int quad) {
  float s = 0.f;
  UNROLL for (int i = 0; i < PACKS; ++i)
    UNROLL for (int c = 0; c < 2; ++c) s = fma_(x.e[2 * i + c], (float)(8 * i + c + 2 * quad), s);
  return s;
}
FN float mean_index(const Exponentials& x, int quad) { return sum4(index_sum_apart(x, quad)) / x.sum; }

// Where r + discount z of atom j lies on the support: start + gamma j, in atoms.
struct Shift {
  float gamma, start;
  // Whether the mean of a distribution lands beyond the support.
  METHOD bool leaves(const Exponentials& x, int quad) const {
    const float mean = fma_(gamma, mean_index(x, quad), start);
    return mean < 0.f || mean > (float)(ATOMS - 1);
  }
  // Adds a distribution to the sums of a row, 2^-24 each. Sums are of integers, in any order.
  METHOD void scatter(const Exponentials& x, int quad, u32 sums) const {
    const float unit = 16777216.f / x.sum;
    UNROLL for (int i = 0; i < PACKS; ++i)
      UNROLL for (int c = 0; c < 2; ++c) {
        if (!is_atom(i, c, quad)) continue;
        float b = fma_(gamma, (float)(8 * i + c + 2 * quad), start);
        b = min_(max_(b, 0.f), (float)(ATOMS - 1));
        const int below = min((int)b, ATOMS - 2);
        const float p = x.e[2 * i + c] * unit;
        const int whole = nearest_int(p), upper = nearest_int(p * (b - (float)below));
        add_shared(sums + 4 * below, whole - upper);
        add_shared(sums + 4 * below + 4, upper);
      }
  }
};
FN Shift shift_of(const Outcome& o, float v_min, float inv_dz) {
  const float r = (float)o.return_q20 * 9.5367431640625e-7f, gamma = (float)o.discount_q31 * 4.656612873077393e-10f;
  return {gamma, (r - v_min + gamma * v_min) * inv_dz};
}
// A sum of 2^-24 as a share of 2^-16. BF16 would be coarser where it counts: g is the small difference of two
// distributions, and the rounding of 0.02 to BF16 was seen as 6 % noise in the gradient of a row.
FN u32 to_share(u32 sum) { return min((sum + 128) >> 8, 65535u); }

// The loss of the taken action's l of a row, its first in `l`, against shares m of its target; and what the gradient needs.
struct RowLoss { float loss, inv_mass, inv_sum; };
FN RowLoss row_loss(const Exponentials& x, const Atoms& l, const float (&m)[2 * PACKS], int quad) {
  float mass = 0.f, cross = 0.f;
  const float log_sum = x.top + log2_fast(x.sum) * 0.693147181f;
  UNROLL for (int i = 0; i < PACKS; ++i)
    UNROLL for (int c = 0; c < 2; ++c) {
      mass = mass + m[2 * i + c];
      if (is_atom(i, c, quad)) cross = fma_(m[2 * i + c], log_sum - l[4 * i + c], cross);
    }
  const float inv_mass = 1.f / sum4(mass);
  return {sum4(cross) * inv_mass, inv_mass, 1.f / x.sum};
}

// Losses of a warp's rows on their way to a member's total.
struct LossCount {
  u64 sum;
  u32 rows;  // a byte each: good, bad, beyond the support
  METHOD void add(float x, bool beyond) {
    if (x < 1e6f) sum += (u64)(x * 4294967296.f), rows += 1u + (beyond ? 1u << 16 : 0u);
    else rows += 1u << 8;
  }
  // By all lanes of the warp, at most 255 rows.
  METHOD void total(LossTotal* t, int lane) {
#pragma unroll 1
    for (int lanes = 16; lanes; lanes /= 2) {
      sum += __shfl_xor_sync(0xffffffffu, sum, lanes);
      rows += __shfl_xor_sync(0xffffffffu, rows, lanes);
    }
    if (lane != 0) return;
    atomic_add(&t->loss_q32, sum);
    atomic_add(&t->rows, (u64)(rows & 255));
    if (rows >> 8 & 255) atomic_add(&t->bad, (u64)(rows >> 8 & 255));
    if (rows >> 16) atomic_add(&t->edge, (u64)(rows >> 16));
  }
};
