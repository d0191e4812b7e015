//! What bars are like, from running statistics.

use std::collections::BTreeMap;

use jiff::tz::TimeZone;

use crate::{
    bars::{Bar, Bars, seconds_up},
    calendar::{LocalTime, local},
    heading::Heading,
    histogram::Histogram,
    hours::Hours,
    inspection::{Gap, Inspection},
};

/// A pause this long ends a session.
const SESSION_BREAK_S: i64 = 4 * 3_600;
/// So many bars at the end at one price are stale.
const STALE: usize = 20;

/// Looks bars over.
pub fn inspect(bars: &Bars) -> Inspection {
    let mut inspector = Inspector::new(&bars.heading());
    (0..bars.len()).for_each(|i| inspector.push(&bars.bar(i)));
    inspector.finish()
}

/// Looks bars over as they go by. What it holds does not grow with them, but for the different lengths of sessions (at most the
/// square root of twice the bars) and the different hours that they keep.
pub struct Inspector {
    heading: Heading,
    zone: Option<TimeZone>,
    rows: usize,
    before: Option<Bar>,
    gaps: usize,
    longest_gap: Option<Gap>,
    /// The first bar's number and open of the session that goes on.
    session: (usize, i64),
    /// Sessions by their number of bars.
    lengths: BTreeMap<usize, usize>,
    /// Sessions by their first open and last close on the market's clock: seconds of day, and weekdays.
    hours: BTreeMap<(u32, u32), BTreeMap<(u8, u8), usize>>,
    low: i32,
    high: i32,
    flat_bars: usize,
    spread: Option<(i32, i32)>,
    spreads: Histogram,
    lots: f64,
    bars_without_lots: usize,
    /// Lots of a bar that are too few, and bars with fewer.
    thin: (i64, usize),
    /// Bars up to here that are flat at one price, without volume where the file counts it.
    stale: usize,
    venue: Hours,
    /// First row with a value, least and largest, of each extra column.
    extra: Vec<Option<(usize, f64, f64)>>,
}

impl Inspector {
    /// Of the bars that `heading` is of.
    pub fn new(heading: &Heading) -> Self {
        Self {
            zone: heading.instrument.session_zone().ok(),
            heading: heading.clone(),
            rows: 0,
            before: None,
            gaps: 0,
            longest_gap: None,
            session: (0, 0),
            lengths: BTreeMap::new(),
            hours: BTreeMap::new(),
            low: i32::MAX,
            high: i32::MIN,
            flat_bars: 0,
            spread: None,
            spreads: Histogram::new(17),
            lots: 0.0,
            bars_without_lots: 0,
            thin: (0, 0),
            stale: 0,
            venue: Hours::new(heading),
            extra: vec![None; heading.extra.len()],
        }
    }

    /// The same, which also counts bars of fewer than so many lots.
    #[must_use]
    pub fn counting_below(mut self, lots: i64) -> Self {
        self.thin = (lots, 0);
        self
    }

    /// Takes the next bar.
    pub fn push(&mut self, bar: &Bar) {
        let stands = self
            .before
            .as_ref()
            .is_none_or(|b| b.bid[3] == bar.bid[0] && b.ask.map(|a| a[3]) == bar.ask.map(|a| a[0]));
        let [bid, ask] =
            [Some(bar.bid), bar.ask].map(|side| side.is_none_or(|[_, high, low, _]| high == low));
        let quiet = bid && ask && !(self.heading.has_volume && bar.volume_lots > 0);
        self.stale = if !quiet {
            0
        } else if stands {
            self.stale + 1
        } else {
            1
        };
        self.thin.1 += usize::from(bar.volume_lots < self.thin.0);
        self.venue.push(bar);
        match self.before.take() {
            None => self.session = (self.rows, bar.open_ns),
            Some(before) => {
                let gap = Gap { row: self.rows, seconds: seconds_up(before.close_ns, bar.open_ns) };
                self.gaps += usize::from(gap.seconds > 0);
                if gap.seconds > self.longest_gap.map_or(0, |longest| longest.seconds) {
                    self.longest_gap = Some(gap);
                }
                if gap.seconds >= SESSION_BREAK_S {
                    self.end_session(&before);
                    self.session = (self.rows, bar.open_ns);
                }
            }
        }
        let [open, high, low, close] = bar.mids();
        self.low = self.low.min(low);
        self.high = self.high.max(high);
        self.flat_bars += usize::from(high == low && open == close);
        if let Some(ask) = bar.ask {
            let spread = ask[3] - bar.bid[3];
            let (least, most) = self.spread.unwrap_or((spread, spread));
            self.spread = Some((least.min(spread), most.max(spread)));
            self.spreads.push(f64::from(spread));
        }
        self.lots += bar.volume_lots as f64;
        self.bars_without_lots += usize::from(bar.volume_lots == 0);
        for (seen, &value) in self.extra.iter_mut().zip(&bar.extra).filter(|(_, value)| !value.is_nan()) {
            let (first, low, high) = seen.unwrap_or((self.rows, value, value));
            *seen = Some((first, low.min(value), high.max(value)));
        }
        self.before = Some(bar.clone());
        self.rows += 1;
    }

    fn end_session(&mut self, last: &Bar) {
        let (first, open_ns) = self.session;
        *self.lengths.entry(self.rows - first).or_default() += 1;
        if let Some(zone) = &self.zone {
            let (open, close) = (local(open_ns, zone), local(last.close_ns, zone));
            let days = self.hours.entry((open.second, close.second)).or_default();
            *days.entry((open.weekday, close.weekday)).or_default() += 1;
        }
    }

    /// What the bars are like.
    pub fn finish(mut self) -> Inspection {
        if let Some(last) = self.before.take() {
            self.end_session(&last);
        }
        let session_hours = self.session_hours();
        let Self { heading, rows, .. } = self;
        let price = |units: i32| match rows {
            0 => String::new(),
            _ => heading.instrument.price(units).normalize().to_string(),
        };
        let median = self.spreads.median().unwrap_or_default() as i32;
        let named = |(name, seen): (&String, Option<(usize, f64, f64)>)| {
            seen.map(|(first, low, high)| (name.clone(), first, low, high))
        };
        let extra = heading.extra.iter().zip(self.extra).filter_map(named).collect();
        Inspection {
            instrument: heading.instrument.name.clone(),
            rows,
            span_ns: heading.span_ns,
            bar_seconds: heading.source.bar_seconds,
            periods_per_year: heading.periods_per_year(),
            gaps: self.gaps,
            longest_gap: self.longest_gap,
            sessions: self.lengths.values().sum(),
            bars_per_session: middle(&self.lengths).copied().unwrap_or(0),
            session_hours,
            session_zone: heading.instrument.session.time_zone.clone(),
            price_range: (price(self.low), price(self.high)),
            flat_bars: self.flat_bars,
            spread_units: self.spread.map(|(least, most)| (least, median, most)),
            thin: (self.thin.1 * 2 > rows).then_some(self.thin),
            stale: if self.stale >= STALE { self.stale } else { 0 },
            odd_hours: self.venue.words(rows),
            volume: heading.has_volume.then(|| (self.lots / rows.max(1) as f64, self.bars_without_lots)),
            extra,
            preset_volume_lots_per_hour: heading.instrument.preset_volume_lots_per_hour,
            source: heading.source,
        }
    }

    /// Hours that more than half of the sessions keep, on the days of most of those.
    fn session_hours(&self) -> Option<(LocalTime, LocalTime)> {
        let sessions: usize = self.lengths.values().sum();
        let (hours, days) =
            self.hours.iter().find(|(_, days)| days.values().sum::<usize>() * 2 > sessions)?;
        let (days, _) = days.iter().max_by_key(|(days, count)| (**count, std::cmp::Reverse(**days)))?;
        let moment = |weekday, second| LocalTime { weekday, second };
        (sessions > 1).then_some((moment(days.0, hours.0), moment(days.1, hours.1)))
    }
}

/// The middle of numbers that occur so many times; of an even count the upper one.
fn middle(counts: &BTreeMap<usize, usize>) -> Option<&usize> {
    let half = counts.values().sum::<usize>() / 2;
    let mut below = 0;
    let found = counts.iter().find(|(_, count)| {
        below += **count;
        below > half
    });
    found.map(|(number, _)| number)
}
