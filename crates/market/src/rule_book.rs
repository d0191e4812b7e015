use crate::{Account, Rules};

/// Parts of one in a rate of 1e-7.
const ONE_E7: i64 = 10_000_000;
/// Largest notional that an account may reach, in money: leaves 64-bit sums of cash, basis and fees room.
const MAX_NOTIONAL: i128 = 1 << 60;
/// Largest position whatever the price.
const MAX_LOTS: i128 = 1 << 30;

/// What financing is charged on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FinancingBase {
    /// The whole notional, long and short (FX, perpetuals).
    WholeNotional,
    /// What the account borrowed: a long's basis above its cash; a short's whole notional (cash equity, spot).
    BorrowedPart,
}

/// Which order types are sent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OrderTypes {
    /// The type that is chosen.
    #[default]
    All,
    /// Market orders, whatever type is chosen.
    Market,
}

/// The rules of one instrument and configuration, in the units of `market.md`: prices in price units, quantities in
/// lots, money in 10^-k of the quote currency, rates in 1e-7 unless a name says otherwise.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RuleBook {
    /// What is traded, `EUR/USD`.
    pub instrument: String,
    /// Currency of prices, money and the account.
    pub quote_currency: String,
    /// One price unit in quote currency as text, `0.000005`.
    pub price_unit: String,
    /// One lot in base units as text, `1000`.
    pub lot: String,
    /// k: money is in 10^-k of the quote currency.
    pub money_exponent: u32,
    /// Money of one unit times one lot.
    pub tv: i64,
    /// Units of a tick.
    pub tick: i32,
    /// Whether bars have a bid and an ask side.
    pub quotes: bool,
    /// Whether volumes come from the file; else they are a preset's, and the report says so.
    pub volume_from_file: bool,
    /// Highest price of the data, units.
    pub highest_price: i32,
    /// Fee of a fill that takes.
    pub taker_fee_e7: i32,
    /// Fee of a fill that makes; negative is a rebate.
    pub maker_fee_e7: i32,
    /// Least half-spread, units.
    pub min_half_spread: i32,
    /// Half-spread as a rate of the close.
    pub half_spread_e7: i32,
    /// Half-spread as a share of ATR24.
    pub atr_spread_e7: i32,
    /// Factor on the half-spread in the first bar after a time gap.
    pub gap_spread_factor: i32,
    /// Y of the square-root impact, 1e-2. The default of 50, Y = 0.5, is an assumption: studies of large orders find the square root of the
    /// share of a day's volume, times the day's volatility, times a factor of order 1 (Almgren et al. 2005; Toth et al. 2011). Volatility
    /// and volume of a bar say the same where prices wander at random.
    pub impact_e2: i32,
    /// Largest share of a bar's volume that an order takes, 1e-4.
    pub participation_cap_e4: i32,
    /// Penalty of a liquidation, of notional.
    pub liquidation_penalty_e7: i32,
    /// Largest notional over equity, 1e-4: what exposure 1 means, and what the initial margin allows.
    pub max_leverage_e4: i32,
    /// Orders smaller than this share of the position are not sent, 1e-4.
    pub band_bp: i32,
    /// Financing of a long position, a year of 31,536,000 s.
    pub financing_long_e7: i32,
    /// Financing of a short position, a year.
    pub financing_short_e7: i32,
    /// What financing is charged on.
    pub financing_base: FinancingBase,
    /// Stop distance in ATRs, 1e-4; 0 is no stop.
    pub stop_atr_e4: i32,
    /// Which order types are sent.
    pub orders: OrderTypes,
    /// Whether bars that end a session close what is held; which ones do is in the bar table ([`crate::SESSION_END`]).
    pub flat_by_close: bool,
    /// Cash at the start, money.
    pub start_cash: i64,
    /// Equity at which an account counts as ruined, as a share of the start, 1e-4.
    pub ruin_e4: i32,
}

/// A rule that can't be kept.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("rules of {instrument}, {field}: {problem}")]
pub struct RuleError {
    /// Whose rules.
    pub instrument: String,
    /// Which field.
    pub field: &'static str,
    /// What is wrong, and what would be right.
    pub problem: String,
}

impl Default for RuleBook {
    /// The configuration's defaults; the instrument's numbers are those of `market.md` section 8 and must be replaced.
    fn default() -> Self {
        RuleBook {
            instrument: "test".into(),
            quote_currency: "USD".into(),
            price_unit: "0.01".into(),
            lot: "0.001".into(),
            money_exponent: 6,
            tv: 10,
            tick: 1,
            quotes: false,
            volume_from_file: true,
            highest_price: 12_000,
            taker_fee_e7: 5_000,
            maker_fee_e7: 2_000,
            min_half_spread: 5,
            half_spread_e7: 0,
            atr_spread_e7: 0,
            gap_spread_factor: 6,
            impact_e2: 50,
            participation_cap_e4: 1_000,
            liquidation_penalty_e7: 50_000,
            max_leverage_e4: 50_000,
            band_bp: 500,
            financing_long_e7: 500_000,
            financing_short_e7: 300_000,
            financing_base: FinancingBase::WholeNotional,
            stop_atr_e4: 0,
            orders: OrderTypes::All,
            flat_by_close: false,
            start_cash: 10_000_000,
            ruin_e4: 5_000,
        }
    }
}

impl RuleBook {
    /// Initial margin in 1e-7 of notional: `ceil(1e7 / max_leverage)`.
    pub fn initial_margin_e7(&self) -> i32 {
        let leverage = i64::from(self.max_leverage_e4.max(1));
        (ONE_E7 * 10_000 + leverage - 1).div_euclid(leverage).min(i64::from(i32::MAX)) as i32
    }

    /// Maintenance margin in 1e-7 of notional: half of the initial one, and never above a half (a long position without a
    /// loan can't be liquidated).
    pub fn maintenance_margin_e7(&self) -> i32 {
        (self.initial_margin_e7() / 2).min(5_000_000)
    }

    /// Dearest fill: four times the data's highest price, an overflow guard.
    pub fn max_price(&self) -> i32 {
        self.highest_price.saturating_mul(4)
    }

    /// Largest target in lots: what keeps notional within 64 bits at the dearest fill.
    pub fn max_position(&self) -> i32 {
        let lot = i128::from(self.max_price().max(1)) * i128::from(self.tv.max(1));
        (MAX_NOTIONAL / lot).min(MAX_LOTS) as i32
    }

    /// Equity in money at or below which the account counts as ruined, rounded up.
    pub fn ruin_equity(&self) -> i64 {
        let e4 = i128::from(self.start_cash) * i128::from(self.ruin_e4);
        ((e4 + 9_999).div_euclid(10_000)) as i64
    }

    /// Checks every rule, and that the data fits the integers.
    ///
    /// # Errors
    /// The first field that breaks a rule.
    pub fn validate(&self) -> Result<(), RuleError> {
        let refuse =
            |field, problem: String| Err(RuleError { instrument: self.instrument.clone(), field, problem });
        for (field, value, range) in [
            ("tick", self.tick, 1..=1_000_000_000),
            ("highest_price", self.highest_price, 1..=i32::MAX / 4),
            ("taker_fee_e7", self.taker_fee_e7, -1_000_000..=1_000_000),
            ("maker_fee_e7", self.maker_fee_e7, -1_000_000..=1_000_000),
            ("min_half_spread", self.min_half_spread, 0..=1_000_000_000),
            ("half_spread_e7", self.half_spread_e7, 0..=1_000_000),
            ("atr_spread_e7", self.atr_spread_e7, 0..=10_000_000),
            ("gap_spread_factor", self.gap_spread_factor, 1..=1_000),
            ("impact_e2", self.impact_e2, 0..=10_000),
            ("participation_cap_e4", self.participation_cap_e4, 0..=10_000),
            ("liquidation_penalty_e7", self.liquidation_penalty_e7, 0..=1_000_000),
            ("max_leverage_e4", self.max_leverage_e4, 100..=10_000_000),
            ("band_bp", self.band_bp, 0..=10_000),
            ("financing_long_e7", self.financing_long_e7, -100_000_000..=100_000_000),
            ("financing_short_e7", self.financing_short_e7, -100_000_000..=100_000_000),
            ("stop_atr_e4", self.stop_atr_e4, 0..=10_000_000),
            ("ruin_e4", self.ruin_e4, 100..=9_999),
        ] {
            if !range.contains(&value) {
                return refuse(field, format!("{value} is not in {} to {}", range.start(), range.end()));
            }
        }
        if self.tv < 1 {
            return refuse("tv", format!("{} is below one money unit per price unit and lot", self.tv));
        }
        if !(1..=1 << 58).contains(&self.start_cash) {
            return refuse("start_cash", format!("{} money units is not in 1 to 2^58", self.start_cash));
        }
        for (field, fee) in [("taker_fee_e7", self.taker_fee_e7), ("maker_fee_e7", self.maker_fee_e7)] {
            if fee <= -self.initial_margin_e7() {
                return refuse(field, format!("a rebate of {fee} would pay the margin of its own position"));
            }
        }
        let lot = i128::from(self.highest_price) * i128::from(self.tv);
        let largest =
            (i128::from(self.start_cash) * i128::from(self.max_leverage_e4)).div_euclid(10_000 * lot) + 1;
        if 4 * largest > i128::from(self.max_position()) {
            return refuse(
                "start_cash",
                format!(
                    "four times the largest starting position ({largest} lots) is beyond {} lots at a price of {}: \
                     start with less, or use larger lots or a coarser money unit",
                    self.max_position(),
                    self.highest_price
                ),
            );
        }
        Ok(())
    }

    /// The device's row.
    ///
    /// # Errors
    /// As [`RuleBook::validate`].
    pub fn row(&self) -> Result<Rules, RuleError> {
        self.validate()?;
        Ok(Rules {
            tv: self.tv,
            start_cash: self.start_cash,
            ruin_equity: self.ruin_equity(),
            tick: self.tick,
            max_price: self.max_price(),
            max_position: self.max_position(),
            quotes: i32::from(self.quotes),
            taker_fee_e7: self.taker_fee_e7,
            maker_fee_e7: self.maker_fee_e7,
            min_half_spread: self.min_half_spread,
            half_spread_e7: self.half_spread_e7,
            atr_spread_e7: self.atr_spread_e7,
            gap_spread_factor: self.gap_spread_factor,
            impact_e2: self.impact_e2,
            cap_e4: self.participation_cap_e4,
            penalty_e7: self.liquidation_penalty_e7,
            initial_e7: self.initial_margin_e7(),
            maintenance_e7: self.maintenance_margin_e7(),
            leverage_e4: self.max_leverage_e4,
            band_bp: self.band_bp,
            financing_long_e7: self.financing_long_e7,
            financing_short_e7: self.financing_short_e7,
            financing_borrowed: i32::from(self.financing_base == FinancingBase::BorrowedPart),
            stop_e4: self.stop_atr_e4,
            market_orders: i32::from(self.orders == OrderTypes::Market),
        })
    }

    /// The same rules with all costs times `factor` (0 to 3 in a report's stress lines): spreads, fees, impact, financing
    /// and penalty. What an account receives (a rebate, a financing credit) is not multiplied. A quoted spread is in the bars, not
    /// here: [`crate::BarTable::bars_with_spread`].
    #[must_use]
    pub fn with_costs(&self, factor: i32) -> Self {
        let cost = |x: i32| if x > 0 { x.saturating_mul(factor) } else { x };
        RuleBook {
            taker_fee_e7: cost(self.taker_fee_e7),
            maker_fee_e7: cost(self.maker_fee_e7),
            min_half_spread: cost(self.min_half_spread),
            half_spread_e7: cost(self.half_spread_e7),
            atr_spread_e7: cost(self.atr_spread_e7),
            impact_e2: cost(self.impact_e2),
            liquidation_penalty_e7: cost(self.liquidation_penalty_e7),
            financing_long_e7: cost(self.financing_long_e7),
            financing_short_e7: cost(self.financing_short_e7),
            ..self.clone()
        }
    }

    /// The same rules with `factor` times the starting cash (a report's capacity lines).
    #[must_use]
    pub fn with_equity(&self, factor: i64) -> Self {
        RuleBook { start_cash: self.start_cash.saturating_mul(factor), ..self.clone() }
    }
}

/// An account that has its starting cash and nothing else.
pub fn new_account(rules: &Rules) -> Account {
    Account { cash: rules.start_cash, peak: rules.start_cash, ..Account::default() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn margins_follow_from_leverage() {
        let margins = |lev| {
            let book = RuleBook { max_leverage_e4: lev, ..RuleBook::default() };
            (book.initial_margin_e7(), book.maintenance_margin_e7())
        };
        assert_eq!(margins(50_000), (2_000_000, 1_000_000));
        assert_eq!(margins(300_000), (333_334, 166_667));
        assert_eq!(margins(10_000), (10_000_000, 5_000_000));
        assert_eq!(margins(5_000), (20_000_000, 5_000_000));
    }

    #[test]
    fn what_does_not_fit_is_refused_with_its_reason() {
        let refused = |book: RuleBook| book.row().unwrap_err().field;
        let good = RuleBook::default();
        assert!(good.row().is_ok());
        assert_eq!(refused(RuleBook { tv: 0, ..good.clone() }), "tv");
        assert_eq!(refused(RuleBook { highest_price: i32::MAX, ..good.clone() }), "highest_price");
        assert_eq!(refused(RuleBook { maker_fee_e7: -2_000_000, ..good.clone() }), "maker_fee_e7");
        let large = RuleBook { start_cash: 1 << 58, ..good };
        let error = large.row().unwrap_err();
        assert_eq!(error.field, "start_cash");
        assert!(error.to_string().contains("four times the largest starting position"), "{error}");
    }

    #[test]
    fn stress_lines_scale_costs_but_not_credits() {
        let book = RuleBook { maker_fee_e7: -100, ..RuleBook::default() };
        let twice = book.with_costs(2);
        assert_eq!((twice.taker_fee_e7, twice.maker_fee_e7, twice.impact_e2), (10_000, -100, 100));
        assert_eq!(book.with_costs(0).min_half_spread, 0);
        assert_eq!(book.with_equity(10).start_cash, 100_000_000);
    }
}
