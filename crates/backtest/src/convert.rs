//! From the device's rows and legs to the ledger's: the same numbers in the reader's terms, and what the device does not
//! write (times, days, the worst price, how an order ended).

use crate::BacktestError;
use foxhunt_kernels::market::{Bar, Cancel, FillKind, FillRow as RawFill, LedgerRow, Rules, flag};
use foxhunt_ledger::{Action, BarFlags, BarRow, Book, FillReason, FillRow, Leg, OrderEnd};
use std::ops::Range;

/// What every member's rows are read against.
pub(crate) struct Facts<'a> {
    pub(crate) bars: &'a [Bar],
    pub(crate) close_ns: &'a [i64],
    pub(crate) days: &'a [i32],
    pub(crate) rules: &'a Rules,
}

/// One member's way through the ledger so far.
struct Walk<'a, 'b> {
    facts: &'a Facts<'b>,
    member: u32,
    book: Book,
    bars: Vec<BarRow>,
    fills: Vec<FillRow>,
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
    let mut walk = Walk { facts, member, book: Book::default(), bars: Vec::new(), fills: Vec::new() };
    walk.open(first);
    for (k, row) in rows.iter().enumerate() {
        walk.bar(row, &legs[legs_of(k)])?;
    }
    Ok((walk.bars, walk.fills))
}

/// The mark of a bar, units: the close, or the mid of a quote bar.
pub(crate) fn mark(bar: &Bar) -> i32 {
    ((i64::from(bar.bid[3]) + i64::from(bar.ask[3])) >> 1) as i32
}

impl Walk<'_, '_> {
    /// The opening row: the close of the first decision, flat.
    fn open(&mut self, first: usize) {
        let (close, cash) = (mark(&self.facts.bars[first]), self.facts.rules.start_cash);
        self.bars.push(BarRow {
            member: self.member,
            bar: first as u32,
            time_ns: self.facts.close_ns[first],
            day: self.facts.days[first],
            close,
            worst: close,
            position: 0,
            equity: cash,
            worst_equity: cash,
            cash,
            basis: 0,
            realised: 0,
            fees: 0,
            financing: 0,
            action: Action::FLAT,
            reward_q20: 0,
            flags: BarFlags::default(),
            order_end: OrderEnd::None,
        });
    }

    fn bar(&mut self, row: &LedgerRow, legs: &[RawFill]) -> Result<(), BacktestError> {
        let at = row.bar as usize;
        let bar = &self.facts.bars[at];
        let held = self.bars.last().map_or(0, |previous| previous.position);
        let fills = legs
            .iter()
            .enumerate()
            .map(|(k, leg)| fill(self.member, row.bar, bar, leg, k == 0 && held != 0))
            .collect::<Result<Vec<_>, _>>()?;
        let (worst, worst_equity) = self.worst(row, bar, &fills)?;
        let [exposure, order_type, urgency] = row.action;
        let has = |bit: u8| row.flags & bit != 0;
        self.bars.push(BarRow {
            member: self.member,
            bar: row.bar,
            time_ns: self.facts.close_ns[at],
            day: self.facts.days[at],
            close: mark(bar),
            worst,
            position: row.position,
            equity: row.equity,
            worst_equity,
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
            order_end: self.order_end(row, bar, held, &fills)?,
        });
        self.fills.extend(fills);
        Ok(())
    }

    /// The worst price that the position met and equity there, by the ledger's own book; books the fills.
    fn worst(&mut self, row: &LedgerRow, bar: &Bar, fills: &[FillRow]) -> Result<(i32, i64), BacktestError> {
        let wrong = |source| BacktestError::Legs { bar: row.bar, source };
        let tv = self.facts.rules.tv;
        let before = self.book.before_worst(fills, tv).map_err(wrong)?;
        let worst = match fills.get(before) {
            Some(forced) if forced.reason.in_bar() => forced.price,
            _ => match self.book.position.signum() {
                1 => bar.bid[2],
                -1 => bar.ask[1],
                _ => mark(bar),
            },
        };
        let equity = self.book.equity(self.facts.rules.start_cash, row.financing, worst, tv);
        let equity = i64::try_from(equity).map_err(|_| {
            let value = if equity < 0 { i64::MIN } else { i64::MAX };
            BacktestError::Row { bar: row.bar, what: "worst equity", value }
        })?;
        for fill in &fills[before..] {
            self.book.apply(fill, tv).map_err(wrong)?;
        }
        Ok((worst, equity))
    }

    /// How the order ended. The device keeps one reason, and an exit's goes before the order's; what an order lacks after
    /// an exit at the open is found again from the bar.
    fn order_end(
        &self,
        row: &LedgerRow,
        bar: &Bar,
        held: i32,
        fills: &[FillRow],
    ) -> Result<OrderEnd, BacktestError> {
        let exit = fills.iter().find(|f| matches!(f.leg, Leg::Stop | Leg::Liquidation));
        let by_exit = |fill: &FillRow| match fill.leg {
            Leg::Stop => OrderEnd::CancelledByStop,
            _ => OrderEnd::CancelledByLiquidation,
        };
        let at_open = exit.filter(|f| !f.reason.in_bar());
        let held = if at_open.is_some() { 0 } else { held };
        if row.order == 0 {
            return Ok(match at_open {
                _ if row.target == held => OrderEnd::None,
                // After an exit at the open the order may only open the other side.
                Some(fill) => by_exit(fill),
                None => OrderEnd::DroppedBand,
            });
        }
        if row.filled.unsigned_abs() == row.order.unsigned_abs() {
            return Ok(OrderEnd::Filled);
        }
        if let Some(fill) = fills.iter().find(|f| f.reason.in_bar()) {
            return Ok(by_exit(fill));
        }
        let capacity = i128::from(bar.volume) * i128::from(self.facts.rules.cap_e4) / 10_000;
        let of_volume = if capacity == 0 { OrderEnd::NoVolume } else { OrderEnd::PartVolume };
        let none = row.filled == 0;
        let limit = match row.action[1] {
            1 if none => OrderEnd::LimitNotReached,
            // A part of a maker's order: what of the bar's volume lay beyond its limit.
            1 => OrderEnd::PartVolume,
            _ => OrderEnd::IocBeyondLimit,
        };
        let covers = capacity >= i128::from(row.order.unsigned_abs());
        Ok(match cancel(row)? {
            Cancel::Cap => of_volume,
            Cancel::Limit => limit,
            Cancel::Rejected => OrderEnd::RejectedGap,
            Cancel::Margin => OrderEnd::PartMargin,
            Cancel::Stop | Cancel::Liquidation if row.action[1] == 0 || !none => {
                if covers && row.action[1] != 1 { OrderEnd::PartMargin } else { of_volume }
            }
            Cancel::Stop | Cancel::Liquidation => limit,
            Cancel::None | Cancel::Band => {
                let (what, value) = ("unfilled lots without a reason, of an order of", row.order.into());
                return Err(BacktestError::Row { bar: row.bar, what, value });
            }
        })
    }
}

fn cancel(row: &LedgerRow) -> Result<Cancel, BacktestError> {
    const ALL: [Cancel; 8] = [
        Cancel::None,
        Cancel::Band,
        Cancel::Cap,
        Cancel::Limit,
        Cancel::Rejected,
        Cancel::Margin,
        Cancel::Stop,
        Cancel::Liquidation,
    ];
    let unknown = BacktestError::Row { bar: row.bar, what: "cancel reason", value: row.cancel.into() };
    ALL.into_iter().find(|c| *c as u8 == row.cancel).ok_or(unknown)
}

/// One leg. `may_be_at_open`: it is the bar's first and there was a position, so that an exit may have come at the open.
fn fill(
    member: u32,
    bar: u32,
    prices: &Bar,
    leg: &RawFill,
    may_be_at_open: bool,
) -> Result<FillRow, BacktestError> {
    const KINDS: [(FillKind, Leg); 7] = [
        (FillKind::Open, Leg::Open),
        (FillKind::Mean, Leg::Twap),
        (FillKind::Maker, Leg::Maker),
        (FillKind::Ioc, Leg::Open),
        (FillKind::Stop, Leg::Stop),
        (FillKind::Liquidation, Leg::Liquidation),
        (FillKind::End, Leg::CloseOut),
    ];
    let unknown = BacktestError::Row { bar, what: "a leg of kind", value: leg.kind.into() };
    let (_, kind) = KINDS.into_iter().find(|(k, _)| *k as u8 == leg.kind).ok_or(unknown)?;
    let side = if leg.lots > 0 { prices.ask } else { prices.bid };
    let at_open = may_be_at_open && leg.reference4 == 4 * i64::from(side[0]);
    let reason = match (kind, at_open) {
        (Leg::Stop, true) => FillReason::StopAtOpen,
        (Leg::Stop, false) => FillReason::StopInBar,
        (Leg::Liquidation, true) => FillReason::LiquidationAtOpen,
        (Leg::Liquidation, false) => FillReason::LiquidationInBar,
        (Leg::CloseOut, _) => FillReason::EndOfTest,
        (Leg::Open | Leg::Twap | Leg::Maker, _) => FillReason::Order,
    };
    // A ledger's close-out starts from the mark: on quote bars what lies between it and the side that fills is half-spread.
    let close = mark(prices);
    let (reference_x4, half_spread) = match kind {
        Leg::CloseOut => (4 * i64::from(close), leg.half_spread + (side[3] - close).abs()),
        _ => (leg.reference4, leg.half_spread),
    };
    Ok(FillRow {
        member,
        bar,
        leg: kind,
        lots: leg.lots,
        price: leg.price,
        reference_x4,
        decision_close: leg.close,
        half_spread,
        impact_x4: leg.impact4,
        fee: leg.fee + leg.penalty,
        reason,
    })
}
