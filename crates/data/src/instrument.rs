//! What is traded, in exact units: price grid, lot, money, and the costs of a preset.

use foxhunt_core::plain_words;
use jiff::tz::{TimeZone, TimeZoneDatabase};
use rust_decimal::Decimal;
use serde::{Deserialize, Serialize};

use crate::error::DataError;

/// Rates are in 1e-7: this many make one.
pub const RATE_ONE_E7: i64 = 10_000_000;

/// What financing is charged on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FinancingBase {
    /// The whole notional, long and short (FX, perpetuals).
    WholeNotional,
    /// What the account borrowed: a long's notional above equity; a short's whole notional (cash equity, spot).
    BorrowedPart,
}

/// The trading day: its clock, and when it begins.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Session {
    /// IANA zone of the market's clock, such as `America/New_York`. Time-of-day features and session days follow it.
    pub time_zone: String,
    /// Second of the local day at which a session day begins: 61,200 (17:00) for FX, 0 for crypto, 34,200 for US equities.
    pub day_start_s: i32,
    /// Length of the regular session in seconds; 86,400 where the market does not close within the day.
    pub length_s: i32,
    /// Whether positions are closed at a session's last close ([`Bars::session_ends`](crate::Bars::session_ends)).
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub flat_by_close: bool,
}

/// One traded instrument. All fields are exact: integers or decimals, no float.
///
/// Serialised to TOML with decimals as strings; [`Instrument::validate`] checks what the types cannot.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Instrument {
    /// Name as reports print it, such as `EUR/USD`.
    pub name: String,
    /// Currency of prices, money and the account.
    pub quote_currency: String,
    /// Price unit: quote currency per base unit that an `i32` price of 1 stands for (EUR/USD 0.000005).
    #[serde(with = "rust_decimal::serde::str")]
    pub price_unit: Decimal,
    /// The venue's price increment in price units (EUR/USD 2).
    pub tick_units: i32,
    /// Base units in one lot (EUR/USD 1000, a US share 1).
    #[serde(with = "rust_decimal::serde::str")]
    pub lot: Decimal,
    /// k: the money unit is 10^-k of the quote currency; at least 6.
    pub money_exponent: u32,
    /// Money units that one price unit times one lot is worth: exactly `price_unit * lot * 10^k`.
    pub tv: i64,
    /// Fee of a fill that takes liquidity, 1e-7 of notional.
    pub taker_fee_e7: i32,
    /// Fee of a fill that provides liquidity, 1e-7 of notional; negative is a rebate.
    pub maker_fee_e7: i32,
    /// Least half-spread in price units, where bars carry no quotes.
    pub min_half_spread_units: i32,
    /// Half-spread as a rate of price, 1e-7 (0.5 bp is 500).
    pub half_spread_e7: i32,
    /// Half-spread as a share of ATR24, 1e-7 (0.02 is 200,000).
    pub atr_spread_e7: i32,
    /// Factor on the half-spread in the first bar after a time gap.
    pub gap_spread_factor: i32,
    /// Financing of a long position, 1e-7 per year of 31,536,000 s.
    pub financing_long_e7: i32,
    /// Financing of a short position, 1e-7 per year of 31,536,000 s.
    pub financing_short_e7: i32,
    /// What financing is charged on.
    pub financing_base: FinancingBase,
    /// Largest notional over equity, 1e-4 (30 times is 300,000).
    pub max_leverage_e4: i32,
    /// Penalty of a liquidation, 1e-7 of notional, charged as a fee.
    pub liquidation_penalty_e7: i32,
    /// Lots traded per hour that are assumed where a file has no volume; a bar gets its share by length.
    pub preset_volume_lots_per_hour: i64,
    /// Cash that an account starts with unless told otherwise, in quote currency.
    #[serde(with = "rust_decimal::serde::str")]
    pub start_cash: Decimal,
    /// IANA zone of stamps that carry none, as files of this market are usually written.
    pub stamp_time_zone: String,
    /// The trading day.
    pub session: Session,
}

impl Instrument {
    /// Reads and validates an instrument from TOML.
    ///
    /// # Errors
    /// [`DataError::Toml`] for text that is not an instrument, [`DataError::Instrument`] for one that breaks a rule.
    pub fn from_toml(text: &str) -> Result<Self, DataError> {
        let instrument: Self =
            toml::from_str(text).map_err(|e| DataError::Toml(plain_words(&e.to_string()).into()))?;
        instrument.validate()?;
        Ok(instrument)
    }

    /// The same of a file's text, whose faults are told with the line.
    ///
    /// # Errors
    /// [`DataError::Line`] for text that is not an instrument, [`DataError::Cell`] for a key whose value breaks a rule.
    pub fn from_toml_file(path: &str, text: &str) -> Result<Self, DataError> {
        let instrument: Self = toml::from_str(text).map_err(|e| {
            let at = e.span().map_or(0, |span| span.start.min(text.len()));
            // Without a place it is said of the whole: a key is missing.
            let line = 1 + text.as_bytes()[..at].iter().filter(|b| **b == b'\n').count() as u64;
            let text = text.lines().nth(line as usize - 1).unwrap_or_default();
            let key = text.split_once('=').map(|(key, _)| format!("{}: ", key.trim()));
            let key = key.filter(|_| e.span().is_some_and(|span| !span.is_empty())).unwrap_or_default();
            DataError::Line {
                path: path.into(),
                line,
                problem: format!("{key}{}", plain_words(e.message()).replace('\n', " ")).into(),
                fix: "give every key once with a value of its kind, as docs/instruments/es.toml does".into(),
            }
        })?;
        match instrument.validate() {
            Err(DataError::Instrument { field, problem, fix, .. }) => {
                let key = field.rsplit('.').next().unwrap_or(field);
                let of = |line: &str| {
                    let (name, value) = line.split_once('=')?;
                    // Without what is said beside it.
                    let value = value.split_once(" #").map_or(value, |(value, _)| value);
                    (name.trim() == key).then(|| value.trim().to_owned())
                };
                let found = text.lines().enumerate().find_map(|(k, line)| Some((k as u64 + 1, of(line)?)));
                let (line, value) = found.unwrap_or((1, String::new()));
                let text: String = value.chars().take(60).collect();
                Err(DataError::Cell {
                    path: path.into(),
                    line,
                    field: field.into(),
                    text: text.into(),
                    problem: problem.strip_prefix(value.as_str()).map_or(&*problem, str::trim_start).into(),
                    fix,
                })
            }
            checked => checked.map(|()| instrument),
        }
    }

    /// Writes the instrument as TOML.
    ///
    /// # Errors
    /// [`DataError::Toml`] if the serialiser refuses, which no valid instrument makes it do.
    pub fn to_toml(&self) -> Result<String, DataError> {
        toml::to_string(self).map_err(|e| DataError::Toml(e.to_string().into()))
    }

    /// Starting cash in money units (10^-k of the quote currency), or `None` if it is no whole `i64` number of them.
    pub fn start_cash_money(&self) -> Option<i64> {
        whole_i64(self.start_cash.checked_mul(ten_to(self.money_exponent)?)?)
    }

    /// A price in units as a decimal of the quote currency.
    pub fn price(&self, units: i32) -> Decimal {
        // At most 2^31 times a unit of at most 28 decimals: cannot overflow 96 bits for a validated unit.
        Decimal::from(units).checked_mul(self.price_unit).unwrap_or(Decimal::MAX)
    }

    /// The zone of the market's clock.
    ///
    /// # Errors
    /// [`DataError::Instrument`] if the time zone database does not know it.
    pub fn session_zone(&self) -> Result<TimeZone, DataError> {
        zone(&self.session.time_zone)
            .ok_or_else(|| self.zone_error("session.time_zone", &self.session.time_zone))
    }

    /// The largest position, in lots, that starting cash at full leverage opens at `price_units`, rounded up.
    pub fn largest_start_lots(&self, price_units: i32) -> Option<i128> {
        let notional_e4 = i128::from(self.start_cash_money()?) * i128::from(self.max_leverage_e4);
        let lot_e4 = i128::from(price_units) * i128::from(self.tv) * 10_000;
        (lot_e4 > 0).then(|| (notional_e4 + lot_e4 - 1) / lot_e4)
    }

    /// The same instrument on a grid twice as fine, so that the middle of two grid prices is on the grid.
    ///
    /// Every field in price units doubles; `tv` halves, and the money unit gets smaller where `tv` is odd. `None` if a
    /// field would not fit.
    pub fn with_half_unit(&self) -> Option<Self> {
        let mut fine = self.clone();
        fine.price_unit = self.price_unit.checked_mul(Decimal::new(5, 1))?.normalize();
        fine.tick_units = self.tick_units.checked_mul(2)?;
        fine.min_half_spread_units = self.min_half_spread_units.checked_mul(2)?;
        if self.tv % 2 == 0 {
            fine.tv = self.tv / 2;
        } else {
            fine.tv = self.tv.checked_mul(5)?;
            fine.money_exponent = self.money_exponent + 1;
        }
        fine.validate().ok().map(|()| fine)
    }

    /// Checks every rule that the types cannot hold.
    ///
    /// # Errors
    /// [`DataError::Instrument`] naming the first field that breaks one.
    pub fn validate(&self) -> Result<(), DataError> {
        let refuse = |field, problem: String, fix: &str| {
            Err(DataError::Instrument {
                name: self.name.as_str().into(),
                field,
                problem: problem.into(),
                fix: fix.into(),
            })
        };
        if self.name.trim().is_empty() {
            return refuse("name", "is empty".into(), "name the instrument");
        }
        if self.quote_currency.trim().is_empty() {
            return refuse("quote_currency", "is empty".into(), "name the currency of its prices");
        }
        for (field, value) in
            [("price_unit", self.price_unit), ("lot", self.lot), ("start_cash", self.start_cash)]
        {
            if value <= Decimal::ZERO {
                return refuse(field, format!("{value} is not above zero"), "give a positive decimal");
            }
        }
        if !(6..=12).contains(&self.money_exponent) {
            return refuse("money_exponent", format!("{} is not in 6..=12", self.money_exponent), "use 6");
        }
        let Some(tv) = self.exact_tv() else {
            let problem = format!(
                "price_unit {} x lot {} is no whole number of 10^-{} {}",
                self.price_unit, self.lot, self.money_exponent, self.quote_currency
            );
            return refuse("tv", problem, "raise money_exponent or use a coarser price_unit or a larger lot");
        };
        if tv != self.tv {
            return refuse(
                "tv",
                format!("{} is not price_unit x lot x 10^k", self.tv),
                &format!("set it to {tv}"),
            );
        }
        if self.start_cash_money().is_none() {
            let problem = format!(
                "{} is no whole number of money units (10^-{} of the currency) of at most 18 digits",
                self.start_cash, self.money_exponent
            );
            return refuse("start_cash", problem, "use fewer decimals or a smaller sum");
        }
        let small_rate = -1_000_000..=1_000_000; // ten per cent of notional, either way
        let year_rate = -100_000_000..=100_000_000; // ten times the notional per year
        let natural = 0..=i32::MAX;
        let ranges = [
            ("tick_units", self.tick_units, 1..=i32::MAX),
            ("taker_fee_e7", self.taker_fee_e7, small_rate.clone()),
            ("maker_fee_e7", self.maker_fee_e7, small_rate.clone()),
            ("min_half_spread_units", self.min_half_spread_units, natural.clone()),
            ("half_spread_e7", self.half_spread_e7, 0..=1_000_000),
            ("atr_spread_e7", self.atr_spread_e7, 0..=10_000_000),
            ("gap_spread_factor", self.gap_spread_factor, 1..=1_000),
            ("financing_long_e7", self.financing_long_e7, year_rate.clone()),
            ("financing_short_e7", self.financing_short_e7, year_rate),
            ("max_leverage_e4", self.max_leverage_e4, 1..=10_000_000),
            ("liquidation_penalty_e7", self.liquidation_penalty_e7, 0..=1_000_000),
            ("session.day_start_s", self.session.day_start_s, 0..=86_399),
            ("session.length_s", self.session.length_s, 1..=86_400),
        ];
        for (field, value, range) in ranges {
            if !range.contains(&value) {
                let fix = format!("give a whole number from {} to {}", range.start(), range.end());
                return refuse(field, format!("{value} is out of range"), &fix);
            }
        }
        if self.session.flat_by_close && self.session.length_s >= 86_400 {
            let problem = "true needs sessions that end, and one of 86400 seconds never does";
            return refuse(
                "session.flat_by_close",
                problem.into(),
                "give a shorter length_s, or leave it out",
            );
        }
        if self.preset_volume_lots_per_hour < 1 {
            let problem = format!("{} is below 1", self.preset_volume_lots_per_hour);
            return refuse("preset_volume_lots_per_hour", problem, "give the lots that trade in an hour");
        }
        if zone(&self.stamp_time_zone).is_none() {
            return Err(self.zone_error("stamp_time_zone", &self.stamp_time_zone));
        }
        self.session_zone().map(|_| ())
    }

    fn exact_tv(&self) -> Option<i64> {
        let value = self.price_unit.checked_mul(self.lot)?.checked_mul(ten_to(self.money_exponent)?)?;
        whole_i64(value).filter(|&tv| tv >= 1)
    }

    fn zone_error(&self, field: &'static str, text: &str) -> DataError {
        DataError::Instrument {
            name: self.name.as_str().into(),
            field,
            problem: format!("time zone {text:?} is not known").into(),
            fix: "use an IANA name such as America/New_York, or UTC".into(),
        }
    }
}

/// Looks a zone up in the bundled database, never in the system's, so that every machine reads a file alike.
pub(crate) fn zone(name: &str) -> Option<TimeZone> {
    if name.eq_ignore_ascii_case("utc") {
        return Some(TimeZone::UTC);
    }
    TimeZoneDatabase::bundled().get(name).ok()
}

fn ten_to(k: u32) -> Option<Decimal> {
    10_i64.checked_pow(k).map(Decimal::from)
}

fn whole_i64(value: Decimal) -> Option<i64> {
    if value.fract() != Decimal::ZERO {
        return None;
    }
    i64::try_from(value.trunc()).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::presets;

    #[test]
    fn toml_round_trip_keeps_every_field() {
        for instrument in [presets::eurusd(), presets::xbtusd(), presets::us_equity("NVDA")] {
            let text = instrument.to_toml().unwrap();
            assert_eq!(Instrument::from_toml(&text).unwrap(), instrument, "{text}");
        }
    }

    /// The file that the guide shows is the preset, and a fault in it is found where it stands.
    #[test]
    fn faults_of_a_file_are_told_with_line_and_key() {
        let text = include_str!("../../../docs/instruments/es.toml");
        let read = |text: &str| Instrument::from_toml_file("es.toml", text);
        assert_eq!(read(text).unwrap(), presets::future("ES").unwrap());
        let line = |key: &str| 1 + text.lines().position(|l| l.starts_with(key)).unwrap();
        for (from, to, key, words) in [
            (
                "tick_units = 2",
                "tick_units = 0",
                "tick_units",
                &["field tick_units: \"0\" is out of range"][..],
            ),
            ("tv = 6250000", "tv = 5", "tv = ", &["field tv", "set it to 6250000"]),
            ("length_s = 82800", "length_s = 90000", "length_s", &["field session.length_s", "86400"]),
            ("lot = \"50\"", "lot = fifty", "lot = ", &["lot: "]),
            (
                "taker_fee_e7 = 90",
                "taker_fee_e7 = 90.5",
                "taker_fee_e7",
                &["taker_fee_e7: invalid type: number `90.5`, expected a whole number from -2147483648"],
            ),
            ("maker_fee_e7 = 90", "maker_fees = 1", "maker_fee_e7", &["maker_fees"]),
            (
                "82800                 # 23 hours\nflat_by_close = false",
                "86400\nflat_by_close = true",
                "flat_by_close",
                &["field session.flat_by_close: \"true\" needs sessions that end"],
            ),
        ] {
            let wrong = text.replace(from, to);
            assert_ne!(wrong, text, "{from}");
            let error = read(&wrong).unwrap_err().to_string();
            let place = format!("es.toml, line {}", line(key));
            assert!(error.starts_with(&place) && words.iter().all(|w| error.contains(w)), "{place}: {error}");
        }
        let error = read(&text.replace("gap_spread_factor", "# gap")).unwrap_err().to_string();
        assert!(error.contains("missing field `gap_spread_factor`"), "{error}");
    }

    #[test]
    fn a_wrong_tv_is_refused_with_the_right_one() {
        let mut instrument = presets::eurusd();
        instrument.tv = 4_999;
        let message = instrument.validate().unwrap_err().to_string();
        assert_eq!(
            message,
            "instrument EUR/USD, field tv: 4999 is not price_unit x lot x 10^k; set it to 5000"
        );
    }

    #[test]
    fn unknown_keys_zones_and_ranges_are_refused() {
        let text = format!("colour = \"red\"\n{}", presets::eurusd().to_toml().unwrap());
        assert!(matches!(Instrument::from_toml(&text), Err(DataError::Toml(_))));
        let mut instrument = presets::eurusd();
        instrument.session.time_zone = "Mars/Olympus".into();
        assert!(instrument.validate().unwrap_err().to_string().contains("Mars/Olympus"));
        let mut instrument = presets::xbtusd();
        instrument.price_unit = Decimal::new(1, 3); // 0.001 x 0.0001 is a tenth of a money unit
        assert!(instrument.validate().unwrap_err().to_string().contains("raise money_exponent"));
        let mut instrument = presets::xbtusd();
        instrument.max_leverage_e4 = 0;
        assert!(instrument.validate().unwrap_err().to_string().contains("max_leverage_e4"));
    }

    #[test]
    fn halving_the_unit_keeps_money_exact() {
        let fine = presets::eurusd().with_half_unit().unwrap();
        assert_eq!((fine.tv, fine.money_exponent, fine.tick_units), (2_500, 6, 4));
        assert_eq!(fine.price_unit, Decimal::new(25, 7));
        let fine = presets::xbtusd().with_half_unit().unwrap(); // tv 1 is odd: the money unit shrinks
        assert_eq!((fine.tv, fine.money_exponent, fine.tick_units), (5, 7, 20));
    }

    #[test]
    fn start_cash_and_largest_position() {
        let instrument = presets::eurusd();
        assert_eq!(instrument.start_cash_money(), Some(100_000_000_000));
        // 100,000 x 30 / (1.00 x 1,000) = 3,000 lots at a price of 1.00 = 200,000 units.
        assert_eq!(instrument.largest_start_lots(200_000), Some(3_000));
        assert_eq!(instrument.price(210_454), Decimal::new(105_227, 5));
    }
}
