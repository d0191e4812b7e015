//! The hand-computed cases of `market.md` section 8, each through every build of the kernel, against the reference and the
//! cash-flow book.
#![allow(clippy::unwrap_used, reason = "tests")]

mod common;

use common::decide;
use foxhunt_market::{
    Account, Bar, Exit, FillKind, OrderEnd, RuleBook, Rules, SESSION_END, flag, new_account,
};

const MARKET: u8 = 0;
const MAKER: u8 = 1;
const IOC: u8 = 2;
const PATIENT: u8 = 0;
const NORMAL: u8 = 1;
const AGGRESSIVE: u8 = 2;

/// Section 8's rules. `leverage_e4` sets what exposure 1 asks for; margins stay 2e6 and 1e6.
fn rules(leverage_e4: i32) -> Rules {
    let row = RuleBook::default().row().unwrap();
    assert_eq!((row.initial_e7, row.maintenance_e7, row.penalty_e7), (2_000_000, 1_000_000, 50_000));
    Rules { leverage_e4, ..row }
}

fn bar(open: i32, high: i32, low: i32, close: i32) -> Bar {
    let prices = [open, high, low, close];
    Bar {
        bid: prices,
        ask: prices,
        volume: 5_000,
        mean_volume: 10_000,
        sigma: 40,
        atr: 100,
        ..Bar::default()
    }
}

fn flat_at(price: i32) -> Bar {
    bar(price, price, price, price)
}

fn x() -> Bar {
    bar(10_020, 10_090, 9_985, 10_050)
}

fn seen() -> Bar {
    flat_at(10_000)
}

/// An account with `cash` that holds `position` for `basis`.
fn holding(cash: i64, position: i32, basis: i64) -> Account {
    Account { cash, position, basis, peak: cash, ..Account::default() }
}

/// The leverage at which exposure `quarters / 4` of `equity` is exactly `lots` at `price`.
fn leverage_for(lots: i64, quarters: i64, equity: i64, price: i64) -> i32 {
    let lot4 = 40_000 * price * 10;
    ((lots * lot4 + quarters * equity - 1) / (quarters * equity)) as i32
}

/// Exposure `quarters` of -4..=4 as an action's first part.
fn e(quarters: i32) -> u8 {
    (quarters + 4) as u8
}

#[test]
fn case_1_targets_round_towards_flat() {
    let r = rules(20_000);
    let at = flat_at(10_010);
    let target = |cash, action| decide(&r, &holding(cash, 0, 0), &at, &at, [action, IOC, PATIENT]).row.target;
    assert_eq!(target(9_999_000, e(-3)), -149);
    assert_eq!(target(9_999_000, e(4)), 199);
    assert_eq!(target(-5, e(4)), 0);
}

#[test]
fn case_2_impact_is_a_square_root_rounded_up() {
    for (lots, impact) in [(1, 1), (100, 2), (150, 3), (400, 4), (500, 5)] {
        let r = rules(leverage_for(lots, 4, 10_000_000, 10_000));
        let done = decide(&r, &new_account(&r), &seen(), &x(), [e(4), MARKET, AGGRESSIVE]);
        // At 500 the margin cuts what fills (case 20), not the impact of the order.
        assert_eq!((i64::from(done.row.order), done.fills[0].impact4), (lots, 4 * impact));
        assert_eq!(done.fills[0].price, 10_025 + impact);
    }
}

#[test]
fn case_3_market_aggressive_buy() {
    let r = rules(10_000);
    let done = decide(&r, &new_account(&r), &seen(), &x(), [e(4), MARKET, AGGRESSIVE]);
    assert_eq!(
        (done.fills.len(), done.fills[0].lots, done.fills[0].price, done.fills[0].fee),
        (1, 100, 10_027, 5_014)
    );
    let a = done.account;
    assert_eq!((a.basis, a.cash, done.row.equity), (1_002_700, 9_994_986, 10_017_986));
    assert!((f64::from(done.row.reward_q20) / 1_048_576.0 - 0.001_796_98).abs() < 1e-6);
    assert_eq!((a.fill_share, a.order_end, a.bars), (255, OrderEnd::Filled as u8, 1));
}

#[test]
fn case_4_market_normal_buy_in_two_halves() {
    let r = rules(leverage_for(101, 4, 10_000_000, 10_000));
    let done = decide(&r, &new_account(&r), &seen(), &x(), [e(4), MARKET, NORMAL]);
    let legs: Vec<_> = done.fills.iter().map(|f| (f.lots, f.price, f.fee)).collect();
    assert_eq!(legs, [(51, 10_027, 2_557), (50, 10_043, 2_511)]);
    assert_eq!((done.account.basis, done.row.equity), (1_013_527, 10_010_162));
}

#[test]
fn case_5_market_patient_sell() {
    let r = rules(10_000);
    let done = decide(&r, &new_account(&r), &seen(), &x(), [e(-4), MARKET, PATIENT]);
    assert_eq!((done.fills[0].price, done.fills[0].fee), (10_030, 5_015));
    assert_eq!((done.account.basis, done.row.equity), (-1_003_000, 9_974_985));
}

#[test]
fn case_6_ioc_within_its_limit_or_not_at_all() {
    let r = rules(10_000);
    let on = |bar: Bar| decide(&r, &new_account(&r), &seen(), &bar, [e(4), IOC, AGGRESSIVE]);
    let missed = on(x());
    assert!(missed.fills.is_empty());
    assert_eq!(missed.account.order_end, OrderEnd::IocBeyondLimit as u8);
    let hit = on(bar(10_008, 10_090, 9_985, 10_050));
    assert_eq!((hit.fills[0].price, hit.fills[0].lots), (10_015, 100));
}

#[test]
fn with_market_orders_alone_every_type_is_sent_as_one() {
    let free = rules(10_000);
    let bound = Rules { market_orders: 1, ..free };
    for urgency in [PATIENT, NORMAL, AGGRESSIVE] {
        let on = |r: &Rules, kind| decide(r, &new_account(r), &seen(), &x(), [e(4), kind, urgency]);
        let market = on(&free, MARKET);
        assert_eq!(market.account.position, 100, "all of it fills");
        for kind in [MARKET, MAKER, IOC] {
            let sent = on(&bound, kind);
            assert_eq!(sent, market, "type {kind}, urgency {urgency}");
            assert_eq!(sent.row.action, [e(4), MARKET, urgency], "the row says what was sent");
        }
        assert_ne!(on(&free, MAKER).fills, market.fills);
        assert_eq!(on(&free, MAKER).row.action[1], MAKER);
    }
}

#[test]
fn case_7_maker_needs_more_than_touch() {
    let r = rules(leverage_for(500, 4, 10_000_000, 10_000));
    let on = |bar: Bar| decide(&r, &new_account(&r), &seen(), &bar, [e(4), MAKER, AGGRESSIVE]);
    assert!(on(bar(10_020, 10_090, 9_995, 10_050)).fills.is_empty(), "touch");
    let done = on(x());
    assert_eq!((done.fills[0].lots, done.fills[0].price, done.fills[0].fee), (47, 9_995, 940));
    assert_eq!(done.row.equity, 10_024_910);
    let late = Bar { gap_seconds: 3_600, ..bar(9_990, 10_090, 9_985, 10_050) };
    let done = on(late);
    assert!(done.fills.is_empty());
    assert_eq!(done.account.order_end, OrderEnd::RejectedGap as u8);
}

#[test]
fn case_8_quote_bars_fill_on_the_true_side() {
    let r = Rules { quotes: 1, tick: 2, max_price: 1_000_000, leverage_e4: 10_000, ..rules(0) };
    let seen = Bar { bid: [220_000; 4], ask: [220_024; 4], ..seen() };
    assert_eq!(foxhunt_market::reference::mark(&seen), 220_012);
    let on = |ask_low: i32| {
        let bar = Bar {
            bid: [220_000, 220_030, ask_low - 24, 220_010],
            ask: [220_024, 220_054, ask_low, 220_034],
            ..seen
        };
        decide(&r, &new_account(&r), &seen, &bar, [e(4), MAKER, AGGRESSIVE])
    };
    assert!(on(220_004).fills.is_empty());
    let done = on(219_998);
    assert_eq!((done.fills[0].price, done.fills[0].lots, done.fills[0].half_spread), (220_000, 4, 0));
    // 4 lots at 220,000 marked at the mid 220,022, less a fee of 1,760.
    assert_eq!(done.row.equity, 10_000_000 + 4 * 22 * 10 - 1_760);
}

/// Cases 9 and 10: no cent is lost where the average entry is no whole number.
#[test]
fn cases_9_and_10_basis_leaves_in_whole_units() {
    let free = Rules { min_half_spread: 0, impact_e2: 0, taker_fee_e7: 0, ..rules(10_000) };
    for (sign, basis, gains) in [(1, [20_021, 10_011, 0], -1), (-1, [-20_021, -10_011, 0], 1)] {
        let mut account = holding(450_000, sign * 3, i64::from(sign) * 30_031);
        let mut realised = Vec::new();
        for (left, basis) in [2, 1, 0].into_iter().zip(basis) {
            let before = account.realised;
            let done =
                decide(&free, &account, &seen(), &flat_at(10_000), [e(sign * left), MARKET, AGGRESSIVE]);
            account = done.account;
            assert_eq!((account.position, account.basis), (sign * left, basis));
            realised.push(gains * (account.realised - before));
        }
        assert_eq!(realised, [100, 100, 110]);
    }
}

#[test]
fn case_11_a_flip_is_two_legs_with_two_fees() {
    let r = rules(leverage_for(50, 4, 10_000_000, 10_020));
    let account = holding(10_000_000, 30, 300_600);
    let done = decide(&r, &account, &flat_at(10_020), &flat_at(10_057), [e(-4), MARKET, AGGRESSIVE]);
    let legs: Vec<_> = done.fills.iter().map(|f| (f.lots, f.price, f.fee, f.opens)).collect();
    assert_eq!(legs, [(-30, 10_050, 1_508, 0), (-50, 10_050, 2_513, 1)]);
    let a = done.account;
    assert_eq!((a.realised, a.position, a.basis, a.cash), (9_000, -50, -502_500, 10_004_979));
}

/// A patient reversal of a long of 50 from 10,000 to a short of 50, X: i(100) = 2, a quarter of it, sold at
/// floor(40,145 / 4 - 5 - 0.5) = 10,030, two fees of ceil(2,507.5). The long met 9,985 at 10,000,000 - 7,500, the short 10,090 at
/// 10,000,000 + 15,000 - 5,016 - 30,000. Where the bar falls to 9,900, the long's -50,000 is the lower; sold at 9,992.
#[test]
fn of_a_flip_the_lower_equity_is_the_worst() {
    let r = rules(leverage_for(50, 4, 10_000_000, 10_000));
    let flip = |next: &Bar| {
        let done = decide(&r, &holding(10_000_000, 50, 500_000), &seen(), next, [e(-4), MARKET, PATIENT]);
        let legs: Vec<_> = done.fills.iter().map(|f| (f.lots, f.price)).collect();
        (legs, done.row.worst, done.row.worst_equity)
    };
    assert_eq!(flip(&x()), (vec![(-50, 10_030), (-50, 10_030)], 10_090, 9_979_984));
    let falling = bar(10_020, 10_040, 9_900, 10_030);
    assert_eq!(flip(&falling), (vec![(-50, 9_992), (-50, 9_992)], 9_900, 9_950_000));
}

/// A long of 100 from 10,000 with its stop at 9,900.
fn stopped_long() -> Account {
    Account { stop_distance: 100, ..holding(10_000_000, 100, 1_000_000) }
}

#[test]
fn case_12_a_stop_gapped_through_fills_at_the_open() {
    let r = rules(10_000);
    let done = decide(&r, &stopped_long(), &seen(), &bar(9_850, 9_900, 9_800, 9_850), [e(4), MARKET, NORMAL]);
    let f = done.fills[0];
    assert_eq!((f.price, f.fee, f.kind), (9_843, 4_922, FillKind::StopAtOpen as u8));
    assert_eq!((done.account.realised, done.account.cash), (-157_000, 9_838_078));
    assert_eq!(
        (done.fills.len(), done.account.position),
        (1, 0),
        "the order may only open the opposite side"
    );
}

#[test]
fn case_13_a_stop_comes_before_an_exit_of_the_same_bar() {
    let r = rules(10_000);
    let falling = bar(9_990, 10_020, 9_880, 9_950);
    for action in [[e(0), MAKER, AGGRESSIVE], [e(0), MARKET, PATIENT]] {
        let done = decide(&r, &stopped_long(), &seen(), &falling, action);
        assert_eq!(done.fills.len(), 1);
        assert_eq!((done.fills[0].price, done.fills[0].fee), (9_893, 4_947));
        assert_eq!((done.account.cash, done.account.position), (9_888_053, 0));
        let end = (done.account.order_end, done.account.exit, done.account.fill_share);
        assert_eq!(end, (OrderEnd::CancelledByStop as u8, Exit::Stop as u8, 0));
        assert_eq!(done.row.flags & flag::STOPPED, flag::STOPPED);
    }
}

#[test]
fn case_14_a_stop_is_watched_from_the_entry_bar_on() {
    let r = Rules { stop_e4: 10_000, ..rules(leverage_for(40, 4, 10_000_000, 10_000)) };
    let done =
        decide(&r, &new_account(&r), &seen(), &bar(10_000, 10_010, 9_880, 9_950), [e(4), MAKER, AGGRESSIVE]);
    let legs: Vec<_> = done.fills.iter().map(|f| (f.lots, f.price, f.fee)).collect();
    assert_eq!(legs, [(40, 9_995, 800), (-40, 9_888, 1_978)]);
    assert_eq!(done.account.cash, 9_954_422);
}

/// The account of cases 15 to 17, and rules whose full exposure is dropped by the band.
fn overstretched(sign: i32) -> (Rules, Account) {
    let account = Account { peak: 10_000_000, ..holding(9_000_000, sign * 400, i64::from(sign) * 4_000_000) };
    (rules(leverage_for(400, 4, 9_000_000, 10_000)), account)
}

#[test]
fn case_15_liquidation_inside_a_bar() {
    let (r, account) = overstretched(1);
    let done = decide(&r, &account, &seen(), &bar(8_900, 9_000, 8_500, 8_700), [e(4), MARKET, NORMAL]);
    let f = done.fills[0];
    assert_eq!((f.reference4, f.price, f.fee, f.penalty), (4 * 8_611, 8_602, 17_204, 172_040));
    assert_eq!((done.account.realised, done.row.equity), (-5_592_000, 3_218_756));
    assert_eq!(done.row.flags & (flag::TERMINATED | flag::LIQUIDATED), flag::TERMINATED | flag::LIQUIDATED);
}

#[test]
fn case_16_liquidation_at_the_open() {
    let (r, account) = overstretched(1);
    let done = decide(&r, &account, &seen(), &bar(8_000, 9_000, 7_900, 8_700), [e(4), MARKET, NORMAL]);
    let f = done.fills[0];
    assert_eq!((f.price, f.fee, f.penalty, done.row.equity), (7_991, 15_982, 159_820, 788_198));
}

#[test]
fn case_17_liquidation_of_a_short() {
    let (r, account) = overstretched(-1);
    let done = decide(&r, &account, &seen(), &bar(10_500, 11_200, 10_400, 11_000), [e(-4), MARKET, NORMAL]);
    let f = done.fills[0];
    assert_eq!((f.reference4, f.price, f.fee, f.penalty), (4 * 11_137, 11_146, 22_292, 222_920));
    assert_eq!(done.row.equity, 4_170_788);
}

#[test]
fn case_18_financing_over_a_weekend_and_an_hour() {
    let r = rules(10_000);
    let hour = |gap_seconds| Bar { gap_seconds, bar_seconds: 3_600, ..flat_at(10_000) };
    for (sign, gap, bar) in [(1, 2_740, 58), (-1, 1_644, 35)] {
        let account = holding(10_000_000, sign * 100, i64::from(sign) * 1_000_000);
        let paid = |bar: Bar| {
            let done = decide(&r, &account, &seen(), &bar, [e(sign * 4), MARKET, NORMAL]);
            assert!(done.fills.is_empty());
            assert_eq!(done.row.equity, 10_000_000 - done.account.financing);
            done.account.financing
        };
        assert_eq!((paid(hour(0)), paid(hour(172_800))), (bar, gap + bar));
    }
}

#[test]
fn case_19_a_bar_gives_a_tenth_of_its_volume() {
    let r = Rules {
        initial_e7: 1_000_000,
        maintenance_e7: 100_000,
        ..rules(leverage_for(800, 4, 10_000_000, 10_000))
    };
    let order = |bar: Bar, urgency| decide(&r, &new_account(&r), &seen(), &bar, [e(4), MARKET, urgency]);
    let done = order(x(), AGGRESSIVE);
    let f = done.fills[0];
    assert_eq!((f.lots, f.impact4, f.price), (500, 20, 10_030));
    assert_eq!((done.row.order, done.account.fill_share), (800, (500 * 255 / 800) as u8));
    assert_eq!(done.account.order_end, OrderEnd::PartVolume as u8);
    let lots: Vec<_> = order(x(), NORMAL).fills.iter().map(|f| f.lots).collect();
    assert_eq!(lots, [250, 250]);
    let silent = Bar { volume: 0, ..x() };
    assert!(order(silent, AGGRESSIVE).fills.is_empty());
    let stop = decide(
        &rules(10_000),
        &stopped_long(),
        &seen(),
        &Bar { volume: 0, ..bar(9_850, 9_900, 9_800, 9_850) },
        [e(0), MARKET, NORMAL],
    );
    assert_eq!(stop.account.position, 0, "stops still fill");
}

#[test]
fn case_20_margin_cuts_what_is_added() {
    let r = rules(50_000);
    let done = decide(&r, &new_account(&r), &seen(), &x(), [e(4), MARKET, AGGRESSIVE]);
    let f = done.fills[0];
    assert_eq!((done.row.target, f.lots, f.price, f.fee), (500, 497, 10_030, 24_925));
    assert_eq!(done.account.order_end, OrderEnd::PartMargin as u8);
    let equity_at_p = 10_000_000 - 24_925;
    assert_eq!((equity_at_p, 497 * 10_030 * 10 / 5), (9_975_075, 9_969_820));
}

#[test]
fn case_21_small_orders_are_dropped() {
    for (target, order) in [(104, 0), (105, 0), (106, 6)] {
        let r = rules(leverage_for(target, 4, 10_000_000, 10_000));
        let done = decide(
            &r,
            &holding(10_000_000, 100, 1_000_000),
            &seen(),
            &flat_at(10_000),
            [e(4), MARKET, AGGRESSIVE],
        );
        assert_eq!((i64::from(done.row.target), done.row.order), (target, order));
        assert_eq!(done.account.order_end == OrderEnd::Band as u8, order == 0);
    }
    let r = rules(10_000);
    let done = decide(
        &r,
        &holding(10_000_000, 100, 1_000_000),
        &seen(),
        &flat_at(10_000),
        [e(0), MARKET, AGGRESSIVE],
    );
    assert_eq!((done.row.order, done.account.position), (-100, 0));
}

/// A session's last close: what is held after the bar's order is closed at C -+ (h + i), i of the whole position by what is known
/// at that close; fees by hand. Long 100 of basis 1,000,000 closes at 10,050 - 5 - 2 = 10,043.
#[test]
fn a_sessions_last_close_closes_what_is_held() {
    let r = rules(10_000);
    let last = Bar { bar_seconds: SESSION_END, ..x() };
    // The position is what the target asks for, so that nothing else trades: 100 lots of 10,000 at an equity of 10,000,000.
    let held = decide(&r, &holding(10_000_000, 100, 1_000_000), &seen(), &last, [e(4), MARKET, AGGRESSIVE]);
    let leg = held.fills[0];
    assert_eq!((held.fills.len(), leg.kind, leg.lots, leg.price), (1, FillKind::Session as u8, -100, 10_043));
    assert_eq!((leg.reference4, leg.close, leg.half_spread, leg.impact4), (40_200, 10_050, 5, 8));
    // ceil(100 x 10,043 x 10 x 5,000 / 1e7) = ceil(5,021.5).
    assert_eq!((leg.fee, held.row.realised, held.row.cash), (5_022, 43_000, 10_000_000 + 43_000 - 5_022));
    assert_eq!((held.row.position, held.row.basis, held.row.bars), (0, 0, 0));
    assert_eq!((held.row.order, held.row.order_end), (0, OrderEnd::None as u8), "no order of the agent's");
    // The worst price is the one that the position met: the low.
    assert_eq!((held.row.worst, held.row.worst_equity), (9_985, 10_000_000 + (998_500 - 1_000_000) * 10));
    // Short: at 10,057, and the volume of the bar is no bound.
    let dry = Bar { volume: 0, ..last };
    let short =
        decide(&r, &holding(10_000_000, -100, -1_000_000), &seen(), &dry, [e(-4), MARKET, AGGRESSIVE]);
    assert_eq!((short.fills[0].lots, short.fills[0].price, short.row.position), (100, 10_057, 0));
    // What opens in the bar is closed at its end: a day's trade, with both its costs.
    let traded = decide(&r, &new_account(&r), &seen(), &last, [e(4), MARKET, AGGRESSIVE]);
    let prices: Vec<_> = traded.fills.iter().map(|f| (f.kind, f.lots, f.price)).collect();
    assert_eq!(prices, [(FillKind::Open as u8, 100, 10_027), (FillKind::Session as u8, -100, 10_043)]);
    assert_eq!(traded.row.cash, 10_000_000 + 16_000 - 5_014 - 5_022);
    assert_eq!((traded.row.order_end, traded.account.fill_share), (OrderEnd::Filled as u8, 255));
    // Quote bars: sold at the bid's close less the impact, which is half the quoted spread and the impact from the middle.
    let quoted = Rules { quotes: 1, ..r };
    let apart = |bar: Bar| Bar { ask: bar.bid.map(|p| p + 6), ..bar };
    let sold = decide(
        &quoted,
        &holding(10_000_000, 100, 1_000_000),
        &apart(seen()),
        &apart(last),
        [e(4), MARKET, 2],
    );
    assert_eq!((sold.fills[0].price, sold.fills[0].half_spread, sold.fills[0].close), (10_048, 3, 10_053));
    // Its length is what it was: financing is of seconds, and the bit is none.
    let hours = |bar_seconds| {
        let bar = Bar { bar_seconds, ..x() };
        decide(&r, &holding(10_000_000, 100, 1_000_000), &seen(), &bar, [e(4), MARKET, AGGRESSIVE])
            .row
            .financing
    };
    assert_eq!(hours(3_600 | SESSION_END), hours(3_600));
}
