//! Real markets through the whole program. The files are not part of the repository: FOXHUNT_SHARED_DATA names their
//! folder, else shared/data beside the checkout; where there is none these tests pass with a notice.
#![allow(clippy::unwrap_used, reason = "tests")]

mod common;

use common::foxhunt;
use std::{fs, path::PathBuf};

/// `told` is what stands on stderr, where something does.
fn market(file: &str, told: &[&str], again: &[&str]) {
    let root = std::env::var_os("FOXHUNT_SHARED_DATA").map_or_else(
        || PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data"),
        PathBuf::from,
    );
    let path = root.join("ohlcv").join(file);
    if !path.exists() {
        eprintln!("skipped: there is no {}", path.display());
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let options = "--device cpu --population 2 --epochs 2 --set learn.collect=4096 --set learn.updates=32 --set \
                   learn.replay=16384 --out run";
    let works = |args: &str, told: &[&str]| {
        let done = foxhunt(folder.path(), args).fails(0, told);
        assert_eq!(done.err.lines().count(), told.len().min(1), "{}", done.err);
        done
    };
    let done = works(&format!("train --data {} {options}", path.display()), told);
    for sign in ["NaN", "inf", "undefined"] {
        assert!(!done.out.contains(sign), "{}", done.out);
    }
    let run = folder.path().join("run");
    let metrics = fs::read_to_string(run.join("metrics.jsonl")).unwrap();
    assert_eq!(metrics.lines().count(), 4);
    for line in metrics.lines() {
        let epoch: serde_json::Value = serde_json::from_str(line).unwrap();
        let loss = epoch["loss"].as_f64().unwrap();
        // The cross-entropy of 51 atoms begins near ln 51.
        assert!((0.5..4.5).contains(&loss), "{line}");
        assert_eq!(epoch["skipped"], 0, "{line}");
    }
    let page = fs::read_to_string(run.join("report.html")).unwrap();
    for sign in ["NaN", ">inf", "Infinity"] {
        assert!(!page.contains(sign), "{sign}");
    }
    let done = works("backtest run --device cpu --actions run/ledger --out again", again);
    assert!(done.out.contains("come out as recorded"), "{}", done.out);
}

#[test]
fn bitcoin_hourly() {
    // The thin book of its first years.
    let far = ["15 prices are far from those around them: close x 0.773 at 2013-10-22T23:00:00Z (line 53)"];
    market("xbtusd_kraken_1h_2013_2023.csv.gz", &far, &far);
}

#[test]
fn euro_hourly_with_bid_and_ask() {
    // The file has no volume, so that two features of the set say nothing.
    let still = ["the features volume_ratio_24, volume_score_168 are left out"];
    market("eurusd_1h_bidask_2007_2018.csv.gz", &still, &[]);
}

#[test]
fn a_share_by_the_minute() {
    market("nvda_1m_202301.csv.gz", &[], &[]);
}
