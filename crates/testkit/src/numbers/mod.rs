//! What BF16 storage must not lose, measured on real kernels over thousands of steps: small updates, moments, EMA
//! targets, sums. A case holds one step against F64; drift, bias and frozen noise show only in many.
//!
//! Ranges come from F64 expectations and from the spread that stochastic rounding has: an accumulator after steps of
//! delta has a standard deviation of sqrt(ulp * sum |delta|) over lanes. Beside each stands what rounding to nearest
//! would give, or a frozen random counter.

mod counts;
mod drift;
mod guards;
mod mirror;
mod moments;
mod nearest;
mod pairs;
mod rig;
mod streams;
mod sums;
mod training;

use crate::CaseError;
use foxhunt_device::Device;
use std::fmt;

/// A number that kernels gave, and the range that it must lie in.
#[derive(Clone, Debug)]
pub struct Measured {
    /// What it is.
    pub what: String,
    /// The number.
    pub value: f64,
    /// The least that is right.
    pub low: f64,
    /// The most that is right.
    pub high: f64,
}

impl Measured {
    fn near(what: impl Into<String>, value: f64, want: f64, tolerance: f64) -> Self {
        Measured { what: what.into(), value, low: want - tolerance, high: want + tolerance }
    }

    fn within(what: impl Into<String>, value: f64, low: f64, high: f64) -> Self {
        Measured { what: what.into(), value, low, high }
    }

    fn none(what: impl Into<String>, count: usize) -> Self {
        Measured { what: what.into(), value: count as f64, low: 0.0, high: 0.0 }
    }

    /// Whether the number lies in its range; NaN never does.
    pub fn holds(&self) -> bool {
        (self.low..=self.high).contains(&self.value)
    }
}

impl fmt::Display for Measured {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {:.6} in [{:.6}, {:.6}]", self.what, self.value, self.low, self.high)
    }
}

/// Numbers that one experiment gives.
pub struct Numbers {
    /// Its name.
    pub name: &'static str,
    /// Runs it on a device.
    pub measure: fn(&Device) -> Result<Vec<Measured>, CaseError>,
}

/// Every experiment.
pub fn numbers() -> Vec<Numbers> {
    vec![
        Numbers { name: "weights.drift", measure: drift::constant_updates },
        Numbers { name: "weights.frozen_noise", measure: drift::frozen_noise },
        Numbers { name: "weights.long_run", measure: drift::long_run },
        Numbers { name: "weights.decay", measure: drift::weight_decay },
        Numbers { name: "target.ema", measure: drift::target },
        Numbers { name: "moments.first", measure: moments::first },
        Numbers { name: "moments.second", measure: moments::second },
        Numbers { name: "moments.second_decays", measure: moments::second_decays },
        Numbers { name: "moments.betas", measure: moments::betas_differ },
        Numbers { name: "training.moves", measure: training::weights_move },
        Numbers { name: "training.second_moment", measure: training::second_moment },
        Numbers { name: "guards", measure: guards::not_finite },
        Numbers { name: "pairs.drift", measure: pairs::constant_updates },
        Numbers { name: "pairs.frozen_noise", measure: pairs::frozen_noise },
        Numbers { name: "pairs.long_run", measure: pairs::long_run },
        Numbers { name: "pairs.decay", measure: pairs::weight_decay },
        Numbers { name: "pairs.ema", measure: pairs::target },
        Numbers { name: "pairs.high_word", measure: pairs::high_word },
        Numbers { name: "pairs.guards", measure: guards::pairs },
        Numbers { name: "pairs.moves", measure: training::pairs_move },
        Numbers { name: "nearest.stalls", measure: nearest::updates_vanish },
        Numbers { name: "nearest.low_word_stalls", measure: nearest::low_word_stalls },
        Numbers { name: "nearest.moments", measure: nearest::moments },
        Numbers { name: "nearest.target", measure: nearest::target_freezes },
        Numbers { name: "nearest.training", measure: training::nearest_stalls },
        Numbers { name: "nearest.second_moment", measure: training::nearest_loses_the_moment },
        Numbers { name: "noise.mirror", measure: mirror::rounding },
        Numbers { name: "noise.streams", measure: streams::independent },
        Numbers { name: "counts.increments", measure: counts::increments },
        Numbers { name: "sum.gradient_norm", measure: sums::gradient_norm },
        Numbers { name: "sum.loss", measure: sums::loss_total },
        Numbers { name: "product.rms", measure: sums::product },
    ]
}

fn mean(x: &[f64]) -> f64 {
    x.iter().sum::<f64>() / x.len() as f64
}

fn deviation(x: &[f64]) -> f64 {
    let m = mean(x);
    mean(&x.iter().map(|x| (x - m).powi(2)).collect::<Vec<_>>()).sqrt()
}

/// Elements that differ.
fn differing<T: PartialEq>(a: &[T], b: &[T]) -> usize {
    a.iter().zip(b).filter(|(a, b)| a != b).count() + a.len().abs_diff(b.len())
}
