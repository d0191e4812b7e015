//! What a careless new user meets: each message names what is wrong and says what to do, and nothing panics.
#![allow(clippy::unwrap_used, reason = "tests")]

mod common;

use common::{Done, command, finished, foxhunt, sample};
use std::{fs, process::Stdio};

#[test]
fn files_and_folders_that_are_something_else() {
    let (folder, _) = finished();
    let at = folder.path();
    fs::write(at.join("bytes.toml"), [0xff, 0xfe, 0x80]).unwrap();
    fs::write(at.join("bars.csv"), sample(10)).unwrap();
    fs::create_dir(at.join("dir")).unwrap();
    for (args, words) in [
        ("train --data nowhere.csv", ["nowhere.csv", "a relative one counts from"]),
        ("train --data dir", ["dir: cannot be read", "name the files in it"]),
        ("train --data bars.csv", ["bars.csv", "(--instrument): a pair such as EUR/USD"]),
        ("train --config nowhere.toml", ["there is no file nowhere.toml", "check the path"]),
        ("train --config dir", ["dir is a folder", "name a file"]),
        ("train --config run", ["run is a run's folder", "name a file, such as run/config.toml"]),
        ("train --config bytes.toml", ["bytes.toml is not text", "UTF-8"]),
        ("train --instrument foo.toml", ["there is no file foo.toml", "check the path"]),
        ("train --out eurusd.csv/x", ["eurusd.csv is a file", "name another folder"]),
        ("train --resume eurusd.csv", ["eurusd.csv: this is a file", "name the run's folder"]),
        ("train --resume run/config.toml", ["run/config.toml: this is a file", "name the run's folder"]),
        ("act run/config.toml", ["run/config.toml: this is a file", "name the run's folder"]),
        ("act dir", ["dir: this is not a run folder", "check the path"]),
        ("runs show dir", ["dir: this is not a run folder", "check the path"]),
        ("runs compare dir run", ["dir: this is not a run folder", "check the path"]),
        ("device --memory dir", ["dir: this is not a run folder", "check the path"]),
        ("device --memory nowhere", ["there is no such folder", "check the path"]),
        ("verify leak nowhere", ["there is no such folder", "check the path"]),
        ("backtest run --actions nowhere --out x", ["nowhere is no ledger", "such as RUN/ledger"]),
        ("backtest run --actions run --out x", ["run is no ledger, but has one", "name run/ledger"]),
        ("backtest run --positions nowhere --out x", ["nowhere: cannot be read", "check the path"]),
    ] {
        foxhunt(at, args).fails(3, &words);
    }
    for (args, code, words) in [
        ("features eurusd.csv --out bars.csv", 1, "bars.csv is there already: name another file"),
        ("data convert eurusd.csv --out bars.csv", 1, "bars.csv is there already: name another file"),
        ("data inspect eurusd.csv --plot bars.csv", 1, "bars.csv is there already: name another file"),
        ("features eurusd.csv --out none/x", 3, "there is no folder none; make it first"),
        ("data convert eurusd.csv --out bars.csv/x", 3, "there is no folder bars.csv; make it first"),
    ] {
        assert_eq!(foxhunt(at, args).fails(code, &[words]).out, "", "{args}");
    }
    for args in ["train --epochs 1e3", "train --population many"] {
        foxhunt(at, args).fails(2, &["give a whole number"]);
    }
    assert!(!at.join("x").exists());
}

/// Whoever reads may leave at any time: the commands that only print end well, and silently.
#[test]
fn a_reader_that_leaves() {
    let (folder, _) = finished();
    for args in [
        "runs list .",
        "runs show run",
        "runs compare run run",
        "config default",
        "config schema",
        "reference",
        "completions bash",
        "data inspect",
        "train --help",
    ] {
        let mut child = command(folder.path())
            .args(args.split(' '))
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        // Closed before anything is read.
        drop(child.stdout.take());
        let done = Done::new(&child.wait_with_output().unwrap(), format!("foxhunt {args} | true"));
        done.works();
    }
}

#[cfg(unix)]
#[test]
fn names_that_are_not_text() {
    use std::{ffi::OsStr, os::unix::ffi::OsStrExt};
    let folder = tempfile::tempdir().unwrap();
    let name = OsStr::from_bytes(b"na\xefme.csv");
    for args in [&["train", "--data"][..], &["data", "inspect"]] {
        let output = command(folder.path()).args(args).arg(name).output().unwrap();
        Done::new(&output, format!("{args:?}")).fails(2, &["must be UTF-8", "rename the file"]);
    }
    // Where nothing is recorded any name will do.
    let output = command(folder.path()).args(["runs", "list"]).arg(name).output().unwrap();
    Done::new(&output, "runs list".into()).fails(3, &["there is no folder"]);
}

/// Data through a pipe can't be read twice, which a file's hash needs.
#[cfg(unix)]
#[test]
fn data_through_a_pipe_is_said() {
    let folder = tempfile::tempdir().unwrap();
    let mut child = command(folder.path())
        .args(["data", "inspect", "/dev/stdin"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdin.take());
    let done = Done::new(&child.wait_with_output().unwrap(), "inspect a pipe".into());
    done.fails(3, &["it is a pipe: write it to a file first"]);
}

/// A link that leads nowhere is neither free nor a folder.
#[cfg(unix)]
#[test]
fn links_that_lead_nowhere() {
    let (folder, _) = finished();
    let at = folder.path();
    std::os::unix::fs::symlink("gone", at.join("link")).unwrap();
    let link = "link is a link to something that is not there (gone)";
    for args in [
        "train --out link",
        "train --out link/x",
        "backtest run --out link",
        "compare --out link",
        "reference --man link",
    ] {
        foxhunt(at, args).fails(3, &["can't make the folder", link, "name another folder"]);
    }
    for args in ["features --out link", "data convert eurusd.csv --out link", "data inspect --plot link"] {
        foxhunt(at, args).fails(1, &[link, "name another file"]);
    }
    assert!(!at.join("gone").exists() && at.join("link").is_symlink());
    // One that leads to a folder is that folder.
    fs::create_dir(at.join("gone")).unwrap();
    foxhunt(at, "backtest run --device cpu --out link").works();
    assert!(at.join("gone/report.html").is_file());
}
