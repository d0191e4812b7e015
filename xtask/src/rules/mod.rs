//! `cargo xtask rules`: what the kernel tree must not hold, and that every struct that host and device share is the
//! same on both sides. Read off the sources, so that a fault is found before anything is compiled.

mod kernels;
mod mirror;
mod structs;
#[cfg(test)]
mod tests;
mod token;
mod tree;

use std::{
    fmt, fs,
    path::{Path, PathBuf},
};

/// A source, by its path below the folder that was read.
#[derive(Clone, Debug)]
pub(crate) struct Source {
    pub(crate) path: String,
    pub(crate) text: String,
}

/// A breach of a rule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Fault {
    pub(crate) path: String,
    pub(crate) line: usize,
    pub(crate) rule: String,
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.path, self.line, self.rule)
    }
}

/// Every `.rs` that has a mirror of a struct of the tree.
const MIRRORS: [&str; 3] = ["crates/kernels/src", "crates/device/src", "crates/core/src"];
const KERNELS: &str = "crates/kernels/cu";

pub(crate) fn run(mut args: impl Iterator<Item = String>) -> Result<(), String> {
    let root = match args.next() {
        Some(folder) => PathBuf::from(folder),
        None => Path::new(env!("CARGO_MANIFEST_DIR")).join(".."),
    };
    if let Some(other) = args.next() {
        return Err(format!("rules takes one folder, not '{other}' too"));
    }
    let (cpp, rust) = read_tree(&root)?;
    let mut faults = kernels::check(&cpp);
    faults.extend(mirror::check(&cpp, &rust));
    if faults.is_empty() {
        println!("{} files of the kernel tree and {} of Rust: all rules hold", cpp.len(), rust.len());
        return Ok(());
    }
    Err(faults.iter().map(Fault::to_string).collect::<Vec<_>>().join("\n"))
}

/// The kernel tree, and the Rust that mirrors its structs.
fn read_tree(root: &Path) -> Result<(Vec<Source>, Vec<Source>), String> {
    let mut cpp = Vec::new();
    let folder = root.join(KERNELS);
    collect(&folder, &folder, &["cu", "cuh"], &mut cpp)?;
    let mut rust = Vec::new();
    for mirrors in MIRRORS {
        collect(root, &root.join(mirrors), &["rs"], &mut rust)?;
    }
    Ok((cpp, rust))
}

fn collect(root: &Path, folder: &Path, extensions: &[&str], out: &mut Vec<Source>) -> Result<(), String> {
    let at = |path: &Path, e: std::io::Error| format!("{}: {e}", path.display());
    let mut entries: Vec<PathBuf> = fs::read_dir(folder)
        .map_err(|e| at(folder, e))?
        .map(|e| e.map(|e| e.path()).map_err(|e| at(folder, e)))
        .collect::<Result<_, _>>()?;
    entries.sort();
    for path in entries {
        if path.is_dir() {
            collect(root, &path, extensions, out)?;
        } else if path.extension().is_some_and(|e| extensions.iter().any(|x| e == *x)) {
            let text = fs::read_to_string(&path).map_err(|e| at(&path, e))?;
            let name = path.strip_prefix(root).unwrap_or(&path);
            out.push(Source { path: name.to_string_lossy().replace('\\', "/"), text });
        }
    }
    Ok(())
}
