//! Random play over wide random rules, prices and volumes: every build of the kernel equals the plain-Rust reference bit for
//! bit at every step, and the cash-flow book agrees with every account at every mark.
#![allow(clippy::unwrap_used, reason = "tests")]

mod common;

use common::{
    Rig, builds, ended,
    random::{Play, play},
};
use foxhunt_core::DType;
use foxhunt_device::Isa;
use foxhunt_market::{
    Account, CashFlowBook, FillKind, FillRow, LedgerRow, MAX_FILLS, flag, new_account, reference,
};

/// The ledger of a whole play, rows and fills `[P, capacity, E, …]`, and the accounts at its end.
#[derive(PartialEq)]
struct Ledger {
    rows: Vec<LedgerRow>,
    fills: Vec<FillRow>,
    accounts: Vec<Account>,
    cursors: Vec<u32>,
}

/// Plays to the end, before and after the close-out.
fn run(p: &Play, build: (DType, Isa)) -> [Ledger; 2] {
    let rig = Rig::new(build, &p.members, p.envs, p.actions.len());
    rig.set_accounts(&p.accounts);
    for actions in &p.actions {
        rig.set_actions(actions);
        rig.step();
    }
    let ledger =
        || Ledger { rows: rig.rows(), fills: rig.fills(), accounts: rig.accounts(), cursors: rig.cursors() };
    let open = ledger();
    rig.close();
    [open, ledger()]
}

/// Holds a play against the reference and the book; returns what it met, so that the test can ask whether it met enough.
fn check(p: &Play, ledger: &Ledger, seen: &mut Met) {
    let Ledger { rows, fills, .. } = ledger;
    let steps = p.actions.len();
    for (m, member) in p.members.iter().enumerate() {
        for e in 0..p.envs {
            let mut account = p.accounts[m * p.envs + e];
            let mut book = CashFlowBook::open(&account, member.rules.tv);
            for (t, actions) in p.actions.iter().enumerate() {
                let place = (m * steps + t) * p.envs + e;
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
                if bars[t + 1].ends_session() {
                    assert_eq!((row.position, row.basis, row.bars, row.stop_distance), (0, 0, 0, 0));
                    let closed = legs[..usize::from(row.fills)]
                        .last()
                        .is_some_and(|l| l.kind == FillKind::Session as u8);
                    seen.sessions[usize::from(!closed)] += 1;
                }
                if row.flags & flag::TERMINATED != 0 {
                    break;
                }
            }
        }
    }
}

#[derive(Default, Debug)]
struct Met {
    steps: usize,
    kinds: [usize; 11],
    /// Closes of a session at which a position was closed, and those at which nothing was held before.
    sessions: [usize; 2],
    ends: [usize; 11],
    exits: [usize; 3],
    legs: [usize; MAX_FILLS + 1],
    ruined: usize,
}

impl Met {
    fn count(&mut self, row: &LedgerRow, legs: &[FillRow]) {
        self.steps += 1;
        self.ends[usize::from(row.order_end)] += 1;
        self.exits[usize::from(row.exit)] += 1;
        self.legs[usize::from(row.fills)] += 1;
        self.ruined += usize::from(row.flags & flag::TERMINATED != 0);
        legs[..usize::from(row.fills)].iter().for_each(|f| self.kinds[usize::from(f.kind)] += 1);
    }
}

#[test]
fn kernel_equals_reference_and_book_at_every_step() {
    let mut met = Met::default();
    let shapes = [(3, 1), (2, 31), (2, 33), (1, 1_000)].into_iter().chain([(40, 5); 14]);
    for (seed, (members, envs)) in shapes.enumerate() {
        let p = play(seed as u64 + 1, members, envs, 120);
        let mut first: Option<[Ledger; 2]> = None;
        for build in builds() {
            let ledgers = run(&p, build);
            match &first {
                None => {
                    check(&p, &ledgers[0], &mut met);
                    first = Some(ledgers);
                }
                Some(first) => assert!(*first == ledgers, "{build:?} differs at {members} members of {envs}"),
            }
        }
    }
    assert!(met.steps >= 100_000, "{met:?}");
    assert!(met.kinds[10] == met.sessions[0] && met.sessions.iter().all(|&n| n > 1_000), "{met:?}");
    assert!(met.kinds[1..9].iter().chain(&met.ends).chain(&met.exits).all(|&n| n > 30), "{met:?}");
    assert!(met.legs[..5].iter().all(|&n| n > 0) && met.kinds[9] == 0 && met.ruined > 100, "{met:?}");
}

/// A backtest ends flat, at the close less h and impact, with its fee.
#[test]
fn the_end_closes_what_is_held() {
    let p = play(99, 2, 33, 20);
    let steps = p.actions.len();
    for build in builds() {
        let [open, closed] = run(&p, build);
        assert!(closed.accounts.iter().all(|a| a.position == 0 && a.basis == 0));
        assert!(closed.cursors.iter().copied().all(ended));
        let mut closes = 0;
        for (m, member) in p.members.iter().enumerate() {
            for e in 0..p.envs {
                let place = |t| (m * steps + t) * p.envs + e;
                let Some(t) = (0..steps).rev().find(|&t| open.rows[place(t)].flags & flag::RECORDED != 0)
                else {
                    continue;
                };
                let (held, last) = (open.rows[place(t)], closed.rows[place(t)]);
                assert!(last.flags & (flag::TRUNCATED | flag::TERMINATED) != 0);
                assert_eq!((last.position, last.bar, last.before), (0, t as u32 + 1, held.before));
                let legs = &closed.fills[place(t) * MAX_FILLS..][..usize::from(last.fills)];
                assert_eq!(last.fills, held.fills + u8::from(held.position != 0));
                if held.position != 0 {
                    let (leg, bar) = (legs[legs.len() - 1], &member.bars[t + 1]);
                    let close = reference::mark(bar);
                    assert_eq!((leg.lots, leg.reference4), (-held.position, 4 * i64::from(close)));
                    if member.rules.quotes == 1 {
                        let side = if leg.lots > 0 { bar.ask[3] } else { bar.bid[3] };
                        assert!((leg.price - side) * leg.lots.signum() >= leg.impact4 / 4 - 1);
                    }
                    closes += 1;
                }
                let mut book = CashFlowBook::open(&new_account(&member.rules), member.rules.tv);
                for t in 0..=t {
                    let (row, legs) =
                        (closed.rows[place(t)], &closed.fills[place(t) * MAX_FILLS..][..MAX_FILLS]);
                    book.enter(&row, legs, reference::mark(&member.bars[t + 1])).unwrap();
                }
            }
        }
        assert!(closes > 10, "{closes}");
    }
}

/// Removing or reordering members changes no other member's bits.
#[test]
fn members_are_independent() {
    let p = play(7, 4, 33, 40);
    let build = builds()[0];
    let [_, all] = run(&p, build);
    let order = [2, 0];
    let pick = |a: &[[u8; 3]]| order.iter().flat_map(|&m: &usize| a[m * 33..][..33].to_vec()).collect();
    let fewer = Play {
        members: order.iter().map(|&m| p.members[m].clone()).collect(),
        envs: 33,
        accounts: order.iter().flat_map(|&m| p.accounts[m * 33..][..33].to_vec()).collect(),
        actions: p.actions.iter().map(|a| pick(a)).collect(),
    };
    let [_, some] = run(&fewer, build);
    let per_member = 39 * 33;
    for (new, old) in order.into_iter().enumerate() {
        assert!(some.rows[new * per_member..][..per_member] == all.rows[old * per_member..][..per_member]);
        assert_eq!(some.accounts[new * 33..][..33], all.accounts[old * 33..][..33]);
    }
}
