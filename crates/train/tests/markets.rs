//! Several instruments in one population: each with its own bars, rules and features, and members that don't know of the others.
#![allow(clippy::unwrap_used, reason = "tests")]

mod common;

use common::{Policy as Deciding, devices, log_return, play, states, tiny, waves};
use foxhunt_core::DType;
use foxhunt_data::{Bars, presets};
use foxhunt_device::Device;
use foxhunt_env::{Buffer, Env, EnvMember, Transition};
use foxhunt_train::{Config, Explore, MARKET_IDS, Market, MarketData, Policy, Trainer};

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
        turn(&mut bars);
    }
    bars
}

/// Down where they went up.
fn turn(bars: &mut Bars) {
    let bid = &mut bars.bid;
    for side in [&mut bid.open, &mut bid.high, &mut bid.low, &mut bid.close] {
        side.iter_mut().for_each(|p| *p = 440_000 - *p);
    }
    std::mem::swap(&mut bid.high, &mut bid.low);
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

/// Instruments that share a policy, divided at the same dates.
fn shared(names: &[&str]) -> Config {
    let mut config = config(names);
    config.data.policy = Policy::Shared;
    (config.data.validation_from, config.data.test_from) = ("2020-01-15".into(), "2020-01-22".into());
    config
}

/// Each member sees all instruments, each with its own rules, bars and features, in equal shares of its environments.
#[test]
fn a_shared_policy_is_trained_on_all() {
    for device in devices() {
        let config = shared(&["eur", "xbt", "gold"]);
        assert_eq!(config.member_ids(), [0, 1]);
        let markets = markets(&config);
        let mut trainer = Trainer::on(&device, DType::F32, &config, &markets).unwrap();
        let reports = trainer.epoch().unwrap();
        assert!(reports.iter().map(|r| (r.id, r.market.clone())).eq([(0, None), (1, None)]));
        let env = trainer.environments();
        let rows: Vec<EnvMember> = env.read(Buffer::Members).unwrap();
        let (envs, ring): (Vec<Env>, Vec<Transition>) =
            (env.read(Buffer::Envs).unwrap(), env.read(Buffer::Ring).unwrap());
        let (e, bases) = (config.learn.envs, [0, 900, 2200]);
        let mut counts = [0; 3];
        for (at, x) in envs.iter().enumerate() {
            let k = at % e * 3 / e;
            counts[k] += 1;
            let market = &markets[k];
            let rows = bases[k] + market.splits.train.start..bases[k] + market.splits.train.end;
            assert!(rows.contains(&(x.bar as usize)), "environment {at} is at {} and not in {rows:?}", x.bar);
            assert!(x.volatility_e9 >= market.volatility_floor_e9);
            // Fresh accounts begin with their instrument's cash.
            assert!(x.account.peak >= market.rules.start_cash);
        }
        assert_eq!(counts, [12, 10, 10]);
        assert!(rows.chunks(3).all(|m| m.iter().all(|row| row.seed == m[0].seed)));
        for (at, row) in ring.iter().enumerate().filter(|(_, row)| row.bar > 0) {
            let k = at % e * 3 / e;
            assert!((bases[k]..bases[k] + markets[k].bars.len()).contains(&(row.bar as usize)));
        }
        assert!(reports.iter().all(|r| r.loss.is_some_and(f64::is_finite) && r.skipped == 0));
    }
}

/// Members draw their actions by the seed that they have in every market.
#[test]
fn a_shared_policy_explores_by_a_softmax() {
    for device in devices() {
        let mut config = shared(&["eur", "xbt"]);
        config.learn.explore = Explore::Boltzmann;
        let mut trainer = Trainer::on(&device, DType::F32, &config, &markets(&config)).unwrap();
        let reports = trainer.epoch().unwrap();
        assert!(reports.iter().all(|r| r.loss.is_some_and(f64::is_finite)));
        let ring: Vec<Transition> = trainer.environments().read(Buffer::Ring).unwrap();
        let taken: std::collections::HashSet<_> = ring.iter().map(|row| row.action).collect();
        assert!(taken.len() > 40, "{} of 81 actions", taken.len());
    }
}

/// A shared policy over one instrument is that instrument's ordinary run, bit for bit.
#[test]
fn a_shared_policy_of_one_instrument_is_a_plain_run() {
    let device = Device::cpu();
    let config = shared(&["eur"]);
    let mut plain = config.clone();
    (plain.data.markets, plain.data.policy) = (Vec::new(), Policy::Own);
    let market = Market::prepare(bars("eur"), &plain).unwrap();
    let mut trainer = Trainer::new(&device, DType::F32, &plain, &market).unwrap();
    trainer.epoch().unwrap();
    trainer.epoch().unwrap();
    let own = learnt(&device, DType::F32, &config);
    assert!(own.iter().map(|(_, state)| state).eq(&states(&trainer, 2)));
    // And one more instrument is seen by it.
    assert!(learnt(&device, DType::F32, &shared(&["eur", "gold"]))[0].1 != own[0].1);
}

/// Bars of one instrument must not be learnt from after another's are validated or tested.
#[test]
fn a_shared_policy_knows_no_future() {
    let mut config = shared(&["eur", "xbt"]);
    (config.data.validation_from, config.data.test_from) = (String::new(), String::new());
    let error = Market::all(vec![bars("eur"), bars("xbt")], &config).unwrap_err().to_string();
    for words in [
        "data.policy: the train window of xbt lasts until",
        "validation window of eur begins",
        "data.test_from",
    ] {
        assert!(error.contains(words), "{error}");
    }
    let w = &mut config.data.walk_forward;
    (w.folds, w.train_days, w.validation_days, w.test_days) = (2, 15, 4, 4);
    let error = Market::all(vec![bars("eur"), bars("xbt")], &config).unwrap_err().to_string();
    assert!(error.contains("data.policy") && error.contains("with data.test_to"), "{error}");
    // Folds that end at one date: a population of each fold, on all instruments.
    config.data.test_to = "2020-02-05".into();
    let markets = Market::all(vec![bars("eur"), bars("xbt")], &config).unwrap();
    assert_eq!((markets.len(), config.member_ids().len()), (4, 4));
    assert_eq!(config.groups().iter().map(|g| g.markets.clone()).collect::<Vec<_>>(), [[0, 2], [1, 3]]);
    let mut trainer = Trainer::on(&Device::cpu(), DType::F32, &config, &markets).unwrap();
    assert_eq!(trainer.epoch().unwrap().len(), 4);
}

/// One set of weights holds what the next bar pays on both of two markets, one of which does the opposite of the other, on
/// bars that it has not seen.
#[test]
fn a_shared_policy_trades_both_with_the_right_sign() {
    let mut config = config(&["eur", "gold"]);
    (config.data.policy, config.population) = (Policy::Shared, 1);
    (config.seed, config.epochs) = (2, 20);
    let l = &mut config.learn;
    (l.collect, l.updates, l.batch, l.replay) = (1_024, 96, 64, 32_768);
    (l.learning_rate, l.tau, l.gamma, l.n_step, l.explore_epochs) = (1e-3, 0.02, 0.9, 1, 12.0);
    let mut turned = waves(1_700);
    turn(&mut turned);
    let markets = Market::all(vec![waves(1_700), turned], &config).unwrap();
    let mut trainer = Trainer::on(&Device::cpu(), DType::F32, &config, &markets).unwrap();
    for _ in 0..config.epochs {
        trainer.epoch().unwrap();
    }
    for market in &markets {
        let close = &market.bars.bid.close;
        let known = |bar: usize| [if close[bar + 1] > close[bar] { 8 } else { 0 }, 0, 2];
        let test = market.splits.test.clone();
        let best = play(DType::F32, &config, market, test.clone(), &Deciding::Scripted(&known));
        let greedy = play(DType::F32, &config, market, test, &Deciding::Greedy(&trainer));
        let right = |r: &&Transition| {
            let bar = r.bar as usize;
            r.after.position.signum() == (close[bar + 1] - close[bar]).signum()
        };
        let share = greedy.iter().filter(right).count() as f64 / greedy.len() as f64;
        let profit = log_return(&greedy) / log_return(&best);
        println!("sign {share:.3}, profit {profit:.3} of {:.2}", log_return(&best));
        assert!(share > 0.9 && profit > 0.7, "{share} {profit}");
    }
}
