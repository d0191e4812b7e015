//! What must hold of any bytes: they are refused with the file's name, or become what keeps its promises. The fuzzer runs
//! this, and so does an ordinary test over the corpus.

use foxhunt_data::{
    BarStream, Bars, DataError, Instrument, LoadOptions, OfMarket, Positions, inspect, load_bytes, presets,
    sample,
};

/// The targets, as the files of `targets` are called.
pub const TARGETS: [&str; 7] = ["text", "json", "packed", "parquet", "dbn", "instrument", "positions"];

/// Runs one target on what the fuzzer made up.
///
/// # Panics
/// If a promise does not hold: that is a finding. For a name that is none of [`TARGETS`].
pub fn run(target: &str, bytes: &[u8]) {
    let (first, rest) = bytes.split_first().unwrap_or((&0, &[]));
    match target {
        "text" => bars(b"", bytes),
        "json" => bars(b"[", bytes),
        "packed" => {
            let starts: [&[u8]; 4] = [b"\x1f\x8b\x08", b"\x28\xb5\x2f\xfd", b"PK\x03\x04", b"\xff\xfe"];
            bars(starts[usize::from(*first) % 4], rest);
        }
        "parquet" => bars(b"PAR1", bytes),
        "dbn" => bars(&[b'D', b'B', b'N', 1 + first % 3], rest),
        "instrument" => instrument(&String::from_utf8_lossy(bytes)),
        "positions" => positions(bytes),
        other => panic!("there is no target {other}"),
    }
}

/// Loads `start` and `bytes` as one file and checks what comes out.
fn bars(start: &[u8], bytes: &[u8]) {
    let file = [start, bytes].concat();
    for instrument in [presets::eurusd(), presets::us_equity("X")] {
        let extra = if file.len() % 2 == 0 { vec![] } else { vec!["#7".into()] };
        let options = LoadOptions { instrument: Some(instrument), extra, ..LoadOptions::default() };
        let loaded = load_bytes("fuzzed_20140505", file.clone(), &options);
        alike("fuzzed_20140505", file.clone(), &options, &loaded);
        match loaded {
            Ok(bars) => sound(&bars),
            Err(e) => assert!(e.to_string().starts_with("fuzzed_20140505"), "{e}"),
        }
    }
}

/// Bars that are taken one after the other are those that are held, and refusals are the same.
///
/// # Panics
/// If they are not.
pub fn alike(path: &str, file: Vec<u8>, options: &LoadOptions, loaded: &Result<Bars, DataError>) {
    let streamed = BarStream::from_bytes(path, file, options);
    let (mut stream, bars) = match (streamed, loaded) {
        (Ok(stream), Ok(bars)) => (stream, bars),
        (Err(a), Err(b)) => return assert_eq!(a.to_string(), b.to_string()),
        (a, b) => panic!("streamed {:?}, loaded {:?}", a.err().map(|e| e.to_string()), b.as_ref().err()),
    };
    assert_eq!(*stream.heading(), bars.heading());
    let mut at = 0;
    let each = stream.each(|bar| {
        assert_eq!(*bar, bars.bar(at));
        at += 1;
        Ok(())
    });
    assert!(each.is_ok() && at == bars.len());
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
    for column in &bars.extra {
        assert!(column.values.len() == bars.len() && column.first < bars.len());
        assert!(column.values.iter().all(|v| (*v as f32).is_finite()));
    }
    assert!(!inspect(bars).to_string().is_empty());
}

fn instrument(text: &str) {
    if let Ok(instrument) = Instrument::from_toml(text) {
        assert!(instrument.validate().is_ok());
        let again = instrument.to_toml().ok().and_then(|text| Instrument::from_toml(&text).ok());
        assert_eq!(again, Some(instrument));
    }
}

fn positions(bytes: &[u8]) {
    thread_local!(static BARS: Bars = sample().slice(0..200));
    // One instrument, and one of several.
    for of in [None, Some(OfMarket { names: &["a", "b"], own: "a", alone: false })] {
        BARS.with(|bars| match Positions::from_bytes("fuzzed", bytes, bars, of) {
            Ok(positions) => {
                assert!(positions.targets.is_sorted_by(|a, b| a.0 < b.0));
                assert!(positions.targets.iter().all(|(row, x)| *row < bars.len() && x.abs() <= 1.0));
            }
            Err(e) => assert!(e.to_string().starts_with("fuzzed"), "{e}"),
        });
    }
}
