//! An NVIDIA GPU as a device: one context, one stream, kernels from NVRTC, products from cuBLASLt, graphs.
//!
//! cudarc's bindings are used below its safe layers: those give PTX only, take no headers from memory, choose GEMM
//! algorithms anew at every call, and track every buffer with events.

mod cache;
mod check;
mod compile;
mod cubin;
mod gemm;
mod library;
mod memory;
mod module;
mod program;
mod schedule;
mod tensor_map;

pub use check::{CompiledFile, CompiledKernel, SHARED_STATIC_LIMIT, compile_all, shared_limit};
pub(crate) use library::libraries;
pub use library::{Library, LibraryReport};
pub(crate) use memory::{CudaMemory, CudaTimer};
pub(crate) use program::CudaProgram;

use crate::{DeviceError, counts::Counters};
use cudarc::driver::{
    result::{self, DriverError},
    sys::{self, CUdevice_attribute},
};
use std::{
    collections::HashMap,
    env, fmt,
    path::PathBuf,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
};

/// What a GPU says of itself.
#[derive(Clone, Debug)]
pub struct CudaInfo {
    /// Its number.
    pub ordinal: usize,
    /// `NVIDIA H200`.
    pub name: String,
    /// Compute capability, 90 for 9.0.
    pub capability: u32,
    /// Streaming multiprocessors.
    pub multiprocessors: u32,
    /// Memory.
    pub memory_bytes: usize,
    /// Largest shared memory of a block.
    pub shared_bytes: u32,
    /// The newest CUDA version that the driver knows, `13.0`.
    pub driver: String,
    /// The compiler's version and file.
    pub compiler: String,
    /// What kernels are compiled for, `sm_90`.
    pub target: String,
    /// Version of the library of matrix products.
    pub cublaslt: String,
    /// Where compiled kernels are kept; nothing where no folder is known.
    pub cache: Option<PathBuf>,
}

/// One GPU.
pub struct CudaDevice {
    info: CudaInfo,
    device: sys::CUdevice,
    context: sys::CUcontext,
    stream: sys::CUstream,
    /// Branches of captured graphs; nothing runs on it otherwise.
    side: sys::CUstream,
    compiler: compile::Compiler,
    modules: Mutex<HashMap<String, Arc<module::Module>>>,
    blas: gemm::Blas,
    allocated: AtomicUsize,
    counters: Counters,
    tf32: AtomicBool,
    /// Whether each command is waited for (`FOXHUNT_SYNC=1`), so that a fault names its kernel.
    careful: bool,
    /// Held while work is queued, so that a capture takes up nothing of another thread.
    queue: Mutex<()>,
    faults: Faults,
}

// SAFETY: the driver and cuBLASLt may be called from any thread; every method makes the context current first, and
// `queue` keeps work of different threads apart.
unsafe impl Send for CudaDevice {}
// SAFETY: as above.
unsafe impl Sync for CudaDevice {}

/// Failures of destructors, told by the next [`CudaDevice::synchronize`].
#[derive(Clone, Debug, Default)]
struct Faults(Arc<Mutex<Vec<String>>>);

impl Faults {
    fn record(&self, what: impl fmt::Display) {
        lock(&self.0).push(what.to_string());
    }

    fn take(&self) -> Option<String> {
        let faults = std::mem::take(&mut *lock(&self.0));
        (!faults.is_empty()).then(|| faults.join("; "))
    }
}

/// A lock that outlives a panic of another holder: what it guards is valid between any two statements.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// What the driver said.
fn reason(e: DriverError) -> String {
    match e.error_string() {
        Ok(text) => format!("{:?}, {}", e.0, text.to_string_lossy()),
        Err(_) => format!("{:?}", e.0),
    }
}

/// An error of the driver with what was being done.
fn doing<T>(what: impl FnOnce() -> String, r: Result<T, DriverError>) -> Result<T, DeviceError> {
    r.map_err(|e| DeviceError::Cuda { doing: what(), reason: reason(e) })
}

/// One line on what is missing for any GPU to work.
fn load_libraries() -> Result<(), DeviceError> {
    // Without a driver there is no GPU, and what else is missing is of no interest.
    Library::Cuda.load().map_err(DeviceError::Library)?;
    let missing: Vec<String> =
        [Library::Nvrtc, Library::CublasLt].iter().filter_map(|l| l.load().err()).collect();
    if missing.is_empty() { Ok(()) } else { Err(DeviceError::Library(missing.join("; "))) }
}

/// How many GPUs the driver shows.
fn count() -> Result<usize, DeviceError> {
    doing(|| "starting the CUDA driver".into(), result::init())?;
    let count = doing(|| "counting GPUs".into(), result::device::get_count())?;
    Ok(count.max(0) as usize)
}

impl CudaDevice {
    /// Opens GPU `ordinal`.
    pub(crate) fn open(ordinal: usize) -> Result<Self, DeviceError> {
        load_libraries()?;
        let count = count()?;
        if ordinal >= count {
            return Err(DeviceError::Cuda {
                doing: format!("opening GPU {ordinal}"),
                reason: format!("the driver shows {count}"),
            });
        }
        let at = |what: &str| format!("{what} of GPU {ordinal}");
        let device = doing(|| at("handle"), result::device::get(ordinal as i32))?;
        let attribute = |a: CUdevice_attribute| {
            // SAFETY: a device that the driver gave.
            doing(|| at(&format!("{a:?}")), unsafe { result::device::get_attribute(device, a) })
        };
        let major = attribute(CUdevice_attribute::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR)?;
        let minor = attribute(CUdevice_attribute::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR)?;
        let capability = (10 * major + minor) as u32;
        let name = doing(|| at("name"), result::device::get_name(device))?;
        if capability < 80 {
            return Err(DeviceError::Cuda {
                doing: format!("opening GPU {ordinal} ({name})"),
                reason: format!("compute capability {major}.{minor} is below 8.0 (Ampere)"),
            });
        }
        let compiler = compile::Compiler::new(capability, cache::Cache::of_user())?;
        let mut version = 0;
        // SAFETY: the driver is loaded; a live integer.
        doing(|| "driver version".into(), unsafe { sys::cuDriverGetVersion(&mut version) }.result())?;
        let info = CudaInfo {
            ordinal,
            name,
            capability,
            multiprocessors: attribute(CUdevice_attribute::CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT)? as u32,
            // SAFETY: a device that the driver gave.
            memory_bytes: doing(|| at("memory"), unsafe { result::device::total_mem(device) })?,
            shared_bytes: attribute(
                CUdevice_attribute::CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN,
            )? as u32,
            driver: format!("{}.{}", version / 1000, version % 1000 / 10),
            compiler: compiler.version.clone(),
            target: compiler.target(""),
            cublaslt: gemm::version(),
            cache: compiler.cache.as_ref().map(|c| c.folder.clone()),
        };
        // SAFETY: a device that the driver gave; released in `drop`.
        let context = doing(|| at("context"), unsafe { result::primary_ctx::retain(device) })?;
        let faults = Faults::default();
        let mut this = CudaDevice {
            info,
            device,
            context,
            stream: std::ptr::null_mut(),
            side: std::ptr::null_mut(),
            compiler,
            modules: Mutex::default(),
            blas: gemm::Blas::new(&faults),
            allocated: AtomicUsize::new(0),
            counters: Counters::default(),
            tf32: AtomicBool::new(false),
            careful: env::var("FOXHUNT_SYNC").is_ok_and(|v| v == "1"),
            queue: Mutex::default(),
            faults,
        };
        // From here on `drop` gives back what was taken.
        this.bind()?;
        this.stream =
            doing(|| at("stream"), result::stream::create(result::stream::StreamKind::NonBlocking))?;
        this.side = doing(|| at("stream"), result::stream::create(result::stream::StreamKind::NonBlocking))?;
        this.blas.open()?;
        Ok(this)
    }

    /// The first GPU that opens, and what was wrong with those before it.
    pub(crate) fn first() -> Result<(Self, Vec<String>), DeviceError> {
        load_libraries()?;
        let mut notes = Vec::new();
        for ordinal in 0..count()? {
            match Self::open(ordinal) {
                Ok(device) => return Ok((device, notes)),
                Err(e) => notes.push(format!("GPU {ordinal} is not used: {e}")),
            }
        }
        let reason = if notes.is_empty() { "the driver shows none".into() } else { notes.join("; ") };
        Err(DeviceError::Cuda { doing: "looking for a GPU".into(), reason })
    }

    /// What the GPU says of itself.
    pub fn info(&self) -> &CudaInfo {
        &self.info
    }

    /// Makes the context current on this thread: the driver keeps one per thread.
    fn bind(&self) -> Result<(), DeviceError> {
        // SAFETY: retained in `open` and released in `drop`.
        doing(|| format!("using GPU {}", self.info.ordinal), unsafe {
            result::ctx::set_current(self.context)
        })
    }

    /// Waits for all queued work.
    pub(crate) fn synchronize(&self) -> Result<(), DeviceError> {
        self.bind()?;
        // A stream that another thread captures can't be waited for.
        let queue = lock(&self.queue);
        self.wait(|| {
            let hint = if self.careful {
                ""
            } else {
                "; FOXHUNT_SYNC=1 waits for each command and names the one that failed"
            };
            format!("work queued on {self}{hint}")
        })?;
        drop(queue);
        match self.faults.take() {
            None => Ok(()),
            Some(reason) => {
                Err(DeviceError::Cuda { doing: "giving back what is no longer used".into(), reason })
            }
        }
    }

    /// Whether launches can begin during those ahead of them: from Hopper on.
    fn begins_early(&self) -> bool {
        self.info.capability >= 90
    }

    /// Makes `later` wait for what is queued on `earlier`.
    fn follow(&self, later: sys::CUstream, earlier: sys::CUstream) -> Result<(), DeviceError> {
        let what = || "ordering two branches of a graph".to_owned();
        let event = doing(what, result::event::create(sys::CUevent_flags_enum::CU_EVENT_DISABLE_TIMING))?;
        // SAFETY: live streams and a live event, which the driver keeps until what waits for it is done.
        let ordered = unsafe {
            result::event::record(event, earlier).and_then(|()| {
                result::stream::wait_event(later, event, sys::CUevent_wait_flags::CU_EVENT_WAIT_DEFAULT)
            })
        };
        // SAFETY: created above, used no more.
        let destroyed = unsafe { result::event::destroy(event) };
        doing(what, ordered.and(destroyed))
    }

    /// Waits for the stream, context current.
    fn wait(&self, what: impl FnOnce() -> String) -> Result<(), DeviceError> {
        self.counters.wait();
        // SAFETY: the stream lives as long as the device.
        doing(what, unsafe { result::stream::synchronize(self.stream) })
    }

    pub(crate) fn counters(&self) -> &Counters {
        &self.counters
    }

    pub(crate) fn tf32(&self) -> bool {
        self.tf32.load(Ordering::Relaxed)
    }

    pub(crate) fn set_tf32(&self, on: bool) {
        self.tf32.store(on, Ordering::Relaxed);
    }
}

impl fmt::Display for CudaDevice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "cuda:{} ({}, {})", self.info.ordinal, self.info.name, self.info.target)
    }
}

impl fmt::Debug for CudaDevice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CudaDevice").field("info", &self.info).finish_non_exhaustive()
    }
}

impl Drop for CudaDevice {
    fn drop(&mut self) {
        if self.bind().is_ok() {
            if !self.stream.is_null() {
                // Modules and the workspace may still be in use by queued work; a fault of that work has been told
                // by whoever waited for it.
                let _ = self.wait(String::new);
            }
            self.free_workspace();
            self.blas.close();
            lock(&self.modules).clear();
            for stream in [self.stream, self.side].into_iter().filter(|s| !s.is_null()) {
                // SAFETY: created in `open`; nothing uses it any more.
                if let Err(e) = unsafe { result::stream::destroy(stream) } {
                    self.faults.record(reason(e));
                }
            }
        }
        // SAFETY: retained in `open`, once.
        if let Err(e) = unsafe { result::primary_ctx::release(self.device) } {
            self.faults.record(reason(e));
        }
        if let Some(faults) = self.faults.take() {
            // The last chance to tell: nobody can wait for this device any more.
            eprintln!("closing {self}: {faults}");
        }
    }
}
