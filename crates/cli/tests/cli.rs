//! What a user meets: help, exit codes, and messages that say what is wrong and what to do.
#![allow(clippy::unwrap_used, reason = "tests")]

mod common;

use common::{command, files, finished, foxhunt, sample, train};
use std::{fs, io::Read, process::Stdio};

/// The help of every command is what it was: whoever changes it changes this snapshot.
#[test]
fn help_of_every_command() {
    let folder = tempfile::tempdir().unwrap();
    let mut all = String::new();
    for name in [
        "",
        "train",
        "backtest",
        "act",
        "compare",
        "verify",
        "verify leak",
        "verify learn",
        "verify money",
        "verify known",
        "data",
        "data inspect",
        "features",
        "data convert",
        "runs",
        "runs list",
        "runs show",
        "runs compare",
        "config",
        "config default",
        "config schema",
        "device",
        "completions",
        "reference",
        "bench",
        "bench step",
        "bench collect",
        "bench epoch",
        "bench backtest",
        "bench machine",
    ] {
        let help = foxhunt(folder.path(), &format!("{name} --help")).works();
        all.push_str(&format!("$ foxhunt {name} --help\n{}\n", help.out));
    }
    insta::assert_snapshot!("help", all);
}

#[test]
fn wrong_usage_exits_with_2() {
    let folder = tempfile::tempdir().unwrap();
    for (args, word) in [
        ("", "Usage"),
        ("nothing", "unrecognized"),
        ("train --nothing", "--nothing"),
        ("train --device gpu", "cuda:n"),
        ("train --dtype f16", "use auto, bf16 or f32"),
        ("verify known --dtype f16", "use auto, bf16 or f32"),
        ("train --size huge", "small, study or bench"),
        ("train --seed -1", "give a whole number from 0 to 9223372036854775807"),
        ("compare --seed -1", "give a whole number from 0"),
        ("verify known --seed -1", "give a whole number from 0"),
        ("verify known --seed 9223372036854775808", "give a whole number from 0"),
        ("verify known --epochs -1", "from 1 to 1000000"),
        ("train --epochs -1", "give a whole number, such as 30"),
        ("compare --epochs -1", "give a whole number, such as 30"),
        ("compare --slice -1", "from 1 to 4096"),
        ("compare --every 0", "from 1 to 4294967295"),
        ("compare --members -1", "give a number of members"),
        ("data inspect --bar-seconds -1", "from 1 to 4294967295"),
        ("act run --member -1", "give a whole number"),
        ("act run --position 1.5", "give a whole number from -2147483648"),
        ("act run --equity -1", "above 0"),
        ("train --seed 18446744073709551615", "9223372036854775807"),
        ("train --save-every inf", "minutes"),
        ("train --save-every nan", "minutes"),
        ("train --save-every -1", "--save-every"),
        ("train --save-every 1e300", "minutes"),
        ("train --resume x --out y", "--resume"),
        ("backtest", "RUN"),
        ("backtest run --positions p.csv --actions l --out x", "--actions"),
        ("act", "<RUN>"),
        ("act run --equity 0", "above 0"),
        ("device --only adamw", "--check"),
        ("device --json", "--memory"),
        ("device --check --memory run", "--memory"),
        ("bench step --memory --steps 3", "--memory"),
        ("bench step --batch -1", "from 1 to 1048576"),
        ("bench step --batch 0", "whole number from 1 to"),
        ("bench step --population 0", "whole number from 1 to"),
        ("bench step --rows 0", "whole number from 2 to"),
        ("bench step --steps 0", "whole number from 1 to"),
        ("bench step --repetitions 0", "whole number from 1 to"),
        ("bench step --soak 0", "whole number from 1 to"),
        ("bench step --soak 9 --memory", "--memory"),
        ("bench collect --network large", "peers, bench or small"),
        ("bench collect --envs 0", "whole number from 1 to"),
        ("bench epoch --size huge", "small, study or bench"),
        ("bench backtest --bars 0", "whole number from 1 to"),
        ("bench machine --matrix 0", "whole number from 1 to"),
    ] {
        foxhunt(folder.path(), args).fails(2, &[word]);
    }
    assert!(files(folder.path()).is_empty());
}

/// Each workload prints a table, or one object a line with where it ran.
#[test]
fn workloads_print_tables_and_lines() {
    let folder = tempfile::tempdir().unwrap();
    let quick = "--device cpu --repetitions 1";
    for (name, sizes) in [
        ("machine", "--copy 1 --matrix 64"),
        ("step", "--batch 8 --rows 64 --steps 1"),
        ("collect", "--envs 4 --network small --bars 4096 --steps 1"),
        ("epoch", "--set learn.updates=1 --set learn.collect=64 --set learn.replay=256 --bars 4096"),
        ("backtest", "--members 2 --bars 8 --network small"),
    ] {
        let table = foxhunt(folder.path(), &format!("bench {name} {quick} {sizes}")).works();
        let (notes, lines): (Vec<&str>, Vec<&str>) =
            table.out.lines().partition(|l| l.starts_with("of copy: "));
        assert_eq!(lines.len(), 3, "device, titles, one line: {}", table.out);
        assert_eq!(notes.len(), usize::from(name != "machine"), "{}", table.out);
        let json = foxhunt(folder.path(), &format!("bench {name} {quick} {sizes} --json")).works();
        let line: serde_json::Value = serde_json::from_str(json.out.trim()).unwrap();
        assert_eq!(line["workload"], name);
        assert!(line["device"].as_str().unwrap().starts_with("CPU"), "{line}");
        assert!(line["commit"].is_null() || line["commit"].as_str().unwrap().len() >= 7, "{line}");
    }
    // What changes nothing is told, and what can't be timed is not given another's time.
    let size = "--device cpu --batch 8 --rows 64 --steps 1 --repetitions 1";
    let tf32 = foxhunt(folder.path(), &format!("bench step --tf32 {size}"));
    assert_eq!((tf32.code, tf32.err.as_str()), (0, "note: --tf32 changes nothing on a CPU\n"));
    for more in ["", "--memory", "--dtype f32 --tf32"] {
        let size = if more == "--memory" { "--device cpu --batch 8" } else { size };
        let mma = foxhunt(folder.path(), &format!("bench step --mma {size} {more}"));
        let mma = mma.fails(1, &["--mma needs an NVIDIA GPU of Ampere or later, and the device is CPU"]);
        assert!(!mma.out.contains("us/step"), "{}", mma.out);
    }
    let soak = foxhunt(folder.path(), "bench step --device cpu --batch 8 --rows 64 --soak 20 --json").works();
    let line: serde_json::Value = serde_json::from_str(soak.out.trim()).unwrap();
    assert_eq!((&line["workload"], line["steps"].as_u64()), (&"soak".into(), Some(20)));
    assert_eq!(line["allocated"][0], line["allocated"][1]);
    assert!(files(folder.path()).is_empty());
}

/// A configuration that can't work is refused before there is a folder, by the name of its key.
#[test]
fn every_number_has_its_range() {
    let folder = tempfile::tempdir().unwrap();
    let huge = "99999999999999999999";
    let counts = [
        "population",
        "epochs",
        "network.lookback",
        "network.inputs",
        "network.stream",
        "network.atoms",
        "learn.envs",
        "learn.collect",
        "learn.updates",
        "learn.batch",
        "learn.replay",
        "learn.episode_bars",
        "learn.n_step",
    ];
    let reals = [
        "data.train_share",
        "data.validation_share",
        "network.v_max",
        "learn.gamma",
        "learn.learning_rate",
        "learn.beta1",
        "learn.beta2",
        "learn.epsilon",
        "learn.weight_decay",
        "learn.clip",
        "learn.tau",
        "learn.explore_start",
        "learn.explore_end",
        "learn.temperature_start",
        "learn.temperature_end",
        "learn.explore_epochs",
        "market.leverage",
        "market.participation_cap",
        "market.ruin",
        "market.stop_atr",
        "market.start_cash",
    ];
    let mut cases: Vec<(String, String)> = Vec::new();
    for key in counts {
        for value in ["0", "-1", "4294967295", "9223372036854775807", huge, "1.5", "nan", "true", "'1'"] {
            // Whole floats are floats, and long runs are a matter of patience.
            cases.push((key.into(), value.into()));
        }
    }
    for key in reals {
        for value in ["nan", "inf", "-inf", "-1", "1e300", "-1e-300", "1e-300", "true", "[1]"] {
            // These may be as small as one likes.
            let small = ["learn.beta1", "learn.beta2", "learn.weight_decay", "learn.explore_start"]
                .into_iter()
                .chain(["learn.explore_end", "learn.explore_epochs"])
                .any(|k| k == key);
            if !(small && value == "1e-300") {
                cases.push((key.into(), value.into()));
            }
        }
    }
    for (key, value) in [
        ("data.train_share", "0"),
        ("data.validation_share", "0"),
        ("data.train_share", "0.85"),
        ("network.inputs", "24"),
        ("network.inputs", "65"),
        ("network.lookback", "4097"),
        ("network.lookback", "3"),
        ("network.trunk", "[0, 128]"),
        ("network.trunk", "[128, 8192]"),
        ("network.trunk", "[128]"),
        ("network.trunk", "[-1, 128]"),
        ("network.stream", "48"),
        ("network.v_max", "0"),
        ("learn.collect", "1000"),
        ("learn.replay", "64"),
        ("learn.replay", "1000"),
        ("learn.gamma", "1"),
        ("learn.gamma", "0"),
        ("learn.learning_rate", "0"),
        ("learn.beta1", "1"),
        ("learn.epsilon", "0"),
        ("learn.tau", "0"),
        ("learn.tau", "1.1"),
        ("learn.clip", "1e-9"),
        ("market.leverage", "31"),
        ("market.leverage", "1001"),
        ("market.band_bp", "-1"),
        ("market.band_bp", "10001"),
        ("market.band_bp", huge),
        ("market.participation_cap", "0"),
        ("market.ruin", "0"),
        ("market.ruin", "1"),
        ("market.start_cash", "1e14"),
        ("members", "[1, 2]"),
        ("members", "[-1]"),
        ("seed", "-1"),
        ("seed", huge),
        ("seed", "1.0"),
    ] {
        cases.push((key.into(), value.into()));
    }
    for (key, value) in &cases {
        let output = command(folder.path())
            .args(["train", "--device", "cpu", "--out", "run", "--set", &format!("{key}={value}")])
            .output()
            .unwrap();
        let name = key.rsplit('.').next().unwrap();
        common::Done::new(&output, format!("--set {key}={value}")).fails(3, &[name]);
        assert!(!folder.path().join("run").exists(), "--set {key}={value} left a folder");
    }
    // The same from a file, which is named.
    fs::write(folder.path().join("a.toml"), "[learn]\ngamma = nan\n").unwrap();
    foxhunt(folder.path(), "train --config a.toml")
        .fails(3, &["a.toml", "learn.gamma is NaN", "0.0001 to 0.99999"]);
}

#[test]
fn more_memory_than_there_is_is_refused_at_once() {
    let folder = tempfile::tempdir().unwrap();
    let words = ["does not fit into memory", "learn.replay"];
    train(folder.path(), "--set population=4096 --set learn.replay=268435456 --out run").fails(3, &words);
    let words = ["does not fit into memory", "learn.batch"];
    train(folder.path(), "--set population=4096 --set learn.batch=1048576 --out run").fails(3, &words);
    assert!(files(folder.path()).is_empty());
}

#[test]
fn unknown_keys_and_wrong_types_are_named() {
    let folder = tempfile::tempdir().unwrap();
    for (set, words) in [
        ("epochz=1", ["there is no key 'epochz'", "epochs"]),
        ("learn.gama=1", ["there is no key 'learn.gama'", "gamma"]),
        ("learn.gamma.x=1", ["there is no key 'learn.gamma.x'", "learn.gamma is a value"]),
        ("learn=1", ["learn is a group of keys", "gamma"]),
        ("gamma", ["key=value", "gamma"]),
        ("size=bench", ["there is no key 'size'", "--size"]),
        ("data.files=x.csv", ["data.files is \"x.csv\"", "must be a list"]),
    ] {
        foxhunt(folder.path(), &format!("train --set {set}")).fails(3, &words);
    }
    // What is wrong with an option is not said of the file beside it.
    fs::write(folder.path().join("a.toml"), "epochs = 2").unwrap();
    for (option, place) in [
        ("--set learn.gamma=2", "foxhunt: --set learn.gamma=2: learn.gamma"),
        ("--set learn.weights=wide", "foxhunt: --set learn.weights=wide: "),
        ("--population 0", "foxhunt: --population 0: population"),
    ] {
        let done = foxhunt(folder.path(), &format!("train --config a.toml {option}")).fails(3, &[place]);
        assert!(!done.err.contains("a.toml"), "{}", done.err);
    }
    for (text, words) in [
        ("epochz = 1", ["a.toml", "epochz"]),
        ("[learn]\ngama = 1", ["a.toml", "gama"]),
        ("[learning]\ngamma = 1", ["a.toml", "learning"]),
        ("epochs = \"many\"", ["a.toml", "epochs"]),
        ("size = \"huge\"", ["a.toml", "size"]),
        ("epochs = ", ["a.toml", "not TOML"]),
        ("data = 3", ["a.toml", "data"]),
    ] {
        fs::write(folder.path().join("a.toml"), text).unwrap();
        foxhunt(folder.path(), "train --config a.toml").fails(3, &words);
    }
    fs::write(folder.path().join("a.toml"), [0xff, 0xfe, 0]).unwrap();
    foxhunt(folder.path(), "train --config a.toml").fails(3, &["a.toml"]);
    foxhunt(folder.path(), "train --config none.toml").fails(3, &["none.toml", "there is no file"]);
    foxhunt(folder.path(), "train --config .").fails(3, &[". is a folder", "name a file"]);
}

#[test]
fn data_that_cannot_be_used_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, bytes: &[u8]| fs::write(folder.path().join(name), bytes).unwrap();
    fs::create_dir(folder.path().join("eurusd")).unwrap();
    write("eurusd_empty.csv", b"");
    write("eurusd_blank.csv", b"\n\n  \n");
    write("eurusd_binary.csv", &(0..=255).cycle().take(5000).collect::<Vec<u8>>());
    write("eurusd_text.csv", b"Call me Ishmael.\nSome years ago\n");
    write("eurusd_header.csv", sample(0).as_bytes());
    write("eurusd_one.csv", sample(1).as_bytes());
    write("eurusd_two.csv", sample(2).as_bytes());
    write("eurusd_few.csv", sample(400).as_bytes());
    write("eurusd_cut.csv.gz", &[0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3, 1, 2, 3]);
    write("prices.csv", sample(6000).as_bytes());
    for name in [
        "eurusd_none.csv",
        "eurusd",
        "eurusd_empty.csv",
        "eurusd_blank.csv",
        "eurusd_binary.csv",
        "eurusd_text.csv",
        "eurusd_header.csv",
        "eurusd_one.csv",
        "eurusd_cut.csv.gz",
        "prices.csv",
    ] {
        foxhunt(folder.path(), &format!("data inspect {name}")).fails(3, &[name]);
        train(folder.path(), &format!("--data {name} --out run")).fails(3, &[name]);
    }
    for name in ["eurusd_two.csv", "eurusd_few.csv"] {
        train(folder.path(), &format!("--data {name} --out run"))
            .fails(3, &["window would have", "more bars"]);
    }
    let wide = "--data eurusd_few.csv --set network.lookback=500 --set network.inputs=16384 --out run";
    train(folder.path(), wide).fails(3, &["window would have 0 of them", "more bars"]);
    train(folder.path(), "--data prices.csv eurusd_two.csv --out run")
        .fails(3, &["prices.csv", "instrument"]);
    assert!(!folder.path().join("run").exists());
}

#[cfg(unix)]
#[test]
fn folders_without_rights_are_named() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().unwrap();
    let closed = folder.path().join("closed");
    fs::create_dir(&closed).unwrap();
    fs::write(closed.join("eurusd.csv"), sample(6000)).unwrap();
    fs::set_permissions(&closed, fs::Permissions::from_mode(0o000)).unwrap();
    // Whoever is root may do everything.
    if fs::read_dir(&closed).is_err() {
        train(folder.path(), "--data closed/eurusd.csv --out run").fails(3, &["closed", "permission"]);
        train(folder.path(), "--out closed/run").fails(3, &["closed", "right"]);
    }
    fs::set_permissions(&closed, fs::Permissions::from_mode(0o700)).unwrap();
}

#[test]
fn nothing_is_overwritten() {
    let (folder, run) = finished();
    let before = files(folder.path());
    train(folder.path(), "--out run").fails(1, &["there is a run in this folder", "resume it"]);
    foxhunt(folder.path(), "backtest run --out run").fails(1, &["run is not empty", "another folder"]);
    fs::create_dir(folder.path().join("other")).unwrap();
    fs::write(folder.path().join("other/notes.txt"), "mine").unwrap();
    train(folder.path(), "--out other").fails(1, &["other", "notes.txt", "new or empty"]);
    foxhunt(folder.path(), "backtest run --out other").fails(1, &["other is not empty"]);
    // A path that leads through a file, at once and not after the training.
    train(folder.path(), "--out eurusd.csv").fails(3, &["eurusd.csv is a file"]);
    train(folder.path(), "--out eurusd.csv/a/b").fails(3, &["eurusd.csv is a file"]);
    foxhunt(folder.path(), "backtest run --out eurusd.csv/a").fails(3, &["eurusd.csv is a file"]);
    fs::remove_dir_all(folder.path().join("other")).unwrap();
    common::assert_same(folder.path(), &before, "refusals");
    assert!(run.exists());
}

#[test]
fn a_gpu_that_is_not_there_is_one_line() {
    let folder = tempfile::tempdir().unwrap();
    for args in [
        "train --device cuda:7",
        "device --device cuda:7",
        "bench step --device cuda",
        "verify money --device cuda",
    ] {
        let done = foxhunt(folder.path(), args).fails(3, &["libcuda.so is hidden by FOXHUNT_HIDE_LIBRARY"]);
        assert_eq!(done.err.lines().count(), 1, "{}", done.err);
    }
    assert!(files(folder.path()).is_empty());
}

/// That the CPU stands in is told once, by commands that use a device, where a GPU would have been taken.
#[test]
fn the_note_on_devices_comes_once_and_where_it_matters() {
    let (folder, _) = finished();
    let notes = |args: &str, code: i32| {
        let done = foxhunt(folder.path(), args);
        assert_eq!(done.code, code, "{args}: {}", done.err);
        done.err.lines().filter(|l| l.starts_with("note: no GPU is used")).count()
    };
    assert_eq!(notes("device", 0), 1);
    assert_eq!(notes("device --device cpu", 0), 0);
    assert_eq!(notes("backtest run --out a", 0), 1);
    assert_eq!(notes("backtest run --out b --device cpu", 0), 0);
    assert_eq!(notes("data inspect eurusd.csv", 0), 0);
    assert_eq!(notes("train --resume run", 0), 0);
    assert_eq!(notes("train --set learn.gamma=2", 3), 0);
    assert_eq!(notes("train --data none.csv", 3), 0);
    assert_eq!(notes("train --out run", 1), 0);
    assert_eq!(notes("backtest none --out c", 3), 0);
}

#[test]
fn a_case_that_does_not_exist_is_no_success() {
    let folder = tempfile::tempdir().unwrap();
    foxhunt(folder.path(), "device --device cpu --check --only nothing")
        .fails(3, &["no check is called nothing"]);
    foxhunt(folder.path(), "device --device cpu --check --only softmax").works();
}

/// `| head -1` closes standard output early; a run's files are whole all the same. A check that was left has not been done.
#[test]
fn a_reader_that_leaves_is_no_failure() {
    let (folder, run) = finished();
    let want = files(&run);
    for args in [
        "train --device cpu --epochs 2 --set learn.collect=1024 --set learn.updates=8 --set learn.replay=2048 --data \
         eurusd.csv --out again",
        "data inspect",
        "device --device cpu",
        "backtest run --device cpu --out b",
        "--help",
    ] {
        let mut child = command(folder.path())
            .args(args.split_whitespace())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        drop(child.stdout.take());
        let mut err = String::new();
        child.stderr.take().unwrap().read_to_string(&mut err).unwrap();
        assert_eq!((child.wait().unwrap().code(), err.as_str()), (Some(0), ""), "{args}");
    }
    common::assert_same(&folder.path().join("again"), &want, "nobody read");
    let mut child = command(folder.path());
    child.args(["device", "--device", "cpu", "--check", "--only", "softmax"]);
    let mut child = child.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    let err = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.code() == Some(1) && err.contains("was not finished"), "{err}");
    // Nor is one that leaves standard error.
    let mut child =
        command(folder.path()).args(["train", "--data", "none.csv"]).stderr(Stdio::piped()).spawn().unwrap();
    drop(child.stderr.take());
    assert_eq!(child.wait().unwrap().code(), Some(3));
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_behind_standard_output_is_a_failure() {
    let folder = tempfile::tempdir().unwrap();
    let full = fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
    let output = command(folder.path()).args(["data", "inspect"]).stdout(full).output().unwrap();
    common::Done::new(&output, "data inspect > /dev/full".into()).fails(3, &["standard output"]);
}

/// Where nobody watches, there is no bar; results are on standard output alone.
#[test]
fn a_run_says_little() {
    let folder = tempfile::tempdir().unwrap();
    let done = train(folder.path(), "--out run").works();
    assert!(
        done.out.starts_with("chosen on the validation window: member 0 after epoch")
            && done.out.contains("\ntest window, 908 decisions"),
        "{}",
        done.out
    );
    assert!(done.out.contains("report          run/report.html"), "{}", done.out);
}

/// The stored reference is what the program says of itself.
#[test]
fn the_reference_is_that_of_the_program() {
    let folder = tempfile::tempdir().unwrap();
    let made = foxhunt(folder.path(), "reference").works().out;
    let page = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/cli.md");
    let stored = fs::read_to_string(page).unwrap_or_default();
    assert!(stored == made, "docs/cli.md is old: run cargo xtask reference");
    for words in
        ["## `foxhunt runs list`", "- `--state <STATE>`", "foxhunt train --resume runs/btc", "Exit codes"]
    {
        assert!(made.contains(words), "{words}");
    }
    foxhunt(folder.path(), "reference --man man/one").works();
    let pages = files(&folder.path().join("man/one"));
    let page = String::from_utf8_lossy(&pages["foxhunt-runs-list.1"]).into_owned();
    assert!(
        page.starts_with(".ie") && page.contains("foxhunt\\-runs\\-list") && page.contains("learn.gamma"),
        "{page}"
    );
    assert!(pages.len() > 20 && pages.contains_key("foxhunt.1"));
}

#[test]
fn shells_complete() {
    let folder = tempfile::tempdir().unwrap();
    for (shell, words) in [
        ("bash", "foxhunt__subcmd__runs__subcmd__list"),
        ("zsh", "#compdef foxhunt"),
        ("fish", "complete -c foxhunt"),
        ("powershell", "Register-ArgumentCompleter"),
    ] {
        let script = foxhunt(folder.path(), &format!("completions {shell}")).works().out;
        assert!(script.contains(words), "{shell}: {script}");
        for option in ["save-every", "resume"] {
            assert!(script.contains(option), "{shell}");
        }
    }
    // Words that options take are offered, and no files.
    let script = foxhunt(folder.path(), "completions bash").works().out;
    for words in [
        "auto cpu cuda",
        "auto bf16 f32",
        "small study bench",
        "auto plain paired",
        "stochastic nearest nearest-weights nearest-m nearest-v nearest-targets",
    ] {
        assert!(script.contains(&format!("compgen -W \"{words}\"")), "{words} are not offered");
    }
    foxhunt(folder.path(), "completions csh").fails(2, &["csh", "bash"]);
}

/// The examples of commands that only look are carried out, beside a finished run under the name that examples have.
#[test]
fn cheap_examples_work() {
    let (folder, run) = common::finished();
    let at = folder.path();
    fs::create_dir(at.join("runs")).unwrap();
    for name in ["first", "second", "third"] {
        for (file, bytes) in files(&run) {
            let to = at.join("runs").join(name).join(file);
            fs::create_dir_all(to.parent().unwrap()).unwrap();
            fs::write(to, bytes).unwrap();
        }
    }
    fs::create_dir(at.join("experiments")).unwrap();
    let bars = "time,open,high,low,close,volume\n2020-01-01T00:00:00Z,7200,7210,7190,7205,3\n\
                2020-01-01T01:00:00Z,7205,7220,7200,7215,2\n2020-01-01T02:00:00Z,7215,7215,7100,7150,5\n";
    fs::write(at.join("XBTUSD_60.csv.gz"), bars).unwrap();
    let mut carried_out = 0;
    for command in [
        "runs list",
        "runs show",
        "runs compare",
        "config default",
        "config schema",
        "completions",
        "reference",
        "data inspect",
        "device",
    ] {
        let help = foxhunt(at, &format!("{command} --help")).works().out;
        for line in help.lines().filter_map(|l| l.strip_prefix("  foxhunt ")).filter(|l| !l.contains(" > ")) {
            // What needs a file of its own, and what runs for long.
            if line.contains("bars.csv") || line.contains("--check") {
                continue;
            }
            let done = foxhunt(at, line);
            assert_eq!(done.code, 0, "foxhunt {line}: {}", done.err);
            carried_out += 1;
        }
    }
    assert!(carried_out >= 18, "{carried_out}");
}
