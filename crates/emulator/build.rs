#![allow(clippy::panic, reason = "a build script reports by panicking")]

//! Compiles the kernels of the tree that have no host build against the emulated `hopper.cuh`, once per set of bounds, and
//! writes the table of them that `src/table.rs` includes.

#[path = "../kernels/build/files.rs"]
mod files;

use files::{collect, entry_points, env, file_name, folders, gpu_only, read, write_if_changed};
use std::{
    fmt::Write as _,
    path::{Path, PathBuf},
};

/// Sets of bounds beside those that the files name: small networks, for tests that are fast, and shapes that no
/// configuration has. A line is a file's name, for one storage type a space and that, a colon, and what a line `// bounds:` in it
/// would say.
const BOUNDS: &str = include_str!("bounds.txt");

fn main() {
    let out_dir = PathBuf::from(env("OUT_DIR"));
    let own = PathBuf::from(env("CARGO_MANIFEST_DIR"));
    let root = own.join("../kernels/cu");
    for path in [&root, &own.join("cu"), &own.join("bounds.txt")] {
        println!("cargo::rerun-if-changed={}", path.display());
    }
    let mut files = Vec::new();
    collect(&root, &mut files);
    collect(&own.join("cu/probe"), &mut files);
    files.sort();

    let mut build = cc::Build::new();
    build.cpp(true).std("c++17").opt_level(2).warnings(false).debug(false);
    build.flag("-ffp-contract=off").flag_if_supported("-Wno-psabi").include(own.join("cu"));
    for folder in folders(&files) {
        build.include(folder);
    }
    let mut externs = String::new();
    let mut rows = String::new();
    let mut suffix = 0;
    for file in files.iter().filter(|f| f.extension().is_some_and(|e| e == "cu") && gpu_only(f)) {
        let text = read(file);
        for dtype in dtypes(&text) {
            for bounds in bounds(&file_name(file), &text, dtype) {
                suffix += 1;
                let cpp = out_dir.join(format!("emulated_{suffix}.cpp"));
                write_if_changed(&cpp, &unit(file, dtype, &bounds, suffix));
                build.file(cpp);
                for name in entry_points(&text) {
                    let _ = writeln!(externs, "    fn {name}_emulated_{suffix}(args: *const c_void);");
                    let _ = writeln!(externs, "    static {name}_emulated_info_{suffix}: EmulatedInfo;");
                    let _ = writeln!(
                        rows,
                        "    Build {{ kernel: \"{name}\", dtype: DType::{dtype}, bounds: &{bounds:?}, entry: {name}_emulated_{suffix}, info: &raw const {name}_emulated_info_{suffix} }},"
                    );
                }
            }
        }
    }
    build.compile("foxhunt_emulated");
    let table = format!("unsafe extern \"C\" {{\n{externs}}}\nstatic BUILDS: &[Build] = &[\n{rows}];\n");
    write_if_changed(&out_dir.join("table.rs"), &table);
}

/// A file with its bounds, in a namespace of its own: or the linker could give one build's inline code to another.
fn unit(file: &Path, dtype: &str, bounds: &[(String, u32)], suffix: u32) -> String {
    let mut text = format!("#define REAL_{}\n#define SUFFIX {suffix}\n", dtype.to_uppercase());
    for (name, value) in bounds {
        let _ = writeln!(text, "#define {name} {value}");
    }
    let _ = writeln!(text, "namespace foxhunt_emulated_{suffix} {{\n#include \"{}\"\n}}", file.display());
    text
}

/// The storage types that a file is for: both where it is for more than one kind of GPU, whose machinery is in BF16.
fn dtypes(text: &str) -> &'static [&'static str] {
    let many = text.lines().next().is_some_and(|l| l.trim_end().ends_with('+'));
    if many { &["Bf16", "F32"] } else { &["Bf16"] }
}

/// Every set of bounds of a file, its own first, each sorted by name.
fn bounds(name: &str, text: &str, dtype: &str) -> Vec<Vec<(String, u32)>> {
    let only = format!(" {}:", dtype.to_lowercase());
    fn after<'a>(l: &'a str, only: &str) -> Option<&'a str> {
        l.strip_prefix(':').or_else(|| l.strip_prefix(only))
    }
    let own = text.lines().filter_map(|l| after(l.strip_prefix("// bounds")?, &only));
    let more = BOUNDS.lines().filter_map(|l| after(l.strip_prefix(name)?, &only));
    let mut sets: Vec<Vec<(String, u32)>> = own.chain(more).map(set).collect();
    sets.sort();
    sets.dedup();
    if sets.is_empty() { vec![Vec::new()] } else { sets }
}

fn set(line: &str) -> Vec<(String, u32)> {
    let mut set: Vec<(String, u32)> = line
        .split_whitespace()
        .map(|pair| {
            let (name, value) =
                pair.split_once('=').unwrap_or_else(|| panic!("bounds '{line}' are no NAME=VALUE"));
            (name.to_owned(), value.parse().unwrap_or_else(|e| panic!("bounds '{line}': {e}")))
        })
        .collect();
    set.sort();
    set
}
