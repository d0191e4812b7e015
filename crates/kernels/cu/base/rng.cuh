// Philox4x32-10 (Salmon et al. 2011) and stochastic rounding from it.
// Noise is a function of (seed, member, step, purpose, element) and never of a thread, so that launch shape, replay
// and the order of members change no bit. crates/core/src/rng.rs is the host's mirror.
#pragma once
#include "platform.cuh"

// What a draw is for: the low byte of the counter's second word. Mirrored by foxhunt_core::rng::Purpose.
enum Purpose { ROUND_WEIGHT = 0, ROUND_M = 1, ROUND_V = 2, ROUND_TARGET = 3, ROUND_LOW = 4, ROUND_TARGET_LOW = 5,
               INITIALISE = 16, SAMPLE = 17, EXPLORE = 18, EPISODE = 19, GUMBEL = 20 };

struct Words { u32 x, y, z, w; };
FN Words philox(Words ctr, u32 k0, u32 k1) {
  UNROLL for (int r = 0; r < 10; ++r) {
    const u64 p = (u64)0xD2511F53u * ctr.x, q = (u64)0xCD9E8D57u * ctr.z;
    ctr = Words{(u32)(q >> 32) ^ ctr.y ^ k0, (u32)q, (u32)(p >> 32) ^ ctr.w ^ k1, (u32)p};
    k0 += 0x9E3779B9u;
    k1 += 0xBB67AE85u;
  }
  return ctr;
}

// Four words for one element: key = the member's seed, counter = (element, tensor << 8 | purpose, step).
FN Words draw(u64 seed, u64 step, u32 tensor, u32 purpose, u32 element) {
  return philox(Words{element, tensor << 8 | purpose, (u32)step, (u32)(step >> 32)}, (u32)seed, (u32)(seed >> 32));
}

// The same where code is long and the words are few: not inlined.
CALLED Words draw_called(u64 seed, u64 step, u32 tensor, u32 purpose, u32 element) { return draw(seed, step, tensor, purpose, element); }

// An integer below n, from 32 bits (Lemire 2019, without rejection: bias below n / 2^32).
FN u32 below(u32 word, u32 n) { return (u32)((u64)word * n >> 32); }

// Eight 16-bit draws, for the elements 8 * pack .. 8 * pack + 7 of a tensor.
FN U8 draw16(u64 seed, u64 step, u32 tensor, u32 purpose, u32 pack) {
  const Words o = draw(seed, step, tensor, purpose, pack);
  U8 r;
  put(r, 0, o.x & 0xffff); put(r, 1, o.x >> 16); put(r, 2, o.y & 0xffff); put(r, 3, o.y >> 16);
  put(r, 4, o.z & 0xffff); put(r, 5, o.z >> 16); put(r, 6, o.w & 0xffff); put(r, 7, o.w >> 16);
  return r;
}

// F32 to BF16 with 16 random bits: up with probability (the 16 bits dropped) / 65536, exactly.
// NaN becomes 7fff (unguarded, the GPU's own NaN would become -0), Inf stays, a finite value never becomes Inf.
FN U8 round_stochastic(F8 x, U8 noise) {
  const U8 u = bits(x), zero = u & 0u;
  U8 y = (u + noise) >> 16;
  y = y - select((y & 0x7fffu) == zero + 0x7f80u, zero + 1u, zero);
  y = select((u & 0x7f800000u) == zero + 0x7f800000u, u >> 16, y);
  return select(x == x, y, zero + 0x7fffu);
}
FN void store8_stochastic(bf16* p, F8 x, U8 noise) {
  const F8 size = from_bits(bits(x) & 0x7fffffffu);
  // Below the largest finite BF16 nothing needs guarding, and it is nearly always so.
  if (all(size < bit_cast<float>(0x7f7f0000u))) store8_upper(p, bits(x) + noise);
  else store8_bits(p, round_stochastic(x, noise));
}
FN void store8_stochastic(f32* p, F8 x, U8) { store8(p, x); }

// A pair, two numbers whose sum is the value: high is x to nearest, low the remainder, exact in F32 until it is
// stored. Where no pair holds x, high stands alone: NaN and infinities, and what rounds beyond the largest finite
// BF16, which saturates there.
struct Pair8 { F8 high, low; };
FN Pair8 split(const real* like, F8 x) {
  const F8 size = from_bits(bits(x) & 0x7fffffffu), nearest = rounded8(like, x);
  const F8 most = from_bits((bits(x) & 0x80000000u) | 0x7f7f0000u), zero = constant<F8>(0.f);
  const M8 held = size < bit_cast<float>(0x7f7f8000u);
  return Pair8{select(held, nearest, select(size < INFINITY_F32, most, nearest)), select(held, x - nearest, zero)};
}
