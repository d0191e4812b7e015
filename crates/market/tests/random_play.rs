//! Random play over wide random rules, prices and volumes: every build of the kernel equals the plain-Rust reference bit for
//! bit at every step, and the cash-flow book agrees with every account at every mark.
#![allow(clippy::unwrap_used, reason = "tests")]

mod common;

use common::{Dice, Member, Rig, builds, ended};
use foxhunt_market::{
    Account, Bar, CashFlowBook, FinancingBase, LedgerRow, MAX_FILLS, RuleBook, Rules, flag, new_account,
    reference,
};

/// Rules drawn wide: every switch both ways, rates of either sign, leverage from 0.5 to 500.
fn random_rules(dice: &mut Dice, highest: i32) -> Rules {
    loop {
        let mut draw = |low: i64, high: i64| dice.within(low, high) as i32;
        let book = RuleBook {
            tv: [1, 10, 100, 2_500, 5_000][draw(0, 4) as usize],
            tick: [1, 2, 5, 10][draw(0, 3) as usize],
            quotes: draw(0, 1) == 1,
            highest_price: highest,
            taker_fee_e7: draw(0, 30_000),
            maker_fee_e7: draw(-2_000, 20_000),
            min_half_spread: draw(0, 20),
            half_spread_e7: draw(0, 5_000),
            atr_spread_e7: draw(0, 400_000),
            gap_spread_factor: draw(1, 8),
            impact_e2: draw(0, 120),
            participation_cap_e4: draw(0, 3_000),
            liquidation_penalty_e7: draw(0, 100_000),
            band_bp: draw(0, 1_500),
            financing_long_e7: draw(-200_000, 2_000_000),
            financing_short_e7: draw(-200_000, 2_000_000),
            financing_base: [FinancingBase::WholeNotional, FinancingBase::BorrowedPart][draw(0, 1) as usize],
            stop_atr_e4: [0, 5_000, 20_000][draw(0, 2) as usize],
            ruin_e4: draw(100, 6_000),
            max_leverage_e4: dice.magnitude(5_000, 5_000_000) as i32,
            start_cash: dice.magnitude(100_000, 100_000_000_000_000_000),
            ..RuleBook::default()
        };
        if let Ok(row) = book.row() {
            return row;
        }
    }
}

/// A jumpy price path with gaps, empty bars and bars without a range.
fn random_bars(dice: &mut Dice, count: usize, quotes: bool, highest: i32) -> Vec<Bar> {
    let mut price = dice.within(i64::from(highest) / 10, i64::from(highest) * 9 / 10);
    let sigma = (price / dice.magnitude(20, 2_000)).max(1);
    let volume = dice.magnitude(1, 10_000_000);
    let mut out = Vec::new();
    for _ in 0..count {
        let jump = dice.chance(12);
        let move_by = |dice: &mut Dice, most: i64| dice.within(-most, most);
        let open = (price + move_by(dice, if jump { 8 * sigma } else { sigma / 8 }))
            .clamp(1, i64::from(highest) / 2 * 2);
        let close = (open + move_by(dice, 2 * sigma)).clamp(1, i64::from(highest));
        let reach = if dice.chance(10) { 0 } else { 2 * sigma };
        let high = (open.max(close) + dice.within(0, reach)).min(i64::from(highest)).max(open);
        let low = (open.min(close) - dice.within(0, reach)).max(1);
        let bid = [open, high, low, close].map(|p| p as i32);
        let spread = if quotes { dice.within(0, sigma / 4 + 2) as i32 } else { 0 };
        out.push(Bar {
            bid,
            ask: bid.map(|p| p + spread),
            volume: if dice.chance(15) { 0 } else { dice.magnitude(1, 4 * volume) },
            mean_volume: volume,
            sigma: sigma as i32,
            atr: (sigma * 2) as i32,
            gap_seconds: if jump { dice.magnitude(1, 1_000_000) as u32 } else { 0 },
            bar_seconds: 3_600,
        });
        price = close;
    }
    out
}

struct Play {
    members: Vec<Member>,
    envs: usize,
    accounts: Vec<Account>,
    actions: Vec<Vec<[u8; 3]>>,
}

fn play(seed: u64, members: usize, envs: usize, bars: usize) -> Play {
    let mut dice = Dice::new(seed);
    let members: Vec<Member> = (0..members)
        .map(|_| {
            let highest = dice.magnitude(100, 4_000_000) as i32;
            let rules = random_rules(&mut dice, highest);
            Member { rules, bars: random_bars(&mut dice, bars, rules.quotes == 1, highest) }
        })
        .collect();
    let accounts = members.iter().flat_map(|m| std::iter::repeat_n(new_account(&m.rules), envs)).collect();
    let mut action = || [dice.within(0, 8) as u8, dice.within(0, 2) as u8, dice.within(0, 2) as u8];
    let actions = (1..bars).map(|_| (0..members.len() * envs).map(|_| action()).collect()).collect();
    Play { members, envs, accounts, actions }
}

/// The ledger of a whole play: rows and fills `[P, capacity, E, …]`, and the accounts at the end.
type Ledger = (Vec<LedgerRow>, Vec<foxhunt_market::FillRow>, Vec<Account>, Vec<u32>);

fn run(p: &Play, build: (foxhunt_core::DType, foxhunt_device::Isa)) -> Ledger {
    let rig = Rig::new(build, &p.members, p.envs, p.actions.len() + 1);
    rig.set_accounts(&p.accounts);
    for actions in &p.actions {
        rig.set_actions(actions);
        rig.step();
    }
    rig.close();
    (rig.rows(), rig.fills(), rig.accounts(), rig.cursors())
}

/// Holds a play against the reference and the book; returns what it met, so that the test can ask whether it met enough.
fn check(p: &Play, ledger: &Ledger, seen: &mut Met) {
    let (rows, fills, ..) = ledger;
    let steps = p.actions.len();
    for (m, member) in p.members.iter().enumerate() {
        for e in 0..p.envs {
            let mut account = p.accounts[m * p.envs + e];
            let mut book = CashFlowBook::open(&account, member.rules.tv);
            for (t, actions) in p.actions.iter().enumerate() {
                let place = (m * (steps + 1) + t) * p.envs + e;
                let (row, legs) = (rows[place], &fills[place * MAX_FILLS..][..MAX_FILLS]);
                let (bars, action) = (&member.bars, actions[m * p.envs + e]);
                let said =
                    reference::step(&member.rules, &account, &bars[t], &bars[t + 1], action, common::UNIT);
                let want = LedgerRow { bar: t as u32 + 1, ..said.row };
                let flags = row.flags & !flag::TRUNCATED;
                assert_eq!(
                    LedgerRow { flags, ..row },
                    want,
                    "member {m}, account {e}, bar {t}: {:?}",
                    member.rules
                );
                assert_eq!(row.flags & flag::TRUNCATED != 0, t + 1 == steps);
                assert_eq!(legs[..said.fills.len()], said.fills[..]);
                book.enter(&row, legs, reference::mark(&bars[t + 1])).unwrap();
                account = said.account;
                seen.count(&row, legs);
                if row.flags & flag::TERMINATED != 0 {
                    break; // the next row is the close-out's
                }
            }
        }
    }
}

#[derive(Default, Debug)]
struct Met {
    steps: usize,
    kinds: [usize; 8],
    cancels: [usize; 8],
    legs: [usize; MAX_FILLS + 1],
    ruined: usize,
}

impl Met {
    fn count(&mut self, row: &LedgerRow, legs: &[foxhunt_market::FillRow]) {
        self.steps += 1;
        self.cancels[usize::from(row.cancel)] += 1;
        self.legs[usize::from(row.fills)] += 1;
        self.ruined += usize::from(row.flags & flag::TERMINATED != 0);
        legs[..usize::from(row.fills)].iter().for_each(|f| self.kinds[usize::from(f.kind)] += 1);
    }
}

#[test]
fn kernel_equals_reference_and_book_at_every_step() {
    let mut met = Met::default();
    let shapes = [(3, 1), (2, 31), (2, 33), (1, 1_000), (40, 5), (40, 5), (40, 5), (40, 5)];
    for (seed, (members, envs)) in shapes.into_iter().enumerate() {
        let p = play(seed as u64 + 1, members, envs, 120);
        let mut first: Option<Ledger> = None;
        for build in builds() {
            let ledger = run(&p, build);
            match &first {
                None => {
                    check(&p, &ledger, &mut met);
                    first = Some(ledger);
                }
                Some(first) => assert!(*first == ledger, "{build:?} differs at {members} members of {envs}"),
            }
        }
    }
    assert!(met.steps >= 100_000, "{met:?}");
    assert!(met.kinds[1..7].iter().all(|&n| n > 100), "{met:?}");
    assert!(met.cancels.iter().all(|&n| n > 100), "{met:?}");
    assert!(met.legs.iter().all(|&n| n > 0) && met.ruined > 100, "{met:?}");
}

/// A backtest ends flat, at the close less h and impact, with its fee.
#[test]
fn the_end_closes_what_is_held() {
    let p = play(99, 2, 33, 20);
    for build in builds() {
        let (rows, fills, accounts, cursors) = run(&p, build);
        assert!(accounts.iter().all(|a| a.position == 0 && a.basis == 0));
        assert!(cursors.into_iter().all(ended));
        for (m, member) in p.members.iter().enumerate() {
            for e in 0..p.envs {
                let place = |t| (m * 20 + t) * p.envs + e;
                let Some(t) = (0..19).rev().find(|&t| rows[place(t)].flags & flag::RECORDED != 0) else {
                    continue;
                };
                let (held, last) = (rows[place(t)], rows[place(t + 1)]);
                assert_eq!((last.position, last.bar, last.order), (0, t as u32 + 1, -held.position));
                if held.position != 0 {
                    let leg = fills[place(t + 1) * MAX_FILLS];
                    let bar = &member.bars[t + 1];
                    let close = if leg.lots > 0 { bar.ask[3] } else { bar.bid[3] };
                    assert_eq!((leg.lots, leg.reference4), (-held.position, 4 * i64::from(close)));
                    assert!(last.equity <= held.equity - leg.fee);
                }
            }
        }
    }
}

/// Removing or reordering members changes no other member's bits.
#[test]
fn members_are_independent() {
    let p = play(7, 4, 33, 40);
    let build = builds()[0];
    let (rows, _, accounts, _) = run(&p, build);
    let order = [2, 0];
    let pick = |a: &[[u8; 3]]| order.iter().flat_map(|&m: &usize| a[m * 33..][..33].to_vec()).collect();
    let fewer = Play {
        members: order.iter().map(|&m| p.members[m].clone()).collect(),
        envs: 33,
        accounts: order.iter().flat_map(|&m| p.accounts[m * 33..][..33].to_vec()).collect(),
        actions: p.actions.iter().map(|a| pick(a)).collect(),
    };
    let (some_rows, _, some_accounts, _) = run(&fewer, build);
    let per_member = 40 * 33;
    for (new, old) in order.into_iter().enumerate() {
        assert!(some_rows[new * per_member..][..per_member] == rows[old * per_member..][..per_member]);
        assert_eq!(some_accounts[new * 33..][..33], accounts[old * 33..][..33]);
    }
}
