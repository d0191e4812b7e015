//! What must hold of any bytes: they are refused with the file's name, or become bars that keep their promises.

use foxhunt_data::{Bars, LoadOptions, inspect, load_bytes, presets};

/// Loads `start` and `bytes` as one file and checks what comes out.
///
/// # Panics
/// If a promise does not hold: that is a finding.
pub fn check(start: &[u8], bytes: &[u8]) {
    let file = [start, bytes].concat();
    for instrument in [presets::eurusd(), presets::us_equity("X")] {
        let options = LoadOptions { instrument: Some(instrument), ..LoadOptions::default() };
        match load_bytes("fuzzed_20140505", file.clone(), &options) {
            Ok(bars) => sound(&bars),
            Err(e) => assert!(e.to_string().starts_with("fuzzed_20140505"), "{e}"),
        }
    }
}

fn sound(bars: &Bars) {
    assert!(!bars.is_empty());
    for i in 0..bars.len() {
        assert!(bars.open_ns[i] < bars.close_ns[i]);
        assert!(i == 0 || bars.close_ns[i - 1] <= bars.open_ns[i]);
        for side in [Some(&bars.bid), bars.ask.as_ref()].into_iter().flatten() {
            let (open, close) = (side.open[i], side.close[i]);
            assert!(side.low[i] > 0 && side.low[i] <= open.min(close) && side.high[i] >= open.max(close));
        }
        assert!(bars.volume_lots[i] >= 0);
    }
    assert!(!inspect(bars).to_string().is_empty());
}
