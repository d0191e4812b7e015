// exp, log, log1p, tanh, sigmoid, sin and cos from F32 multiply, add, divide, fma_ and integer operations: the same
// bits on every target. F is float or F8. Errors against F64, over all F32 inputs of the range: exp 0.86 ulp,
// log 0.85, log1p 1.4, tanh 1.5, sigmoid 2.3, sincos 2.4; inverse_sqrt 2.9, reciprocal 0.51.
// Method: argument reduction and minimax polynomials as in Cody and Waite 1980, and Muller, "Elementary Functions".
#pragma once
#include "platform.cuh"

template<class F> FN F fmac(F a, F b, float x) { return fma_(a, b, constant<F>(x)); }
FN float abs_(float x) { return from_bits(bits(x) & 0x7fffffffu); }
FN F8 abs_(F8 x) { return from_bits(bits(x) & 0x7fffffffu); }
template<class F> FN F nan_() { return from_bits(splat(Type<decltype(bits(F()))>(), 0x7fffffffu)); }
template<class F> FN F inf_() { return from_bits(splat(Type<decltype(bits(F()))>(), 0x7f800000u)); }

// x / y for 0 < y < infinity, bit for bit. A GPU takes 200 instructions to divide 0, and much of what is divided is 0; the
// compiler would find out that the quotient is not needed then, and divide x.
FN float ratio(float x, float y) {
  const float q = opaque(x == 0.f ? 1.f : x) / y;
  return x == 0.f ? x : q;
}

template<class F> FN F exp_(F a) {
  F magic = constant<F>(12582912.f);
  F j = fma_(constant<F>(1.442695f), a, magic);
  auto i = bits(j) << 23;
  auto big = j > magic;
  j = j - magic;
  F f = fma_(j, constant<F>(-6.93145752e-1f), a);
  f = fma_(j, constant<F>(-1.42860677e-6f), f);
  F r = fmac(constant<F>(1.37805939e-3f), f, 8.37312452e-3f);
  r = fmac(r, f, 4.16695364e-2f);
  r = fmac(r, f, 1.66664720e-1f);
  r = fmac(r, f, 4.99999851e-1f);
  r = fmac(r, f, 1.f);
  r = fmac(r, f, 1.f);
  auto z = i & 0u, ia = select(big, z, z + 0x83000000u);
  r = r * from_bits(ia + 0x7f000000u) * from_bits(i - ia);
  r = select(abs_(a) >= constant<F>(104.f), select(a < constant<F>(0.f), constant<F>(0.f), inf_<F>()), r);
  return r;
}
template<class F> FN F log_(F a) {
  auto tiny = a < constant<F>(1.17549435e-38f);
  F x = select(tiny, a * constant<F>(8388608.f), a), k = select(tiny, constant<F>(-23.f), constant<F>(0.f));
  auto e = (bits(x) - 0x3f2aaaabu) & 0xff800000u;
  F m = from_bits(bits(x) - e);
  k = fma_(signed_to_float(e), constant<F>(1.19209290e-7f), k);
  m = m - constant<F>(1.f);
  F s = m * m;
  F r = fmac(constant<F>(-0.130310059f), s, -0.121483512f), t = fmac(constant<F>(0.140869141f), s, 0.139814854f);
  r = fmac(r, s, -0.166846126f); t = fmac(t, s, 0.200120345f);
  r = fmac(r, s, -0.249996200f);
  r = fma_(t, m, r);
  r = fmac(r, m, 0.333331972f);
  r = fmac(r, m, -0.5f);
  r = fma_(r, s, m);
  r = fma_(k, constant<F>(0.693147182f), r);
  r = select(a < inf_<F>(), r, a + a);                              // +Inf, NaN
  r = select(a < constant<F>(0.f), nan_<F>(), r);
  return select(a == constant<F>(0.f), constant<F>(0.f) - inf_<F>(), r);
}
template<class F> FN F log1p_(F a) {
  F u = a + constant<F>(1.f);
  auto e = (bits(u) - 0x3f2aaaabu) & 0xff800000u;                // 1 + a in [2/3, 4/3) * 2^e
  F m = from_bits(bits(a) - e);
  F s = from_bits((e & 0u) + 0x40800000u - e);
  m = m + fmac(constant<F>(0.25f), s, -1.f);
  F f = signed_to_float(e) * constant<F>(1.19209290e-7f);
  s = m * m;
  F r = fmac(constant<F>(-0.130310059f), s, -0.121483512f), t = fmac(constant<F>(0.140869141f), s, 0.139814854f);
  r = fmac(r, s, -0.166846126f); t = fmac(t, s, 0.200120345f);
  r = fmac(r, s, -0.249996200f);
  r = fma_(t, m, r);
  r = fmac(r, m, 0.333331972f);
  r = fmac(r, m, -0.5f);
  r = fma_(r, s, m);
  r = fma_(f, constant<F>(0.693147182f), r);
  r = select(a == constant<F>(0.f), a, r);                                 // keeps -0
  r = select(a < inf_<F>(), r, a + a);
  r = select(a < constant<F>(-1.f), nan_<F>(), r);
  return select(a == constant<F>(-1.f), constant<F>(0.f) - inf_<F>(), r);
}
// The same where code is long and few numbers need it.
CALLED float log1p_called(float x) { return log1p_(x); }
template<class F> FN F tanh_(F x) {
  F t = abs_(x), s = x * x;
  F r = fmac(constant<F>(-0.00628247344866395f), s, 0.021077757701277733f);
  r = fmac(r, s, -0.05385385826230049f);
  r = fmac(r, s, 0.13332602381706238f);
  r = fmac(r, s, -0.33333319425582886f);
  r = r * s + constant<F>(0.f);                                         // + 0: keeps -0
  r = fma_(r, x, x);
  F q = constant<F>(1.f) - constant<F>(2.f) / (exp_(t + t) + constant<F>(1.f));
  q = from_bits(bits(q) | (bits(x) & 0x80000000u));
  return select(t >= constant<F>(0.55f), q, r);
}
template<class F> FN F sigmoid_(F x) { F e = exp_(constant<F>(0.f) - abs_(x)); return select(x < constant<F>(0.f), e, constant<F>(1.f)) / (constant<F>(1.f) + e); }
// |x| <= 48039; NaN beyond
template<class F> FN void sincos_(F x, F& sn, F& cs) {
  F magic = constant<F>(12582912.f);
  F j = fma_(x, constant<F>(0.636619747f), magic);
  auto q = bits(j);
  j = j - magic;
  F r = fma_(j, constant<F>(-1.5703125f), x);                            // 9-bit parts of pi/2: exact products for |j| < 2^15
  r = fma_(j, constant<F>(-4.8351287841796875e-4f), r);
  r = fma_(j, constant<F>(-3.13855707645416259765625e-7f), r);
  r = fma_(j, constant<F>(-6.07710050e-11f), r);
  F s = r * r;
  F p = fmac(constant<F>(2.86567956e-6f), s, -1.98559923e-4f);
  p = fmac(p, s, 8.33338592e-3f);
  p = fmac(p, s, -1.66666672e-1f);
  p = fma_(p, r * s + constant<F>(0.f), r);
  F o = fmac(constant<F>(2.44677067e-5f), s, -1.38877297e-3f);
  o = fmac(o, s, 4.16666567e-2f);
  o = fmac(o, s, -0.5f);
  o = fmac(o, s, 1.f);
  auto odd = (q & 1u) != 0u;
  F a = select(odd, o, p), b = select(odd, p, o);
  a = from_bits(bits(a) ^ ((q & 2u) << 30));
  b = from_bits(bits(b) ^ (((q + 1u) & 2u) << 30));
  auto ok = abs_(x) <= constant<F>(48039.f);
  sn = select(ok, a, nan_<F>()); cs = select(ok, b, nan_<F>());
}
// 1 / sqrt(a) for normal a > 0, by Newton's method from half the exponent: without the branches of a division and a root on
// a GPU, so that elements overlap. Of 0 a large finite number.
template<class F> FN F inverse_sqrt_(F a) {
  F y = from_bits((bits(a) & 0u) + 0x5f3759dfu - (bits(a) >> 1)), half = a * constant<F>(-0.5f);
  y = y * fmac(half * y, y, 1.5f);
  y = y * fmac(half * y, y, 1.5f);
  return y * fmac(half * y, y, 1.5f);
}
// 1 / a for normal a > 0 up to 2^125, by Newton's method from minus the exponent.
template<class F> FN F reciprocal_(F a) {
  F y = from_bits((bits(a) & 0u) + 0x7ef311c7u - bits(a)), minus = constant<F>(0.f) - a;
  y = fma_(y, fmac(minus, y, 1.f), y);
  y = fma_(y, fmac(minus, y, 1.f), y);
  return fma_(y, fmac(minus, y, 1.f), y);
}
