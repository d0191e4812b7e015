//! Numbers for people: thousands separators, a true minus sign, units.

use foxhunt_ledger::LedgerHeader;
use foxhunt_metrics::Unit;

/// A thin space that does not break, between a number and its unit.
const THIN: char = '\u{202f}';
const MINUS: char = '−';

/// Digits in groups of three.
pub(crate) fn grouped(digits: &str) -> String {
    let mut out = String::with_capacity(digits.len() + digits.len() / 3);
    for (k, digit) in digits.chars().enumerate() {
        if k > 0 && (digits.len() - k).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// A whole number, `−12,345`.
pub fn integer(value: i128) -> String {
    let sign = if value < 0 { MINUS.to_string() } else { String::new() };
    format!("{sign}{}", grouped(&value.unsigned_abs().to_string()))
}

/// A number with so many decimals, `−12,345.68`.
pub fn decimal(value: f64, decimals: usize) -> String {
    let text = format!("{:.decimals$}", value.abs());
    let (whole, fraction) = text.split_once('.').unwrap_or((&text, ""));
    // What rounds to nothing has no sign.
    let sign = value < 0.0 && text.bytes().any(|b| b.is_ascii_digit() && b != b'0');
    let sign = if sign { MINUS.to_string() } else { String::new() };
    let point = if fraction.is_empty() { "" } else { "." };
    format!("{sign}{}{point}{fraction}", grouped(whole))
}

/// A share as a percentage, `−1.25 %`.
pub fn percent(share: f64, decimals: usize) -> String {
    format!("{}{THIN}%", decimal(share * 100.0, decimals))
}

/// A number on an axis: millions as M, and where room is short thousands as k.
pub(crate) fn axis_number(value: f64, decimals: usize, narrow: bool) -> String {
    let (of, sign) = match value.abs() {
        size if size >= 1e6 => (1e6, "M"),
        size if narrow && size >= 1e4 => (1e3, "k"),
        _ => return decimal(value, decimals),
    };
    let text = decimal(value / of, 3);
    format!("{}{sign}", text.trim_end_matches('0').trim_end_matches('.'))
}

/// With a plus sign if it is positive.
pub fn signed(text: String) -> String {
    let nothing = !text.bytes().any(|b| (b'1'..=b'9').contains(&b));
    if text.starts_with(MINUS) || nothing { text } else { format!("+{text}") }
}

/// How a ledger's money and prices read.
#[derive(Clone, Debug)]
pub(crate) struct Units {
    pub(crate) currency: String,
    exponent: usize,
    /// The price unit as a whole number of 10^-decimals; none if it is no decimal.
    price: Option<(i128, usize)>,
}

impl Units {
    pub(crate) fn new(header: &LedgerHeader) -> Self {
        Self {
            currency: header.quote_currency.clone(),
            exponent: header.money_exponent.min(18) as usize,
            price: parse_decimal(&header.price_unit),
        }
    }

    /// Money alone, of no one instrument.
    pub(crate) fn of_money(currency: &str, exponent: u32) -> Self {
        Self { currency: currency.to_owned(), exponent: exponent.min(18) as usize, price: None }
    }

    /// k, where money is counted in 10^-k of the currency.
    pub(crate) fn exponent(&self) -> usize {
        self.exponent
    }

    /// Money to the last unit, without the currency: `−1,234.567890`.
    pub(crate) fn money_exact(&self, units: i128) -> String {
        fixed(units, self.exponent)
    }

    /// Money in whole and hundredths of the currency, `−1,234.57 USD`.
    pub(crate) fn money(&self, units: f64) -> String {
        format!("{}{THIN}{}", decimal(self.amount(units), 2), self.currency)
    }

    /// Money units to the currency.
    pub(crate) fn amount(&self, units: f64) -> f64 {
        units / 10f64.powi(self.exponent as i32)
    }

    /// A price, `1.106170`; the bare count of units if the header's price unit is no decimal.
    pub(crate) fn price(&self, price: i32) -> String {
        match self.price {
            Some((unit, decimals)) => fixed(i128::from(price) * unit, decimals),
            None => integer(price.into()),
        }
    }

    /// The price unit's digits and decimals.
    pub(crate) fn price_digits(&self) -> (i128, usize) {
        self.price.unwrap_or((1, 0))
    }

    /// A price as a number, for axes.
    pub(crate) fn price_value(&self, price: f64) -> f64 {
        match self.price {
            Some((unit, decimals)) => price * unit as f64 / 10f64.powi(decimals as i32),
            None => price,
        }
    }

    /// A metric's value with its unit.
    pub(crate) fn metric(&self, value: f64, unit: Unit) -> String {
        match unit {
            Unit::Ratio => decimal(value, 2),
            Unit::Share => percent(value, 2),
            Unit::Count => decimal(value, 0),
            Unit::Money => self.money(value),
            Unit::BasisPoints => format!("{}{THIN}bp", decimal(value, 2)),
            // Hundredths of thousands tell nothing.
            Unit::Times => format!("{}×", decimal(value, if value.abs() < 1_000.0 { 2 } else { 0 })),
            Unit::Bars => decimal(value, 1),
            Unit::Days => decimal(value, 1),
            Unit::Hours => format!("{}{THIN}h", decimal(value, 1)),
        }
    }
}

/// A whole number of 10^-decimals.
fn fixed(value: i128, decimals: usize) -> String {
    let digits = format!("{:0width$}", value.unsigned_abs(), width = decimals + 1);
    let (whole, fraction) = digits.split_at(digits.len() - decimals);
    let sign = if value < 0 { MINUS.to_string() } else { String::new() };
    let point = if fraction.is_empty() { "" } else { "." };
    format!("{sign}{}{point}{fraction}", grouped(whole))
}

/// `0.000005` as (5, 6). At most 18 digits.
fn parse_decimal(text: &str) -> Option<(i128, usize)> {
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    let digits = format!("{whole}{fraction}");
    let sound = !digits.is_empty() && digits.len() <= 18 && digits.bytes().all(|b| b.is_ascii_digit());
    let value: i128 = digits.parse().ok()?;
    (sound && value > 0).then_some((value, fraction.len()))
}

/// Who was ruined, of one account (`ruined at bar 1,681`) or of several (`3 of 64 ruined`), given after how many bars each was; none
/// where nobody was.
pub fn ruin(of: impl IntoIterator<Item = Option<usize>>) -> Option<String> {
    let all: Vec<Option<usize>> = of.into_iter().collect();
    match all.as_slice() {
        [only] => only.map(|bar| format!("ruined at bar {}", integer(bar as i128))),
        _ => {
            let ruined = all.iter().flatten().count();
            let text = || format!("{} of {} ruined", integer(ruined as i128), integer(all.len() as i128));
            (ruined > 0).then(text)
        }
    }
}

/// The first characters of a long hash.
pub fn short_hash(hash: &str) -> String {
    let head: String = hash.chars().take(16).collect();
    if head.len() < hash.len() { format!("{head}…") } else { head }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn units(price_unit: &str) -> Units {
        Units { currency: "USD".into(), exponent: 6, price: parse_decimal(price_unit) }
    }

    #[test]
    fn axis_labels() {
        assert_eq!(axis_number(102_500.0, 0, true), "102.5k");
        assert_eq!(axis_number(100_000.0, 0, true), "100k");
        assert_eq!(axis_number(102_500.0, 0, false), "102,500");
        assert_eq!(axis_number(950.0, 1, true), "950.0");
        assert_eq!(axis_number(-1_500_000.0, 0, false), "−1.5M");
        assert_eq!(axis_number(20_000_000.0, 0, true), "20M");
    }

    #[test]
    fn numbers() {
        assert_eq!(integer(-1_234_567), "−1,234,567");
        assert_eq!(integer(999), "999");
        assert_eq!(decimal(-0.001, 2), "0.00");
        assert_eq!(decimal(-1_234.565, 1), "−1,234.6");
        assert_eq!(decimal(1_234.0, 0), "1,234");
        assert_eq!(percent(-0.0125, 2), "−1.25\u{202f}%");
        assert_eq!(signed(decimal(2.0, 1)), "+2.0");
        assert_eq!(signed(decimal(-2.0, 1)), "−2.0");
        assert_eq!(signed(decimal(0.0, 1)), "0.0");
        assert_eq!(short_hash("0123456789abcdef0"), "0123456789abcdef…");
    }

    #[test]
    fn who_was_ruined() {
        assert_eq!(ruin([Some(1_681)]).as_deref(), Some("ruined at bar 1,681"));
        assert_eq!(ruin([None, Some(30_014), None]).as_deref(), Some("1 of 3 ruined"));
        assert_eq!((ruin([None]), ruin([None, None]), ruin([])), (None, None, None));
    }

    #[test]
    fn money_and_prices() {
        let fx = units("0.000005");
        assert_eq!(fx.money_exact(-1_234_567_890), "−1,234.567890");
        assert_eq!(fx.money_exact(5), "0.000005");
        assert_eq!(fx.money(-1_234_567_890.0), "−1,234.57\u{202f}USD");
        assert_eq!(fx.price(221_234), "1.106170");
        assert!((fx.price_value(221_234.0) - 1.106_17).abs() < 1e-12);
        assert_eq!(units("1").price(1_500), "1,500");
        assert_eq!(units("half").price(1_500), "1,500");
        assert_eq!(units("0.0").price(7), "7");
        assert_eq!(fx.metric(1.5, Unit::Times), "1.50×");
        assert_eq!(fx.metric(19_663.57, Unit::Times), "19,664×");
        assert_eq!(fx.metric(-2.0, Unit::BasisPoints), "−2.00\u{202f}bp");
    }
}
