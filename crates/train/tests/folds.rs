//! Folds: windows that follow one another, and members that don't know of one another.
#![allow(clippy::unwrap_used, reason = "tests")]

mod common;

use common::{states, tiny, waves};
use foxhunt_core::DType;
use foxhunt_device::Device;
use foxhunt_train::{Config, FOLD_IDS, Market, Trainer};

fn walking(folds: usize) -> Config {
    let mut config = tiny();
    config.learn.collect = 256;
    config.learn.updates = 16;
    config.population = 2;
    let w = &mut config.data.walk_forward;
    (w.folds, w.train_days, w.validation_days, w.test_days) = (folds, 20, 4, 5);
    config
}

#[test]
fn windows_follow_one_another_and_are_purged() {
    let bars = waves(1400);
    let mut config = walking(3);
    let plain = Market::folds(bars.clone(), &config).unwrap();
    assert_eq!(plain.last().unwrap().splits.test.end, bars.len());
    for pair in plain.windows(2) {
        assert_eq!(pair[0].splits.test.end, pair[1].splits.test.start, "no bar is tested twice or left out");
        assert!(pair[0].normaliser != pair[1].normaliser, "each is fitted on its own training window");
    }
    for m in &plain {
        // n_step 3 and one row of features: three rows of each boundary go.
        assert_eq!(m.splits.train.end + 3, m.splits.validation.start);
        assert_eq!(m.splits.validation.end + 3, m.splits.test.start);
        assert_eq!((m.splits.train.len() + 3, m.splits.test.len()), (20 * 24, 5 * 24));
    }
    (config.data.walk_forward.purge_bars, config.data.walk_forward.embargo_bars) = (7, 11);
    for (cut, whole) in Market::folds(bars.clone(), &config).unwrap().iter().zip(&plain) {
        let (a, b) = (&cut.splits, &whole.splits);
        // Seven instead of three.
        assert_eq!((a.train.start, a.train.end), (b.train.start, b.train.end - 4));
        assert_eq!(a.validation, b.validation.start + 11..b.validation.end - 4);
        assert_eq!(a.test, b.test.start + 11..b.test.end);
    }
    // Growing windows begin together.
    config.data.walk_forward.train_days = 0;
    let growing = Market::folds(bars.clone(), &config).unwrap();
    assert!(growing.iter().all(|m| m.splits.train.start == growing[0].splits.train.start));
    assert!(growing[0].splits.train.len() < growing[2].splits.train.len());
    // The market of whoever asks for one is the last.
    assert_eq!(Market::prepare(bars, &config).unwrap().splits, growing[2].splits);
}

#[test]
fn a_constant_of_a_fold_knows_its_training_window_alone() {
    let config = walking(2);
    let bars = waves(1200);
    let before = Market::folds(bars.clone(), &config).unwrap();
    // Bars after the first fold's training window are twice as high: nothing that it learns from may move.
    let mut other = bars;
    let end = before[0].splits.train.end;
    for side in [&mut other.bid.open, &mut other.bid.high, &mut other.bid.low, &mut other.bid.close] {
        side[end..].iter_mut().for_each(|p| *p *= 2);
    }
    let after = Market::folds(other, &config).unwrap();
    let (a, b) = (&before[0], &after[0]);
    assert_eq!(a.normaliser, b.normaliser);
    assert_eq!((a.volatility_floor_e9, a.bars_per_day), (b.volatility_floor_e9, b.bars_per_day));
    let known = a.splits.train.end * a.features.cols;
    assert_eq!(a.features.values[..known], b.features.values[..known]);
    assert_ne!(before[1].normaliser, after[1].normaliser, "the second fold trains on what has changed");
}

#[test]
fn a_member_learns_the_same_whatever_folds_there_are() {
    let (config, bars) = (walking(2), waves(1200));
    let markets = Market::folds(bars, &config).unwrap();
    let device = Device::cpu();
    let mut all = Trainer::on(&device, DType::F32, &config, &markets).unwrap();
    let reports = all.epoch().unwrap();
    let ids: Vec<u64> = reports.iter().map(|r| r.id).collect();
    assert_eq!(ids, [FOLD_IDS, FOLD_IDS + 1, 0, 1]);
    let all = states(&all, 4);
    assert_ne!(all[0], all[2]);
    for (fold, market) in markets.iter().enumerate() {
        let mut alone = walking(0);
        alone.data.walk_forward = Default::default();
        alone.members = config.ids_of_fold(fold);
        let mut trainer = Trainer::new(&device, DType::F32, &alone, market).unwrap();
        let own = trainer.epoch().unwrap();
        assert!(own.iter().zip(&reports[2 * fold..]).all(|(a, b)| a.loss == b.loss));
        assert!(states(&trainer, 2) == all[2 * fold..2 * fold + 2], "fold {fold}");
    }
}

/// One more fold is one more at the begin: the others, found by their ids, learn the same bits, windows and all.
#[test]
fn a_fold_more_changes_no_other() {
    let bars = waves(1400);
    let device = Device::cpu();
    let run = |folds| {
        let config = walking(folds);
        let markets = Market::folds(bars.clone(), &config).unwrap();
        let mut trainer = Trainer::on(&device, DType::F32, &config, &markets).unwrap();
        trainer.epoch().unwrap();
        (config.member_ids(), states(&trainer, 2 * folds), markets)
    };
    let (ids, two, markets) = run(2);
    let (more_ids, three, more) = run(3);
    assert_eq!((&more_ids[2..], &three[2..]), (&ids[..], &two[..]));
    for (a, b) in markets.iter().zip(&more[1..]) {
        assert_eq!((&a.splits, &a.normaliser), (&b.splits, &b.normaliser));
    }
    assert!(three[0] != two[0] && three[0] != two[2]);
}

/// What is measured on a window is that window's: a market that is measured on one that reaches into validation is told by
/// its numbers.
#[test]
fn a_window_that_reaches_further_is_seen() {
    let bars = waves(1200);
    let config = walking(2);
    let of = |config: &Config| Market::folds(bars.clone(), config).unwrap().swap_remove(0);
    let own = of(&config);
    let rows = own.splits.train.clone();
    assert_eq!(own.normaliser.train_rows, rows);
    assert_eq!(own.volatility_floor_e9, own.table.volatility_floor_e9(rows.clone()));
    assert_eq!(own.bars_per_day, bars.slice(0..rows.end).periods_per_year() / 365.0);
    // The fault: purging that takes nothing, so that training reaches the bars that validation looks back on.
    let mut planted = config.clone();
    planted.data.walk_forward.purge_bars = 0;
    let planted = of(&planted);
    assert_eq!(planted.splits.train.end, own.splits.validation.start);
    assert_ne!(planted.normaliser, own.normaliser);
}

#[test]
fn dates_of_folds_lie_in_the_data() {
    let bars = waves(1200);
    let mut config = walking(1);
    config.data.test_to = "2039-01-01".into();
    let error = Market::folds(bars.clone(), &config).unwrap_err().to_string();
    assert!(error.starts_with("data.test_to: 2039-01-01") && error.contains("give a date within"), "{error}");
    // The last test window ends there.
    config.data.test_to = foxhunt_data::show_moment(bars.close_ns[999]);
    assert_eq!(Market::folds(bars, &config).unwrap()[0].splits.test.end, 1000);
}

#[test]
fn folds_that_do_not_fit_are_refused() {
    let bars = waves(1200);
    let error = |change: &dyn Fn(&mut Config)| {
        let mut config = walking(2);
        change(&mut config);
        Market::folds(bars.clone(), &config).unwrap_err().to_string()
    };
    let many = error(&|c| c.data.walk_forward.folds = 9);
    assert!(many.contains("fold 0 would begin at") && many.contains("at most 3 folds"), "{many}");
    let purged = error(&|c| c.data.walk_forward.purge_bars = 90);
    assert!(purged.contains("fold 0 keeps 6 bars of its validation window and needs 64"), "{purged}");
    let config = walking(2);
    let one = Market::folds(bars.clone(), &config).unwrap();
    let error = Trainer::on(&Device::cpu(), DType::F32, &config, &one[..1]).err().unwrap().to_string();
    assert!(error.contains("1 markets for 1 instruments of 2 folds"), "{error}");
}
