//! The made-up account: one decision's way through a bar, by the rules.

use super::path::{Bar, HOUR_S, MEAN_VOLUME};
use crate::header::LedgerHeader;
use crate::rows::{Action, BarFlags, BarRow, FillReason, FillRow, Leg, OrderEnd};

const YEAR_S: i64 = 31_536_000;

/// An account, and the rows it has left behind.
pub(super) struct Account {
    member: u32,
    start: i64,
    tv: i64,
    leverage_e4: i64,
    header: LedgerHeader,
    stop_sd: f64,
    position: i64,
    basis: i64,
    realised: i64,
    fees: i64,
    financing: i64,
    stop_distance: i64,
    worst_equity: i64,
    worst: i32,
    flags: BarFlags,
    end: OrderEnd,
    pub(super) ended: bool,
    pub(super) rows: Vec<BarRow>,
    pub(super) fills: Vec<FillRow>,
}

fn ceil_div(a: i64, b: i64) -> i64 {
    -(-a).div_euclid(b)
}

impl Account {
    pub(super) fn new(member: u32, header: &LedgerHeader, stop_sd: f64) -> Self {
        Self {
            member,
            start: header.start_cash,
            tv: header.tv,
            leverage_e4: i64::from(header.max_leverage_e4),
            header: header.clone(),
            stop_sd,
            position: 0,
            basis: 0,
            realised: 0,
            fees: 0,
            financing: 0,
            stop_distance: 0,
            worst_equity: header.start_cash,
            worst: 0,
            flags: BarFlags::default(),
            end: OrderEnd::None,
            ended: false,
            rows: Vec::new(),
            fills: Vec::new(),
        }
    }

    /// The opening row.
    pub(super) fn open(&mut self, bar: &Bar) {
        self.worst = bar.close;
        self.push_row(bar, Action::FLAT, self.start);
    }

    fn cash(&self) -> i64 {
        self.start + self.realised - self.fees - self.financing
    }

    fn equity(&self, mark: i32) -> i64 {
        self.cash() + (self.position * i64::from(mark) - self.basis) * self.tv
    }

    /// One bar, steps (a) to (h) of section 2 of the market rules.
    pub(super) fn step(&mut self, prev: &Bar, bar: &Bar, action: Action, last: bool) {
        let before = self.equity(prev.close);
        self.flags = BarFlags::default();
        self.end = OrderEnd::None;
        let market = Market::of(prev, bar);

        self.finance(prev, bar.gap_s);
        self.force(&market, bar, true);
        let target = self.target(action, before, prev.close);
        let order = target - self.position;
        let traded_before = self.fills.len();
        if 20 * order.abs() < target.abs().max(self.position.abs()) && target != 0 {
            self.end = OrderEnd::DroppedBand;
        } else if order != 0 {
            self.send(&market, bar, action, order);
        }
        self.finance(prev, HOUR_S);
        // The orders above are told apart by leg: what adds was filled at once, what reduces waits in `later`.
        let later = self.pending(&market, bar, action, order, traded_before);
        self.mark_worst(bar);
        if !self.force(&market, bar, false) {
            for (leg, lots, price) in later {
                let held = self.position.signum();
                self.fill(&market, leg, lots, price);
                if self.position.signum() == -held {
                    self.mark_flipped(bar);
                }
            }
        }
        if last && self.position != 0 {
            self.close_out(&market, bar);
        }
        let ruined = self.equity(bar.close) <= self.start / 2;
        self.flags.terminated = ruined;
        self.flags.truncated = last && !ruined;
        self.ended = ruined;
        self.push_row(bar, action, before);
    }

    fn target(&self, action: Action, equity: i64, close: i32) -> i64 {
        let e4 = i128::from(action.exposure_e4());
        let full = e4.abs() * i128::from(self.leverage_e4) * i128::from(equity.max(0));
        let lots = full / (40_000 * i128::from(close) * i128::from(self.tv));
        e4.signum() as i64 * lots as i64
    }

    fn finance(&mut self, prev: &Bar, seconds: i64) {
        let rates = &self.header.rates;
        let rate = if self.position > 0 { rates.financing_long_e7 } else { rates.financing_short_e7 };
        let base = self.position.abs() * i64::from(prev.close) * self.tv;
        let charge = i128::from(base) * i128::from(rate) * i128::from(seconds);
        let per = 10_000_000 * i128::from(YEAR_S);
        self.financing += (-(-charge).div_euclid(per)) as i64;
    }

    /// The part of the order that fills at the open.
    fn send(&mut self, market: &Market, bar: &Bar, action: Action, order: i64) {
        let Some(lots) = self.capped(market, bar, order) else { return };
        let impact = market.impact(lots);
        let (now, impact_x4) = match (action.order_type, action.urgency) {
            (0, 2) | (2, _) => (lots, 4 * impact),
            (0, 1) => (lots - lots / 2, 4 * ceil_div(impact, 2)),
            _ => return,
        };
        let fill = market.taker(Leg::Open, now, 4 * i64::from(bar.open), impact_x4);
        let room = [0, 2, 4][usize::from(action.urgency.min(2))] * market.half_spread;
        let limit = market.decision_close + order.signum() * room;
        if action.order_type == 2 && (i64::from(fill.price) - limit) * order.signum() > 0 {
            self.end = OrderEnd::IocBeyondLimit;
            return;
        }
        self.book(fill, FillReason::Order);
    }

    /// Fills what adds at the bar's average or at the limit, and returns what reduces.
    fn pending(
        &mut self,
        market: &Market,
        bar: &Bar,
        action: Action,
        order: i64,
        traded_before: usize,
    ) -> Vec<(Leg, i64, FillRow)> {
        let mut later = Vec::new();
        if order == 0 || self.end == OrderEnd::DroppedBand || self.end == OrderEnd::NoVolume {
            return later;
        }
        let (leg, lots) = match (action.order_type, action.urgency) {
            (0, 0 | 1) => {
                let lots = self.capped(market, bar, order).unwrap_or(0);
                (Leg::Twap, if action.urgency == 0 { lots } else { lots / 2 })
            }
            (1, _) => (Leg::Maker, self.maker_lots(market, bar, action, order)),
            _ => return later,
        };
        if lots == 0 {
            if self.fills.len() == traded_before && leg == Leg::Maker {
                self.end = OrderEnd::LimitNotReached;
            }
            return later;
        }
        let full = self.capped(market, bar, order).unwrap_or(lots);
        let impact = market.impact(full);
        let quarters = if action.urgency == 0 { impact } else { 2 * impact };
        let fill = match leg {
            Leg::Maker => {
                let limit = market.limit(action, order);
                FillRow { half_spread: 0, impact_x4: 0, ..market.taker(leg, lots, 4 * limit, 0) }.at(limit)
            }
            _ => market.taker(leg, lots, bar.sum4(), quarters),
        };
        if self.position.signum() == -order.signum() {
            // Only known to fill once no stop has fired; the order's end is set when it does.
            later.push((leg, lots, fill));
        } else {
            self.fill(market, leg, lots, fill);
        }
        later
    }

    fn maker_lots(&mut self, market: &Market, bar: &Bar, action: Action, order: i64) -> i64 {
        let limit = market.limit(action, order);
        let (beyond, range) = if order > 0 {
            (limit - i64::from(bar.low), i64::from(bar.high - bar.low))
        } else {
            (i64::from(bar.high) - limit, i64::from(bar.high - bar.low))
        };
        // A tick is two units. After a gap the order would be rejected beyond the open; left out here.
        if beyond < 2 || bar.gap_s > 0 {
            return 0;
        }
        let cap = bar.volume / 10 * beyond.min(range) / range.max(1);
        order.signum() * order.abs().min(cap)
    }

    /// The order cut to a tenth of the bar's volume.
    fn capped(&mut self, _market: &Market, bar: &Bar, order: i64) -> Option<i64> {
        let cap = bar.volume / 10;
        if cap == 0 {
            self.end = OrderEnd::NoVolume;
            return None;
        }
        self.end = if order.abs() > cap { OrderEnd::PartVolume } else { OrderEnd::Filled };
        Some(order.signum() * order.abs().min(cap))
    }

    fn fill(&mut self, _market: &Market, leg: Leg, lots: i64, fill: FillRow) {
        self.book(FillRow { leg, lots: lots as i32, ..fill }, FillReason::Order);
        if leg == Leg::Maker {
            self.end = OrderEnd::Filled;
        }
    }

    /// Stop and liquidation, at the open or within the bar. True if the position was closed.
    fn force(&mut self, market: &Market, bar: &Bar, at_open: bool) -> bool {
        if self.position == 0 {
            return false;
        }
        let side = self.position.signum();
        let price = i64::from(match (at_open, side > 0) {
            (true, _) => bar.open,
            (false, true) => bar.low,
            (false, false) => bar.high,
        });
        let stop = self.stop_level();
        let liquidation = self.liquidation_level();
        // The level nearer the open, so the higher of the two for a long position.
        let (level, by_stop) = match stop {
            Some(stop) if (stop - liquidation) * side >= 0 => (stop, true),
            _ => (liquidation, false),
        };
        if (price - level) * side > 0 {
            return false;
        }
        let lots = -self.position;
        let reference = if at_open { i64::from(bar.open) } else { level };
        let (leg, reason) = match (by_stop, at_open) {
            (true, true) => (Leg::Stop, FillReason::StopAtOpen),
            (true, false) => (Leg::Stop, FillReason::StopInBar),
            (false, true) => (Leg::Liquidation, FillReason::LiquidationAtOpen),
            (false, false) => (Leg::Liquidation, FillReason::LiquidationInBar),
        };
        let fill = market.taker(leg, lots, 4 * reference, 4 * market.impact(lots));
        if reason.in_bar() {
            self.set_worst(fill.price);
            self.end = if by_stop { OrderEnd::CancelledByStop } else { OrderEnd::CancelledByLiquidation };
        }
        self.flags.stopped |= by_stop;
        self.flags.liquidated |= !by_stop;
        self.book(fill, reason);
        true
    }

    fn stop_level(&self) -> Option<i64> {
        let entry = self.basis.abs() / self.position.abs();
        (self.stop_distance > 0).then(|| {
            if self.position > 0 {
                ceil_div(self.basis, self.position) - self.stop_distance
            } else {
                entry + self.stop_distance
            }
        })
    }

    fn liquidation_level(&self) -> i64 {
        let im = -(-100_000_000_000i128).div_euclid(i128::from(self.leverage_e4));
        let mm = im / 2;
        let (p, tv) = (i128::from(self.position.abs()), i128::from(self.tv));
        let debt = i128::from(self.basis) * tv - i128::from(self.cash());
        if self.position > 0 {
            let per = p * tv * (10_000_000 - mm);
            (-(-10_000_000 * debt).div_euclid(per) - 1) as i64
        } else {
            let per = p * tv * (10_000_000 + mm);
            ((-10_000_000 * debt).div_euclid(per) + 1) as i64
        }
    }

    /// Before the adverse move: the position now held meets the bar's extreme.
    fn mark_worst(&mut self, bar: &Bar) {
        self.set_worst(match self.position.signum() {
            1 => bar.low,
            -1 => bar.high,
            _ => bar.close,
        });
    }

    /// What a flip opened meets the bar too; the lower equity stays.
    fn mark_flipped(&mut self, bar: &Bar) {
        let before = (self.worst, self.worst_equity);
        self.mark_worst(bar);
        if before.1 <= self.worst_equity {
            (self.worst, self.worst_equity) = before;
        }
    }

    fn set_worst(&mut self, worst: i32) {
        self.worst = worst;
        self.worst_equity = self.equity(worst);
    }

    fn close_out(&mut self, market: &Market, bar: &Bar) {
        let lots = -self.position;
        let fill = market.taker(Leg::CloseOut, lots, 4 * i64::from(bar.close), 4 * market.impact(lots));
        self.book(FillRow { decision_close: bar.close, ..fill }, FillReason::EndOfTest);
    }

    /// Books a fill, as two if it flips the position.
    fn book(&mut self, fill: FillRow, reason: FillReason) {
        let lots = i64::from(fill.lots);
        let closing = if self.position.signum() == -lots.signum() {
            lots.signum() * lots.abs().min(self.position.abs())
        } else {
            0
        };
        for x in [closing, lots - closing] {
            if x != 0 {
                self.book_leg(FillRow { lots: x as i32, reason, ..fill });
            }
        }
    }

    fn book_leg(&mut self, mut fill: FillRow) {
        let (x, price, p) = (i64::from(fill.lots), i64::from(fill.price), self.position);
        let rates = &self.header.rates;
        let mut rate = if fill.leg == Leg::Maker { rates.maker_e7 } else { rates.taker_e7 };
        if fill.leg == Leg::Liquidation {
            rate += rates.liquidation_e7;
        }
        let notional = i128::from(x.abs() * price * self.tv);
        fill.fee = (-(-notional * i128::from(rate)).div_euclid(10_000_000)) as i64;
        fill.member = self.member;
        if p.signum() == -x.signum() {
            let out = if x == -p {
                self.basis
            } else {
                self.basis.signum() * (self.basis.abs() * x.abs() / p.abs())
            };
            self.basis -= out;
            self.realised += (-x * price - out) * self.tv;
        } else {
            if p == 0 {
                self.stop_distance = (self.stop_sd * f64::from(fill.half_spread.max(8)) * 30.0) as i64;
            }
            self.basis += x * price;
        }
        self.position += x;
        self.fees += fill.fee;
        self.fills.push(fill);
    }

    fn push_row(&mut self, bar: &Bar, action: Action, before: i64) {
        let equity = self.equity(bar.close);
        let log_return = ((equity - before) as f64 / before as f64).max(-0.99).ln_1p();
        let unit = self.header.members.get(self.member as usize).map_or(1.0, |member| member.reward_unit);
        self.rows.push(BarRow {
            member: self.member,
            bar: bar.index,
            time_ns: bar.time_ns,
            day: bar.day,
            close: bar.close,
            worst: self.worst,
            position: self.position as i32,
            equity,
            worst_equity: self.worst_equity,
            cash: self.cash(),
            basis: self.basis,
            realised: self.realised,
            fees: self.fees,
            financing: self.financing,
            action,
            reward_q20: (log_return / unit * 1_048_576.0).round() as i32,
            flags: self.flags,
            order_end: self.end,
        });
    }
}

/// What fills cost in one bar.
struct Market {
    bar: u32,
    half_spread: i64,
    sigma: i64,
    decision_close: i64,
}

impl Market {
    fn of(prev: &Bar, bar: &Bar) -> Self {
        let usual = (i64::from(prev.close) * 3 / 100_000).max(6).max(i64::from(prev.sigma) / 25);
        let half_spread = if bar.gap_s > 0 { 6 * usual } else { usual };
        let sigma = i64::from(prev.sigma);
        Self { bar: bar.index, half_spread, sigma, decision_close: i64::from(prev.close) }
    }

    /// `ceil(sqrt(Y² σ² q / V̄))` with Y = 1/2.
    fn impact(&self, lots: i64) -> i64 {
        let square = ceil_div(self.sigma * self.sigma * lots.abs(), 4 * MEAN_VOLUME);
        let root = square.isqrt();
        if root * root < square { root + 1 } else { root }
    }

    /// A maker's limit on the grid of two-unit ticks, rounded away from the market.
    fn limit(&self, action: Action, order: i64) -> i64 {
        let away = [5, 3, 1][usize::from(action.urgency.min(2))] * self.half_spread;
        let limit = self.decision_close - order.signum() * away;
        if order > 0 { limit.div_euclid(2) * 2 } else { ceil_div(limit, 2) * 2 }
    }

    fn taker(&self, leg: Leg, lots: i64, reference_x4: i64, impact_x4: i64) -> FillRow {
        let fill = FillRow {
            member: 0,
            bar: self.bar,
            leg,
            lots: lots as i32,
            price: 0,
            reference_x4,
            decision_close: self.decision_close as i32,
            half_spread: self.half_spread as i32,
            impact_x4: impact_x4 as i32,
            fee: 0,
            reason: FillReason::Order,
            quoted_x4: 0,
        };
        fill.at(fill.price_from_reference())
    }
}

impl FillRow {
    fn at(self, price: i64) -> Self {
        Self { price: price as i32, ..self }
    }
}

impl Bar {
    fn sum4(&self) -> i64 {
        [self.open, self.high, self.low, self.close].into_iter().map(i64::from).sum()
    }
}
