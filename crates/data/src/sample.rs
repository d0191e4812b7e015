//! The sample that is built into the program.

use crate::{
    bars::Bars,
    load::{LoadOptions, load_bytes},
    presets,
};

/// The embedded file's bytes: 6,225 hourly EUR/USD bars of 2017, ask side; see `sample/NOTICE.md` for its licence.
pub const SAMPLE_CSV: &[u8] = include_bytes!("../sample/eurusd_1h_ask_2017.csv");

/// The embedded sample as bars.
#[expect(
    clippy::expect_used,
    reason = "the bytes are fixed when the program is built, and a test loads them"
)]
pub fn sample() -> Bars {
    let options = LoadOptions { instrument: Some(presets::eurusd()), ..LoadOptions::default() };
    load_bytes("eurusd_1h_ask_2017.csv (embedded sample)", SAMPLE_CSV.to_vec(), &options)
        .expect("the embedded sample is valid")
}
