//! The policies of `docs/data.md`, a test for each row of its table; the page names these tests, and one here sees to it that
//! it does.
#![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]

#[allow(unreachable_pub, dead_code, clippy::panic, reason = "the fuzzer's own library")]
#[path = "../../../../fuzz/check.rs"]
mod check;
mod columns;
mod text;
mod time;

use foxhunt_data::{Bars, DataError, LoadOptions, load_bytes, presets};

fn with(text: &str, change: impl FnOnce(&mut LoadOptions)) -> Result<Bars, DataError> {
    let mut options = LoadOptions { instrument: Some(presets::eurusd()), ..LoadOptions::default() };
    change(&mut options);
    let loaded = load_bytes("a.csv", text.as_bytes().to_vec(), &options);
    check::alike("a.csv", text.as_bytes().to_vec(), &options, &loaded);
    loaded
}

fn read(text: &str) -> Bars {
    with(text, |_| {}).unwrap_or_else(|e| panic!("{e}\n{text}"))
}

fn refusal(text: &str) -> String {
    with(text, |_| {}).map_or_else(|e| e.to_string(), |bars| format!("read {} bars", bars.len()))
}

const HEAD: &str = "time,open,high,low,close,volume\n";
const A: &str = "2020-01-01 00:00,1.1,1.2,1.0,1.15,5000\n";
const B: &str = "2020-01-01 01:00,1.15,1.25,1.1,1.2,6000\n";
const C: &str = "2020-01-01 02:00,1.2,1.25,1.1,1.1,7000\n";

/// The three rows as they are, for comparison.
fn plain() -> Bars {
    read(&format!("{HEAD}{A}{B}{C}"))
}

fn assert_bars(bars: &Bars, expected: &Bars) {
    assert_eq!((&bars.open_ns, &bars.close_ns), (&expected.open_ns, &expected.close_ns));
    assert_eq!((&bars.bid, &bars.volume_lots), (&expected.bid, &expected.volume_lots));
}

#[test]
fn every_policy_stands_in_the_documentation() {
    let page = include_str!("../../../../docs/data.md");
    let tests = [include_str!("columns.rs"), include_str!("text.rs"), include_str!("time.rs")].concat();
    for name in tests.split("#[test]\nfn ").skip(1).filter_map(|t| t.split('(').next()) {
        assert!(page.contains(&format!("`{name}`")), "docs/data.md does not name {name}");
    }
    let here = |name: &str| {
        [
            tests.as_str(),
            include_str!("../refusals.rs"),
            include_str!("../formats.rs"),
            include_str!("../damage.rs"),
            include_str!("../stated.rs"),
            include_str!("../../src/hours.rs"),
        ]
        .iter()
        .any(|t| t.contains(&format!("fn {name}(")))
    };
    let (_, faults) = page.split_once("\n## Faults").unwrap();
    let rows = faults.lines().filter(|l| l.starts_with("| ") && l.matches('|').count() >= 5);
    let named: Vec<&str> = rows.skip(1).filter_map(|l| l.rsplit('`').nth(1)).collect();
    assert!(named.len() > 20, "{named:?}");
    for name in named {
        assert!(here(name), "no test {name}");
    }
}
