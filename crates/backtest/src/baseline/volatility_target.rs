use crate::{Backtest, Exposures};

/// Long, the size such that the expected volatility is constant (Moreira and Muir 2017, without leverage):
///
/// ```text
/// x_t = min(1, v / s_t)
/// ```
///
/// s_t is the 30-day EWMA of one bar's volatility at the close of bar t, which the agent sees too, and v its mean over the
/// bars before the window, from the first with a whole warm-up on (over the first bar of the window where there is none
/// before it). So it holds the whole position when the market is as calm as it used to be, and less when it is wilder. Market
/// orders at the open of the next bar; changes within the band are not sent, as for everyone.
pub fn volatility_target(backtest: &Backtest<'_>) -> Exposures {
    let (market, window) = (backtest.market(), backtest.window());
    let volatility: Vec<u32> = market.table.context.iter().map(|c| c.volatility_e9.max(1)).collect();
    let rows = window.rows.start..window.rows.start + window.decisions();
    let first = market.features.warmup_rows.min(rows.start);
    let before = if first < rows.start { first..rows.start } else { rows.start..rows.start + 1 };
    let targets = targets(&volatility[before], &volatility[rows]);
    let words = "The target is long, full exposure times the mean 30-day volatility of the bars before the window over that \
                 of the last 30 days, at most 1.";
    Exposures::single("volatility target", words, targets)
}

/// Of the volatilities before and in the window.
fn targets(before: &[u32], within: &[u32]) -> Vec<f64> {
    let mean = before.iter().map(|s| f64::from(*s)).sum::<f64>() / before.len().max(1) as f64;
    within.iter().map(|s| (mean / f64::from(*s)).min(1.0)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn half_as_much_where_it_is_twice_as_wild() {
        assert_eq!(targets(&[100, 300], &[200, 400, 100, 800]), [1.0, 0.5, 1.0, 0.25]);
    }
}
