//! An instrument's TOML: what is read is valid, and is read back the same.

#![no_main]

use foxhunt_data::Instrument;

libfuzzer_sys::fuzz_target!(|text: &str| {
    if let Ok(instrument) = Instrument::from_toml(text) {
        assert!(instrument.validate().is_ok());
        assert!(instrument.to_toml().is_ok_and(|again| Instrument::from_toml(&again).is_ok_and(|i| i == instrument)));
    }
});
