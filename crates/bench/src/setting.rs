use foxhunt_device::Device;
use serde::Serialize;

/// The commit that the program was built from, where it was known.
pub const COMMIT: Option<&str> = option_env!("FOXHUNT_BUILT_COMMIT");

/// Where a result comes from: part of every line of JSON.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Setting {
    /// The device, as `foxhunt device` names it.
    pub device: String,
    /// Version of the GPU's kernel driver, where the system tells it.
    pub driver: Option<String>,
    /// The newest CUDA that the driver knows; none on a CPU.
    pub cuda: Option<String>,
    /// Version of the library of matrix products; none on a CPU.
    pub cublaslt: Option<String>,
    /// Whether products of F32 may use TF32: on a GPU that was told so.
    pub tf32: bool,
    /// The commit that the program was built from, where it was known.
    pub commit: Option<&'static str>,
    /// Whether the program was built without optimisation of its own code, whose times mean little.
    pub debug_build: bool,
}

impl Setting {
    /// Of this program on this device, which was told by [`Device::set_tf32`] whether products of F32 may use TF32.
    pub fn of(device: &Device, tf32: bool) -> Self {
        let info = device.cuda_info();
        // Where Linux shows the version of a loaded module.
        let driver = || std::fs::read_to_string("/sys/module/nvidia/version").ok();
        Setting {
            device: device.to_string(),
            driver: info.and_then(|_| driver()).map(|v| v.trim().to_owned()),
            cuda: info.map(|i| i.driver.clone()),
            cublaslt: info.map(|i| i.cublaslt.clone()),
            tf32: tf32 && device.is_cuda(),
            commit: COMMIT,
            debug_build: cfg!(debug_assertions),
        }
    }
}
