//! One slice: some members of one arm, trained and measured.

use crate::{
    Arm, CompareError, Gauges, Measure, Result,
    examine::Examiner,
    gauges::{Probe, memory},
};
use foxhunt_checkpoint::save_weights;
use foxhunt_device::Device;
use foxhunt_train::{Config, EpochReport, Market, Trainer};
use serde::{Deserialize, Serialize};
use std::{fs, path::Path, time::Instant};

/// Regret of a log return on a window of this name, as [`Measure::Regret`] defines it.
pub type RegretOf<'a> = dyn Fn(&str, f64) -> f64 + 'a;

/// What all arms train on, and how it is scored.
#[derive(Clone, Copy)]
pub struct Task<'a> {
    /// The configuration that arms patch.
    pub config: &'a Config,
    /// The market, or those of instruments that share a policy, over which scores are means.
    pub markets: &'a [Market],
    /// Regret, where the market's optimum is known; without it members are scored by their Sharpe ratio.
    pub regret: Option<&'a RegretOf<'a>>,
    /// Epochs between two evaluations; the last epoch is always evaluated.
    pub every: u32,
    /// The comparison's [`Setting::fingerprint`](crate::Setting::fingerprint).
    pub fingerprint: &'a str,
}

impl Task<'_> {
    /// What members are scored by.
    pub fn measure(&self) -> Measure {
        if self.regret.is_some() { Measure::Regret } else { Measure::Sharpe }
    }
}

/// Whoever watches a slice.
pub trait Control {
    /// Called after every epoch.
    fn epoch(&mut self, reports: &[EpochReport]);
    /// Whether to stop after this epoch and forget the slice.
    fn stop(&mut self) -> bool;
}

/// One evaluation of a greedy policy on the validation window.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Point {
    /// Epochs done.
    pub epoch: u32,
    /// Regret, where it is known.
    pub regret: Option<f64>,
    /// Equity at the end over its start, minus 1.
    pub total_return: Option<f64>,
}

/// What weights came to on the test window.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Scores {
    /// Epochs done when the weights were taken.
    pub epoch: u32,
    /// Regret, where it is known.
    pub regret: Option<f64>,
    /// Sharpe ratio per session day; 0 for an account that never changed, which the ratio itself leaves undefined.
    pub sharpe: Option<f64>,
    /// Equity at the end over its start, minus 1.
    pub total_return: Option<f64>,
    /// Whether the account was ruined before the window's end.
    pub ruined: bool,
}

/// One member of one arm. Nothing in it depends on a clock, or on who else was in its slice.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Member {
    /// Its id, which its seed follows from: the same in every arm.
    pub id: u64,
    /// Mean loss of each epoch; nothing where none was finite.
    pub loss: Vec<Option<f64>>,
    /// The validation window, epoch by epoch.
    pub curve: Vec<Point>,
    /// The test window by the weights that the validation window chose: the evaluation with the largest return, ties to the
    /// earliest.
    pub chosen: Scores,
    /// The test window by the last epoch's weights.
    pub last: Scores,
    /// What happened to its weights.
    pub gauges: Gauges,
}

/// Seconds of one epoch.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EpochTime {
    /// Collecting transitions.
    pub collect_s: f64,
    /// All updates.
    pub learn_s: f64,
}

/// What a clock said of a slice.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SliceTiming {
    /// Each epoch.
    pub epochs: Vec<EpochTime>,
    /// Everything: compilation, epochs, evaluations.
    pub total_s: f64,
}

/// Some members of one arm.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Slice {
    /// Of the comparison that it belongs to.
    pub fingerprint: String,
    /// How numbers were stored.
    pub arm: Arm,
    /// The GPU's name, or CPU. Members are the same bits on the same kind of device only.
    pub device: String,
    /// Its members.
    pub members: Vec<Member>,
    /// Bytes of device memory by purpose, of the slice as a whole.
    pub memory: Vec<(String, u64)>,
    /// Bytes of one member's file of weights.
    pub checkpoint_bytes: u64,
    /// What a clock said; all else is the same bytes again on the same device.
    pub timing: SliceTiming,
}

/// Trains the members `ids` of an arm, measures them, and gives the slice; nothing where `control` stopped it. `scratch` is a
/// file that does not exist, in a folder that does: weights are written there, measured, and removed.
///
/// # Errors
/// Sizes that don't fit, the device, the disk; [`CompareError::Slice`] says whose.
pub fn run_slice(
    device: &Device,
    task: &Task<'_>,
    arm: Arm,
    ids: &[u64],
    scratch: &Path,
    control: &mut dyn Control,
) -> Result<Option<Slice>> {
    train(device, task, arm, ids, scratch, control).map_err(|source| CompareError::Slice {
        arm,
        first: ids.first().copied().unwrap_or_default(),
        last: ids.last().copied().unwrap_or_default(),
        source: Box::new(source),
    })
}

fn train(
    device: &Device,
    task: &Task<'_>,
    arm: Arm,
    ids: &[u64],
    scratch: &Path,
    control: &mut dyn Control,
) -> Result<Option<Slice>> {
    let start = Instant::now();
    // F32 is a baseline only without TF32's ten bits.
    device.set_tf32(false);
    let mut config = arm.apply(task.config);
    (config.population, config.members) = (ids.len(), ids.to_vec());
    let mut trainer = Trainer::on(device, arm.dtype(), &config, task.markets)?;
    let mut examiner = Examiner::new(device, arm.dtype(), &config, task)?;
    let mut probe = Probe::new(&trainer)?;
    let mut losses = vec![Vec::new(); ids.len()];
    let mut counters = Vec::new();
    let mut epochs = Vec::new();
    for done in 1..=config.epochs {
        if done == config.epochs {
            probe.before_last_epoch(&trainer)?;
        }
        let reports = timed_epoch(&mut trainer, &mut epochs)?;
        for (member, report) in reports.iter().enumerate() {
            losses[member].push(report.loss.filter(|x| x.is_finite()));
        }
        if done.is_multiple_of(task.every) || done == config.epochs {
            examiner.look(done, &trainer)?;
        }
        control.epoch(&reports);
        counters = reports;
        if control.stop() && done < config.epochs {
            return Ok(None);
        }
    }
    let step = rates_of_last_epoch(&config);
    let gauges = probe.finish(&trainer, step)?;
    let checkpoint_bytes = weights_bytes(&trainer, scratch)?;
    let memory = memory(&trainer);
    let examined = examiner.finish(&trainer, config.epochs)?;
    let members = ids.iter().zip(losses).zip(examined).zip(gauges).zip(&counters);
    let members = members.map(|((((&id, loss), (curve, chosen, last)), gauges), report)| {
        let lost_epochs = loss.iter().filter(|x| x.is_none()).count() as u64;
        let gauges = Gauges { steps: report.steps, skipped: report.skipped, lost_epochs, ..gauges };
        Member { id, loss, curve, chosen, last, gauges }
    });
    Ok(Some(Slice {
        fingerprint: task.fingerprint.to_owned(),
        arm,
        device: device.cuda_info().map_or_else(|| "CPU".to_owned(), |info| info.name.clone()),
        members: members.collect(),
        memory,
        checkpoint_bytes,
        timing: SliceTiming { epochs, total_s: start.elapsed().as_secs_f64() },
    }))
}

/// An epoch, with a wait between its parts so that each has its own time.
fn timed_epoch(trainer: &mut Trainer, epochs: &mut Vec<EpochTime>) -> Result<Vec<EpochReport>> {
    let device = trainer.runtime().device().clone();
    let start = Instant::now();
    trainer.collect()?;
    device.synchronize()?;
    let collect_s = start.elapsed().as_secs_f64();
    trainer.learn()?;
    device.synchronize()?;
    epochs.push(EpochTime { collect_s, learn_s: start.elapsed().as_secs_f64() - collect_s });
    Ok(trainer.close_epoch()?)
}

fn weights_bytes(trainer: &Trainer, scratch: &Path) -> Result<u64> {
    save_weights(trainer.runtime(), trainer.net(), 0, scratch)?;
    let bytes = fs::metadata(scratch).map_err(|e| CompareError::io("read", scratch, e))?.len();
    fs::remove_file(scratch).map_err(|e| CompareError::io("remove", scratch, e))?;
    Ok(bytes)
}

/// Sum of the learning rates of the last epoch's updates: the rate falls by the same each step.
fn rates_of_last_epoch(config: &Config) -> f64 {
    let (l, updates) = (&config.learn, config.learn.updates as f64);
    let all = updates * f64::from(config.epochs);
    let fallen = (1.0 - l.learning_rate_end) * (all - (updates - 1.0) / 2.0) / all;
    l.learning_rate * updates * (1.0 - fallen)
}

#[cfg(test)]
mod tests {
    use super::*;
    use foxhunt_train::Size;

    #[test]
    fn the_last_epochs_rates() {
        let mut config = Config::of(Size::Small);
        (config.epochs, config.learn.updates, config.learn.learning_rate) = (2, 2, 0.5);
        assert_eq!(rates_of_last_epoch(&config), 1.0);
        // After 3 and 4 of 4 steps: 0.5 (1 - 0.8 3/4) and 0.5 (1 - 0.8).
        config.learn.learning_rate_end = 0.2;
        assert!((rates_of_last_epoch(&config) - 0.3).abs() < 1e-15);
    }
}
