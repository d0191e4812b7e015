//! Networks that workloads are run with, and the operations that their shapes ask for.

use foxhunt_nn::net::BranchingQConfig;
use foxhunt_train::{Config, Size};
use serde::Serialize;
use std::{fmt, str::FromStr};

/// A network by name.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Network {
    /// Of `bench/peers`: 128 inputs, trunk 256-256, streams of 128, 51 atoms.
    Peers,
    /// Of size bench: 256 inputs, trunk 512-256.
    #[default]
    Bench,
    /// Of size small: 64 inputs, trunk 128-128.
    Small,
}

impl Network {
    /// The configuration of a run with this network: that of its size, the peers' that of bench with their sizes.
    pub fn config(self) -> Config {
        match self {
            Network::Small => Config::of(Size::Small),
            Network::Bench => Config::of(Size::Bench),
            Network::Peers => {
                let mut config = Config::of(Size::Bench);
                let n = &mut config.network;
                // As many bars as 128 inputs hold beside the account.
                (n.lookback, n.inputs, n.trunk, n.stream) = (4, 128, [256, 256], 128);
                config
            }
        }
    }

    fn name(self) -> &'static str {
        match self {
            Network::Peers => "peers",
            Network::Bench => "bench",
            Network::Small => "small",
        }
    }
}

impl fmt::Display for Network {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Network {
    type Err = String;

    fn from_str(s: &str) -> Result<Self, String> {
        [Network::Peers, Network::Bench, Network::Small]
            .into_iter()
            .find(|n| n.name() == s)
            .ok_or_else(|| format!("unknown network '{s}': use peers, bench or small"))
    }
}

/// Multiplications of one row in the first layer, and in all others.
fn multiplications(c: &BranchingQConfig) -> (u64, u64) {
    let ([m1, m2], head) = (c.trunk, &c.head);
    let streams = 1 + head.actions.len();
    let rest = m1 * m2 + m2 * streams * c.stream + c.stream * head.atoms * head.units();
    ((c.inputs * m1) as u64, rest as u64)
}

/// Operations of one row's way forward through the network.
pub fn forward_operations(c: &BranchingQConfig) -> u64 {
    let (first, rest) = multiplications(c);
    2 * (first + rest)
}

/// Operations of learning from one sample: forward through the online net at s and s' and the target at s', and for one of
/// them the gradients of weights and of activations (the first layer's input has none).
pub fn learn_operations(c: &BranchingQConfig) -> u64 {
    let (first, rest) = multiplications(c);
    3 * forward_operations(c) + 2 * (first + 2 * rest)
}
