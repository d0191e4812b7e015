// Sums and activations on flat packs: `packs` packs of eight from the start of each member's part. Overwrites.
//   sum        y = x0 + x1 + … (up to eight, left to right in F32, rounded once): residual adds, and gradients of a
//              tensor with several consumers
//   activate   y = relu(x) or tanh(x)
//   activate_backward   dx = dy where y > 0, or dy (1 - y^2)
#include "platform.cuh"
#include "math.cuh"

static constexpr int CHUNK = 256;  // packs a team
enum Activation { RELU = 0, TANH = 1 };

struct SumArgs { Members<const real> x[8]; Members<real> y; i32 count, packs; };
KERNEL(sum, SumArgs, None, 256, 256, 1) {
  const int base = t.index * CHUNK, left = a.packs - base;
  t.each(left < CHUNK ? left : CHUNK, [&](int j) {
    const i64 o = 8 * (i64)(base + j);
    F8 s = load8(a.x[0].of(t.member) + o);
    for (int k = 1; k < a.count; ++k) s = s + load8(a.x[k].of(t.member) + o);
    store8(a.y.of(t.member) + o, s);
  });
}

struct ActivateArgs { Members<const real> x; Members<real> y; i32 kind, packs; };
KERNEL(activate, ActivateArgs, None, 256, 256, 1) {
  const int base = t.index * CHUNK, left = a.packs - base;
  t.each(left < CHUNK ? left : CHUNK, [&](int j) {
    const i64 o = 8 * (i64)(base + j);
    const F8 x = load8(a.x.of(t.member) + o);
    store8(a.y.of(t.member) + o, a.kind == TANH ? tanh_(x) : select(x < 0.f, constant<F8>(0.f), x));
  });
}

struct ActivateBackwardArgs { Members<const real> dy, y; Members<real> dx; i32 kind, packs; };
KERNEL(activate_backward, ActivateBackwardArgs, None, 256, 256, 1) {
  const int base = t.index * CHUNK, left = a.packs - base;
  t.each(left < CHUNK ? left : CHUNK, [&](int j) {
    const i64 o = 8 * (i64)(base + j);
    const F8 dy = load8(a.dy.of(t.member) + o), y = load8(a.y.of(t.member) + o);
    store8(a.dx.of(t.member) + o, a.kind == TANH ? dy * (1.f - y * y) : select(y > 0.f, dy, constant<F8>(0.f)));
  });
}
