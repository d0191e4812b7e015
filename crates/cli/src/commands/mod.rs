//! One file per command.

pub(crate) mod act;
mod again;
pub(crate) mod backtest;
pub(crate) mod bench;
mod columns;
pub(crate) mod compare;
pub(crate) mod completions;
pub(crate) mod config;
pub(crate) mod data;
pub(crate) mod device;
pub(crate) mod features;
mod finish;
mod folds;
mod markets;
mod notes;
mod number;
mod offered;
pub(crate) mod place;
mod positions;
mod progress;
pub(crate) mod reference;
mod report;
pub(crate) mod runs;
mod setting;
mod source;
mod stop;
mod table;
mod taught;
pub(crate) mod train;
mod trained;
pub(crate) mod verify;

pub(crate) use columns::bytes;
pub(crate) use stop::{ask_to_stop, exit_code, stop_asked};

use crate::Failure;
use foxhunt_device::{Device, DeviceChoice};

/// Opens the device that was asked for and tells the user, on stderr, what they should know.
fn open(choice: DeviceChoice) -> Result<Device, Failure> {
    let (device, notes) = Device::choose(choice)?;
    for note in notes {
        note!("note: {note}");
    }
    Ok(device)
}
