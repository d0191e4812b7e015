//! What follows the last epoch: the choice of each member's epoch on the validation window, the backtest on the test
//! window, its ledger and the report.

use super::{
    folds, markets, place,
    report::{Paper, Written, read_metrics, write_paper},
    stop,
    trained::saved,
};
use crate::{
    Failure,
    tensorboard::{Events, Scores},
};
use foxhunt_backtest::{Agents, Backtest, BacktestError, Ends, TestWindow, recorded};
use foxhunt_checkpoint::{NamedTensors, Save, apply};
use foxhunt_core::DType;
use foxhunt_device::Device;
use foxhunt_ledger::Ledger;
use foxhunt_report::StressLine;
use foxhunt_train::{Config, Group, Market};
use serde::{Deserialize, Serialize};
use std::{collections::BTreeMap, path::Path};

/// File of a run that says which epoch of each member was chosen.
pub(crate) const SELECTION: &str = "selection.json";
/// Folder of a run with its backtest's bars and fills.
pub(crate) const LEDGER: &str = "ledger";
/// Figures of a run's page, for programs.
pub(crate) const FIGURES: &str = "figures.json";
/// The page of a run.
pub(crate) const REPORT: &str = "report.html";

/// What the end of a run writes into its folder, and what is missing of it can be written again from its checkpoints.
pub(crate) fn end_files(config: &Config) -> Vec<String> {
    let mut files = vec![SELECTION.to_owned(), REPORT.to_owned()];
    let own = [LEDGER, REPORT, FIGURES];
    if config.lists_markets() {
        let names = config.data.markets.iter().map(|market| &market.name);
        files.extend(names.flat_map(|name| own.map(|file| format!("{name}/{file}"))));
    } else {
        files.extend([LEDGER, FIGURES].map(str::to_owned));
    }
    files
}

/// The choice of one member.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Choice {
    /// The instrument's name, where several are listed and each has members of its own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) market: Option<String>,
    /// The fold, where the run walks forward.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) fold: Option<usize>,
    /// Member's id.
    pub(crate) member: u64,
    /// Epochs done when the chosen weights were saved.
    pub(crate) epoch: u64,
    /// Equity at the end of the validation window over its start, less 1; the mean over instruments that share a policy.
    pub(crate) validation_return: f64,
    /// Epochs that were compared.
    pub(crate) of: usize,
    /// Whether the validation window chose this member among all of its fold and instrument: the first with the largest return.
    pub(crate) chosen: bool,
}

impl Choice {
    /// Whether it is of a member that trained on the instrument with this name.
    pub(crate) fn is_of(&self, name: &str) -> bool {
        self.market.as_deref().is_none_or(|own| own == name)
    }
}

/// What a finished training hands over.
#[derive(Clone, Copy)]
pub(crate) struct Finish<'a> {
    /// The run's folder.
    pub(crate) folder: &'a Path,
    /// Where ledger and page go: that folder, or the instrument's own in it.
    pub(crate) out: &'a Path,
    pub(crate) saves: &'a [Save],
    pub(crate) config: &'a Config,
    pub(crate) config_text: &'a str,
    /// Of each instrument the market of each fold: those of [`Market::all`].
    pub(crate) markets: &'a [Market],
    pub(crate) device: &'a Device,
    pub(crate) dtype: DType,
    /// Where TensorBoard finds the validation window's returns.
    pub(crate) events: &'a Events,
}

/// Chooses, backtests, writes; gives the lines for the terminal.
pub(crate) fn finish(x: &Finish<'_>) -> Result<String, Failure> {
    let (mut choices, mut scores) = (Vec::new(), BTreeMap::new());
    for group in x.config.groups() {
        let (chosen, returns) = choose(x, &group)?;
        choices.extend(chosen);
        scores.extend(returns);
    }
    stop::here()?;
    x.events.finish(&read_metrics(x.folder)?, &scores)?;
    place::write_json(&x.folder.join(SELECTION), &choices)?;
    if x.config.lists_markets() { markets::finish(x, &choices) } else { Ok(test(x, &choices)?.text) }
}

/// What the test of one instrument came to.
pub(crate) struct Tested {
    /// Lines for the terminal.
    pub(crate) text: String,
    /// What its page is of.
    pub(crate) ledger: Ledger,
    /// The chosen member there.
    pub(crate) member: u32,
    /// The choice in words.
    pub(crate) chosen: String,
    /// Buy and hold first.
    pub(crate) baselines: Vec<Ledger>,
    /// All members under stress.
    pub(crate) stress: Vec<StressLine>,
}

/// Tests the chosen members of one instrument.
pub(crate) fn test(x: &Finish<'_>, choices: &[Choice]) -> Result<Tested, Failure> {
    match x.markets {
        [market] if !x.config.walks() => one(x, market, choices),
        _ => folds::finish(x, choices),
    }
}

/// A run with one test window.
fn one(x: &Finish<'_>, market: &Market, choices: &[Choice]) -> Result<Tested, Failure> {
    let backtest = Backtest::new(x.device, x.dtype, x.config, market, TestWindow::test(market))?;
    let members = Chosen::load(x.saves, choices)?.on(&backtest)?;
    let ledger = members.run(&backtest)?;
    let (member, chosen) = chosen(x.config, choices);
    let Written { text, baselines, stress } = members.paper(&Paper {
        folder: x.out,
        run: Some(x.folder),
        backtest: &backtest,
        ledger: &ledger,
        chosen: Some(member),
        given: None,
        folds: &[],
        config_text: x.config_text,
    })?;
    Ok(Tested {
        text: format!("chosen on the validation window: {chosen}\n{text}"),
        ledger,
        member,
        chosen,
        baselines,
        stress,
    })
}

/// The place of the chosen member, and the choice in words.
pub(crate) fn chosen(config: &Config, choices: &[Choice]) -> (u32, String) {
    let member = choices.iter().position(|c| c.chosen).unwrap_or(0);
    let words = |c: &Choice| format!("member {} after epoch {}", config.number_of(c.member), c.epoch);
    (member as u32, choices.get(member).map(words).unwrap_or_default())
}

/// What each member's equity has grown by at the end of a backtest with the weights of a save.
fn returns_of(agents: &Agents<'_>, ids: &[u64], save: &Save) -> Result<Vec<f64>, Failure> {
    let load = |id: &u64| Ok(save.load_weights(*id)?);
    let weights = ids.iter().map(load).collect::<Result<Vec<NamedTensors>, Failure>>()?;
    let ends = agents.ends(|runtime, net| {
        for (m, w) in weights.iter().enumerate() {
            apply(runtime, net, m, w)?;
        }
        Ok(())
    })?;
    Ok(ends.into_iter().map(Ends::total_return).collect())
}

/// Members on the validation window of each of their markets.
fn validating<'a>(
    device: &'a Device,
    dtype: DType,
    config: &'a Config,
    markets: &'a [Market],
    group: &Group,
) -> Result<Vec<Agents<'a>>, Failure> {
    let one = |number: &usize| {
        let market = &markets[*number];
        let backtest = Backtest::new(device, dtype, config, market, TestWindow::validation(market))?;
        Ok(backtest.compile(&group.ids)?)
    };
    group.markets.iter().map(one).collect()
}

/// What each member's equity has grown by with the weights of a save, the mean over its markets.
fn mean_returns(agents: &[Agents<'_>], ids: &[u64], save: &Save) -> Result<Vec<f64>, Failure> {
    let all: Vec<Vec<f64>> =
        agents.iter().map(|a| returns_of(a, ids, save)).collect::<Result<_, Failure>>()?;
    let mean = |m: usize| all.iter().map(|of| of[m]).sum::<f64>() / all.len() as f64;
    Ok((0..ids.len()).map(mean).collect())
}

/// All members on their validation windows, compiled once for every epoch.
pub(crate) struct Validation<'a>(Vec<(Group, Vec<Agents<'a>>)>);

impl<'a> Validation<'a> {
    pub(crate) fn new(
        device: &'a Device,
        dtype: DType,
        config: &'a Config,
        markets: &'a [Market],
    ) -> Result<Self, Failure> {
        let one = |group: Group| {
            let agents = validating(device, dtype, config, markets, &group)?;
            Ok((group, agents))
        };
        Ok(Validation(config.groups().into_iter().map(one).collect::<Result<_, Failure>>()?))
    }

    /// Returns of one epoch's members, instrument by instrument and fold by fold, as the choice will see them.
    pub(crate) fn returns(&self, save: &Save) -> Result<Vec<f64>, Failure> {
        let mut all = Vec::new();
        for (group, agents) in &self.0 {
            all.extend(mean_returns(agents, &group.ids, save)?);
        }
        Ok(all)
    }
}

/// For each member of a fold, with its returns of all epochs, the epoch whose greedy policy ends the validation window with the
/// most; ties to the earliest.
fn choose(x: &Finish<'_>, group: &Group) -> Result<(Vec<Choice>, BTreeMap<u64, Scores>), Failure> {
    let ids = &group.ids;
    let agents = validating(x.device, x.dtype, x.config, x.markets, group)?;
    let mut best: Vec<Option<Choice>> = vec![None; ids.len()];
    let mut scores: BTreeMap<u64, Scores> = BTreeMap::new();
    for save in x.saves {
        stop::here()?;
        let returns = mean_returns(&agents, ids, save)?;
        for (m, id) in ids.iter().enumerate() {
            let validation_return = returns[m];
            scores.entry(*id).or_default().insert(save.epoch(), validation_return);
            let slot = &mut best[m];
            if slot.as_ref().is_none_or(|b| validation_return > b.validation_return) {
                *slot = Some(Choice {
                    market: group.market.and_then(|m| x.config.market_name(m)).map(str::to_owned),
                    fold: x.config.walks().then_some(group.fold),
                    member: *id,
                    epoch: save.epoch(),
                    validation_return,
                    of: x.saves.len(),
                    chosen: false,
                });
            }
        }
    }
    let missing = || Failure::Unusable(format!("{} has no saved weights to choose from", x.folder.display()));
    let mut choices = best.into_iter().collect::<Option<Vec<_>>>().ok_or_else(missing)?;
    let largest = choices.iter().map(|c| c.validation_return).fold(f64::NEG_INFINITY, f64::max);
    if let Some(chosen) = choices.iter_mut().find(|c| c.validation_return == largest) {
        chosen.chosen = true;
    }
    Ok((choices, scores))
}

/// What stood behind the choice of one member and one epoch of each fold.
pub(crate) fn trials(choices: &[Choice]) -> u32 {
    u32::try_from(choices.iter().map(|c| c.of).sum::<usize>()).unwrap_or(u32::MAX)
}

/// Members with the weights that were chosen, to be run over any stretch and by any rules.
pub(crate) struct Chosen {
    ids: Vec<u64>,
    weights: Vec<NamedTensors>,
    trials: u32,
}

impl Chosen {
    pub(crate) fn load(saves: &[Save], choices: &[Choice]) -> Result<Self, Failure> {
        Self::after(saves, choices, trials(choices))
    }

    /// As [`Chosen::load`], where more was tried than led to these choices.
    pub(crate) fn after(saves: &[Save], choices: &[Choice], trials: u32) -> Result<Self, Failure> {
        let load = |c: &Choice| Ok(saved(saves, c.epoch)?.load_weights(c.member)?);
        Ok(Chosen {
            ids: choices.iter().map(|c| c.member).collect(),
            weights: choices.iter().map(load).collect::<Result<_, Failure>>()?,
            trials,
        })
    }

    /// The members ready to trade a stretch, by any rules.
    pub(crate) fn on<'a>(&self, backtest: &Backtest<'a>) -> Result<Traders<'a>, BacktestError> {
        let agents = backtest.clone().with_trials(self.trials).compile(&self.ids)?;
        for (m, w) in self.weights.iter().enumerate() {
            let filled = apply(agents.runtime(), agents.net(), m, w);
            filled.map_err(|e| BacktestError::Weights(e.into()))?;
        }
        Ok(Traders { agents, trials: self.trials })
    }
}

/// Members with their weights on a stretch, compiled once.
pub(crate) struct Traders<'a> {
    agents: Agents<'a>,
    trials: u32,
}

impl Traders<'_> {
    /// The ledger of each member's greedy policy by the rules and spread of `backtest`, which must be of the same stretch.
    pub(crate) fn run(&self, backtest: &Backtest<'_>) -> Result<Ledger, BacktestError> {
        self.agents.run_by(backtest)
    }

    /// Page and ledger, with the policy itself under stress.
    pub(crate) fn paper(&self, paper: &Paper<'_>) -> Result<Written, Failure> {
        let actions = recorded(paper.ledger);
        write_paper(paper, &mut |b| Ok(self.run(b)?), &mut |b| {
            Ok(b.clone().with_trials(self.trials).strategy(&actions.delayed(b.window().decisions()))?)
        })
    }
}
