//! Rows of the grid to bars, once it is settled what holds for all of them.

use super::{GridRow, Settled};
use crate::{bars::Bar, extra::hold, instrument::Instrument, source::StampSide};

const NS_PER_HOUR: i128 = 3_600_000_000_000;

/// Turns rows in order of time to bars. A bar is known when the next row is, for the one may cut the other.
pub(crate) struct Finisher<'a> {
    settled: &'a Settled,
    before_ns: Option<i64>,
    held: Option<GridRow>,
    /// The last value of each extra column.
    extra: Vec<f64>,
}

impl<'a> Finisher<'a> {
    pub(crate) fn new(settled: &'a Settled) -> Self {
        let extra = vec![f64::NAN; settled.heading.extra.len()];
        Self { settled, before_ns: None, held: None, extra }
    }

    /// Takes a row and gives the bar before it; none for the first, and for a row that repeats the one before.
    pub(crate) fn push(&mut self, row: &GridRow) -> Option<Bar> {
        let held = self.held.replace(row.clone())?;
        if held.stamp_ns == row.stamp_ns {
            return None;
        }
        let bar = self.bar(&held, Some(row.stamp_ns));
        self.before_ns = Some(held.stamp_ns);
        Some(bar)
    }

    /// The last bar.
    pub(crate) fn last(mut self) -> Option<Bar> {
        let held = self.held.take()?;
        Some(self.bar(&held, None))
    }

    fn bar(&mut self, row: &GridRow, next_ns: Option<i64>) -> Bar {
        for (last, bits) in self.extra.iter_mut().zip(&row.extra) {
            hold(last, f64::from_bits(*bits));
        }
        let Settled { heading, bar_ns, scale, .. } = self.settled;
        let stamp = row.stamp_ns;
        let (open_ns, close_ns, gap) = match heading.source.stamp_side {
            StampSide::Open => {
                let end = stamp.saturating_add(*bar_ns);
                let gap = self.before_ns.is_some_and(|before| before.saturating_add(*bar_ns) < stamp);
                (stamp, next_ns.map_or(end, |next| end.min(next)), gap)
            }
            StampSide::Close => {
                let start = stamp.saturating_sub(*bar_ns);
                let gap = self.before_ns.is_some_and(|before| start > before);
                (self.before_ns.map_or(start, |before| start.max(before)), stamp, gap)
            }
        };
        let prices = |side: [i32; 4]| {
            let [open, high, low, close] = side.map(|price| price * scale);
            // Else Monday's orders would fill at Friday's price. Highs and lows stay as they are: whether the made open
            // stretched them cannot be told.
            [if gap && heading.source.synthetic_opens { close } else { open }, high, low, close]
        };
        let volume_lots = match row.lots {
            Some(lots) if heading.has_volume => lots,
            _ => preset_lots(&heading.instrument, open_ns, close_ns),
        };
        Bar {
            open_ns,
            close_ns,
            bid: prices(row.bid),
            ask: row.ask.map(prices),
            volume_lots,
            extra: self.extra.clone(),
        }
    }
}

/// The volume that stands in where a file has none.
fn preset_lots(instrument: &Instrument, open_ns: i64, close_ns: i64) -> i64 {
    let per_hour = i128::from(instrument.preset_volume_lots_per_hour);
    let lots = per_hour * (i128::from(close_ns) - i128::from(open_ns)) / NS_PER_HOUR;
    i64::try_from(lots.max(1)).unwrap_or(i64::MAX)
}
