//! The sample as a market, and dice.
#![allow(dead_code, unreachable_pub, clippy::unwrap_used, reason = "shared by several test binaries")]

use foxhunt_core::DType;
use foxhunt_device::Isa;
use foxhunt_train::{Config, Market, Size};

/// Every host build that this machine can run, in both storage types.
pub fn builds() -> Vec<(DType, Isa)> {
    let mut out = Vec::new();
    for dtype in DType::ALL {
        out.push((dtype, Isa::Base));
        #[cfg(target_arch = "x86_64")]
        if is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma") {
            out.extend([(dtype, Isa::V3), (dtype, Isa::Reversed)]);
        }
        #[cfg(not(target_arch = "x86_64"))]
        out.push((dtype, Isa::Reversed));
    }
    out
}

pub fn small() -> Config {
    Config::of(Size::Small)
}

pub fn market(config: &Config) -> Market {
    Market::prepare(foxhunt_data::sample(), config).unwrap()
}

/// xorshift64*.
pub struct Dice(u64);

impl Dice {
    pub fn new(seed: u64) -> Self {
        Dice(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    /// Below `n`.
    pub fn below(&mut self, n: u64) -> u8 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        ((u128::from(self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)) * u128::from(n)) >> 64) as u8
    }

    /// Any action.
    pub fn action(&mut self) -> [u8; 3] {
        [self.below(9), self.below(3), self.below(3)]
    }

    /// Full long or full short, whatever the order.
    pub fn all_in(&mut self) -> [u8; 3] {
        [8 * self.below(2), self.below(3), self.below(3)]
    }
}
