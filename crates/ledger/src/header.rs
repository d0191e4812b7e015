//! What the rows of a ledger mean: instrument, units, rates, provenance.

use serde::{Deserialize, Serialize};

/// Version of the file format; a reader refuses any other.
pub const FORMAT: u32 = 2;

/// Everything about a run that does not change from bar to bar. Stored as JSON in both Parquet files.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LedgerHeader {
    /// File format version, [`FORMAT`].
    pub format: u32,
    /// Program and version that ran the backtest. Free text; no clock, host or path.
    pub program: String,
    /// Instrument name, for example `EUR/USD`.
    pub instrument: String,
    /// Quote currency, which is also the account currency, for example `USD`.
    pub quote_currency: String,
    /// Price unit as a decimal, for example `0.000005`: the grid that integer prices count.
    pub price_unit: String,
    /// Size of one lot as a decimal, for example `1000`.
    pub lot: String,
    /// Money is counted in `10^-money_exponent` of the quote currency.
    pub money_exponent: u32,
    /// Money units gained by one lot when the price rises by one unit.
    pub tv: i64,
    /// Cash at the start, money units; the same for every member.
    pub start_cash: i64,
    /// Largest allowed notional over equity, in 1e-4 (20,000 is 2×).
    pub max_leverage_e4: i32,
    /// Fee, penalty and financing rates.
    pub rates: Rates,
    /// The rules of the simulated market in words, one sentence each; printed in every report.
    pub assumptions: Vec<String>,
    /// The data that was traded.
    pub data: DataSource,
    /// Seed of the run.
    pub seed: u64,
    /// The stretch of data that was traded.
    pub window: Window,
    /// The members, in order: [`BarRow::member`](crate::BarRow::member) is an index into this list.
    pub members: Vec<MemberInfo>,
    /// Name of the baseline strategy if no trained agent chose the actions, for example `buy and hold`.
    pub baseline: Option<String>,
    /// How many configurations were tried before this one was chosen (1 = none besides it).
    pub trials: u32,
}

/// Rates of the account, in 1e-7 of notional; financing is per year of 31,536,000 s.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rates {
    /// Fee of a fill that takes liquidity.
    pub taker_e7: i32,
    /// Fee of a fill that gives liquidity; negative is a rebate.
    pub maker_e7: i32,
    /// Penalty on a liquidated notional, booked as a fee.
    pub liquidation_e7: i32,
    /// Yearly financing of a long position.
    pub financing_long_e7: i32,
    /// Yearly financing of a short position.
    pub financing_short_e7: i32,
}

/// Where the bars came from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DataSource {
    /// File name or description; no directory, so that the ledger does not depend on the machine.
    pub name: String,
    /// SHA-256 of the file, 64 hexadecimal digits.
    pub sha256: String,
    /// What the file's time stamps mark.
    pub stamps: Stamps,
    /// True if `stamps` was inferred from the file rather than known from its format.
    pub stamps_inferred: bool,
}

/// What a data file's time stamps mark. The ledger's own times are always bar closes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Stamps {
    /// The opening of a bar.
    Open,
    /// The close of a bar.
    Close,
}

/// A stretch of data in time.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Window {
    /// `train`, `validation` or `test`.
    pub name: String,
    /// First instant, ns UTC.
    pub start_ns: i64,
    /// Last instant, ns UTC.
    pub end_ns: i64,
}

/// One member of the population.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MemberInfo {
    /// Stable id, which random numbers are keyed by.
    pub id: u64,
    /// Name for people, for example `seed 3`.
    pub label: String,
    /// The member's seed.
    pub seed: u64,
    /// What one unit of reward is worth in log return: `reward = ln(E1/E0) / reward_unit`. 1 if rewards are unscaled.
    pub reward_unit: f64,
}
