//! Kills at every step, power cuts, damage: whatever happens, a run ends as if nothing had.

use super::*;
use crate::{
    apply,
    disk::{Gate, Step},
};
use foxhunt_core::DType;
use foxhunt_device::Device;
use foxhunt_kernels::Element;
use foxhunt_nn::{Init, Net, Options, ParamSpec, Plan, Runtime, Tensor};
use serde_json::json;
use std::{
    collections::BTreeMap,
    fs, io,
    io::Write as _,
    sync::{Arc, Mutex},
};

const EPOCHS: u64 = 7;
const CONFIG_TEXT: &str = "seed = 7\n";
const MEMBERS: usize = 2;

/// SplitMix64, so that a failure replays.
struct Random(u64);

impl Random {
    fn below(&mut self, n: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (z ^ (z >> 31)) % n.max(1)
    }
}

/// A plan with one of every kind of tensor, and a "training" that makes each a function of itself.
struct Training {
    runtime: Runtime,
    net: Net,
    state: Vec<Tensor>,
}

impl Training {
    fn new() -> Self {
        let mut plan = Plan::new(DType::Bf16, MEMBERS);
        let specs = vec![
            ParamSpec::matrix("w_s1", 3, 5, Init::Uniform { fan_in: 5 }),
            ParamSpec::vector("b_s1", 3, Init::Constant(0.0)),
        ];
        let net = plan.net("q", specs);
        let state = vec![
            net.target,
            net.m,
            net.v,
            plan.buffer("step", Element::U64, 1, 1),
            plan.buffer("ring", Element::I32, 16, 3),
            plan.buffer("flags", Element::U8, 1, 7),
            plan.table("structs", Element::Struct(12), 2, 3),
        ];
        let runtime = plan.compile(&Device::cpu(), Options::default()).unwrap();
        Training { runtime, net, state }
    }

    fn tensors(&self) -> Vec<Tensor> {
        self.net.params.iter().map(|p| p.weight).chain(self.state.iter().copied()).collect()
    }

    fn step(&self, epoch: u64) {
        for t in self.tensors() {
            let mut bytes = self.runtime.read_bytes(t).unwrap();
            for (i, b) in bytes.iter_mut().enumerate() {
                *b = b.wrapping_mul(31).wrapping_add((epoch + i as u64 % 251) as u8);
            }
            self.runtime.write_bytes(t, &bytes).unwrap();
        }
    }

    fn contents(&self) -> Vec<Vec<u8>> {
        self.tensors().into_iter().map(|t| self.runtime.read_bytes(t).unwrap()).collect()
    }
}

/// What every tensor holds after each epoch.
fn reference() -> Vec<Vec<Vec<u8>>> {
    let training = Training::new();
    let mut all = vec![training.contents()];
    for epoch in 1..=EPOCHS {
        training.step(epoch);
        all.push(training.contents());
    }
    all
}

/// Kills a run after some steps; with `power`, takes back what wasn't made durable.
#[derive(Default)]
struct Killer {
    left: u64,
    power: bool,
    dead: bool,
    taken: u64,
    seed: u64,
    /// Files and how much of them is durable.
    unsynced: BTreeMap<PathBuf, u64>,
    /// From, to, and what it replaced.
    renames: Vec<(PathBuf, PathBuf, Option<Vec<u8>>)>,
    folders: Vec<PathBuf>,
    removed: Vec<(PathBuf, Vec<u8>)>,
}

impl Killer {
    fn pass(&mut self, step: &Step<'_>) -> io::Result<()> {
        if self.dead || self.left == 0 {
            if !self.dead {
                self.die(step);
            }
            return Err(io::Error::other("killed"));
        }
        self.left -= 1;
        self.taken += 1;
        match step {
            Step::CreateDir(p) => self.folders.push(p.to_path_buf()),
            Step::Create(p) => {
                self.unsynced.insert(p.to_path_buf(), 0);
            }
            Step::Append(p, _) => {
                let durable = fs::metadata(p).map_or(0, |m| m.len());
                self.unsynced.entry(p.to_path_buf()).or_insert(durable);
            }
            Step::Sync(p) => {
                self.unsynced.remove(*p);
            }
            Step::Truncate(p, bytes) => {
                if let Some(durable) = self.unsynced.get_mut(*p) {
                    *durable = (*durable).min(*bytes);
                }
            }
            Step::SyncDir(p) => {
                self.renames.retain(|(_, to, _)| parent(to) != *p);
                self.folders.retain(|f| parent(f) != *p);
                // With a folder that is gone for good, its files are.
                let gone = |folder: &Path| parent(folder) == *p && !folder.exists();
                self.removed.retain(|(f, _)| parent(f) != *p && !gone(parent(f)));
            }
            Step::Rename(from, to) => {
                if let Some(durable) = self.unsynced.remove(*from) {
                    self.unsynced.insert(to.to_path_buf(), durable);
                }
                self.renames.push((from.to_path_buf(), to.to_path_buf(), fs::read(to).ok()));
            }
            Step::Remove(p) | Step::RemoveDir(p) => {
                self.unsynced.remove(*p);
                if p.is_file() {
                    self.removed.push((p.to_path_buf(), fs::read(p)?));
                }
                self.renames.retain(|(_, to, _)| to != p);
                self.folders.retain(|f| f != p);
            }
        }
        Ok(())
    }

    fn die(&mut self, step: &Step<'_>) {
        self.dead = true;
        let mut random = Random(self.seed ^ self.taken << 32);
        if let Step::Append(p, data) = step {
            let some = random.below(data.len() as u64 + 1) as usize;
            let mut file = fs::OpenOptions::new().append(true).open(p).unwrap();
            self.unsynced.entry(p.to_path_buf()).or_insert(file.metadata().unwrap().len());
            file.write_all(&data[..some]).unwrap();
        }
        if !self.power {
            return;
        }
        for (path, durable) in std::mem::take(&mut self.unsynced) {
            let Ok(file) = fs::OpenOptions::new().write(true).open(&path) else { continue };
            let len = file.metadata().unwrap().len();
            if len > durable {
                file.set_len(durable + random.below(len - durable + 1)).unwrap();
            }
        }
        // In any order: a file system need not keep ours.
        for (from, to, replaced) in std::mem::take(&mut self.renames) {
            if random.below(2) == 0 && fs::rename(&to, from).is_ok() {
                // A file is there under its name before and after, the one or the other.
                replaced.into_iter().for_each(|bytes| fs::write(&to, bytes).unwrap());
            }
        }
        for (path, bytes) in std::mem::take(&mut self.removed) {
            if random.below(2) == 0 && !path.exists() {
                fs::create_dir_all(parent(&path)).unwrap();
                fs::write(path, bytes).unwrap();
            }
        }
        for folder in std::mem::take(&mut self.folders) {
            if random.below(2) == 0 {
                let _ = fs::remove_dir_all(folder);
            }
        }
    }
}

/// In memory where the system has such a folder: thousands of runs are a load for a disk.
fn scratch() -> tempfile::TempDir {
    let memory = Path::new("/dev/shm");
    if memory.is_dir() { tempfile::tempdir_in(memory) } else { tempfile::tempdir() }.unwrap()
}

/// What a test knows of a run across its kills.
struct World {
    folder: tempfile::TempDir,
    killer: Arc<Mutex<Killer>>,
    reference: Vec<Vec<Vec<u8>>>,
    /// Newest state whose commit returned, and newest begun.
    committed: u64,
    begun: u64,
    /// States kept.
    states: usize,
}

impl World {
    fn new() -> Self {
        World {
            folder: scratch(),
            killer: Arc::default(),
            reference: reference(),
            committed: 0,
            begun: 0,
            states: 2,
        }
    }

    fn restart(&mut self) {
        self.folder = scratch();
        self.killer = Arc::default();
        (self.committed, self.begun) = (0, 0);
    }

    fn path(&self) -> PathBuf {
        self.folder.path().join("run")
    }

    fn disk(&self) -> Disk {
        let killer = self.killer.clone();
        let gate: Gate = Box::new(move |step| killer.lock().unwrap().pass(step));
        Disk::gated(gate)
    }

    /// Starts the process again, to be killed after `left` steps. Returns whether it came to the end of the run.
    fn process(&mut self, left: u64, power: bool, seed: u64) -> bool {
        {
            let mut killer = self.killer.lock().unwrap();
            (killer.left, killer.power, killer.dead, killer.taken, killer.seed) =
                (left, power, false, 0, seed);
        }
        let result = self.train();
        let dead = self.killer.lock().unwrap().dead;
        match result {
            Ok(()) => true,
            Err(e) => {
                assert!(dead, "not killed, but: {e}");
                false
            }
        }
    }

    fn train(&mut self) -> Result<()> {
        let path = self.path();
        let (mut folder, save) = if path.join(RUN).exists() {
            RunFolder::open_on(self.disk(), &path, false)?
        } else {
            (RunFolder::create_on(self.disk(), &path, CONFIG_TEXT)?, None)
        };
        assert_eq!((folder.config(), folder.notes().len()), (CONFIG_TEXT, 0), "{:?}", folder.notes());
        let training = Training::new();
        let start = save.as_ref().map_or(0, Save::epoch);
        assert!((self.committed..=self.begun).contains(&start), "resumed from {start}");
        if let Some(save) = &save {
            self.check(save, &training);
        }
        if folder.status() == Status::Finished {
            return Ok(());
        }
        assert_eq!(folder.status() == Status::Resumable, save.is_some());
        folder.set_retention(Retention { states: self.states, weights: Some(3) });
        for epoch in start + 1..=EPOCHS {
            training.step(epoch);
            for loss in 0..2 {
                folder.append_metrics(&json!({ "epoch": epoch, "loss": 0.1 * (epoch + loss) as f64 }))?;
            }
            // Every second save is of weights alone.
            let with_state = epoch % 2 == 1;
            if with_state {
                self.begun = epoch;
            }
            let mut writer = folder.begin_save(epoch)?;
            for member in 0..MEMBERS {
                writer.weights(10 + member as u64, &training.runtime, &training.net, member)?;
            }
            if with_state {
                writer.state(&training.runtime, &training.state, &json!({ "epoch": epoch }))?;
            }
            writer.commit()?;
            if with_state {
                self.committed = epoch;
            }
        }
        folder.finish()
    }

    /// A save holds one epoch and no mix of two.
    fn check(&self, save: &Save, training: &Training) {
        for member in 0..MEMBERS {
            let weights = save.load_weights(10 + member as u64).unwrap();
            apply(&training.runtime, &training.net, member, &weights).unwrap();
        }
        let host = save.load_state(&training.runtime, &training.state).unwrap();
        assert_eq!(host, json!({ "epoch": save.epoch() }));
        assert!(training.contents() == self.reference[save.epoch() as usize], "epoch {}", save.epoch());
    }

    fn snapshot(&self) -> BTreeMap<PathBuf, Vec<u8>> {
        let mut files = BTreeMap::new();
        let mut folders = vec![self.path()];
        while let Some(folder) = folders.pop() {
            for name in names(&folder).unwrap() {
                let path = folder.join(name);
                if path.is_dir() {
                    folders.push(path);
                } else {
                    let name = path.strip_prefix(self.path()).unwrap().to_owned();
                    files.insert(name, fs::read(path).unwrap());
                }
            }
        }
        files
    }
}

/// The folder that an uninterrupted run leaves, and the steps that it takes.
fn uninterrupted(world: &mut World) -> (BTreeMap<PathBuf, Vec<u8>>, u64) {
    assert!(world.process(u64::MAX, false, 0));
    let taken = world.killer.lock().unwrap().taken;
    let snapshot = world.snapshot();
    world.restart();
    (snapshot, taken)
}

#[test]
fn an_uninterrupted_run_keeps_what_retention_says() {
    let (files, _) = uninterrupted(&mut World::new());
    let names: Vec<String> = files.keys().map(|p| p.display().to_string()).collect();
    let save = |epoch: u64, state: bool| {
        let mut names: Vec<String> = ["member_000010.safetensors", "member_000011.safetensors", "save.json"]
            .map(|f| format!("checkpoints/epoch_{epoch:06}/{f}"))
            .into();
        if state {
            // Names are in order.
            names.insert(2, format!("checkpoints/epoch_{epoch:06}/metrics.jsonl"));
            names.push(format!("checkpoints/epoch_{epoch:06}/state.safetensors"));
        }
        names
    };
    let mut expected = [save(5, true), save(6, false), save(7, true)].concat();
    expected.extend(["config.toml", "finished.json", "lock", "metrics.jsonl", "run.json"].map(str::to_owned));
    assert_eq!(names, expected);
}

#[test]
fn a_kill_at_any_step_changes_nothing() {
    let mut world = World::new();
    let (expected, steps) = uninterrupted(&mut world);
    assert!(steps > 100);
    for power in [false, true] {
        for step in 0..steps {
            assert!(!world.process(step, power, step), "step {step}");
            assert!(world.process(u64::MAX, false, 0));
            assert!(world.snapshot() == expected, "killed at step {step}, power {power}");
            world.restart();
        }
    }
}

#[test]
fn a_thousand_random_kills_change_nothing() {
    let mut world = World::new();
    let (expected, steps) = uninterrupted(&mut world);
    let mut random = Random(11);
    let mut kills = 0;
    while kills < 1000 {
        // Short lives too: a run that is killed again while it is being opened.
        let most = [8, 30, steps][random.below(3) as usize];
        let (left, power) = (random.below(most), random.below(2) == 0);
        if !world.process(left, power, kills) {
            kills += 1;
            continue;
        }
        assert!(world.snapshot() == expected, "after {kills} kills");
        world.restart();
    }
}

/// What a killed process had not made durable is still at stake when the next one builds on it.
#[test]
fn a_power_cut_after_a_kill_changes_nothing() {
    let mut world = World::new();
    // With more than one, an older state would hide the loss of the newest.
    world.states = 1;
    let (expected, steps) = uninterrupted(&mut world);
    for step in (0..12).chain(steps - 70..steps) {
        for after in (step % 2..16).step_by(2).chain([60]) {
            assert!(!world.process(step, false, step));
            world.process(after, true, after);
            assert!(world.process(u64::MAX, false, 0));
            let (found, wanted) = (world.snapshot(), &expected);
            let names = |files: &BTreeMap<PathBuf, Vec<u8>>| files.keys().cloned().collect::<Vec<_>>();
            assert_eq!(names(&found), names(wanted), "killed at step {step}, then at {after}");
            assert!(found == *wanted, "killed at step {step}, then at {after}");
            world.restart();
        }
    }
}

/// A run that was stopped after its last save, which is resumable.
fn stopped() -> World {
    let mut world = World::new();
    let (_, steps) = uninterrupted(&mut world);
    // The marker of the end is the last file: stopped before it is made.
    assert!(!world.process(steps - 5, false, 0));
    world
}

fn damage(bytes: &mut Vec<u8>, random: &mut Random) {
    let at = random.below(bytes.len() as u64) as usize;
    match random.below(4) {
        0 => bytes.truncate(at),
        1 => bytes.push(random.below(256) as u8),
        _ if bytes.is_empty() => bytes.push(0),
        _ => bytes[at] ^= 1 << random.below(8),
    }
}

#[test]
fn damage_is_refused_or_passed_over() {
    let world = stopped();
    let files = world.snapshot();
    let training = Training::new();
    let mut random = Random(3);
    let (mut fell_back, mut refused) = (0, 0);
    for case in 0..2000 {
        let hit = random.below(files.len() as u64) as usize;
        for (i, (name, bytes)) in files.iter().enumerate() {
            let path = world.path().join(name);
            fs::create_dir_all(parent(&path)).unwrap();
            let mut bytes = bytes.clone();
            if i == hit {
                damage(&mut bytes, &mut random);
            }
            fs::write(path, bytes).unwrap();
        }
        match RunFolder::open(&world.path()) {
            Ok((folder, save)) => {
                let save = save.expect("a run with saves never starts from nothing");
                world.check(&save, &training);
                fell_back += u32::from(save.epoch() == 5);
                assert!(
                    save.epoch() == 7 || !folder.notes().is_empty(),
                    "case {case}: fell back without a word"
                );
            }
            Err(e) => {
                assert!(e.to_string().contains(&*world.path().to_string_lossy()), "case {case}: {e}");
                refused += 1;
            }
        }
    }
    assert!(fell_back > 100 && refused > 100, "{fell_back} {refused}");
}

#[test]
fn the_end_of_a_run_is_done_again_where_its_marker_is_damaged() {
    let mut world = World::new();
    let (expected, _) = uninterrupted(&mut world);
    assert!(world.process(u64::MAX, false, 0));
    fs::write(world.path().join(FINISHED), "{}").unwrap();
    let (mut folder, save) = RunFolder::open(&world.path()).unwrap();
    assert_eq!(
        (folder.status(), save.unwrap().epoch(), folder.notes().len()),
        (Status::Resumable, EPOCHS, 1)
    );
    assert!(!world.path().join(FINISHED).exists());
    folder.set_retention(Retention { states: 2, weights: Some(3) });
    folder.finish().unwrap();
    assert!(world.snapshot() == expected);
}

#[test]
fn a_lost_state_is_told_and_a_run_without_whole_saves_is_refused() {
    let world = stopped();
    let at = |epoch: u64, name: &str| world.path().join(format!("checkpoints/epoch_{epoch:06}/{name}"));
    fs::remove_file(at(7, "state.safetensors")).unwrap();
    let (folder, save) = RunFolder::open(&world.path()).unwrap();
    assert_eq!(save.unwrap().epoch(), 5);
    assert_eq!(folder.notes(), ["the save of epoch 7 is not used: its state is missing"]);
    assert!(!at(7, "save.json").exists() && !at(6, "save.json").exists(), "newer saves are made again");
    drop(folder);
    fs::write(at(5, "member_000011.safetensors"), "x").unwrap();
    let error = RunFolder::open(&world.path()).err().unwrap().to_string();
    assert!(error.contains("no save of this run is whole") && error.contains("member_000011"), "{error}");
    assert!(at(5, "state.safetensors").exists(), "nothing is removed then");
}

/// What the run had written of metrics is beside each state, so that a bit in it ends no run.
#[test]
fn damaged_metrics_are_restored_from_the_newest_save() {
    let (expected, _) = uninterrupted(&mut World::new());
    for damage in ["", "torn", "gone"] {
        let mut world = stopped();
        let at = world.path().join(METRICS);
        let whole = fs::read(&at).unwrap();
        match damage {
            "gone" => fs::remove_file(&at).unwrap(),
            "torn" => fs::write(&at, &whole[..10]).unwrap(),
            _ => fs::write(&at, [&b"x"[..], &whole[1..]].concat()).unwrap(),
        }
        let (mut folder, save) = RunFolder::open(&world.path()).unwrap();
        assert_eq!(save.unwrap().epoch(), 7);
        assert_eq!(folder.notes().len(), 1);
        assert!(folder.notes()[0].contains("metrics.jsonl is not as it was written: it is restored from"));
        folder.set_retention(Retention { states: 2, weights: Some(3) });
        folder.finish().unwrap();
        drop(folder);
        assert!(world.snapshot() == expected);
        assert!(world.process(u64::MAX, false, 0), "it is finished");
    }
    // Where the copy is damaged too, the save before has its own; and a run goes on from there to the same end.
    let mut world = stopped();
    let copy = |epoch: u64| world.path().join(format!("checkpoints/epoch_{epoch:06}/metrics.jsonl"));
    fs::write(copy(7), "").unwrap();
    fs::write(world.path().join(METRICS), "").unwrap();
    let (folder, save) = RunFolder::open(&world.path()).unwrap();
    assert_eq!(save.unwrap().epoch(), 5);
    let notes = folder.notes().join("; ");
    assert!(
        notes.contains("the save of epoch 7 is not used: metrics.jsonl is not as it was then"),
        "{notes}"
    );
    assert!(notes.contains("restored from") && notes.contains("epoch_000005"), "{notes}");
    drop(folder);
    world.committed = 5;
    assert!(world.process(u64::MAX, false, 0));
    assert!(world.snapshot() == expected);
}

#[test]
fn a_full_disk_leaves_the_run_usable() {
    let world = World::new();
    let full = Arc::new(Mutex::new(false));
    let gate: Gate = {
        let full = full.clone();
        Box::new(move |step| match step {
            Step::Append(p, data) if *full.lock().unwrap() => {
                // Half of it fits.
                fs::OpenOptions::new().append(true).open(p)?.write_all(&data[..data.len() / 2])?;
                Err(io::ErrorKind::StorageFull.into())
            }
            _ => Ok(()),
        })
    };
    let mut folder = RunFolder::create_on(Disk::gated(gate), &world.path(), CONFIG_TEXT).unwrap();
    let training = Training::new();
    folder.append_metrics(&json!({ "a": 1 })).unwrap();
    *full.lock().unwrap() = true;
    assert!(folder.append_metrics(&json!({ "b": 2 })).is_err());
    let mut writer = folder.begin_save(1).unwrap();
    let error = writer.weights(0, &training.runtime, &training.net, 0).unwrap_err().to_string();
    assert!(error.contains("member_000000.safetensors") && error.contains("free space there"), "{error}");
    drop(writer);
    *full.lock().unwrap() = false;
    folder.append_metrics(&json!({ "c": 3 })).unwrap();
    let mut writer = folder.begin_save(2).unwrap();
    writer.state(&training.runtime, &training.state, &json!(null)).unwrap();
    writer.commit().unwrap();
    drop(folder);
    assert_eq!(fs::read_to_string(world.path().join(METRICS)).unwrap(), "{\"a\":1}\n{\"c\":3}\n");
    assert_eq!(names(&world.path().join(CHECKPOINTS)).unwrap(), ["epoch_000002"]);
    assert_eq!(RunFolder::open(&world.path()).unwrap().1.unwrap().epoch(), 2);
}
