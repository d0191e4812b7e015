//! `cargo xtask kernels`: every `.cu` file through NVRTC for every architecture and storage type.
//!
//! The tree is read from disk and not through the `kernels` crate, whose host builds would have to be compiled first.

use foxhunt_core::DType;
use foxhunt_device::{CompiledFile, KernelTree, Library, Source, compile_all, shared_limit};
use std::{fs, path::Path};

/// Ampere, Ada, Hopper, Blackwell.
const ARCHS: [u32; 5] = [80, 86, 89, 90, 100];

struct Options {
    archs: Vec<u32>,
    dtypes: Vec<DType>,
    /// One set for every file; none where each file names its own.
    defines: Vec<Vec<(&'static str, u32)>>,
    /// Files whose name contains this.
    only: String,
    verbose: bool,
}

pub(crate) fn run(args: impl Iterator<Item = String>) -> Result<(), String> {
    let options = parse(args)?;
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../crates/kernels/cu");
    let mut sources = Vec::new();
    collect(&root, &mut sources)?;
    sources.retain(|s| s.name.ends_with(".cuh") || s.name.contains(&options.only));
    sources.sort_by_key(|s| s.name);
    let tree = KernelTree { sources: sources.leak(), kernels: &[] };
    let nvrtc = Library::Nvrtc.load()?;
    println!("NVRTC: {}", nvrtc.display());
    let mut kernels = 0;
    let mut problems = Vec::new();
    for &arch in &options.archs {
        for &dtype in &options.dtypes {
            let files = compile_all(&tree, arch, dtype, &options.defines).map_err(|e| e.to_string())?;
            for file in &files {
                kernels += file.kernels.len();
                check(file, &mut problems);
                if options.verbose {
                    print(file);
                }
            }
        }
    }
    if problems.is_empty() {
        println!("{kernels} kernels compiled for {:?}: all fit", options.archs);
        return Ok(());
    }
    Err(problems.join("\n"))
}

fn check(file: &CompiledFile, problems: &mut Vec<String>) {
    let at = format!("{} ({}, sm_{})", file.file, file.dtype, file.arch);
    if !file.warnings.is_empty() {
        problems.push(format!("{at}:\n{}", file.warnings));
    }
    if file.kernels.is_empty() {
        problems.push(format!("{at}: no kernel"));
    }
    for kernel in &file.kernels {
        problems.extend(kernel.excess(file.arch).map(|what| format!("{at}: {what}")));
        if let Some(spilled) = kernel.spill_bytes.filter(|&b| b > 0) {
            println!("{at}: {} spills {spilled} bytes a thread", kernel.name);
        }
    }
}

fn print(file: &CompiledFile) {
    let number = |x: Option<u32>| x.map_or("?".into(), |x| x.to_string());
    for k in &file.kernels {
        println!(
            "{:<28} {:<4} sm_{:<3} block {:>4}, {:>3} registers, {:>6} bytes of shared memory ({} static) of {}, {} of stack, {} spilled, cubin {}",
            k.name,
            file.dtype.to_string(),
            file.arch,
            k.info.threads,
            number(k.registers),
            k.shared_bytes(),
            k.shared_static_bytes,
            shared_limit(file.arch),
            number(k.stack_bytes),
            number(k.spill_bytes),
            file.cubin_bytes
        );
    }
}

fn parse(mut args: impl Iterator<Item = String>) -> Result<Options, String> {
    let mut options = Options {
        archs: ARCHS.to_vec(),
        dtypes: vec![DType::Bf16, DType::F32],
        defines: Vec::new(),
        only: String::new(),
        verbose: false,
    };
    while let Some(flag) = args.next() {
        let mut value = || args.next().ok_or_else(|| format!("{flag} needs a value"));
        match flag.as_str() {
            "--arch" => {
                options.archs = value()?
                    .split(',')
                    .map(|a| a.trim_start_matches("sm_").parse().map_err(|e| format!("--arch {a}: {e}")))
                    .collect::<Result<_, _>>()?;
            }
            "--dtype" => {
                options.dtypes = vec![match value()?.as_str() {
                    "bf16" => DType::Bf16,
                    "f32" => DType::F32,
                    other => return Err(format!("--dtype {other}: use bf16 or f32")),
                }];
            }
            "--define" => {
                let text = value()?;
                let (name, number) =
                    text.split_once('=').ok_or_else(|| format!("--define {text}: use NAME=VALUE"))?;
                let number = number.parse().map_err(|e| format!("--define {text}: {e}"))?;
                if options.defines.is_empty() {
                    options.defines.push(Vec::new());
                }
                options.defines[0].push((name.to_owned().leak(), number));
            }
            "--only" => options.only = value()?,
            "--verbose" | "-v" => options.verbose = true,
            other => return Err(format!("kernels takes no '{other}'")),
        }
    }
    Ok(options)
}

fn collect(folder: &Path, out: &mut Vec<Source>) -> Result<(), String> {
    let entries = fs::read_dir(folder).map_err(|e| format!("{}: {e}", folder.display()))?;
    for entry in entries {
        let path = entry.map_err(|e| format!("{}: {e}", folder.display()))?.path();
        if path.is_dir() {
            collect(&path, out)?;
        } else if path.extension().is_some_and(|e| e == "cu" || e == "cuh") {
            let text = fs::read_to_string(&path).map_err(|e| format!("{}: {e}", path.display()))?;
            let name = path.file_name().map(|n| n.to_string_lossy().into_owned()).unwrap_or_default();
            out.push(Source { name: name.leak(), text: text.leak() });
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use foxhunt_device::{CompiledKernel, KernelInfo};

    #[test]
    fn what_the_compiler_warns_of_fails() {
        let info = KernelInfo { args_bytes: 16, shared_bytes: 0, threads: 128, teams: 1 };
        let kernel = CompiledKernel {
            name: "k".into(),
            info,
            shared_static_bytes: 0,
            registers: None,
            stack_bytes: None,
            spill_bytes: None,
        };
        let file = CompiledFile {
            file: "k.cu".into(),
            dtype: DType::Bf16,
            arch: 90,
            defines: Vec::new(),
            cubin_bytes: 1,
            kernels: vec![kernel],
            warnings: String::new(),
        };
        let problems = |file: &CompiledFile| {
            let mut problems = Vec::new();
            check(file, &mut problems);
            problems
        };
        assert_eq!(problems(&file), [""; 0]);
        let serial =
            "ptxas info    : (C7510) Potential Performance Loss: wgmma.mma_async instructions are serialized";
        let found = problems(&CompiledFile { warnings: serial.into(), ..file.clone() });
        assert!(found.len() == 1 && found[0].contains("k.cu (bf16, sm_90)") && found[0].contains("C7510"));
        assert_eq!(problems(&CompiledFile { kernels: Vec::new(), ..file }).len(), 1);
    }
}
