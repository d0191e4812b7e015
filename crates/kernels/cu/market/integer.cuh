// Exact integer arithmetic of money: products in 128 bits, divisions that say which way they round, a square root.
// No float: a cent is never created or lost, and both targets give the same number by construction.
// On a GPU 128-bit integers need --device-int128; division in 64 bits is twice as fast there, hence the two paths.
#pragma once
#include "platform.cuh"

typedef __int128 i128;
typedef unsigned __int128 u128;

enum Round { DOWN, UP };  // towards -infinity, towards +infinity
static constexpr i64 I64_MAX = 0x7fffffffffffffff;
static constexpr i64 ONE_E7 = 10000000;

FN i64 smaller(i64 a, i64 b) { return a < b ? a : b; }
FN i64 larger(i64 a, i64 b) { return a < b ? b : a; }
FN i64 clamped(i64 x, i64 lo, i64 hi) { return smaller(larger(x, lo), hi); }
FN u64 magnitude(i64 x) { return x < 0 ? 0ull - (u64)x : (u64)x; }
FN i64 absolute(i64 x) { return x < 0 ? -x : x; }
FN i64 with_sign(i64 x, bool negative) { return negative ? -x : x; }

// The quotient q of magnitudes, with its sign, rounded as asked if there is a rest; saturates at +-(2^63 - 1).
FN i64 rounded_quotient(u64 q, bool rest, bool negative, Round round) {
  if (rest && (round == UP) != negative) ++q;
  if (q > (u64)I64_MAX) q = (u64)I64_MAX;
  return with_sign((i64)q, negative);
}
// a * b / c for c > 0, rounded as asked; saturates at +-(2^63 - 1).
CALLED i64 mul_div(i64 a, i64 b, i64 c, Round round) {
  const u64 x = magnitude(a), y = magnitude(b), d = (u64)c;
  const bool negative = (a < 0) != (b < 0);
  u64 q;
  bool rest;
  if (mul_high(x, y) == 0) {
    const u64 p = x * y;
    q = (p | d) >> 32 ? p / d : (u32)p / (u32)d;
    rest = p != q * d;
  } else {
    const u128 p = (u128)x * y, w = p / d;
    rest = p != w * d;
    q = w >> 63 ? (u64)I64_MAX : (u64)w;
  }
  return rounded_quotient(q, rest, negative, round);
}
// The same by a constant, which needs no division where the product fits into 64 bits.
template<i64 C> FN i64 mul_div_by(i64 a, i64 b, Round round) {
  const u64 x = magnitude(a), y = magnitude(b), p = x * y, q = p / (u64)C;
  if (mul_high(x, y) != 0) return mul_div(a, b, C, round);
  return rounded_quotient(q, p != q * (u64)C, (a < 0) != (b < 0), round);
}

// a / b for b > 0.
FN i64 div_down(i64 a, i64 b) { return a / b - (a % b < 0); }
FN i64 div_up(i64 a, i64 b) { return a / b + (a % b > 0); }

// ceil(sqrt(n)): the smallest r with r * r >= n. One binary digit of the root at a time, from the highest that n has.
FN u64 isqrt_up(u64 n) {
  u64 rest = n, root = 0;
  for (u64 bit = n ? 1ull << ((63 - leading_zeros(n)) & ~1) : 0; bit; bit >>= 2) {
    const u64 trial = root + bit;
    root >>= 1;
    if (rest >= trial) {
      rest -= trial;
      root += bit;
    }
  }
  return root + (rest != 0);
}
