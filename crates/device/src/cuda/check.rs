//! Compiling the whole kernel tree without a GPU, to see that it compiles for every architecture and fits.

use super::compile::{Build, Compiler, Gpus, in_parallel};
use crate::{DeviceError, KernelInfo, KernelTree, Source};
use foxhunt_core::DType;

/// One file of the kernel tree, compiled.
#[derive(Clone, Debug)]
pub struct CompiledFile {
    /// Which file.
    pub file: String,
    /// Which storage type.
    pub dtype: DType,
    /// For which compute capability, 90 for 9.0.
    pub arch: u32,
    /// With which bounds.
    pub defines: Vec<(&'static str, u32)>,
    /// Size of the cubin.
    pub cubin_bytes: usize,
    /// Its entry points.
    pub kernels: Vec<CompiledKernel>,
    /// What the compiler said beside the assembler's statistics: warnings.
    pub warnings: String,
}

/// One entry point, compiled.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CompiledKernel {
    /// The symbol.
    pub name: String,
    /// What it says of itself.
    pub info: KernelInfo,
    /// Static shared memory of a block.
    pub shared_static_bytes: u32,
    /// Registers of a thread.
    pub registers: Option<u32>,
    /// Bytes of a thread's stack frame: arrays that are not in registers, and spilled registers.
    pub stack_bytes: Option<u32>,
    /// Bytes stored because registers ran out.
    pub spill_bytes: Option<u32>,
}

/// Static shared memory ends here on every architecture.
pub const SHARED_STATIC_LIMIT: u32 = 48 << 10;

impl CompiledKernel {
    /// Static and dynamic shared memory of a block.
    pub fn shared_bytes(&self) -> u32 {
        self.shared_static_bytes + self.info.shared_bytes
    }

    /// What doesn't fit on compute capability `arch`.
    pub fn excess(&self, arch: u32) -> Option<String> {
        let (name, limit) = (&self.name, shared_limit(arch));
        if self.shared_static_bytes > SHARED_STATIC_LIMIT {
            return Some(format!(
                "{name}: {} bytes of static shared memory, more than {SHARED_STATIC_LIMIT}",
                self.shared_static_bytes
            ));
        }
        (self.shared_bytes() > limit).then(|| {
            format!(
                "{name}: {} bytes of shared memory ({} static, {} dynamic), more than {limit}",
                self.shared_bytes(),
                self.shared_static_bytes,
                self.info.shared_bytes
            )
        })
    }
}

/// Largest shared memory of a block, by compute capability (CUDA C++ Programming Guide, "Technical Specifications").
pub fn shared_limit(arch: u32) -> u32 {
    let kib = match arch {
        80 | 87 => 163,
        86 | 89 | 120.. => 99,
        90..=119 => 227,
        _ => 48,
    };
    kib << 10
}

/// Compiles every `.cu` file of `tree` for compute capability `arch` (90 for 9.0), once per set of defines. Without any
/// set, each file is compiled with those that it names itself, a line each: `// bounds: LN_N=256`, or `// bounds bf16: LN_N=256`
/// for one storage type; a file that names none has no bounds to give. Needs NVRTC and no GPU. Nothing is taken from the cache.
///
/// # Errors
/// No NVRTC, or what it says of the first file that it refuses.
pub fn compile_all(
    tree: &KernelTree,
    arch: u32,
    dtype: DType,
    defines: &[Vec<(&'static str, u32)>],
) -> Result<Vec<CompiledFile>, DeviceError> {
    let compiler = Compiler::new(arch, None)?;
    if compiler.arch != arch {
        return Err(DeviceError::Library(format!("{} can't compile for sm_{arch}", compiler.version)));
    }
    let mut recipes = Vec::new();
    let applies = |s: &&Source| {
        let gpus = Gpus::of(s.text);
        gpus.have(arch) && (dtype == DType::Bf16 || !matches!(gpus, Gpus::Only(_)))
    };
    for source in tree.sources.iter().filter(|s| s.name.ends_with(".cu")).filter(applies) {
        let sets = if defines.is_empty() { bounds(source, dtype)? } else { defines.to_vec() };
        for defines in sets {
            let build = Build { file: source.name, dtype, defines };
            recipes.push(compiler.recipe(tree, &build, true)?);
        }
    }
    in_parallel(&recipes, |recipe| {
        let (cubin, log) = compiler.compile(recipe)?;
        let kernels = compiler
            .images(recipe, &cubin)?
            .into_iter()
            .map(|(name, image)| {
                let statistics = statistics(&log, &name);
                CompiledKernel {
                    info: image.info,
                    shared_static_bytes: image.static_shared,
                    registers: statistics.and_then(|s| before(s, " registers")),
                    stack_bytes: statistics.and_then(|s| before(s, " bytes stack frame")),
                    spill_bytes: statistics.and_then(|s| before(s, " bytes spill stores")),
                    name,
                }
            })
            .collect();
        Ok(CompiledFile {
            file: recipe.build.file.to_owned(),
            dtype,
            arch,
            defines: recipe.build.defines.clone(),
            cubin_bytes: cubin.len(),
            kernels,
            warnings: warnings(&log),
        })
    })
}

/// What a log says beside the assembler's statistics. C7510 to C7520 are among what counts, though the assembler calls
/// them information: products of a warpgroup that it puts one after another.
fn warnings(log: &str) -> String {
    let statistics = |l: &str| {
        let told = l.starts_with("ptxas info") || l.starts_with("ptxas         .");
        told && !l.contains("(C75") && !l.contains("wgmma")
    };
    log.lines().filter(|l| !statistics(l)).collect::<Vec<_>>().join("\n").trim().to_owned()
}

/// The sets of defines that a file asks to be checked with.
fn bounds(source: &Source, dtype: DType) -> Result<Vec<Vec<(&'static str, u32)>>, DeviceError> {
    let set = |line: &'static str| {
        line.split_whitespace()
            .map(|pair| pair.split_once('=').and_then(|(name, value)| Some((name, value.parse().ok()?))))
            .collect::<Option<Vec<_>>>()
            .ok_or_else(|| DeviceError::Module {
                file: source.name.to_owned(),
                what: format!("'// bounds:{line}' is not a list of NAME=VALUE"),
            })
    };
    let text: &'static str = source.text;
    let own = format!("// bounds {dtype}:");
    let named = |l: &'static str| l.strip_prefix("// bounds:").or_else(|| l.strip_prefix(own.as_str()));
    let sets: Vec<_> = text.lines().filter_map(named).map(set).collect::<Result<_, _>>()?;
    Ok(if sets.is_empty() { vec![Vec::new()] } else { sets })
}

/// The assembler's lines on one kernel.
fn statistics<'a>(log: &'a str, kernel: &str) -> Option<&'a str> {
    let start = log.find(&format!("Compiling entry function '{kernel}'"))?;
    let rest = &log[start..];
    let end = rest[1..].find("Compiling entry function").map_or(rest.len(), |e| e + 1);
    Some(&rest[..end])
}

/// The number before `label`.
fn before(text: &str, label: &str) -> Option<u32> {
    let head = &text[..text.find(label)?];
    head.rsplit(|c: char| !c.is_ascii_digit()).next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    const LOG: &str = "ptxas info    : Compiling entry function 'a' for 'sm_90'
ptxas info    : Function properties for a
ptxas         .     8 bytes stack frame, 4 bytes spill stores, 12 bytes spill loads
ptxas info    : Used 21 registers, used 16 barriers, 128 bytes smem
ptxas info    : Compiling entry function 'ab' for 'sm_90'
ptxas         .     0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
ptxas info    : Used 80 registers, used 0 barriers";

    #[test]
    fn the_log_tells_registers_and_spills_of_each_kernel() {
        let of = |kernel: &str| {
            let s = statistics(LOG, kernel).unwrap();
            (before(s, " registers"), before(s, " bytes stack frame"), before(s, " bytes spill stores"))
        };
        assert_eq!(of("a"), (Some(21), Some(8), Some(4)));
        assert_eq!(of("ab"), (Some(80), Some(0), Some(0)));
        assert_eq!(statistics(LOG, "b"), None);
    }

    #[test]
    fn products_put_in_a_row_are_a_warning_and_statistics_are_none() {
        assert_eq!(warnings(LOG), "");
        let serial = "ptxas info    : (C7510) Potential Performance Loss: wgmma.mma_async instructions are \
                      serialized due to non wgmma instructions defining accumulator registers of a wgmma between \
                      start and end of the pipeline stage in the function 'a'";
        let other = "ptxas warning : Value of threads per SM for entry a is out of range.";
        let front = "x.cu(17): warning #177-D: function \"f\" was declared but never referenced";
        for line in [serial, other, front] {
            let (head, tail) = LOG.split_at(LOG.find("ptxas info    : Used 21").unwrap());
            assert_eq!(warnings(&format!("{head}{line}\n{tail}")), line);
        }
    }

    #[test]
    fn a_file_names_the_bounds_it_is_checked_with() {
        let of = |text: &'static str| bounds(&Source { name: "k.cu", text }, DType::F32);
        assert_eq!(of("int x;\n").unwrap(), [vec![]]);
        assert_eq!(
            of("// bounds: A=1 B=22\n// bounds: A=3\n").unwrap(),
            [vec![("A", 1), ("B", 22)], vec![("A", 3)]]
        );
        assert_eq!(
            of("// bounds: A=1\n// bounds bf16: A=2\n// bounds f32: A=3\n").unwrap(),
            [[("A", 1)], [("A", 3)]]
        );
        assert!(of("// bounds: A\n").unwrap_err().to_string().contains("k.cu"));
    }

    #[test]
    fn shared_memory_beyond_the_limit_is_named() {
        let info = KernelInfo { args_bytes: 16, shared_bytes: 200 << 10, threads: 256, teams: 1 };
        let kernel = CompiledKernel {
            name: "k".into(),
            info,
            shared_static_bytes: 64,
            registers: None,
            stack_bytes: None,
            spill_bytes: None,
        };
        assert_eq!(kernel.excess(90), None);
        assert!(kernel.excess(80).unwrap().contains("k: 204864 bytes"));
        let kernel = CompiledKernel { shared_static_bytes: SHARED_STATIC_LIMIT + 1, ..kernel };
        assert!(kernel.excess(90).unwrap().contains("static"));
    }
}
