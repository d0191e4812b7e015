//! From the device's rows and legs to the ledger's: the same numbers in the reader's terms, with the times that the device
//! does not know.

use crate::BacktestError;
use foxhunt_kernels::market::{Bar, FillKind, FillRow as RawFill, LedgerRow, OrderEnd, Rules, flag};
use foxhunt_ledger::{Action, BarFlags, BarRow, FillReason, FillRow, Leg, OrderEnd as End};
use std::ops::Range;

/// What every member's rows are read against.
pub(crate) struct Facts<'a> {
    pub(crate) bars: &'a [Bar],
    pub(crate) close_ns: &'a [i64],
    pub(crate) days: &'a [i32],
    pub(crate) rules: &'a Rules,
}

/// Rows and fills of one member: the opening row at `first`, then one for each of `rows`, whose legs are at the same place
/// of `legs`.
pub(crate) fn member(
    facts: &Facts<'_>,
    member: u32,
    first: usize,
    rows: &[LedgerRow],
    legs: &[RawFill],
    legs_of: impl Fn(usize) -> Range<usize>,
) -> Result<(Vec<BarRow>, Vec<FillRow>), BacktestError> {
    let start = facts.rules.start_cash;
    let opening = LedgerRow {
        bar: first as u32,
        equity: start,
        worst_equity: start,
        cash: start,
        worst: mark(&facts.bars[first]),
        ..LedgerRow::default()
    };
    let mut bars = vec![BarRow { action: Action::FLAT, ..bar_row(facts, member, &opening)? }];
    let mut fills = Vec::new();
    for (k, row) in rows.iter().enumerate() {
        bars.push(bar_row(facts, member, row)?);
        for leg in &legs[legs_of(k)] {
            fills.push(fill_row(facts, member, row.bar, leg)?);
        }
    }
    Ok((bars, fills))
}

/// The mark of a bar, units: the close, or the mid of a quote bar.
pub(crate) fn mark(bar: &Bar) -> i32 {
    ((i64::from(bar.bid[3]) + i64::from(bar.ask[3])) >> 1) as i32
}

fn bar_row(facts: &Facts<'_>, member: u32, row: &LedgerRow) -> Result<BarRow, BacktestError> {
    let at = row.bar as usize;
    let [exposure, order_type, urgency] = row.action;
    let has = |bit: u8| row.flags & bit != 0;
    Ok(BarRow {
        member,
        bar: row.bar,
        time_ns: facts.close_ns[at],
        day: facts.days[at],
        close: mark(&facts.bars[at]),
        worst: row.worst,
        position: row.position,
        equity: row.equity,
        worst_equity: row.worst_equity,
        cash: row.cash,
        basis: row.basis,
        realised: row.realised,
        fees: row.fees,
        financing: row.financing,
        action: Action { exposure, order_type, urgency },
        reward_q20: row.reward_q20,
        flags: BarFlags {
            terminated: has(flag::TERMINATED),
            // The end of data says nothing of an account that was ruined there.
            truncated: has(flag::TRUNCATED) && !has(flag::TERMINATED),
            liquidated: has(flag::LIQUIDATED),
            stopped: has(flag::STOPPED),
        },
        order_end: order_end(row)?,
    })
}

fn order_end(row: &LedgerRow) -> Result<End, BacktestError> {
    let unknown = BacktestError::Row { bar: row.bar, what: "end of an order", value: row.order_end.into() };
    Ok(match OrderEnd::ALL.get(usize::from(row.order_end)).ok_or(unknown)? {
        OrderEnd::None => End::None,
        OrderEnd::Filled => End::Filled,
        OrderEnd::PartVolume => End::PartVolume,
        OrderEnd::PartMargin => End::PartMargin,
        OrderEnd::Band => End::DroppedBand,
        OrderEnd::LimitNotReached => End::LimitNotReached,
        OrderEnd::IocBeyondLimit => End::IocBeyondLimit,
        OrderEnd::RejectedGap => End::RejectedGap,
        OrderEnd::NoVolume => End::NoVolume,
        OrderEnd::CancelledByStop => End::CancelledByStop,
        OrderEnd::CancelledByLiquidation => End::CancelledByLiquidation,
    })
}

/// Half of what bid and ask quote at the reference of a leg, quarters of a unit, rounded down. A limit and a level within the bar are
/// prices of their own.
fn quoted_x4(bar: &Bar, kind: FillKind) -> i32 {
    let spread = |price: usize| i64::from(bar.ask[price]) - i64::from(bar.bid[price]);
    let quoted = match kind {
        FillKind::Open | FillKind::Ioc | FillKind::StopAtOpen | FillKind::LiquidationAtOpen => 2 * spread(0),
        FillKind::Mean => (0..4).map(spread).sum::<i64>() / 2,
        FillKind::Maker
        | FillKind::StopInBar
        | FillKind::LiquidationInBar
        | FillKind::End
        | FillKind::Session => 0,
    };
    i32::try_from(quoted).unwrap_or(i32::MAX)
}

fn fill_row(facts: &Facts<'_>, member: u32, bar: u32, raw: &RawFill) -> Result<FillRow, BacktestError> {
    let unknown = BacktestError::Row { bar, what: "a leg of kind", value: raw.kind.into() };
    let kind = FillKind::ALL.into_iter().find(|k| *k as u8 == raw.kind).ok_or(unknown)?;
    let (leg, reason) = match kind {
        FillKind::Open | FillKind::Ioc => (Leg::Open, FillReason::Order),
        FillKind::Mean => (Leg::Twap, FillReason::Order),
        FillKind::Maker => (Leg::Maker, FillReason::Order),
        FillKind::StopAtOpen => (Leg::Stop, FillReason::StopAtOpen),
        FillKind::StopInBar => (Leg::Stop, FillReason::StopInBar),
        FillKind::LiquidationAtOpen => (Leg::Liquidation, FillReason::LiquidationAtOpen),
        FillKind::LiquidationInBar => (Leg::Liquidation, FillReason::LiquidationInBar),
        FillKind::End => (Leg::CloseOut, FillReason::EndOfTest),
        FillKind::Session => (Leg::CloseOut, FillReason::SessionClose),
    };
    Ok(FillRow {
        member,
        bar,
        leg,
        lots: raw.lots,
        price: raw.price,
        reference_x4: raw.reference4,
        decision_close: raw.close,
        half_spread: raw.half_spread,
        impact_x4: raw.impact4,
        fee: raw.fee + raw.penalty,
        reason,
        quoted_x4: quoted_x4(&facts.bars[bar as usize], kind),
    })
}
