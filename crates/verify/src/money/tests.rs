use super::*;
use foxhunt_train::Size;

fn check(plant: &Plant<'_>) -> MoneyReport {
    let config = Config::of(Size::Small);
    money_with(&Device::cpu(), DType::F32, &config, &foxhunt_data::sample(), plant).unwrap()
}

const SOUND: Plant<'static> = Plant { row: &|_, _| {}, equity: &|_| {}, ledger: &|_| {} };

#[track_caller]
fn fails_with(plant: &Plant<'_>, words: &str) {
    let report = check(plant);
    assert!(!report.passed());
    assert!(report.played.iter().all(|p| p.found.iter().any(|f| f.contains(words))), "{report}");
}

#[test]
fn the_sample_adds_up() {
    let config = Config::of(Size::Small);
    for dtype in DType::ALL {
        let report = money(&Device::cpu(), dtype, &config, &foxhunt_data::sample()).unwrap();
        assert!(report.passed(), "{report}");
        assert!(
            report.played.iter().all(|p| p.decisions == ENVS * STEPS && p.episodes >= ENVS * 5),
            "{report}"
        );
    }
}

#[test]
fn a_cent_more_is_found_wherever_it_appears() {
    let in_cash = |row: &mut LedgerRow, _: &mut [FillRow]| row.cash += i64::from(row.fills == 2);
    fails_with(&Plant { row: &in_cash, ..SOUND }, "the account's cash is");
    let in_equity = |row: &mut LedgerRow, _: &mut [FillRow]| row.equity += 1;
    fails_with(&Plant { row: &in_equity, ..SOUND }, "the account's equity is");
    fails_with(&Plant { equity: &|equity| *equity -= 1, ..SOUND }, "replay: ");
}

#[test]
fn a_fee_that_is_not_charged_and_a_lost_lot_are_found() {
    let fee = |_: &mut LedgerRow, legs: &mut [FillRow]| legs[0].fee += 1;
    fails_with(&Plant { row: &fee, ..SOUND }, "the account's fees is");
    let lot = |_: &mut LedgerRow, legs: &mut [FillRow]| legs[0].lots -= 1;
    fails_with(&Plant { row: &lot, ..SOUND }, "the account's position is");
}

#[test]
fn a_tampered_ledger_does_not_reconcile() {
    let middle = |ledger: &mut Ledger| ledger.bars.len() / 2;
    let cent = |ledger: &mut Ledger| {
        let k = middle(ledger);
        ledger.bars[k].financing += 1;
    };
    fails_with(&Plant { ledger: &cent, ..SOUND }, "bars.financing is wrong");
    let price = |ledger: &mut Ledger| ledger.fills[0].price += 1;
    fails_with(&Plant { ledger: &price, ..SOUND }, "fills.price is wrong");
    let reward = |ledger: &mut Ledger| {
        for row in &mut ledger.bars[1..] {
            row.reward_q20 += 1;
        }
    };
    fails_with(&Plant { ledger: &reward, ..SOUND }, "reward");
}
