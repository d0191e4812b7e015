// Minus the mean of the units of each branch, of a net and of its target, as a high and a low word: the fused forward pass
// adds it as two more units, so that V - mean(A) is in F32 before any action's logits are.
// Shapes: w, target [units * unit_ld, H]; mean [2 * D * 2 * unit_ld, H]: net, branch, word. Overwrites mean.
// One pack an item; the sum over units is in order.
#include "platform.cuh"

struct MeanArgs {
  Members<const real> w, target;
  Members<real> mean;
  i32 branches, unit_packs, actions[4];  // packs of a unit's weights
};
KERNEL(dqn_mean, MeanArgs, None, 256, 256, 1) {
  let_next_begin();
  const int packs = 2 * a.branches * a.unit_packs, base = (int)t.index * 256, left = packs - base;
  t.each(left < 256 ? left : 256, [&](int j) {
    const int i = base + j, pack = i % a.unit_packs, branch = i / a.unit_packs % a.branches, net = i / (a.unit_packs * a.branches);
    int unit = 1;
    for (int d = 0; d < branch; ++d) unit += a.actions[d];
    const int n = a.actions[branch];
    const real* const w = (net ? a.target : a.w).of(t.member) + 8 * ((i64)unit * a.unit_packs + pack);
    F8 s = load8(w);
    for (int k = 1; k < n; k += 4) {  // so many are asked for before any is waited for
      Early8 x[4];
      UNROLL for (int e = 0; e < 4; ++e) if (k + e < n) x[e] = early8(w + 8 * (i64)(k + e) * a.unit_packs);
      UNROLL for (int e = 0; e < 4; ++e) if (k + e < n) s = s + load8(x[e]);
    }
    s = s * (-1.f / (float)n);
    real* const to = a.mean.of(t.member) + 8 * ((i64)(net * a.branches + branch) * 2 * a.unit_packs + pack);
    const F8 high = rounded8(to, s);
    store8(to, high);
    store8(to + 8 * (i64)a.unit_packs, s - high);
  });
}
