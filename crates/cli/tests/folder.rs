//! A folder of runs as `foxhunt runs` tells of it: whole, stopped, running, damaged in every file.
#![allow(clippy::unwrap_used, reason = "tests")]

mod common;

use common::{files, finished, foxhunt, sample, train};
use serde_json::Value;
use std::fs;

fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap()
}

#[test]
fn runs_are_listed_sorted_and_filtered() {
    let (folder, run) = finished();
    let at = folder.path();
    train(at, "--data eurusd.csv --population 2 --set learn.gamma=0.9 --out deep/er/second").works();
    let before = files(at);
    let list = |args: &str| foxhunt(at, &format!("runs list . {args}")).works().out;

    let table = list("");
    let lines: Vec<&str> = table.lines().collect();
    assert_eq!(lines.len(), 3, "{table}");
    assert!(
        lines[0].starts_with("run")
            && lines[1].starts_with("./deep/er/second")
            && lines[2].starts_with("./run")
    );
    for word in ["finished", "eurusd.csv", "CPU", "f32", "2/2", " %"] {
        assert!(lines[1].contains(word) && lines[2].contains(word), "{word}: {table}");
    }
    // What is listed is what the files say.
    let all = json(&list("--json"));
    let one = &all[1];
    let figures = json(&fs::read_to_string(run.join("figures.json")).unwrap());
    let choice = json(&fs::read_to_string(run.join("selection.json")).unwrap());
    assert_eq!((&one["state"], &one["epochs_done"]), (&"finished".into(), &2.into()));
    assert_eq!(one["selection"][0]["test"], figures["agent"]["members"][0]["metrics"]);
    assert_eq!(one["selection"][0]["validation_return"], choice[0]["validation_return"]);
    assert_eq!(one["test_window_ns"][1], figures["window"]["end_ns"]);
    let bytes: usize = files(&run).values().map(Vec::len).sum();
    assert_eq!(one["bytes"], bytes);

    let names = |args: &str| -> Vec<String> {
        let all = json(&list(&format!("{args} --json")));
        all.as_array().unwrap().iter().map(|r| r["run"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(names("--reverse"), ["./run", "./deep/er/second"]);
    assert_eq!(names("--where learn.gamma=0.90"), ["./deep/er/second"]);
    assert_eq!(names("--where learn.weights=plain --where population=1"), ["./run"]);
    assert_eq!(names("--data EURUSD --state finished,broken").len(), 2);
    assert!(names("--state running").is_empty());
    for column in ["validation", "return", "sharpe", "size", "time", "epochs", "data", "state"] {
        let up = names(&format!("--sort {column}"));
        assert_eq!(up.len(), 2, "{column}");
    }
    let size = names("--sort size");
    assert_eq!(size, ["./run", "./deep/er/second"], "two members take more");
    assert_eq!(list("--data btc").trim(), "none of the 2 runs in . is what was asked for");

    foxhunt(at, "runs list . --where learn.gama=1")
        .fails(3, &["no key 'learn.gama'", "did you mean learn.gamma?"]);
    foxhunt(at, "runs list . --where gamma").fails(3, &["key=value"]);
    foxhunt(at, "runs list").fails(3, &["there is no folder runs", "check the path"]);
    foxhunt(at, "runs list eurusd.csv").fails(3, &["eurusd.csv is a file", "name the folder"]);
    foxhunt(at, "runs show eurusd.csv").fails(3, &["eurusd.csv is a file"]);
    fs::create_dir(at.join("empty")).unwrap();
    assert!(foxhunt(at, "runs list empty").works().out.contains("no runs in empty; make one"));
    fs::remove_dir(at.join("empty")).unwrap();
    assert_eq!(files(at), before, "looking changes nothing");
}

/// Damage in any file is a line of the table; the other runs are there.
#[test]
fn a_damaged_run_is_a_line() {
    for (file, text, says) in [
        ("run.json", None, "it has no run.json"),
        ("run.json", Some("{"), "not as foxhunt wrote it"),
        ("config.toml", Some("seed = 2"), "changed since the run was made"),
        ("config.toml", None, "config.toml"),
        ("setting.json", Some("{}"), "setting.json is damaged"),
        ("setting.json", None, "setting.json is missing"),
        ("selection.json", Some("[1]"), "selection.json is not as foxhunt wrote it"),
        ("selection.json", None, "selection.json is missing"),
        ("figures.json", Some("{}"), "figures.json: it names no format"),
        ("figures.json", Some("\u{0}"), "figures.json is not as foxhunt wrote it"),
        ("metrics.jsonl", Some(""), "metrics.jsonl is damaged"),
        ("finished.json", Some("x"), "finished.json"),
        ("report.html", None, "report.html is missing"),
        ("checkpoints/epoch_000002/save.json", Some("{}"), "epoch 2 is damaged"),
    ] {
        let (folder, run) = finished();
        match text {
            Some(text) => fs::write(run.join(file), text).unwrap(),
            None => fs::remove_file(run.join(file)).unwrap(),
        }
        let done = foxhunt(folder.path(), "runs list .").works();
        let lines: Vec<&str> = done.out.lines().collect();
        assert!(lines[1].starts_with("./run") && lines[1].contains("broken"), "{file}: {}", done.out);
        assert!(lines.last().unwrap().contains(says), "{file}: {says} is not in {}", done.out);
        let shown = foxhunt(folder.path(), "runs show run").works();
        assert!(shown.out.contains("broken") && shown.out.contains(says), "{file}: {}", shown.out);
    }
}

#[cfg(unix)]
#[test]
fn a_run_in_use_is_running_and_a_stopped_one_stopped() {
    let (folder, run) = finished();
    let state = || json(&foxhunt(folder.path(), "runs list . --json").works().out)[0]["state"].clone();
    let lock = fs::File::open(run.join("lock")).unwrap();
    lock.try_lock().unwrap();
    assert_eq!(state(), "running");
    drop(lock);
    // Another test's child holds it too, from its fork until it runs a program of its own.
    let freed = (0..100).any(|_| {
        std::thread::sleep(std::time::Duration::from_millis(20));
        state() == "finished"
    });
    assert!(freed, "the run is still {}", state());
    for file in ["finished.json", "selection.json", "figures.json"] {
        fs::remove_file(run.join(file)).unwrap();
    }
    assert_eq!(state(), "stopped");
    let shown = foxhunt(folder.path(), "runs show run").works().out;
    assert!(shown.contains("epochs 2 of 2") && !shown.contains("Sharpe"), "{shown}");
}

#[test]
fn a_run_is_shown() {
    let (folder, run) = finished();
    let shown = foxhunt(folder.path(), "runs show run").works().out;
    for words in [
        "eurusd.csv, 6000 bars, SHA-256 ",
        "differs from the defaults of size small",
        "learn.collect  1024",
        "not 16384",
        "15.0 % of the bars: 20",
        "chosen",
        "member 0 *",
        "buy and hold",
        "Sharpe, per bar",
        "checkpoints/",
    ] {
        assert!(shown.contains(words), "{words} is not in {shown}");
    }
    assert!(!shown.contains("Profit factor"));
    assert!(foxhunt(folder.path(), "runs show run --all").works().out.contains("Profit factor"));
    let value = json(&foxhunt(folder.path(), "runs show run --json").works().out);
    assert_eq!((&value["size"], &value["changed"]["learn.updates"]), (&"small".into(), &"8".into()));
    let figures = json(&fs::read_to_string(run.join("figures.json")).unwrap());
    assert_eq!(value["selection"][0]["test"], figures["agent"]["members"][0]["metrics"]);
}

/// Pairs are members of equal id, whatever their place; other data pairs nothing.
#[test]
fn runs_are_compared_by_member() {
    let (folder, _) = finished();
    let at = folder.path();
    train(at, "--data eurusd.csv --population 3 --out a").works();
    train(at, "--data eurusd.csv --set members=[2,1] --set population=2 --set learn.tau=0.5 --out b").works();
    let value = json(&foxhunt(at, "runs compare a b --json").works().out);
    assert_eq!(value["differs"]["learn.tau"], serde_json::json!(["0.005", "0.5"]));
    let against = &value["against_the_first"][0];
    assert_eq!(
        (&against["comparable"], &against["paired"]["total_return"]["members"]),
        (&true.into(), &2.into())
    );
    let of = |run: &str, member: usize| {
        let figures = json(&fs::read_to_string(at.join(run).join("figures.json")).unwrap());
        figures["agent"]["members"][member]["metrics"]["total_return"].as_f64().unwrap()
    };
    let differences = [of("b", 0) - of("a", 2), of("b", 1) - of("a", 1)];
    let mean = (differences[0] + differences[1]) / 2.0;
    let pair = &against["paired"]["total_return"];
    assert!((pair["mean"].as_f64().unwrap() - mean).abs() < 1e-15, "{pair}");
    // Student's 97.5 % quantile of one degree of freedom times sd / √2, which is half their distance.
    let half = 12.706_205 * (differences[0] - differences[1]).abs() / 2.0;
    assert!((pair["high"].as_f64().unwrap() - mean - half).abs() < 1e-9, "{pair}");
    let text = foxhunt(at, "runs compare a b").works().out;
    assert!(
        text.contains("B - A, paired") && text.contains("learn.tau") && !text.contains("warning"),
        "{text}"
    );

    fs::write(at.join("other.csv"), sample(5000)).unwrap();
    train(at, "--data other.csv --instrument EUR/USD --out c").works();
    let text = foxhunt(at, "runs compare a c b").works().out;
    assert!(
        text.contains("warning: figures of A and B are not comparable: they were trained on other data"),
        "{text}"
    );
    assert!(
        text.contains("their test windows differ (")
            && text.contains("C - A, paired")
            && !text.contains("B - A")
    );
    let value = json(&foxhunt(at, "runs compare a c --json").works().out);
    assert_eq!(value["against_the_first"][0]["comparable"], false);
    assert!(value["against_the_first"][0]["paired"].as_object().unwrap().is_empty());
    foxhunt(at, "runs compare a").fails(2, &["2"]);
    foxhunt(at, "runs compare a nowhere").fails(3, &["there is no folder nowhere"]);
    foxhunt(at, "runs compare a .").fails(3, &["run.json"]);
}

/// The printed file is one that train takes, and the schema is JSON.
#[test]
fn the_configuration_is_printed() {
    let (folder, run) = finished();
    let text = foxhunt(folder.path(), "config default").works().out;
    fs::write(folder.path().join("own.toml"), &text).unwrap();
    train(folder.path(), "--data eurusd.csv --config own.toml --out again").works();
    let of = |run: &std::path::Path| fs::read_to_string(run.join("config.toml")).unwrap();
    assert_eq!(of(&folder.path().join("again")), of(&run));
    assert!(foxhunt(folder.path(), "config default --size bench").works().out.contains("batch = 4096"));
    let schema = json(&foxhunt(folder.path(), "config schema").works().out);
    assert_eq!(schema["properties"]["learn"]["properties"]["batch"]["default"], 64);
}
