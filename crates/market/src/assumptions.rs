use crate::{FinancingBase, OrderTypes, RuleBook};

/// A rate of 1e-7 in basis points, without a float: 5,000 is "5", 1,250 is "1.25".
fn bp(rate_e7: i32) -> String {
    decimal(i64::from(rate_e7), 3)
}

/// `value` 10^-`places` as the shortest decimal.
fn decimal(value: i64, places: u32) -> String {
    let one = 10_i64.pow(places);
    let (whole, part) = (value.abs() / one, value.abs() % one);
    let sign = if value < 0 { "-" } else { "" };
    let text = format!("{sign}{whole}.{part:0width$}", width = places as usize);
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

impl RuleBook {
    /// What is said where quoted spreads are `factor` times the file's; nothing where they are the file's, or there are none.
    pub fn quoted_spread_assumption(&self, factor: i32) -> Option<String> {
        let words = || {
            format!(
                "Bid and ask are moved to {factor} times their distance about the same mids; what the agent sees is not changed."
            )
        };
        (self.quotes && factor != 1).then(words)
    }

    /// Every rule as a sentence, for the report: what a reader must believe to believe the result.
    pub fn assumptions(&self) -> Vec<String> {
        let mut out = vec![
            format!(
                "Prices are whole multiples of {} {}, quantities whole lots of {}; money is counted in 10^-{} {}, exactly.",
                self.price_unit, self.quote_currency, self.lot, self.money_exponent, self.quote_currency
            ),
            "A decision at the close of a bar fills in the next bar and lives for that bar alone.".into(),
            format!(
                "Exposure 1 is a notional of {} times equity; targets are rounded towards flat. Orders below {} % of the \
                 position are not sent, except to go flat.",
                decimal(self.max_leverage_e4.into(), 4),
                decimal(self.band_bp.into(), 2)
            ),
            self.spread_assumption(),
            format!(
                "Trading q lots moves the price by {} times the volatility of a bar times the square root of q over the mean \
                 volume, rounded up; market, IOC, stop and liquidation fills pay it, maker fills don't.",
                decimal(self.impact_e2.into(), 2)
            ),
            format!(
                "An order takes at most {} % of a bar's volume{}.",
                decimal(self.participation_cap_e4.into(), 2),
                if self.volume_from_file { "" } else { "; the file has no volume, so a preset's is assumed" }
            ),
            "Market orders fill at the open (aggressive), half there and half at the mean of open, high, low and close \
             (normal), or at that mean with a quarter of the impact (patient)."
                .into(),
        ];
        out.extend(self.order_assumptions());
        out.push(format!(
            "Fees are {} bp for taking and {} bp for making, rounded up per leg; a flip is two legs.",
            bp(self.taker_fee_e7),
            bp(self.maker_fee_e7)
        ));
        if self.maker_fee_e7 < 0 && self.orders == OrderTypes::All {
            out.push(
                "With a rebate a maker order fills only if the bar trades through by the half-spread.".into(),
            );
        }
        out.push(self.financing_assumption());
        out.push(format!(
            "Added lots must leave {} % of notional as initial margin; below {} % at any price of a bar the whole position is \
             liquidated at that level or a worse open, with a penalty of {} bp. There is no negative-balance protection.",
            decimal(self.initial_margin_e7().into(), 5),
            decimal(self.maintenance_margin_e7().into(), 5),
            bp(self.liquidation_penalty_e7)
        ));
        out.push(if self.stop_atr_e4 == 0 {
            "No stop is set.".into()
        } else {
            format!(
                "A stop stands {} ATRs from the average entry, with the ATR of when the position was opened; it closes the \
                 whole position whatever the volume, at its level or at a worse open.",
                decimal(self.stop_atr_e4.into(), 4)
            )
        });
        if self.flat_by_close {
            out.push(
                "What is held at the last close of a session is closed there, whatever the volume, with half-spread, impact and \
                 fee. Which bar is a session's last is told by the clock and by where the file goes on in another session: it is \
                 taken as known, as from the exchange's calendar."
                    .into(),
            );
        }
        out.push(
            "Within a bar what adds to a position fills before the adverse move and what reduces it after; a stop or \
             liquidation cancels the rest of the order."
                .into(),
        );
        out.push(format!(
            "The account starts with {} {} and is ruined at {} % of that.",
            decimal(self.start_cash, self.money_exponent),
            self.quote_currency,
            decimal(self.ruin_e4.into(), 2)
        ));
        out
    }

    /// What becomes of orders that are not market orders.
    fn order_assumptions(&self) -> Vec<String> {
        if self.orders == OrderTypes::Market {
            return vec!["Only market orders are sent: whatever other type is chosen is sent as one.".into()];
        }
        [
            "Maker orders rest at 1, 3 or 5 half-spreads from the close, on the tick grid. They fill only if the bar trades \
             through by a tick, and then only the share of the volume that lay beyond the limit; touch is not a fill.",
            "After a time gap a maker order enters at the open and is rejected where it would take; in a contiguous bar that \
             opens beyond it, it fills at its limit.",
            "IOC orders fill at the open if the price is within 4, 2 or 0 half-spreads of the close, else not at all.",
        ]
        .map(str::to_owned)
        .into()
    }

    fn spread_assumption(&self) -> String {
        if self.quotes {
            return "Bars have a bid and an ask side: buyers pay the ask, sellers get the bid, marks are mids.".into();
        }
        format!(
            "Half the spread is {} bp of the close, at least {} price units and {} % of ATR24, times {} on the first bar after \
             a time gap; every fill that takes pays it.",
            bp(self.half_spread_e7),
            self.min_half_spread,
            decimal(self.atr_spread_e7.into(), 5),
            self.gap_spread_factor
        )
    }

    fn financing_assumption(&self) -> String {
        let base = match self.financing_base {
            FinancingBase::WholeNotional => "on the whole notional",
            FinancingBase::BorrowedPart => "on what a long borrows and on a short's whole notional",
        };
        format!(
            "Holding costs {} % a year long and {} % short, {base}, by the second, also over gaps, at the last close.",
            decimal(self.financing_long_e7.into(), 5),
            decimal(self.financing_short_e7.into(), 5)
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_printed_exactly() {
        assert_eq!(bp(5_000), "5");
        assert_eq!(bp(-1_250), "-1.25");
        assert_eq!(decimal(333_334, 5), "3.33334");
        assert_eq!(decimal(10_000_000, 6), "10");
        assert_eq!(decimal(-5, 6), "-0.000005");
    }

    #[test]
    fn every_rule_is_said_with_its_number() {
        let book = RuleBook { maker_fee_e7: -500, stop_atr_e4: 25_000, ..RuleBook::default() };
        let text = book.assumptions().join("\n");
        for said in [
            "5 times equity",
            "5 %",
            "0.5 times the volatility",
            "10 % of a bar's volume",
            "5 bp for taking and -0.5 bp for making",
            "through by the half-spread",
            "20 % of notional",
            "below 10 %",
            "2.5 ATRs",
            "5 % a year long and 3 % short",
            "10 USD and is ruined at 50 %",
            "times 6 on the first bar",
        ] {
            assert!(text.contains(said), "{said:?} is missing in\n{text}");
        }
        assert!(text.contains("Maker orders rest") && text.contains("IOC orders"), "{text}");
        let market = RuleBook { orders: OrderTypes::Market, ..book }.assumptions().join("\n");
        assert!(market.contains("Only market orders are sent"), "{market}");
        for unsaid in ["Maker orders", "maker order", "IOC orders"] {
            assert!(!market.contains(unsaid), "{unsaid:?} is in\n{market}");
        }
        assert!(!text.contains("last close of a session"));
        let flat = RuleBook { flat_by_close: true, ..RuleBook::default() }.assumptions().join("\n");
        assert!(flat.contains("What is held at the last close of a session is closed there"), "{flat}");
        let quotes = RuleBook { quotes: true, volume_from_file: false, ..RuleBook::default() };
        let text = quotes.assumptions().join("\n");
        assert!(text.contains("buyers pay the ask") && text.contains("a preset's is assumed"), "{text}");
    }
}
