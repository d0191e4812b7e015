//! What the kernel records, put into a ledger, satisfies the ledger's own reconciliation: another account rebuilt from fills,
//! written without sight of this one. Here also stands how a backtest translates rows.
#![allow(clippy::unwrap_used, reason = "tests")]

mod common;

use common::{
    Rig, builds,
    random::{Play, play},
};
use foxhunt_ledger::{
    Action, BarFlags, BarRow, DataSource, FORMAT, FillReason, Ledger, LedgerHeader, Leg, MemberInfo, Rates,
    Stamps, Window, reconcile,
};
use foxhunt_market::{Bar, FillKind, FillRow, LedgerRow, MAX_FILLS, OrderEnd, Rules, flag, reference};

fn order_end(byte: u8) -> foxhunt_ledger::OrderEnd {
    use foxhunt_ledger::OrderEnd as To;
    match OrderEnd::ALL[usize::from(byte)] {
        OrderEnd::None => To::None,
        OrderEnd::Filled => To::Filled,
        OrderEnd::PartVolume => To::PartVolume,
        OrderEnd::PartMargin => To::PartMargin,
        OrderEnd::Band => To::DroppedBand,
        OrderEnd::LimitNotReached => To::LimitNotReached,
        OrderEnd::IocBeyondLimit => To::IocBeyondLimit,
        OrderEnd::RejectedGap => To::RejectedGap,
        OrderEnd::NoVolume => To::NoVolume,
        OrderEnd::CancelledByStop => To::CancelledByStop,
        OrderEnd::CancelledByLiquidation => To::CancelledByLiquidation,
    }
}

fn leg(byte: u8) -> (Leg, FillReason) {
    match FillKind::ALL[usize::from(byte) - 1] {
        FillKind::Open | FillKind::Ioc => (Leg::Open, FillReason::Order),
        FillKind::Mean => (Leg::Twap, FillReason::Order),
        FillKind::Maker => (Leg::Maker, FillReason::Order),
        FillKind::StopAtOpen => (Leg::Stop, FillReason::StopAtOpen),
        FillKind::StopInBar => (Leg::Stop, FillReason::StopInBar),
        FillKind::LiquidationAtOpen => (Leg::Liquidation, FillReason::LiquidationAtOpen),
        FillKind::LiquidationInBar => (Leg::Liquidation, FillReason::LiquidationInBar),
        FillKind::End => (Leg::CloseOut, FillReason::EndOfTest),
        FillKind::Session => (Leg::CloseOut, FillReason::SessionClose),
    }
}

fn bar_row(member: u32, row: &LedgerRow, bar: &Bar) -> BarRow {
    let [exposure, order_type, urgency] = row.action;
    let has = |bit| row.flags & bit != 0;
    let terminated = has(flag::TERMINATED);
    BarRow {
        member,
        bar: row.bar,
        time_ns: i64::from(row.bar) * 3_600_000_000_000,
        day: (row.bar / 24) as i32,
        close: reference::mark(bar),
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
            terminated,
            truncated: has(flag::TRUNCATED) && !terminated,
            liquidated: has(flag::LIQUIDATED),
            stopped: has(flag::STOPPED),
        },
        order_end: order_end(row.order_end),
    }
}

fn fill_row(member: u32, bar: u32, f: &FillRow) -> foxhunt_ledger::FillRow {
    let (leg, reason) = leg(f.kind);
    foxhunt_ledger::FillRow {
        member,
        bar,
        leg,
        lots: f.lots,
        price: f.price,
        reference_x4: f.reference4,
        decision_close: f.close,
        half_spread: f.half_spread,
        impact_x4: f.impact4,
        fee: f.fee + f.penalty,
        reason,
        quoted_x4: 0,
    }
}

fn header(rules: &Rules, envs: usize) -> LedgerHeader {
    LedgerHeader {
        format: FORMAT,
        program: "test".into(),
        instrument: "test".into(),
        quote_currency: "USD".into(),
        price_unit: "0.01".into(),
        lot: "1".into(),
        money_exponent: 6,
        tv: rules.tv,
        start_cash: rules.start_cash,
        max_leverage_e4: rules.leverage_e4,
        rates: Rates {
            taker_e7: rules.taker_fee_e7,
            maker_e7: rules.maker_fee_e7,
            liquidation_e7: rules.penalty_e7,
            financing_long_e7: rules.financing_long_e7,
            financing_short_e7: rules.financing_short_e7,
        },
        assumptions: Vec::new(),
        data: DataSource {
            name: "random".into(),
            sha256: String::new(),
            stamps: Stamps::Open,
            stamps_inferred: false,
        },
        seed: 0,
        window: Window { name: "test".into(), start_ns: 0, end_ns: 1 },
        members: (0..envs as u64)
            .map(|id| MemberInfo { id, label: format!("account {id}"), seed: id, reward_unit: 1.0 })
            .collect(),
        baseline: None,
        trials: 1,
    }
}

/// The ledger of one member's accounts: an opening row, then what the kernel wrote.
fn ledger(p: &Play, m: usize, rows: &[LedgerRow], fills: &[FillRow]) -> Ledger {
    let (member, steps) = (&p.members[m], p.actions.len());
    let mut out = Ledger { header: header(&member.rules, p.envs), bars: Vec::new(), fills: Vec::new() };
    for e in 0..p.envs {
        let id = e as u32;
        let start = member.rules.start_cash;
        let close = reference::mark(&member.bars[0]);
        let opening = LedgerRow {
            equity: start,
            worst_equity: start,
            cash: start,
            worst: close,
            ..LedgerRow::default()
        };
        out.bars.push(BarRow { action: Action::FLAT, ..bar_row(id, &opening, &member.bars[0]) });
        for t in 0..steps {
            let place = (m * steps + t) * p.envs + e;
            let row = &rows[place];
            if row.flags & flag::RECORDED == 0 {
                break;
            }
            out.bars.push(bar_row(id, row, &member.bars[row.bar as usize]));
            let legs = &fills[place * MAX_FILLS..][..usize::from(row.fills)];
            out.fills.extend(legs.iter().map(|f| fill_row(id, row.bar, f)));
        }
    }
    out
}

#[test]
fn ledgers_of_random_play_reconcile() {
    let build = *builds().last().unwrap();
    let (mut accounts, mut fills) = (0, 0);
    for seed in 1..30 {
        let p = play(seed, 4, 17, 100);
        let rig = Rig::new(build, &p.members, p.envs, p.actions.len());
        rig.set_accounts(&p.accounts);
        for actions in &p.actions {
            rig.set_actions(actions);
            rig.step();
        }
        rig.close();
        let (all_rows, all_fills) = (rig.rows(), rig.fills());
        for m in 0..p.members.len() {
            let ledger = ledger(&p, m, &all_rows, &all_fills);
            // A price held within [1, max_price] does not follow from its parts; only markets of a few units get there.
            if ledger.fills.iter().any(|f| [1, p.members[m].rules.max_price].contains(&f.price)) {
                continue;
            }
            let attribution = reconcile(&ledger).unwrap_or_else(|e| panic!("seed {seed}, member {m}: {e}"));
            for (e, lines) in attribution.members.iter().enumerate() {
                assert_eq!(lines.total(), i128::from(lines.end - lines.start), "account {e}");
            }
            accounts += p.envs;
            fills += ledger.fills.len();
        }
    }
    assert!(accounts > 1_500 && fills > 50_000, "{accounts} {fills}");
}
