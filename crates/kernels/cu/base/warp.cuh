// gpu: sm_80+
// What kernels that are written in warps share, whichever GPU from Ampere on they are for: shared memory by its address, pairs
// of BF16 in a register, matrices for tensor cores, arithmetic. For kernels of the GPU alone, which have no host build: each
// stands beside a portable span of the plan, and a test holds the two together.
#pragma once
#include "platform.cuh"

// ---- shared memory by its 32-bit address -----------------------------------------------------------------------
FN u32 shared_address(const void* p) { return (u32)__cvta_generic_to_shared(p); }
FN void put_shared(u32 at, u32 x) { asm volatile("st.shared.u32 [%0], %1;" ::"r"(at), "r"(x) : "memory"); }
FN u32 get_shared(u32 at) { u32 x; asm volatile("ld.shared.u32 %0, [%1];" : "=r"(x) : "r"(at) : "memory"); return x; }
FN void put_shared2(u32 at, float x, float y) { asm volatile("st.shared.v2.f32 [%0], {%1, %2};" ::"r"(at), "f"(x), "f"(y) : "memory"); }
FN void put_shared_float(u32 at, float x) { asm volatile("st.shared.f32 [%0], %1;" ::"r"(at), "f"(x) : "memory"); }
FN float get_shared_float(u32 at) { return from_bits(get_shared(at)); }
struct Float2 { float x, y; };
FN Float2 get_shared2(u32 at) { Float2 v; asm volatile("ld.shared.v2.f32 {%0, %1}, [%2];" : "=f"(v.x), "=f"(v.y) : "r"(at) : "memory"); return v; }
// What lies there, for code that takes no address; and 16 bytes that are about to be written so.
template<class T> FN T& in_shared(u32 at) { return *(T*)__cvta_shared_to_generic(at); }
FN real* pack_in_shared(u32 at) { return &in_shared<real>(at); }
FN void add_shared(u32 at, u32 x) { asm volatile("red.shared.add.u32 [%0], %1;" ::"r"(at), "r"(x) : "memory"); }
FN void barrier(int id, int threads) { asm volatile("bar.sync %0, %1;" ::"r"(id), "r"(threads) : "memory"); }

// ---- pairs of BF16 in a register --------------------------------------------------------------------------------
FN u32 pack2(float low, float high) { u32 r; asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(r) : "f"(high), "f"(low)); return r; }
// Of what is below 0, 0; NaN stays.
FN u32 pack2_relu(float low, float high) { u32 r; asm("cvt.rn.relu.bf16x2.f32 %0, %1, %2;" : "=r"(r) : "f"(high), "f"(low)); return r; }
FN float low2(u32 x) { return from_bits(x << 16); }
FN float high2(u32 x) { return from_bits(x & 0xffff0000u); }
// The larger of x and 0; NaN stays.
FN float relu(float x) { float r; asm("max.NaN.f32 %0, %1, 0f00000000;" : "=f"(r) : "f"(x)); return r; }

// ---- registers and arithmetic -----------------------------------------------------------------------------------
// Sums need a value before their first product, though it ignores it: a register that was never written counts as in use
// from the start of the kernel.
template<int N> FN void clear(float (&d)[N]) { UNROLL for (int i = 0; i < N; ++i) d[i] = 0.f; }
// Four 8x8 matrices of BF16, transposed: lane l gives the address of a row of matrix l / 8.
FN void load_transposed(u32 (&r)[4], u32 at) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];" : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3]) : "r"(at) : "memory");
}
// 2^x by the hardware, within 2 ulp: for kernels that are compared by tolerance (system.md, rule 5).
FN float exp2_fast(float x) { float r; asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(r) : "f"(x)); return r; }
FN float reciprocal_fast(float x) { float r; asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(r) : "f"(x)); return r; }
FN float log2_fast(float x) { float r; asm("lg2.approx.ftz.f32 %0, %1;" : "=f"(r) : "f"(x)); return r; }
// The number where one is NaN, as all of PTX's.
FN float max_(float x, float y) { float r; asm("max.f32 %0, %1, %2;" : "=f"(r) : "f"(x), "f"(y)); return r; }
FN float min_(float x, float y) { float r; asm("min.f32 %0, %1, %2;" : "=f"(r) : "f"(x), "f"(y)); return r; }
FN int nearest_int(float x) { int r; asm("cvt.rni.s32.f32 %0, %1;" : "=r"(r) : "f"(x)); return r; }  // NaN becomes 0
FN u32 ballot(bool x) { return __ballot_sync(0xffffffffu, x); }  // bit l: lane l's
FN u32 shuffle_xor(u32 x, int mask) { return __shfl_xor_sync(0xffffffffu, x, mask); }
FN float shuffle_xor(float x, int mask) { return from_bits(__shfl_xor_sync(0xffffffffu, bits(x), mask)); }

// Where a block's shared memory begins: blocks of 128-byte swizzled rows must lie at multiples of 1024.
extern __shared__ __align__(1024) uint4 aligned_pool[];
// A kernel of the GPU alone: THREADS threads, BYTES of shared memory from an address that is a multiple of 1024.
#define GPU_KERNEL(...) GPU_KERNEL_AFTER(wait_for_previous(), __VA_ARGS__)
#define EARLY_GPU_KERNEL(...) GPU_KERNEL_AFTER((void)0, __VA_ARGS__)
#define GPU_KERNEL_AFTER(WAIT, name, Args, BYTES, THREADS, BLOCKS, ...) \
  extern "C" __device__ KernelInfo name##_info; \
  extern "C" __device__ KernelInfo name##_info = {sizeof(Args), BYTES, THREADS, 1}; \
  FN void name##_body(const Args& a, u32 shared); \
  extern "C" __global__ void __VA_ARGS__ __launch_bounds__(THREADS, BLOCKS) name(const __grid_constant__ Args a) { \
    WAIT; \
    name##_body(a, shared_address(aligned_pool)); \
  } \
  FN void name##_body(const Args& a, u32 shared)
