use super::*;
use crate::header::MemberInfo;
use crate::synth::Synth;

fn sound() -> Ledger {
    Synth { bars: 500, members: 2, ..Synth::default() }.ledger()
}

/// The mismatch that a change in one row of member 1 leads to.
fn mismatch(ledger: &Ledger) -> Mismatch {
    match reconcile(ledger) {
        Err(ReconcileError::Mismatch(mismatch)) => *mismatch,
        other => panic!("{other:?}"),
    }
}

type Plant<T> = fn(&mut T, i32);

#[test]
fn a_planted_unit_in_a_bar_is_found_and_named() {
    let mut ledger = sound();
    let columns: [(Column, Plant<BarRow>); 11] = [
        (Column::Close, |row, by| row.close += by),
        (Column::Worst, |row, by| row.worst += by),
        (Column::Position, |row, by| row.position += by),
        (Column::Equity, |row, by| row.equity += i64::from(by)),
        (Column::WorstEquity, |row, by| row.worst_equity += i64::from(by)),
        (Column::Cash, |row, by| row.cash += i64::from(by)),
        (Column::Basis, |row, by| row.basis += i64::from(by)),
        (Column::Realised, |row, by| row.realised += i64::from(by)),
        (Column::Fees, |row, by| row.fees += i64::from(by)),
        (Column::Financing, |row, by| row.financing += i64::from(by)),
        // Two units: a reward near the middle between two integers may be rounded either way by the device.
        (Column::RewardQ20, |row, by| row.reward_q20 += 2 * by),
    ];
    let mut planted = 0;
    for k in 0..ledger.bars.len() {
        let row = ledger.bars[k];
        // A flat bar's close decides nothing, so it can only be compared with its worst price.
        if row.member != 1 || row.position == 0 || row.bar == 1_000 {
            continue;
        }
        for (column, plant) in columns {
            for by in [1, -1] {
                plant(&mut ledger.bars[k], by);
                let found = mismatch(&ledger);
                assert_eq!(
                    (found.member, found.bar, &*found.columns),
                    (1, row.bar, &[column][..]),
                    "{found}"
                );
                planted += 1;
                ledger.bars[k] = row;
            }
        }
    }
    assert!(planted > 5_000, "{planted}");
    assert!(reconcile(&ledger).is_ok());
}

#[test]
fn a_planted_unit_in_a_fill_is_found_and_named() {
    let mut ledger = sound();
    let execution = [Column::FillReference, Column::FillHalfSpread, Column::FillImpact];
    let columns: [(&[Column], Plant<FillRow>); 7] = [
        (&[Column::FillLots], |fill, by| fill.lots += by),
        (&[Column::FillPrice], |fill, by| fill.price += by),
        (&[Column::FillFee], |fill, by| fill.fee += i64::from(by)),
        (&[Column::FillDecisionClose], |fill, by| fill.decision_close += by),
        (&execution, |fill, by| fill.reference_x4 += 4 * i64::from(by)),
        (&execution, |fill, by| fill.half_spread += by),
        (&execution, |fill, by| fill.impact_x4 += 4 * by),
    ];
    let mut planted = 0;
    for k in 0..ledger.fills.len() {
        let fill = ledger.fills[k];
        for (number, &(suspects, plant)) in columns.iter().enumerate() {
            for by in [1, -1] {
                plant(&mut ledger.fills[k], by);
                let found = mismatch(&ledger);
                assert_eq!((found.member, found.bar), (fill.member, fill.bar), "{found}");
                // A maker fill pays neither spread nor impact, and a close-out starts from the close, so that there
                // the very column is known.
                let own = [Column::FillReference, Column::FillHalfSpread, Column::FillImpact];
                if suspects.len() == 1 || found.columns.len() == 3 {
                    assert_eq!(found.columns, suspects, "{found}");
                } else {
                    assert!(matches!(fill.leg, Leg::Maker | Leg::CloseOut), "{found}");
                    assert_eq!(found.columns, &own[number - 4..number - 3], "{found}");
                }
                planted += 1;
                ledger.fills[k] = fill;
            }
        }
    }
    assert!(planted > 500, "{planted}");
}

#[test]
fn rows_out_of_place_are_found() {
    let ledger = sound();
    let change = |edit: fn(&mut Ledger)| {
        let mut copy = ledger.clone();
        edit(&mut copy);
        reconcile(&copy).unwrap_err()
    };
    assert_eq!(change(|l| l.bars[1].bar -= 1), ReconcileError::Unsorted { table: "bars", row: 1 });
    assert_eq!(change(|l| l.fills.swap(0, 5)), ReconcileError::Unsorted { table: "fills", row: 1 });
    assert_eq!(change(|l| l.bars.retain(|row| row.member == 1)), ReconcileError::NoBars { member: 0 });
    assert_eq!(
        change(|l| {
            l.header.members.pop();
        }),
        ReconcileError::UnknownMember { member: 1, members: 1 }
    );
    assert_eq!(change(|l| l.header.tv = 0), ReconcileError::Header("tv must be between 1 and 2^40"));
    assert_eq!(
        change(|l| l.header.members[0].reward_unit = f64::NAN),
        ReconcileError::Header("a member's reward unit must be positive")
    );
    let at = |error| match error {
        ReconcileError::Mismatch(found) => (found.bar, found.columns),
        other => panic!("{other:?}"),
    };
    let last = ledger.bars.last().unwrap().bar;
    let (bar, columns) = at(change(|l| l.fills.last_mut().unwrap().bar += 9));
    assert_eq!((bar, columns), (last, vec![Column::Position]));
    let (_, columns) = at(change(|l| {
        let first_order = l.bars.iter().position(|row| row.order_end == OrderEnd::Filled).unwrap();
        l.bars[first_order].order_end = OrderEnd::None;
    }));
    assert_eq!(columns, [Column::OrderEnd, Column::FillBar]);
    let (bar, columns) = at(change(|l| l.bars[3].flags.truncated = true));
    assert_eq!((bar, columns), (1_003, vec![Column::Flags]));
    let (bar, columns) = at(change(|l| l.bars[4].flags.stopped = true));
    assert_eq!((bar, columns), (1_004, vec![Column::Flags]));
    let (bar, columns) = at(change(|l| l.bars[0].action.exposure = 5));
    assert_eq!((bar, columns), (1_000, vec![Column::Action]));
}

/// Case 3 of the market rules followed by a close-out, worked by hand. Money: tv 10, start 10,000,000.
///
/// Bar 1 (O 10,020, C 10,050; C_t 10,000): buy 100 at 10,027 (h 5, i 2), fee 5,014. Bar 2 (C 10,060): close out at
/// 10,060 − 5 − 2 = 10,053, fee ceil(100·10,053·10·0.0005) = 5,027; financing 60.
/// Held 100·(10,060 − 10,050)·10 = 10,000; traded 100·(10,050 − 10,020)·10 = 30,000; delay 100·20·10 = 20,000;
/// spread 2 · 100·5·10 = 10,000; impact 2 · 100·2·10 = 4,000; fees 10,041.
fn by_hand() -> Ledger {
    let mut ledger = sound();
    ledger.header.tv = 10;
    ledger.header.start_cash = 10_000_000;
    ledger.header.members = vec![MemberInfo { id: 0, label: "hand".into(), seed: 0, reward_unit: 1.0 }];
    let opening = BarRow {
        member: 0,
        bar: 0,
        time_ns: 0,
        day: 0,
        close: 10_000,
        worst: 10_000,
        position: 0,
        equity: 10_000_000,
        worst_equity: 10_000_000,
        cash: 10_000_000,
        basis: 0,
        realised: 0,
        fees: 0,
        financing: 0,
        action: Action::FLAT,
        reward_q20: 0,
        flags: BarFlags::default(),
        order_end: OrderEnd::None,
    };
    let action = Action { exposure: 8, order_type: 0, urgency: 2 };
    let bought = BarRow {
        bar: 1,
        time_ns: 1,
        close: 10_050,
        worst: 9_985,
        position: 100,
        equity: 10_017_986,
        // 9,994,986 + (100 · 9,985 − 1,002,700) · 10
        worst_equity: 9_952_986,
        cash: 9_994_986,
        basis: 1_002_700,
        fees: 5_014,
        action,
        // 0.00179698 · 2^20
        reward_q20: 1_884,
        order_end: OrderEnd::Filled,
        ..opening
    };
    let closed = BarRow {
        bar: 2,
        time_ns: 2,
        close: 10_060,
        worst: 10_040,
        // realised 100 · (10,053 − 10,027) · 10
        realised: 26_000,
        fees: 10_041,
        financing: 60,
        cash: 10_015_899,
        equity: 10_015_899,
        // 10,000,000 − 5,014 − 60 + (100 · 10,040 − 1,002,700) · 10
        worst_equity: 10_007_926,
        position: 0,
        basis: 0,
        // ln(10,015,899 / 10,017,986) · 2^20 = −218.47
        reward_q20: -218,
        flags: BarFlags { truncated: true, ..BarFlags::default() },
        order_end: OrderEnd::None,
        ..bought
    };
    let buy = FillRow {
        member: 0,
        bar: 1,
        leg: Leg::Open,
        lots: 100,
        price: 10_027,
        reference_x4: 40_080,
        decision_close: 10_000,
        half_spread: 5,
        impact_x4: 8,
        fee: 5_014,
        reason: FillReason::Order,
        quoted_x4: 0,
    };
    let sell = FillRow {
        bar: 2,
        leg: Leg::CloseOut,
        lots: -100,
        price: 10_053,
        reference_x4: 40_240,
        decision_close: 10_060,
        fee: 5_027,
        reason: FillReason::EndOfTest,
        ..buy
    };
    ledger.bars = vec![opening, bought, closed];
    ledger.fills = vec![buy, sell];
    ledger
}

#[test]
fn attribution_by_hand() {
    let lines = reconcile(&by_hand()).unwrap().members[0];
    let expected = MemberAttribution {
        member: 0,
        start: 10_000_000,
        end: 10_015_899,
        held: 10_000,
        traded: 30_000,
        delay: 20_000,
        spread: 10_000,
        impact: 4_000,
        fees: 10_041,
        financing: 60,
    };
    assert_eq!(lines, expected);
    assert_eq!(lines.total(), 15_899);
}

/// The same where the open is an ask of 10,020 beside a bid of 10,014: 3 units of the way from C_t to the reference are half of the
/// quoted spread, 100·3·10 = 3,000.
#[test]
fn a_quoted_spread_is_a_cost_and_no_delay() {
    let plain = reconcile(&by_hand()).unwrap().members[0];
    let mut ledger = by_hand();
    ledger.fills[0].quoted_x4 = 12;
    let lines = reconcile(&ledger).unwrap().members[0];
    let expected = MemberAttribution {
        traded: plain.traded + 3_000,
        delay: plain.delay - 3_000,
        spread: plain.spread + 3_000,
        ..plain
    };
    assert_eq!(lines, expected);
    assert_eq!(lines.total(), plain.total());
    // The close-out's own half-spread is half of what is quoted; and no ask is below its bid.
    for (fill, quoted) in [(1, 4), (0, -4)] {
        let mut ledger = by_hand();
        ledger.fills[fill].quoted_x4 = quoted;
        assert_eq!(*mismatch(&ledger).columns, [Column::FillQuoted]);
    }
}

/// The close of the last bar, after the close-out, is only seen through the close-out.
#[test]
fn the_last_close_is_named() {
    let mut ledger = by_hand();
    ledger.bars[2].close += 1;
    assert_eq!(mismatch(&ledger).columns, [Column::Close]);
    let text = mismatch(&ledger).to_string();
    assert_eq!(
        text,
        "member 0, bar 2: bars.close is wrong: the close-out's reference gives 10060, the ledger says 10061"
    );
}

#[test]
fn a_flip_in_one_fill_is_refused() {
    let mut ledger = by_hand();
    ledger.fills[1].lots = -150;
    let found = mismatch(&ledger);
    assert_eq!((found.bar, found.columns), (2, vec![Column::FillLots]));
}

/// Section 7: what the spread line holds is |x|·h·tv plus each price's rounding, which is less than one price unit per
/// lot.
#[test]
fn spread_is_half_spread_and_rounding() {
    let ledger = sound();
    let attribution = reconcile(&ledger).unwrap();
    for lines in &attribution.members {
        let (mut low, mut high) = (0i128, 0i128);
        for fill in ledger.fills_of(lines.member) {
            let lots = i128::from(fill.lots.abs()) * i128::from(ledger.header.tv);
            low += lots * i128::from(fill.half_spread);
            high += lots * i128::from(fill.half_spread + 1);
        }
        assert!(lines.spread >= low - 2 && lines.spread < high, "{low} {} {high}", lines.spread);
        assert!(lines.spread > low, "some price is rounded");
    }
}

/// A long of 100 flips to a short of 50 over the bar, and the short is stopped in the same bar: S/4 = 10,050, h 5, so sold at
/// 10,045 (fees 5,023 and 2,512); stop 10,080, bought at 10,085 (fee 2,522). Realised 100 · 18 · 10 − 50 · 40 · 10 = −2,000.
/// The worst moment is the short's: the long met 10,040 at 10,007,926, the short its stop at
/// 10,000,000 − 60 + 18,000 − 12,549 − 50 · 40 · 10 = 9,985,391.
#[test]
fn a_stop_on_the_opening_leg_of_a_flip() {
    let mut ledger = by_hand();
    let row = &mut ledger.bars[2];
    row.action = Action { exposure: 0, order_type: 0, urgency: 0 };
    row.order_end = OrderEnd::Filled;
    row.flags.stopped = true;
    row.realised = -2_000;
    row.fees = 5_014 + 5_023 + 2_512 + 2_522;
    row.cash = 10_000_000 - 2_000 - 15_071 - 60;
    row.equity = row.cash;
    row.reward_q20 = ((row.equity as f64 / 10_017_986.0).ln() * 1_048_576.0).round() as i32;
    (row.worst, row.worst_equity) = (10_085, 9_985_391);
    let sold = FillRow {
        bar: 2,
        leg: Leg::Twap,
        lots: -100,
        price: 10_045,
        reference_x4: 40_200,
        decision_close: 10_050,
        impact_x4: 0,
        fee: 5_023,
        ..ledger.fills[0]
    };
    let opened = FillRow { lots: -50, fee: 2_512, ..sold };
    let stopped = FillRow {
        leg: Leg::Stop,
        lots: 50,
        price: 10_085,
        reference_x4: 40_320,
        fee: 2_522,
        reason: FillReason::StopInBar,
        ..sold
    };
    ledger.fills.truncate(1);
    ledger.fills.extend([sold, opened, stopped]);
    let lines = reconcile(&ledger).unwrap().members[0];
    // traded 30,000 − 150 · 10 · 10 + 50 · (10,060 − 10,080) · 10; delay only of the orders, 20,000 + 0.
    assert_eq!((lines.held, lines.traded, lines.delay), (10_000, 30_000 - 15_000 - 10_000, 20_000));
    assert_eq!((lines.spread, lines.impact), ((100 + 150 + 50) * 5 * 10, 2_000));
    assert_eq!(lines.total(), -17_131);

    // The long's moment instead, which was not the worst; a price that is neither's; an equity that is neither's.
    let refused = |worst, worst_equity| {
        let mut planted = ledger.clone();
        (planted.bars[2].worst, planted.bars[2].worst_equity) = (worst, worst_equity);
        let found = mismatch(&planted);
        (found.columns.to_vec(), found.expected, found.found)
    };
    assert_eq!(refused(10_040, 10_007_926), (vec![Column::WorstEquity], 9_985_391, 10_007_926));
    assert_eq!(refused(10_086, 9_985_391), (vec![Column::Worst], 10_085, 10_086));
    assert_eq!(refused(10_085, 9_985_390), (vec![Column::WorstEquity], 9_985_391, 9_985_390));
}

/// A close-out at a session's last close is what one at the end is, wherever it stands; as an order's it is none.
#[test]
fn a_sessions_close_reconciles_and_is_no_order() {
    let mut ledger = by_hand();
    let ended = reconcile(&ledger).unwrap().members;
    ledger.fills[1].reason = FillReason::SessionClose;
    assert_eq!(reconcile(&ledger).unwrap().members, ended);
    assert_eq!(FillReason::from_word("session_close"), Some(FillReason::SessionClose));
    let refused = |change: &dyn Fn(&mut Ledger)| {
        let mut planted = ledger.clone();
        change(&mut planted);
        reconcile(&planted).unwrap_err().to_string()
    };
    assert!(refused(&|l| l.fills[1].leg = Leg::Stop).contains("the reason belongs to the leg"));
    assert!(refused(&|l| l.fills[1].reason = FillReason::Order).contains("the reason belongs to the leg"));
    // Closed at another price than the close's, or left held.
    let off = refused(&|l| l.fills[1].reference_x4 -= 40);
    assert!(off.contains("close"), "{off}");
    let held = refused(&|l| l.fills.truncate(1));
    assert!(held.contains("position"), "{held}");
}
