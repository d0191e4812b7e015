//! The files of the kernel tree, for build scripts.

use std::{
    fs,
    path::{Path, PathBuf},
};

/// Every `.cu` and `.cuh` under `dir`; a change of any runs the build script again.
pub(crate) fn collect(dir: &Path, out: &mut Vec<PathBuf>) {
    let entries = fs::read_dir(dir).unwrap_or_else(|e| panic!("can't list {}: {e}", dir.display()));
    for entry in entries.flatten() {
        let path = entry.path();
        if path.is_dir() {
            println!("cargo::rerun-if-changed={}", path.display());
            collect(&path, out);
        } else if path.extension().is_some_and(|e| e == "cu" || e == "cuh") {
            println!("cargo::rerun-if-changed={}", path.display());
            out.push(path);
        }
    }
}

/// The folders that files lie in, each once.
pub(crate) fn folders(files: &[PathBuf]) -> std::collections::BTreeSet<&Path> {
    files.iter().filter_map(|f| f.parent()).collect()
}

/// Whether a file begins with `// gpu: …`: it is for one kind of GPU, and has no host build.
pub(crate) fn gpu_only(file: &Path) -> bool {
    read(file).starts_with("// gpu:")
}

/// The names in `KERNEL(name, …)` or `GPU_KERNEL(name, …)` at the start of a line, `EARLY_` or not.
pub(crate) fn entry_points(text: &str) -> Vec<String> {
    text.lines()
        .map(|l| l.strip_prefix("EARLY_").unwrap_or(l))
        .filter_map(|l| l.strip_prefix("GPU_").unwrap_or(l).strip_prefix("KERNEL("))
        .filter_map(|l| l.split(',').next())
        .map(|n| n.trim().to_owned())
        .collect()
}

pub(crate) fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_else(|e| panic!("can't read {}: {e}", path.display()))
}

pub(crate) fn write_if_changed(path: &Path, text: &str) {
    if fs::read_to_string(path).ok().as_deref() != Some(text) {
        fs::write(path, text).unwrap_or_else(|e| panic!("can't write {}: {e}", path.display()));
    }
}

pub(crate) fn file_name(path: &Path) -> String {
    path.file_name().map(|n| n.to_string_lossy().into_owned()).unwrap_or_default()
}

pub(crate) fn env(name: &str) -> String {
    std::env::var(name).unwrap_or_else(|e| panic!("{name}: {e}"))
}
