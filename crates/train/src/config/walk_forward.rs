//! Walk-forward: folds that follow one another in time, each with its own training, validation and test window.

use super::{Config, MARKET_IDS};
use foxhunt_features::Moments;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Ids of the members of a fold begin at the number of folds after it times this. Folds end with the data, so that one more
/// is one more at the begin: counted from the end, the others keep their windows, ids and with them their bits.
pub const FOLD_IDS: u64 = 1_000_000;
/// Most folds, whose ids lie between those of two instruments.
pub(super) const MAX_FOLDS: u32 = 1_000;
const DAY_NS: i64 = 86_400_000_000_000;

/// Folds of a walk-forward run (Pardo 2008; purge and embargo as in López de Prado 2018, chapter 7, where windows only follow
/// one another). The last test window ends where the data do, and each fold begins one test window after the one before it.
///
/// Episodes and n-step returns end with their window: an environment never reads a bar after it. What two neighbouring windows
/// could still share are the bars before a boundary, which the first observations after it look back on. Purging takes the last
/// rows of the earlier window away, nobody acts there; an embargo the first rows of the later one, nobody acts there either.
/// Features read both. Training windows may hold bars that earlier folds were tested on, never ones that their own or a later
/// fold is validated or tested on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
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
    /// Bars that are left out at the end of the training and of the validation window; -1 for as many as an n-step return and
    /// an observation span together: `learn.n_step` + `network.lookback` - 1.
    pub purge_bars: i64,
    /// Bars that are left out at the begin of the validation and of the test window, for what indicators remember for longer
    /// than an observation's rows. Between test windows the stitched account is then flat.
    pub embargo_bars: usize,
}

impl Default for WalkForward {
    fn default() -> Self {
        WalkForward {
            folds: 0,
            train_days: 0,
            validation_days: 0,
            test_days: 0,
            purge_bars: -1,
            embargo_bars: 0,
        }
    }
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

    /// Whether windows lie between moments, and not between shares of the rows.
    pub fn divides_by_time(&self) -> bool {
        self.walks() || !self.data.test_from.is_empty()
    }

    /// Folds; one where the run does not walk forward.
    pub fn folds(&self) -> usize {
        self.data.walk_forward.folds.max(1)
    }

    /// Bars that purging takes from the end of a training or validation window.
    pub fn purge_bars(&self) -> usize {
        let spanned = self.learn.n_step + self.network.lookback - 1;
        usize::try_from(self.data.walk_forward.purge_bars).unwrap_or(spanned)
    }

    /// The fold of a member.
    pub fn fold_of(&self, id: u64) -> usize {
        (self.folds() - 1).saturating_sub((id % MARKET_IDS / FOLD_IDS) as usize)
    }

    /// Ids of the members of a fold, [`Config::population`] of them; of the first instrument where several are listed.
    pub fn ids_of_fold(&self, fold: usize) -> Vec<u64> {
        self.ids_of(0, fold)
    }

    /// Ids of the members of an instrument's fold.
    pub fn ids_of(&self, market: usize, fold: usize) -> Vec<u64> {
        let base = self.market_base(market) + (self.folds() - 1).saturating_sub(fold) as u64 * FOLD_IDS;
        if self.members.is_empty() {
            (0..self.population as u64).map(|id| base + id).collect()
        } else {
            self.members.iter().map(|id| base + id).collect()
        }
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
        assert_eq!(two.member_ids(), [1_000_000, 1_000_001, 0, 1]);
        assert_eq!(two.ids_of_fold(1), [0, 1]);
        assert_eq!(two.member_ids().iter().map(|id| two.fold_of(*id)).collect::<Vec<_>>(), [0, 0, 1, 1]);
        let three = of(&["data.walk_forward.folds=3", TWO[1], TWO[2], "population=2"]).unwrap();
        assert_eq!(three.member_ids()[2..], two.member_ids());
        // The windows go with the ids.
        let moments = |c: &Config| c.data.walk_forward.moments(Some(DAY_NS), 100 * DAY_NS);
        assert_eq!(moments(&three)[1..], moments(&two));
        let named = of(&[TWO[0], TWO[1], TWO[2], "population=1", "members=[7]"]).unwrap();
        assert_eq!(named.member_ids(), [1_000_007, 7]);
        assert_eq!(of(&["population=2"]).unwrap().member_ids(), [0, 1]);
        let again = Config::resolve(Some(("b", &named.to_toml().unwrap())), None, &[]).unwrap();
        assert_eq!(again, named);
    }

    #[test]
    fn purging_spans_return_and_observation_unless_told() {
        let purge = |more: &[&str]| of(&[&TWO, more].concat()).unwrap().purge_bars();
        assert_eq!(purge(&[]), 3, "n_step 3, one row of features");
        assert_eq!(purge(&["learn.n_step=5", "network.lookback=4", "network.inputs=128"]), 8);
        assert_eq!(purge(&["data.walk_forward.purge_bars=0"]), 0);
        assert_eq!(purge(&["data.walk_forward.purge_bars=48"]), 48);
    }

    #[test]
    fn what_does_not_fit_is_named() {
        for (more, words) in [
            (&["data.walk_forward.folds=0"][..], &["no folds", "data.walk_forward.folds"][..]),
            (&["data.walk_forward.test_days=0"], &["data.walk_forward.test_days is 0"]),
            (&["data.walk_forward.folds=1001"], &["data.walk_forward.folds is 1001"]),
            (&["data.walk_forward.purge_bars=-2"], &["data.walk_forward.purge_bars is -2", "-1"]),
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
