//! Runs with several instruments: what they leave, going on after a stop, and what is said of one that can't be used.
#![allow(clippy::unwrap_used, reason = "tests")]

mod common;

use common::{assert_same, files, foxhunt, sample, train};
use foxhunt_backtest::{Backtest, TestWindow};
use foxhunt_checkpoint::{RunFolder, apply};
use foxhunt_core::DType;
use foxhunt_data::{Instrument, LoadOptions, load};
use foxhunt_device::Device;
use foxhunt_train::{Config, Market};
use serde_json::Value;
use std::{fs, path::Path};

const TWO: &str = "population = 2\n[[data.markets]]\nname = 'eur'\nfiles = ['eurusd.csv']\n[[data.markets]]\nfiles = \
                   ['gold_1.csv', 'gold_2.csv']\ninstrument = 'gold.toml'\nname = 'gold'\ntime_zone = 'Asia/Tokyo'\n";

fn json(path: &Path) -> Value {
    serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap()
}

/// Two instruments: the sample, and its later half in two files under another name.
fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    let text = sample(6000);
    let lines: Vec<&str> = text.lines().collect();
    let part = |from: usize, to: usize| [&lines[..1], &lines[from..to]].concat().join("\n") + "\n";
    fs::write(at.join("eurusd.csv"), &text).unwrap();
    fs::write(at.join("gold_1.csv"), part(3001, 4500)).unwrap();
    fs::write(at.join("gold_2.csv"), part(4500, 6001)).unwrap();
    let mut gold = foxhunt_data::presets::named("EUR/USD").unwrap();
    gold.name = "GOLD".into();
    gold.taker_fee_e7 += 100;
    fs::write(at.join("gold.toml"), gold.to_toml().unwrap()).unwrap();
    fs::write(at.join("two.toml"), TWO).unwrap();
    folder
}

#[test]
fn each_instrument_is_chosen_tested_and_put_into_one_table() {
    let folder = folder();
    let at = folder.path();
    let done = train(at, "--config two.toml --out run").works();
    let run = at.join("run");
    let choices = json(&run.join("selection.json"));
    let choices = choices.as_array().unwrap();
    let figures = json(&run.join("figures.json"));
    for (k, name) in ["eur", "gold"].into_iter().enumerate() {
        let line = done.out.lines().find(|l| l.starts_with(name)).unwrap();
        let own: Vec<&Value> = choices.iter().filter(|c| c["market"] == name).collect();
        assert_eq!((own.len(), own.iter().filter(|c| c["chosen"] == true).count()), (2, 1));
        // The table shows what the instrument's own ledger says of the member that its validation window chose.
        let chosen = own.iter().position(|c| c["chosen"] == true).unwrap();
        let ledger = foxhunt_ledger::Ledger::read(&run.join(name).join("ledger")).unwrap();
        foxhunt_ledger::reconcile(&ledger).unwrap();
        let rows = ledger.bars_of(chosen as u32);
        let grown = rows.last().unwrap().equity as f64 / rows[0].equity as f64 - 1.0;
        assert!(line.contains(&format!("{:.2} %", 100.0 * grown)) && line.contains("member"), "{line}");
        let said = figures["markets"][k]["chosen_metrics"]["total_return"].as_f64().unwrap();
        assert!((said - grown).abs() < 1e-12, "{said} and {grown}");
        // Two members, two epochs: what was tried for this instrument.
        assert_eq!(ledger.header.trials, 4);
        assert_eq!(ledger.header.instrument, ["EUR/USD", "GOLD"][k]);
        assert!(run.join(name).join("report.html").is_file());
    }
    let page = fs::read_to_string(run.join("report.html")).unwrap();
    assert!(page.contains("href=\"gold/report.html\"") && !page.contains("NaN"));
    let lines = fs::read_to_string(run.join("metrics.jsonl")).unwrap();
    assert_eq!(lines.lines().filter(|l| l.contains("\"market\":\"gold\"")).count(), 4);
    assert!(run.join("tensorboard/gold/member_000001").is_dir());

    // An instrument alone, or named in another order, has the same files.
    let alone = TWO.replace("[[data.markets]]\nname = 'eur'\nfiles = ['eurusd.csv']\n", "");
    fs::write(at.join("alone.toml"), alone).unwrap();
    train(at, "--config alone.toml --out alone").works();
    for part in ["gold/ledger", "tensorboard/gold"] {
        assert_same(&at.join("alone").join(part), &files(&run.join(part)), part);
    }
    // Compared by instrument: the members that both have are the same.
    let text = foxhunt(at, "runs compare run alone").works().out;
    for name in ["eur", "gold"] {
        assert!(text.contains(&format!("test window of {name}, mean over members")), "{text}");
    }
    let value: Value = serde_json::from_str(&foxhunt(at, "runs compare run run --json").works().out).unwrap();
    let gold = &value["against_the_first"][0]["instruments"]["gold"]["total_return"];
    assert_eq!((&gold["members"], &gold["mean"]), (&2.into(), &0.0.into()));
    let mean = value["runs"][1]["instruments"]["gold"]["total_return"]["mean"].as_f64().unwrap();
    let members = json(&run.join("gold/figures.json"))["agent"]["members"].as_array().unwrap().clone();
    let sum: f64 = members.iter().map(|m| m["metrics"]["total_return"].as_f64().unwrap()).sum();
    assert!((mean - sum / 2.0).abs() < 1e-12 && members.len() == 2);
    let weights = |run: &Path| {
        let mut all = files(&run.join("checkpoints"));
        all.retain(|name, _| name.contains(&choices[2]["member"].to_string()));
        all
    };
    assert_eq!(weights(&run).len(), 2);
    assert!(weights(&run) == weights(&at.join("alone")));
}

#[test]
fn commands_take_one_instrument_of_a_run() {
    let folder = folder();
    let at = folder.path();
    train(at, "--config two.toml --out run").works();
    let run = at.join("run");
    for what in ["act run", "verify leak run"] {
        foxhunt(at, what).fails(1, &["run has the instruments eur, gold: name one with --market"]);
    }
    foxhunt(at, "backtest run --data eurusd.csv --device cpu --out x").fails(1, &["eur, gold", "--market"]);
    // Without a name all are tested again, and stand on one page as they did.
    let all = foxhunt(at, "backtest run --device cpu --out all").works();
    assert!(all.out.contains("all together"), "{}", all.out);
    for name in ["eur", "gold"] {
        let part = format!("{name}/ledger");
        assert_same(&at.join("all").join(&part), &files(&run.join(&part)), &part);
    }
    for file in ["report.html", "figures.json"] {
        assert!(fs::read(at.join("all").join(file)).unwrap() == fs::read(run.join(file)).unwrap(), "{file}");
    }
    foxhunt(at, "act run --market silver").fails(1, &["run has no instrument silver", "eur, gold"]);
    foxhunt(at, "backtest run --market gold --device cpu --out again").works();
    assert_same(&at.join("again/ledger"), &files(&run.join("gold/ledger")), "the test again");
    let same =
        foxhunt(at, "backtest run --market gold --actions run/gold/ledger --device cpu --out replayed")
            .works();
    assert!(same.out.contains("come out as recorded"), "{}", same.out);
    let act = foxhunt(at, "act run --market gold --member 1 --device cpu").works();
    assert!(
        act.out.starts_with("GOLD, close of ") && act.out.contains("member 1 after epoch"),
        "{}",
        act.out
    );
    // Files that are named are read as the instrument's own: by its zone, in its costs.
    let own = foxhunt(at, "act run --market gold --device cpu").works().out;
    let named = "act run --market gold --device cpu --data gold_1.csv gold_2.csv";
    assert_eq!(foxhunt(at, named).works().out, own);
    assert_ne!(foxhunt(at, &format!("{named} --time-zone UTC")).works().out, own);
    let leak = foxhunt(at, "verify leak run --market gold --device cpu").works();
    assert!(leak.out.contains("nothing depends on its future: passed"), "{}", leak.out);
    let memory = foxhunt(at, "device --device cpu --memory run").works();
    assert!(memory.out.contains("P 4"), "{}", memory.out);

    let list = foxhunt(at, "runs list run").works();
    assert!(list.out.contains("finished") && list.out.contains("2 instruments"), "{}", list.out);
    let show = foxhunt(at, "runs show run").works();
    for part in ["eur: eurusd.csv, 6000 bars", "gold: gold_1.csv", "2 of each instrument", "gold, member"] {
        assert!(show.out.contains(part), "{part}: {}", show.out);
    }
    let json: Value = serde_json::from_str(&foxhunt(at, "runs show run --json").works().out).unwrap();
    let figure = |name: &str| json["markets"][name]["total_return"].as_f64().unwrap();
    assert_ne!(figure("eur"), figure("gold"));
    fs::remove_file(run.join("gold/report.html")).unwrap();
    let list = foxhunt(at, "runs list run").works();
    assert!(list.out.contains("broken") && list.out.contains("gold/report.html is missing"), "{}", list.out);

    // A run with one instrument has none to name.
    train(at, "--data eurusd.csv --out plain").works();
    foxhunt(at, "act plain --market eur").fails(1, &["leave --market eur out"]);
}

/// Stopped between two epochs and gone on with, it ends with the bytes of one that was left alone.
#[cfg(unix)]
#[test]
fn several_instruments_go_on_to_the_same_bytes() {
    go_on("--config two.toml", 8);
}

#[cfg(unix)]
#[test]
fn a_shared_policy_goes_on_to_the_same_bytes() {
    go_on(SHARED, 4);
}

/// `lines`: of the metrics, of two epochs.
#[cfg(unix)]
fn go_on(options: &str, lines: usize) {
    let folder = folder();
    let at = folder.path();
    let (whole, cut) = common::whole_and_cut(at, options, lines);
    // Another file of one instrument is refused.
    let own = fs::read(at.join("gold_2.csv")).unwrap();
    let text: String = String::from_utf8_lossy(&own).lines().take(1000).map(|l| format!("{l}\n")).collect();
    fs::write(at.join("gold_2.csv"), text).unwrap();
    foxhunt(at, "train --device cpu --resume cut")
        .fails(1, &["is not the data that the run was begun on (gold_1.csv"]);
    fs::write(at.join("gold_2.csv"), own).unwrap();
    foxhunt(at, "train --device cpu --save-every 0 --resume cut").works();
    assert_same(&cut, &files(&whole), "a run gone on with");
}

#[test]
fn instruments_walk_forward() {
    let folder = folder();
    let at = folder.path();
    let walk = "--config two.toml --set data.walk_forward.folds=2 --set data.walk_forward.validation_days=15 --set \
                data.walk_forward.test_days=15 --out run";
    let done = train(at, walk).works();
    assert_eq!(done.out.matches("the chosen of each fold").count(), 3, "{}", done.out);
    let run = at.join("run");
    for part in [
        "eur/fold_0/ledger",
        "eur/fold_1/report.html",
        "gold/fold_1/ledger",
        "gold/ledger",
        "gold/report.html",
    ] {
        assert!(run.join(part).exists(), "{part}");
    }
    let folds: Vec<Value> =
        json(&run.join("selection.json")).as_array().unwrap().iter().map(|c| c["fold"].clone()).collect();
    assert_eq!(folds, [0, 0, 1, 1, 0, 0, 1, 1]);
    assert!(foxhunt(at, "runs list run").works().out.contains("2 instruments"));
    assert!(foxhunt(at, "runs show run").works().out.contains("gold"));
    let again = foxhunt(at, "backtest run --market gold --device cpu --out again");
    assert!(again.code == 0 && again.err.contains("fold 1"), "{}", again.err);
    assert_same(&at.join("again/ledger"), &files(&run.join("gold/fold_1/ledger")), "the last fold");
}

const SHARED: &str = "--config two.toml --set data.policy=shared --set data.validation_from=2017-10-01 --set \
                      data.test_from=2017-11-01";

/// One set of weights, chosen by the mean over both validation windows and tested on each.
#[test]
fn a_policy_is_shared() {
    let folder = folder();
    let at = folder.path();
    let done = train(at, &format!("{SHARED} --out run")).works();
    let run = at.join("run");
    assert_eq!(
        fs::read_to_string(run.join("metrics.jsonl")).unwrap().lines().count(),
        4,
        "two members, two epochs"
    );
    let choices = json(&run.join("selection.json"));
    let choices = choices.as_array().unwrap();
    assert_eq!(choices.iter().map(|c| c["member"].as_u64().unwrap()).collect::<Vec<_>>(), [0, 1]);
    let chosen = choices.iter().position(|c| c["chosen"] == true).unwrap();
    let words = format!("member {chosen} after epoch {}", choices[chosen]["epoch"]);
    assert_eq!(done.out.matches(&words).count(), 2, "{}", done.out);
    for name in ["eur", "gold"] {
        let ledger = foxhunt_ledger::Ledger::read(&run.join(name).join("ledger")).unwrap();
        foxhunt_ledger::reconcile(&ledger).unwrap();
        assert_eq!((ledger.members(), ledger.header.trials), (2, 4));
    }
    let page = fs::read_to_string(run.join("report.html")).unwrap();
    assert!(page.contains("All instruments have the same members"));
    // The score is the mean of what the same weights come to on each validation window.
    let text = fs::read_to_string(run.join("config.toml")).unwrap();
    let config = Config::resolve(Some(("config.toml", &text)), None, &[]).unwrap();
    let gold = Instrument::from_toml(&fs::read_to_string(at.join("gold.toml")).unwrap()).unwrap();
    let bars = |file: &str, instrument: Option<Instrument>| {
        let time_zone = instrument.is_some().then(|| "Asia/Tokyo".to_owned());
        let options = LoadOptions { instrument, time_zone, ..Default::default() };
        load(at.join(file).to_str().unwrap(), &options).unwrap()
    };
    let both = bars("gold_1.csv", Some(gold.clone())).append(bars("gold_2.csv", Some(gold))).unwrap();
    let markets = Market::all(vec![bars("eurusd.csv", None), both], &config).unwrap();
    let device = Device::cpu();
    let saves = RunFolder::list_saves(&run).unwrap();
    for (choice, id) in choices.iter().zip([0, 1]) {
        let save = saves.iter().find(|s| Some(s.epoch()) == choice["epoch"].as_u64()).unwrap();
        let weights = save.load_weights(id).unwrap();
        let returns = markets.iter().map(|market| {
            let window = TestWindow::validation(market);
            let backtest = Backtest::new(&device, DType::F32, &config, market, window).unwrap();
            let ledger =
                backtest.agents(&[id], |runtime, net| Ok(apply(runtime, net, 0, &weights)?)).unwrap();
            ledger.bars.last().unwrap().equity as f64 / ledger.bars[0].equity as f64 - 1.0
        });
        let mean = returns.sum::<f64>() / 2.0;
        assert!((choice["validation_return"].as_f64().unwrap() - mean).abs() < 1e-15, "{choice} {mean}");
    }
    foxhunt(at, "backtest run --market gold --device cpu --out again").works();
    assert_same(&at.join("again/ledger"), &files(&run.join("gold/ledger")), "the test again");
    assert!(foxhunt(at, "act run --market gold --device cpu").works().out.contains(&words));
    foxhunt(at, "verify leak run --market eur --device cpu").works();
    let list = foxhunt(at, "runs list run").works();
    let mean = choices[chosen]["validation_return"].as_f64().unwrap();
    assert!(list.out.contains(&format!("{:.2} %", 100.0 * mean)), "{}", list.out);
    let show = foxhunt(at, "runs show run").works();
    assert!(show.out.contains("2 of all instruments") && show.out.contains("gold, member"), "{}", show.out);
    // Windows of other dates, and fewer environments than instruments.
    train(at, "--config two.toml --set data.policy=shared --out x")
        .fails(3, &["data.policy: the train window of gold"]);
    train(at, &format!("{SHARED} --set learn.envs=1 --out x")).fails(3, &["learn.envs is 1", "at least 2"]);
    train(at, "--data eurusd.csv --set data.policy=shared --out x")
        .fails(3, &["data.policy is shared", "data.markets"]);
}

#[test]
fn what_is_wrong_is_told_with_file_and_key() {
    let folder = folder();
    let at = folder.path();
    let refused = |code: i32, text: &str, more: &str, words: &[&str]| {
        fs::write(at.join("bad.toml"), text).unwrap();
        train(at, &format!("--config bad.toml {more} --out x")).fails(code, words);
        assert!(!at.join("x").exists());
    };
    let with = |from: &str, to: &str| {
        assert!(TWO.contains(from));
        TWO.replace(from, to)
    };
    refused(
        3,
        &with("'gold'\n", "'eur'\n"),
        "",
        &["bad.toml, line 8: data.markets[1].name is eur, as is data.markets[0]'s"],
    );
    refused(
        3,
        &with("instrument =", "instrumnt ="),
        "",
        &["data.markets[1]: there is no key 'instrumnt': did you mean instrument?"],
    );
    refused(3, &with("'gold.toml'", "'XYZ/ABC/D'"), "", &["data.markets[1] (gold, gold_1.csv)", "XYZ/ABC/D"]);
    refused(3, &with("'gold_2.csv'", "'gold_3.csv'"), "", &["data.markets[1] (gold", "gold_3.csv"]);
    refused(3, TWO, "--data eurusd.csv", &["--data and data.markets both name files"]);
    fs::write(at.join("short.csv"), sample(150)).unwrap();
    refused(
        3,
        &with("'gold_1.csv', 'gold_2.csv'", "'short.csv'"),
        "",
        &["data.markets[1] (gold, short.csv)"],
    );
    refused(
        3,
        TWO,
        "--set data.validation_from=2017-03-01 --set data.test_from=2017-03-20",
        &["data.markets[1] (gold, gold_1.csv)", "data.validation_from", "2017-03-01"],
    );
    refused(3, TWO, "--set market.leverage=1000", &["data.markets[0] (eur", "market.leverage is 1000"]);
    // Files of two instruments are not one.
    fs::copy(at.join("gold_2.csv"), at.join("GBPUSD.csv")).unwrap();
    train(at, "--data eurusd.csv GBPUSD.csv --out x").fails(3, &["GBPUSD.csv", "data.markets"]);
    let set = "--set data.markets=[{files=['eurusd.csv']}]";
    foxhunt(at, &format!("features {set} --out x.parquet"))
        .fails(1, &["takes one instrument", "data.markets"]);
}

/// The account of each instrument is its own where its table says so, and the report and the rules tell of it.
#[test]
fn each_instrument_may_have_its_own_costs_and_cash() {
    let folder = folder();
    let at = folder.path();
    let own = format!("{TWO}market = {{start_cash = 50000, taker_fee_bp = 3, half_spread_bp = 1}}\n");
    fs::write(at.join("own.toml"), own).unwrap();
    let done = train(at, "--config own.toml --set data.markets.eur.market.stop_atr=4 --out run").works();
    let run = at.join("run");
    let header = |name: &str| foxhunt_ledger::Ledger::read(&run.join(name).join("ledger")).unwrap().header;
    let (eur, gold) = (header("eur"), header("gold"));
    assert_eq!((gold.rates.taker_e7, gold.start_cash), (3_000, 50_000 * 10_i64.pow(gold.money_exponent)));
    assert_eq!((eur.rates.taker_e7, eur.start_cash), (200, 100_000 * 10_i64.pow(eur.money_exponent)));
    let says = |header: &foxhunt_ledger::LedgerHeader, words: &str| {
        header.assumptions.iter().any(|a| a.contains(words))
    };
    assert!(says(&gold, "Half the spread is 1 bp of the close, at least 0 price units and 0 % of ATR24"));
    assert!(says(&eur, "A stop stands 4 ATRs") && says(&gold, "No stop is set"));
    // Parts of different size are no equal parts, which is said where the account would stand.
    let why = "EUR/USD begins with 100000 USD and GOLD with 50000";
    assert!(done.out.contains(&format!("no account through all instruments: {why}")), "{}", done.out);
    assert!(fs::read_to_string(run.join("report.html")).unwrap().contains(why));
    // The account is the instrument's own wherever the run is used again.
    foxhunt(at, "backtest run --market gold --device cpu --out again").works();
    assert_same(&at.join("again/ledger"), &files(&run.join("gold/ledger")), "the test again");
    let act = foxhunt(at, "act run --market gold --device cpu").works();
    assert!(act.out.contains("equity 50000.00 USD (the starting cash)"), "{}", act.out);
    foxhunt(at, "verify leak run --market gold --device cpu").works();
    train(at, "--config own.toml --set data.markets.silver.market.leverage=1 --out x")
        .fails(3, &["silver", "name one of the instruments eur, gold"]);
}

/// Equal parts of the capital in each instrument: the sum of their ledgers, in every figure that is told of it.
#[test]
fn an_account_goes_through_all_instruments() {
    let folder = folder();
    let at = folder.path();
    let done = train(at, &format!("{SHARED} --out run")).works();
    let run = at.join("run");
    let ledgers =
        ["eur", "gold"].map(|name| foxhunt_ledger::Ledger::read(&run.join(name).join("ledger")).unwrap());
    let account = &json(&run.join("figures.json"))["account"];
    let members = account["members"].as_array().unwrap();
    assert_eq!((members.len(), account["baselines"].as_array().unwrap().len()), (2, 4));
    for (m, member) in members.iter().enumerate() {
        let of = |k: usize| {
            ledgers
                .iter()
                .map(|l| l.bars_of(m as u32))
                .map(|rows| rows[k.min(rows.len() - 1)].equity)
                .sum::<i64>()
        };
        let (start, end) = (of(0), of(usize::MAX));
        assert_eq!(member["attribution"]["change_in_equity"], end - start);
        let told = member["metrics"]["total_return"].as_f64().unwrap();
        assert!((told - (end as f64 / start as f64 - 1.0)).abs() < 1e-12);
    }
    let chosen = members.iter().find(|m| m["label"] == account["shown"]).unwrap();
    let line = done.out.lines().find(|l| l.starts_with("all together")).unwrap();
    let grown = 100.0 * chosen["metrics"]["total_return"].as_f64().unwrap();
    assert!(line.contains(&format!("{grown:.2} %")), "{line}");
    // Costs as they are give the same account again, and dearer ones a poorer one, which the terminal tells last.
    let stress = account["stress"].as_array().unwrap();
    assert_eq!((stress.len(), &stress[1]["key"]), (7, &"costs_1".into()));
    assert_eq!(stress[1]["members"][0]["metrics"], chosen["metrics"]);
    let of = |k: usize| stress[k]["members"][0]["metrics"]["total_return"].as_f64().unwrap();
    assert!(of(0) > of(1) && of(1) > of(2) && of(2) > of(3), "{stress:?}");
    let told = done.out.lines().find(|l| l.starts_with("costs × 3")).unwrap();
    assert!(told.ends_with(&format!("{:.2} %", 100.0 * of(3))), "{told}");
}

/// Whoever was ruined has figures of a shorter stretch, which the table across instruments says.
#[test]
fn ruin_is_told_in_the_table_across_instruments() {
    let folder = folder();
    let at = folder.path();
    let dear = "--set data.markets.gold.market.taker_fee_bp=1000 --set data.markets.gold.market.ruin=0.9";
    let done = train(at, &format!("--config two.toml {dear} --out run")).works();
    let chosen = json(&at.join("run/selection.json"));
    let mut own = chosen.as_array().unwrap().iter().filter(|c| c["market"] == "gold");
    let member = own.position(|c| c["chosen"] == true).unwrap() as u32;
    let ledger = foxhunt_ledger::Ledger::read(&at.join("run/gold/ledger")).unwrap();
    let gold = ledger.ruined(member).unwrap();
    assert_eq!(gold + 1, ledger.bars_of(member).len());
    let ends = |out: &str, begin: &str| out.lines().find(|l| l.starts_with(begin)).unwrap().to_owned();
    let across = &done.out[done.out.find("instrument ").unwrap()..];
    let said = format!("  ruined at bar {gold}");
    assert!(ends(across, "gold ").ends_with(&said) && !ends(across, "eur ").contains("ruined"), "{across}");
    assert!(ends(across, "all together").ends_with("  1 of 2 ruined"), "{across}");
    let again = foxhunt(at, "backtest run --device cpu --out again").works();
    assert!(ends(&again.out, "gold ").ends_with(&said), "{}", again.out);
}

/// Anyone's targets for several instruments, in one file.
#[test]
fn positions_of_several_instruments_are_tested_at_once() {
    let folder = folder();
    let at = folder.path();
    let stamps: Vec<String> =
        sample(6000).lines().skip(1).map(|l| l.split(',').next().unwrap().to_owned()).collect();
    let mut text = "stamp,market,exposure\n".to_owned();
    for (k, stamp) in stamps.iter().enumerate().skip(3_500).step_by(40) {
        text.push_str(&format!(
            "{stamp},eur,{}\n{stamp},gold,{}\n",
            [1.0, -0.3][k / 40 % 2],
            [0.0, 0.5][k / 40 % 2]
        ));
    }
    fs::write(at.join("both.csv"), &text).unwrap();
    let alone = "backtest --positions both.csv --config two.toml --device cpu --out both";
    let done = foxhunt(at, alone).works();
    assert!(done.out.contains("all together") && done.out.contains("both.csv"), "{}", done.out);
    let ledgers = ["eur", "gold"]
        .map(|name| foxhunt_ledger::Ledger::read(&at.join("both").join(name).join("ledger")).unwrap());
    for ledger in &ledgers {
        foxhunt_ledger::reconcile(ledger).unwrap();
    }
    assert!(ledgers[0].bars[1].position < 0 && ledgers[1].bars[1].position > 0);
    let account = &json(&at.join("both/figures.json"))["account"];
    let gains: i64 = ledgers.iter().map(|l| l.bars.last().unwrap().equity - l.bars[0].equity).sum();
    assert_eq!(account["members"][0]["attribution"]["change_in_equity"], gains);
    // In a run, all of its instruments or one.
    train(at, "--config two.toml --out run").works();
    for more in ["--out inside", "--market gold --out gold"] {
        let done = foxhunt(at, &format!("backtest run --positions both.csv --device cpu {more}"));
        assert!(done.code == 0 && done.err.contains("lie before the first decision"), "{}", done.err);
    }
    assert_same(&at.join("gold/ledger"), &files(&at.join("inside/gold/ledger")), "one of them");
    for (from, to, words) in [
        ("gold", "silver", &["both.csv, line 3, field market", "name one of eur, gold"][..]),
        ("market", "which", &["both.csv, line 1", "stamp,market,exposure"]),
    ] {
        fs::write(at.join("both.csv"), text.replace(from, to)).unwrap();
        foxhunt(at, &alone.replace("--out both", "--out x")).fails(3, words);
    }
    // What is wrong with the second is found before the first is tested: no targets, or none in time.
    let none: String = text.lines().filter(|l| !l.contains("gold")).map(|l| format!("{l}\n")).collect();
    let late = format!("{none}{},gold,1\n", stamps[stamps.len() - 1]);
    for (text, words) in [(&none, "both.csv: holds no target of gold"), (&late, "gold")] {
        fs::write(at.join("both.csv"), text).unwrap();
        for args in [alone.to_owned(), "backtest run --positions both.csv --device cpu --out both".into()] {
            let done = foxhunt(at, &args.replace("--out both", "--out x")).fails(3, &[words]);
            assert!(!at.join("x").exists() && done.out.is_empty(), "{}", done.err);
        }
    }
}

/// Each instrument has a comparison of its own; a shared policy has one, of its mean over them.
#[test]
fn several_instruments_are_compared() {
    let folder = folder();
    let at = folder.path();
    let small = "--arms f32,stochastic --members 2 --every 1 --device cpu --epochs 1 --set learn.envs=8 --set learn.collect=64 \
                 --set learn.updates=2 --set learn.batch=16 --set learn.replay=256 --set learn.episode_bars=64";
    let compare = |more: &str| {
        let done = foxhunt(at, &format!("compare {more}"));
        assert_eq!(done.code, 0, "{}", done.err);
    };
    compare(&format!("--config two.toml {small} --out own"));
    let read = |path: &str| json(&at.join(path));
    let sharpe = |c: &Value, arm: usize, m: usize| c["arms"][arm]["summaries"][0]["values"][m].clone();
    let (eur, gold) = (read("own/eur/compare.json"), read("own/gold/compare.json"));
    assert_eq!((&eur["setting"]["market"], &gold["setting"]["market"]), (&"EUR/USD".into(), &"GOLD".into()));
    assert!(sharpe(&eur, 0, 1).is_f64() && sharpe(&eur, 0, 1) != sharpe(&gold, 0, 1));
    // Alone in the file an instrument has the same members.
    let alone = TWO.replace("[[data.markets]]\nname = 'eur'\nfiles = ['eurusd.csv']\n", "");
    fs::write(at.join("alone.toml"), alone).unwrap();
    compare(&format!("--config alone.toml {small} --out alone"));
    assert_eq!(sharpe(&read("alone/gold/compare.json"), 0, 1), sharpe(&gold, 0, 1));
    let shared = SHARED.replace("--config two.toml ", "");
    compare(&format!("--config two.toml {shared} {small} --out shared"));
    let shared = read("shared/compare.json");
    assert_eq!(shared["setting"]["market"], "EUR/USD, GOLD");
    assert!(sharpe(&shared, 0, 0).is_f64() && sharpe(&shared, 1, 1).is_f64());
    assert!(at.join("shared/compare.html").is_file());
}
