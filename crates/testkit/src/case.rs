use foxhunt_core::DType;
use foxhunt_device::{Device, DeviceError};
use foxhunt_nn::PlanError;

/// How a case is run.
#[derive(Clone, Debug)]
pub struct Setting {
    /// Storage type.
    pub dtype: DType,
    /// Population members.
    pub members: usize,
    /// The case's own dimensions.
    pub size: Vec<usize>,
    /// Seed of the inputs.
    pub seed: u64,
    /// Inputs with NaN, infinities, subnormals and any bits: for comparing bits alone.
    pub wild: bool,
}

/// One result buffer.
#[derive(Clone, Debug, PartialEq)]
pub struct Output {
    /// Its name.
    pub name: String,
    /// Its bytes, `[members, rows, cols]`.
    pub bytes: Vec<u8>,
    /// Its values, where it is real.
    pub values: Vec<f32>,
}

/// Why a case failed.
#[derive(Debug, thiserror::Error)]
pub enum CaseError {
    /// The plan or the device refused.
    #[error(transparent)]
    Plan(#[from] PlanError),
    /// The device refused.
    #[error(transparent)]
    Device(#[from] DeviceError),
    /// A result differs from its reference.
    #[error("{0}")]
    Differs(String),
}

/// An operation, or a small graph of operations, that can be checked anywhere.
pub trait Case: Sync {
    /// Its name.
    fn name(&self) -> &'static str;

    /// Dimensions to run at: ordinary ones, 1, odd ones, ones that are no multiple of 32 or 64.
    fn sizes(&self) -> Vec<Vec<usize>>;

    /// Whether all builds and devices must agree bit for bit; matrix products of a library need not.
    fn exact(&self) -> bool;

    /// Runs it once on `device` and returns every result. With `check`, also holds the results against the reference.
    ///
    /// # Errors
    /// What differs, or what the device reports.
    fn run(&self, device: &Device, setting: &Setting, check: bool) -> Result<Vec<Output>, CaseError>;
}
