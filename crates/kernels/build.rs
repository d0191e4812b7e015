#![allow(clippy::panic, reason = "a build script reports by panicking")]

//! Compiles every `.cu` of the tree for the CPU, once per (storage type, instruction set), and writes the table of
//! entry points and sources that `src/tree.rs` includes.

#[path = "build/files.rs"]
mod files;

use files::{collect, entry_points, env, file_name, folders, gpu_only, read, write_if_changed};
use std::{fmt::Write as _, path::PathBuf};

/// Bits must not depend on the target: no contraction. The other two change no bit and make scalar loops 2.3 times
/// faster.
const FLAGS: [&str; 3] = ["-ffp-contract=off", "-fno-trapping-math", "-fno-math-errno"];

struct Variant {
    dtype: &'static str,
    isa: &'static str,
    isa_rust: &'static str,
    march: Option<&'static str>,
    reversed: bool,
}

fn variants(arch: &str) -> Vec<Variant> {
    let mut out = Vec::new();
    for dtype in ["bf16", "f32"] {
        out.push(Variant { dtype, isa: "base", isa_rust: "Base", march: None, reversed: false });
        let fast = (arch == "x86_64").then_some("-march=x86-64-v3");
        if fast.is_some() {
            out.push(Variant { dtype, isa: "v3", isa_rust: "V3", march: fast, reversed: false });
        }
        out.push(Variant { dtype, isa: "reversed", isa_rust: "Reversed", march: fast, reversed: true });
    }
    out
}

fn main() {
    let out_dir = PathBuf::from(env("OUT_DIR"));
    let root = PathBuf::from(env("CARGO_MANIFEST_DIR")).join("cu");
    println!("cargo::rerun-if-changed={}", root.display());

    let mut files = Vec::new();
    collect(&root, &mut files);
    files.sort();
    let folders = folders(&files);
    let kernels: Vec<(&PathBuf, Vec<String>)> = files
        .iter()
        .filter(|f| f.extension().is_some_and(|e| e == "cu"))
        .map(|f| (f, entry_points(&read(f))))
        .collect();
    let variants = variants(&env("CARGO_CFG_TARGET_ARCH"));

    for v in &variants {
        let suffix = format!("{}_{}", v.dtype, v.isa);
        let mut build = cc::Build::new();
        build.cpp(true).std("c++17").opt_level(3).warnings(true).debug(false);
        for flag in FLAGS {
            build.flag(flag);
        }
        for flag in ["-Wno-psabi", "-Wno-unknown-pragmas", "-Wno-unused-function", "-Wno-unused-parameter"] {
            build.flag_if_supported(flag);
        }
        if let Some(march) = v.march {
            build.flag(march);
        }
        build.define(&format!("REAL_{}", v.dtype.to_uppercase()), None).define("SUFFIX", suffix.as_str());
        if v.reversed {
            build.define("REVERSE_ITEMS", None);
        }
        for folder in &folders {
            build.include(folder);
        }
        for (file, _) in kernels.iter().filter(|(file, _)| !gpu_only(file)) {
            // In a namespace of its own, or the linker could give one build's inline code to another.
            let stem = file_name(file).replace(".cu", "");
            let cpp = out_dir.join(format!("{stem}_{suffix}.cpp"));
            write_if_changed(
                &cpp,
                &format!("namespace foxhunt_{suffix} {{\n#include \"{}\"\n}}\n", file.display()),
            );
            build.file(cpp);
        }
        build.compile(&format!("foxhunt_{suffix}"));
    }
    write_if_changed(&out_dir.join("tree.rs"), &table(&files, &kernels, &variants));
}

fn table(files: &[PathBuf], kernels: &[(&PathBuf, Vec<String>)], variants: &[Variant]) -> String {
    let mut text = String::new();
    let mut all = String::new();
    for (file, names) in kernels {
        for name in names {
            let _ = writeln!(text, "/// `{name}` of `{}`.", file_name(file));
            let _ = writeln!(text, "pub(crate) static {}: Kernel = {{", name.to_uppercase());
            if gpu_only(file) {
                let _ = writeln!(
                    text,
                    "    Kernel {{ name: \"{name}\", file: \"{}\", host: &[] }}\n}};",
                    file_name(file)
                );
                let _ = write!(all, "&{}, ", name.to_uppercase());
                continue;
            }
            let _ = writeln!(text, "    unsafe extern \"C\" {{");
            for v in variants {
                let s = format!("{}_{}", v.dtype, v.isa);
                let _ = writeln!(
                    text,
                    "        fn {name}_{s}(args: *const c_void, member: u32, begin: u32, end: u32, count: u32);"
                );
                let _ = writeln!(text, "        static {name}_info_{s}: KernelInfo;");
            }
            let _ = writeln!(text, "    }}");
            let _ = writeln!(text, "    Kernel {{ name: \"{name}\", file: \"{}\", host: &[", file_name(file));
            for v in variants {
                let s = format!("{}_{}", v.dtype, v.isa);
                let dtype = if v.dtype == "bf16" { "Bf16" } else { "F32" };
                let _ = writeln!(
                    text,
                    "        HostBuild {{ dtype: DType::{dtype}, isa: Isa::{}, entry: {name}_{s}, info: &raw const {name}_info_{s} }},",
                    v.isa_rust
                );
            }
            let _ = writeln!(text, "    ] }}\n}};");
            let _ = write!(all, "&{}, ", name.to_uppercase());
        }
    }
    let _ = writeln!(text, "static KERNELS: &[&Kernel] = &[{all}];");
    let _ = writeln!(text, "static SOURCES: &[Source] = &[");
    for file in files {
        let _ = writeln!(
            text,
            "    Source {{ name: \"{}\", text: include_str!(r\"{}\") }},",
            file_name(file),
            file.display()
        );
    }
    let _ = writeln!(text, "];");
    text
}
