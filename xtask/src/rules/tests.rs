//! The tree keeps the rules, and each rule is seen to fail on a planted fault.

use super::{Fault, Source, kernels, mirror, read_tree};
use std::path::Path;

fn source(path: &str, text: &str) -> Source {
    Source { path: path.into(), text: text.into() }
}

/// Faults of one file below `layer/`, after a comment in its first line.
fn planted(text: &str) -> Vec<Fault> {
    kernels::check(&[source("layer/x.cu", &format!("// x\n{text}"))])
}

/// One fault, in line 2, that says `what`.
fn caught(text: &str, what: &str) {
    let faults = planted(text);
    assert!(!faults.is_empty(), "nothing found in {text}");
    assert!(faults.iter().any(|f| f.line == 2 && f.rule.contains(what)), "{text}: {faults:?}");
}

fn clean(text: &str) {
    assert_eq!(planted(text), [], "{text}");
}

#[test]
fn the_tree_keeps_the_rules() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let (cpp, rust) = read_tree(&root).unwrap();
    assert!(cpp.len() >= 16 && rust.len() >= 20, "{} and {} files", cpp.len(), rust.len());
    let mut faults = kernels::check(&cpp);
    faults.extend(mirror::check(&cpp, &rust));
    let lines: Vec<String> = faults.iter().map(Fault::to_string).collect();
    assert!(lines.is_empty(), "{}", lines.join("\n"));
}

#[test]
fn wide_pointers_are_found() {
    caught("void f(float* p);", "a pointer to float");
    caught("void f(const float *const p);", "a pointer to float");
    caught("void f(float const* p);", "a pointer to float");
    caught("struct A { double* p; };", "a pointer to double");
    caught("auto p = (float*)q;", "a pointer to float");
    caught("auto p = reinterpret_cast<const F4*>(q); typedef float F4;", "a pointer to F4");
    caught("typedef float VF __attribute__((vector_size(16))); void f(const VF* p);", "a pointer to VF");
    caught("struct F8 { float v[8]; }; auto x = *(F8*)p;", "a pointer to F8");
    caught("struct F8 { float v[8]; }; struct Row { F8 a; }; void f(Row* p);", "a pointer to Row");
    caught("using V = float; void f(V* p);", "a pointer to V");
    caught("void f(float (*p)[8]);", "a pointer to float");
    caught("void f(int n, float p[8]);", "a parameter that is an array of float");
    caught("#define P(x) ((float*)(x))", "a pointer to float");
    caught("auto p = (decltype(x)*)q;", "a pointer to a deduced type");
    // References to what is on chip, products and function types are none.
    clean("void f(float& x, float (&y)[8]) { float z[4]; z[0] = (float)n * x; }");
    clean("// float*\nconst char* s = \"float*\";");
}

#[test]
fn wide_template_arguments_are_found() {
    caught("Members<float> x;", "Members<float>");
    caught("Members<const float> x;", "Members<float>");
    caught("struct F8 { float v[8]; }; Members<const F8> x;", "Members<F8>");
    caught("struct Sums { float loss; u32 n; }; struct A { Members<Sums> x; };", "Members<Sums>");
    caught("template<class T> struct Span { T* p; }; Span<double> x;", "Span<double>");
    caught("template<class T> struct Pair { Members<T> hi, lo; }; Pair<float> x;", "Pair<float>");
    caught("Members<f32> x;", "f32 is wide storage");
    clean("struct Counts { u64 n; }; struct A { Members<const real> x; Members<Counts> y; float eps; };");
}

#[test]
fn wide_arrays_in_arguments_are_found() {
    caught("struct A { float x[4]; }; KERNEL(k, A, None, 32, 32, 1) {}", "A.x");
    caught("struct B { float x[4]; }; struct A { B b; i32 n; };\nKERNEL(k, A, None, 32, 32, 1) {}", "B.x");
    caught(
        "struct F8 { float v[8]; }; struct A { F8 x; };\nKERNEL(k, A, None, 32, 32, 1) {}",
        "an argument struct holds no array",
    );
    clean("struct A { float eps; }; struct S { float x[4]; }; KERNEL(k, A, S, 32, 32, 1) {}");
}

#[test]
fn f64_is_found() {
    caught("auto x = (double)y;", "F64");
    caught("float x = 0.5 * y;", "0.5 is an F64 number");
    caught("float x = 1e-6;", "1e-6 is an F64 number");
    clean("float x = 0.5f * y + 1e-6f; u32 h = 0x1e5u; i64 n = 1000000ll;");
    let fma = "// x\ntypedef double D2;\nfloat f(D2 a) { return 0.5; }\nfloat g() { return 0.5; }\n";
    let faults = kernels::check(&[source("base/platform.cuh", fma)]);
    assert_eq!(faults.iter().map(|f| f.line).collect::<Vec<_>>(), [4], "the exact fma alone: {faults:?}");
    assert_eq!(kernels::check(&[source("base/math.cuh", fma)]).len(), 3);
}

#[test]
fn bits_kept_as_integers_are_found() {
    caught("u32* p; p[i] = bits(x);", "F32 bits as an integer");
    caught("const u32 w = bit_cast<u32>(x);", "F32 bits as an integer");
    caught("union { float f; u32 u; } x;", "union");
    caught("float x = from_bits(p[i]);", "from_bits");
    let base = |text: &str| kernels::check(&[source("base/math.cuh", &format!("// x\n{text}"))]);
    for stored in ["p[i] = bits(x);", "*p = bits(x) | 1u;", "p->w = bit_cast<u32>(x);", "p[i] |= bits(x);"] {
        assert_eq!(base(stored).len(), 1, "{stored}");
    }
    assert_eq!(base("auto e = bits(x) & 1u; r = from_bits(bits(x) - e);"), []);
    assert_eq!(kernels::check(&[source("base/rng.cuh", "// x\np[i] = bits(x);")]), []);
}

#[test]
fn casts_that_hide_a_type_are_found() {
    caught("p[i] = (u32&)y;", "a cast to a reference");
    caught("const u32 w = (const u32&)(x + y);", "a cast to a reference");
    caught("u32 w = (u32&&)y;", "a cast to a reference");
    caught("p[i] = *(u32*)&y;", "a cast of an address");
    caught(
        "template<class T> void put(void* x, float y) { *((T*)x) = y; }",
        "a pointer to a template's type",
    );
    caught("template<typename T> auto f(void* x) { return (const T*)x; }", "a pointer to a template's type");
    // Parameters without a name, functions, products and casts of storage are none.
    clean("void f(const Row&); void g(Row&) const; bool h(u32& n) { return (n & m) && (a) & b; }");
    clean("template<class T> T pick(const T& a, T* b) { return a * b[0]; } auto p = (const real*)q;");
    // The base's loads are of every type.
    let base = "// x\ntemplate<class T> F8 load(const Early<T>& e) { return load8((const T*)&e); }";
    assert_eq!(kernels::check(&[source("base/platform.cuh", base)]), []);
}

#[test]
fn a_wide_type_under_a_macros_name_is_found() {
    for (text, what) in [
        ("#define TT float\nvoid f(TT* p);", "a pointer to TT"),
        ("#define TT const double\nMembers<TT> x;", "F64"),
        ("#define TT float\n#define UU TT\nauto p = (UU*)q;", "a pointer to UU"),
        ("#define TT float\nMembers<TT> x;", "Members<TT>"),
    ] {
        let faults = planted(text);
        assert!(faults.iter().any(|f| f.rule.contains(what)), "{text}: {faults:?}");
    }
    clean("#define HALF(x) ((float)(x) * 0.5f)\n#define WIDTH 8\nfloat y = HALF(x) * WIDTH;");
}

#[test]
fn foreign_arithmetic_is_found() {
    for call in ["expf(x)", "__expf(x)", "rsqrtf(x)", "fmaxf(x, y)", "sqrt(x)", "log1p(x)", "fma(x, y, z)"] {
        caught(&format!("float y = {call};"), call.split('(').next().unwrap());
    }
    caught("float y = __fmaf_rn(a, b, c);", "__fmaf_rn");
    caught("int i = threadIdx.x;", "threadIdx");
    caught("asm(\"ex2.approx.f32 %0, %1;\" : \"=f\"(y) : \"f\"(x));", "assembly");
    clean("float y = exp_(x) + sqrt_(z); const bool b = a.log(0) && a.log;");
    let faults = kernels::check(&[source("base/math.cuh", "// x\nfloat f(float x) { return __expf(x); }")]);
    assert_eq!(faults.len(), 1, "base/ has a list of its own: {faults:?}");
}

/// Faults of one kernel file for one kind of GPU.
fn planted_gpu(text: &str) -> Vec<Fault> {
    kernels::check(&[source("fused/x.cu", &format!("// gpu: sm_90a\n{text}"))])
}

#[test]
fn kernels_of_one_gpu_keep_the_rules_on_numbers() {
    for (text, what) in [
        ("void f(const float* p);", "a pointer to float"),
        ("void f(float p[8]);", "an array of float"),
        ("struct A { float* p; };", "a pointer to float"),
        ("struct A { Members<float> p; };", "Members<float>"),
        ("struct A { float p[4]; }; GPU_KERNEL(k, A, 0, 128, 1) {}", "A.p"),
        ("*(u32*)p = bits(x);", "F32 bits as an integer"),
        ("p[i] = __float_as_uint(x);", "F32 bits as an integer"),
        ("atomicAdd(p, x);", "atomicAdd is CUDA's"),
        ("atomic_add((float*)p, x);", "on floats"),
        ("float y = fmaxf(x, 0.f);", "fmaxf differs"),
        ("float y = __expf(x);", "__expf belongs to one compiler"),
        ("double x = 0;", "F64"),
        ("int n = gridDim.x;", "gridDim"),
        ("int n = blockDim.x;", "blockDim"),
        ("#if ON_GPU\n#endif", "#if"),
        ("asm volatile(\"bar.sync 0;\");", "assembly belongs"),
        ("#include <cuda_bf16.h>", "the tree stands alone"),
        ("#include \"cuda_runtime.h\"", "the tree stands alone"),
    ] {
        let faults = planted_gpu(text);
        assert!(faults.iter().any(|f| f.line == 2 && f.rule.contains(what)), "{text}: {faults:?}");
    }
    let free = "int t = threadIdx.x, b = blockIdx.y; __syncthreads(); __syncwarp(); x = __shfl_xor_sync(~0u, x, 1);\n\
        struct A { Members<real> y; float eps; };\n\
        GPU_KERNEL(k, A, 0, 128, 1, __cluster_dims__(2, 1, 1)) { float d[8]; clear(d); *(u32*)p = pack2(x, y); }\n\
        template<int N> void f(const float (&d)[N]);";
    assert_eq!(planted_gpu(free), []);
    // The same words in a kernel with a host build.
    for word in ["threadIdx", "blockIdx", "__syncthreads", "__shfl_xor_sync", "__cluster_dims__"] {
        caught(&format!("int x = {word};"), word);
    }
}

#[test]
fn assembly_that_breaks_a_rule_is_found() {
    let base = |code: &str| {
        let text = format!("// gpu: sm_90a\nvoid f() {{ asm volatile(\"{code}\" :: \"r\"(x)); }}");
        kernels::check(&[source("base/hopper.cuh", &text)])
    };
    for (code, what) in [
        ("st.global.f32 [%0], %1;", "memory is written"),
        ("st.global.v4.b32 [%0], {%1};", "memory is written"),
        ("st.u32 [%0], %1;", "memory is written"),
        ("red.global.add.f32 [%0], %1;", "depend on its order"),
        ("red.shared.add.f32 [%0], %1;", "depend on its order"),
        ("atom.global.add.u64 r, [%0], %1;", "atomics on integers"),
        ("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;", "plain bytes"),
        (
            "cp.reduce.async.bulk.tensor.2d.global.shared::cta.add.tile.bulk_group [%0, {%1, %2}], [%3];",
            "order",
        ),
        ("{ .reg .pred p; add.f64 a, b, c; }", "kernels compute in F32"),
    ] {
        let faults = base(code);
        assert!(faults.len() == 1 && faults[0].rule.contains(what), "{code}: {faults:?}");
    }
    for code in [
        "st.shared.v2.f32 [%0], {%1, %2};",
        "st.shared::cluster.u32 [%0], %1;",
        "red.shared.add.u32 [%0], %1;",
        "cp.async.bulk.tensor.3d.global.shared::cta.tile.bulk_group [%0, {%1, %2, %3}], [%4];",
        "cp.async.bulk.tensor.3d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3, %4}], [%5];",
        "cp.async.bulk.wait_group.read 0;",
        "cp.async.cg.shared.global [%0], [%1], 16, %2;",
        "wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 {%0}, %1, %2, p, 1, 1, 0, 0;",
    ] {
        assert_eq!(base(code), [], "{code}");
    }
    // A base header that is for every target has none.
    let faults = kernels::check(&[source("base/math.cuh", "// x\nvoid f() { asm(\"mov.u32 %0, 0;\"); }")]);
    assert!(faults.len() == 1 && faults[0].rule.contains("assembly belongs"), "{faults:?}");
}

#[test]
fn what_is_for_one_gpu_stays_out_of_host_builds() {
    let header = source("base/hopper.cuh", "// gpu: sm_90a\n#pragma once");
    let include = "#include \"hopper.cuh\"";
    let portable = source("layer/x.cu", &format!("// x\n{include}"));
    let faults = kernels::check(&[header.clone(), portable]);
    assert!(faults.len() == 1 && faults[0].path == "layer/x.cu" && faults[0].line == 2, "{faults:?}");
    let gpu = source("fused/x.cu", &format!("// gpu: sm_90a\n{include}"));
    assert_eq!(kernels::check(&[header, gpu]), []);
    caught("#include <cmath>", "the tree stands alone");
}

#[test]
fn float_atomics_are_found() {
    caught("atomicAdd(p, x);", "atomicAdd is CUDA's");
    caught("atomic_add((float*)p, x);", "atomic_add on floats");
    let text = "// x\nvoid atomic_add(float* p, float x) { atomicAdd(p, x); }";
    let faults = kernels::check(&[source("base/platform.cuh", text)]);
    assert!(faults.iter().any(|f| f.rule.contains("on floats")), "{faults:?}");
    clean("atomic_add(&total->rows, 1ull);");
}

#[test]
fn differences_between_targets_are_found() {
    caught("#ifdef __CUDACC__\n#endif", "#ifdef");
    caught("#if ON_GPU\n#else\n#endif", "#if");
    caught("#ifndef BOUND\nint x;\n#endif", "#ifndef");
    clean("#ifndef BOUND\n#define BOUND 64\n#endif\n#pragma once\n#include \"platform.cuh\"");
    assert_eq!(kernels::check(&[source("base/reduce.cuh", "// x\n#if ON_GPU\n#endif")]), []);
}

#[test]
fn files_have_names_and_openings_of_their_own() {
    let faults = kernels::check(&[source("layer/x.cu", "int a;"), source("loss/x.cu", "// x\nint a;")]);
    let lines: Vec<String> = faults.iter().map(Fault::to_string).collect();
    assert_eq!(lines.len(), 2, "{lines:?}");
    assert!(lines[0].starts_with("layer/x.cu:1: a file opens with a comment"), "{lines:?}");
    assert!(lines[1].starts_with("loss/x.cu:1: layer/x.cu has the same name"), "{lines:?}");
}

fn mirrored(cpp: &str, rust: &str) -> Vec<String> {
    let cpp = source("layer/x.cu", &format!("{cpp}\nKERNEL(k, Args, None, 32, 32, 1) {{}}"));
    let rust = source("crates/kernels/src/layer/x.rs", &format!("#[repr(C)]\nstruct Args {{ {rust} }}"));
    mirror::check(&[cpp], &[rust]).into_iter().map(|f| f.rule).collect()
}

#[test]
fn structs_that_differ_are_found() {
    let cpp = "struct Args { Members<const real> x, y; Members<u64> z[2]; i32 rows, n; float eps; };";
    let same = "x: MemberPtr, y: MemberPtr, z: [MemberPtr; 2], rows: i32, n: i32, eps: f32,";
    assert_eq!(mirrored(cpp, same), [""; 0]);
    for (fault, what) in [
        (same.replace("x: MemberPtr, y: MemberPtr", "y: MemberPtr, x: MemberPtr"), "y is x there"),
        (same.replace("rows: i32, n: i32", "n: i32, rows: i32"), "n is rows there"),
        (same.replace("eps: f32", "eps: i32"), "eps is i32, f32 there"),
        (same.replace("[MemberPtr; 2]", "[MemberPtr; 3]"), "z is Members[3], Members[2] there"),
        (same.replace(" n: i32,", ""), "eps is n there"),
        (same.replace(" eps: f32,", ""), "eps is missing here"),
        (same.replace("eps: f32,", "eps: f32, more: f32,"), "there is no more there"),
    ] {
        let found = mirrored(cpp, &fault);
        assert!(found.len() == 1 && found[0].ends_with(what), "{fault}: {found:?}");
    }
    let unnamed = "buffers: [MemberPtr; 2], z: [MemberPtr; 2], rows: i32, n: i32, eps: f32,";
    assert_eq!(mirrored(cpp, unnamed), [""; 0]);
    assert_eq!(mirrored(cpp, &unnamed.replace("; 2], z", "; 3], z")).len(), 1);
}

#[test]
fn arguments_of_one_gpu_are_compared_by_name() {
    let cpp = source(
        "fused/x.cu",
        "// gpu: sm_90a\nstruct alignas(64) TensorMap { u64 opaque[16]; };\nstruct NetMaps { TensorMap w1, w2; };\n\
         struct Args { NetMaps online; TensorMap x, h; Members<real> w; i32 rows; u32 padding[3]; };\n\
         GPU_KERNEL(k, Args, 0, 128, 1) {}",
    );
    let of = |fields: &str| {
        let text = format!(
            "#[repr(C, align(64))] struct MapSlot {{ opaque: [u64; 16] }}\n\
             #[repr(C)] struct NetMaps {{ w1: MapSlot, w2: MapSlot }}\n#[repr(C)] struct Args {{ {fields} }}"
        );
        mirror::check(std::slice::from_ref(&cpp), &[source("crates/kernels/src/fused/x.rs", &text)])
    };
    let same = "online: NetMaps, x: MapSlot, h: MapSlot, w: MemberPtr, rows: i32, padding: [u32; 3],";
    assert_eq!(of(same), []);
    for (fault, what) in [
        (same.replace("x: MapSlot, h: MapSlot", "h: MapSlot, x: MapSlot"), "h is x there"),
        (same.replace("h: MapSlot, ", ""), "w is h there"),
        (same.replace("w: MemberPtr", "w: MapSlot"), "w is TensorMap, Members there"),
        (same.replace(" padding: [u32; 3],", ""), "padding is missing here"),
    ] {
        let found = of(&fault);
        assert!(found.len() == 1 && found[0].rule.ends_with(what), "{fault}: {found:?}");
    }
    let found = mirror::check(std::slice::from_ref(&cpp), &[]);
    assert!(found.iter().any(|f| f.line == 5 && f.rule.contains("no #[repr(C)] struct")), "{found:?}");
}

#[test]
fn structs_without_a_twin_are_found() {
    let found = mirrored(
        "struct Args { i32 n; }; struct Other { i32 n; };",
        "n: i32 } #[repr(C)] struct Lost { n: i32",
    );
    assert_eq!(found, ["Lost has no struct of that name in the kernel tree"]);
    let cpp = source("layer/x.cu", "struct Args { i32 n; };\nKERNEL(k, Args, None, 32, 32, 1) {}");
    let found = mirror::check(&[cpp], &[]);
    assert!(
        found.len() == 1 && found[0].line == 2 && found[0].rule.contains("no #[repr(C)] struct"),
        "{found:?}"
    );
}

#[test]
fn array_lengths_may_be_constants() {
    let cpp = "static constexpr int MANY = 4; struct Args { i32 n[MANY]; };";
    assert_eq!(mirrored(cpp, "n: [i32; MOST] } const MOST: usize = 4; struct A {"), [""; 0]);
    assert_eq!(mirrored(cpp, "n: [i32; MOST] } const MOST: usize = 5; struct A {").len(), 1);
}
