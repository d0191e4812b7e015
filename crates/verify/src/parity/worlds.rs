//! Markets and rules under which everything that an account can meet is met.

use crate::VerifyError;
use foxhunt_data::{Bars, Ohlc};
use foxhunt_env::{FeatureId, MemberSpec, Shape, Tables, exploration};
use foxhunt_market::RuleBook;
use foxhunt_train::{Config, Market, Size, member_spec};
use std::ops::Range;

/// Bars that an observation sees: more than one, so that a row is gathered from several of the table.
const LOOKBACK: usize = 3;
/// Where rules are hard, every how many bars one has no volume.
const DRY: usize = 41;
/// Where rules are hard, what the volume of the others is divided by: orders then meet the participation cap.
const THIN: i64 = 2_000;

/// How many worlds there are.
pub(super) const WORLDS: usize = 4;

/// A market, and how hard its rules are.
pub(super) struct World {
    pub(super) name: &'static str,
    pub(super) market: Market,
    pub(super) hard: bool,
    config: Config,
}

impl World {
    /// The embedded sample as it is and as quote bars, each by its own rules and by harder ones.
    pub(super) fn all() -> Result<Vec<World>, VerifyError> {
        let mut config = Config::of(Size::Small);
        config.network.lookback = LOOKBACK;
        let sample = foxhunt_data::sample();
        let quotes = quote_bars(&sample);
        // Sessions of 23 hours, at whose last close nothing stays held.
        let mut flat = quotes.clone();
        (flat.instrument.session.length_s, flat.instrument.session.flat_by_close) = (82_800, true);
        let settings: [_; WORLDS] = [
            ("trade bars", &sample, false),
            ("quote bars, flat by close", &flat, false),
            ("trade bars, harder", &sample, true),
            ("quote bars, harder", &quotes, true),
        ];
        settings
            .into_iter()
            .map(|(name, bars, hard)| {
                let bars = if hard { thinned(bars) } else { bars.clone() };
                let market = Market::prepare(bars, &config)?;
                Ok(World { name, market, hard, config: config.clone() })
            })
            .collect()
    }

    /// Tables of the market, and members who differ in all that a member may: seed, window, rules, length of episodes, return,
    /// exploration.
    pub(super) fn members(
        &self,
        members: usize,
        window: Range<usize>,
    ) -> Result<(Tables, Vec<MemberSpec>), VerifyError> {
        let (tables, features) = self.market.tables()?;
        let specs = (0..members)
            .map(|m| self.member(m, features, window.clone()))
            .collect::<Result<Vec<_>, VerifyError>>()?;
        Ok((tables, specs))
    }

    /// As [`World::members`], with `markets` lines of each member: the same market in tables of their own, in which windows
    /// and rules differ.
    pub(super) fn spread(
        &self,
        members: usize,
        markets: usize,
        window: Range<usize>,
    ) -> Result<(Tables, Vec<MemberSpec>), VerifyError> {
        let (mut tables, own) = self.market.tables()?;
        let mut features = vec![own];
        for _ in 1..markets {
            let bars = tables.add_bars(&self.market.table);
            features.push(tables.add_features(bars, &self.market.features.values)?);
        }
        let mut specs = Vec::new();
        for m in 0..members {
            let member = self.member(m, own, window.clone())?;
            for (k, &features) in features.iter().enumerate() {
                let rows = member.window.start + 13 * k..member.window.end - 29 * k;
                let rules = self.rules(m + k).row()?;
                specs.push(MemberSpec { features, window: rows, rules, ..member.clone() });
            }
        }
        Ok((tables, specs))
    }

    fn member(&self, m: usize, features: FeatureId, rows: Range<usize>) -> Result<MemberSpec, VerifyError> {
        let rows = rows.start + 11 * m..rows.end - 7 * m;
        let spec = member_spec(&self.config, &self.market, features, rows, m as u64)?;
        Ok(MemberSpec {
            rules: self.rules(m).row()?,
            episode_bars: [64, 33, 17][m % 3],
            n_step: [3, 1, 5][m % 3],
            discount: [0.99, 0.9, 0.999][m % 3],
            exploration: exploration(1.0, 0.5, 500),
            ..spec
        })
    }

    /// Leverage, and in turn stops, liquidations and ruin, and orders that never fill whole.
    fn rules(&self, m: usize) -> RuleBook {
        let own = self.market.rules.clone();
        if !self.hard {
            return own;
        }
        let hard = RuleBook { max_leverage_e4: 1_000_000, ..own };
        match m % 3 {
            0 => RuleBook { stop_atr_e4: 8_000, ruin_e4: 9_000, ..hard },
            1 => RuleBook { participation_cap_e4: 10_000, ruin_e4: 100, ..hard },
            _ => RuleBook { participation_cap_e4: 50, stop_atr_e4: 15_000, ruin_e4: 9_900, ..hard },
        }
    }

    /// Sizes of environments of this market.
    pub(super) fn shape(&self, envs: usize, ring_rows: usize, batch: usize) -> Shape {
        let needed = LOOKBACK * self.market.features.cols + foxhunt_env::ACCOUNT_FEATURES;
        Shape { envs, lookback: LOOKBACK, state: needed.next_multiple_of(8), ring_rows, batch }
    }
}

/// Bars with a spread that changes from row to row and within a row, on the grid's even units as quotes are.
fn quote_bars(bars: &Bars) -> Bars {
    let spread = |row: usize| 2 * (1 + (row * 7 % 5) as i32);
    let wider = |side: &[i32]| side.iter().enumerate().map(|(row, x)| x + spread(row)).collect::<Vec<i32>>();
    let Ohlc { open, high, low, close } = &bars.bid;
    let mut ask = Ohlc { open: wider(open), high: wider(high), low: wider(low), close: wider(close) };
    for row in (0..bars.len()).step_by(3) {
        ask.close[row] += 4;
        ask.high[row] = ask.high[row].max(ask.close[row]);
    }
    Bars { ask: Some(ask), ..bars.clone() }
}

fn thinned(bars: &Bars) -> Bars {
    let thin = |(row, lots): (usize, &i64)| if row.is_multiple_of(DRY) { 0 } else { lots / THIN };
    Bars { volume_lots: bars.volume_lots.iter().enumerate().map(thin).collect(), ..bars.clone() }
}
