//! Running the built program and looking at what it leaves.
#![allow(clippy::unwrap_used, dead_code, reason = "tests; each file uses a part")]

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
    process::{Command, Output, Stdio},
    sync::LazyLock,
    time::{Duration, Instant},
};
use tempfile::TempDir;

/// What makes a run take a fraction of a second.
pub(crate) const TINY: [&str; 10] = [
    "--device",
    "cpu",
    "--epochs",
    "2",
    "--set",
    "learn.collect=1024",
    "--set",
    "learn.updates=8",
    "--set",
    "learn.replay=2048",
];

/// What a command left behind.
pub(crate) struct Done {
    pub(crate) code: i32,
    pub(crate) out: String,
    pub(crate) err: String,
    what: String,
}

impl Done {
    pub(crate) fn new(output: &Output, what: String) -> Self {
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let (out, err) = (text(&output.stdout), text(&output.stderr));
        for sign in ["panicked", "RUST_BACKTRACE", "unwrap", "overflow"] {
            assert!(!err.contains(sign), "{what}: {err}");
        }
        Done { code: output.status.code().unwrap_or(-1), out, err, what }
    }

    /// Asserts the exit code and that standard error holds every one of `words`.
    #[track_caller]
    pub(crate) fn fails(self, code: i32, words: &[&str]) -> Self {
        assert_eq!(self.code, code, "{}: {}{}", self.what, self.out, self.err);
        for word in words {
            assert!(self.err.contains(word), "{}: '{word}' is not in: {}", self.what, self.err);
        }
        self
    }

    /// Asserts success with nothing on standard error.
    #[track_caller]
    pub(crate) fn works(self) -> Self {
        assert_eq!((self.code, self.err.as_str()), (0, ""), "{}: {}", self.what, self.out);
        self
    }
}

pub(crate) fn command(folder: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_foxhunt"));
    command.current_dir(folder).stdin(Stdio::null()).env("FOXHUNT_HIDE_LIBRARY", "cuda,nvrtc,cublaslt");
    command
}

/// Runs the program in `folder` with arguments that are divided at spaces.
pub(crate) fn foxhunt(folder: &Path, args: &str) -> Done {
    let output = command(folder).args(args.split_whitespace()).output().unwrap();
    Done::new(&output, format!("foxhunt {args}"))
}

/// `foxhunt train` of a tiny run.
pub(crate) fn train(folder: &Path, args: &str) -> Done {
    let output = command(folder).arg("train").args(TINY).args(args.split_whitespace()).output().unwrap();
    Done::new(&output, format!("foxhunt train {args}"))
}

/// Every file below a folder with its bytes.
pub(crate) fn files(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut all = BTreeMap::new();
    let mut folders = vec![folder.to_path_buf()];
    while let Some(f) = folders.pop() {
        for entry in fs::read_dir(&f).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else {
                let name = path.strip_prefix(folder).unwrap().display().to_string();
                all.insert(name, fs::read(&path).unwrap());
            }
        }
    }
    all
}

#[track_caller]
pub(crate) fn assert_same(got: &Path, want: &BTreeMap<String, Vec<u8>>, what: &str) {
    let got = files(got);
    let names = |x: &BTreeMap<String, Vec<u8>>| x.keys().cloned().collect::<Vec<_>>();
    assert_eq!(names(&got), names(want), "{what}");
    for (name, bytes) in want {
        assert!(got[name] == *bytes, "{what}: {name} differs");
    }
}

/// A finished run on the file `eurusd.csv` beside it, in a folder of its own; made once and copied.
pub(crate) fn finished() -> (TempDir, PathBuf) {
    static MADE: LazyLock<TempDir> = LazyLock::new(|| {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("eurusd.csv"), sample(6000)).unwrap();
        train(folder.path(), "--data eurusd.csv --out run").works();
        folder
    });
    let copy = tempfile::tempdir().unwrap();
    for (name, bytes) in files(MADE.path()) {
        let to = copy.path().join(name);
        fs::create_dir_all(to.parent().unwrap()).unwrap();
        fs::write(to, bytes).unwrap();
    }
    let run = copy.path().join("run");
    (copy, run)
}

/// The embedded sample's header and first `rows` rows.
pub(crate) fn sample(rows: usize) -> String {
    let text = std::str::from_utf8(foxhunt_data::SAMPLE_CSV).unwrap();
    text.lines().take(rows + 1).map(|l| format!("{l}\n")).collect()
}

/// Trains eight tiny epochs into `whole`, and the same into `cut`, which is stopped by Ctrl-C once its metrics have `lines` lines.
#[cfg(unix)]
pub(crate) fn whole_and_cut(at: &Path, options: &str, lines: usize) -> (PathBuf, PathBuf) {
    let options = format!(
        "train {options} --device cpu --save-every 0 --epochs 8 --set learn.collect=1024 --set learn.updates=16 --set \
         learn.replay=2048"
    );
    foxhunt(at, &format!("{options} --out whole")).works();
    let child = command(at)
        .args(options.split_whitespace())
        .args(["--out", "cut"])
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let cut = at.join("cut");
    let began = Instant::now();
    while fs::read_to_string(cut.join("metrics.jsonl")).map_or(0, |t| t.lines().count()) < lines {
        assert!(began.elapsed() < Duration::from_secs(60), "no epoch in a minute");
        std::thread::sleep(Duration::from_millis(2));
    }
    let kill = format!("kill -INT {}", child.id());
    assert!(Command::new("sh").args(["-c", &kill]).status().unwrap().success());
    let done = Done::new(&child.wait_with_output().unwrap(), "a run that was stopped".into());
    done.fails(130, &["saved after epoch", "train --resume cut"]);
    (at.join("whole"), cut)
}
