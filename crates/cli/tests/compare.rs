//! `foxhunt compare` as a user meets it: repeated, cut in slices, merged, stopped, refused.
#![allow(clippy::unwrap_used, reason = "tests")]

mod common;

use common::{Done, command, files, foxhunt};
use std::{collections::BTreeMap, fs, path::Path};

const TINY: &str = "compare --device cpu --epochs 2 --every 1 --set learn.collect=512 --set learn.updates=8 --set \
                    learn.replay=1024 --set network.trunk=[32,32] --set network.stream=32 --arms f32,stochastic";

fn run(folder: &Path, args: &str) -> Done {
    let done = foxhunt(folder, &format!("{TINY} {args}"));
    assert_eq!(done.code, 0, "{args}: {}", done.err);
    done
}

/// Every file, without what clocks said.
fn without_times(folder: &Path) -> BTreeMap<String, String> {
    let cut = |text: String, from: &str, to: &str| match text.split_once(from) {
        Some((before, after)) => format!("{before}{}", after.split_once(to).unwrap().1),
        None => text,
    };
    let text = |name: &str, bytes: Vec<u8>| {
        let text = String::from_utf8(bytes).unwrap();
        match name {
            "compare.html" => cut(text, "<section id=\"timing\">", "</section>"),
            "compare.json" => cut(text, "\"timing\": {", "\n  }"),
            _ => cut(text, "\"timing\":{", "}\n"),
        }
    };
    files(folder).into_iter().map(|(name, bytes)| (name.clone(), text(&name, bytes))).collect()
}

#[test]
fn the_same_command_gives_the_same_bytes_but_for_times() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    for out in ["a", "b"] {
        let done = run(path, &format!("--members 2 --slice 2 --out {out}"));
        assert!(
            done.out.contains("BF16 stochastic") && done.out.contains(&format!("{out}/compare.html")),
            "{}",
            done.out
        );
    }
    let (a, b) = (without_times(&path.join("a")), without_times(&path.join("b")));
    assert_eq!(a.len(), 6, "setting, lock, two slices, JSON and page: {:?}", a.keys());
    assert_eq!(a, b);
    assert!(!a["compare.json"].contains("_s\""), "no time outside of the timing object");

    // Halves, of which one was made elsewhere, are the whole but for the memory of slices of another size.
    run(path, "--members 1 --slice 1 --out c");
    run(path, "--members 1..2 --slice 1 --out d");
    let merged = run(path, "--members 2 --minutes 0 --merge d --out c");
    assert_eq!(merged.err, "", "nothing was trained");
    let score = |out: &str| out.lines().take(2).map(str::to_owned).collect::<Vec<_>>();
    let whole = run(path, "--members 2 --minutes 0 --out a");
    assert_eq!(score(&merged.out), score(&whole.out));
    // What is there is not trained again.
    let more = run(path, "--members 3 --slice 1 --out a");
    assert!(more.err.contains("F32, members 2 to 2") && !more.err.contains("members 0"), "{}", more.err);
    assert_eq!(files(&path.join("a")).len(), 8);

    foxhunt(path, &format!("{TINY} --set learn.gamma=0.9 --out a"))
        .fails(1, &["learn.gamma is 0.99, and here 0.9"]);
    foxhunt(path, &format!("{TINY} --members 2 --minutes 0 --merge nowhere --out a"))
        .fails(1, &["nowhere", "setting.json"]);
    foxhunt(path, "compare --market drift").fails(3, &["known:NAME"]);
    foxhunt(path, "compare --market known:nothing").fails(3, &["nothing", "drift"]);
    foxhunt(path, "compare --arms f64").fails(2, &["f32, nearest, stochastic, paired, nearest-weights"]);
    foxhunt(path, "compare --members 5..2").fails(2, &["32..64"]);
    assert!(!path.join("compare").exists());
}

/// Regret where the optimum is known, and an incomplete comparison says what is missing.
#[test]
fn a_known_market_is_scored_by_regret() {
    let folder = tempfile::tempdir().unwrap();
    let done = run(folder.path(), "--market known:drift --members 1 --out k");
    assert!(done.out.contains("Regret") && done.out.contains("bound 0.0200: undecided"), "{}", done.out);
    let done = run(folder.path(), "--market known:drift --members 2 --minutes 0 --out k");
    assert!(done.out.contains("1 members missing, 1 to 1"), "{}", done.out);
    let page = fs::read_to_string(folder.path().join("k/compare.html")).unwrap();
    assert!(page.contains("known:drift") && page.contains("Incomplete: F32 lacks 1"));
}

/// Ctrl-C and SIGTERM: exit code 128 and the signal's number, no half slice, and the same command goes on to what an
/// undisturbed one gives. While it runs its folder is its own.
#[cfg(unix)]
#[test]
fn a_stopped_comparison_goes_on() {
    use std::{process::Stdio, time::Duration};
    let folder = tempfile::tempdir().unwrap();
    let options = TINY.replace("--epochs 2", "--epochs 40");
    let args = |out: &str| format!("{options} --members 2 --slice 1 --out {out}");
    foxhunt(folder.path(), &args("whole"));
    let whole = without_times(&folder.path().join("whole"));
    for (signal, code) in [("INT", 130), ("TERM", 143)] {
        let child = command(folder.path())
            .args(args(signal).split_whitespace())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let slices = folder.path().join(signal).join("slices");
        for _ in 0..6_000 {
            if fs::read_dir(&slices).is_ok_and(|d| d.count() > 0) {
                break;
            }
            std::thread::sleep(Duration::from_millis(10));
        }
        foxhunt(folder.path(), &args(signal)).fails(1, &[signal, "another process", "--merge"]);
        let kill = std::process::Command::new("kill")
            .args([&format!("-{signal}"), &child.id().to_string()])
            .status();
        assert!(kill.unwrap().success());
        let done = Done::new(&child.wait_with_output().unwrap(), "stopped".into());
        let done = done.fails(code, &["stopping after this epoch", "finished ones are kept"]);
        assert!(done.out.contains("missing"), "{}", done.out);
        let kept: Vec<String> = files(&slices).into_keys().collect();
        assert!(
            !kept.is_empty() && kept.len() < 4 && kept.iter().all(|name| name.ends_with(".json")),
            "{kept:?}"
        );
        foxhunt(folder.path(), &args(signal));
        assert_eq!(without_times(&folder.path().join(signal)), whole, "SIG{signal}");
    }
}
