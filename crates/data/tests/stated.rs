//! What is said of a file and is not so, and what is odd about its bars.
#![allow(clippy::unwrap_used, reason = "tests")]

use std::io::Write as _;

use foxhunt_data::{BarStream, Bars, DataError, Inspector, LoadOptions, inspect, load_bytes, presets};

/// A bar a minute.
fn text(rows: usize, volume: impl Fn(usize) -> String) -> String {
    let row = |i: usize| {
        let close = 1.1 + (i % 7) as f64 / 1e3;
        format!("{},1.1,1.2,1.0,{close:.3},{}\n", 1_577_836_800 + 60 * i, volume(i))
    };
    format!("time,open,high,low,close,volume\n{}", (0..rows).map(row).collect::<String>())
}

fn with(bytes: &[u8], change: impl Fn(&mut LoadOptions)) -> Result<Bars, DataError> {
    let mut options = LoadOptions { instrument: Some(presets::eurusd()), ..LoadOptions::default() };
    change(&mut options);
    load_bytes("a.csv", bytes.to_vec(), &options)
}

#[track_caller]
fn refused(result: Result<Bars, DataError>, words: &[&str]) {
    let said = result.unwrap_err().to_string();
    words.iter().for_each(|word| assert!(said.contains(word), "'{word}' is not in: {said}"));
}

#[test]
fn a_symbol_is_chosen_among_those_of_a_file() {
    let text = text(5, |_| "1000".into());
    let choose = |o: &mut LoadOptions| o.symbol = Some("AAPL".into());
    refused(
        with(text.as_bytes(), choose),
        &["a.csv: has no column of symbols, so that --symbol AAPL", "--instrument"],
    );
    // Of bars that are known to be of something, such as a run's, it chooses nothing.
    let known = with(text.as_bytes(), |o| (choose(o), o.otherwise = o.instrument.take()).1).unwrap();
    assert_eq!(known.instrument.name, "AAPL");
}

#[test]
fn numbers_that_are_too_large_are_called_so() {
    let text = text(5, |i| if i == 3 { "1e30".into() } else { "1000".into() });
    refused(
        with(text.as_bytes(), |_| ()),
        &["a.csv, line 5, field volume: \"1e30\" is too large to be held"],
    );
}

/// A bit that is turned gives other text long before the sum at the end tells so: that is what is said, not what is wrong with
/// the text.
#[test]
fn a_damaged_packing_is_told_before_its_text() {
    let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::none());
    packed.write_all(text(2_000, |_| "1000".into()).as_bytes()).unwrap();
    let mut bytes = packed.finish().unwrap();
    let at = bytes.windows(9).position(|w| w == b",1.1,1.2,").unwrap();
    bytes[at] = b'x';
    refused(with(&bytes, |_| ()), &["a.csv: the gzip stream is damaged", "fetch or pack the file again"]);
    let streamed = BarStream::from_bytes("a.csv", bytes, &LoadOptions::default());
    assert!(streamed.err().is_some_and(|e| e.to_string().contains("the gzip stream is damaged")));
    // What is whole has its own faults.
    let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::none());
    packed.write_all(text(20, |i| if i == 3 { "x".into() } else { "1000".into() }).as_bytes()).unwrap();
    refused(with(&packed.finish().unwrap(), |_| ()), &["a.csv, line 5, field volume"]);
}

#[test]
fn bars_that_nobody_can_trade_in_are_counted() {
    // Lots of 1,000: 9 of them, then 2,000.
    let text = text(100, |i| if i < 60 { "9000".into() } else { "2000000".into() });
    let bars = with(text.as_bytes(), |_| ()).unwrap();
    let look = |least: i64| {
        let mut inspector = Inspector::new(&bars.heading()).counting_below(least);
        (0..bars.len()).for_each(|i| inspector.push(&bars.bar(i)));
        inspector.finish()
    };
    assert_eq!((look(10).thin, look(9).thin, inspect(&bars).thin), (Some((10, 60)), None, None));
    assert!(look(10).to_string().contains("thin        60 of 100 bars have under 10 lots"));
    assert_eq!((look(10).stale, look(10).to_string().contains("stale")), (0, false));
}

#[test]
fn a_stale_tail_is_marked() {
    let head = text(50, |_| "5000".into());
    let tail = |volume: usize, rows: usize| -> String {
        let row = |i: usize| format!("{},1.15,1.15,1.15,1.15,{volume}\n", 1_577_836_800 + 60 * i);
        (50..50 + rows).map(row).collect()
    };
    let stale = |tail: String| inspect(&with(format!("{head}{tail}").as_bytes(), |_| ()).unwrap());
    let told = stale(tail(0, 40));
    assert_eq!(told.stale, 40);
    assert!(told.to_string().contains("stale tail  the last 40 bars stand at one price"), "{told}");
    assert_eq!((stale(tail(1_000, 40)).stale, stale(tail(0, 9)).stale), (0, 0));
}
