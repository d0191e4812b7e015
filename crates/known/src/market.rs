//! A known market as [`Market`]: bars, features, windows.

use crate::{Chain, Kind, KnownError, chain::Path, kinds::BASE_PRICE, markets};
use foxhunt_core::rng::member_seed;
use foxhunt_data::{Bars, Decimal, FinancingBase, Instrument, Ohlc, Session, SourceInfo};
use foxhunt_features::{FeatureTable, Splits};
use foxhunt_train::{Config, Cost, Market, Orders, Size};
use sha2::{Digest, Sha256};
use std::fmt::Write as _;

/// Rows before the training window: the slow volatility is a mean that forgets with a time of 360 bars.
const LEAD_ROWS: usize = 3_000;
const BAR_SECONDS: i64 = 3_600;
/// 1 January 2000, ns UTC.
const START_NS: i64 = 946_684_800_000_000_000;
/// Lots of a bar: a tenth of it, which an order may take, is beyond any position.
const VOLUME: i64 = 1_000_000_000_000;

/// Bars of each window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lengths {
    /// Of the training window.
    pub train: usize,
    /// Of the validation window.
    pub validation: usize,
    /// Of the test window.
    pub test: usize,
}

impl Default for Lengths {
    fn default() -> Self {
        Lengths { train: 50_000, validation: 4_096, test: 8_192 }
    }
}

/// A market whose optimal policy is known, to train and test on like any other.
///
/// Orders fill at the close that they were decided at, plus or minus half the spread (aggressive), for a bar opens where the
/// one before closed; other urgencies fill all or half of it at the mean of the bar. There are no fees, no impact, no
/// financing, no band and no cap that binds; leverage is 1, and only market orders are sent.
#[derive(Clone, Debug)]
pub struct KnownMarket {
    /// What to train and test on.
    pub market: Market,
    kind: Kind,
    chain: Chain,
    states: Vec<usize>,
}

impl KnownMarket {
    /// The market of this name, see [`markets`], on paths that `seed` decides.
    ///
    /// # Errors
    /// A name that no market has, lengths too short to train on.
    pub fn new(name: &str, seed: u64, lengths: Lengths) -> Result<Self, KnownError> {
        let unknown = || KnownError::Name {
            name: name.to_owned(),
            known: markets().iter().map(|k| k.name).collect::<Vec<_>>().join(", "),
        };
        let number = markets().iter().position(|k| k.name == name).ok_or_else(unknown)?;
        let kind = markets()[number];
        let chain = kind.chain();
        let train = LEAD_ROWS..LEAD_ROWS + lengths.train;
        let validation = train.end..train.end + lengths.validation;
        let test = validation.end..validation.end + lengths.test;
        let path = chain.path(member_seed(seed, u64::MAX - number as u64), BASE_PRICE, test.end);
        let features = FeatureTable {
            names: chain.names.clone(),
            rows: test.end,
            cols: chain.names.len(),
            values: path.states.iter().flat_map(|z| chain.states[*z].features.iter().copied()).collect(),
            warmup_rows: 0,
        };
        let bars = bars(&kind, seed, &path);
        let splits = Splits { train, validation, test };
        let config = patched(Config::of(Size::Small));
        let mut market = Market::assemble(bars, &features, splits, &config)?;
        market.rules.impact_e2 = 0;
        Ok(KnownMarket { market, kind, chain, states: path.states })
    }

    /// Which market it is.
    pub fn kind(&self) -> &Kind {
        &self.kind
    }

    /// Its chain.
    pub fn chain(&self) -> &Chain {
        &self.chain
    }

    /// The state of the chain at the close of each bar, all bars.
    pub fn states(&self) -> &[usize] {
        &self.states
    }

    /// `config` with what this market needs: 64 inputs and a lookback of 1, its account, and market orders alone. What is
    /// learned, by whom and how long stays the caller's. The account's numbers are fixed with the market: changing
    /// `market.*` after this changes nothing.
    #[must_use]
    pub fn config(&self, config: Config) -> Config {
        patched(config)
    }
}

fn patched(mut config: Config) -> Config {
    (config.network.lookback, config.network.inputs) = (1, 64);
    let m = &mut config.market;
    (m.leverage, m.band_bp, m.participation_cap) = (1.0, 0, 0.1);
    (m.ruin, m.stop_atr, m.start_cash, m.orders) = (0.5, 0.0, 0.0, Orders::Market);
    (m.half_spread_bp, m.taker_fee_bp, m.maker_fee_bp) = (Cost::Own, Cost::Own, Cost::Own);
    (m.financing_long_bp, m.financing_short_bp) = (Cost::Own, Cost::Own);
    config
}

/// What is traded: no fee, no financing, a spread that is a share of the price. Its starting cash buys a million lots, so that
/// whole lots are 1e-6 of a position.
fn instrument(kind: &Kind) -> Instrument {
    Instrument {
        name: format!("known:{}", kind.name),
        quote_currency: "USD".into(),
        price_unit: Decimal::new(1, 5),
        tick_units: 1,
        lot: Decimal::new(1, 1),
        money_exponent: 6,
        tv: 1,
        taker_fee_e7: 0,
        maker_fee_e7: 0,
        min_half_spread_units: 0,
        half_spread_e7: kind.half_spread_e7,
        atr_spread_e7: 0,
        gap_spread_factor: 1,
        financing_long_e7: 0,
        financing_short_e7: 0,
        financing_base: FinancingBase::WholeNotional,
        max_leverage_e4: 10_000,
        liquidation_penalty_e7: 0,
        preset_volume_lots_per_hour: VOLUME,
        start_cash: Decimal::from(100_000_000),
        stamp_time_zone: "UTC".into(),
        session: Session { time_zone: "UTC".into(), day_start_s: 0, length_s: 86_400, flat_by_close: false },
    }
}

fn bars(kind: &Kind, seed: u64, path: &Path) -> Bars {
    let close = path.close.clone();
    let open: Vec<i32> =
        close.first().copied().into_iter().chain(close.iter().copied()).take(close.len()).collect();
    let pairs = || open.iter().zip(&close);
    let open_ns: Vec<i64> =
        (0..close.len() as i64).map(|t| START_NS + t * BAR_SECONDS * 1_000_000_000).collect();
    let digest =
        close.iter().fold(Sha256::new(), |sum, price| sum.chain_update(price.to_le_bytes())).finalize();
    let sha256 = digest.iter().fold(String::new(), |mut hex, byte| {
        // Writing to a string can't fail.
        let _ = write!(hex, "{byte:02x}");
        hex
    });
    let what = format!("known market {}, seed {seed}", kind.name);
    let source = SourceInfo::made(what, sha256, BAR_SECONDS, close.len());
    Bars {
        instrument: instrument(kind),
        close_ns: open_ns.iter().map(|t| t + BAR_SECONDS * 1_000_000_000).collect(),
        open_ns,
        bid: Ohlc {
            high: pairs().map(|(o, c)| *o.max(c)).collect(),
            low: pairs().map(|(o, c)| *o.min(c)).collect(),
            open,
            close,
        },
        ask: None,
        volume_lots: vec![VOLUME; path.close.len()],
        has_volume: true,
        extra: Vec::new(),
        source,
    }
}
