use foxhunt_device::Device;
use serde::Serialize;

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
    /// The commit that the program was built from, where it was known.
    pub commit: Option<&'static str>,
    /// Whether the program was built without optimisation of its own code, whose times mean little.
    pub debug_build: bool,
}

impl Setting {
    /// Of this device and this program.
    pub fn of(device: &Device) -> Self {
        let info = device.cuda_info();
        // Where Linux shows the version of a loaded module.
        let driver = || std::fs::read_to_string("/sys/module/nvidia/version").ok();
        Setting {
            device: device.to_string(),
            driver: info.and_then(|_| driver()).map(|v| v.trim().to_owned()),
            cuda: info.map(|i| i.driver.clone()),
            cublaslt: info.map(|i| i.cublaslt.clone()),
            commit: option_env!("FOXHUNT_BUILT_COMMIT"),
            debug_build: cfg!(debug_assertions),
        }
    }
}
