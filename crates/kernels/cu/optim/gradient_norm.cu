// The squared norm of a net's gradient image, as one fixed-point number (2^-32) per run of packs: integers, so that
// their sum has no order. A run with a NaN or an infinity gives the largest u64, and the step that reads it is skipped
// (a float-to-integer conversion of NaN would be a silent 0). A run is summed in F32 over 256 lanes.
#include "platform.cuh"
#include "reduce.cuh"
#include "optimiser.cuh"

struct NormArgs { Members<const real> g; Members<u64> partial; i32 packs, per_team; };
KERNEL(gradient_norm, NormArgs, None, 256, 256, 1) {
  const int base = t.index * a.per_team, left = a.packs - base, n = left < a.per_team ? left : a.per_team;
  const real* const g = a.g.of(t.member) + 8 * (i64)base;
  float total = 0.f;
  for (int first = 0; first < n; first += NORM_CHUNK) {
    const int here = n - first < NORM_CHUNK ? n - first : NORM_CHUNK;
    total = total + sum<NORM_CHUNK>(t, here, [&](int i, Slot) {
      const F8 x = load8(g + 8 * (i64)(first + i));
      return x * x;
    });
  }
  t.each(1, [&](int) { a.partial.of(t.member)[t.index] = to_fixed_q32(total); });
}
