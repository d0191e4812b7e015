//! A run whose members have been chosen, as commands read it.

use super::{
    finish::{Choice, SELECTION, trials},
    place::read,
    source::own_config,
};
use crate::Failure;
use foxhunt_checkpoint::{NamedTensors, RunFolder, Save};
use foxhunt_core::DType;
use foxhunt_train::Config;
use std::path::Path;

/// What a finished run left.
pub(crate) struct TrainedRun {
    pub(crate) config: Config,
    pub(crate) config_text: String,
    pub(crate) saves: Vec<Save>,
    /// Of the last fold where the run walked forward, whose windows [`Market::prepare`](foxhunt_train::Market::prepare) gives.
    pub(crate) choices: Vec<Choice>,
    /// The same of every fold.
    pub(crate) of_folds: Vec<Choice>,
    /// Configurations that were tried for all choices, of every fold.
    pub(crate) trials: u32,
    /// Storage type of the weights.
    pub(crate) dtype: DType,
}

impl TrainedRun {
    /// `market` names the instrument of a run with several, which the run is narrowed to.
    pub(crate) fn open(run: &Path, market: Option<&str>) -> Result<Self, Failure> {
        let saves = RunFolder::list_saves(run)?;
        let (config, config_text) = own_config(run)?;
        let selection = run.join(SELECTION);
        if !selection.exists() {
            return Err(Failure::Refused(format!(
                "{0} has no {SELECTION}, which names its chosen members: finish it with foxhunt train --resume {0}",
                run.display()
            )));
        }
        let damaged = |what: String| {
            Failure::Unusable(format!(
                "{} is not as foxhunt wrote it ({what}): restore it from a copy, or remove it and make it again with foxhunt train \
                 --resume {}",
                selection.display(),
                run.display()
            ))
        };
        let mut choices: Vec<Choice> = serde_json::from_str(&read(&selection)?)
            .map_err(|e| damaged(foxhunt_core::plain_words(&e.to_string())))?;
        let ids = config.member_ids();
        if !choices.iter().map(|c| c.member).eq(ids.iter().copied()) {
            return Err(damaged(format!("it must name the members {}", list(ids))));
        }
        let config = narrowed(run, config, market)?;
        let own = config.member_ids();
        choices.retain(|c| own.contains(&c.member));
        let trials = trials(&choices);
        let of_folds = choices.clone();
        choices.drain(..choices.len().saturating_sub(config.population));
        let mut trained =
            TrainedRun { config, config_text, saves, choices, of_folds, trials, dtype: DType::F32 };
        if let Some(tensor) = trained.weights()?.first().and_then(|w| w.iter().next().map(|(_, t)| t.dtype)) {
            trained.dtype = tensor;
        }
        Ok(trained)
    }

    /// Ids of the members, in order.
    pub(crate) fn ids(&self) -> Vec<u64> {
        self.choices.iter().map(|c| c.member).collect()
    }

    /// The chosen weights of one member.
    pub(crate) fn saved_weights(&self, choice: &Choice) -> Result<NamedTensors, Failure> {
        Ok(saved(&self.saves, choice.epoch)?.load_weights(choice.member)?)
    }

    /// The chosen weights of every member, in order.
    pub(crate) fn weights(&self) -> Result<Vec<NamedTensors>, Failure> {
        self.choices.iter().map(|c| self.saved_weights(c)).collect()
    }
}

/// Members' ids as words.
pub(super) fn list(ids: impl IntoIterator<Item = u64>) -> String {
    ids.into_iter().map(|id| id.to_string()).collect::<Vec<_>>().join(", ")
}

/// The configuration of one instrument of a run.
fn narrowed(run: &Path, config: Config, market: Option<&str>) -> Result<Config, Failure> {
    let names: Vec<&str> = (0..config.markets()).filter_map(|m| config.market_name(m)).collect();
    let run = run.display();
    let at = match (market, &names[..]) {
        (None, []) => return Ok(config),
        (Some(name), []) => {
            return Err(Failure::Refused(format!(
                "{run} has no named instruments: leave --market {name} out"
            )));
        }
        (None, [_]) => 0,
        (None, _) => {
            let all = names.join(", ");
            return Err(Failure::Refused(format!("{run} has the instruments {all}: name one with --market")));
        }
        (Some(name), _) => names.iter().position(|n| *n == name).ok_or_else(|| {
            Failure::Refused(format!("{run} has no instrument {name}: name one of {}", names.join(", ")))
        })?,
    };
    Ok(config.of_market(at))
}

/// The save of an epoch.
pub(crate) fn saved(saves: &[Save], epoch: u64) -> Result<&Save, Failure> {
    saves.iter().find(|s| s.epoch() == epoch).ok_or_else(|| {
        Failure::Unusable(format!(
            "the weights of epoch {epoch} are gone: train again, or restore its folder"
        ))
    })
}
