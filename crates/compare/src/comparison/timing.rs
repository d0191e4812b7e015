//! How long an arm took.

use crate::{Arm, Finished, Slice};
use serde::Serialize;
use std::collections::BTreeMap;

/// Times of an arm, of its largest slices alone: a slice of two members says little of one of 64.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct StepTime {
    /// Members of a slice.
    pub members: usize,
    /// Epochs that were timed.
    pub epochs: usize,
    /// Median time of an update, µs, of all members of the slice.
    pub update_us: f64,
    /// Median time of an epoch, s: collecting and learning.
    pub epoch_s: f64,
    /// All slices of the arm together, s, with compilation and evaluations.
    pub total_s: f64,
}

pub(super) fn of(finished: &Finished) -> BTreeMap<Arm, StepTime> {
    let of_arm = |arm: Arm| {
        let slices: Vec<&Slice> = finished.slices().iter().filter(|s| s.arm == arm).collect();
        let members = slices.iter().map(|s| s.members.len()).max()?;
        let epochs: Vec<_> =
            slices.iter().filter(|s| s.members.len() == members).flat_map(|s| &s.timing.epochs).collect();
        let updates = slices.iter().flat_map(|s| &s.members).find_map(|m| {
            let epochs = m.loss.len() as u64;
            (epochs > 0).then(|| m.gauges.steps as f64 / epochs as f64)
        })?;
        let learn = median(epochs.iter().map(|e| e.learn_s).collect());
        Some(StepTime {
            members,
            epochs: epochs.len(),
            update_us: learn / updates.max(1.0) * 1e6,
            epoch_s: median(epochs.iter().map(|e| e.collect_s + e.learn_s).collect()),
            total_s: slices.iter().map(|s| s.timing.total_s).sum(),
        })
    };
    Arm::ALL.into_iter().filter_map(|arm| Some((arm, of_arm(arm)?))).collect()
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    let middle = values.len() / 2;
    match values.len() {
        0 => 0.0,
        n if n.is_multiple_of(2) => (values[middle - 1] + values[middle]) / 2.0,
        _ => values[middle],
    }
}
