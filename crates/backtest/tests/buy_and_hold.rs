//! Buy and hold on the sample's first validation bars, against numbers worked out by hand from the rules.
#![allow(clippy::unwrap_used, reason = "tests")]

mod common;

use common::{market, small};
use foxhunt_backtest::{Backtest, TestWindow, buy_and_hold};
use foxhunt_core::DType;
use foxhunt_device::Device;
use foxhunt_ledger::{FillReason, Leg, OrderEnd};

/// A price unit of 5e-6 USD on a lot of 1,000 EUR is 5,000 millionths of a dollar (tv); 100,000 USD; leverage 1; fee 0.2 bp;
/// financing 2.5 % a year.
#[test]
fn the_first_bars_and_the_last_fill_by_hand() {
    let config = small();
    let market = market(&config);
    let device = Device::cpu();
    let window = TestWindow::validation(&market);
    let backtest = Backtest::new(&device, DType::F32, &config, &market, window.clone()).unwrap();
    let ledger = backtest.strategy(&buy_and_hold(&window)).unwrap();

    // The bars, as the file has them: the hour to 14:00 UTC of 2017-09-14 and the two after it.
    let first = &market.table.bars[window.rows.start..][..3];
    assert_eq!(first[0].bid, [237_858, 237_970, 237_370, 237_664]);
    assert_eq!((first[0].sigma, first[0].atr, first[0].mean_volume), (251, 366, 10_148_431));
    assert_eq!(first[1].bid, [237_664, 237_950, 237_422, 237_464]);
    assert_eq!(first[2].bid, [237_468, 237_766, 237_408, 237_722]);

    // Decided at 237,664: floor(1e11 / (237,664 * 5,000)) = floor(84.15) lots.
    // h = max(4, ceil(237,664 * 0.2 bp) = 5, ceil(2 % of 366) = 8) = 8.
    // i = ceil(sqrt(0.25 * 251^2 * 84 / 10,148,431)) = ceil(0.361) = 1.
    // P = 237,664 + 8 + 1; fee = ceil(84 * 237,673 * 5,000 * 2e-5) = ceil(1,996,453.2).
    let fill = ledger.fills[0];
    assert_eq!((fill.lots, fill.price, fill.fee), (84, 237_673, 1_996_454));
    assert_eq!((fill.reference_x4, fill.half_spread, fill.impact_x4), (4 * 237_664, 8, 4));
    assert_eq!((fill.leg, fill.reason, fill.decision_close), (Leg::Open, FillReason::Order, 237_664));

    // Financing of an hour: ceil(84 * 237,664 * 5,000 * 2.5 % * 3,600 / 31,536,000) = ceil(284,871.2).
    // Equity: 1e11 - 1,996,454 - 284,872 + 84 * (237,464 - 237,673) * 5,000; at the low of 237,422 likewise.
    let row = ledger.bars[1];
    assert_eq!((row.position, row.basis, row.order_end), (84, 84 * 237_673, OrderEnd::Filled));
    assert_eq!((row.fees, row.financing), (1_996_454, 284_872));
    assert_eq!(row.equity, 100_000_000_000 - 1_996_454 - 284_872 - 87_780_000);
    assert_eq!((row.worst, row.worst_equity), (237_422, 100_000_000_000 - 1_996_454 - 284_872 - 105_420_000));
    // ln(0.99909938674) * 2^20 = -944.79
    assert_eq!(row.reward_q20, -945);

    // The next decision wants floor(99,909,938,674 / (237,464 * 5,000)) = 84 lots: there they are.
    // Financing at 237,464: ceil(284,631.5).
    let row = ledger.bars[2];
    assert_eq!((row.position, row.order_end, row.financing), (84, OrderEnd::None, 284_872 + 284_632));
    assert_eq!(row.equity, 100_000_000_000 - 1_996_454 - 569_504 + 84 * (237_722 - 237_673) * 5_000);

    // The end: C = 231,348, h = max(4, ceil(4.63), ceil(2 % of 229)) = 5, i = 1.
    // fee = ceil(84 * 231,342 * 5,000 * 2e-5) = ceil(1,943,272.8).
    let (last, row) = (ledger.fills[1], ledger.bars.last().unwrap());
    assert_eq!(ledger.fills.len(), 2, "what is held never leaves the band");
    assert_eq!((last.lots, last.price, last.fee, last.leg), (-84, 231_342, 1_943_273, Leg::CloseOut));
    assert_eq!((row.position, row.basis, row.realised), (0, 0, 84 * (231_342 - 237_673) * 5_000));
    assert!(row.flags.truncated);
}
