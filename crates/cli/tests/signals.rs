//! Signals: what is being done stops as it was said, and what goes on from there ends with the same bytes.
#![cfg(unix)]
#![allow(clippy::unwrap_used, reason = "tests")]

mod common;

use common::{assert_same, command, files, foxhunt};
use std::{
    fs,
    io::{BufRead, BufReader},
    process::{Child, Command, Stdio},
    time::{Duration, Instant},
};

/// Ctrl-C and SIGTERM: saved, exit code 128 and the signal's number, and the rest gives the bytes of a run that was left
/// alone.
#[test]
fn a_stopped_run_goes_on_to_the_same_bytes() {
    let folder = tempfile::tempdir().unwrap();
    // Every epoch saves its state, so that the marker of the one that was stopped after names it in both runs.
    let options = "train --device cpu --save-every 0 --epochs 30 --set learn.collect=2048 --set learn.updates=32 --set \
                   learn.replay=4096";
    foxhunt(folder.path(), &format!("{options} --out whole")).works();
    for (signal, code) in [("INT", 130), ("TERM", 143)] {
        let child = command(folder.path())
            .args(options.split_whitespace())
            .args(["--out", signal])
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let run = folder.path().join(signal);
        let began = Instant::now();
        while fs::read_to_string(run.join("metrics.jsonl")).map_or(0, |t| t.lines().count()) < 2 {
            assert!(began.elapsed() < Duration::from_secs(60), "no epoch in a minute");
            std::thread::sleep(Duration::from_millis(2));
        }
        send(signal, &child);
        let done = common::Done::new(&child.wait_with_output().unwrap(), format!("a run after SIG{signal}"));
        let go_on = format!("foxhunt train --resume {signal}");
        let done = done.fails(code, &["stopping after this epoch", "saved after epoch", &go_on]);
        assert_eq!(done.out, "");
        assert!(!run.join("finished.json").exists());
        foxhunt(folder.path(), &format!("backtest {signal} --out x"))
            .fails(1, &["has no selection.json", "finish it with foxhunt train --resume "]);
        foxhunt(folder.path(), &format!("train --device cpu --save-every 0 --resume {signal}")).works();
        assert_same(&run, &files(&folder.path().join("whole")), &format!("SIG{signal} and gone on with"));
    }
}

/// After the last epoch a signal stops before the next backtest, or before the page is whole; what was begun is done again.
#[test]
fn the_end_of_a_run_stops_and_is_done_again() {
    let folder = tempfile::tempdir().unwrap();
    let options = "train --device cpu --epochs 2 --set learn.collect=1024 --set learn.updates=8 --set \
                   learn.replay=2048 --set data.walk_forward.folds=2 --set data.walk_forward.validation_days=30 --set \
                   data.walk_forward.test_days=30";
    foxhunt(folder.path(), &format!("{options} --out whole")).works();
    let want = files(&folder.path().join("whole"));
    // Once these are there: the choice, a fold's ledger, the last fold's page and the account's ledger.
    for there in ["selection.json", "ledger/fills.parquet"] {
        let run = folder.path().join("run");
        // A run that was too fast for the signal is made again.
        let stopped = (0..5).find_map(|_| {
            fs::remove_dir_all(&run).ok();
            let child = command(folder.path())
                .args(options.split_whitespace())
                .args(["--out", "run"])
                .stdout(Stdio::piped())
                .stderr(Stdio::piped())
                .spawn()
                .unwrap();
            let began = Instant::now();
            while !run.join(there).exists() {
                assert!(began.elapsed() < Duration::from_secs(60), "no {there} in a minute");
                std::thread::sleep(Duration::from_millis(1));
            }
            send("INT", &child);
            let done = common::Done::new(&child.wait_with_output().unwrap(), format!("stopped at {there}"));
            (done.code != 0).then_some(done)
        });
        let done = stopped.unwrap().fails(
            130,
            &[
                "stopping before the next backtest; all epochs are saved",
                "all 2 epochs are saved; go on with: foxhunt train --resume run",
            ],
        );
        assert_eq!(done.out, "");
        assert!(!run.join("finished.json").exists() && !run.join("figures.json").exists());
        foxhunt(folder.path(), "train --device cpu --resume run").works();
        assert_same(&run, &want, there);
    }
}

/// A second signal does not wait for the epoch, and its number is the code.
#[test]
fn a_second_signal_stops_at_once() {
    let folder = tempfile::tempdir().unwrap();
    // An epoch of hours.
    let options = "train --device cpu --epochs 1 --set learn.updates=1000000 --out run";
    for (first, second, code) in [("INT", "INT", 130), ("INT", "TERM", 143), ("TERM", "INT", 130)] {
        let mut child = command(folder.path())
            .args(options.split_whitespace())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let setting = folder.path().join("run/setting.json");
        let began = Instant::now();
        while !setting.exists() {
            assert!(began.elapsed() < Duration::from_secs(60), "no run in a minute");
            std::thread::sleep(Duration::from_millis(2));
        }
        send(first, &child);
        // The line that says so has come before the second signal goes.
        let mut lines = BufReader::new(child.stderr.take().unwrap()).lines().map(Result::unwrap);
        assert!(lines.any(|line| line.contains("to stop at once")), "nothing was said");
        assert_eq!(child.try_wait().unwrap(), None, "{first}");
        send(second, &child);
        assert_eq!(child.wait().unwrap().code(), Some(code), "{first}, {second}");
        assert!(lines.all(|line| !line.contains("saved")));
        fs::remove_dir_all(folder.path().join("run")).unwrap();
    }
}

fn send(signal: &str, to: &Child) {
    let kill = format!("kill -{signal} {}", to.id());
    assert!(Command::new("sh").args(["-c", &kill]).status().unwrap().success());
}
