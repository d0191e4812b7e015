use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::{fmt, str::FromStr};

/// How weights and their EMA targets lie in BF16 memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Weights {
    /// One BF16 each: 10 bytes a parameter with gradient and moments.
    #[default]
    Plain,
    /// A pair of BF16 whose sum is the value: the high word is the value to nearest, the low word the remainder.
    /// 14 bytes a parameter. Matrix products read the high word alone.
    Paired,
}

/// How what changes in small steps (weights, moments, EMA targets; of a pair the low word) is rounded when it is stored
/// in BF16.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Rounding {
    /// Up or down with the probability that keeps the mean.
    #[default]
    Stochastic,
    /// To the nearest value, which loses steps below half an ulp: for study only.
    Nearest,
    /// Weights to nearest, all else stochastically: this and the next three tell which quantity it is that suffers.
    NearestWeights,
    /// Adam's first moment to nearest, all else stochastically.
    NearestM,
    /// Adam's second moment to nearest, all else stochastically.
    NearestV,
    /// EMA targets to nearest, all else stochastically.
    NearestTargets,
}

/// How the optimiser's numbers are stored. In F32 it changes nothing: there is no low word, and nothing is rounded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Storage {
    /// Of weights and targets.
    pub weights: Weights,
    /// Of all that the optimiser writes.
    pub rounding: Rounding,
}

impl Storage {
    /// Every combination, the default first. Of pairs all is rounded to nearest, or nothing.
    pub const ALL: [Storage; 8] = [
        Storage { weights: Weights::Plain, rounding: Rounding::Stochastic },
        Storage { weights: Weights::Paired, rounding: Rounding::Stochastic },
        Storage { weights: Weights::Plain, rounding: Rounding::Nearest },
        Storage { weights: Weights::Paired, rounding: Rounding::Nearest },
        Storage { weights: Weights::Plain, rounding: Rounding::NearestWeights },
        Storage { weights: Weights::Plain, rounding: Rounding::NearestM },
        Storage { weights: Weights::Plain, rounding: Rounding::NearestV },
        Storage { weights: Weights::Plain, rounding: Rounding::NearestTargets },
    ];

    /// Whether there is a kernel for it.
    pub fn exists(self) -> bool {
        Storage::ALL.contains(&self)
    }
}

impl Weights {
    /// The name used in options.
    pub const fn name(self) -> &'static str {
        match self {
            Weights::Plain => "plain",
            Weights::Paired => "paired",
        }
    }
}

impl Rounding {
    /// All, the default first.
    pub const ALL: [Rounding; 6] = [
        Rounding::Stochastic,
        Rounding::Nearest,
        Rounding::NearestWeights,
        Rounding::NearestM,
        Rounding::NearestV,
        Rounding::NearestTargets,
    ];

    /// The name used in options.
    pub const fn name(self) -> &'static str {
        match self {
            Rounding::Stochastic => "stochastic",
            Rounding::Nearest => "nearest",
            Rounding::NearestWeights => "nearest-weights",
            Rounding::NearestM => "nearest-m",
            Rounding::NearestV => "nearest-v",
            Rounding::NearestTargets => "nearest-targets",
        }
    }

    /// What is rounded to nearest: weights, first moment, second moment, targets.
    pub const fn to_nearest(self) -> [bool; 4] {
        match self {
            Rounding::Stochastic => [false; 4],
            Rounding::Nearest => [true; 4],
            Rounding::NearestWeights => [true, false, false, false],
            Rounding::NearestM => [false, true, false, false],
            Rounding::NearestV => [false, false, true, false],
            Rounding::NearestTargets => [false, false, false, true],
        }
    }
}

impl fmt::Display for Weights {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl fmt::Display for Rounding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for Weights {
    type Err = String;

    fn from_str(s: &str) -> Result<Self, String> {
        match s {
            "plain" => Ok(Weights::Plain),
            "paired" => Ok(Weights::Paired),
            _ => Err(format!("unknown storage of weights '{s}': use plain or paired")),
        }
    }
}

impl FromStr for Rounding {
    type Err = String;

    fn from_str(s: &str) -> Result<Self, String> {
        let known = Rounding::ALL.into_iter().find(|rounding| rounding.name() == s);
        known.ok_or_else(|| {
            let names = Rounding::ALL.map(Rounding::name).join(", ");
            format!("unknown rounding '{s}': use one of {names}")
        })
    }
}
