// The on-chip part of a branching dueling C51 head (rl.md 1 to 3; Bellemare et al. 2017, Tavakoli et al. 2018), for a
// team's 16 rows. However the logits of V and of a branch's actions got into shared memory, this turns them into
//   l[a, i] = V[i] + A[a, i] - mean over actions of A[., i]          dueling, per atom
//   Q[a]    = sum over i of softmax(l[a])_i z_i                       z_i = v_min + i dz
//   m_i     = sum over j of p_j clip(1 - |b_j - i|, 0, 1)             projection of r + gamma_eff z, clipped
//   loss    = - sum over i of m_i log_softmax(l[a])_i,   gradient     softmax(l[a]) - m
// all in F32: Q from logits rounded to BF16 would be off by 0.03, and a 5 bp cost is worth 0.009 there.
// HEAD_ACTIONS bounds the actions of a branch, HEAD_PACKS the packs of atoms, HEAD_BRANCHES the branches.
#pragma once
#include "platform.cuh"
#include "reduce.cuh"
#include "math.cuh"
#include "product.cuh"

#ifndef HEAD_ACTIONS
#define HEAD_ACTIONS 16
#endif
#ifndef HEAD_PACKS
#define HEAD_PACKS 8
#endif
static constexpr int ROWS = PRODUCT_ROWS, MAX_ACTIONS = HEAD_ACTIONS, MAX_PACKS = HEAD_PACKS, MAX_BRANCHES = 4;

// Shape and support. A unit is one distribution: V, then the actions of branch 0, of branch 1, …; `unit_ld` columns
// of the logits each (atoms padded to whole packs).
struct Head {
  i32 branches, atoms, unit_ld, units;
  i32 actions[MAX_BRANCHES];
  float v_min, dz, inv_dz, reserved;
};

struct HeadShared {
  F8 value[ROWS][MAX_PACKS];                    // V's logits
  F8 logits[MAX_ACTIONS][ROWS][MAX_PACKS];      // A's logits of one branch, then l
  F8 target[MAX_BRANCHES][ROWS][MAX_PACKS];     // m
  F8 pmf[ROWS][MAX_PACKS];                      // exp(l - top) of one distribution a row
  F8 cross[ROWS][MAX_PACKS];                    // terms of its cross-entropy
  F8 gradient[ROWS][MAX_PACKS];                 // g of one branch
  F8 value_gradient[ROWS][MAX_PACKS];           // sum of g over branches
  F8 q[ROWS][MAX_ACTIONS / 8 + 1];
  i32 best[MAX_BRANCHES][ROWS];
  i32 beyond[ROWS];                             // whether a branch's target return is beyond the support
  F8 row_loss[ROWS / 8];
};

FN int packs_of(const Head& h) { return (h.atoms + 7) / 8; }

// l in place of A's logits. Ends with a barrier.
template<class Tm> FN void combine(Tm& t, const Head& h, HeadShared& m, int actions) {
  const int packs = packs_of(h);
  const float inv = 1.f / (float)actions;
  t.sync();
  t.each(ROWS * packs, [&](int j) {
    const int row = j / packs, i = j % packs;
    F8 s = m.logits[0][row][i];
    for (int k = 1; k < actions; ++k) s = s + m.logits[k][row][i];
    const F8 shift = m.value[row][i] - s * inv;
    for (int k = 0; k < actions; ++k) m.logits[k][row][i] = m.logits[k][row][i] + shift;
  });
  t.sync();
}

// Largest of the logits of one distribution.
FN float top_of(const Head& h, const F8 (&l)[MAX_PACKS]) {
  const int packs = packs_of(h);
  F8 top = keep(l[0], 0, h.atoms, -INFINITY_F32);
  for (int i = 1; i < packs; ++i) top = Max::of(top, keep(l[i], i, h.atoms, -INFINITY_F32));
  return fold8<Max>(top);
}
FN float total_of(const Head& h, const F8 (&x)[MAX_PACKS]) {
  F8 s = x[0];
  for (int i = 1; i < packs_of(h); ++i) s = s + x[i];
  return fold8<Add>(s);
}
// m.pmf[row] = exp(l - top) of the distribution that pick(row) names. Ends with a barrier.
template<class Tm, class Pick> FN void exponentials(Tm& t, const Head& h, HeadShared& m, Pick pick) {
  const int packs = packs_of(h);
  t.each(ROWS * packs, [&](int j) {
    const int row = j / packs, i = j % packs;
    const F8 (&l)[MAX_PACKS] = m.logits[pick(row)][row];
    m.pmf[row][i] = keep(exp_(l[i] - top_of(h, l)), i, h.atoms, 0.f);
  });
  t.sync();
}
FN F8 support(const Head& h, int pack) {
  F8 index;
  EACH8 put(index, k, (float)(8 * pack + k));
  return index * h.dz + h.v_min;
}

// Q of every action of the branch from l, into m.q. Ends with a barrier.
template<class Tm> FN void action_values(Tm& t, const Head& h, HeadShared& m, int actions) {
  const int packs = packs_of(h);
  t.each(ROWS * actions, [&](int j) {
    const int row = j % ROWS, k = j / ROWS;
    const F8 (&l)[MAX_PACKS] = m.logits[k][row];
    const float top = top_of(h, l);
    F8 z = constant<F8>(0.f), s = constant<F8>(0.f);
    for (int i = 0; i < packs; ++i) {
      const F8 e = keep(exp_(l[i] - top), i, h.atoms, 0.f);
      z = z + e;
      s = s + e * support(h, i);
    }
    put(m.q[row][k / 8], k % 8, fold8<Add>(s) / fold8<Add>(z));
  });
  t.sync();
}

// The action with the largest Q, ties to the lowest index. Ends with a barrier.
template<class Tm> FN void choose(Tm& t, HeadShared& m, int branch, int actions) {
  t.each(ROWS, [&](int row) {
    float top = at(m.q[row][0], 0);
    int best = 0;
    for (int k = 1; k < actions; ++k) {
      const float q = at(m.q[row][k / 8], k % 8);
      if (q > top) { top = q; best = k; }
    }
    m.best[branch][row] = best;
  });
  t.sync();
}

// m.target[branch] = projection of the distribution of action m.best[branch] through r + discount z. reward(row) and
// discount(row) are in units of the support. m.beyond: whether r + discount Q, the mean before any of it is clipped, lies
// outside [v_min, v_max] for this branch or for one before it, from branch 0 on. Mass beyond the edge alone is no sign of
// a support too narrow: a distribution that nobody has trained is spread over all of it. Ends with a barrier.
template<class Tm, class Reward, class Discount>
FN void project(Tm& t, const Head& h, HeadShared& m, int branch, Reward reward, Discount discount) {
  const int packs = packs_of(h);
  exponentials(t, h, m, [&](int row) { return m.best[branch][row]; });
  t.each(ROWS * packs, [&](int j) {
    const int row = j / packs, i = j % packs;
    const float r = reward(row), g = discount(row), last = (float)(h.atoms - 1);
    const float inv_z = 1.f / total_of(h, m.pmf[row]);
    F8 index, s = constant<F8>(0.f), place = constant<F8>(0.f);
    EACH8 put(index, k, (float)(8 * i + k));
    for (int source = 0; source < packs; ++source) {
      F8 b = (fma_(support(h, source), constant<F8>(g), constant<F8>(r)) - h.v_min) * h.inv_dz;
      const F8 p = m.pmf[row][source];  // not normalised; 0 beyond the atoms
      place = fma_(b, p, place);
      b = select(b < 0.f, constant<F8>(0.f), select(b > last, constant<F8>(last), b));
      EACH8 {
        const F8 d = 1.f - abs_(index - at(b, k));
        s = fma_(select(d < 0.f, constant<F8>(0.f), d), constant<F8>(at(p, k)), s);
      }
    }
    m.target[branch][row][i] = keep(s * inv_z, i, h.atoms, 0.f);
    if (i == 0) {
      const float mean = fold8<Add>(place) * inv_z;
      m.beyond[row] = (branch > 0 && m.beyond[row]) || mean < 0.f || mean > last;
    }
  });
  t.sync();
}

// Every branch gets the mean of the branches' targets (their mixture). Ends with a barrier.
template<class Tm> FN void mix_targets(Tm& t, const Head& h, HeadShared& m) {
  const int packs = packs_of(h);
  const float inv = 1.f / (float)h.branches;
  t.each(ROWS * packs, [&](int j) {
    const int row = j / packs, i = j % packs;
    F8 s = m.target[0][row][i];
    for (int d = 1; d < h.branches; ++d) s = s + m.target[d][row][i];
    s = s * inv;
    for (int d = 0; d < h.branches; ++d) m.target[d][row][i] = s;
  });
  t.sync();
}
