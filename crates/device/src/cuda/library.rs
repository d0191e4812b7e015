//! Finding the three CUDA libraries at run time. cudarc panics where a library or a symbol is missing, so nothing of
//! it is called before [`Library::load`] has said that all is there.

use std::{
    collections::BTreeSet,
    env,
    ffi::{CStr, OsStr},
    fmt, fs,
    path::{Path, PathBuf},
    sync::OnceLock,
};

/// A shared library that the GPU half needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Library {
    /// The driver.
    Cuda,
    /// The run-time compiler.
    Nvrtc,
    /// Matrix products.
    CublasLt,
}

/// What became of the search for one library.
#[derive(Clone, Debug)]
pub struct LibraryReport {
    /// Which one.
    pub library: Library,
    /// The file that was loaded, or one line that says what is missing.
    pub found: Result<PathBuf, String>,
}

impl fmt::Display for LibraryReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.found {
            Ok(path) => write!(f, "{}: {}", self.library.file(), path.display()),
            Err(why) => f.write_str(why),
        }
    }
}

/// The newest major version whose file names cudarc knows.
const NEWEST_MAJOR: u32 = 13;

/// Symbols that this crate calls, directly or through cudarc's `result` modules.
const CUDA_SYMBOLS: &[&str] = &[
    "cuInit",
    "cuDriverGetVersion",
    "cuGetErrorString",
    "cuDeviceGet",
    "cuDeviceGetCount",
    "cuDeviceGetName",
    "cuDeviceGetAttribute",
    "cuDeviceTotalMem_v2",
    "cuDevicePrimaryCtxRetain",
    "cuDevicePrimaryCtxRelease_v2",
    "cuCtxSetCurrent",
    "cuStreamCreate",
    "cuStreamDestroy_v2",
    "cuStreamSynchronize",
    "cuStreamWaitEvent",
    "cuStreamBeginCapture_v2",
    "cuStreamEndCapture",
    "cuMemAlloc_v2",
    "cuMemFree_v2",
    "cuMemGetInfo_v2",
    "cuMemsetD8Async",
    "cuMemcpyHtoDAsync_v2",
    "cuMemcpyDtoHAsync_v2",
    "cuModuleLoadData",
    "cuModuleUnload",
    "cuModuleGetFunction",
    "cuFuncGetAttribute",
    "cuFuncSetAttribute",
    "cuLaunchKernelEx",
    "cuTensorMapEncodeTiled",
    "cuGraphInstantiateWithFlags",
    "cuGraphUpload",
    "cuGraphLaunch",
    "cuGraphDestroy",
    "cuGraphExecDestroy",
    "cuEventCreate",
    "cuEventRecord",
    "cuEventSynchronize",
    "cuEventElapsedTime_v2",
    "cuEventDestroy_v2",
];
const NVRTC_SYMBOLS: &[&str] = &[
    "nvrtcVersion",
    "nvrtcGetNumSupportedArchs",
    "nvrtcGetSupportedArchs",
    "nvrtcCreateProgram",
    "nvrtcCompileProgram",
    "nvrtcDestroyProgram",
    "nvrtcGetProgramLogSize",
    "nvrtcGetProgramLog",
    "nvrtcGetCUBINSize",
    "nvrtcGetCUBIN",
];
const CUBLASLT_SYMBOLS: &[&str] = &[
    "cublasLtCreate",
    "cublasLtDestroy",
    "cublasLtGetVersion",
    "cublasLtMatmulDescCreate",
    "cublasLtMatmulDescDestroy",
    "cublasLtMatmulDescSetAttribute",
    "cublasLtMatrixLayoutCreate",
    "cublasLtMatrixLayoutDestroy",
    "cublasLtMatrixLayoutSetAttribute",
    "cublasLtMatmulPreferenceCreate",
    "cublasLtMatmulPreferenceDestroy",
    "cublasLtMatmulPreferenceSetAttribute",
    "cublasLtMatmulAlgoGetHeuristic",
    "cublasLtMatmulAlgoCheck",
    "cublasLtMatmulAlgoConfigGetAttribute",
    "cublasLtMatmulAlgoConfigSetAttribute",
    "cublasLtMatmul",
];

impl Library {
    /// All of them, in the order in which they are looked for.
    pub const ALL: [Library; 3] = [Library::Cuda, Library::Nvrtc, Library::CublasLt];

    /// The name without version, `libnvrtc.so`.
    pub fn file(self) -> &'static str {
        match self {
            Library::Cuda => "libcuda.so",
            Library::Nvrtc => "libnvrtc.so",
            Library::CublasLt => "libcublasLt.so",
        }
    }

    /// What `FOXHUNT_HIDE_LIBRARY` calls it.
    fn key(self) -> &'static str {
        match self {
            Library::Cuda => "cuda",
            Library::Nvrtc => "nvrtc",
            Library::CublasLt => "cublaslt",
        }
    }

    fn advice(self) -> &'static str {
        match self {
            Library::Cuda => "it comes with the NVIDIA driver",
            Library::Nvrtc => {
                "install the CUDA toolkit or the Python package nvidia-cuda-nvrtc, or name its folder in \
                 FOXHUNT_LIBRARY_PATH"
            }
            Library::CublasLt => {
                "install the CUDA toolkit or the Python package nvidia-cublas, or name its folder in \
                 FOXHUNT_LIBRARY_PATH"
            }
        }
    }

    /// Loads it once per process and says which file was taken.
    ///
    /// # Errors
    /// One line: what is missing and where it comes from.
    pub fn load(self) -> Result<PathBuf, String> {
        let hidden = env::var("FOXHUNT_HIDE_LIBRARY").unwrap_or_default();
        if hidden.split(',').any(|h| h.trim().eq_ignore_ascii_case(self.key())) {
            return Err(format!("{} is hidden by FOXHUNT_HIDE_LIBRARY", self.file()));
        }
        static FOUND: [OnceLock<Result<PathBuf, String>>; 3] = [const { OnceLock::new() }; 3];
        FOUND[self as usize].get_or_init(|| self.find()).clone()
    }

    fn find(self) -> Result<PathBuf, String> {
        let named = explicit_folders();
        let mut tried = self.preload(&named);
        // The loader path comes first, and is where cudarc looks; a library that is loaded already is found by name.
        if !self.present() {
            tried = tried.or(self.preload(&toolkit_folders())).or(self.preload(&python_folders()));
            if !self.present() {
                return Err(match tried {
                    Some(why) => format!("{}: {why}", self.file()),
                    None => format!("{} is not found: {}", self.file(), self.advice()),
                });
            }
        }
        let mut path = None;
        for name in self.symbols() {
            let address = self.symbol(name).ok_or_else(|| {
                format!(
                    "{} has no {name}: it is too old, CUDA 13.0 is what foxhunt is tested with",
                    self.file()
                )
            })?;
            path = path.or_else(|| file_of(address));
        }
        Ok(path.unwrap_or_else(|| PathBuf::from(self.file())))
    }

    fn symbols(self) -> &'static [&'static str] {
        match self {
            Library::Cuda => CUDA_SYMBOLS,
            Library::Nvrtc => NVRTC_SYMBOLS,
            Library::CublasLt => CUBLASLT_SYMBOLS,
        }
    }

    fn present(self) -> bool {
        // SAFETY: loads a library under its well-known name; its initialisers are NVIDIA's.
        unsafe {
            match self {
                Library::Cuda => cudarc::driver::sys::is_culib_present(),
                Library::Nvrtc => cudarc::nvrtc::sys::is_culib_present(),
                Library::CublasLt => cudarc::cublaslt::sys::is_culib_present(),
            }
        }
    }

    /// Address of a symbol. Only after `present` was true, or cudarc panics.
    fn symbol(self, name: &str) -> Option<*const libc::c_void> {
        // SAFETY: the library was found; the symbol's address is looked at and not called.
        unsafe {
            let library = match self {
                Library::Cuda => cudarc::driver::sys::culib(),
                Library::Nvrtc => cudarc::nvrtc::sys::culib(),
                Library::CublasLt => cudarc::cublaslt::sys::culib(),
            };
            let symbol = library.get::<unsafe extern "C" fn()>(name.as_bytes()).ok()?;
            Some(*symbol as *const libc::c_void)
        }
    }

    /// Loads the library from the first of `folders` that has it, for good, so that it is found by name from then
    /// on. What went wrong where a file was there and did not load.
    fn preload(self, folders: &[PathBuf]) -> Option<String> {
        let mut failure = None;
        for folder in folders {
            let Some((version, file)) = newest(folder, self.file()) else { continue };
            if self != Library::Cuda && version.first().is_some_and(|&v| v > NEWEST_MAJOR) {
                failure = failure.or(Some(format!("{} is newer than CUDA {NEWEST_MAJOR}", file.display())));
                continue;
            }
            if self == Library::Nvrtc {
                // NVRTC looks for its builtins by name only, so they must be loaded before it.
                if let Some((_, builtins)) = newest(folder, "libnvrtc-builtins.so") {
                    failure = open_for_good(&builtins).err().or(failure);
                }
            }
            match open_for_good(&file) {
                Ok(()) => return None,
                Err(why) => failure = failure.or(Some(why)),
            }
        }
        failure
    }
}

/// Every library, found or not, for `foxhunt device`.
pub(crate) fn libraries() -> Vec<LibraryReport> {
    Library::ALL.iter().map(|&library| LibraryReport { library, found: library.load() }).collect()
}

#[cfg(unix)]
fn open_for_good(file: &Path) -> Result<(), String> {
    use libloading::os::unix;
    // SAFETY: a file of NVIDIA's name in a folder that the user or the system set up; it is never unloaded.
    match unsafe { unix::Library::open(Some(file), unix::RTLD_LAZY | unix::RTLD_GLOBAL) } {
        Ok(library) => {
            std::mem::forget(library);
            Ok(())
        }
        Err(e) => Err(format!("{} does not load: {e}", file.display())),
    }
}

#[cfg(not(unix))]
fn open_for_good(file: &Path) -> Result<(), String> {
    Err(format!("{} can't be loaded on this system", file.display()))
}

#[cfg(unix)]
fn file_of(address: *const libc::c_void) -> Option<PathBuf> {
    use std::os::unix::ffi::OsStrExt;
    let mut info = std::mem::MaybeUninit::<libc::Dl_info>::zeroed();
    // SAFETY: dladdr takes any address and fills `info` where it returns non-zero; the name lives as long as the
    // library, which is never unloaded.
    let name = unsafe {
        if libc::dladdr(address, info.as_mut_ptr()) == 0 {
            return None;
        }
        let info = info.assume_init();
        if info.dli_fname.is_null() {
            return None;
        }
        CStr::from_ptr(info.dli_fname)
    };
    let path = PathBuf::from(OsStr::from_bytes(name.to_bytes()));
    Some(fs::canonicalize(&path).unwrap_or(path))
}

#[cfg(not(unix))]
fn file_of(_: *const libc::c_void) -> Option<PathBuf> {
    None
}

/// The file `stem`, `stem.13`, … of a folder with the highest version.
fn newest(folder: &Path, stem: &str) -> Option<(Vec<u32>, PathBuf)> {
    let version = |name: &str| -> Option<Vec<u32>> {
        let rest = name.strip_prefix(stem)?;
        rest.split('.').filter(|p| !p.is_empty()).map(|p| p.parse().ok()).collect()
    };
    fs::read_dir(folder)
        .ok()?
        .flatten()
        .filter_map(|e| Some((version(e.file_name().to_str()?)?, e.path())))
        .max()
}

/// Folders of `FOXHUNT_LIBRARY_PATH`: they hold the libraries themselves, or Python packages that do.
fn explicit_folders() -> Vec<PathBuf> {
    let Some(value) = env::var_os("FOXHUNT_LIBRARY_PATH") else { return Vec::new() };
    env::split_paths(&value).flat_map(|p| std::iter::once(p.clone()).chain(package_folders(&p))).collect()
}

/// `CUDA_HOME`, `CUDA_PATH` and the usual place of the toolkit.
fn toolkit_folders() -> Vec<PathBuf> {
    let target = match env::consts::ARCH {
        "aarch64" => "targets/sbsa-linux/lib",
        _ => "targets/x86_64-linux/lib",
    };
    let mut out: Vec<PathBuf> = ["CUDA_HOME", "CUDA_PATH"]
        .iter()
        .filter_map(env::var_os)
        .map(PathBuf::from)
        .chain([PathBuf::from("/usr/local/cuda")])
        .flat_map(|home| ["lib64", "lib", target].map(|lib| home.join(lib)))
        .collect();
    // Where containers and WSL put the driver.
    out.extend(["/usr/local/nvidia/lib64", "/usr/lib/wsl/lib"].map(PathBuf::from));
    out
}

/// Folders of NVIDIA's Python packages in the environments that can be guessed without running Python.
fn python_folders() -> Vec<PathBuf> {
    let mut sites: Vec<PathBuf> =
        env::var_os("PYTHONPATH").map(|p| env::split_paths(&p).collect()).unwrap_or_default();
    let roots = ["VIRTUAL_ENV", "CONDA_PREFIX"]
        .iter()
        .filter_map(env::var_os)
        .map(PathBuf::from)
        .chain(env::var_os("HOME").map(|h| Path::new(&h).join(".local")))
        .chain(["/usr/local", "/usr"].map(PathBuf::from));
    for root in roots {
        let pythons: BTreeSet<PathBuf> = fs::read_dir(root.join("lib"))
            .into_iter()
            .flatten()
            .flatten()
            .filter(|e| e.file_name().to_string_lossy().starts_with("python3"))
            .map(|e| e.path())
            .collect();
        for python in pythons.iter().rev() {
            sites.extend(["site-packages", "dist-packages"].map(|s| python.join(s)));
        }
    }
    sites.iter().flat_map(|s| package_folders(s)).collect()
}

fn package_folders(site: &Path) -> Vec<PathBuf> {
    ["cu13", "cuda_nvrtc", "cublas"].iter().map(|p| site.join("nvidia").join(p).join("lib")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What cudarc's `result` modules, as far as this folder calls them, call themselves.
    const WITHIN: [(&str, &str); 35] = [
        ("ctx::set_current", "cuCtxSetCurrent"),
        ("device::get", "cuDeviceGet"),
        ("device::get_attribute", "cuDeviceGetAttribute"),
        ("device::get_count", "cuDeviceGetCount"),
        ("device::get_name", "cuDeviceGetName"),
        ("device::total_mem", "cuDeviceTotalMem_v2"),
        ("event::create", "cuEventCreate"),
        ("event::destroy", "cuEventDestroy_v2"),
        ("event::elapsed", "cuEventElapsedTime_v2"),
        ("event::record", "cuEventRecord"),
        ("event::synchronize", "cuEventSynchronize"),
        ("free_sync", "cuMemFree_v2"),
        ("function::get_function_attribute", "cuFuncGetAttribute"),
        ("function::set_function_attribute", "cuFuncSetAttribute"),
        ("graph::destroy", "cuGraphDestroy"),
        ("graph::exec_destroy", "cuGraphExecDestroy"),
        ("graph::instantiate", "cuGraphInstantiateWithFlags"),
        ("graph::launch", "cuGraphLaunch"),
        ("graph::upload", "cuGraphUpload"),
        ("init", "cuInit"),
        ("malloc_sync", "cuMemAlloc_v2"),
        ("mem_get_info", "cuMemGetInfo_v2"),
        ("memcpy_dtoh_async", "cuMemcpyDtoHAsync_v2"),
        ("memcpy_htod_async", "cuMemcpyHtoDAsync_v2"),
        ("memset_d8_async", "cuMemsetD8Async"),
        ("module::get_function", "cuModuleGetFunction"),
        ("module::load_data", "cuModuleLoadData"),
        ("module::unload", "cuModuleUnload"),
        ("primary_ctx::release", "cuDevicePrimaryCtxRelease_v2"),
        ("primary_ctx::retain", "cuDevicePrimaryCtxRetain"),
        ("stream::begin_capture", "cuStreamBeginCapture_v2"),
        ("stream::create", "cuStreamCreate"),
        ("stream::destroy", "cuStreamDestroy_v2"),
        ("stream::synchronize", "cuStreamSynchronize"),
        ("stream::wait_event", "cuStreamWaitEvent"),
    ];

    /// cudarc panics at a call of a symbol that is not there, so each is looked for first.
    #[test]
    fn every_symbol_that_is_called_is_looked_for() {
        let files = [
            include_str!("mod.rs"),
            include_str!("compile.rs"),
            include_str!("gemm.rs"),
            include_str!("memory.rs"),
            include_str!("module.rs"),
            include_str!("program.rs"),
            include_str!("tensor_map.rs"),
        ];
        let calls = |module: &'static str| {
            files.into_iter().flat_map(move |text| text.split(module).skip(1)).filter_map(|rest| {
                let (name, _) = rest.split_once('(')?;
                name.chars().all(|c| c.is_alphanumeric() || "_:".contains(c)).then_some(name)
            })
        };
        let within = |call: &str| WITHIN.iter().find(|(of, _)| *of == call).map(|(_, symbol)| *symbol);
        let through = calls("result::").map(|call| within(call).unwrap_or(call));
        let called: BTreeSet<&str> = calls("sys::").chain(through).collect();
        let known: BTreeSet<&str> = Library::ALL.iter().flat_map(|l| l.symbols()).copied().collect();
        // The driver's words for an error are asked for by cudarc's error itself.
        let unsaid: Vec<_> =
            known.symmetric_difference(&called).filter(|s| **s != "cuGetErrorString").collect();
        assert!(unsaid.is_empty(), "called and not looked for, or the reverse: {unsaid:?}");
    }

    #[test]
    fn the_newest_version_of_a_library_wins_and_its_relatives_do_not_count() {
        let folder = env::temp_dir().join(format!("foxhunt-library-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        for name in [
            "libnvrtc.so.9",
            "libnvrtc.so.12",
            "libnvrtc.alt.so.13",
            "libnvrtc-builtins.so.13.0",
            "libnvrtc.so.x",
        ] {
            fs::write(folder.join(name), "").unwrap();
        }
        assert_eq!(newest(&folder, "libnvrtc.so"), Some((vec![12], folder.join("libnvrtc.so.12"))));
        assert_eq!(
            newest(&folder, "libnvrtc-builtins.so"),
            Some((vec![13, 0], folder.join("libnvrtc-builtins.so.13.0")))
        );
        assert_eq!(newest(&folder, "libcublasLt.so"), None);
        fs::remove_dir_all(&folder).unwrap();
    }
}
