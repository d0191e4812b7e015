//! What bars are like, in words.

use std::fmt;

use crate::{
    calendar::LocalTime,
    moment::{show_moment, show_seconds},
    source::SourceInfo,
};

const WEEKDAYS: [&str; 7] = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"];

/// Time between two bars in which there is none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Gap {
    /// The bar after the gap.
    pub row: usize,
    /// Length in seconds.
    pub seconds: i64,
}

/// Facts about bars; [`Display`](fmt::Display) is a report for people.
#[derive(Clone, Debug, PartialEq)]
pub struct Inspection {
    /// Name of the instrument.
    pub instrument: String,
    /// Number of bars.
    pub rows: usize,
    /// First open and last close, ns UTC.
    pub span_ns: (i64, i64),
    /// Most common bar length in seconds (as the file was read).
    pub bar_seconds: i64,
    /// Bars per year, counted.
    pub periods_per_year: f64,
    /// Number of time gaps.
    pub gaps: usize,
    /// The longest gap.
    pub longest_gap: Option<Gap>,
    /// Runs of bars between pauses of four hours and more.
    pub sessions: usize,
    /// Median number of bars in a session.
    pub bars_per_session: usize,
    /// First open and last close on the market's clock, where most sessions agree; on the days on which they mostly are.
    pub session_hours: Option<(LocalTime, LocalTime)>,
    /// Zone of that clock.
    pub session_zone: String,
    /// Lowest low and highest high in the quote currency (mids on quote bars), as decimal text.
    pub price_range: (String, String),
    /// Bars with open, high, low and close equal.
    pub flat_bars: usize,
    /// Least, median and largest spread at the close in price units; `None` on trade bars. A median above 131,071 is to five digits.
    pub spread_units: Option<(i32, i32, i32)>,
    /// Mean volume in lots and bars with none; `None` where the file has no volume.
    pub volume: Option<(f64, usize)>,
    /// Lots of which most bars have fewer, where a least number was asked for, and bars with fewer.
    pub thin: Option<(i64, usize)>,
    /// Bars at the end that are flat at one price, without volume where the file counts it; 0 where they are few.
    pub stale: usize,
    /// What is odd about the hours of bars of US stocks.
    pub odd_hours: Option<String>,
    /// Name, first row with a value, least and largest value of each column beside the bars.
    pub extra: Vec<(String, usize, f64, f64)>,
    /// Volume per hour that stands in where the file has none.
    pub preset_volume_lots_per_hour: i64,
    /// Where the bars came from and what was repaired.
    pub source: SourceInfo,
}

impl fmt::Display for Inspection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let s = &self.source;
        writeln!(f, "file        {}", s.path)?;
        writeln!(f, "sha256      {}", s.sha256)?;
        writeln!(f, "format      {}", s.format)?;
        writeln!(f, "instrument  {}", self.instrument)?;
        writeln!(f, "stamps      {}, {} ({})", s.stamp_format, s.stamp_side, s.stamp_side_basis)?;
        writeln!(f, "time zone   {} ({})", s.time_zone, s.time_zone_basis)?;
        writeln!(f, "rows        {} of {}", self.rows, s.rows_read)?;
        writeln!(f, "first open  {}", show_moment(self.span_ns.0))?;
        writeln!(f, "last close  {}", show_moment(self.span_ns.1))?;
        writeln!(
            f,
            "bar length  {} ({:.0} bars per year, counted)",
            show_seconds(self.bar_seconds),
            self.periods_per_year
        )?;
        match self.longest_gap {
            Some(gap) => {
                writeln!(
                    f,
                    "gaps        {}, longest {} before row {}",
                    self.gaps,
                    show_seconds(gap.seconds),
                    gap.row
                )?;
            }
            None => writeln!(f, "gaps        none")?,
        }
        write!(f, "sessions    {}, median {} bars", self.sessions, self.bars_per_session)?;
        match self.session_hours {
            Some((open, close)) => {
                let clock = |t: LocalTime| format!("{:02}:{:02}", t.second / 3_600, t.second / 60 % 60);
                let day = |t: LocalTime| WEEKDAYS.get(usize::from(t.weekday)).copied().unwrap_or("?");
                let days = if self.bar_seconds * self.bars_per_session as i64 > 86_400 {
                    format!("{} {} to {} {}", day(open), clock(open), day(close), clock(close))
                } else {
                    format!("{} to {}", clock(open), clock(close))
                };
                writeln!(f, ", most {days} {}", self.session_zone)?;
            }
            None => writeln!(f, ", no common hours")?,
        }
        writeln!(
            f,
            "prices      {} to {}, {} flat bars",
            self.price_range.0, self.price_range.1, self.flat_bars
        )?;
        match self.spread_units {
            Some((least, median, most)) => {
                writeln!(f, "spread      {least} to {most} price units at the close, median {median}")?;
            }
            None => writeln!(f, "spread      none in the file: the instrument's half-spread rule stands in")?,
        }
        match self.volume {
            Some((mean, zero)) => writeln!(f, "volume      mean {mean:.0} lots, {zero} bars with none")?,
            None => writeln!(
                f,
                "volume      none in the file: {} lots an hour are assumed",
                self.preset_volume_lots_per_hour
            )?,
        }
        if let Some((lots, bars)) = self.thin {
            writeln!(
                f,
                "thin        {bars} of {} bars have under {lots} lots, of which an order could take none",
                self.rows
            )?;
        }
        if self.stale > 0 {
            writeln!(
                f,
                "stale tail  the last {} bars stand at one price, and nothing is traded",
                self.stale
            )?;
        }
        if let Some(words) = &self.odd_hours {
            writeln!(f, "hours       {words}")?;
        }
        let share = 100.0 * s.opens_at_previous_close as f64 / s.rows_read.saturating_sub(1).max(1) as f64;
        if s.synthetic_opens {
            writeln!(
                f,
                "opens       synthetic: {share:.1} % equal the close before; after a gap the close stands in"
            )?;
        } else {
            writeln!(f, "opens       {share:.1} % equal the close before")?;
        }
        writeln!(f, "splits      {}", s.splits().as_deref().unwrap_or("no jump looks like one"))?;
        writeln!(
            f,
            "far prices  {}",
            s.far_prices().as_deref().unwrap_or("none is far from those around it")
        )?;
        for (name, first, low, high) in &self.extra {
            writeln!(f, "feature     {name}: {low} to {high}, from row {first}")?;
        }
        if !s.columns.is_empty() {
            writeln!(f, "columns     {}", s.columns.join(", "))?;
        }
        if !s.columns_unused.is_empty() {
            writeln!(f, "unused      {}", s.columns_unused.join(", "))?;
        }
        for note in &s.notes {
            writeln!(f, "note        {note}")?;
        }
        let r = &s.repairs;
        let counts = [
            (r.prices_snapped, "prices snapped to the grid"),
            (r.opens_replaced, "opens replaced"),
            (r.ranges_widened, "ranges widened"),
            (r.times_trimmed, "bars cut at a neighbour"),
            (r.volumes_below_lot, "volumes below one lot"),
            (r.volumes_missing, "volumes missing (counted as none)"),
            (r.rows_without_prices, "rows without prices (left as gaps)"),
            (r.values_held, "values of feature columns missing (the last before holds)"),
            (r.numbers_cleaned, "numbers cleaned of separators and signs"),
            (r.lines_skipped, "lines passed over that are no rows"),
            (r.steps_back, "steps back in time (rows sorted)"),
            (r.duplicates_dropped, "rows that repeat another dropped"),
            (r.wall_times_repeated, "wall times that a clock change repeats"),
            (u64::from(r.reversed), "turned round (newest first)"),
            (u64::from(r.grid_refined), "price unit halved for exact mids"),
        ];
        let said: Vec<String> =
            counts.iter().filter(|(n, _)| *n > 0).map(|(n, what)| format!("{n} {what}")).collect();
        writeln!(f, "repairs     {}", if said.is_empty() { "none".to_owned() } else { said.join(", ") })
    }
}
