//! Numbers of this page.

use crate::{Quantity, statistics::Estimate};
use foxhunt_report::draw::{decimal, percent, signed};
use maud::{Markup, html};

/// A number with four significant digits, six decimals at most.
pub(super) fn plain(x: f64) -> String {
    let size = x.abs();
    let decimals = match () {
        () if size >= 1_000.0 || size == 0.0 => 0,
        () if size >= 1.0 => 3 - size.log10().floor() as usize,
        () => ((3.0 - size.log10().floor()) as usize).min(6),
    };
    decimal(x, decimals)
}

/// A value of a quantity.
pub(super) fn value(quantity: Quantity, x: f64) -> String {
    if quantity.is_share() { percent(x, 2) } else { plain(x) }
}

/// The same with its sign.
pub(super) fn difference(quantity: Quantity, x: f64) -> String {
    signed(value(quantity, x))
}

/// A value over its interval; a dash where there is none.
pub(super) fn estimate(e: Option<Estimate>, write: impl Fn(f64) -> String) -> Markup {
    html! {
        @match e {
            Some(e) => {
                (write(e.value))
                span.range-of { (write(e.low)) " to " (write(e.high)) }
            }
            None => span.quiet { "–" },
        }
    }
}

/// Bytes in KiB, MiB or GiB.
pub(super) fn bytes(x: u64) -> String {
    let x = x as f64;
    let (by, unit) = match () {
        () if x >= 1024f64.powi(3) => (1024f64.powi(3), "GiB"),
        () if x >= 1024f64.powi(2) => (1024f64.powi(2), "MiB"),
        () => (1024.0, "KiB"),
    };
    format!("{}\u{202f}{unit}", decimal(x / by, 1))
}

/// Seconds, in the unit that suits them.
pub(super) fn seconds(x: f64) -> String {
    let (times, unit) = match () {
        () if x >= 1.0 => (1.0, "s"),
        () if x >= 1e-3 => (1e3, "ms"),
        () => (1e6, "µs"),
    };
    format!("{}\u{202f}{unit}", plain(x * times))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_read_well() {
        let all: Vec<String> = [0.0, 0.012345, -1.23456, 45.678, 12_345.6, 1e-9].map(plain).into();
        assert_eq!(all, ["0", "0.01235", "−1.235", "45.68", "12,346", "0.000000"]);
        assert_eq!((bytes(2_048), bytes(3 << 30)), ("2.0\u{202f}KiB".into(), "3.0\u{202f}GiB".into()));
        assert_eq!((seconds(0.00025), seconds(2.5)), ("250.0\u{202f}µs".into(), "2.500\u{202f}s".into()));
    }
}
