// The functions of math.cuh and the arithmetic of platform.cuh, one at a time: y = f(x) on flat packs. Overwrites.
// Ships, for `foxhunt device --check` runs on machines that nobody has seen: here a compiler or a GPU that rounds
// otherwise shows as what it is, and not as a training run that ends elsewhere.
// Of the kinds below FUSED is x * x' + x'' and DIVIDE x / x', with x' the next pack of the member's part and x'' the one
// after it, round the end. Every function is applied to a pack at once, or with `scalar` to one value at a time: the
// two must agree. In F32 the results are those of the functions, bit for bit; in BF16 they are rounded by the store.
#include "platform.cuh"
#include "math.cuh"

static constexpr int CHUNK = 256;  // packs a team
enum Function { EXP = 0, LOG = 1, LOG1P = 2, TANH = 3, SIGMOID = 4, SIN = 5, COS = 6, SQUARE_ROOT = 7, FUSED = 8, DIVIDE = 9,
                INVERSE_SQRT = 10, RECIPROCAL = 11 };

template<class F> FN F apply(int function, F x, F x1, F x2) {
  F s, c;
  switch (function) {
    case EXP: return exp_(x);
    case LOG: return log_(x);
    case LOG1P: return log1p_(x);
    case TANH: return tanh_(x);
    case SIGMOID: return sigmoid_(x);
    case SIN: sincos_(x, s, c); return s;
    case COS: sincos_(x, s, c); return c;
    case SQUARE_ROOT: return sqrt_(x);
    case FUSED: return fma_(x, x1, x2);
    case INVERSE_SQRT: return inverse_sqrt_(x);
    case RECIPROCAL: return reciprocal_(x);
    default: return x / x1;
  }
}

struct MathsArgs { Members<const real> x; Members<real> y; i32 function, packs, scalar, reserved; };
KERNEL(maths, MathsArgs, None, 256, 256, 1) {
  const int base = t.index * CHUNK, left = a.packs - base;
  const real* const x = a.x.of(t.member);
  real* const y = a.y.of(t.member);
  t.each(left < CHUNK ? left : CHUNK, [&](int j) {
    const int i = base + j, i1 = (i + 1) % a.packs, i2 = (i + 2) % a.packs;
    const F8 v = load8(x + 8 * i), v1 = load8(x + 8 * i1), v2 = load8(x + 8 * i2);
    if (!a.scalar) return store8(y + 8 * i, apply(a.function, v, v1, v2));
    for (int k = 0; k < 8; ++k) store(y + 8 * i + k, apply(a.function, at(v, k), at(v1, k), at(v2, k)));
  });
}
