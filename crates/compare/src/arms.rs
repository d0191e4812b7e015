//! What is compared: the same configuration, stored in different ways.

use foxhunt_core::{DType, Rounding, Storage, Weights};
use foxhunt_train::Config;
use serde::{Deserialize, Serialize};
use std::{fmt, str::FromStr};

/// One way to store the numbers of a training.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Arm {
    /// F32, matrix products without TF32: what the others are measured against.
    F32,
    /// BF16, everything rounded to nearest: what BF16 does without precautions.
    Nearest,
    /// BF16, weights, moments and targets rounded stochastically.
    Stochastic,
    /// BF16, weights and targets as pairs, low words and moments rounded stochastically.
    Paired,
    /// BF16, weights rounded to nearest, all else stochastically: what of [`Arm::Nearest`] is due to them. For study, like the next.
    NearestWeights,
    /// BF16, the first moment rounded to nearest.
    NearestM,
    /// BF16, the second moment rounded to nearest.
    NearestV,
    /// BF16, targets rounded to nearest.
    NearestTargets,
}

impl Arm {
    /// All, in the order of tables.
    pub const ALL: [Arm; 8] = [
        Arm::F32,
        Arm::Nearest,
        Arm::Stochastic,
        Arm::Paired,
        Arm::NearestWeights,
        Arm::NearestM,
        Arm::NearestV,
        Arm::NearestTargets,
    ];

    /// The name used in options and files.
    pub const fn name(self) -> &'static str {
        match self {
            Arm::F32 => "f32",
            Arm::Nearest => "nearest",
            Arm::Stochastic => "stochastic",
            Arm::Paired => "paired",
            Arm::NearestWeights => Rounding::NearestWeights.name(),
            Arm::NearestM => Rounding::NearestM.name(),
            Arm::NearestV => Rounding::NearestV.name(),
            Arm::NearestTargets => Rounding::NearestTargets.name(),
        }
    }

    /// The name for people.
    pub const fn label(self) -> &'static str {
        match self {
            Arm::F32 => "F32",
            Arm::Nearest => "BF16 nearest",
            Arm::Stochastic => "BF16 stochastic",
            Arm::Paired => "BF16 paired",
            Arm::NearestWeights => "weights nearest",
            Arm::NearestM => "m nearest",
            Arm::NearestV => "v nearest",
            Arm::NearestTargets => "targets nearest",
        }
    }

    /// How it stores real numbers.
    pub const fn dtype(self) -> DType {
        match self {
            Arm::F32 => DType::F32,
            _ => DType::Bf16,
        }
    }

    /// `config` as this arm trains it.
    #[must_use]
    pub fn apply(self, config: &Config) -> Config {
        let mut config = config.clone();
        let Storage { weights, rounding } = self.storage();
        (config.learn.weights, config.learn.rounding) = (weights.into(), rounding);
        config
    }

    /// How the optimiser's numbers are stored.
    const fn storage(self) -> Storage {
        let (weights, rounding) = match self {
            Arm::F32 | Arm::Stochastic => (Weights::Plain, Rounding::Stochastic),
            Arm::Nearest => (Weights::Plain, Rounding::Nearest),
            Arm::Paired => (Weights::Paired, Rounding::Stochastic),
            Arm::NearestWeights => (Weights::Plain, Rounding::NearestWeights),
            Arm::NearestM => (Weights::Plain, Rounding::NearestM),
            Arm::NearestV => (Weights::Plain, Rounding::NearestV),
            Arm::NearestTargets => (Weights::Plain, Rounding::NearestTargets),
        };
        Storage { weights, rounding }
    }

    /// The arm that a configuration is when it trains in BF16; none where pairs are rounded to nearest.
    pub fn of(config: &Config) -> Option<Self> {
        let storage = config.storage(DType::Bf16);
        Arm::ALL.into_iter().find(|arm| arm.dtype() == DType::Bf16 && arm.storage() == storage)
    }
}

impl fmt::Display for Arm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for Arm {
    type Err = String;

    fn from_str(s: &str) -> Result<Self, String> {
        let known = Arm::ALL.into_iter().find(|arm| arm.name() == s);
        known.ok_or_else(|| format!("unknown arm '{s}': use {}", Arm::ALL.map(Arm::name).join(", ")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use foxhunt_train::Size;

    #[test]
    fn an_arm_is_storage_and_nothing_else() {
        let base = Config::of(Size::Small);
        assert_eq!(Arm::of(&base), Some(Arm::Paired), "the default of a trainer in BF16");
        for arm in Arm::ALL {
            assert_eq!(arm.name().parse::<Arm>(), Ok(arm));
            let mut patched = arm.apply(&base);
            if arm != Arm::F32 {
                assert_eq!((Arm::of(&patched), arm.dtype()), (Some(arm), DType::Bf16));
            }
            (patched.learn.weights, patched.learn.rounding) = (base.learn.weights, base.learn.rounding);
            assert_eq!(patched, base);
        }
    }
}
