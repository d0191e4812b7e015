use super::*;
use foxhunt_data::ExtraColumn;
use foxhunt_features::{FeatureSet, Normaliser};
use foxhunt_train::{Cost, Size};

fn check(prepare: impl Fn(Bars, &Config) -> Result<Market, VerifyError>) -> LeakReport {
    let config = Config::of(Size::Small);
    let agents = Agents::fresh(&config);
    let bars = foxhunt_data::sample();
    leak_of(&Device::cpu(), DType::F32, &config, &bars, &agents, |bars| prepare(bars, &config)).unwrap()
}

fn prepare(bars: Bars, config: &Config) -> Result<Market, VerifyError> {
    Ok(Market::prepare(bars, config)?)
}

/// Every cut found something, and somewhere it was said in these words.
fn fails_with(report: &LeakReport, words: &str) {
    assert!(!report.passed());
    let all: Vec<&String> = report.cuts.iter().flat_map(|c| &c.found).collect();
    assert!(report.cuts.iter().all(|c| !c.found.is_empty()), "{report}");
    assert!(all.iter().any(|w| w.contains(words)), "{report}");
}

#[test]
fn the_sample_does_not_leak() {
    for dtype in DType::ALL {
        let mut config = Config::of(Size::Small);
        (config.features.set, config.network.inputs) = ("full".into(), 128);
        let agents = Agents::fresh(&config);
        let report = leak(&Device::cpu(), dtype, &config, &foxhunt_data::sample(), &agents).unwrap();
        assert!(report.passed(), "{report}");
        assert_eq!(report.cuts.len(), CUTS);
        assert!(report.cuts.iter().all(|c| c.features % 75 == 0), "of all features");
    }
}

/// Under such fees every account is ruined long before the second moment: only those that begin near it tell of it.
#[test]
fn accounts_that_were_ruined_before_a_moment_hide_nothing() {
    let mut config = Config::of(Size::Small);
    (config.market.taker_fee_bp, config.market.maker_fee_bp) = (Cost::Bp(30.0), Cost::Bp(30.0));
    let bars = foxhunt_data::sample();
    let market = Market::prepare(bars.clone(), &config).unwrap();
    let rows = market.splits.validation.start..market.splits.test.end;
    let (first, window) = (rows.start, TestWindow { name: "held out".into(), rows });
    let actions = throws(config.seed, window.decisions());
    let cpu = Device::cpu();
    let backtest = Backtest::new(&cpu, DType::F32, &config, &market, window).unwrap();
    let dice = backtest.strategy(&Strategy::scripted("dice", actions)).unwrap();
    let agents = Agents::fresh(&config);
    let report = leak(&Device::cpu(), DType::F32, &config, &bars, &agents).unwrap();
    assert!(
        (dice.bars.last().unwrap().bar as usize) < report.cuts[1].row,
        "ruined at {:?}",
        dice.bars.last()
    );
    assert!(report.passed(), "{report}");
    // Two agents and the dice, at the cut's own row and the decisions before it.
    let near = |cut: &Cut| 3 * (cut.row - first).min(NEAR);
    assert!(report.cuts.iter().all(|c| c.accounts >= near(c) && c.fills >= NEAR / 2), "{report}");
}

#[test]
fn what_could_not_be_compared_is_not_called_a_leak() {
    let cut = |fills| Cut { row: 9, time_ns: 0, features: 10, accounts: 1, fills, found: Vec::new() };
    let report = |cuts| LeakReport { instrument: "X".into(), train: 0..5, stated: Vec::new(), cuts };
    assert!(report(vec![cut(1)]).passed());
    let half = report(vec![cut(1), cut(0)]);
    assert!(!half.passed());
    let text = half.to_string();
    assert!(
        text.contains("too little to compare") && text.ends_with("NOT SHOWN") && !text.contains("FAILED"),
        "{text}"
    );
}

/// Columns of the file change after the moment like all else; one that is filled from the next value is found.
#[test]
fn a_column_of_the_file_that_is_filled_back_is_found() {
    let mut config = Config::of(Size::Small);
    config.features.columns = vec!["mood".into()];
    let mut bars = foxhunt_data::sample();
    let values = (0..bars.len()).map(|i| (i % 97) as f64 / 97.0).collect();
    bars.extra = vec![ExtraColumn { name: "mood".into(), first: 0, values }];
    let agents = Agents::fresh(&config);
    let check = |prepare: &dyn Fn(Bars) -> Bars| {
        let prepared = |bars: Bars| Ok(Market::prepare(prepare(bars), &config)?);
        leak_of(&Device::cpu(), DType::F32, &config, &bars, &agents, prepared).unwrap()
    };
    let sound = check(&|bars| bars);
    assert!(sound.passed() && sound.cuts.iter().all(|c| c.features % 25 == 0), "{sound}");
    assert!(
        sound.to_string().contains("values of mood were known at their bars' closes is the file's statement")
    );
    let planted = check(&|mut bars| {
        bars.extra[0].values.rotate_left(1);
        bars
    });
    fails_with(&planted, "feature mood of row");
}

/// Where sessions end is told by the next bar, as by a calendar: nothing else of it is known.
#[test]
fn a_market_that_is_flat_by_close_does_not_leak() {
    let config = Config::of(Size::Small);
    let mut bars = foxhunt_data::sample();
    (bars.instrument.session.length_s, bars.instrument.session.flat_by_close) = (82_800, true);
    let agents = Agents::fresh(&config);
    let report = leak(&Device::cpu(), DType::F32, &config, &bars, &agents).unwrap();
    assert!(report.passed(), "{report}");
    // A session's end that is told by the price of the next bar is no calendar's.
    let planted = leak_of(&Device::cpu(), DType::F32, &config, &bars, &agents, |bars| {
        let mut market = prepare(bars, &config)?;
        for row in 0..market.table.bars.len() - 1 {
            if market.table.bars[row + 1].bid[3] < market.table.bars[row].bid[3] {
                market.table.bars[row].bar_seconds |= foxhunt_market::SESSION_END;
            }
        }
        Ok(market)
    })
    .unwrap();
    let found: Vec<&String> = planted.cuts.iter().flat_map(|c| &c.found).collect();
    assert!(
        !planted.passed() && found.iter().any(|w| w.contains("of the bar table is another")),
        "{planted}"
    );
}

/// Windows by date and folds, whose rows move with the times that are changed; and a normaliser of a later fold, planted.
#[test]
fn windows_by_time_do_not_leak() {
    let bars = foxhunt_data::sample();
    let set = |pairs: &[&str]| {
        let pairs: Vec<String> = pairs.iter().map(|p| (*p).to_owned()).collect();
        Config::resolve(None, None, &pairs).unwrap()
    };
    let dated =
        set(&["data.validation_from=2017-09-01", "data.test_from=2017-10-15", "data.test_to=2017-12-01"]);
    let folds = set(&[
        "data.walk_forward.folds=2",
        "data.walk_forward.validation_days=40",
        "data.walk_forward.test_days=40",
    ]);
    for config in [&dated, &folds] {
        let report = leak(&Device::cpu(), DType::F32, config, &bars, &Agents::fresh(config)).unwrap();
        assert!(report.passed(), "{report}");
    }
    let splits = Market::folds(bars.clone(), &folds).unwrap().swap_remove(0).splits;
    let report = leak_of(&Device::cpu(), DType::F32, &folds, &bars, &Agents::fresh(&folds), |bars| {
        let mut planted = Market::prepare_within(bars, &folds, splits.clone())?;
        let later = splits.train.start..splits.test.end;
        let raw = FeatureSet::standard().compute(&planted.bars).unwrap();
        planted.normaliser = Normaliser::fit(&raw, later).unwrap();
        Ok(planted)
    })
    .unwrap();
    fails_with(&report, "the normaliser is another");
}

#[test]
fn a_feature_that_peeks_one_bar_is_found() {
    let report = check(|bars, config| {
        let market = prepare(bars, config)?;
        let next =
            |t: usize| market.bars.mid_close((t + 1).min(market.bars.len() - 1)) - market.bars.mid_close(t);
        let column = (0..market.bars.len()).map(|t| next(t) as f32).collect();
        Ok(market.with_column("peek", column)?)
    });
    fails_with(&report, "feature peek of row");
    fails_with(&report, "the action chosen at row");
}

#[test]
fn a_normaliser_of_the_test_window_is_found() {
    let report = check(|bars, config| {
        let mut market = prepare(bars, config)?;
        let raw = FeatureSet::standard().compute(&market.bars).unwrap();
        market.normaliser = Normaliser::fit(&raw, market.splits.test.clone()).unwrap();
        market.features = market.normaliser.apply(&raw).unwrap();
        Ok(market)
    });
    fails_with(&report, "the normaliser is another");
    fails_with(&report, "it saw a later bar");
}

/// Orders fill at the open of the bar at whose close they were decided.
#[test]
fn a_fill_in_the_bar_of_the_decision_is_found() {
    let report = check(|bars, config| {
        let mut market = prepare(bars, config)?;
        for row in (1..market.table.bars.len()).rev() {
            let decided = market.table.bars[row - 1];
            let bar = &mut market.table.bars[row];
            (bar.bid[0], bar.ask[0]) = (decided.bid[0], decided.ask[0]);
        }
        Ok(market)
    });
    fails_with(&report, "which that bar did not offer");
}

/// Bars a day, counted over all of the file.
#[test]
fn a_constant_of_the_whole_file_is_found() {
    let report = check(|bars, config| {
        let mut market = prepare(bars, config)?;
        let rate = market.bars.periods_per_year();
        for context in &mut market.table.context {
            context.volatility_e9 += rate as u32;
        }
        Ok(market)
    });
    fails_with(&report, "volatility or session of row");
}
