//! What follows the last epoch: the backtest on the test window, its ledger and the report.

use crate::Failure;
use foxhunt_core::DType;
use foxhunt_device::Device;
use foxhunt_train::{Config, Market};
use std::path::Path;

/// What a finished training hands over.
pub(crate) struct Finish<'a> {
    pub(crate) folder: &'a Path,
    pub(crate) config: &'a Config,
    pub(crate) config_text: &'a str,
    pub(crate) market: &'a Market,
    pub(crate) device: &'a Device,
    pub(crate) dtype: DType,
}

pub(crate) fn finish(_x: &Finish<'_>) -> Result<(), Failure> {
    Ok(())
}
