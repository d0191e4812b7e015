//! A member's numbers are its own, however slices are cut, stopped and brought together.
#![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]

use foxhunt_checkpoint::{Unsealed, seal, unseal};
use foxhunt_compare::{
    Arm, CompareError, Control, Folder, Measure, Member, Setting, Slice, Task, compare, render, run_slice,
};
use foxhunt_device::Device;
use foxhunt_train::{Config, EpochReport, Market, Size};
use std::{fs, path::Path};

fn tiny() -> Config {
    let mut config = Config::of(Size::Small);
    config.epochs = 3;
    (config.network.trunk, config.network.stream, config.network.atoms) = ([32, 32], 32, 21);
    let l = &mut config.learn;
    (l.envs, l.collect, l.updates, l.batch, l.replay, l.episode_bars) = (16, 512, 16, 32, 1_024, 64);
    config
}

struct Subject {
    config: Config,
    market: Market,
    setting: Setting,
}

impl Subject {
    fn new(config: Config) -> Self {
        let market = Market::prepare(foxhunt_data::sample().slice(0..1_500), &config).unwrap();
        let setting = Setting::new("test", &config, std::slice::from_ref(&market), Measure::Sharpe, 2);
        Subject { config, market, setting }
    }

    fn run(&self, arm: Arm, ids: &[u64], scratch: &Path, stop_after: usize) -> Option<Slice> {
        let fingerprint = self.setting.fingerprint().unwrap();
        let (config, market) = (&self.config, &self.market);
        let task = Task {
            config,
            markets: std::slice::from_ref(market),
            regret: None,
            every: 2,
            fingerprint: &fingerprint,
        };
        run_slice(&Device::cpu(), &task, arm, ids, scratch, &mut Stop(stop_after)).unwrap()
    }

    /// Trains what is missing in a folder, in slices of `size`.
    fn fill(&self, path: &Path, arms: &[Arm], ids: &[u64], size: usize) {
        let folder = Folder::open(path, &self.setting).unwrap();
        let finished = folder.finished(&self.setting, &[]).unwrap();
        for work in finished.missing(arms, ids, size) {
            folder.keep(&self.run(work.arm, &work.ids, &folder.scratch(), 99).unwrap()).unwrap();
        }
    }
}

struct Stop(usize);

impl Control for Stop {
    fn epoch(&mut self, reports: &[EpochReport]) {
        assert!(!reports.is_empty());
        self.0 = self.0.saturating_sub(1);
    }

    fn stop(&mut self) -> bool {
        self.0 == 0
    }
}

#[test]
fn slices_of_other_rules_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let subject = Subject::new(tiny());
    let path = folder.path().join("x");
    Folder::open(&path, &subject.setting).unwrap();
    // The same name, bars and configuration, with another fee in the instrument's file.
    let mut market = Market::prepare(foxhunt_data::sample().slice(0..1_500), &subject.config).unwrap();
    market.rules.taker_fee_e7 += 1;
    let other = Setting::new("test", &subject.config, std::slice::from_ref(&market), Measure::Sharpe, 2);
    assert_ne!(subject.setting.fingerprint().unwrap(), other.fingerprint().unwrap());
    let refused = Folder::open(&path, &other).err().unwrap().to_string();
    assert!(refused.contains("rules_sha256"), "{refused}");
}

#[test]
fn neither_slice_nor_order_changes_a_member() {
    let folder = tempfile::tempdir().unwrap();
    let scratch = folder.path().join("scratch");
    let subject = Subject::new(tiny());
    for arm in Arm::ALL {
        let members = |ids: &[u64]| -> Vec<Member> { subject.run(arm, ids, &scratch, 99).unwrap().members };
        let both = members(&[0, 5]);
        assert_eq!(both.iter().map(|m| m.id).collect::<Vec<_>>(), [0, 5]);
        assert_ne!(both[0].loss, both[1].loss);
        let turned = members(&[5, 0]);
        assert_eq!((&both[0], &both[1]), (&turned[1], &turned[0]), "{arm}: order");
        assert_eq!(both[..1], members(&[0]), "{arm}: alone");
        let m = &both[0];
        assert_eq!(m.curve.iter().map(|p| p.epoch).collect::<Vec<_>>(), [2, 3], "every two, and the last");
        assert_eq!((m.loss.len(), m.last.epoch, m.gauges.steps), (3, 3, 48));
        assert!(
            m.gauges.reached > 3_000 && m.gauges.step.unwrap() > 0.05 && m.gauges.lag.unwrap() > 0.0,
            "{m:?}"
        );
        // Rounding to nearest leaves many weights where they were, F32 none.
        let unmoved = m.gauges.unmoved_share().unwrap();
        match arm {
            Arm::F32 => assert_eq!(m.gauges.unmoved, 0),
            Arm::Nearest | Arm::NearestWeights => assert!(unmoved > 0.2, "{m:?}"),
            Arm::Stochastic | Arm::NearestM | Arm::NearestV | Arm::NearestTargets => {
                assert!(unmoved < 0.2, "{m:?}");
            }
            Arm::Paired => assert!(unmoved < 0.01, "{m:?}"),
        }
    }
    assert!(!scratch.exists());
}

#[test]
fn halves_make_the_whole_and_what_is_stopped_goes_on() {
    let root = tempfile::tempdir().unwrap();
    let [whole, first, second] = ["whole", "first", "second"].map(|name| root.path().join(name));
    let subject = Subject::new(tiny());
    let arms = [Arm::F32, Arm::Stochastic];
    subject.fill(&whole, &arms, &[0, 1], 1);
    subject.fill(&first, &arms, &[0], 1);
    subject.fill(&second, &arms, &[1], 1);

    let setting = &subject.setting;
    let result = |path: &Path, others: &[&Path], ids: &[u64]| {
        let others: Vec<_> = others.iter().map(|p| p.to_path_buf()).collect();
        let finished = Folder::open(path, setting).unwrap().finished(setting, &others).unwrap();
        let mut c = compare(setting, Arm::Stochastic, &finished, &arms, ids);
        assert_eq!(c.timing.len(), 2);
        c.timing.clear();
        c
    };
    let all = result(&whole, &[], &[0, 1]);
    assert_eq!(all, result(&first, &[&second], &[0, 1]), "merged");
    assert_eq!(all, result(&second, &[&first, &whole], &[0, 1]), "in another order, and with members twice");
    let half = result(&first, &[], &[0, 1]);
    assert_eq!((half.missing.len(), half.missing[0].ids.clone()), (2, vec![1]));
    assert_eq!(half.arms[0].ids, [0]);
    assert_eq!(half.differences.len(), 6, "from what there is");

    // Stopped in the middle of a slice: nothing is left of it, and the next run trains it and nothing else.
    let folder = Folder::open(&first, setting).unwrap();
    assert!(subject.run(Arm::F32, &[1], &folder.scratch(), 1).is_none());
    let before = fs::read(first.join("slices/f32-00000-00000.json")).unwrap();
    assert_eq!(fs::read_dir(first.join("slices")).unwrap().count(), 2);
    // One process a folder: and where it is open twice in one, too.
    assert!(Folder::open(&first, setting).unwrap_err().to_string().contains("another process"));
    drop(folder);
    subject.fill(&first, &arms, &[0, 1], 2);
    assert_eq!(all, result(&first, &[], &[0, 1]), "gone on with");
    assert_eq!(before, fs::read(first.join("slices/f32-00000-00000.json")).unwrap());
}

/// The network of the size that studies train, as an arm reports it.
#[test]
fn a_checkpoint_in_bf16_is_half_of_one_in_f32() {
    let folder = tempfile::tempdir().unwrap();
    let mut config = tiny();
    config.network = Config::of(Size::Study).network;
    (config.epochs, config.learn.updates) = (1, 1);
    let subject = Subject::new(config);
    let [f32, plain, paired] = [Arm::F32, Arm::Stochastic, Arm::Paired]
        .map(|arm| subject.run(arm, &[0], &folder.path().join("scratch"), 99).unwrap().checkpoint_bytes);
    assert_eq!(paired, plain, "low words are in the state of a run");
    assert!(100 * paired <= 51 * f32, "{paired} of {f32}");
}

#[test]
fn folders_of_something_else_are_refused() {
    let root = tempfile::tempdir().unwrap();
    let path = root.path().join("a");
    let subject = Subject::new(tiny());
    subject.fill(&path, &[Arm::F32], &[0], 1);
    let mut other = tiny();
    other.learn.gamma = 0.5;
    let refused = |e: CompareError| match e {
        CompareError::Refused(what) => what,
        other => panic!("{other}"),
    };
    let what = refused(Folder::open(&path, &Subject::new(other).setting).unwrap_err());
    assert!(what.contains("learn.gamma is 0.99, and here 0.5"), "{what}");
    // Storage and population are what arms and slices decide.
    let mut same = tiny();
    (same.population, same.learn.weights) = (9, foxhunt_train::WeightsChoice::Paired);
    assert!(Folder::open(&path, &Subject::new(same).setting).is_ok());
    assert!(refused(Folder::open(root.path(), &subject.setting).unwrap_err()).contains("something else"));

    let folder = Folder::open(&path, &subject.setting).unwrap();
    let what = refused(folder.finished(&subject.setting, &[root.path().to_owned()]).unwrap_err());
    assert!(what.contains("setting.json"), "{what}");
    let file = path.join("slices/f32-00000-00000.json");
    let text = fs::read_to_string(&file).unwrap();
    let changed = text.replacen("\"skipped\":0", "\"skipped\":1", 1);
    fs::write(path.join("slices/x.json"), &changed).unwrap();
    let e = folder.finished(&subject.setting, &[]).unwrap_err();
    assert!(e.to_string().contains("x.json is not as foxhunt wrote it (it is not as it was written)"), "{e}");
    let Unsealed::Whole(whole) = unseal(&text) else { panic!("{text}") };
    fs::write(path.join("slices/x.json"), seal(&whole.replacen("\"skipped\":0", "\"skipped\":1", 1)))
        .unwrap();
    assert!(refused(folder.finished(&subject.setting, &[]).unwrap_err()).contains("disagree"));
    fs::remove_file(path.join("slices/x.json")).unwrap();
    fs::write(&file, &text[..100]).unwrap();
    let e = folder.finished(&subject.setting, &[]).unwrap_err();
    assert!(matches!(e, CompareError::Damaged { .. }) && e.to_string().contains("f32-00000-00000"), "{e}");
    // A bit in the setting is no other comparison.
    drop(folder);
    let file = path.join("setting.json");
    let text = fs::read_to_string(&file).unwrap();
    fs::write(&file, text.replacen("0.99", "0.98", 1)).unwrap();
    let what = refused(Folder::open(&path, &subject.setting).unwrap_err());
    assert!(what.contains("setting.json: it is not as it was written; restore it from a copy"), "{what}");
    fs::write(&file, text).unwrap();
    assert!(Folder::open(&path, &subject.setting).is_ok());
}

#[test]
fn the_page_loads_nothing_and_only_times_differ() {
    let root = tempfile::tempdir().unwrap();
    let subject = Subject::new(tiny());
    let setting = &subject.setting;
    let page = |name: &str| {
        let path = root.path().join(name);
        subject.fill(&path, &Arm::ALL, &[0, 1], 2);
        let finished = Folder::open(&path, setting).unwrap().finished(setting, &[]).unwrap();
        let c = compare(setting, Arm::of(&subject.config).unwrap(), &finished, &Arm::ALL, &[0, 1, 2]);
        assert!(serde_json::to_string(&c).unwrap().contains("\"timing\":{\"f32\":{"));
        render(&c).unwrap()
    };
    let (a, b) = (page("a"), page("b"));
    for loads in ["http:", "https:", "src=", "<script", "@import", "url(", "<link", "NaN", "inf<"] {
        assert!(!a.contains(loads), "{loads}");
    }
    for part in
        ["default-src 'none'", "id=\"timing\"", "BF16 paired", "Incomplete: F32 lacks 1", "never moved"]
    {
        assert!(a.contains(part), "{part}");
    }
    let without_times = |page: &str| {
        let (before, after) = page.split_once("<section id=\"timing\">").unwrap();
        format!("{before}{}", after.split_once("</section>").unwrap().1)
    };
    assert_eq!(without_times(&a), without_times(&b));
}
