//! The run folder as a program uses it.

#![allow(clippy::unwrap_used, clippy::panic, reason = "helpers of tests")]

mod common;

use common::population;
use foxhunt_checkpoint::{CheckpointError, Retention, RunFolder, Status};
use foxhunt_core::DType;
use serde_json::json;
use std::{fs, path::Path};

const CONFIG: &str = "seed = 1\n";

fn refused<T>(result: Result<T, CheckpointError>, needles: &[&str]) {
    let Err(error) = result else { panic!("accepted, without {needles:?}") };
    let text = error.to_string();
    for needle in needles {
        assert!(text.contains(needle), "{needle} in {text}");
    }
}

fn save(run: &mut RunFolder, epoch: u64, with_state: bool) {
    let (runtime, net) = population(DType::F32, &[epoch, 2], 0.0);
    run.append_metrics(&json!({ "epoch": epoch })).unwrap();
    let mut writer = run.begin_save(epoch).unwrap();
    writer.weights(0, &runtime, &net, 0).unwrap();
    writer.weights(5, &runtime, &net, 1).unwrap();
    if with_state {
        writer.state(&runtime, &[net.m, net.v, net.target], &json!({ "epoch": epoch })).unwrap();
    }
    assert_eq!(writer.commit().unwrap().epoch(), epoch);
}

#[test]
fn a_run_from_start_to_finish() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("deep/run");
    let mut run = RunFolder::create(&path, CONFIG).unwrap();
    assert_eq!(run.status(), Status::Fresh);
    run.append_metrics(&json!({ "lost": true })).unwrap();
    drop(run);

    let (mut run, resumed) = RunFolder::open(&path).unwrap();
    assert_eq!((run.status(), resumed.is_none(), run.config()), (Status::Fresh, true, CONFIG));
    for epoch in 1..=3 {
        save(&mut run, epoch, epoch != 3);
    }
    run.append_metrics(&json!({ "lost": true })).unwrap();
    refused(run.begin_save(3).map(|_| ()), &["epoch 3 comes not after epoch 3"]);
    drop(run);

    // Epoch 3 was of weights alone: the run goes on from 2, and does 3 again.
    let (mut run, resumed) = RunFolder::open(&path).unwrap();
    let resumed = resumed.unwrap();
    assert_eq!((run.status(), resumed.epoch()), (Status::Resumable, 2));
    assert_eq!(resumed.members().collect::<Vec<_>>(), [0, 5]);
    let (runtime, net) = population(DType::F32, &[8, 9], 0.0);
    assert_eq!(resumed.load_state(&runtime, &[net.target, net.m, net.v]).unwrap(), json!({ "epoch": 2 }));
    assert!(resumed.load_weights(5).unwrap().get("w_s1").is_some());
    // A file that the save does not name is none of its members, whatever it holds.
    fs::copy(resumed.weights_path(5), resumed.weights_path(6)).unwrap();
    refused(resumed.load_weights(6).map(|_| ()), &["holds no weights of member 6"]);
    fs::remove_file(resumed.weights_path(6)).unwrap();
    assert_eq!(fs::read_to_string(path.join("metrics.jsonl")).unwrap(), "{\"epoch\":1}\n{\"epoch\":2}\n");
    run.set_retention(Retention { states: 1, weights: Some(2) });
    save(&mut run, 3, true);
    save(&mut run, 4, false);
    run.finish().unwrap();
    refused(run.append_metrics(&json!(1)), &["this run is finished", "another folder"]);
    refused(run.begin_save(9).map(|_| ()), &["this run is finished"]);
    drop(run);

    let (run, last) = RunFolder::open(&path).unwrap();
    let last = last.unwrap();
    assert_eq!((run.status(), last.epoch(), last.state_path()), (Status::Finished, 4, None));
    refused(last.load_state(&runtime, &[]), &["holds weights, but no state"]);
    // A report may look at a run that is in use.
    let listed = RunFolder::list_saves(&path).unwrap();
    assert_eq!(listed.iter().map(|s| s.epoch()).collect::<Vec<_>>(), [3, 4]);
    assert!(listed.iter().all(|s| s.damage().unwrap().is_none()));
    fs::write(listed[1].weights_path(0), "short").unwrap();
    assert!(listed[1].damage().unwrap().unwrap().contains("member_000000"));
}

#[test]
fn two_runs_cannot_share_a_folder() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run");
    let run = RunFolder::create(&path, CONFIG).unwrap();
    refused(RunFolder::open(&path), &["another process uses this run", "choose another folder"]);
    refused(RunFolder::create(&path, CONFIG), &["there is a run in this folder", "resume it"]);
    drop(run);
    assert!(path.join("lock").exists(), "a lock that is left behind locks nothing");
    RunFolder::open(&path).unwrap();
}

#[test]
fn equal_runs_are_equal_files() {
    let folder = tempfile::tempdir().unwrap();
    let mut all = Vec::new();
    for name in ["a", "some/where/else"] {
        let path = folder.path().join(name);
        let mut run = RunFolder::create(&path, CONFIG).unwrap();
        save(&mut run, 1, true);
        run.finish().unwrap();
        let save = path.join("checkpoints/epoch_000001");
        let files =
            ["save.json", "state.safetensors", "member_000000.safetensors", "member_000005.safetensors"];
        let mut bytes: Vec<Vec<u8>> = files.iter().map(|f| fs::read(save.join(f)).unwrap()).collect();
        bytes.extend(["run.json", "finished.json", "metrics.jsonl"].map(|f| fs::read(path.join(f)).unwrap()));
        all.push(bytes);
    }
    assert!(all[0] == all[1]);
}

#[test]
fn a_folder_that_is_something_else_is_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    let names = |path: &Path| fs::read_dir(path).unwrap().count();

    refused(RunFolder::open(&at("none")), &["none", "there is no such folder"]);
    fs::create_dir(at("empty")).unwrap();
    refused(RunFolder::open(&at("empty")), &["not a run folder: it has no run.json"]);
    assert_eq!(names(&at("empty")), 0);
    RunFolder::create(&at("empty"), CONFIG).unwrap();

    fs::create_dir(at("mine")).unwrap();
    fs::write(at("mine/config.toml"), "mine").unwrap();
    refused(RunFolder::create(&at("mine"), CONFIG), &["not empty and not a run (it holds config.toml)"]);
    assert_eq!((names(&at("mine")), fs::read_to_string(at("mine/config.toml")).unwrap()), (1, "mine".into()));

    fs::write(at("file"), "").unwrap();
    refused(RunFolder::create(&at("file"), CONFIG), &["file", "a part of it is a file"]);
    refused(RunFolder::create(&at("file/run"), CONFIG), &["file", "a part of it is a file"]);
    refused(RunFolder::open(&at("file")), &["file", "this is a file", "name the run's folder"]);

    fs::write(at("empty/config.toml"), "seed = 2\n").unwrap();
    refused(
        RunFolder::open(&at("empty")),
        &["config.toml", "changed since the run was made", "undo the change"],
    );
    fs::write(at("empty/run.json"), "{}").unwrap();
    refused(RunFolder::open(&at("empty")), &["run.json", "restore it"]);
}

/// When states are written depends on the clock; what is left of a run must not.
#[test]
fn where_states_were_does_not_show() {
    let folder = tempfile::tempdir().unwrap();
    let mut all = Vec::new();
    for (name, states) in [("often", [true, true, true]), ("seldom", [false, false, true])] {
        let path = folder.path().join(name);
        let mut run = RunFolder::create(&path, CONFIG).unwrap();
        run.set_retention(Retention { states: 1, weights: None });
        for (epoch, with_state) in (1..).zip(states) {
            save(&mut run, epoch, with_state);
        }
        run.finish().unwrap();
        let mut files = Vec::new();
        for epoch in 1..=3 {
            let mut names: Vec<_> = fs::read_dir(path.join(format!("checkpoints/epoch_{epoch:06}")))
                .unwrap()
                .map(|e| e.unwrap().path())
                .collect();
            names.sort();
            files.extend(names.iter().map(|f| (f.file_name().unwrap().to_owned(), fs::read(f).unwrap())));
        }
        all.push(files);
    }
    assert!(all[0] == all[1]);
}
