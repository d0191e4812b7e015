//! Walk-forward: folds that follow one another in time, each with its own training, validation and test window.

use super::Config;
use foxhunt_features::Moments;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Ids of the members of a fold begin at its number times this, so that a member is the same however many folds there are.
pub const FOLD_IDS: u64 = 1_000_000;
const DAY_NS: i64 = 86_400_000_000_000;

/// Folds of a walk-forward run (Pardo 2008; purge and embargo as in López de Prado 2018, chapter 7, where windows only follow
/// one another). The last test window ends where the data do, and each fold begins one test window after the one before it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct WalkForward {
    /// Folds, each with a population of its own; 0 for one training, validation and test window as `data` says.
    pub folds: usize,
    /// Days of each training window; 0 trains on all bars before the validation window.
    pub train_days: u32,
    /// Days of each validation window.
    pub validation_days: u32,
    /// Days of each test window.
    pub test_days: u32,
    /// Bars that are left out at the end of the training and of the validation window.
    pub purge_bars: usize,
    /// Bars that are left out at the begin of the validation and of the test window.
    pub embargo_bars: usize,
}

impl WalkForward {
    /// The moments that divide each fold, of bars that end at `end_ns`. `from_ns` is the begin of training windows that are
    /// as long as possible.
    pub(crate) fn moments(&self, from_ns: Option<i64>, end_ns: i64) -> Vec<Moments> {
        let days = |n: u32| i64::from(n) * DAY_NS;
        (0..self.folds)
            .map(|fold| {
                let test_to_ns = end_ns - (self.folds - 1 - fold) as i64 * days(self.test_days);
                let test_from_ns = test_to_ns - days(self.test_days);
                let validation_from_ns = test_from_ns - days(self.validation_days);
                let rolling = (self.train_days > 0).then(|| validation_from_ns - days(self.train_days));
                Moments {
                    train_from_ns: rolling.or(from_ns),
                    validation_from_ns,
                    test_from_ns,
                    test_to_ns: Some(test_to_ns),
                }
            })
            .collect()
    }
}

impl Config {
    /// Whether the run walks forward.
    pub fn walks(&self) -> bool {
        self.data.walk_forward.folds > 0
    }

    /// Folds; one where the run does not walk forward.
    pub fn folds(&self) -> usize {
        self.data.walk_forward.folds.max(1)
    }

    /// Ids of the members of a fold, [`Config::population`] of them.
    pub fn ids_of_fold(&self, fold: usize) -> Vec<u64> {
        let base = fold as u64 * FOLD_IDS;
        if self.members.is_empty() {
            (0..self.population as u64).map(|id| base + id).collect()
        } else {
            self.members.iter().map(|id| base + id).collect()
        }
    }

    /// Id of each member, those of the first fold first.
    pub fn member_ids(&self) -> Vec<u64> {
        (0..self.folds()).flat_map(|fold| self.ids_of_fold(fold)).collect()
    }
}

/// What is wrong with the folds of a configuration beside its ranges.
pub(super) fn check(c: &Config) -> Result<(), String> {
    let (d, w) = (&c.data, &c.data.walk_forward);
    if w.folds == 0 {
        return if *w == WalkForward::default() {
            Ok(())
        } else {
            Err("data.walk_forward has windows and no folds: set data.walk_forward.folds too, to 2 or more"
                .into())
        };
    }
    for (key, days) in [("validation_days", w.validation_days), ("test_days", w.test_days)] {
        if days == 0 {
            return Err(format!("data.walk_forward.{key} is 0: give the days of the window"));
        }
    }
    for (key, text) in [("validation_from", &d.validation_from), ("test_from", &d.test_from)] {
        if !text.is_empty() {
            return Err(format!(
                "data.{key} and data.walk_forward.folds both divide the bars: leave one of them out"
            ));
        }
    }
    if w.train_days > 0 && !d.train_from.is_empty() {
        return Err("data.train_from begins all training windows, and data.walk_forward.train_days says how long each is: \
                    leave one of them out"
            .into());
    }
    if let Some(id) = c.members.iter().find(|id| **id >= FOLD_IDS) {
        return Err(format!("members has the id {id}: with folds ids must be below {FOLD_IDS}"));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(set: &[&str]) -> Result<Config, String> {
        let set: Vec<String> = set.iter().map(|s| (*s).to_owned()).collect();
        Config::resolve(None, None, &set).map_err(|e| e.to_string())
    }

    const TWO: [&str; 3] =
        ["data.walk_forward.folds=2", "data.walk_forward.validation_days=3", "data.walk_forward.test_days=5"];

    #[test]
    fn windows_follow_one_another_and_end_with_the_data() {
        let w =
            WalkForward { folds: 2, train_days: 10, validation_days: 3, test_days: 5, ..Default::default() };
        let at = |days: i64| days * DAY_NS;
        let moments = w.moments(Some(at(1)), at(100));
        let of = |m: &Moments| {
            (m.train_from_ns.unwrap(), m.validation_from_ns, m.test_from_ns, m.test_to_ns.unwrap())
        };
        assert_eq!(of(&moments[0]), (at(77), at(87), at(90), at(95)));
        assert_eq!(of(&moments[1]), (at(82), at(92), at(95), at(100)));
        let growing = WalkForward { train_days: 0, ..w }.moments(Some(at(1)), at(100));
        assert!(growing.iter().all(|m| m.train_from_ns == Some(at(1))));
        assert_eq!(growing[1].validation_from_ns, at(92));
    }

    #[test]
    fn a_member_is_the_same_however_many_folds_there_are() {
        let two = of(&[TWO[0], TWO[1], TWO[2], "population=2"]).unwrap();
        assert_eq!(two.member_ids(), [0, 1, 1_000_000, 1_000_001]);
        assert_eq!(two.ids_of_fold(1), [1_000_000, 1_000_001]);
        let three = of(&["data.walk_forward.folds=3", TWO[1], TWO[2], "population=2"]).unwrap();
        assert_eq!(three.member_ids()[..4], two.member_ids());
        let named = of(&[TWO[0], TWO[1], TWO[2], "population=1", "members=[7]"]).unwrap();
        assert_eq!(named.member_ids(), [7, 1_000_007]);
        assert_eq!(of(&["population=2"]).unwrap().member_ids(), [0, 1]);
        let again = Config::resolve(Some(("b", &named.to_toml().unwrap())), None, &[]).unwrap();
        assert_eq!(again, named);
    }

    #[test]
    fn what_does_not_fit_is_named() {
        for (more, words) in [
            (&["data.walk_forward.folds=0"][..], &["no folds", "data.walk_forward.folds"][..]),
            (&["data.walk_forward.test_days=0"], &["data.walk_forward.test_days is 0"]),
            (&["data.walk_forward.folds=1001"], &["data.walk_forward.folds is 1001"]),
            (
                &["data.validation_from=2021-01-01", "data.test_from=2022-01-01"],
                &["data.validation_from", "leave one of them out"],
            ),
            (
                &["data.walk_forward.train_days=9", "data.train_from=2020-01-01"],
                &["data.train_from", "train_days", "leave one"],
            ),
            (&["population=1", "members=[1000000]"], &["1000000", "below"]),
        ] {
            let error = of(&[&TWO, more].concat()).unwrap_err();
            assert!(words.iter().all(|word| error.contains(word)), "{more:?}: {error}");
        }
    }
}
