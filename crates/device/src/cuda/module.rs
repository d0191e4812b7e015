//! Compiled kernels, loaded.

use super::{
    CudaDevice, Faults,
    compile::{Build, Recipe, in_parallel},
    cubin::KernelImage,
    doing, lock, reason,
};
use crate::{DeviceError, Kernel, KernelInfo, KernelTree};
use cudarc::driver::{
    result::{self, DriverError},
    sys::{self, CUfunction_attribute},
};
use std::{
    collections::{BTreeMap, BTreeSet, HashMap},
    ffi::CString,
    sync::Arc,
};

/// Shared memory that a block gets without being asked about.
const SHARED_DEFAULT: u32 = 48 << 10;

/// A loaded cubin.
pub(super) struct Module {
    handle: sys::CUmodule,
    images: BTreeMap<String, KernelImage>,
    faults: Faults,
}

// SAFETY: a handle of the driver, which may be used from any thread.
unsafe impl Send for Module {}
// SAFETY: as above; nothing changes it between loading and dropping.
unsafe impl Sync for Module {}

/// A kernel that can be launched, as long as its module lives.
#[derive(Clone)]
pub(super) struct Function {
    pub(super) handle: sys::CUfunction,
    pub(super) info: KernelInfo,
    _module: Arc<Module>,
}

impl Drop for Module {
    fn drop(&mut self) {
        // SAFETY: loaded in `load`; functions hold the module, so none is left.
        if let Err(e) = unsafe { result::module::unload(self.handle) } {
            self.faults.record(format!("unloading a module: {}", reason(e)));
        }
    }
}

impl CudaDevice {
    /// The modules of `builds`, compiled in parallel where they are neither loaded nor on disk.
    pub(super) fn modules(
        &self,
        tree: &KernelTree,
        builds: &BTreeSet<Build>,
    ) -> Result<HashMap<Build, Arc<Module>>, DeviceError> {
        let mut out = HashMap::new();
        let mut missing = Vec::new();
        for build in builds {
            let recipe = self.compiler.recipe(tree, build, false)?;
            match lock(&self.modules).get(&recipe.key) {
                Some(module) => {
                    out.insert(build.clone(), module.clone());
                }
                None => missing.push(recipe),
            }
        }
        let cubins = in_parallel(&missing, |recipe| self.compiler.cubin(recipe))?;
        for (recipe, cubin) in missing.iter().zip(cubins) {
            let module = match self.load(recipe, &cubin) {
                Ok(module) => module,
                // A cubin from the disk that this driver refuses; a fresh one may do.
                Err(_) => self.load(recipe, &self.compiler.fresh(recipe)?)?,
            };
            // Where two threads loaded the same module, both use the first.
            let module = lock(&self.modules).entry(recipe.key.clone()).or_insert(Arc::new(module)).clone();
            out.insert(recipe.build.clone(), module);
        }
        Ok(out)
    }

    fn load(&self, recipe: &Recipe, cubin: &[u8]) -> Result<Module, DeviceError> {
        self.bind()?;
        let images = self.compiler.images(recipe, cubin)?;
        let what = || {
            format!(
                "loading {} (driver for CUDA {}, {})",
                recipe.key, self.info.driver, self.compiler.version
            )
        };
        // SAFETY: a whole cubin (it was parsed), which the driver copies.
        let handle = doing(what, unsafe { result::module::load_data(cubin.as_ptr().cast()) })?;
        Ok(Module { handle, images, faults: self.faults.clone() })
    }

    /// `kernel` of `module`, ready for its shared memory.
    pub(super) fn function(&self, module: &Arc<Module>, kernel: &Kernel) -> Result<Function, DeviceError> {
        let wrong = |what: String| DeviceError::Module { file: kernel.file.to_owned(), what };
        let image =
            module.images.get(kernel.name).ok_or_else(|| wrong(format!("has no kernel {}", kernel.name)))?;
        let info = image.info;
        let name = CString::new(kernel.name).map_err(|e| wrong(format!("{}: {e}", kernel.name)))?;
        // SAFETY: a live module.
        let handle = doing(|| format!("kernel {}", kernel.name), unsafe {
            result::module::get_function(module.handle, name)
        })?;
        let told = |what: &str, r: Result<_, DriverError>| doing(|| format!("{what} of {}", kernel.name), r);
        // SAFETY: a live function.
        let threads = told("thread limit", unsafe {
            result::function::get_function_attribute(
                handle,
                CUfunction_attribute::CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK,
            )
        })?;
        if info.threads == 0 || info.teams == 0 || info.threads > threads as u32 {
            return Err(wrong(format!(
                "{} asks for {} threads of at most {threads}",
                kernel.name, info.threads
            )));
        }
        let total = image.static_shared + info.shared_bytes;
        if total > self.info.shared_bytes {
            return Err(wrong(format!(
                "{} needs {total} bytes of shared memory ({} static, {} dynamic); {self} has {}",
                kernel.name, image.static_shared, info.shared_bytes, self.info.shared_bytes
            )));
        }
        if total > SHARED_DEFAULT {
            // SAFETY: a live function.
            doing(|| format!("{} bytes of shared memory for {}", info.shared_bytes, kernel.name), unsafe {
                result::function::set_function_attribute(
                    handle,
                    CUfunction_attribute::CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
                    info.shared_bytes as i32,
                )
            })?;
        }
        Ok(Function { handle, info, _module: module.clone() })
    }
}
