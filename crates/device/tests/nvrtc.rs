//! The check of a kernel tree without a GPU. Passes with a note where there is no NVRTC.

use foxhunt_core::DType;
use foxhunt_device::{KernelInfo, KernelTree, Library, Source, compile_all};

const BASE: &str = "struct KernelInfo { unsigned args_bytes, shared_bytes, threads, teams; };\n";
const WORK: &str = r#"
#include "base.cuh"
#ifdef REAL_BF16
typedef unsigned short real;
#else
typedef float real;
#endif
#ifndef N
#define N 33
#endif
extern "C" __device__ KernelInfo fits_info = {8, 50000, 64, 2};
extern "C" __global__ void fits(real* x) {
  __shared__ real part[N];
  part[threadIdx.x % N] = x[threadIdx.x];
  __syncthreads();
  x[threadIdx.x] = part[(threadIdx.x + 1) % N];
}
extern "C" __device__ KernelInfo bare_info = {8, 0, 32, 1};
extern "C" __global__ void bare(real* x) { x[threadIdx.x] = 0; }
"#;

fn tree(sources: &'static [Source]) -> KernelTree {
    KernelTree { sources, kernels: &[] }
}

static GOOD: &[Source] = &[Source { name: "base.cuh", text: BASE }, Source { name: "work.cu", text: WORK }];
static BROKEN: &[Source] =
    &[Source { name: "broken.cu", text: "extern \"C\" __global__ void f() { return 1 +; }" }];
static MUTE: &[Source] =
    &[Source { name: "mute.cu", text: "extern \"C\" __global__ void f(int* x) { *x = 1; }" }];

fn have_nvrtc() -> bool {
    match Library::Nvrtc.load() {
        Ok(_) => true,
        Err(why) => {
            println!("skipped: {why}");
            false
        }
    }
}

#[test]
fn a_cubin_tells_what_its_kernels_need() {
    if !have_nvrtc() {
        return;
    }
    // Before compute capability 9.0 and from then on, where the system's own shared memory is in the section.
    for arch in [80, 90] {
        for (dtype, size) in [(DType::Bf16, 2), (DType::F32, 4)] {
            let files = compile_all(&tree(GOOD), arch, dtype, &[Vec::new(), vec![("N", 64)]]).unwrap();
            assert_eq!(files.len(), 2);
            for (file, n) in files.iter().zip([33, 64]) {
                assert!(
                    file.file == "work.cu" && file.warnings.is_empty() && file.cubin_bytes > 0,
                    "{file:?}"
                );
                let [bare, fits] = &file.kernels[..] else { panic!("{file:?}") };
                assert_eq!(
                    fits.info,
                    KernelInfo { args_bytes: 8, shared_bytes: 50_000, threads: 64, teams: 2 }
                );
                assert_eq!(fits.shared_static_bytes, n * size, "sm_{arch} {dtype}");
                assert_eq!(bare.shared_static_bytes, 0);
                assert!(fits.registers.is_some_and(|r| r > 0) && fits.spill_bytes == Some(0), "{fits:?}");
                assert_eq!(fits.excess(arch), None);
            }
        }
    }
}

#[test]
fn what_the_compiler_refuses_comes_with_its_log() {
    if !have_nvrtc() {
        return;
    }
    let error = compile_all(&tree(BROKEN), 80, DType::F32, &[]).unwrap_err().to_string();
    assert!(error.contains("broken.cu (f32) for sm_80") && error.contains("broken.cu(1): error"), "{error}");
    let error = compile_all(&tree(MUTE), 80, DType::F32, &[]).unwrap_err().to_string();
    assert!(error.contains("kernel f has no f_info"), "{error}");
    let error = compile_all(&tree(GOOD), 20, DType::F32, &[]).unwrap_err().to_string();
    assert!(error.contains("compute capability 2.0"), "{error}");
}
