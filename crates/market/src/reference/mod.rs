//! The decision step again in plain Rust, from the text of `market.md` and not from the kernel: what the kernel must equal
//! bit for bit. Exact fractions in 128 bits, levels and sizes by search; slow and simple.

mod numbers;

use crate::{
    Account, BRANCH_ACTIONS, Bar, Exit, FillKind, FillRow, LedgerRow, OrderEnd, Rules, SESSION_END, flag,
};
use numbers::{ceil, floor, last_that, log, log1p, q20};

/// What a decision led to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    /// The account at the close of the bar.
    pub account: Account,
    /// The ledger's line, its `bar` zero and its `RECORDED` flag set.
    pub row: LedgerRow,
    /// Its legs.
    pub fills: Vec<FillRow>,
    /// Log return over the member's unit, 2^-20, for the given volatility and gain.
    pub scaled_q20: i32,
}

/// What scales the network's reward.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unit {
    /// Volatility of one bar at the episode's start, 1e-9.
    pub volatility_e9: u32,
    /// `sqrt(1 - gamma^2)`, 2^-32.
    pub gain_q32: u32,
}

/// Equity at a price, money.
pub fn equity(rules: &Rules, account: &Account, price: i32) -> i128 {
    let value = i128::from(account.position) * i128::from(price) - i128::from(account.basis);
    i128::from(account.cash) + value * i128::from(rules.tv)
}

/// The price that accounts are marked at: the close, or the mid of a quote bar.
pub fn mark(bar: &Bar) -> i32 {
    floor(i128::from(bar.bid[3]) + i128::from(bar.ask[3]), 2) as i32
}

/// The limit of a maker or IOC order that is decided at the close of `seen`, units: a maker's on the tick grid, the worst price of an
/// IOC order. `None` for a market order (market.md 3).
pub fn limit_price(rules: &Rules, seen: &Bar, buy: bool, [_, kind, urgency]: [u8; 3]) -> Option<i32> {
    let sign = if buy { 1 } else { -1 };
    let limit = match kind {
        1 => maker_limit(rules, seen, sign, urgency),
        2 => ioc_limit(rules, seen, sign, urgency),
        _ => return None,
    };
    i32::try_from(limit).ok()
}

fn maker_limit(r: &Rules, seen: &Bar, sign: i128, urgency: u8) -> i128 {
    let wish = i128::from(mark(seen)) - sign * [5, 3, 1][usize::from(urgency)] * limit_spread(r, seen);
    let tick = i128::from(r.tick);
    if sign > 0 { floor(wish, tick) * tick } else { ceil(wish, tick) * tick }
}

fn ioc_limit(r: &Rules, seen: &Bar, sign: i128, urgency: u8) -> i128 {
    i128::from(mark(seen)) + sign * 2 * i128::from(urgency) * limit_spread(r, seen)
}

/// Section 3's h at the close of `seen`, without what a gap adds.
fn half_spread(r: &Rules, seen: &Bar) -> i128 {
    i128::from(r.min_half_spread)
        .max(ceil(i128::from(r.half_spread_e7) * i128::from(mark(seen)), 10_000_000))
        .max(ceil(i128::from(r.atr_spread_e7) * i128::from(seen.atr), 10_000_000))
}

/// What limits are placed by: half of the quoted spread, or h.
fn limit_spread(r: &Rules, seen: &Bar) -> i128 {
    if r.quotes == 1 {
        ceil(i128::from(seen.ask[3]) - i128::from(seen.bid[3]), 2)
    } else {
        half_spread(r, seen).min(r.max_price.into())
    }
}

/// The rewards of a change of equity: unscaled and scaled, both 2^-20, and the flags they raise.
pub fn reward(rules: &Rules, before: i128, after: i128, unit: Unit) -> (i32, i32, u8) {
    let lost = before <= 0 || 100 * after <= before;
    let r = if lost {
        -4.605_170_2_f32
    } else if 2 * after < before - before % 2 {
        log(after as f32 / before as f32)
    } else {
        log1p((after - before) as f32 / before as f32)
    };
    let leverage = rules.leverage_e4 as f32 * 1e-4;
    let u = leverage * (unit.volatility_e9.max(1) as f32 * 1e-9);
    let (scaled, saturated) = q20(r * (unit.gain_q32 as f32 * 2.328_306_4e-10) / u);
    let mut flags = if lost { flag::REWARD_FLOOR | flag::TERMINATED } else { 0 };
    if saturated {
        flags |= flag::REWARD_SATURATED;
    }
    (q20(r).0, scaled, flags)
}

/// One decision at the close of `seen`, carried out in `bar`. `action` is exposure 0..9, order type, urgency; the row says
/// what of it was sent.
pub fn step(rules: &Rules, account: &Account, seen: &Bar, bar: &Bar, action: [u8; 3], unit: Unit) -> Step {
    let action = if rules.market_orders == 1 { [action[0], 0, action[2]] } else { action };
    let mut s = Session::open(rules, account, seen, bar);
    let before = equity(rules, account, s.close);
    let target = s.target(action[0], before);
    let position = i128::from(account.position);
    let mut order = target - position;
    let sent = order != 0;
    let mut end = OrderEnd::None;

    // (a)
    s.finance(bar.gap_seconds);
    // (b)
    let mut exit = s.exit_at(s.adverse(0), true);
    // Too small to send? Decided at t, on the position held then.
    if target != 0 && order.abs() * 10_000 < i128::from(rules.band_bp) * target.abs().max(position.abs()) {
        end = if sent { OrderEnd::Band } else { OrderEnd::None };
        order = 0;
    } else if let Some(exit) = exit {
        let reverses = target.signum() * position.signum() < 0;
        order = if reverses { target } else { 0 };
        if sent && !reverses {
            end = cancelled_by(exit);
        }
    }

    // (c), and what is left for later in the bar.
    let plan = s.plan(order, action, &mut end);
    let mut filled = plan.now.map_or(0, |part| s.trade(part));
    // (d)
    s.finance(bar.bar_seconds & !SESSION_END);
    // (e), (f), (g)
    let mut hit = None;
    match plan.later {
        Some(part) if s.held() * part.lots >= 0 => {
            filled += s.trade(part);
            hit = s.ride();
        }
        Some(part) => {
            let held = s.held();
            hit = s.ride();
            if let Some(exit) = hit {
                end = cancelled_by(exit);
            } else {
                filled += s.trade(part);
                if part.lots.abs() > held.abs() {
                    hit = s.ride();
                }
            }
        }
        None => hit = s.ride().or(hit),
    }
    exit = hit.or(exit);
    if bar.bar_seconds & SESSION_END != 0 {
        s.end_session();
    }

    // (h)
    let close = mark(bar);
    let after = equity(rules, &s.account, close);
    let (worst, worst_equity) = s.worst.unwrap_or((close.into(), after));
    let a = &mut s.account;
    a.peak = a.peak.max(after as i64);
    a.clamped += u32::from(s.clamped);
    if a.position == 0 {
        a.bars = 0;
        a.stop_distance = 0;
    } else {
        a.bars += 1;
    }
    let cancelled = matches!(end, OrderEnd::CancelledByStop | OrderEnd::CancelledByLiquidation);
    if order != 0 && filled == order.abs() {
        end = OrderEnd::Filled;
    } else if s.cut && !cancelled {
        end = OrderEnd::PartMargin;
    }
    a.order_end = end as u8;
    a.exit = exit.unwrap_or(Exit::None) as u8;
    a.fill_share = if order == 0 { 0 } else { floor(filled * 255, order.abs()) as u8 };

    let (reward_q20, scaled_q20, mut flags) = reward(rules, before, after, unit);
    if after <= i128::from(rules.ruin_equity) {
        flags |= flag::TERMINATED;
    }
    if a.stops > account.stops {
        flags |= flag::STOPPED;
    }
    if a.liquidations > account.liquidations {
        flags |= flag::LIQUIDATED;
    }
    let row = LedgerRow {
        before: before as i64,
        equity: after as i64,
        worst_equity: worst_equity as i64,
        worst: worst as i32,
        cash: a.cash,
        basis: a.basis,
        realised: a.realised,
        fees: a.fees,
        financing: a.financing,
        position: a.position,
        target: target as i32,
        order: order as i32,
        filled: filled as i32,
        reward_q20,
        stop_distance: a.stop_distance,
        bar: 0,
        bars: a.bars,
        action,
        flags: flags | flag::RECORDED,
        order_end: a.order_end,
        exit: a.exit,
        fills: s.fills.len() as u8,
        reserved: [0; 5],
    };
    Step { account: s.account, row, fills: s.fills, scaled_q20 }
}

fn cancelled_by(exit: Exit) -> OrderEnd {
    if exit == Exit::Stop { OrderEnd::CancelledByStop } else { OrderEnd::CancelledByLiquidation }
}

/// Signed lots at a price that is already agreed.
#[derive(Clone, Copy)]
struct Part {
    lots: i128,
    price: i128,
    reference4: i128,
    half: i128,
    impact4: i128,
    fee_e7: i32,
    kind: FillKind,
}

#[derive(Default)]
struct Plan {
    now: Option<Part>,
    later: Option<Part>,
}

struct Session<'a> {
    rules: &'a Rules,
    seen: &'a Bar,
    bar: &'a Bar,
    account: Account,
    fills: Vec<FillRow>,
    close: i32,
    /// The worst price that the position met, and equity there.
    worst: Option<(i128, i128)>,
    clamped: bool,
    cut: bool,
}

impl<'a> Session<'a> {
    fn open(rules: &'a Rules, account: &Account, seen: &'a Bar, bar: &'a Bar) -> Self {
        let (account, fills) = (*account, Vec::new());
        Session {
            rules,
            seen,
            bar,
            account,
            fills,
            close: mark(seen),
            worst: None,
            clamped: false,
            cut: false,
        }
    }

    fn held(&self) -> i128 {
        self.account.position.into()
    }

    /// Section 2.2.
    fn target(&mut self, exposure: u8, equity: i128) -> i128 {
        debug_assert!(usize::from(exposure) < BRANCH_ACTIONS[0]);
        let quarters = i128::from(exposure) - 4;
        if equity <= 0 {
            return 0;
        }
        let lot4 = 40_000 * i128::from(self.close) * i128::from(self.rules.tv);
        let lots = floor(quarters.abs() * i128::from(self.rules.leverage_e4) * equity, lot4);
        let most = i128::from(self.rules.max_position);
        self.clamped = lots > most;
        quarters.signum() * lots.min(most)
    }

    /// What a fill pays: six times h in the bar after a gap, nothing on quote bars.
    fn fill_spread(&self) -> i128 {
        let r = self.rules;
        let factor = if self.bar.gap_seconds > 0 { i128::from(r.gap_spread_factor) } else { 1 };
        if r.quotes == 1 { 0 } else { (half_spread(r, self.seen) * factor).min(r.max_price.into()) }
    }

    fn impact(&self, lots: i128) -> i128 {
        self.impact_after(self.seen, lots)
    }

    /// The smallest i with `i^2 >= Y^2 sigma^2 q / V`, sigma and V those that are known at the close of `known`.
    fn impact_after(&self, known: &Bar, lots: i128) -> i128 {
        let swing = (i128::from(self.rules.impact_e2) * i128::from(known.sigma)).min(3_000_000_000);
        let volume = 10_000 * i128::from(known.mean_volume);
        1 + last_that(0, (1 << 28) - 1, |i| i * i * volume < swing * swing * lots.abs())
    }

    /// Price of a fill on this side, against the trader.
    fn price(&self, sign: i128, reference4: i128, half: i128, impact4: i128) -> i128 {
        let paid = ceil(sign * reference4 + 4 * half + impact4, 4) * sign;
        paid.clamp(1, self.rules.max_price.into())
    }

    fn taking(&self, lots: i128, reference4: i128, impact4: i128, kind: FillKind) -> Part {
        let half = self.fill_spread();
        let price = self.price(lots.signum(), reference4, half, impact4);
        Part { lots, price, reference4, half, impact4, fee_e7: self.rules.taker_fee_e7, kind }
    }

    /// Open, high, low, close that an order of this sign meets.
    fn prices(&self, sign: i128) -> [i128; 4] {
        (if sign > 0 { self.bar.ask } else { self.bar.bid }).map(i128::from)
    }

    /// Section 3: what of the order fills when, at which price.
    fn plan(&self, order: i128, [_, kind, urgency]: [u8; 3], end: &mut OrderEnd) -> Plan {
        if order == 0 {
            return Plan::default();
        }
        let sign = order.signum();
        let [open, high, low, close] = self.prices(sign);
        let capacity = floor(i128::from(self.bar.volume) * i128::from(self.rules.cap_e4), 10_000);
        if kind == 1 {
            return self.maker(order, capacity, urgency, end);
        }
        let lots = order.abs().min(capacity);
        if lots == 0 {
            *end = OrderEnd::NoVolume;
            return Plan::default();
        }
        *end = OrderEnd::PartVolume; // unless all of it fills
        let i = self.impact(lots);
        let all = sign * lots;
        if kind == 2 {
            let part = self.taking(all, 4 * open, 4 * i, FillKind::Ioc);
            if (part.price - ioc_limit(self.rules, self.seen, sign, urgency)) * sign > 0 {
                *end = OrderEnd::IocBeyondLimit;
                return Plan::default();
            }
            return Plan { now: Some(part), later: None };
        }
        let sum = open + high + low + close;
        match urgency {
            2 => Plan { now: Some(self.taking(all, 4 * open, 4 * i, FillKind::Open)), later: None },
            1 => {
                let second = floor(lots, 2);
                let first = self.taking(sign * (lots - second), 4 * open, 4 * ceil(i, 2), FillKind::Open);
                let rest = self.taking(sign * second, sum, 2 * i, FillKind::Mean);
                Plan { now: Some(first), later: (second > 0).then_some(rest) }
            }
            _ => Plan { now: None, later: Some(self.taking(all, sum, i, FillKind::Mean)) },
        }
    }

    fn maker(&self, order: i128, capacity: i128, urgency: u8, end: &mut OrderEnd) -> Plan {
        let r = self.rules;
        let sign = order.signum();
        let [open, high, low, _] = self.prices(sign);
        let tick = i128::from(r.tick);
        let limit = maker_limit(r, self.seen, sign, urgency);
        if self.bar.gap_seconds > 0 && (limit - open) * sign > 0 {
            *end = OrderEnd::RejectedGap;
            return Plan::default();
        }
        let through = if r.maker_fee_e7 < 0 {
            tick.max(limit_spread(r, self.seen)).max(self.fill_spread())
        } else {
            tick
        };
        let beyond = if sign > 0 { limit - low } else { high - limit };
        let share = if beyond < through {
            0
        } else if beyond >= high - low {
            capacity
        } else {
            floor(capacity * beyond, high - low)
        };
        let lots = order.abs().min(share);
        *end = if beyond < through {
            OrderEnd::LimitNotReached
        } else if capacity == 0 {
            OrderEnd::NoVolume
        } else {
            OrderEnd::PartVolume
        };
        let part = Part {
            lots: sign * lots,
            price: limit,
            reference4: 4 * limit,
            half: 0,
            impact4: 0,
            fee_e7: r.maker_fee_e7,
            kind: FillKind::Maker,
        };
        Plan { now: None, later: (lots > 0).then_some(part) }
    }

    fn money(&self, lots: i128, price: i128, rate_e7: i32) -> i128 {
        ceil(lots.abs() * price * i128::from(self.rules.tv) * i128::from(rate_e7), 10_000_000)
    }

    /// One leg of section 4.
    fn book(&mut self, lots: i128, part: &Part) {
        let tv = i128::from(self.rules.tv);
        let fee = self.money(lots, part.price, part.fee_e7);
        let liquidated = [FillKind::LiquidationAtOpen, FillKind::LiquidationInBar].contains(&part.kind);
        let penalty = if liquidated { self.money(lots, part.price, self.rules.penalty_e7) } else { 0 };
        let (held, basis) = (self.held(), i128::from(self.account.basis));
        let opens = held * lots >= 0;
        let a = &mut self.account;
        if opens {
            if held == 0 {
                a.bars = 0;
                let atrs = ceil(i128::from(self.seen.atr) * i128::from(self.rules.stop_e4), 10_000);
                let distance = atrs.clamp(1, self.rules.max_price.into());
                a.stop_distance = if self.rules.stop_e4 == 0 { 0 } else { distance as i32 };
            }
            a.basis = (basis + lots * part.price) as i64;
        } else {
            let out = basis.signum() * floor(basis.abs() * lots.abs(), held.abs());
            let out = if lots == -held { basis } else { out };
            let gain = (-lots * part.price - out) * tv;
            a.realised += gain as i64;
            a.cash += gain as i64;
            a.basis = (basis - out) as i64;
        }
        a.position += lots as i32;
        a.fees += (fee + penalty) as i64;
        a.cash -= (fee + penalty) as i64;
        a.legs += 1;
        self.fills.push(FillRow {
            reference4: part.reference4 as i64,
            fee: fee as i64,
            penalty: penalty as i64,
            lots: lots as i32,
            price: part.price as i32,
            close: self.close,
            half_spread: part.half as i32,
            impact4: part.impact4 as i32,
            kind: part.kind as u8,
            opens: u8::from(opens),
            reserved: [0; 2],
        });
    }

    /// Closing leg, then what the margin allows of the opening leg. Returns the lots that filled.
    fn trade(&mut self, part: Part) -> i128 {
        let sign = part.lots.signum();
        let against = if self.held() * sign < 0 { part.lots.abs().min(self.held().abs()) } else { 0 };
        if against > 0 {
            self.book(sign * against, &part);
        }
        let adding = part.lots.abs() - against;
        let held = self.held().abs();
        let lot = part.price * i128::from(self.rules.tv);
        let own = equity(self.rules, &self.account, part.price as i32);
        let allowed = last_that(1, adding, |n| {
            10_000_000 * (own - self.money(n, part.price, part.fee_e7))
                >= (held + n) * lot * i128::from(self.rules.initial_e7)
        });
        self.cut |= allowed < adding;
        if allowed > 0 {
            self.book(sign * allowed, &part);
        }
        against + allowed
    }

    fn finance(&mut self, seconds: u32) {
        let r = self.rules;
        let held = self.held();
        let whole = held.abs() * i128::from(self.close) * i128::from(r.tv);
        let borrowed =
            (i128::from(self.account.basis) * i128::from(r.tv) - i128::from(self.account.cash)).max(0);
        let base = if held > 0 && r.financing_borrowed == 1 { borrowed.min(whole) } else { whole };
        let rate = if held < 0 { r.financing_short_e7 } else { r.financing_long_e7 };
        let cost = ceil(base * i128::from(rate) * i128::from(seconds), 10_000_000 * 31_536_000) as i64;
        self.account.financing += cost;
        self.account.cash -= cost;
    }

    /// The price of the bar (0 open; 1 the worst) that the position fears.
    fn adverse(&self, which: usize) -> i128 {
        let out = -self.held().signum();
        let [open, high, low, _] = self.prices(out);
        match which {
            0 => open,
            _ if self.held() > 0 => low,
            _ => high,
        }
    }

    /// Whether the equity at `price` is below the maintenance margin.
    fn under_margin(&self, price: i128) -> bool {
        let own = i128::from(self.account.cash)
            + (self.held() * price - i128::from(self.account.basis)) * i128::from(self.rules.tv);
        let notional = self.held().abs() * price * i128::from(self.rules.tv);
        10_000_000 * own < notional * i128::from(self.rules.maintenance_e7)
    }

    /// Closes the position if the bar, moving from its open to `price`, meets its stop or liquidation level.
    fn exit_at(&mut self, price: i128, at_open: bool) -> Option<Exit> {
        let held = self.held();
        if held == 0 {
            return None;
        }
        let sign = held.signum();
        let far = 1_i128 << 40; // beyond any price
        // The nearest price to the trader's side at which the margin is broken.
        let liquidation = if sign > 0 {
            last_that(1, far, |p| self.under_margin(p)).max(0)
        } else {
            1 + last_that(-far, far, |p| !self.under_margin(p))
        };
        let basis = i128::from(self.account.basis);
        let distance = i128::from(self.account.stop_distance);
        let stop = match (sign, distance) {
            (1, 0) => 0,
            (_, 0) => far,
            (1, d) => ceil(basis, held) - d,
            (_, d) => floor(-basis, -held) + d,
        };
        let first = if sign > 0 { stop.max(liquidation) } else { stop.min(liquidation) };
        if (price - first) * sign > 0 {
            if !at_open {
                self.meets(price);
            }
            return None;
        }
        let open = self.adverse(0);
        let met = if sign > 0 { first.min(open) } else { first.max(open) };
        let ruined = self.under_margin(met);
        let i = self.impact(held);
        let kind = match (ruined, at_open) {
            (true, true) => FillKind::LiquidationAtOpen,
            (true, false) => FillKind::LiquidationInBar,
            (false, true) => FillKind::StopAtOpen,
            (false, false) => FillKind::StopInBar,
        };
        let part = self.taking(-held, 4 * met, 4 * i, kind);
        if !at_open {
            self.meets(part.price);
        }
        self.book(-held, &part);
        if ruined {
            self.account.liquidations += 1;
        } else {
            self.account.stops += 1;
        }
        Some(if ruined { Exit::Liquidation } else { Exit::Stop })
    }

    /// A session's last close: all that is held is closed at C -+ (h + i), with what is known at that close and whatever the
    /// bar's volume. Of quote bars h is half the quoted spread, and C their middle.
    fn end_session(&mut self) {
        let held = self.held();
        if held == 0 {
            return;
        }
        let (r, bar) = (self.rules, self.bar);
        let close = i128::from(mark(bar));
        let half = if r.quotes == 1 {
            ceil(i128::from(bar.ask[3]) - i128::from(bar.bid[3]), 2)
        } else {
            let by_price = ceil(i128::from(r.half_spread_e7) * close, 10_000_000);
            let by_range = ceil(i128::from(r.atr_spread_e7) * i128::from(bar.atr), 10_000_000);
            by_price.max(by_range).max(r.min_half_spread.into()).min(r.max_price.into())
        };
        let impact4 = 4 * self.impact_after(bar, held);
        let price = self.price(-held.signum(), 4 * close, half, impact4);
        let (lots, kind) = (-held, FillKind::Session);
        self.close = close as i32;
        let part = Part { lots, price, reference4: 4 * close, half, impact4, fee_e7: r.taker_fee_e7, kind };
        self.book(lots, &part);
    }

    /// Notes the worst price that a position met. The second one of a bar is a flip's: the lower equity stays.
    fn meets(&mut self, price: i128) {
        let there = equity(self.rules, &self.account, price as i32);
        if self.worst.is_none_or(|(_, before)| there < before) {
            self.worst = Some((price, there));
        }
    }

    /// Through the worst price of the bar.
    fn ride(&mut self) -> Option<Exit> {
        if self.held() == 0 {
            return None;
        }
        self.exit_at(self.adverse(1), false)
    }
}
