use crate::{EnvError, EnvMember, Exploration, FeatureId, Shape, Tables};
use foxhunt_market::Rules;
use std::ops::Range;

/// What one member trains on.
#[derive(Clone, Debug)]
pub struct MemberSpec {
    /// The member's own key (`foxhunt_core::rng::member_seed`), so that members may be removed or reordered without a change
    /// to any other.
    pub seed: u64,
    /// Its features, and with them its bars.
    pub features: FeatureId,
    /// Rows of its bar table that it may see: the training window.
    pub window: Range<usize>,
    /// Least volatility of an episode, 1e-9; see [`foxhunt_market::BarTable::volatility_floor_e9`].
    pub volatility_floor_e9: u32,
    /// Rules of its instrument and configuration.
    pub rules: Rules,
    /// L: decisions of an episode.
    pub episode_bars: usize,
    /// Discount of one decision, gamma in 0..1.
    pub discount: f64,
    /// n of the n-step return.
    pub n_step: usize,
    /// Schedule of epsilon, or of the temperature: as the member acts.
    pub exploration: Exploration,
}

/// A schedule that falls linearly from `start` to `end` over `steps` decisions of an environment.
pub fn exploration(start: f64, end: f64, steps: u32) -> Exploration {
    let q31 = |x: f64| (x.clamp(0.0, 1.0) * f64::from(1_u32 << 31)).round() as u32;
    Exploration { start: q31(start), end: q31(end), steps, reserved: 0 }
}

/// As [`exploration`], of the temperature of Boltzmann acting, in units of the network's reward: above 0 and below 256.
pub fn temperature(start: f64, end: f64, steps: u32) -> Exploration {
    let q24 = |x: f64| (x * f64::from(1_u32 << 24)).round().clamp(1.0, f64::from(u32::MAX)) as u32;
    Exploration { start: q24(start), end: q24(end), steps, reserved: 0 }
}

impl MemberSpec {
    /// Refuses a line of a member whose own numbers are not those of its `first` line: then kernels read only that.
    pub(crate) fn check_like(&self, member: usize, first: &MemberSpec) -> Result<(), EnvError> {
        let own = |m: &MemberSpec| (m.seed, m.episode_bars, m.discount, m.n_step, m.exploration);
        if own(self) == own(first) {
            return Ok(());
        }
        let problem =
            "seed, episode, discount, return or exploration is not the same in all markets".to_owned();
        Err(EnvError::Member { member, field: "markets", problem })
    }

    /// The device's row of member number `member`.
    pub(crate) fn row(&self, member: usize, shape: &Shape, tables: &Tables) -> Result<EnvMember, EnvError> {
        let refuse = |field, problem: String| Err(EnvError::Member { member, field, problem });
        let table = self.features.table;
        if self.window.end > table.rows || self.window.len() < shape.lookback + 1 {
            return refuse(
                "window",
                format!(
                    "rows {:?} of {} must hold {} bars of lookback and one to trade in",
                    self.window, table.rows, shape.lookback
                ),
            );
        }
        if table.base + table.rows > tables.bars.len()
            || (self.features.base + table.rows) * tables.columns() > tables.features.len()
        {
            return refuse("features", "are not of these tables".into());
        }
        if self.episode_bars == 0 || self.episode_bars > u32::MAX as usize {
            return refuse("episode_bars", format!("{} decisions", self.episode_bars));
        }
        if !(0.0..1.0).contains(&self.discount) {
            return refuse("discount", format!("{} is not in 0 to 1", self.discount));
        }
        if self.n_step == 0 || self.n_step > shape.ring_rows {
            return refuse(
                "n_step",
                format!("{} is not in 1 to the {} rows of replay", self.n_step, shape.ring_rows),
            );
        }
        let fixed = |x: f64, bits: i32| (x * 2_f64.powi(bits)).round().min(f64::from(u32::MAX)) as u32;
        Ok(EnvMember {
            seed: self.seed,
            feature_shift: self.features.base as i64 - table.base as i64,
            begin: (table.base + self.window.start) as u32,
            end: (table.base + self.window.end) as u32,
            episode_bars: self.episode_bars as u32,
            lookback: shape.lookback as u32,
            volatility_floor_e9: self.volatility_floor_e9.max(1),
            gain_q32: fixed((1.0 - self.discount * self.discount).sqrt(), 32),
            discount_q31: fixed(self.discount, 31),
            n_step: self.n_step as u32,
        })
    }
}
