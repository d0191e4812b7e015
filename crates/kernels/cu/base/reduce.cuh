// Sums and maxima over a fixed number of lanes, so that block size and the number of threads change no bit.
// An item is a pack of eight elements: folded by strides 4, 2, 1, then added by lane (item mod LANES) in order of
// item. Lanes fold by strides 16, 8, 4, 2, 1 within 32 (4, 2, 1 for 8 lanes), groups of 32 by 4, 2, 1.
// What is absent is the identity: -0 for a sum, -Inf for a maximum; a maximum orders its operands by lane.
#pragma once
#include "platform.cuh"

struct Add {
  static constexpr bool SKIPS = true;  // x + -0 is x, so absent levels may be left out
  static constexpr float IDENTITY = -0.f;
  template<class F> FN F of(F a, F b) { return a + b; }
};
struct Max {
  static constexpr bool SKIPS = false;  // leaving a level out would lose a NaN
  static constexpr float IDENTITY = -INFINITY_F32;
  template<class F> FN F of(F a, F b) { return select(a > b, a, b); }
};

template<class Op> FN float fold8(F8 x) {
#if ON_GPU
  const float y0 = Op::of(x.v[0], x.v[4]), y1 = Op::of(x.v[1], x.v[5]);
  const float y2 = Op::of(x.v[2], x.v[6]), y3 = Op::of(x.v[3], x.v[7]);
  return Op::of(Op::of(y0, y2), Op::of(y1, y3));
#else
  union { F8 f; F4 h[2]; } u = {x};
  F4 y = Op::of(u.h[0], u.h[1]), z = Op::of(y, __builtin_shuffle(y, (I4){2, 3, 2, 3}));
  return Op::of(z[0], z[1]);
#endif
}

#if ON_GPU
template<class Op, class Tm> FN float fold_warp(float v) {
  constexpr int GROUP = Tm::LANES < 32 ? Tm::LANES : 32;
  const u32 mask = GROUP == 32 ? 0xffffffffu : ((1u << (GROUP & 31)) - 1) << (threadIdx.x & 31 & ~(GROUP - 1));
  UNROLL for (int o = GROUP / 2; o; o >>= 1) {
    const float w = __shfl_xor_sync(mask, v, o);
    if constexpr (Op::SKIPS) v = v + w;  // addition commutes, bit for bit
    else {
      const bool upper = threadIdx.x & o;
      v = Op::of(upper ? w : v, upper ? v : w);
    }
  }
  return v;
}
#else
// Four packs at once: the same additions as fold8, in vectors.
template<class Op> FN F4 fold8x4(const F8 (&x)[4]) {
  F4 y[4];
  for (int i = 0; i < 4; ++i) {
    union { F8 f; F4 h[2]; } u = {x[i]};
    y[i] = Op::of(u.h[0], u.h[1]);
  }
  F4 p = Op::of(__builtin_shuffle(y[0], y[1], (I4){0, 1, 4, 5}), __builtin_shuffle(y[0], y[1], (I4){2, 3, 6, 7}));
  F4 q = Op::of(__builtin_shuffle(y[2], y[3], (I4){0, 1, 4, 5}), __builtin_shuffle(y[2], y[3], (I4){2, 3, 6, 7}));
  return Op::of(__builtin_shuffle(p, q, (I4){0, 2, 4, 6}), __builtin_shuffle(p, q, (I4){1, 3, 5, 7}));
}
#endif

// out[k] = the reduction, over the items i of 0..n, of the k-th pack that f(i, slot, packs) gives. N bounds n.
// Every thread of the team gets the result.
template<class Op, int N, int K, class Tm, class F> FN void reduce(Tm& t, int n, float (&out)[K], F f) {
#if ON_GPU
  constexpr int TH = Tm::THREADS, ROUNDS = Tm::LANES / TH, SLOTS = (N + TH - 1) / TH;
  float acc[K][ROUNDS];
  UNROLL for (int k = 0; k < K; ++k) UNROLL for (int r = 0; r < ROUNDS; ++r) acc[k][r] = Op::IDENTITY;
  UNROLL for (int s = 0; s < SLOTS; ++s) {
    const int i = s * TH + t.thread;
    if (i < n) {
      F8 v[K];
      f(i, Slot{s}, v);
      UNROLL for (int k = 0; k < K; ++k) acc[k][s % ROUNDS] = Op::of(acc[k][s % ROUNDS], fold8<Op>(v[k]));
    }
  }
  if constexpr (Tm::LANES <= 32) {
    static_assert(TH == Tm::LANES, "up to 32 lanes, a team has as many threads as lanes");
    UNROLL for (int k = 0; k < K; ++k) out[k] = fold_warp<Op, Tm>(acc[k][0]);
  } else {
    static_assert(TH % 32 == 0, "256 lanes take whole warps");
    float p[K][ROUNDS];
    UNROLL for (int k = 0; k < K; ++k) UNROLL for (int r = 0; r < ROUNDS; ++r) p[k][r] = fold_warp<Op, Tm>(acc[k][r]);
    if constexpr (TH == 32) {
      UNROLL for (int k = 0; k < K; ++k) {
        F8 g;
        UNROLL for (int r = 0; r < 8; ++r) g.v[r] = p[k][r];
        out[k] = fold8<Op>(g);
      }
    } else {
      __shared__ alignas(16) float part[2][Tm::TEAMS][K][8];
      const int warp = t.thread / 32;  // round r of warp w holds lane group w + r * (TH / 32)
      if ((t.thread & 31) == 0)
        UNROLL for (int k = 0; k < K; ++k)
          UNROLL for (int r = 0; r < ROUNDS; ++r) part[t.phase][t.which][k][warp + r * (TH / 32)] = p[k][r];
      t.sync();
      UNROLL for (int k = 0; k < K; ++k) {
        F8 g;
        UNROLL for (int r = 0; r < 8; ++r) g.v[r] = part[t.phase][t.which][k][r];
        out[k] = fold8<Op>(g);
      }
      t.phase ^= 1;  // two scratch buffers: one barrier a reduction
    }
  }
#else
  constexpr int L = Tm::LANES, GROUP = L < 32 ? L : 32;
  union { float r[L]; F4 h[L / 4]; F8 v[L / 8]; } acc[K];
  const int lanes = n < L ? n : L;
  int i = 0;
  for (; i + 4 <= n; i += 4) {  // four neighbouring lanes
    F8 v[K][4];
    for (int e = 0; e < 4; ++e) {
      F8 w[K];
      f(i + e, Slot{i + e}, w);
      for (int k = 0; k < K; ++k) v[k][e] = w[k];
    }
    const int l = i % L / 4;
    for (int k = 0; k < K; ++k) {
      const F4 s = fold8x4<Op>(v[k]);
      acc[k].h[l] = N <= L || i < L ? s : Op::of(acc[k].h[l], s);
    }
  }
  for (; i < n; ++i) {
    F8 w[K];
    f(i, Slot{i}, w);
    for (int k = 0; k < K; ++k) {
      const float s = fold8<Op>(w[k]);
      acc[k].r[i % L] = N <= L || i < L ? s : Op::of(acc[k].r[i % L], s);
    }
  }
  for (int k = 0; k < K; ++k) {
    auto& u = acc[k];
    F8 g = constant<F8>(Op::IDENTITY);
    for (int b = 0; b < lanes; b += GROUP) {
      const int here = lanes - b < GROUP ? lanes - b : GROUP, packs = (here + 7) / 8;
      F8 q[4];
      for (int j = 0; j < 4; ++j) q[j] = constant<F8>(Op::IDENTITY);
      for (int l = here; l < 8 * packs; ++l) u.r[b + l] = Op::IDENTITY;
      for (int j = 0; j < packs; ++j) q[j] = u.v[b / 8 + j];
      F8 x = q[0];
      if constexpr (GROUP == 32)
        if (packs > 1 || !Op::SKIPS) x = Op::of(Op::of(q[0], q[2]), Op::of(q[1], q[3]));
      put(g, b / GROUP, fold8<Op>(x));
    }
    out[k] = L > 32 && (lanes > 32 || !Op::SKIPS) ? fold8<Op>(g) : at(g, 0);
  }
#endif
}
template<int N, class Tm, class F> FN float sum(Tm& t, int n, F f) {
  float r[1];
  reduce<Add, N>(t, n, r, [&](int i, Slot s, F8 (&v)[1]) { v[0] = f(i, s); });
  return r[0];
}
template<int N, class Tm, class F> FN float maximum(Tm& t, int n, F f) {
  float r[1];
  reduce<Max, N>(t, n, r, [&](int i, Slot s, F8 (&v)[1]) { v[0] = f(i, s); });
  return r[0];
}

// Pack i of a row of n elements, with what lies beyond the row replaced by `fill`: padding is never trusted.
FN F8 keep(F8 x, int i, int n, float fill) {
  const int left = n - 8 * i;
  if (left < 8) x = select(first(left), x, constant<F8>(fill));
  return x;
}
