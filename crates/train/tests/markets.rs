//! Several instruments in one population: each with its own bars, rules and features, and members that don't know of the others.
#![allow(clippy::unwrap_used, reason = "tests")]

mod common;

use common::{devices, states, tiny, waves};
use foxhunt_core::DType;
use foxhunt_data::{Bars, presets};
use foxhunt_device::Device;
use foxhunt_train::{Config, MARKET_IDS, Market, MarketData, Trainer};

/// Instruments of different prices, lots and lengths.
fn bars(name: &str) -> Bars {
    let (mut bars, rows) = match name {
        "eur" => (waves(900), 900),
        "xbt" => (waves(1300), 1300),
        _ => (waves(700), 700),
    };
    if name == "xbt" {
        bars.instrument = presets::named("BTC/USD").unwrap();
        bars.volume_lots = vec![50_000_000; rows];
    }
    if name == "gold" {
        for side in [&mut bars.bid.open, &mut bars.bid.high, &mut bars.bid.low, &mut bars.bid.close] {
            side.iter_mut().for_each(|p| *p = 400_000 - *p);
        }
        std::mem::swap(&mut bars.bid.high, &mut bars.bid.low);
    }
    bars
}

fn config(names: &[&str]) -> Config {
    let mut config = tiny();
    config.learn.collect = 256;
    config.learn.updates = 16;
    config.population = 2;
    config.data.markets = names
        .iter()
        .map(|name| MarketData {
            name: (*name).into(),
            files: vec![format!("{name}.csv")],
            ..Default::default()
        })
        .collect();
    config
}

fn markets(config: &Config) -> Vec<Market> {
    let bars = config.data.markets.iter().map(|m| bars(&m.name)).collect();
    Market::all(bars, config).unwrap()
}

/// Ids and what each member learnt in two epochs.
fn learnt(device: &Device, dtype: DType, config: &Config) -> Vec<(u64, Vec<u8>)> {
    let mut trainer = Trainer::on(device, dtype, config, &markets(config)).unwrap();
    trainer.epoch().unwrap();
    let reports = trainer.epoch().unwrap();
    let ids = config.member_ids();
    assert_eq!(reports.iter().map(|r| r.id).collect::<Vec<_>>(), ids);
    let members = ids.len();
    ids.into_iter().zip(states(&trainer, members)).collect()
}

#[test]
fn an_instrument_less_or_elsewhere_changes_no_other() {
    for device in devices() {
        for dtype in DType::ALL {
            let all = learnt(&device, dtype, &config(&["eur", "xbt", "gold"]));
            assert_eq!(all.len(), 6);
            for (k, (id, state)) in all.iter().enumerate() {
                assert!(all[..k].iter().all(|(i, s)| i != id && s != state), "member {k} is of its own");
            }
            for names in [&["gold", "eur", "xbt"][..], &["xbt", "gold"], &["xbt"]] {
                for (id, state) in learnt(&device, dtype, &config(names)) {
                    let (_, whole) = all.iter().find(|(i, _)| *i == id).unwrap();
                    assert!(*whole == state, "{names:?} {id}");
                }
            }
        }
    }
}

/// A member of one instrument among several is the one of a run on that instrument alone, with its id.
#[test]
fn an_instrument_alone_learns_the_same() {
    let device = Device::cpu();
    let all = learnt(&device, DType::F32, &config(&["eur", "xbt"]));
    let mut alone = config(&[]);
    alone.members = all[2..].iter().map(|(id, _)| *id).collect();
    let market = Market::prepare(bars("xbt"), &alone).unwrap();
    let mut trainer = Trainer::new(&device, DType::F32, &alone, &market).unwrap();
    trainer.epoch().unwrap();
    trainer.epoch().unwrap();
    assert!(states(&trainer, 2).iter().eq(all[2..].iter().map(|(_, state)| state)));
}

#[test]
fn each_instrument_has_rules_and_measures_of_its_own() {
    let config = config(&["eur", "xbt"]);
    let [eur, xbt] = &markets(&config)[..] else { panic!("two") };
    assert_eq!((eur.bars.len(), xbt.bars.len()), (900, 1300));
    assert_eq!((eur.rules.instrument.as_str(), xbt.rules.instrument.as_str()), ("EUR/USD", "BTC/USD"));
    assert!(eur.rules != xbt.rules && eur.normaliser != xbt.normaliser && eur.splits != xbt.splits);
    let mut trainer = Trainer::on(&Device::cpu(), DType::F32, &config, &markets(&config)).unwrap();
    let names: Vec<Option<String>> = trainer.epoch().unwrap().into_iter().map(|r| r.market).collect();
    assert_eq!(names, ["eur", "eur", "xbt", "xbt"].map(|n| Some(n.to_owned())));
}

/// Instruments that walk forward: each one's folds are those that it has alone.
#[test]
fn instruments_walk_forward() {
    let mut config = config(&["eur", "xbt"]);
    let w = &mut config.data.walk_forward;
    (w.folds, w.train_days, w.validation_days, w.test_days) = (2, 15, 4, 4);
    let ids = config.member_ids();
    assert_eq!(ids.len(), 8);
    let folds = |c: &Config| markets(c).iter().map(|m| m.splits.clone()).collect::<Vec<_>>();
    let all = folds(&config);
    for market in 0..2 {
        let own = config.of_market(market);
        assert_eq!(folds(&own), all[2 * market..2 * market + 2]);
        assert_eq!(own.member_ids(), ids[4 * market..4 * market + 4]);
    }
    let whole = learnt(&Device::cpu(), DType::F32, &config);
    assert!(learnt(&Device::cpu(), DType::F32, &config.of_market(1)) == whole[4..]);
    assert_eq!(ids[0] % MARKET_IDS, foxhunt_train::FOLD_IDS);
}

#[test]
fn what_is_wrong_with_an_instrument_is_told_with_it() {
    let config = config(&["eur", "short"]);
    let too_few = Market::all(vec![bars("eur"), waves(200)], &config).unwrap_err();
    let error = too_few.to_string();
    assert!(error.starts_with("data.markets[1] (short, short.csv): ") && error.contains("64"), "{error}");
    let error = Market::all(vec![bars("eur")], &config).unwrap_err().to_string();
    assert!(error.contains("bars of 1 instruments for 2"), "{error}");
    let mut dated = config.clone();
    (dated.data.validation_from, dated.data.test_from) = ("2020-01-20".into(), "2020-01-27".into());
    let error = Market::all(vec![bars("eur"), waves(200)], &dated).unwrap_err().to_string();
    assert!(error.contains("data.markets[1] (short") && error.contains("2020-01-20"), "{error}");
}
