//! Training: configuration, preparation of a market, the loop of collecting and learning.

mod acting;
mod config;
mod error;
mod liquidity;
mod market;
mod memory;
mod sample;
mod shared;
mod shares;
mod still;
mod taught;
mod trainer;

pub use config::{
    Config, Cost, DataConfig, Dates, DecimalMarks, Explore, FOLD_IDS, FeaturesConfig, Group, LearnConfig,
    LearnStep, MARKET_IDS, MarketConfig, MarketData, NetworkConfig, Orders, Policy, SetOption, Size, Stamps,
    WalkForward, WeightsChoice, documented, nearest_key, schema,
};
pub use error::{TrainError, in_plan};
pub use foxhunt_env::ACCOUNT_FEATURES;
pub use foxhunt_nn::{Memory, MemoryBytes, MemoryPurpose};
pub use market::Market;
pub use taught::Taught;
pub use trainer::{ACTIONS, EpochReport, Trainer, fused_kernels, member_spec, network};
