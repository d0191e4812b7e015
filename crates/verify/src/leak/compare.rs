//! Two pasts, to the bit.

use super::Cut;
use foxhunt_ledger::{FillRow, Ledger};
use foxhunt_train::Market;

/// All that was made from some bars.
pub(super) struct Seen {
    pub(super) market: Market,
    pub(super) ledgers: Vec<Ledger>,
}

/// Fills in what of `before` and `after` differs up to the cut's row, and what fills after it are too good.
pub(super) fn differences(before: &Seen, after: &Seen, cut: &mut Cut) {
    let (a, b) = (&before.market, &after.market);
    if a.normaliser != b.normaliser {
        cut.found.push("the normaliser is another: it was fitted on later bars".into());
    }
    if a.splits != b.splits {
        cut.found.push("the windows are others".into());
    }
    let known = cut.row + 1;
    let (x, y) = (&a.features, &b.features);
    let same_shape = x.names == y.names && x.warmup_rows == y.warmup_rows;
    let values = known * x.cols;
    let differs = x.values.iter().zip(&y.values).take(values).position(|(p, q)| p.to_bits() != q.to_bits());
    match differs {
        Some(at) => {
            let (row, name) = (at / x.cols, &x.names[at % x.cols]);
            cut.found.push(format!("feature {name} of row {row} is another: it saw a later bar"));
        }
        None if !same_shape => cut.found.push("the features are others".into()),
        None => {}
    }
    let different = |equal: &dyn Fn(usize) -> bool| (0..known).find(|&row| !equal(row));
    if let Some(row) = different(&|row| a.table.bars[row] == b.table.bars[row]) {
        cut.found.push(format!("row {row} of the bar table is another"));
    }
    if let Some(row) = different(&|row| a.table.context[row] == b.table.context[row]) {
        cut.found.push(format!("volatility or session of row {row} is another"));
    }
    for (x, y) in before.ledgers.iter().zip(&after.ledgers) {
        ledgers(x, y, cut);
        offered(y, &after.market, cut);
    }
}

fn ledgers(before: &Ledger, after: &Ledger, cut: &mut Cut) {
    let who = before.header.baseline.as_deref().unwrap_or("the agents");
    let row = cut.row as u32;
    for member in 0..before.members() {
        let (x, y) = (before.bars_of(member), after.bars_of(member));
        // A run that ended early is compared up to there; if only one did, its last row tells.
        let known = |rows: &[foxhunt_ledger::BarRow]| rows.partition_point(|r| r.bar <= row);
        let (n, m) = (known(x), known(y));
        if let Some(k) = (0..n.max(m)).find(|&k| x.get(k) != y.get(k)) {
            let bar = x.get(k).or_else(|| y.get(k)).map_or(row, |r| r.bar);
            cut.found.push(format!("{who}, member {member}: the account at row {bar} is another"));
        } else if let (Some(p), Some(q)) = (x.get(n), y.get(n))
            && p.action != q.action
        {
            cut.found.push(format!("{who}, member {member}: the action chosen at row {row} is another"));
        }
        let fills = |l: &Ledger| -> Vec<FillRow> {
            l.fills_of(member).iter().filter(|f| f.bar <= row).copied().collect()
        };
        if fills(before) != fills(after) {
            cut.found.push(format!("{who}, member {member}: the fills up to row {row} are others"));
        }
        cut.accounts += n;
    }
}

/// No fill is better than the best price of its own bar, on the side that it is on.
fn offered(ledger: &Ledger, market: &Market, cut: &mut Cut) {
    let who = ledger.header.baseline.as_deref().unwrap_or("the agents");
    let bars = &market.bars;
    let ask = bars.ask.as_ref().unwrap_or(&bars.bid);
    let mut faults = ledger.fills.iter().filter(|f| f.bar as usize > cut.row).filter(|f| {
        cut.fills += 1;
        let row = f.bar as usize;
        let (low, high) = (4 * i64::from(ask.low[row]), 4 * i64::from(bars.bid.high[row]));
        // The close-out starts from the mid of a quote bar, which lies inside both.
        if f.lots > 0 {
            f.reference_x4 < low.min(4 * i64::from(bars.mid_low(row)))
        } else {
            f.reference_x4 > high.max(4 * i64::from(bars.mid_high(row)))
        }
    });
    let first = faults.next();
    let rest = faults.count();
    if let Some(f) = first {
        cut.found.push(format!(
            "{who}, member {}: {} lots in row {} filled from {}/4, which that bar did not offer, and {rest} fills more",
            f.member, f.lots, f.bar, f.reference_x4
        ));
    }
}
