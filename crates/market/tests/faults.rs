//! Faults that other simulators had (`market.md` section 9), fills and accounts: each a test that they would fail.
#![allow(clippy::unwrap_used, reason = "tests")]

mod common;

use common::{Member, Rig, builds, decide};
use foxhunt_market::{
    Account, Bar, Exit, FillKind, OrderEnd, RuleBook, Rules, SESSION_END, flag, new_account,
};

const MARKET: u8 = 0;
const MAKER: u8 = 1;
const PATIENT: u8 = 0;
const AGGRESSIVE: u8 = 2;

fn rules() -> Rules {
    Rules { leverage_e4: 10_000, ..RuleBook::default().row().unwrap() }
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
        gap_seconds: 0,
        bar_seconds: 3_600,
    }
}

fn flat_at(price: i32) -> Bar {
    bar(price, price, price, price)
}

fn long(lots: i32, basis: i64) -> Account {
    Account { cash: 10_000_000, position: lots, basis, peak: 10_000_000, ..Account::default() }
}

#[test]
fn nothing_fills_inside_the_bar_of_the_signal() {
    let r = rules();
    let quiet = flat_at(10_000);
    // The signal's bar ranged far beyond the limit; the next one did not come near it.
    let wild = bar(10_400, 10_900, 9_100, 10_000);
    for kind in 0..3 {
        let next = bar(10_040, 10_060, 10_030, 10_050);
        let a = decide(&r, &new_account(&r), &quiet, &next, [8, kind, AGGRESSIVE]);
        let b = decide(&r, &new_account(&r), &wild, &next, [8, kind, AGGRESSIVE]);
        assert_eq!((a.fills, a.row.equity), (b.fills, b.row.equity));
    }
}

#[test]
fn nothing_fills_where_there_is_no_data() {
    let r = rules();
    // No volume: nothing, however far the bar ranged.
    for kind in 0..3 {
        let empty = Bar { volume: 0, ..bar(9_990, 10_500, 9_500, 10_000) };
        assert!(decide(&r, &new_account(&r), &flat_at(10_000), &empty, [8, kind, 2]).fills.is_empty());
    }
    // A gap's prices are not tradable: the first fill is at the open after it, at six times the half-spread.
    let monday = Bar { gap_seconds: 172_800, ..flat_at(9_500) };
    let done = decide(&r, &new_account(&r), &flat_at(10_000), &monday, [8, MARKET, AGGRESSIVE]);
    assert_eq!((done.fills[0].half_spread, done.fills[0].price), (30, 9_500 + 30 + 2));
}

#[test]
fn a_reversal_is_not_lost_when_the_stop_fires_first() {
    let r = rules();
    let account = Account { stop_distance: 100, ..long(100, 1_000_000) };
    let done = decide(&r, &account, &flat_at(10_000), &flat_at(9_850), [0, MARKET, AGGRESSIVE]);
    let kinds: Vec<_> = done.fills.iter().map(|f| (f.kind, f.lots)).collect();
    assert_eq!(kinds, [(FillKind::StopAtOpen as u8, -100), (FillKind::Open as u8, -100)]);
    assert_eq!((done.account.position, done.row.order), (-100, -100), "recomputed from flat");
    let end = (done.account.exit, done.account.order_end);
    assert_eq!(end, (Exit::Stop as u8, OrderEnd::Filled as u8));
}

#[test]
fn no_phantom_position_is_left_after_stop_and_exit() {
    let r = rules();
    let account = Account { stop_distance: 100, ..long(100, 1_000_000) };
    // Both the stop at 9,900 and the exit at 10,005 lie in the bar.
    let done =
        decide(&r, &account, &flat_at(10_000), &bar(10_000, 10_100, 9_800, 10_050), [4, MAKER, AGGRESSIVE]);
    assert_eq!((done.account.position, done.account.basis, done.fills.len()), (0, 0, 1));
    assert_eq!(done.fills[0].kind, FillKind::StopInBar as u8);
}

#[test]
fn different_exposures_lead_to_different_equity() {
    let r = rules();
    let equity: std::collections::BTreeSet<i64> = (0..9)
        .map(|e| {
            decide(&r, &new_account(&r), &flat_at(10_000), &flat_at(10_100), [e, MARKET, AGGRESSIVE])
                .row
                .equity
        })
        .collect();
    assert_eq!(equity.len(), 9);
}

#[test]
fn shorts_earn_when_the_price_falls() {
    let r = rules();
    let short = Account { cash: 10_000_000, position: -100, basis: -1_000_000, ..Account::default() };
    let done = decide(&r, &short, &flat_at(10_000), &flat_at(9_900), [0, MARKET, AGGRESSIVE]);
    assert_eq!(done.row.equity, 10_000_000 + 100 * 100 * 10 - done.account.financing);
    assert!(done.row.reward_q20 > 0);
}

#[test]
fn fees_are_in_the_reward() {
    let r = rules();
    let free = Rules { taker_fee_e7: 0, ..r };
    let reward = |r: &Rules| {
        decide(r, &new_account(r), &flat_at(10_000), &flat_at(10_000), [8, MARKET, AGGRESSIVE]).row
    };
    let (paid, unpaid) = (reward(&r), reward(&free));
    let fee = paid.fees;
    assert_eq!((unpaid.fees, unpaid.equity - paid.equity), (0, fee));
    let want = (1.0 - fee as f64 / unpaid.equity as f64).ln() * f64::from(1 << 20);
    assert!((f64::from(paid.reward_q20 - unpaid.reward_q20) - want).abs() <= 1.0);
}

/// Summed rewards are ln(final / initial equity), whatever happens between.
#[test]
fn rewards_add_up_to_the_growth_of_equity() {
    let r = rules();
    let mut account = new_account(&r);
    let mut seen = flat_at(10_000);
    let (mut sum, mut dice) = (0_i64, common::Dice::new(3));
    for _ in 0..50 {
        let price = dice.within(9_900, 10_100) as i32;
        let next = bar(price, price + 30, price - 30, price + dice.within(-30, 30) as i32);
        let done = decide(&r, &account, &seen, &next, [dice.within(0, 8) as u8, 0, 2]);
        sum += i64::from(done.row.reward_q20);
        (account, seen) = (done.account, next);
    }
    let equity = foxhunt_market::reference::equity(&r, &account, seen.bid[3]) as f64;
    assert!((sum as f64 / f64::from(1 << 20) - (equity / 1e7).ln()).abs() < 50.0 / f64::from(1 << 20));
}

#[test]
fn financing_accumulates_and_the_ledger_shows_the_bar_it_names() {
    let r = rules();
    let bars: Vec<Bar> = [10_000, 10_010, 10_030, 10_020].into_iter().map(flat_at).collect();
    for build in builds() {
        let rig = Rig::new(build, &[Member { rules: r, bars: bars.clone() }], 1, 3);
        rig.set_accounts(&[long(100, 1_000_000)]);
        rig.set_actions(&[[8, MARKET, PATIENT]]);
        let mut charged = 0;
        for t in 0..3 {
            rig.step();
            let row = rig.rows()[t];
            let seen = i64::from(bars[t].bid[3]);
            charged += (100 * seen * 10 * 500_000 * 3_600 + 315_359_999_999_999) / 315_360_000_000_000;
            assert_eq!((row.financing, row.bar as usize), (charged, t + 1));
            assert_eq!(
                row.equity,
                10_000_000 + 100 * (i64::from(bars[t + 1].bid[3]) - 10_000) * 10 - charged
            );
        }
    }
}

/// A liquidation that hangs on one unit of money, with sums beyond 2^53: F64 money would round it away.
#[test]
fn a_liquidation_at_25_times_leverage_is_decided_by_the_last_unit() {
    let r = Rules {
        tv: 5_000,
        max_price: 4_000_000,
        max_position: 50_000_000,
        initial_e7: 400_000,
        maintenance_e7: 200_000,
        leverage_e4: 250_000,
        start_cash: 1 << 54,
        ruin_equity: 1,
        min_half_spread: 0,
        impact_e2: 0,
        financing_long_e7: 0,
        ..rules()
    };
    let (lots, price) = (20_000_000_i32, 200_000_i32);
    let notional = i64::from(lots) * i64::from(price) * 5_000;
    let margin = notional / 50; // 2 %, a whole number
    assert!(notional > 1 << 53);
    let calm = Bar { bar_seconds: 0, ..flat_at(price) };
    for (short_by, liquidated) in [(0, false), (1, true)] {
        let account = Account {
            cash: margin - short_by,
            position: lots,
            basis: i64::from(lots) * i64::from(price),
            ..Account::default()
        };
        // Hold: at the initial margin of 4 % nothing may be added, and the band drops nothing else.
        let r = Rules { leverage_e4: 500_000, ..r };
        let done = decide(&r, &account, &calm, &calm, [8, MARKET, PATIENT]);
        assert_eq!(done.row.flags & flag::LIQUIDATED != 0, liquidated, "short by {short_by}");
    }
}

#[test]
fn the_margin_holds_after_fees() {
    for leverage_e4 in [10_000, 20_000, 50_000, 250_000, 1_000_000] {
        let row = RuleBook { max_leverage_e4: leverage_e4, taker_fee_e7: 30_000, ..RuleBook::default() }
            .row()
            .unwrap();
        let next = Bar { volume: 1_000_000, ..flat_at(10_000) };
        let done = decide(&row, &new_account(&row), &flat_at(10_000), &next, [8, MARKET, AGGRESSIVE]);
        let f = done.fills[0];
        let at_fill = row.start_cash - f.fee;
        assert_eq!(done.account.order_end, OrderEnd::PartMargin as u8);
        assert!(done.account.cash > 0);
        let needed = i128::from(f.lots) * i128::from(f.price) * 10 * i128::from(row.initial_e7);
        assert!(i128::from(at_fill) * 10_000_000 >= needed, "leverage {leverage_e4}");
        let one_more = needed / i128::from(f.lots) * i128::from(f.lots + 1);
        assert!(i128::from(at_fill - 300) * 10_000_000 < one_more, "the cut is the least: {leverage_e4}");
    }
}

/// Where the price comes back from what the target was reckoned at, the target alone fits and its fee does not.
#[test]
fn the_fee_of_a_target_that_fits_alone_is_in_the_margin() {
    let row =
        RuleBook { max_leverage_e4: 10_000, taker_fee_e7: 30_000, ..RuleBook::default() }.row().unwrap();
    let mut cut = std::collections::BTreeSet::new();
    for price in 9_900..=10_000 {
        let next = Bar { volume: 1_000_000, ..flat_at(price) };
        let done = decide(&row, &new_account(&row), &flat_at(10_000), &next, [8, MARKET, AGGRESSIVE]);
        let f = done.fills[0];
        let needed = i128::from(f.lots) * i128::from(f.price) * 10 * i128::from(row.initial_e7);
        assert!(i128::from(row.start_cash - f.fee) * 10_000_000 >= needed, "open {price}");
        assert!(done.account.cash >= 0);
        cut.insert(done.account.order_end == OrderEnd::PartMargin as u8);
    }
    assert_eq!(cut.len(), 2, "some are cut and some are not");
}

/// Too large a target is clamped and counted, never wrapped.
#[test]
fn targets_beyond_the_integers_are_clamped_and_counted() {
    let r = Rules { max_position: 50, ..rules() };
    let done = decide(&r, &new_account(&r), &flat_at(10_000), &flat_at(10_000), [8, MARKET, AGGRESSIVE]);
    assert_eq!((done.row.target, done.account.clamped), (50, 1));
}

#[test]
fn an_account_that_was_ruined_is_left_alone() {
    let r = rules();
    let account = Account { cash: 5_100_000, position: 400, basis: 4_000_000, ..Account::default() };
    let bars = vec![flat_at(10_000), flat_at(9_000), flat_at(10_000)];
    for build in builds() {
        let rig = Rig::new(build, &[Member { rules: r, bars: bars.clone() }], 1, 3);
        rig.set_accounts(&[account]);
        rig.set_actions(&[[8, MARKET, PATIENT]]);
        rig.step();
        let ruined = rig.accounts()[0];
        assert_eq!(rig.rows()[0].flags & flag::TERMINATED, flag::TERMINATED);
        rig.step();
        assert_eq!((rig.accounts()[0], rig.rows()[1].flags), (ruined, 0));
    }
}

/// Flat by close, and the faults that come near it: a stop of the same bar that fires too, a flip whose second leg is forgotten, and
/// a position that the gap to the next session moves.
#[test]
fn nothing_is_carried_over_a_sessions_close() {
    let r = rules();
    let ends = |bar: Bar| Bar { bar_seconds: bar.bar_seconds | SESSION_END, ..bar };
    // The stop closes first; there is nothing left to close twice.
    let account = Account { stop_distance: 100, ..long(100, 1_000_000) };
    let done =
        decide(&r, &account, &flat_at(10_000), &ends(bar(9_990, 10_000, 9_850, 9_860)), [8, MARKET, 2]);
    assert_eq!(done.fills.iter().map(|f| f.kind).collect::<Vec<_>>(), [FillKind::StopInBar as u8]);
    // A flip at the open: the leg that closes, the leg that opens, and that one closed.
    let flip = decide(&r, &long(100, 1_000_000), &flat_at(10_000), &ends(flat_at(10_000)), [0, MARKET, 2]);
    let lots: Vec<_> = flip.fills.iter().map(|f| (f.kind, f.lots)).collect();
    assert_eq!(lots[0], (FillKind::Open as u8, -100));
    assert_eq!((lots.len(), lots[2].0, lots[2].1), (3, FillKind::Session as u8, -lots[1].1));
    // The next session opens 20 % lower. Whoever held over the close loses that; a flat account has nothing to lose.
    let crash = Bar { gap_seconds: 61_200, ..flat_at(8_000) };
    let next = |account: &Account| decide(&r, account, &flat_at(10_000), &crash, [4, MARKET, 2]).row.equity;
    let of_day = |bar: Bar| decide(&r, &new_account(&r), &flat_at(10_000), &bar, [8, MARKET, 2]).account;
    let (flat, planted) = (of_day(ends(flat_at(10_000))), of_day(flat_at(10_000)));
    assert_eq!((flat.position, next(&flat)), (0, flat.cash));
    assert!(planted.position > 0 && next(&planted) < flat.cash - 1_900_000);
}
