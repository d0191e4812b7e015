use super::Config;
use foxhunt_core::{DType, Rounding, Storage, Weights};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::{fmt, str::FromStr};

/// How weights and their EMA targets are to lie in memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum WeightsChoice {
    /// Pairs in BF16, for which a study shows most (docs/results/bf16.md), plain in F32 and where anything is rounded to nearest.
    #[default]
    Auto,
    /// One word each: 10 bytes a parameter in BF16, with gradient and moments.
    Plain,
    /// A pair of words in BF16, whose sum is the value: 14 bytes a parameter.
    Paired,
}

impl From<Weights> for WeightsChoice {
    fn from(weights: Weights) -> Self {
        match weights {
            Weights::Plain => WeightsChoice::Plain,
            Weights::Paired => WeightsChoice::Paired,
        }
    }
}

impl fmt::Display for WeightsChoice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            WeightsChoice::Auto => "auto",
            WeightsChoice::Plain => Weights::Plain.name(),
            WeightsChoice::Paired => Weights::Paired.name(),
        })
    }
}

impl FromStr for WeightsChoice {
    type Err = String;

    fn from_str(s: &str) -> Result<Self, String> {
        if s == "auto" {
            return Ok(WeightsChoice::Auto);
        }
        let unknown = |_| format!("unknown storage of weights '{s}': use auto, plain or paired");
        s.parse::<Weights>().map(Self::from).map_err(unknown)
    }
}

impl Config {
    /// How the optimiser's numbers are stored where numbers are stored in `dtype`.
    pub fn storage(&self, dtype: DType) -> Storage {
        let rounding = self.learn.rounding;
        let weights = match (self.learn.weights, dtype, rounding) {
            (WeightsChoice::Paired, ..) => Weights::Paired,
            (WeightsChoice::Auto, DType::Bf16, Rounding::Stochastic) => Weights::Paired,
            // Rounding to nearest is there to show what BF16 does without precautions, of which pairs are one.
            (WeightsChoice::Auto, ..) | (WeightsChoice::Plain, ..) => Weights::Plain,
        };
        Storage { weights, rounding }
    }

    /// Writes down what `auto` comes to in `dtype`. A run that records this goes on with the storage that it began with, whatever
    /// the default is then.
    pub fn settle_storage(&mut self, dtype: DType) {
        self.learn.weights = self.storage(dtype).weights.into();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Size;

    fn config(file: &str, set: &[String]) -> Config {
        Config::resolve(Some(("a.toml", file)), None, set).unwrap()
    }

    #[test]
    fn the_default_is_pairs_in_bf16_and_plain_in_f32() {
        let stochastic = |weights| Storage { weights, rounding: Rounding::Stochastic };
        for size in [Size::Small, Size::Study, Size::Bench] {
            let config = Config::of(size);
            assert_eq!(config.learn.weights, WeightsChoice::Auto);
            assert_eq!(config.storage(DType::Bf16), stochastic(Weights::Paired));
            assert_eq!(config.storage(DType::F32), stochastic(Weights::Plain));
        }
        let nearest = config("[learn]\nrounding = \"nearest\"", &[]);
        assert_eq!(nearest.storage(DType::Bf16).weights, Weights::Plain);
        // A file that doesn't name the key, and one that names others beside it.
        for text in ["", "[learn]\ngamma = 0.5"] {
            assert_eq!(config(text, &[]).storage(DType::Bf16).weights, Weights::Paired);
        }
    }

    #[test]
    fn what_is_named_stays() {
        let chosen = config("[learn]\nweights = \"plain\"", &["learn.rounding=nearest".into()]);
        let want = Storage { weights: Weights::Plain, rounding: Rounding::Nearest };
        assert_eq!(DType::ALL.map(|dtype| chosen.storage(dtype)), [want; 2]);
        assert_eq!(config(&chosen.to_toml().unwrap(), &[]), chosen);
        let error = Config::resolve(None, None, &["learn.weights=wide".into()]).unwrap_err().to_string();
        assert!(["wide", "auto", "plain", "paired"].iter().all(|word| error.contains(word)), "{error}");
        for choice in [WeightsChoice::Auto, WeightsChoice::Plain, WeightsChoice::Paired] {
            assert_eq!(choice.to_string().parse(), Ok(choice));
        }
    }

    #[test]
    fn one_quantity_to_nearest_is_of_plain_weights() {
        for rounding in Rounding::ALL {
            assert_eq!(rounding.to_string().parse(), Ok(rounding));
            let alone = config("", &[format!("learn.rounding={rounding}")]);
            assert_eq!(alone.storage(DType::Bf16).rounding, rounding);
            assert!(alone.storage(DType::Bf16).exists(), "{rounding}");
            let paired = config("", &[format!("learn.rounding={rounding}"), "learn.weights=paired".into()]);
            let whole = [Rounding::Stochastic, Rounding::Nearest].contains(&rounding);
            assert_eq!(paired.storage(DType::Bf16).exists(), whole, "{rounding}");
        }
    }

    #[test]
    fn a_settled_configuration_names_its_storage() {
        for (dtype, want) in [(DType::Bf16, "paired"), (DType::F32, "plain")] {
            let mut settled = config("", &[]);
            settled.settle_storage(dtype);
            let text = settled.to_toml().unwrap();
            assert!(text.contains(&format!("weights = \"{want}\"")), "{text}");
            assert_eq!(config(&text, &[]), settled);
            let before = settled.clone();
            DType::ALL.into_iter().for_each(|other| settled.settle_storage(other));
            assert_eq!(settled, before, "what is settled stays");
        }
    }
}
