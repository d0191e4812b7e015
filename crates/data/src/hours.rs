//! Whether bars keep the hours of the venue that they are said to be of.

use jiff::tz::TimeZone;

use crate::{
    bars::{Bar, Bars},
    calendar::local,
    heading::Heading,
    presets::us_equity,
    source::Basis,
};

/// When US venues trade beside the night, in New York: pre-market from 04:00, after-hours to 20:00.
const OPEN_S: u32 = 4 * 3_600;
const CLOSE_S: u32 = 20 * 3_600;
/// Bars this long and longer are of days, and stand at midnight.
const LONGEST_S: i64 = 4 * 3_600;

/// Counts bars of US stocks outside the hours in which US venues trade, where nobody said which zone their stamps are in.
#[derive(Clone, Debug)]
pub(crate) struct Hours {
    zone: Option<TimeZone>,
    outside: usize,
}

impl Hours {
    pub(crate) fn new(heading: &Heading) -> Self {
        let (i, s) = (&heading.instrument, &heading.source);
        let of_us = i.session == us_equity("").session;
        let looked_at = of_us && s.time_zone_basis == Basis::Assumed && s.bar_seconds < LONGEST_S;
        Hours { zone: i.session_zone().ok().filter(|_| looked_at), outside: 0 }
    }

    pub(crate) fn push(&mut self, bar: &Bar) {
        let Some(zone) = &self.zone else { return };
        let [open, close] = [bar.open_ns, bar.close_ns].map(|ns| local(ns, zone).second);
        // A bar that ends at midnight ends at second 0.
        self.outside += usize::from(open < OPEN_S || close > CLOSE_S || close <= open);
    }

    /// In words, where more than a twentieth of `rows` bars are outside.
    pub(crate) fn words(&self, rows: usize) -> Option<String> {
        (self.outside * 20 > rows).then(|| {
            format!(
                "{} of {rows} bars are outside 04:00 to 20:00 in New York, the zone that stamps of US stocks are read in: they are \
                 probably in another one; --time-zone (data.time_zone) says it, such as UTC",
                self.outside
            )
        })
    }
}

impl Bars {
    /// In words, where bars of US stocks trade while US venues are closed and nobody said which zone their stamps are in.
    pub fn odd_hours(&self) -> Option<String> {
        let mut hours = Hours::new(&self.heading());
        hours.zone.as_ref()?;
        (0..self.len()).for_each(|i| hours.push(&self.bar(i)));
        hours.words(self.len())
    }
}

#[cfg(test)]
mod tests {
    use crate::{Bars, LoadOptions, load_bytes, presets};

    /// Bars of every minute from a time on 3 March 2020, in New York's winter.
    fn bars(first: usize, rows: usize, zone: Option<&str>) -> Bars {
        let text: String = (first..first + rows)
            .map(|m| format!("2020-03-03 {:02}:{:02},10,10,10,10,5\n", m / 60, m % 60))
            .collect();
        let options = LoadOptions {
            instrument: Some(presets::us_equity("X")),
            time_zone: zone.map(str::to_owned),
            ..LoadOptions::default()
        };
        load_bytes("x.csv", format!("time,open,high,low,close,volume\n{text}").into_bytes(), &options)
            .unwrap()
    }

    #[test]
    fn stamps_of_us_stocks_in_another_zone_are_told() {
        assert_eq!(bars(9 * 60 + 30, 390, None).odd_hours(), None);
        assert_eq!(bars(4 * 60, 16 * 60, None).odd_hours(), None);
        // UTC's pre-market and after-hours, 09:00 to 24:00.
        let told = bars(9 * 60, 15 * 60, None).odd_hours().unwrap();
        assert!(
            told.starts_with("240 of 900 bars are outside 04:00 to 20:00") && told.contains("--time-zone")
        );
        assert_eq!(bars(9 * 60, 15 * 60, Some("UTC")).odd_hours(), None);
    }
}
