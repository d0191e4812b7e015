//! NVRTC: one file of the kernel tree, for one storage type and one architecture, to a cubin.

use super::{
    cache::Cache,
    cubin::{self, KernelImage},
    library::Library,
};
use crate::{DeviceError, KernelTree, Launch};
use cudarc::nvrtc::sys;
use foxhunt_core::DType;
use rayon::prelude::*;
use sha2::{Digest, Sha256};
use std::{
    collections::BTreeMap,
    ffi::{CStr, CString, c_char, c_int},
    fmt, fs, ptr,
};

/// Stack of a compiling thread: NVRTC recurses deeper than a default thread allows for on large kernels.
const STACK_BYTES: usize = 16 << 20;

/// What is compiled as one module.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Build {
    pub(crate) file: &'static str,
    pub(crate) dtype: DType,
    pub(crate) defines: Vec<(&'static str, u32)>,
}

impl Build {
    pub(crate) fn of(launch: &Launch) -> Self {
        let mut defines = launch.defines.clone();
        defines.sort_unstable();
        Build { file: launch.kernel.file, dtype: launch.dtype, defines }
    }
}

/// A build's sources and options, and the hash of both.
pub(crate) struct Recipe {
    pub(crate) build: Build,
    text: &'static str,
    /// Every header that the file reaches, by name.
    headers: BTreeMap<&'static str, &'static str>,
    options: Vec<String>,
    /// Names the cubin, in memory and on disk.
    pub(crate) key: String,
}

/// The compiler for one architecture.
#[derive(Debug)]
pub(crate) struct Compiler {
    /// Compute capability that it compiles for, 90 for 9.0.
    pub(crate) arch: u32,
    /// Version and file of NVRTC, part of every key.
    pub(crate) version: String,
    pub(crate) cache: Option<Cache>,
}

impl Compiler {
    /// The compiler for a GPU of this compute capability.
    pub(crate) fn new(capability: u32, cache: Option<Cache>) -> Result<Self, DeviceError> {
        let path = Library::Nvrtc.load().map_err(DeviceError::Library)?;
        let (mut major, mut minor) = (0, 0);
        // SAFETY: the library is loaded; both pointers are to live integers.
        status(unsafe { sys::nvrtcVersion(&mut major, &mut minor) }, "nvrtcVersion")?;
        // The version has no patch level, the file has.
        let bytes = fs::metadata(&path).map(|m| m.len()).unwrap_or(0);
        let file = path.file_name().map(|n| n.to_string_lossy().into_owned()).unwrap_or_default();
        let version = format!("NVRTC {major}.{minor} ({file}, {bytes} bytes)");
        let known = supported()?;
        // A cubin runs on later minor versions of its major version.
        let arch = known
            .iter()
            .copied()
            .filter(|&a| a / 10 == capability / 10 && a <= capability)
            .max()
            .ok_or_else(|| {
                DeviceError::Library(format!(
                    "{version} knows no architecture for compute capability {}.{}: install a newer one",
                    capability / 10,
                    capability % 10
                ))
            })?;
        Ok(Compiler { arch, version, cache })
    }

    /// Name of the target of a file: the architecture's, or the one that the file is written for.
    pub(crate) fn target(&self, text: &str) -> String {
        match Gpus::of(text) {
            Gpus::Only(target) => target.to_owned(),
            Gpus::All | Gpus::From(_) => format!("sm_{}", self.arch),
        }
    }

    /// Gathers what `build` is made of. `report` adds the assembler's statistics to the log.
    pub(crate) fn recipe(
        &self,
        tree: &KernelTree,
        build: &Build,
        report: bool,
    ) -> Result<Recipe, DeviceError> {
        let source = |name: &str| tree.sources.iter().find(|s| s.name == name);
        let missing = |what: String| DeviceError::Module { file: build.file.to_owned(), what };
        let main = source(build.file).ok_or_else(|| missing("is not in the kernel tree".into()))?;
        let mut headers = BTreeMap::new();
        let mut open = vec![main];
        while let Some(file) = open.pop() {
            for name in includes(file.text) {
                let header = source(name).ok_or_else(|| {
                    missing(format!("{} includes {name}, which is not in the kernel tree", file.name))
                })?;
                if headers.insert(header.name, header.text).is_none() {
                    open.push(header);
                }
            }
        }
        let target = self.target(main.text);
        let gpus = Gpus::of(main.text);
        if !gpus.have(self.arch) {
            return Err(missing(format!("is for {gpus}, and this GPU's architecture is sm_{}", self.arch)));
        }
        let mut options = vec![
            format!("--gpu-architecture={target}"),
            "--std=c++17".into(),
            "--device-as-default-execution-space".into(),
            "--device-int128".into(),
            // Bits must not depend on what the compiler contracts; nothing else may touch rounding either.
            "--fmad=false".into(),
            match build.dtype {
                DType::Bf16 => "-DREAL_BF16",
                DType::F32 => "-DREAL_F32",
            }
            .into(),
        ];
        options.extend(build.defines.iter().map(|(name, value)| format!("-D{name}={value}")));
        // For a profiler that shows a source beside its samples.
        if std::env::var_os("FOXHUNT_LINE_INFO").is_some() {
            options.push("--generate-line-info".into());
        }
        if report {
            options.push("--ptxas-options=-v".into());
        }
        let mut hash = Sha256::new();
        let parts = [self.version.as_str(), main.name, main.text];
        let headers_flat = headers.iter().flat_map(|(name, text)| [*name, *text]);
        for part in parts.into_iter().chain(headers_flat).chain(options.iter().map(String::as_str)) {
            hash.update((part.len() as u64).to_le_bytes());
            hash.update(part.as_bytes());
        }
        let digest: String = hash.finalize().iter().map(|b| format!("{b:02x}")).collect();
        let stem = build.file.trim_end_matches(".cu");
        let key = format!("{stem}-{}-{target}-{}.cubin", build.dtype, &digest[..32]);
        Ok(Recipe { build: build.clone(), text: main.text, headers, options, key })
    }

    /// The cubin from the cache if it is whole there, else from the compiler.
    pub(crate) fn cubin(&self, recipe: &Recipe) -> Result<Vec<u8>, DeviceError> {
        if let Some(cubin) = self.cache.as_ref().and_then(|c| c.read(&recipe.key))
            && self.images(recipe, &cubin).is_ok()
        {
            return Ok(cubin);
        }
        self.fresh(recipe)
    }

    /// The cubin from the compiler, kept in the cache.
    pub(crate) fn fresh(&self, recipe: &Recipe) -> Result<Vec<u8>, DeviceError> {
        let (cubin, _) = self.compile(recipe)?;
        self.images(recipe, &cubin)?;
        if let Some(cache) = &self.cache {
            // A cache that can't be written (a read-only home, a full disk) costs time and nothing else.
            let _ = cache.write(&recipe.key, &cubin);
        }
        Ok(cubin)
    }

    /// The kernels of a cubin.
    pub(crate) fn images(
        &self,
        recipe: &Recipe,
        cubin: &[u8],
    ) -> Result<BTreeMap<String, KernelImage>, DeviceError> {
        cubin::kernels(cubin, self.arch)
            .map_err(|what| DeviceError::Module { file: recipe.build.file.to_owned(), what })
    }

    /// Cubin and log.
    pub(crate) fn compile(&self, recipe: &Recipe) -> Result<(Vec<u8>, String), DeviceError> {
        let build = &recipe.build;
        let failed = |what: String| DeviceError::Compile {
            file: build.file.to_owned(),
            dtype: build.dtype,
            arch: self.target(recipe.text),
            what,
        };
        let c = |text: &str| CString::new(text).map_err(|e| failed(format!("a source with a NUL byte: {e}")));
        let text = c(recipe.text)?;
        let name = c(build.file)?;
        let names = recipe.headers.keys().map(|n| c(n)).collect::<Result<Vec<_>, _>>()?;
        let texts = recipe.headers.values().map(|t| c(t)).collect::<Result<Vec<_>, _>>()?;
        let options = recipe.options.iter().map(|o| c(o)).collect::<Result<Vec<_>, _>>()?;
        let pointers = |v: &[CString]| -> Vec<*const c_char> { v.iter().map(|s| s.as_ptr()).collect() };
        let (name_ptrs, text_ptrs, option_ptrs) = (pointers(&names), pointers(&texts), pointers(&options));

        let mut program = NvrtcProgram(ptr::null_mut());
        // SAFETY: all strings outlive the program, which is destroyed at the end of this function.
        let created = unsafe {
            sys::nvrtcCreateProgram(
                &mut program.0,
                text.as_ptr(),
                name.as_ptr(),
                names.len() as c_int,
                text_ptrs.as_ptr(),
                name_ptrs.as_ptr(),
            )
        };
        status(created, "nvrtcCreateProgram")?;
        // SAFETY: a live program; the options are `options.len()` strings.
        let compiled =
            unsafe { sys::nvrtcCompileProgram(program.0, options.len() as c_int, option_ptrs.as_ptr()) };
        let log = program.log()?;
        if compiled != sys::nvrtcResult::NVRTC_SUCCESS {
            return Err(failed(format!("{compiled:?}, options {}\n{log}", recipe.options.join(" "))));
        }
        let cubin = program.cubin()?;
        program.destroy()?;
        Ok((cubin, log))
    }
}

/// `make` of each recipe, in parallel, on threads with room for the compiler.
pub(crate) fn in_parallel<T: Send>(
    recipes: &[Recipe],
    make: impl Fn(&Recipe) -> Result<T, DeviceError> + Sync + Send,
) -> Result<Vec<T>, DeviceError> {
    if recipes.is_empty() {
        return Ok(Vec::new());
    }
    let pool = rayon::ThreadPoolBuilder::new()
        .stack_size(STACK_BYTES)
        .num_threads(rayon::current_num_threads().min(recipes.len()).max(1))
        .build()
        .map_err(|e| DeviceError::Library(format!("no threads to compile kernels on: {e}")))?;
    pool.install(|| recipes.par_iter().map(make).collect())
}

struct NvrtcProgram(sys::nvrtcProgram);

impl NvrtcProgram {
    fn log(&self) -> Result<String, DeviceError> {
        let mut bytes = 0;
        // SAFETY: a live program and a live integer.
        status(unsafe { sys::nvrtcGetProgramLogSize(self.0, &mut bytes) }, "nvrtcGetProgramLogSize")?;
        let mut log = vec![0_u8; bytes.max(1)];
        // SAFETY: the buffer has the size that NVRTC asked for.
        status(unsafe { sys::nvrtcGetProgramLog(self.0, log.as_mut_ptr().cast()) }, "nvrtcGetProgramLog")?;
        Ok(CStr::from_bytes_until_nul(&log)
            .map(|s| s.to_string_lossy().trim().to_owned())
            .unwrap_or_default())
    }

    fn cubin(&self) -> Result<Vec<u8>, DeviceError> {
        let mut bytes = 0;
        // SAFETY: a live, compiled program and a live integer.
        status(unsafe { sys::nvrtcGetCUBINSize(self.0, &mut bytes) }, "nvrtcGetCUBINSize")?;
        let mut cubin = vec![0_u8; bytes];
        // SAFETY: the buffer has the size that NVRTC asked for.
        status(unsafe { sys::nvrtcGetCUBIN(self.0, cubin.as_mut_ptr().cast()) }, "nvrtcGetCUBIN")?;
        Ok(cubin)
    }

    fn destroy(mut self) -> Result<(), DeviceError> {
        self.release()
    }

    fn release(&mut self) -> Result<(), DeviceError> {
        let mut program = std::mem::replace(&mut self.0, ptr::null_mut());
        if program.is_null() {
            return Ok(());
        }
        // SAFETY: created by NVRTC and not yet destroyed.
        status(unsafe { sys::nvrtcDestroyProgram(&mut program) }, "nvrtcDestroyProgram")
    }
}

impl Drop for NvrtcProgram {
    fn drop(&mut self) {
        // Still here only where something else went wrong, which is the error to tell.
        let _ = self.release();
    }
}

fn supported() -> Result<Vec<u32>, DeviceError> {
    let mut count = 0;
    // SAFETY: the library is loaded; a live integer.
    status(unsafe { sys::nvrtcGetNumSupportedArchs(&mut count) }, "nvrtcGetNumSupportedArchs")?;
    let mut archs = vec![0 as c_int; count.max(0) as usize];
    // SAFETY: the array has as many elements as NVRTC writes.
    status(unsafe { sys::nvrtcGetSupportedArchs(archs.as_mut_ptr()) }, "nvrtcGetSupportedArchs")?;
    Ok(archs.into_iter().filter_map(|a| u32::try_from(a).ok()).collect())
}

fn status(result: sys::nvrtcResult, doing: &str) -> Result<(), DeviceError> {
    match result {
        sys::nvrtcResult::NVRTC_SUCCESS => Ok(()),
        other => Err(DeviceError::Cuda { doing: doing.to_owned(), reason: format!("{other:?}") }),
    }
}

/// The GPUs that a file is for, by its first line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Gpus<'a> {
    /// Any; the file has a host build too.
    All,
    /// `// gpu: sm_90a`: this target alone. No host build, and in BF16.
    Only(&'a str),
    /// `// gpu: sm_80+`: this architecture and later ones. No host build.
    From(u32),
}

impl<'a> Gpus<'a> {
    pub(crate) fn of(text: &'a str) -> Self {
        let Some(named) = text.lines().next().and_then(|l| l.strip_prefix("// gpu:")).map(str::trim) else {
            return Gpus::All;
        };
        let from = named.strip_prefix("sm_").and_then(|n| n.strip_suffix('+')?.parse().ok());
        from.map_or(Gpus::Only(named), Gpus::From)
    }

    /// Whether architecture `arch` (90 for 9.0) is among them.
    pub(crate) fn have(self, arch: u32) -> bool {
        match self {
            Gpus::All => true,
            Gpus::Only(target) => target.trim_end_matches('a') == format!("sm_{arch}"),
            Gpus::From(first) => arch >= first,
        }
    }
}

impl fmt::Display for Gpus<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Gpus::All => f.write_str("every GPU"),
            Gpus::Only(target) => write!(f, "{target} alone"),
            Gpus::From(first) => write!(f, "sm_{first} and later"),
        }
    }
}

/// Names in `#include "…"`.
fn includes(text: &str) -> impl Iterator<Item = &str> {
    text.lines()
        .filter_map(|l| l.trim_start().strip_prefix('#')?.trim_start().strip_prefix("include"))
        .filter_map(|l| l.trim_start().strip_prefix('"')?.split('"').next())
}

#[cfg(test)]
mod tests {
    use super::Gpus;

    #[test]
    fn a_file_names_the_gpus_that_it_is_for() {
        let of = |line: &'static str| Gpus::of(line);
        assert_eq!(of("// A kernel.\n// gpu: sm_90a"), Gpus::All);
        assert_eq!(of("// gpu: sm_90a\n"), Gpus::Only("sm_90a"));
        assert_eq!(of("// gpu: sm_80+\n"), Gpus::From(80));
        let have = |gpus: Gpus<'_>| [75, 80, 89, 90, 100, 120].map(|arch| gpus.have(arch));
        assert_eq!(have(Gpus::All), [true; 6]);
        assert_eq!(have(Gpus::Only("sm_90a")), [false, false, false, true, false, false]);
        assert_eq!(have(Gpus::From(80)), [false, true, true, true, true, true]);
        assert_eq!(Gpus::From(80).to_string(), "sm_80 and later");
    }
}
