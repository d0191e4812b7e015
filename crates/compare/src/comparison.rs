//! Everything that is reported, from slices alone.

mod curves;
mod differences;
mod timing;

pub use curves::{Curve, CurvePoint};
pub use differences::Difference;
pub use timing::StepTime;

use crate::{
    Arm, Finished, Measure, Member, Quantity, Setting,
    statistics::{Bootstrap, Estimate},
};
use differences::{default_of, difference};
use foxhunt_metrics::{Metric, Spread, over_members};
use serde::Serialize;
use std::collections::BTreeMap;

/// Resamples behind intervals of results.
const DRAWS: u32 = 10_000;
/// Resamples behind each point of a learning curve.
const CURVE_DRAWS: u32 = 1_000;

/// A quantity over the members of an arm.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Summary {
    /// Which.
    pub quantity: Quantity,
    /// Members that have it.
    pub defined: usize,
    /// IQM with its bootstrap interval; none without members.
    pub iqm: Option<Estimate>,
    /// Mean.
    pub mean: Option<f64>,
    /// Standard deviation (n − 1).
    pub sd: Option<f64>,
    /// Of every member, by rising id.
    pub values: Vec<Option<f64>>,
}

/// What went wrong in an arm's trainings.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Divergences {
    /// Optimiser steps, of all members.
    pub steps: u64,
    /// Of those, skipped for a gradient that was not finite.
    pub skipped: u64,
    /// Epochs without a finite loss.
    pub lost_epochs: u64,
    /// Members whose account was ruined on the test window, by the last epoch's weights.
    pub ruined: u64,
    /// Members of whom any of this is true.
    pub members: u64,
}

/// Device memory of one slice of an arm: the largest.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Memory {
    /// Its members.
    pub members: usize,
    /// Bytes by purpose, in the order of charts.
    pub by_purpose: Vec<(String, u64)>,
    /// Their sum.
    pub bytes: u64,
}

/// One arm.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ArmResult {
    /// Which.
    pub arm: Arm,
    /// Ids of its finished members.
    pub ids: Vec<u64>,
    /// Quantities over members, the score first.
    pub summaries: Vec<Summary>,
    /// What went wrong.
    pub divergences: Divergences,
    /// Device memory.
    pub memory: Option<Memory>,
    /// Bytes of one member's file of weights.
    pub checkpoint_bytes: Option<u64>,
    /// By epoch.
    pub curves: Vec<Curve>,
}

/// What is not there yet.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Gap {
    /// The arm.
    pub arm: Arm,
    /// Members that were asked for and aren't finished.
    pub ids: Vec<u64>,
}

/// A comparison.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Comparison {
    /// What was compared.
    pub setting: Setting,
    /// Kinds of devices that slices were trained on.
    pub devices: Vec<String>,
    /// Resamples behind each interval, and the seed of their stream.
    pub bootstrap: (u32, u64),
    /// What is not there yet.
    pub missing: Vec<Gap>,
    /// The arm that the configuration itself is when it trains in BF16.
    pub own: Arm,
    /// The arm to report by default: the configuration's own, or F32 where that is worse.
    pub reported_default: Arm,
    /// Why, in a sentence.
    pub because: String,
    /// Arms with finished members.
    pub arms: Vec<ArmResult>,
    /// Arm − F32: of every BF16 arm and quantity.
    pub differences: Vec<Difference>,
    /// What clocks said, by arm. All else is the same bytes again on the same devices.
    pub timing: BTreeMap<Arm, StepTime>,
}

/// Computes a comparison from finished members. `own` is the arm that the configuration itself is in BF16, `arms` and `ids`
/// are what was asked for.
pub fn compare(setting: &Setting, own: Arm, finished: &Finished, arms: &[Arm], ids: &[u64]) -> Comparison {
    let measure = setting.measure;
    let how = Bootstrap { draws: DRAWS, seed: setting.config.seed };
    let members = |arm: Arm| finished.of(arm).collect::<Vec<&Member>>();
    let results: Vec<ArmResult> = Arm::ALL
        .into_iter()
        .map(|arm| arm_result(arm, &members(arm), finished, measure, how))
        .filter(|result| !result.ids.is_empty())
        .collect();
    let base = members(Arm::F32);
    let mut differences = Vec::new();
    if !base.is_empty() {
        for arm in results.iter().map(|r| r.arm).filter(|arm| *arm != Arm::F32) {
            let of_arm = members(arm);
            let of = |q: Quantity| difference(arm, q, &of_arm, &base, measure, how);
            differences.extend(Quantity::of(measure).into_iter().map(of));
        }
    }
    let missing = arms
        .iter()
        .map(|&arm| {
            let have: Vec<u64> = finished.of(arm).map(|m| m.id).collect();
            Gap { arm, ids: ids.iter().copied().filter(|id| have.binary_search(id).is_err()).collect() }
        })
        .filter(|gap| !gap.ids.is_empty())
        .collect();
    let mut devices: Vec<String> = finished.slices().iter().map(|s| s.device.clone()).collect();
    devices.sort();
    devices.dedup();
    let (reported_default, because) = default_of(own, &differences);
    Comparison {
        setting: setting.clone(),
        devices,
        bootstrap: (how.draws, how.seed),
        missing,
        own,
        reported_default,
        because,
        arms: results,
        differences,
        timing: timing::of(finished),
    }
}

impl Comparison {
    /// The difference of scores of an arm to F32.
    pub fn score_of(&self, arm: Arm) -> Option<&Difference> {
        let score = Quantity::score(self.setting.measure);
        self.differences.iter().find(|d| d.arm == arm && d.quantity == score)
    }
}

fn arm_result(
    arm: Arm,
    members: &[&Member],
    finished: &Finished,
    measure: Measure,
    how: Bootstrap,
) -> ArmResult {
    let summaries = Quantity::of(measure).into_iter().map(|quantity| {
        let values: Vec<Option<f64>> = members.iter().map(|m| quantity.value(m, measure)).collect();
        let defined: Vec<f64> = values.iter().copied().flatten().collect();
        let spread = spread(&defined);
        let iqm = how.iqm(&defined);
        Summary {
            quantity,
            defined: defined.len(),
            iqm,
            mean: mean(&defined),
            sd: spread.map(|s| s.sd),
            values,
        }
    });
    let slices = || finished.slices().iter().filter(|s| s.arm == arm);
    let largest =
        slices().max_by_key(|s| (s.members.len(), std::cmp::Reverse(s.members.first().map(|m| m.id))));
    ArmResult {
        arm,
        ids: members.iter().map(|m| m.id).collect(),
        summaries: summaries.collect(),
        divergences: divergences(members),
        memory: largest.map(|s| Memory {
            members: s.members.len(),
            by_purpose: s.memory.clone(),
            bytes: s.memory.iter().map(|(_, bytes)| bytes).sum(),
        }),
        checkpoint_bytes: largest.map(|s| s.checkpoint_bytes),
        curves: curves::of(members, measure, Bootstrap { draws: CURVE_DRAWS, ..how }),
    }
}

fn divergences(members: &[&Member]) -> Divergences {
    let mut sum = Divergences::default();
    for m in members {
        let (g, ruined) = (&m.gauges, u64::from(m.last.ruined));
        sum.steps += g.steps;
        sum.skipped += g.skipped;
        sum.lost_epochs += g.lost_epochs;
        sum.ruined += ruined;
        sum.members += u64::from(g.skipped + g.lost_epochs + ruined > 0);
    }
    sum
}

fn spread(values: &[f64]) -> Option<Spread> {
    let metrics: Vec<Metric> = values.iter().map(|x| Metric::Value(*x)).collect();
    over_members(&metrics).ok()
}

fn mean(values: &[f64]) -> Option<f64> {
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
}
