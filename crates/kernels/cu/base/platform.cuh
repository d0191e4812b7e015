// Every difference between the targets, and nothing else: an NVIDIA GPU (NVRTC) or a CPU (g++ or clang++).
// Stands alone, so that NVRTC needs no system header. A kernel file includes this and contains no #if.
//
// Contents: integers and bits; F8, eight F32 values on chip; storage types and their loads and stores; the team of
// threads that works on one row; the KERNEL macro; matrix fragments of the tensor cores.
//
// Rules that keep the bits equal on both targets (ARCHITECTURE.md, "Same bits"): only F32 +, -, *, /, sqrt_ and
// fma_; no contraction (--fmad=false, -ffp-contract=off); every NaN that is stored becomes one NaN.
#pragma once

typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;
typedef unsigned long long u64;
typedef int i32;
typedef long long i64;

#if defined(__CUDACC__)
#define ON_GPU 1
#define FN static __forceinline__
#define METHOD __forceinline__
#define CALLED static __noinline__  // long, and called often: inlined it would not fit into the instruction cache
#define UNROLL _Pragma("unroll")
#else
#define ON_GPU 0
#define FN static inline __attribute__((always_inline))
#define METHOD inline __attribute__((always_inline))
#define CALLED FN
#define UNROLL
#endif

template<class To, class From> FN To bit_cast(From x) { return __builtin_bit_cast(To, x); }
static constexpr float INFINITY_F32 = __builtin_bit_cast(float, 0x7f800000u);

// ---- F8: eight F32 values on chip; U8 their bits; M8 a mask ------------------------------------------------------
// A GPU holds eight scalars; a CPU one vector of eight (AVX2) or two of four: g++ compares wider vectors than the
// machine has element by element, which is 10 times slower.
#if ON_GPU
static constexpr int VECTOR = 1;
typedef float VF;
typedef u32 VU;
typedef i32 VI;
typedef bool VM;
#else
#if defined(__AVX2__)
static constexpr int VECTOR = 8;
#else
static constexpr int VECTOR = 4;
#endif
typedef float VF __attribute__((vector_size(4 * VECTOR)));
typedef u32 VU __attribute__((vector_size(4 * VECTOR)));
typedef i32 VI __attribute__((vector_size(4 * VECTOR)));
typedef VI VM;
typedef u16 VH __attribute__((vector_size(2 * VECTOR)));
typedef float F4 __attribute__((vector_size(16)));
typedef i32 I4 __attribute__((vector_size(16)));
#endif

#define EACH_VECTOR UNROLL for (int k = 0; k < 8 / VECTOR; ++k)
#define EACH8 UNROLL for (int k = 0; k < 8; ++k)
struct alignas(32) F8 { VF v[8 / VECTOR]; };
struct alignas(32) U8 { VU v[8 / VECTOR]; };
struct M8 { VM v[8 / VECTOR]; };

// Which overload is meant, without a value: a null pointer would do, but no pointer to a wide type appears in the tree.
template<class T> struct Type {};
FN F8 splat(Type<F8>, float x) { F8 r; EACH_VECTOR r.v[k] = VF{} + x; return r; }
FN U8 splat(Type<U8>, u32 x) { U8 r; EACH_VECTOR r.v[k] = VU{} + x; return r; }
#define BINARY(Result, T, Scalar, op) \
  FN Result operator op(T a, T b) { Result r; EACH_VECTOR r.v[k] = a.v[k] op b.v[k]; return r; } \
  FN Result operator op(T a, Scalar b) { return a op splat(Type<T>(), b); } \
  FN Result operator op(Scalar a, T b) { return splat(Type<T>(), a) op b; }
BINARY(F8, F8, float, +) BINARY(F8, F8, float, -) BINARY(F8, F8, float, *) BINARY(F8, F8, float, /)
BINARY(M8, F8, float, <) BINARY(M8, F8, float, >) BINARY(M8, F8, float, <=) BINARY(M8, F8, float, >=)
BINARY(M8, F8, float, ==) BINARY(M8, F8, float, !=)
BINARY(U8, U8, u32, +) BINARY(U8, U8, u32, -) BINARY(U8, U8, u32, &) BINARY(U8, U8, u32, |) BINARY(U8, U8, u32, ^)
BINARY(M8, U8, u32, ==) BINARY(M8, U8, u32, !=)
#undef BINARY
FN U8 operator<<(U8 a, int s) { EACH_VECTOR a.v[k] = a.v[k] << s; return a; }
FN U8 operator>>(U8 a, int s) { EACH_VECTOR a.v[k] = a.v[k] >> s; return a; }
FN F8 select(M8 m, F8 a, F8 b) { EACH_VECTOR a.v[k] = m.v[k] ? a.v[k] : b.v[k]; return a; }
FN U8 select(M8 m, U8 a, U8 b) { EACH_VECTOR a.v[k] = m.v[k] ? a.v[k] : b.v[k]; return a; }
FN U8 bits(F8 x) { U8 r; EACH_VECTOR r.v[k] = bit_cast<VU>(x.v[k]); return r; }
FN F8 from_bits(U8 x) { F8 r; EACH_VECTOR r.v[k] = bit_cast<VF>(x.v[k]); return r; }

// By reference: of a pack in shared memory only the element is read, and not what other threads write beside it.
#if ON_GPU
FN float at(const F8& x, int k) { return x.v[k]; }
FN u32 at(const U8& x, int k) { return x.v[k]; }
FN void put(F8& x, int k, float y) { x.v[k] = y; }
FN void put(U8& x, int k, u32 y) { x.v[k] = y; }
FN F8 signed_to_float(U8 x) { F8 r; EACH_VECTOR r.v[k] = (float)(i32)x.v[k]; return r; }
FN M8 first(int count) { M8 m; EACH_VECTOR m.v[k] = k < count; return m; }
FN bool all(M8 m) { bool r = true; EACH_VECTOR r = r & m.v[k]; return r; }
FN float fma_(float a, float b, float c) { return __fmaf_rn(a, b, c); }
FN float opaque(float x) { asm volatile("" : "+f"(x)); return x; }  // of which the compiler knows nothing
FN float sqrt_(float x) { return __fsqrt_rn(x); }
FN u64 mul_high(u64 a, u64 b) { return __umul64hi(a, b); }
FN int leading_zeros(u64 x) { return __clzll((i64)x); }
#else
FN float at(const F8& x, int k) { return x.v[k / VECTOR][k % VECTOR]; }
FN u32 at(const U8& x, int k) { return x.v[k / VECTOR][k % VECTOR]; }
FN void put(F8& x, int k, float y) { x.v[k / VECTOR][k % VECTOR] = y; }
FN void put(U8& x, int k, u32 y) { x.v[k / VECTOR][k % VECTOR] = y; }
FN F8 signed_to_float(U8 x) { F8 r; EACH_VECTOR r.v[k] = __builtin_convertvector((VI)x.v[k], VF); return r; }
FN M8 first(int count) {
  M8 m;
#if defined(__AVX2__)
  m.v[0] = (VI){0, 1, 2, 3, 4, 5, 6, 7} < count;
#else
  m.v[0] = (VI){0, 1, 2, 3} < count;
  m.v[1] = (VI){4, 5, 6, 7} < count;
#endif
  return m;
}
FN bool all(M8 m) {
#if defined(__AVX2__)
  return __builtin_ia32_movmskps256(bit_cast<VF>(m.v[0])) == 0xff;
#elif defined(__SSE2__)
  return (__builtin_ia32_movmskps(bit_cast<VF>(m.v[0])) & __builtin_ia32_movmskps(bit_cast<VF>(m.v[1]))) == 0xf;
#else
  VI r = m.v[0] & m.v[1];
  return (r[0] & r[1] & r[2] & r[3]) != 0;
#endif
}
FN float opaque(float x) { return x; }
FN float sqrt_(float x) { return __builtin_sqrtf(x); }
FN VF sqrt_(VF x) {
#if defined(__AVX2__)
  return __builtin_ia32_sqrtps256(x);
#elif defined(__SSE2__)
  return __builtin_ia32_sqrtps(x);
#else
  for (int i = 0; i < VECTOR; ++i) x[i] = __builtin_sqrtf(x[i]);
  return x;
#endif
}
FN u64 mul_high(u64 a, u64 b) { return (u64)((unsigned __int128)a * b >> 64); }
FN int leading_zeros(u64 x) { return __builtin_clzll(x); }
#if defined(__FMA__) || !defined(__SSE2__)
FN float fma_(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
FN VF fma_(VF a, VF b, VF c) {
  VF r;
  for (int i = 0; i < VECTOR; ++i) r[i] = __builtin_fmaf(a[i], b[i], c[i]);
  return r;
}
#else
// A fused multiply-add without the instruction: the product of two F32 is exact in F64; the sum is rounded to odd
// there, then once more to F32, which is exact for 53 >= 2 * 24 + 2 bits (Boldo and Melquiond 2008).
typedef double D2 __attribute__((vector_size(16)));
typedef i64 L2 __attribute__((vector_size(16)));
FN D2 fma_to_odd(D2 a, D2 b, D2 c) {
  D2 p = a * b, s = p + c, z = s - p, e = (p - (s - z)) + (c - z);  // s + e == a * b + c exactly
  L2 t = (L2)s, step = ((e > 0.0) ^ (s > 0.0)) | 1;                   // +1 away from zero, -1 towards it
  return (D2)(t + (step & ((e > 0.0) | (e < 0.0)) & ((t & 1) - 1)));  // inexact and even: make it odd
}
FN float fma_(float a, float b, float c) { return (float)fma_to_odd((D2){a, 0}, (D2){b, 0}, (D2){c, 0})[0]; }
FN VF fma_(VF a, VF b, VF c) {
  const I4 upper = {2, 3, 2, 3}, join = {0, 1, 4, 5};
  D2 lo = fma_to_odd(__builtin_ia32_cvtps2pd(a), __builtin_ia32_cvtps2pd(b), __builtin_ia32_cvtps2pd(c));
  D2 hi = fma_to_odd(__builtin_ia32_cvtps2pd(__builtin_shuffle(a, upper)),
                     __builtin_ia32_cvtps2pd(__builtin_shuffle(b, upper)),
                     __builtin_ia32_cvtps2pd(__builtin_shuffle(c, upper)));
  return __builtin_shuffle(__builtin_ia32_cvtpd2ps(lo), __builtin_ia32_cvtpd2ps(hi), join);
}
#endif
FN F4 select(I4 m, F4 a, F4 b) { return m ? a : b; }
#endif

FN F8 fma_(F8 a, F8 b, F8 c) { EACH_VECTOR a.v[k] = fma_(a.v[k], b.v[k], c.v[k]); return a; }
FN F8 sqrt_(F8 x) { EACH_VECTOR x.v[k] = sqrt_(x.v[k]); return x; }
// The same names for one value, so that maths is written once for float and F8.
FN float splat(Type<float>, float x) { return x; }
FN u32 splat(Type<u32>, u32 x) { return x; }
FN float select(bool m, float a, float b) { return m ? a : b; }
FN u32 select(bool m, u32 a, u32 b) { return m ? a : b; }
FN u32 bits(float x) { return bit_cast<u32>(x); }
FN float from_bits(u32 x) { return bit_cast<float>(x); }
FN float signed_to_float(u32 x) { return (float)(i32)x; }
template<class F> FN F constant(float x) { return splat(Type<F>(), x); }

// ---- storage ------------------------------------------------------------------------------------------------------
// What a number is in memory. Arithmetic is in F32; `real` is the build's storage type.
struct bf16 { u16 b; };
struct f32 { u32 b; };
#if defined(REAL_BF16)
typedef bf16 real;
static constexpr bool REAL_IS_BF16 = true;
#else
typedef f32 real;
static constexpr bool REAL_IS_BF16 = false;
#endif
static constexpr u32 ONE_NAN = 0x7fffffffu;

FN float load(const bf16* p) { return from_bits((u32)p->b << 16); }
FN float load(const f32* p) { return from_bits(p->b); }
FN u16 round_to_bf16(float x) {  // to nearest, ties to even; NaN becomes 7fff
#if ON_GPU
  u16 r;
  asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(r) : "f"(x));
  return r;
#else
  u32 u = bits(x);
  return (u16)(x == x ? (u + 0x7fff + ((u >> 16) & 1)) >> 16 : 0x7fff);
#endif
}
FN float rounded(const bf16*, float x) { return from_bits((u32)round_to_bf16(x) << 16); }
FN float rounded(const f32*, float x) { return x; }
FN void store(bf16* p, float x) { p->b = round_to_bf16(x); }
FN void store(f32* p, float x) { p->b = x == x ? bits(x) : ONE_NAN; }
#if ON_GPU
struct alignas(16) Quad { u32 w[4]; };
FN F8 load8(const bf16* p) {
  const Quad q = *(const Quad*)p;
  F8 r;
  UNROLL for (int k = 0; k < 4; ++k) {
    r.v[2 * k] = from_bits(q.w[k] << 16);
    r.v[2 * k + 1] = from_bits(q.w[k] & 0xffff0000u);
  }
  return r;
}
FN F8 load8(const f32* p) {
  const Quad a = *(const Quad*)p, b = *(const Quad*)(p + 4);
  F8 r;
  UNROLL for (int k = 0; k < 4; ++k) { r.v[k] = from_bits(a.w[k]); r.v[4 + k] = from_bits(b.w[k]); }
  return r;
}
FN void store8(bf16* p, F8 x) {
  Quad q;
  UNROLL for (int k = 0; k < 4; ++k)
    asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(q.w[k]) : "f"(x.v[2 * k + 1]), "f"(x.v[2 * k]));
  *(Quad*)p = q;
}
FN void store8(f32* p, F8 x) {
  Quad a, b;
  UNROLL for (int k = 0; k < 4; ++k) {
    a.w[k] = x.v[k] == x.v[k] ? bits(x.v[k]) : ONE_NAN;
    b.w[k] = x.v[4 + k] == x.v[4 + k] ? bits(x.v[4 + k]) : ONE_NAN;
  }
  *(Quad*)p = a;
  *(Quad*)(p + 4) = b;
}
FN void store8_bits(bf16* p, U8 h) {
  Quad q;
  UNROLL for (int k = 0; k < 4; ++k) q.w[k] = h.v[2 * k] | h.v[2 * k + 1] << 16;
  *(Quad*)p = q;
}
FN void store8_upper(bf16* p, U8 x) {  // the upper halves
  Quad q;
  UNROLL for (int k = 0; k < 4; ++k) q.w[k] = __byte_perm(x.v[2 * k], x.v[2 * k + 1], 0x7632);
  *(Quad*)p = q;
}
#else
FN F8 load8(const bf16* p) {
  F8 r;
  EACH_VECTOR {
    VH h;
    __builtin_memcpy(&h, p + k * VECTOR, sizeof h);
    r.v[k] = bit_cast<VF>(__builtin_convertvector(h, VU) << 16);
  }
  return r;
}
FN F8 load8(const f32* p) {
  F8 r;
  EACH_VECTOR __builtin_memcpy(&r.v[k], p + k * VECTOR, sizeof r.v[k]);
  return r;
}
FN void store8_bits(bf16* p, U8 x) {
  EACH_VECTOR {
    const VH h = __builtin_convertvector(x.v[k], VH);
    __builtin_memcpy(p + k * VECTOR, &h, sizeof h);
  }
}
FN void store8_upper(bf16* p, U8 x) { store8_bits(p, x >> 16); }
FN void store8(bf16* p, F8 x) {
  const U8 u = bits(x);
  store8_bits(p, select(x == x, (u + 0x7fffu + ((u >> 16) & 1u)) >> 16, splat(Type<U8>(), 0x7fff)));
}
FN void store8(f32* p, F8 x) {
  x = select(x == x, x, from_bits(splat(Type<U8>(), ONE_NAN)));
  EACH_VECTOR __builtin_memcpy(p + k * VECTOR, &x.v[k], sizeof x.v[k]);
}
#endif
// A pack that is asked for early: on a GPU on its way to registers, on a CPU a place that must keep its value until then.
#if ON_GPU
template<class T> struct EarlyOf { Quad q[sizeof(T) / 2]; };
template<class T> FN EarlyOf<T> early8(const T* p) {
  EarlyOf<T> e;
  UNROLL for (int k = 0; k < (int)sizeof(T) / 2; ++k) e.q[k] = *((const Quad*)p + k);
  return e;
}
template<class T> FN F8 load8(const EarlyOf<T>& e) { return load8((const T*)&e); }
#else
template<class T> struct EarlyOf { const T* p; };
template<class T> FN EarlyOf<T> early8(const T* p) { return {p}; }
template<class T> FN F8 load8(const EarlyOf<T>& e) { return load8(e.p); }
#endif
typedef EarlyOf<real> Early8;
// A pack as it is.
template<class T> FN void copy8(T* to, const T* from) {
  struct alignas(8 * sizeof(T) < 16 ? 8 * sizeof(T) : 16) Pack { T x[8]; };
  *(Pack*)to = *(const Pack*)from;
}

// Rounded as a store would, kept on chip.
FN F8 rounded8(const f32*, F8 x) { return x; }
FN F8 rounded8(const bf16*, F8 x) {
  const U8 u = bits(x);
  return from_bits(select(x == x, (u + 0x7fffu + ((u >> 16) & 1u)) & 0xffff0000u, splat(Type<U8>(), 0x7fff0000u)));
}

// A buffer with a population axis: member p's part begins at base + p * stride elements (stride 0: shared by all).
template<class T> struct Members {
  T* base;
  i64 stride;
  METHOD T* of(u32 member) const { return base + (i64)member * stride; }
};

// ---- a team: the threads that share one row of work -------------------------------------------------------------
// On a GPU THREADS threads; on a CPU one. Between barriers all work is item loops (`each`); what outlives a barrier
// lives in PerItem (registers on a GPU) or Shared. LANES fixes the order of sums (reduce.cuh), whatever THREADS is.
struct Slot { int s; };
template<int LANES_, int THREADS_, int TEAMS_> struct Team {
  static constexpr int LANES = LANES_, THREADS = ON_GPU ? THREADS_ : 1, TEAMS = ON_GPU ? TEAMS_ : 1;
  static_assert(LANES_ == 8 || LANES_ == 32 || LANES_ == 256, "a sum has 8, 32 or 256 lanes");
  static_assert(LANES_ % THREADS_ == 0, "the threads of a team divide its lanes");
  u32 index, member, count;  // team of the grid, population member, teams in all
  int thread, which, phase;  // thread of the team, team of the block, parity of the shared scratch of reduce.cuh
#if ON_GPU
  FN Team here() {
    const int th = threadIdx.x;
    return Team{blockIdx.x * TEAMS + th / THREADS, blockIdx.y, gridDim.x * TEAMS, th % THREADS, th / THREADS, 0};
  }
  METHOD void sync() const {
    if constexpr (THREADS < 32) __syncwarp(((1u << THREADS) - 1) << (threadIdx.x & 31 & ~(THREADS - 1)));
    else if constexpr (THREADS == 32) __syncwarp();
    else if constexpr (TEAMS == 1) __syncthreads();
    else asm volatile("barrier.sync %0, %1;" ::"r"(which + 1), "n"(THREADS) : "memory");
  }
  template<class F> METHOD void each(int n, F f) const { for (int i = thread; i < n; i += THREADS) f(i); }
  template<int N, class F> METHOD void each(int n, F f) const {
    UNROLL for (int s = 0; s < (N + THREADS - 1) / THREADS; ++s) {
      const int i = s * THREADS + thread;
      if (i < n) f(i, Slot{s});
    }
  }
#else
  METHOD void sync() const {}
#ifdef REVERSE_ITEMS  // a test build: items of one loop must not depend on one another
  template<class F> METHOD void each(int n, F f) const { for (int i = n - 1; i >= 0; --i) f(i); }
  template<int N, class F> METHOD void each(int n, F f) const { for (int i = n - 1; i >= 0; --i) f(i, Slot{i}); }
#else
  template<class F> METHOD void each(int n, F f) const {
#pragma GCC ivdep
    for (int i = 0; i < n; ++i) f(i);
  }
  template<int N, class F> METHOD void each(int n, F f) const {
#pragma GCC ivdep
    for (int i = 0; i < n; ++i) f(i, Slot{i});
  }
#endif
#endif
};

// One T per item of `each<N>`: registers on a GPU, where slots are compile-time; the whole array on a CPU.
template<class T, int N, class Tm> struct PerItemOf {
  T v[(N + Tm::THREADS - 1) / Tm::THREADS];
  METHOD T& operator[](Slot s) { return v[s.s]; }
};

// Integer atomics alone: they are associative, so their order changes no bit.
#if ON_GPU
FN void atomic_add(u64* p, u64 x) { atomicAdd(p, x); }
FN void atomic_add(u32* p, u32 x) { atomicAdd(p, x); }
FN void atomic_or(u32* p, u32 x) { atomicOr(p, x); }
FN u32 fetch_add(u32* p, u32 x) { return atomicAdd(p, x); }
#else
FN void atomic_add(u64* p, u64 x) { __atomic_fetch_add(p, x, __ATOMIC_RELAXED); }
FN void atomic_add(u32* p, u32 x) { __atomic_fetch_add(p, x, __ATOMIC_RELAXED); }
FN void atomic_or(u32* p, u32 x) { __atomic_fetch_or(p, x, __ATOMIC_RELAXED); }
FN u32 fetch_add(u32* p, u32 x) { return __atomic_fetch_add(p, x, __ATOMIC_ACQ_REL); }
#endif

// ---- launches after one another -----------------------------------------------------------------------------------
// From Hopper on, a launch may be brought onto the GPU before the one ahead of it has ended (programmatic dependent launch, CUDA
// programming guide). What a kernel does before it waits may touch only what its launch names as `early`; and it waits before it
// lets the next one begin, so that all but the launch right ahead of a kernel has ended when it starts.
#if ON_GPU && __CUDA_ARCH__ >= 900
FN void wait_for_previous() { asm volatile("griddepcontrol.wait;" ::: "memory"); }
FN void let_next_begin() { asm volatile("griddepcontrol.launch_dependents;" ::: "memory"); }
#else
FN void wait_for_previous() {}
FN void let_next_begin() {}
#endif

// ---- kernels ------------------------------------------------------------------------------------------------------
// KERNEL(name, Args, Shared, LANES, THREADS, TEAMS) { body }, where the body sees
//   const Args& a, Shared& m (the team's shared memory), Tm& t (the team), PerItem<T, N>, and Tm as the team's type.
// The grid is (blocks of TEAMS teams, members). A team beyond the work returns at once. Of an EARLY_KERNEL the body itself waits for
// the launch ahead, in every thread.
struct None {};
struct KernelInfo { u32 args_bytes, shared_bytes, threads, teams; };
#define JOIN_(a, b) a##_##b
#define JOIN(a, b) JOIN_(a, b)
#define KERNEL_STRUCT(name, Args, Shared, LANES, THREADS, TEAMS) \
  struct name##_kernel { \
    typedef Team<LANES, THREADS, TEAMS> Tm; \
    template<class T, int N> using PerItem = PerItemOf<T, N, Tm>; \
    static METHOD void body(const Args& a, Shared& m, Tm& t); \
  }
#define KERNEL_BODY(name, Args, Shared) METHOD void name##_kernel::body(const Args& a, Shared& m, Tm& t)
#define KERNEL_INFO(Args, Shared, THREADS, TEAMS) \
  {sizeof(Args), (u32)(__is_empty(Shared) ? 0 : sizeof(Shared) * (TEAMS)), (THREADS) * (TEAMS), TEAMS}
#if ON_GPU
extern __shared__ uint4 shared_pool[];
#define KERNEL(...) KERNEL_AFTER(wait_for_previous(), __VA_ARGS__)
#define EARLY_KERNEL(...) KERNEL_AFTER((void)0, __VA_ARGS__)
#define KERNEL_AFTER(WAIT, name, Args, Shared, LANES, THREADS, TEAMS) \
  KERNEL_STRUCT(name, Args, Shared, LANES, THREADS, TEAMS); \
  extern "C" __device__ KernelInfo name##_info; \
  extern "C" __device__ KernelInfo name##_info = KERNEL_INFO(Args, Shared, THREADS, TEAMS); \
  extern "C" __global__ void __launch_bounds__((THREADS) * (TEAMS)) name(const __grid_constant__ Args a) { \
    WAIT; \
    auto t = name##_kernel::Tm::here(); \
    name##_kernel::body(a, ((Shared*)shared_pool)[t.which], t); \
  } \
  KERNEL_BODY(name, Args, Shared)
#else
#define EARLY_KERNEL KERNEL
#define KERNEL(name, Args, Shared, LANES, THREADS, TEAMS) \
  KERNEL_STRUCT(name, Args, Shared, LANES, THREADS, TEAMS); \
  extern "C" const KernelInfo JOIN(name##_info, SUFFIX); \
  extern "C" const KernelInfo JOIN(name##_info, SUFFIX) = KERNEL_INFO(Args, Shared, THREADS, TEAMS); \
  extern "C" __attribute__((flatten)) void JOIN(name, SUFFIX)(const Args* a, u32 member, u32 begin, u32 end, u32 count) { \
    Shared m; \
    for (u32 i = begin; i < end; ++i) { \
      name##_kernel::Tm t{i, member, count, 0, 0, 0}; \
      name##_kernel::body(*a, m, t); \
    } \
  } \
  KERNEL_BODY(name, Args, Shared)
#endif

// ---- tensor cores -------------------------------------------------------------------------------------------------
// c[16 x 8] += a[16 x 16] b[16 x 8] for a warp, in mma.m16n8k16's fragments: thread t holds of c rows t/4, t/4 + 8 and
// columns 2 (t%4), 2 (t%4) + 1; of a the same rows and of b column t/4, at inner indices 2 (t%4) + {0, 1, 8, 9}.
// Exists where HAS_TENSOR_CORES is true; products that use it agree with the portable ones within a tolerance.
static constexpr bool HAS_TENSOR_CORES = ON_GPU && REAL_IS_BF16;
struct Fragment4 { float v[4]; };
#if ON_GPU
FN void mma_16x8x16(Fragment4& c, u32 a0, u32 a1, u32 a2, u32 a3, u32 b0, u32 b1) {
  asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
               : "+f"(c.v[0]), "+f"(c.v[1]), "+f"(c.v[2]), "+f"(c.v[3])
               : "r"(a0), "r"(a1), "r"(a2), "r"(a3), "r"(b0), "r"(b1));
}
template<class T> FN Quad load_quad(const T* p) { return *(const Quad*)p; }
FN int lane_of_warp() { return threadIdx.x & 31; }
#else
struct Quad { u32 w[4]; };
FN void mma_16x8x16(Fragment4&, u32, u32, u32, u32, u32, u32) {}
template<class T> FN Quad load_quad(const T*) { return Quad{}; }
FN int lane_of_warp() { return 0; }
#endif
