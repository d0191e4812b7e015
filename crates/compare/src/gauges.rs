//! What happened to the numbers of a training themselves.

use crate::Result;
use foxhunt_nn::Tensor;
use foxhunt_train::Trainer;
use serde::{Deserialize, Serialize};

/// Gauges of one member's training. They speak of the weights that a gradient ever reached, by the second moment not being 0 at
/// the end: inputs that are always 0, and padding, have weights that nothing should move.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Gauges {
    /// Weights that a gradient reached.
    pub reached: u64,
    /// Of those, weights whose stored bits (of pairs both words) are at the end what they were at the start.
    pub unmoved: u64,
    /// Effective step: root mean square of what the last epoch changed a weight by, over the sum of its learning rates. 1 would be
    /// Adam's full step in one direction all epoch long. Stochastic rounding adds its own random walk to it.
    pub step: Option<f64>,
    /// Lag of the target at the end: root mean square of target minus weight, over that of the weights. Of pairs, their sums.
    pub lag: Option<f64>,
    /// Optimiser steps taken.
    pub steps: u64,
    /// Of those, skipped for a gradient that was not finite.
    pub skipped: u64,
    /// Epochs in which no sample's loss was finite.
    pub lost_epochs: u64,
}

impl Gauges {
    /// Share of the reached weights that never moved; none where none was reached.
    pub fn unmoved_share(&self) -> Option<f64> {
        (self.reached > 0).then(|| self.unmoved as f64 / self.reached as f64)
    }
}

/// Watches the images of a population.
pub(crate) struct Probe {
    /// Image elements that are logical weights.
    elements: Vec<usize>,
    members: usize,
    initial: Vec<Vec<u8>>,
    before: Vec<f32>,
}

impl Probe {
    /// Begins before the first epoch.
    pub(crate) fn new(trainer: &Trainer) -> Result<Self> {
        let net = trainer.net();
        let parts = |p: &'_ foxhunt_nn::NetParam| 0..p.spec.parts.len();
        let rows = net.params.iter().flat_map(|p| {
            let starts = parts(p).flat_map(|part| p.part_elements(part).collect::<Vec<_>>());
            starts.flat_map(|at| at..at + p.spec.cols).collect::<Vec<_>>()
        });
        let elements = rows.collect();
        let members = trainer.runtime().view(net.weight).members;
        Ok(Probe { elements, members, initial: stored(trainer)?, before: values(trainer)? })
    }

    /// Remembers the weights that the last epoch begins with.
    pub(crate) fn before_last_epoch(&mut self, trainer: &Trainer) -> Result<()> {
        self.before = values(trainer)?;
        Ok(())
    }

    /// Gauges of every member after the last epoch; counters are the caller's. `step` is the sum of its learning rates.
    pub(crate) fn finish(&self, trainer: &Trainer, step: f64) -> Result<Vec<Gauges>> {
        let (runtime, net) = (trainer.runtime(), trainer.net());
        let weight = values(trainer)?;
        let target = runtime.read_pair(net.target, net.low.map(|low| low.target))?;
        let second = runtime.read(net.v)?;
        let last = stored(trainer)?;
        let image = weight.len() / self.members;
        let gauges = (0..self.members).map(|member| {
            let mut g = Gauges::default();
            let (mut moved, mut lag, mut size) = (0.0, 0.0, 0.0);
            for at in self.elements.iter().map(|e| member * image + e) {
                // Also where it is not finite.
                if second[at] == 0.0 {
                    continue;
                }
                g.reached += 1;
                let same = |(a, b): (&Vec<u8>, &Vec<u8>)| {
                    let bytes = a.len() / weight.len();
                    let place = at * bytes..(at + 1) * bytes;
                    a[place.clone()] == b[place]
                };
                g.unmoved += u64::from(self.initial.iter().zip(&last).all(same));
                moved += square(weight[at] - self.before[at]);
                lag += square(target[at] - weight[at]);
                size += square(weight[at]);
            }
            let root = |sum: f64, by: f64| {
                let x = sum.sqrt() / by;
                (g.reached > 0 && x.is_finite()).then_some(x)
            };
            g.step = root(moved / g.reached as f64, step);
            g.lag = root(lag, size.sqrt());
            g
        });
        Ok(gauges.collect())
    }
}

fn square(x: f32) -> f64 {
    f64::from(x) * f64::from(x)
}

/// Weights as they are stored: an image, and that of the low words where there are any.
fn stored(trainer: &Trainer) -> Result<Vec<Vec<u8>>> {
    let net = trainer.net();
    let images = [Some(net.weight), net.low.map(|low| low.weight)];
    images.into_iter().flatten().map(|t: Tensor| Ok(trainer.runtime().read_bytes(t)?)).collect()
}

fn values(trainer: &Trainer) -> Result<Vec<f32>> {
    let net = trainer.net();
    Ok(trainer.runtime().read_pair(net.weight, net.low.map(|low| low.weight))?)
}

/// Bytes of device memory that the training of a slice holds, by purpose, as [`Trainer::memory`] counts them.
pub(crate) fn memory(trainer: &Trainer) -> Vec<(String, u64)> {
    trainer.memory().parts().map(|(purpose, bytes)| (purpose.name().to_owned(), bytes.total())).collect()
}
