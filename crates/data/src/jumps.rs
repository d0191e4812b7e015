//! Prices far from those around them: splits of shares that nobody adjusted, a slipped digit, a change of unit. An agent would learn
//! to trade them.

use serde::{Deserialize, Serialize};

use crate::{histogram::Histogram, moment::show_moment};

/// Splits that are common, as new shares for old ones.
const RATIOS: [(u32, u32); 9] = [(2, 1), (3, 1), (3, 2), (4, 1), (5, 1), (7, 1), (10, 1), (15, 1), (20, 1)];
/// A price opens within this of the close before, divided by the ratio.
const TOLERANCE: f64 = 0.07;
/// A move this many times the usual one is no ordinary move.
const TIMES_USUAL: f64 = 8.0;
/// A move that is near no split is far from this many times the usual one,
const FAR_TIMES_USUAL: f64 = 64.0;
/// and from this, as a logarithm: a factor of 1.2.
const FAR: f64 = 0.182;
/// Between two files, whose time apart may be long, a move that is near no split is far from a factor of 3.
const FAR_BETWEEN_FILES: f64 = 1.0986;
/// Jumps that are kept. A file with more is no series of prices, and memory must end somewhere.
const MAX_JUMPS: usize = 1 << 16;
/// Jumps that are named where they are told in words.
const SHOWN: usize = 5;

/// What is far from what.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum JumpKind {
    /// The open or close from the close before, as at a split: new shares for old ones; the reverse where shares were put together.
    Split(u32, u32),
    /// The close from the close before.
    Close,
    /// The high above both the close before and the bar's own.
    High,
    /// The low below both.
    Low,
}

/// A price far from those around it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Jump {
    /// The bar that has it.
    pub row: usize,
    /// When that bar opens, ns UTC.
    pub open_ns: i64,
    /// The file that the bar is from.
    pub path: String,
    /// Line (or record number) in the unpacked file, from 1.
    pub line: u64,
    /// What is far from what.
    pub kind: JumpKind,
    /// The price and the one that it is far from, of which only the ratio counts.
    pub prices: (i64, i64),
}

impl Jump {
    /// It in short: `2:1`, or `high x 9.3`.
    pub fn label(&self) -> String {
        let times = ratio(self.prices);
        // Three digits, and all before the point.
        let digits = (2.0 - times.log10().floor()).clamp(0.0, 12.0) as usize;
        match self.kind {
            JumpKind::Split(new, old) => format!("{new}:{old}"),
            JumpKind::Close => format!("close x {times:.digits$}"),
            JumpKind::High => format!("high x {times:.digits$}"),
            JumpKind::Low => format!("low x {times:.digits$}"),
        }
    }

    /// Whether it is like a split.
    pub fn is_split(&self) -> bool {
        matches!(self.kind, JumpKind::Split(..))
    }

    /// It with its moment and line, and with its file where that is not `path`.
    fn with_place(&self, path: &str) -> String {
        let file = if self.path == path { String::new() } else { format!("{}, ", self.path) };
        format!("{} at {} ({file}line {})", self.label(), show_moment(self.open_ns), self.line)
    }
}

/// The first of some jumps in `path`, one after the other, and how many more there are.
pub(crate) fn in_words<'a>(path: &str, jumps: impl Iterator<Item = &'a Jump>) -> String {
    let all: Vec<&Jump> = jumps.collect();
    let mut words: Vec<String> = all.iter().take(SHOWN).map(|jump| jump.with_place(path)).collect();
    if all.len() > SHOWN {
        words.push(format!("{} more", all.len() - SHOWN));
    }
    words.join(", ")
}

/// Prices at which a file begins and ends: what the next file's are compared with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Edges {
    /// Line, open and prices of the first bar, each twice the mid.
    first: (u64, i64, [i64; 4]),
    /// The last close, twice the mid.
    last: i64,
}

fn ratio((a, b): (i64, i64)) -> f64 {
    a as f64 / b as f64
}

/// A jump that may be one, by its bar's place among the rows.
struct Candidate {
    row: usize,
    /// The stamp before, if there is one, and the bar's own.
    stamps_ns: (Option<i64>, i64),
    line: u64,
    kind: JumpKind,
    prices: (i64, i64),
}

/// The jumps of a bar (twice its open, high, low and close) after a close, whatever is usual.
fn of_bar(
    before: Option<i64>,
    [open, high, low, close]: [i64; 4],
) -> impl Iterator<Item = (JumpKind, (i64, i64))> {
    let around = before.unwrap_or(close);
    let split = before.and_then(|before| {
        let near = |prices, (new, old): (u32, u32)| {
            (ratio(prices) * f64::from(new) / f64::from(old) - 1.0).abs() < TOLERANCE
        };
        let find = |prices: (i64, i64)| {
            let mut ratios = RATIOS.into_iter().chain(RATIOS.map(|(new, old)| (old, new)));
            ratios.find(|split| near(prices, *split)).map(|(new, old)| (JumpKind::Split(new, old), prices))
        };
        // Where opens are made from closes before, the close alone shows it.
        find((open, before)).or_else(|| find((close, before)))
    });
    let far = |kind, prices: (i64, i64)| (ratio(prices).ln().abs() >= FAR).then_some((kind, prices));
    let level = split.or_else(|| far(JumpKind::Close, (close, around)));
    let high = far(JumpKind::High, (high.max(around), around.max(close)));
    let low = far(JumpKind::Low, (low.min(around), around.min(close)));
    [level, high, low].into_iter().flatten()
}

/// Finds jumps among rows in order of time.
pub(crate) struct Jumps {
    rows: usize,
    before_ns: Option<i64>,
    edges: Option<Edges>,
    /// Moves from close to close, as absolute logarithms to three decimal digits.
    moves: Histogram,
    candidates: Vec<Candidate>,
}

impl Jumps {
    pub(crate) fn new() -> Self {
        Self { rows: 0, before_ns: None, edges: None, moves: Histogram::new(11), candidates: Vec::new() }
    }

    /// Takes a row: its line, stamp, and twice the mids of open, high, low and close.
    pub(crate) fn push(&mut self, line: u64, stamp_ns: i64, prices: [i64; 4]) {
        let before = self.edges.map(|edges| edges.last);
        if let Some(before) = before {
            self.moves.push(ratio((prices[3], before)).ln().abs());
        }
        for (kind, of) in of_bar(before, prices) {
            if self.candidates.len() == MAX_JUMPS {
                break;
            }
            let stamps_ns = (self.before_ns, stamp_ns);
            self.candidates.push(Candidate { row: self.rows, stamps_ns, line, kind, prices: of });
        }
        let first = self.edges.map_or((line, stamp_ns, prices), |edges| edges.first);
        self.edges = Some(Edges { first, last: prices[3] });
        self.before_ns = Some(stamp_ns);
        self.rows += 1;
    }

    /// The jumps of a file, and its edges; `open_ns` gives the opening of the bar of a stamp, from the stamp before and it.
    pub(crate) fn finish(
        self,
        path: &str,
        open_ns: impl Fn(Option<i64>, i64) -> i64,
    ) -> (Vec<Jump>, Option<Edges>) {
        let usual = self.moves.median().unwrap_or(0.0);
        let is_far = |c: &Candidate| {
            let times = if matches!(c.kind, JumpKind::Split(..)) { TIMES_USUAL } else { FAR_TIMES_USUAL };
            ratio(c.prices).ln().abs() >= times * usual
        };
        let jump = |c: &Candidate| Jump {
            row: c.row,
            open_ns: open_ns(c.stamps_ns.0, c.stamps_ns.1),
            path: path.to_owned(),
            line: c.line,
            kind: c.kind,
            prices: c.prices,
        };
        let found = self.candidates.iter().filter(|c| is_far(c)).map(jump).collect();
        let edges = self.edges.map(|Edges { first: (line, stamp, prices), last }| Edges {
            first: (line, open_ns(None, stamp), prices),
            last,
        });
        (found, edges)
    }
}

/// Takes up the jumps of the next file, whose first bar is number `rows`, and the one between the files if there is one.
pub(crate) fn append(
    (jumps, edges): (&mut Vec<Jump>, &mut Option<Edges>),
    rows: usize,
    (path, more, next): (&str, Vec<Jump>, Option<Edges>),
) {
    let (Some(a), Some(b)) = (*edges, next) else { return };
    let (line, open_ns, prices) = b.first;
    let between = of_bar(Some(a.last), prices).find(|(kind, prices)| match kind {
        JumpKind::Split(..) => true,
        JumpKind::Close => ratio(*prices).ln().abs() >= FAR_BETWEEN_FILES,
        JumpKind::High | JumpKind::Low => false,
    });
    jumps.extend(between.map(|(kind, prices)| Jump {
        row: rows,
        open_ns,
        path: path.into(),
        line,
        kind,
        prices,
    }));
    jumps.extend(more.into_iter().map(|jump| Jump { row: rows + jump.row, ..jump }));
    jumps.truncate(MAX_JUMPS);
    *edges = Some(Edges { first: a.first, last: b.last });
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Bars;

    fn found(bars: &Bars) -> Vec<(usize, String)> {
        let mut jumps = Jumps::new();
        for i in 0..bars.len() {
            jumps.push(i as u64 + 2, bars.open_ns[i], bars.bar(i).mids2());
        }
        let (found, _) = jumps.finish("a", |_, stamp| stamp);
        assert!(found.iter().all(|j| j.line == j.row as u64 + 2 && j.open_ns == bars.open_ns[j.row]));
        found.iter().map(|j| (j.row, j.label())).collect()
    }

    fn sides(bars: &mut Bars) -> [&mut Vec<i32>; 4] {
        let bid = &mut bars.bid;
        [&mut bid.open, &mut bid.high, &mut bid.low, &mut bid.close]
    }

    #[test]
    fn a_split_is_found_and_ordinary_moves_are_not() {
        let mut bars = crate::sample().slice(0..500);
        assert_eq!(found(&bars), []);
        for side in sides(&mut bars) {
            side[300..].iter_mut().for_each(|p| *p /= 2);
            side[400..].iter_mut().for_each(|p| *p *= 10);
        }
        assert_eq!(found(&bars), [(300, "2:1".to_owned()), (400, "1:10".to_owned())]);
    }

    #[test]
    fn a_change_of_unit_is_found_where_opens_are_made_too() {
        let mut bars = crate::sample().slice(0..500);
        sides(&mut bars).into_iter().for_each(|side| side[300..].iter_mut().for_each(|p| *p *= 1_000));
        assert_eq!(found(&bars), [(300, "close x 999".to_owned())]);
        bars.bid.open[300] = bars.bid.close[299];
        bars.bid.low[300] = bars.bid.close[299];
        assert_eq!(found(&bars), [(300, "close x 999".to_owned())]);
    }

    #[test]
    fn one_absurd_price_is_found_whichever_it_is() {
        let sample = crate::sample().slice(0..500);
        let with = |change: fn(&mut Bars)| {
            let mut bars = sample.clone();
            change(&mut bars);
            found(&bars)
        };
        let one = |row, label: &str| (row, label.to_owned());
        assert_eq!(with(|b| b.bid.high[7] = 9 * b.bid.close[7]), [one(7, "high x 9.00")]);
        assert_eq!(with(|b| b.bid.low[0] = b.bid.close[0] / 1_000), [one(0, "low x 0.000998")]);
        assert_eq!(with(|b| b.bid.high[499] = b.bid.close[499] * 5 / 4), [one(499, "high x 1.25")]);
        let open = with(|b| (b.bid.open[7], b.bid.high[7]) = (9 * b.bid.close[6], 9 * b.bid.close[6]));
        assert_eq!(open.len(), 1, "{open:?}");
        let close = with(|b| (b.bid.close[7], b.bid.low[7]) = (b.bid.close[6] / 6, b.bid.close[6] / 6));
        assert_eq!(close.iter().map(|(row, _)| *row).collect::<Vec<_>>(), [7, 8], "{close:?}");
    }
}
