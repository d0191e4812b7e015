//! What a run can't go on with is said, and changes nothing.
#![allow(clippy::unwrap_used, reason = "tests")]

use std::{fs, process::Command};

const SAMPLE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../data/sample/eurusd_1h_ask_2017.csv");

#[test]
fn a_run_does_not_go_on_with_another_file_of_data() {
    let folder = tempfile::tempdir().unwrap();
    let (data, out) = (folder.path().join("eurusd_1h_ask_2017.csv"), folder.path().join("run"));
    fs::copy(SAMPLE, &data).unwrap();
    let foxhunt = |args: &[&str]| {
        Command::new(env!("CARGO_BIN_EXE_foxhunt"))
            .args(["train", "--device", "cpu"])
            .args(args)
            .output()
            .unwrap()
    };
    let (data_arg, out_arg) = (data.display().to_string(), out.display().to_string());
    let small = [
        "--epochs",
        "1",
        "--set",
        "learn.collect=256",
        "--set",
        "learn.updates=4",
        "--set",
        "learn.replay=1024",
    ];
    let trained = foxhunt(&[&["--data", &data_arg, "--out", &out_arg][..], &small].concat());
    assert!(trained.status.success(), "{}", String::from_utf8_lossy(&trained.stderr));
    // As a kill before the end leaves it.
    fs::remove_file(out.join("finished.json")).unwrap();
    let whole = fs::read_to_string(&data).unwrap();
    fs::write(&data, &whole[..whole.trim_end().rfind('\n').unwrap() + 1]).unwrap();
    let refused = foxhunt(&["--resume", &out_arg]);
    let said = String::from_utf8_lossy(&refused.stderr);
    assert_eq!(refused.status.code(), Some(1), "{said}");
    assert!(said.contains("is not the file that"), "{said}");
    fs::write(&data, whole).unwrap();
    let resumed = foxhunt(&["--resume", &out_arg]);
    assert!(resumed.status.success(), "{}", String::from_utf8_lossy(&resumed.stderr));
}
