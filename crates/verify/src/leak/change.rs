//! Another future: valid bars that have nothing in common with the true ones.

use foxhunt_core::rng::{Purpose, draw, member_seed};
use foxhunt_data::{Bars, Ohlc};

/// Random numbers of one bar.
struct Draws {
    seed: u64,
    row: u32,
    used: u32,
}

impl Draws {
    /// In 0..1.
    fn unit(&mut self) -> f64 {
        let word = draw(self.seed, 0, self.used, Purpose::Sample, self.row)[0];
        self.used += 1;
        f64::from(word) / 4_294_967_296.0
    }

    fn within(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * self.unit()
    }
}

/// The same bars up to row `last`, and after it others: the price jumps by 5 to 20 % and then wanders, within half the lowest
/// and the highest price of the file; volumes are up to twice the true ones; one bar in twenty comes up to three days late,
/// and with it all that follow. Columns beside the bars hold anything between their extremes.
pub(super) fn after(bars: &Bars, last: usize, seed: u64) -> Bars {
    let mut out = bars.clone();
    let tick = bars.instrument.tick_units.max(1);
    let lowest = f64::from(bars.bid.low.iter().copied().min().unwrap_or(1)) / 2.0;
    let highest = f64::from(bars.bid.high.iter().copied().max().unwrap_or(1));
    // Whole ticks, so that mids stay whole.
    let on_grid = |price: f64| {
        let ticks = (price.clamp(lowest, highest) / f64::from(tick)) as i32;
        (ticks * tick).max(tick)
    };
    let mut price = f64::from(bars.bid.close[last]);
    let mut late_ns = 0;
    for row in last + 1..bars.len() {
        let mut d = Draws { seed: member_seed(seed, last as u64), row: row as u32, used: 0 };
        if row == last + 1 {
            // Away from the nearer bound.
            let up = price < (lowest + highest) / 2.0;
            let jump = d.within(0.05, 0.2);
            price *= if up { 1.0 + jump } else { 1.0 - jump };
        }
        let open = on_grid(price * d.within(0.998, 1.002));
        let close = on_grid(f64::from(open) * d.within(0.99, 1.01));
        let high = open.max(close) + tick * (d.within(0.0, 20.0) as i32);
        let low = (open.min(close) - tick * (d.within(0.0, 20.0) as i32)).max(tick);
        put(&mut out.bid, row, [open, high, low, close]);
        if let Some(ask) = &mut out.ask {
            let spread = tick * (d.within(1.0, 12.0) as i32);
            put(ask, row, [open, high, low, close].map(|p| p + spread));
        }
        if bars.has_volume {
            out.volume_lots[row] = (bars.volume_lots[row] as f64 * d.within(0.0, 2.0)) as i64;
        }
        for column in out.extra.iter_mut().filter(|c| row >= c.first) {
            let (low, high) =
                column.known().iter().fold((0.0_f64, 1.0_f64), |(l, h), v| (l.min(*v), h.max(*v)));
            column.values[row] = d.within(low, high);
        }
        // Whether a row ends its session is the calendar's, and known: the next row stays in its own.
        let late = d.unit() < 0.05 && (row > last + 1 || !bars.instrument.session.flat_by_close);
        if late {
            late_ns += (d.within(1.0, 72.0) as i64) * 3_600_000_000_000;
        }
        out.open_ns[row] += late_ns;
        out.close_ns[row] += late_ns;
        price = f64::from(close);
    }
    out
}

fn put(side: &mut Ohlc, row: usize, [open, high, low, close]: [i32; 4]) {
    (side.open[row], side.high[row], side.low[row], side.close[row]) = (open, high, low, close);
}
