//! Checks a ledger against the account rules, and explains every change in equity without a remainder.
//!
//! The rules are those of sections 4 and 7 of the market specification. Each bar is compared with a [`Book`] that is
//! rebuilt from the fills alone. Where a number is off, the other columns tell which one is at fault: a wrong
//! financing shows in cash and equity alike, a wrong cash in itself only.

use crate::book::{Book, BookError};
use crate::error::{Column, Mismatch, ReconcileError};
use crate::header::{FORMAT, LedgerHeader};
use crate::ledger::Ledger;
use crate::rows::{Action, BarFlags, BarRow, FillReason, FillRow, Leg, OrderEnd};

/// Where a member's money went. All in money units, exact:
///
/// `end − start = held + traded − spread − impact − fees − financing`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MemberAttribution {
    /// Index of the member.
    pub member: u32,
    /// Equity on the opening row.
    pub start: i64,
    /// Equity on the last row.
    pub end: i64,
    /// Σ position·ΔC: what the positions held from close to close earned.
    pub held: i128,
    /// Σ x(C − reference): what traded lots earned from their reference price to the bar's close. Of quotes the reference is the mid
    /// here and in `delay`.
    pub traded: i128,
    /// Σ x(reference − C_t) over the agent's orders: what waiting from the decision to the reference price cost. A
    /// line of its own, not part of the sum: `traded + delay` is what the lots would have earned from C_t on.
    pub delay: i128,
    /// What the half-spread cost, charged or quoted, and every rounding of a price.
    pub spread: i128,
    /// What market impact cost, rounded down; the rest of the rounding is in `spread`.
    pub impact: i128,
    /// Fees and penalties.
    pub fees: i128,
    /// Financing.
    pub financing: i128,
}

impl MemberAttribution {
    /// The sum of the lines, which [`reconcile`] has found equal to `end − start`.
    pub fn total(&self) -> i128 {
        self.held + self.traded - self.spread - self.impact - self.fees - self.financing
    }
}

/// The attribution of every member, in the header's order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Attribution {
    /// One entry per member.
    pub members: Vec<MemberAttribution>,
}

/// Checks every row of a ledger and attributes the change in equity.
///
/// Not checked, for the ledger does not hold what it takes: that fees and financing follow from their rates, that an
/// order had the size its action asks for, and that the bar offered the prices.
///
/// # Errors
///
/// The first contradiction, with member, bar and column.
pub fn reconcile(ledger: &Ledger) -> Result<Attribution, ReconcileError> {
    check_header(&ledger.header)?;
    ledger.check_sorted()?;
    let mut members = Vec::with_capacity(ledger.header.members.len());
    for member in 0..ledger.members() {
        members.push(reconcile_member(ledger, member)?);
    }
    Ok(Attribution { members })
}

/// The sums below stay far inside `i128` if one price unit on one lot is worth less than this.
const TV_MAX: i64 = 1 << 40;

fn check_header(header: &LedgerHeader) -> Result<(), ReconcileError> {
    let rules = [
        (header.format == FORMAT, "unknown format version"),
        (header.tv >= 1 && header.tv <= TV_MAX, "tv must be between 1 and 2^40"),
        (header.start_cash > 0, "the starting cash must be positive"),
        (!header.members.is_empty(), "a ledger needs a member"),
        (
            header.members.iter().all(|m| m.reward_unit.is_finite() && m.reward_unit > 0.0),
            "a member's reward unit must be positive",
        ),
    ];
    match rules.iter().find(|(holds, _)| !holds) {
        Some((_, what)) => Err(ReconcileError::Header(what)),
        None => Ok(()),
    }
}

/// One member's way through the rows.
struct Walk<'a> {
    member: u32,
    start: i64,
    tv: i64,
    reward_unit: f64,
    book: Book,
    fills: &'a [FillRow],
    sums: QuarterSums,
}

/// A position that met a bar's adverse move.
struct Met {
    /// The account with it.
    book: Book,
    /// The price at which a level within the bar closed it.
    closed_at: Option<i32>,
}

impl Met {
    fn new(book: Book, next: Option<&FillRow>) -> Self {
        Met { book, closed_at: next.filter(|fill| fill.reason.in_bar()).map(|fill| fill.price) }
    }
}

/// Attribution lines in quarters of a money unit, for reference prices are quarters of a price unit.
#[derive(Default)]
struct QuarterSums {
    held: i128,
    traded: i128,
    delay: i128,
    impact: i128,
}

fn reconcile_member(ledger: &Ledger, member: u32) -> Result<MemberAttribution, ReconcileError> {
    let rows = ledger.bars_of(member);
    let (Some(first), Some(last)) = (rows.first(), rows.last()) else {
        return Err(ReconcileError::NoBars { member });
    };
    let info = usize::try_from(member).ok().and_then(|m| ledger.header.members.get(m));
    let mut walk = Walk {
        member,
        start: ledger.header.start_cash,
        tv: ledger.header.tv,
        reward_unit: info.map_or(1.0, |info| info.reward_unit),
        book: Book::default(),
        fills: ledger.fills_of(member),
        sums: QuarterSums::default(),
    };
    walk.opening(first)?;
    for pair in rows.windows(2) {
        walk.bar(&pair[0], &pair[1])?;
    }
    if let Some(stray) = walk.fills.first() {
        return Err(walk.wrong(last, Column::FillBar, "a fill needs a row of its bar", last.bar, stray.bar));
    }
    for row in &rows[..rows.len() - 1] {
        let early = row.flags.terminated || row.flags.truncated;
        walk.demand(!early, row, Column::Flags, "only the last row ends an episode", 0, 1)?;
    }
    let both = last.flags.terminated && last.flags.truncated;
    walk.demand(!both, last, Column::Flags, "an episode ends by ruin or by the end of data", 0, 1)?;
    Ok(walk.attribution(first, last))
}

impl Walk<'_> {
    fn wrong(
        &self,
        row: &BarRow,
        column: Column,
        rule: &'static str,
        expected: impl Into<i128>,
        found: impl Into<i128>,
    ) -> ReconcileError {
        self.wrong_one_of(row, &[column], rule, expected.into(), found.into())
    }

    fn wrong_one_of(
        &self,
        row: &BarRow,
        columns: &[Column],
        rule: &'static str,
        expected: i128,
        found: i128,
    ) -> ReconcileError {
        let columns = columns.to_vec();
        ReconcileError::Mismatch(Box::new(Mismatch {
            member: self.member,
            bar: row.bar,
            columns,
            rule,
            expected,
            found,
        }))
    }

    fn demand(
        &self,
        holds: bool,
        row: &BarRow,
        column: Column,
        rule: &'static str,
        expected: impl Into<i128>,
        found: impl Into<i128>,
    ) -> Result<(), ReconcileError> {
        if holds { Ok(()) } else { Err(self.wrong(row, column, rule, expected, found)) }
    }

    /// `found == expected`, or the column is wrong.
    fn equal(
        &self,
        row: &BarRow,
        column: Column,
        rule: &'static str,
        expected: impl Into<i128>,
        found: impl Into<i128>,
    ) -> Result<(), ReconcileError> {
        let (expected, found) = (expected.into(), found.into());
        self.demand(expected == found, row, column, rule, expected, found)
    }

    /// The opening row: flat, with the starting cash and nothing else.
    fn opening(&self, row: &BarRow) -> Result<(), ReconcileError> {
        const RULE: &str = "an opening row is flat and holds the starting cash";
        let start = i128::from(self.start);
        for (column, expected, found) in [
            (Column::Position, 0, i128::from(row.position)),
            (Column::Basis, 0, row.basis.into()),
            (Column::Realised, 0, row.realised.into()),
            (Column::Fees, 0, row.fees.into()),
            (Column::Financing, 0, row.financing.into()),
            (Column::Cash, start, row.cash.into()),
            (Column::Equity, start, row.equity.into()),
            (Column::WorstEquity, start, row.worst_equity.into()),
            (Column::Worst, row.close.into(), row.worst.into()),
            (Column::RewardQ20, 0, row.reward_q20.into()),
            (Column::Action, 1, (row.action == Action::FLAT).into()),
            (Column::OrderEnd, 1, (row.order_end == OrderEnd::None).into()),
            (Column::Flags, 0, (row.flags.liquidated || row.flags.stopped).into()),
        ] {
            self.equal(row, column, RULE, expected, found)?;
        }
        Ok(())
    }

    /// One traded bar, from the row before it.
    fn bar(&mut self, prev: &BarRow, row: &BarRow) -> Result<(), ReconcileError> {
        let time = row.time_ns > prev.time_ns;
        self.demand(time, row, Column::TimeNs, "time rises", prev.time_ns, row.time_ns)?;
        self.demand(row.day >= prev.day, row, Column::Day, "days never fall", prev.day, row.day)?;

        let all = self.fills;
        let count = all.iter().take_while(|fill| fill.bar <= row.bar).count();
        let (fills, rest) = all.split_at(count);
        if let Some(stray) = fills.iter().find(|fill| fill.bar != row.bar) {
            return Err(self.wrong(
                row,
                Column::FillBar,
                "a fill needs a row of its bar",
                row.bar,
                stray.bar,
            ));
        }
        self.fills = rest;
        self.order(row, fills)?;

        let mut after = self.book;
        let before_count = self.booked(row, after.before_worst(fills, self.tv))?;
        let rest = &fills[before_count..];
        let mut met = vec![Met::new(after, rest.first())];
        for (k, fill) in rest.iter().enumerate() {
            let opens = after.position == 0;
            self.booked(row, after.apply(fill, self.tv))?;
            if opens {
                met.push(Met::new(after, rest.get(k + 1)));
            }
        }
        self.fill_prices(prev, row, fills, &after)?;
        self.account(row, fills, &after)?;
        self.worst(row, &met)?;
        self.reward(prev, row)?;
        self.book = after;
        self.attribute(prev, row, fills);
        Ok(())
    }

    fn booked<T>(&self, row: &BarRow, result: Result<T, BookError>) -> Result<T, ReconcileError> {
        result.map_err(|error| match error {
            BookError::NoLots => self.wrong(row, Column::FillLots, "a fill has lots", 1, 0),
            BookError::CrossesFlat => {
                self.wrong(row, Column::FillLots, "a flip is two fills, each ending or starting flat", 0, 1)
            }
        })
    }

    /// Action, how the order ended, and which fills that allows.
    fn order(&self, row: &BarRow, fills: &[FillRow]) -> Result<(), ReconcileError> {
        let Action { exposure, order_type, urgency } = row.action;
        let in_range = exposure <= 8 && order_type <= 2 && urgency <= 2;
        self.demand(in_range, row, Column::Action, "actions are 0..8, 0..2, 0..2", 1, 0)?;
        for fill in fills {
            let fits = match fill.leg {
                Leg::Open => order_type == 2 || (order_type == 0 && urgency != 0),
                Leg::Twap => order_type == 0 && urgency != 2,
                Leg::Maker => order_type == 1,
                Leg::Stop | Leg::Liquidation | Leg::CloseOut => true,
            };
            self.demand(fits, row, Column::FillLeg, "the order type and urgency decide the legs", 1, 0)?;
            let fits = fill.reason.allows(fill.leg);
            self.demand(fits, row, Column::FillReason, "the reason belongs to the leg", 1, 0)?;
        }
        let has = |pick: fn(&FillRow) -> bool| fills.iter().any(pick);
        let ordered = has(|f| f.reason == FillReason::Order);
        let stopped = has(|f| f.leg == Leg::Stop);
        let liquidated = has(|f| f.leg == Leg::Liquidation);
        let fits = match row.order_end {
            OrderEnd::None
            | OrderEnd::DroppedBand
            | OrderEnd::LimitNotReached
            | OrderEnd::IocBeyondLimit
            | OrderEnd::RejectedGap
            | OrderEnd::NoVolume => !ordered,
            OrderEnd::Filled => ordered,
            // A cut may leave nothing.
            OrderEnd::PartVolume | OrderEnd::PartMargin => true,
            OrderEnd::CancelledByStop => stopped,
            OrderEnd::CancelledByLiquidation => liquidated,
        };
        if !fits {
            let rule = "how an order ended must fit the fills of its bar";
            return Err(self.wrong_one_of(row, &[Column::OrderEnd, Column::FillBar], rule, 1, 0));
        }
        let BarFlags { liquidated: liquidated_flag, stopped: stopped_flag, .. } = row.flags;
        self.equal(row, Column::Flags, "stopped is set by a stop", stopped, stopped_flag)?;
        self.equal(row, Column::Flags, "liquidated is set by a liquidation", liquidated, liquidated_flag)
    }

    /// Prices, references and decision prices of a bar's fills.
    fn fill_prices(
        &self,
        prev: &BarRow,
        row: &BarRow,
        fills: &[FillRow],
        after: &Book,
    ) -> Result<(), ReconcileError> {
        for fill in fills {
            let decided = if fill.leg == Leg::CloseOut { row.close } else { prev.close };
            let rule = "the close of the decision";
            if fill.leg == Leg::CloseOut && fill.reference_x4 == 4 * i64::from(fill.decision_close) {
                // Two columns of the fill agree: if the bar's close differs, it is the close that is wrong.
                self.equal(row, Column::Close, "the close-out's reference", fill.decision_close, row.close)?;
            }
            self.equal(row, Column::FillDecisionClose, rule, decided, fill.decision_close)?;
            let whole = fill.leg == Leg::Twap || fill.reference_x4 % 4 == 0;
            let rule = "only an average price has quarters";
            self.demand(whole, row, Column::FillReference, rule, 0, fill.reference_x4 % 4)?;
            if fill.leg == Leg::Maker {
                let rule = "a maker fill pays no half-spread";
                self.equal(row, Column::FillHalfSpread, rule, 0, fill.half_spread)?;
                let rule = "a maker fill pays no impact";
                self.equal(row, Column::FillImpact, rule, 0, fill.impact_x4)?;
            }
            let quoted = matches!(fill.leg, Leg::Open | Leg::Twap) || fill.reason.at_open();
            let rule = "half of a quoted spread, and none of limits, of levels and of the close-out";
            let fits = if quoted { fill.quoted_x4 >= 0 } else { fill.quoted_x4 == 0 };
            self.demand(fits, row, Column::FillQuoted, rule, 0, fill.quoted_x4)?;
            if fill.leg == Leg::CloseOut {
                let rule = "the close-out starts from the close";
                self.equal(row, Column::FillReference, rule, 4 * i64::from(row.close), fill.reference_x4)?;
            }
            let expected = fill.price_from_reference();
            if i64::from(fill.price) != expected {
                // The account was kept with the true price: if it agrees with this one, the price is right.
                let price_holds = self.basis_holds(row, after);
                let parts = [Column::FillReference, Column::FillHalfSpread, Column::FillImpact];
                let columns: &[Column] = if price_holds { &parts } else { &[Column::FillPrice] };
                let rule = "reference ± (half-spread + impact)";
                return Err(self.wrong_one_of(row, columns, rule, expected.into(), fill.price.into()));
            }
        }
        Ok(())
    }

    fn basis_holds(&self, row: &BarRow, book: &Book) -> bool {
        i128::from(row.basis) == book.basis && i128::from(row.realised) == book.realised
    }

    /// Position, basis, cash and equity against the book.
    fn account(&self, row: &BarRow, fills: &[FillRow], book: &Book) -> Result<(), ReconcileError> {
        let tv = i128::from(self.tv);
        let mark = i128::from(row.close);
        let basis_holds = self.basis_holds(row, book);
        // The row's own numbers only: true of a sound row even if a fill is misreported.
        let unrealised = (i128::from(row.position) * mark - i128::from(row.basis)) * tv;
        let row_holds = i128::from(row.equity) == i128::from(row.cash) + unrealised;
        let cash = i128::from(self.start) + i128::from(row.realised)
            - i128::from(row.fees)
            - i128::from(row.financing);
        let cash_holds = i128::from(row.cash) == cash;
        let fill_at_fault = !fills.is_empty() && row_holds && cash_holds;

        let column = if fill_at_fault && !basis_holds { Column::FillLots } else { Column::Position };
        self.equal(row, column, "position = Σ lots", book.position, row.position)?;

        let at_fault = |column| if fill_at_fault { Column::FillPrice } else { column };
        let rule = "cost basis of the fills";
        self.equal(row, at_fault(Column::Basis), rule, book.basis, row.basis)?;
        let rule = "gain of the closed lots";
        self.equal(row, at_fault(Column::Realised), rule, book.realised, row.realised)?;

        let column = if fill_at_fault { Column::FillFee } else { Column::Fees };
        self.equal(row, column, "fees = Σ fees of fills", book.fees, row.fees)?;

        let equity = book.equity(self.start, row.financing, row.close, self.tv);
        let equity_off = i128::from(row.equity) - equity;
        let cash_off = i128::from(row.cash) - cash;
        if equity_off != 0 && equity_off == cash_off {
            let rule = "start + realised − fees − cash";
            let expected = i128::from(row.financing) - cash_off;
            return Err(self.wrong(row, Column::Financing, rule, expected, row.financing));
        }
        let rule = "start + realised − fees − financing";
        self.equal(row, Column::Cash, rule, cash, row.cash)?;
        // A wrong mark shows as a multiple of what one unit of price is worth on this position.
        let per_unit = book.position * tv;
        let column =
            if per_unit.abs() > 1 && equity_off % per_unit == 0 { Column::Close } else { Column::Equity };
        let rule = "start − Σ x·P·tv − fees − financing + position·mark·tv";
        self.equal(row, column, rule, equity, row.equity)
    }

    /// The worst price, and equity there: of a flip, where two positions met the adverse move, the lower of both.
    fn worst(&self, row: &BarRow, met: &[Met]) -> Result<(), ReconcileError> {
        let at = |of: &Met, price| of.book.equity(self.start, row.financing, price, self.tv);
        let off = |of: &Met| i128::from(row.worst_equity) - at(of, row.worst);
        // The row does not say which of them it tells of: one of the two it has to be, and the other no lower.
        let Some(told) = met.iter().min_by_key(|of| off(of).abs()) else { return Ok(()) };
        if let Some(price) = told.closed_at {
            let rule = "a position closed within the bar meets no worse price than its fill";
            self.equal(row, Column::Worst, rule, price, row.worst)?;
        } else {
            let beyond = (i128::from(row.worst) - i128::from(row.close)).signum();
            let rule = "the worst price lies against the position held, or is the close if none was";
            if beyond != 0 && beyond != -told.book.position.signum() {
                let flat = [Column::Worst, Column::Close];
                let columns: &[Column] = if told.book.position == 0 { &flat } else { &flat[..1] };
                return Err(self.wrong_one_of(row, columns, rule, row.close.into(), row.worst.into()));
            }
        }
        let per_unit = told.book.position * i128::from(self.tv);
        let column =
            if per_unit.abs() > 1 && off(told) % per_unit == 0 { Column::Worst } else { Column::WorstEquity };
        let rule = "equity before the adverse move, marked at the worst price";
        self.equal(row, column, rule, at(told, row.worst), row.worst_equity)?;
        let rule = "no position of the bar met a lower equity";
        let bound = met.iter().map(|of| at(of, of.closed_at.unwrap_or(row.close))).min();
        let bound = bound.filter(|bound| *bound < i128::from(row.worst_equity));
        bound.map_or(Ok(()), |bound| Err(self.wrong(row, Column::WorstEquity, rule, bound, row.worst_equity)))
    }

    /// The reward against equity: `round(2^20 · ln(E1/E0) / unit)`, ln 0.01 once equity has lost 99 %.
    fn reward(&self, prev: &BarRow, row: &BarRow) -> Result<(), ReconcileError> {
        const Q20: f64 = 1_048_576.0;
        let (before, after) = (i128::from(prev.equity), i128::from(row.equity));
        let rule = "ln(E1/E0) / unit";
        if before <= 0 {
            return self.equal(row, Column::RewardQ20, "no reward without equity", 0, row.reward_q20);
        }
        let log_return = if after * 100 <= before {
            0.01f64.ln()
        } else {
            ((after - before) as f64 / before as f64).ln_1p()
        };
        let exact = log_return / self.reward_unit * Q20;
        // Half a unit for rounding; four ulp of F32 for the device's own log1p.
        let allowed = 0.5 + 1e-3 + exact.abs() / f64::from(1 << 22);
        let off = (f64::from(row.reward_q20) - exact).abs();
        self.demand(off <= allowed, row, Column::RewardQ20, rule, exact.round() as i128, row.reward_q20)
    }

    fn attribute(&mut self, prev: &BarRow, row: &BarRow, fills: &[FillRow]) {
        let tv = i128::from(self.tv);
        let moved = i128::from(row.close) - i128::from(prev.close);
        self.sums.held += i128::from(prev.position) * moved * tv;
        for fill in fills {
            // From the mid on, so that a quoted spread is left for the line of spreads.
            let (x, reference) = (i128::from(fill.lots), i128::from(fill.mid_reference_x4()));
            self.sums.traded += x * (4 * i128::from(row.close) - reference) * tv;
            self.sums.impact += x.abs() * i128::from(fill.impact_x4) * tv;
            // A stop is not a decision that was carried out late.
            if fill.reason == FillReason::Order {
                self.sums.delay += x * (reference - 4 * i128::from(fill.decision_close)) * tv;
            }
        }
    }

    fn attribution(&self, first: &BarRow, last: &BarRow) -> MemberAttribution {
        let mut lines = MemberAttribution {
            member: self.member,
            start: first.equity,
            end: last.equity,
            held: self.sums.held,
            traded: self.sums.traded.div_euclid(4),
            delay: self.sums.delay.div_euclid(4),
            spread: 0,
            impact: self.sums.impact.div_euclid(4),
            fees: last.fees.into(),
            financing: last.financing.into(),
        };
        // What is left is Σ|x|·h·tv, h quoted or charged, the rounding of prices, and less than two units of rounding above.
        lines.spread = lines.total() - (i128::from(last.equity) - i128::from(first.equity));
        lines
    }
}

#[cfg(test)]
mod tests;
