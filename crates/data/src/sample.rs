//! The sample that is built into the program.

use crate::{
    bars::Bars,
    load::{LoadOptions, load_bytes},
    presets,
};

/// The embedded file's bytes: 6,225 hourly EUR/USD bars of 2017, ask side; see `sample/NOTICE.md` for its licence.
pub const SAMPLE_CSV: &[u8] = include_bytes!("../sample/eurusd_1h_ask_2017.csv");

/// The sample's name, its bytes, and how they are read.
pub(crate) fn source() -> (&'static str, Vec<u8>, LoadOptions) {
    let options = LoadOptions { instrument: Some(presets::eurusd()), ..LoadOptions::default() };
    ("eurusd_1h_ask_2017.csv (embedded sample)", SAMPLE_CSV.to_vec(), options)
}

/// The embedded sample as bars.
#[expect(
    clippy::expect_used,
    reason = "the bytes are fixed when the program is built, and a test loads them"
)]
pub fn sample() -> Bars {
    let (path, bytes, options) = source();
    load_bytes(path, bytes, &options).expect("the embedded sample is valid")
}
