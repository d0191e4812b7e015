//! One account made of several: each has a part of the capital and an instrument of its own, and what they hold together is
//! their sum, bar by bar.

use std::collections::BTreeSet;

use crate::ledger::Ledger;
use crate::reconcile::MemberAttribution;
use crate::rows::BarRow;

/// The sum of several accounts. All money is in units of 10^-`money_exponent` of the currency: the finest of the parts.
#[derive(Clone, Debug, PartialEq)]
pub struct Combined {
    /// Currency of all parts.
    pub currency: String,
    /// Money is counted in `10^-money_exponent` of it.
    pub money_exponent: u32,
    /// Money units of the sum for one of each part, in the parts' order.
    pub scales: Vec<i64>,
    /// One row for each time at which a bar of any part ends, the first before any decision.
    pub rows: Vec<CombinedRow>,
    /// Where the money went: the sums of the parts' lines, with `member` 0.
    pub lines: MemberAttribution,
    /// The parts' own lines, in their order and their units.
    pub parts: Vec<MemberAttribution>,
}

/// The account at one time. A part without a bar that ends then stands as at its last one before, or at its starting cash.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CombinedRow {
    /// Close of the bars that end here, ns UTC.
    pub time_ns: i64,
    /// The latest session that any part has begun, as [`BarRow::day`].
    pub day: i32,
    /// Sum of the parts' equity, money units.
    pub equity: i64,
    /// The same with each part whose bar ends here at that bar's worst moment, as if all came at once.
    pub worst_equity: i64,
    /// Sum of the notionals of all positions, money units.
    pub notional: i128,
}

/// Why accounts have no sum.
#[derive(Debug, thiserror::Error)]
pub enum CombineError {
    /// There is nothing to add up.
    #[error("there are no accounts")]
    Nothing,
    /// Nothing here knows what one currency is worth in another: which they are, in words.
    #[error("{0}, and nothing here knows what one is worth in the other")]
    Currencies(Box<str>),
    /// Parts that begin with different sums: which, in words.
    #[error("{0}: give all the same with market.start_cash, since an account through all has equal parts")]
    Capital(Box<str>),
    /// The sum is beyond 64 bits.
    #[error("the sum of the accounts does not fit 64 bits")]
    TooLarge,
    /// The sum is not what the fills of all parts say.
    #[error("at {time_ns} ns the sum of the accounts is {found}, and their fills say {expected}")]
    Contradiction {
        /// When.
        time_ns: i64,
        /// By the fills.
        expected: i128,
        /// By the accounts.
        found: i128,
    },
}

impl CombineError {
    /// Whether it says what an account through these instruments lacks, and not that a ledger is wrong.
    pub fn is_refusal(&self) -> bool {
        matches!(self, Self::Currencies(_) | Self::Capital(_) | Self::TooLarge)
    }
}

/// One part on its way through time.
struct Part<'a> {
    ledger: &'a Ledger,
    rows: &'a [BarRow],
    scale: i64,
    /// Rows that have ended so far.
    ended: usize,
}

impl Part<'_> {
    /// The row that holds now: the last that ended, or the opening one.
    fn now(&self) -> &BarRow {
        &self.rows[self.ended.saturating_sub(1)]
    }

    fn notional(&self) -> i128 {
        let row = self.now();
        let lots = i128::from(row.position.unsigned_abs());
        lots * i128::from(row.close) * i128::from(self.ledger.header.tv) * i128::from(self.scale)
    }
}

/// Adds up one member of each ledger, by its lines in what [`reconcile`](crate::reconcile()) returned, so that nothing is added up
/// that does not add up itself.
///
/// Every row is compared with a cash-flow book of all parts' fills.
///
/// # Errors
/// Parts that can't be added up, which [`CombineError::is_refusal`] tells from a sum that contradicts its parts.
pub fn combine(members: &[(&Ledger, MemberAttribution)]) -> Result<Combined, CombineError> {
    let (Some((first, _)), Some(exponent)) =
        (members.first(), members.iter().map(|(ledger, _)| ledger.header.money_exponent).max())
    else {
        return Err(CombineError::Nothing);
    };
    let mut parts = Vec::with_capacity(members.len());
    let mut scales = Vec::with_capacity(members.len());
    for &(ledger, lines) in members {
        let scale =
            10_i64.checked_pow(exponent - ledger.header.money_exponent).ok_or(CombineError::TooLarge)?;
        comparable(first, ledger, exponent)?;
        let rows = ledger.bars_of(lines.member);
        if rows.is_empty() {
            return Err(CombineError::Nothing);
        }
        scales.push(scale);
        parts.push(Part { ledger, rows, scale, ended: 0 });
    }
    let lines: Vec<MemberAttribution> = members.iter().map(|(_, lines)| *lines).collect();
    let rows = summed(&mut parts)?;
    check(&rows, members, &scales)?;
    Ok(Combined {
        currency: first.header.quote_currency.clone(),
        money_exponent: exponent,
        lines: total(&lines, &scales)?,
        scales,
        rows,
        parts: lines,
    })
}

fn comparable(first: &Ledger, ledger: &Ledger, exponent: u32) -> Result<(), CombineError> {
    let [a, b] = [first, ledger].map(|l| &l.header);
    let (one, other) = (&a.quote_currency, &b.quote_currency);
    if one != other {
        let words = format!("{} is counted in {one} and {} in {other}", a.instrument, b.instrument);
        return Err(CombineError::Currencies(words.into()));
    }
    let cash = |h: &crate::LedgerHeader| {
        i128::from(h.start_cash) * 10_i128.pow((exponent - h.money_exponent).min(18))
    };
    if cash(a) != cash(b) {
        let shown = |h: &crate::LedgerHeader| h.start_cash as f64 / 10_f64.powi(h.money_exponent as i32);
        let words =
            format!("{} begins with {} {one} and {} with {}", a.instrument, shown(a), b.instrument, shown(b));
        return Err(CombineError::Capital(words.into()));
    }
    Ok(())
}

/// The rows of the sum: each part is taken off and put on again where a bar of it ends.
fn summed(parts: &mut [Part<'_>]) -> Result<Vec<CombinedRow>, CombineError> {
    let times: BTreeSet<i64> = parts.iter().flat_map(|p| p.rows.iter().map(|row| row.time_ns)).collect();
    let of = |p: &Part<'_>, money: i64| i128::from(money) * i128::from(p.scale);
    let mut equity: i128 = parts.iter().map(|p| of(p, p.now().equity)).sum();
    let mut notional = 0;
    let mut day = i32::MIN;
    let mut rows = Vec::with_capacity(times.len());
    for time_ns in times {
        let mut worse = 0;
        for part in parts.iter_mut() {
            if part.rows.get(part.ended).is_none_or(|row| row.time_ns != time_ns) {
                continue;
            }
            equity -= of(part, part.now().equity);
            notional -= if part.ended == 0 { 0 } else { part.notional() };
            part.ended += 1;
            let row = *part.now();
            equity += of(part, row.equity);
            notional += part.notional();
            worse += of(part, row.worst_equity) - of(part, row.equity);
            day = day.max(row.day);
        }
        let fits = |x: i128| i64::try_from(x).map_err(|_| CombineError::TooLarge);
        rows.push(CombinedRow {
            time_ns,
            day,
            equity: fits(equity)?,
            worst_equity: fits(equity + worse)?,
            notional,
        });
    }
    Ok(rows)
}

/// Start − Σ x·P·tv − fees − financing + position·mark·tv of all parts, at every row.
fn check(
    rows: &[CombinedRow],
    members: &[(&Ledger, MemberAttribution)],
    scales: &[i64],
) -> Result<(), CombineError> {
    let mut sums = vec![0_i128; rows.len()];
    for (&(ledger, MemberAttribution { member, .. }), &scale) in members.iter().zip(scales) {
        let (bars, header) = (ledger.bars_of(member), &ledger.header);
        let mut fills = ledger.fills_of(member).iter().peekable();
        let mut next = bars.iter().peekable();
        let tv = i128::from(header.tv);
        let (mut position, mut paid, mut worth) = (0_i128, 0_i128, i128::from(header.start_cash));
        for (row, sum) in rows.iter().zip(&mut sums) {
            while let Some(bar) = next.next_if(|bar| bar.time_ns <= row.time_ns) {
                while let Some(fill) = fills.next_if(|fill| fill.bar <= bar.bar) {
                    position += i128::from(fill.lots);
                    paid += i128::from(fill.lots) * i128::from(fill.price) * tv + i128::from(fill.fee);
                }
                worth = i128::from(header.start_cash) - paid - i128::from(bar.financing)
                    + position * i128::from(bar.close) * tv;
            }
            *sum += worth * i128::from(scale);
        }
    }
    match rows.iter().zip(sums).find(|(row, sum)| i128::from(row.equity) != *sum) {
        None => Ok(()),
        Some((row, expected)) => {
            Err(CombineError::Contradiction { time_ns: row.time_ns, expected, found: i128::from(row.equity) })
        }
    }
}

fn total(lines: &[MemberAttribution], scales: &[i64]) -> Result<MemberAttribution, CombineError> {
    let sum = |of: fn(&MemberAttribution) -> i128| -> i128 {
        lines.iter().zip(scales).map(|(line, scale)| of(line) * i128::from(*scale)).sum()
    };
    let money =
        |of: fn(&MemberAttribution) -> i128| i64::try_from(sum(of)).map_err(|_| CombineError::TooLarge);
    Ok(MemberAttribution {
        member: 0,
        start: money(|l| l.start.into())?,
        end: money(|l| l.end.into())?,
        held: sum(|l| l.held),
        traded: sum(|l| l.traded),
        delay: sum(|l| l.delay),
        spread: sum(|l| l.spread),
        impact: sum(|l| l.impact),
        fees: sum(|l| l.fees),
        financing: sum(|l| l.financing),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::synth::Synth;

    fn of(ledger: &Ledger, member: usize) -> (&Ledger, MemberAttribution) {
        (ledger, crate::reconcile(ledger).unwrap().members[member])
    }

    fn two() -> [Ledger; 2] {
        let one = Synth { bars: 400, members: 2, ..Synth::default() }.ledger();
        let mut other = Synth { bars: 500, members: 2, seed: 8, ..Synth::default() }.ledger();
        // Its bars end half an hour after the first one's, so that every second row is of one part alone.
        other.bars.iter_mut().for_each(|row| row.time_ns += 1_800_000_000_000);
        other.header.window.start_ns += 1_800_000_000_000;
        [one, other]
    }

    #[test]
    fn parts_that_end_at_other_times_keep_their_last_value() {
        let [a, b] = two();
        let sum = combine(&[of(&a, 1), of(&b, 0)]).unwrap();
        assert_eq!(sum.rows.len(), 401 + 501);
        let (start, cash) = (a.header.start_cash, a.header.start_cash);
        assert_eq!((sum.rows[0].equity, sum.rows[1].equity), (start + cash, start + cash));
        // By another way: for every row the last of each part until then.
        for row in &sum.rows {
            let last = |l: &Ledger, m: u32| {
                let rows = l.bars_of(m);
                let at = rows.partition_point(|r| r.time_ns <= row.time_ns);
                rows[at.saturating_sub(1)]
            };
            let (x, y) = (last(&a, 1), last(&b, 0));
            assert_eq!(row.equity, x.equity + y.equity);
            let worst = |r: BarRow| if r.time_ns == row.time_ns { r.worst_equity } else { r.equity };
            assert_eq!(row.worst_equity, worst(x) + worst(y));
            let held =
                |r: BarRow| i128::from(r.position.abs()) * i128::from(r.close) * i128::from(a.header.tv);
            assert_eq!(row.notional, held(x) + held(y));
        }
        assert!(sum.rows.windows(2).all(|w| w[0].time_ns < w[1].time_ns && w[0].day <= w[1].day));
        let change = i128::from(sum.rows.last().unwrap().equity) - i128::from(sum.rows[0].equity);
        assert_eq!(
            (sum.lines.total(), i128::from(sum.lines.end) - i128::from(sum.lines.start)),
            (change, change)
        );
    }

    #[test]
    fn money_of_another_exponent_is_scaled_exactly() {
        let [a, mut b] = two();
        // The same account in tenths of its money unit.
        b.header.money_exponent += 1;
        b.header.tv *= 10;
        b.header.start_cash *= 10;
        for row in &mut b.bars {
            for x in [
                &mut row.equity,
                &mut row.worst_equity,
                &mut row.cash,
                &mut row.realised,
                &mut row.fees,
                &mut row.financing,
            ] {
                *x *= 10;
            }
        }
        b.fills.iter_mut().for_each(|fill| fill.fee *= 10);
        let fine = combine(&[of(&a, 0), of(&b, 0)]).unwrap();
        let coarse = combine(&[of(&a, 0), of(&two()[1], 0)]).unwrap();
        assert_eq!((fine.money_exponent, &fine.scales[..]), (coarse.money_exponent + 1, &[10, 1][..]));
        assert!(fine.rows.iter().zip(&coarse.rows).all(|(f, c)| f.equity == 10 * c.equity));
        assert_eq!(fine.lines.fees, 10 * coarse.lines.fees);
    }

    #[test]
    fn what_can_not_be_added_up_is_refused_with_its_reason() {
        let [a, mut b] = two();
        let lines = of(&b, 0).1;
        let refused = |b: &Ledger| combine(&[of(&a, 0), (b, lines)]).unwrap_err();
        b.header.quote_currency = "JPY".into();
        let said = refused(&b);
        assert!(said.is_refusal() && said.to_string().contains("EUR/USD in JPY"), "{said}");
        b = two()[1].clone();
        b.header.start_cash += 1_000_000;
        let said = refused(&b);
        assert!(said.is_refusal() && said.to_string().contains("market.start_cash"), "{said}");
        assert!(matches!(combine(&[]), Err(CombineError::Nothing)));
    }

    /// The check is seen to fail: a unit too much in one row of the sum.
    #[test]
    fn a_unit_too_much_is_found() {
        let [a, b] = two();
        let mut sum = combine(&[of(&a, 0), of(&b, 0)]).unwrap();
        sum.rows[700].equity += 1;
        let found = check(&sum.rows, &[of(&a, 0), of(&b, 0)], &sum.scales);
        assert!(
            matches!(found, Err(CombineError::Contradiction { time_ns, .. }) if time_ns == sum.rows[700].time_ns)
        );
    }
}
