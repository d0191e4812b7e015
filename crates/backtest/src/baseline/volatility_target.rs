use crate::{Backtest, Exposures};

/// Long, the size such that the expected volatility is constant (Moreira and Muir 2017, without leverage):
///
/// ```text
/// x_t = min(1, v / s_t)
/// ```
///
/// s_t is the 30-day EWMA of one bar's volatility at the close of bar t, which the agent sees too, and v its mean over the
/// bars before the window, from the first with a whole warm-up on; where there is none before it, over those of the window up
/// to t. So it holds the whole position when the market is as calm as it used to be, and less when it is wilder. Market
/// orders at the open of the next bar; changes within the band are not sent, as for everyone.
pub fn volatility_target(backtest: &Backtest<'_>) -> Exposures {
    let (market, window) = (backtest.market(), backtest.window());
    let volatility: Vec<u32> = market.table.context.iter().map(|c| c.volatility_e9.max(1)).collect();
    let rows = window.rows.start..window.rows.start + window.decisions();
    let before = market.features.warmup_rows.min(rows.start)..rows.start;
    let which = if before.is_empty() { "of the window so far" } else { "of the bars before the window" };
    let words = format!(
        "The target is long, full exposure times the mean 30-day volatility {which} over that of the last 30 days, at most 1."
    );
    let targets = targets(&volatility[before], &volatility[rows]);
    Exposures::single("volatility target", &words, targets)
}

/// Of the volatilities before and in the window.
fn targets(before: &[u32], within: &[u32]) -> Vec<f64> {
    let sum = |of: &[u32]| of.iter().map(|s| f64::from(*s)).sum::<f64>();
    if !before.is_empty() {
        let mean = sum(before) / before.len() as f64;
        return within.iter().map(|s| (mean / f64::from(*s)).min(1.0)).collect();
    }
    let mut so_far = 0.0;
    let target = |(k, s): (usize, &u32)| {
        so_far += f64::from(*s);
        (so_far / (k + 1) as f64 / f64::from(*s)).min(1.0)
    };
    within.iter().enumerate().map(target).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn half_as_much_where_it_is_twice_as_wild() {
        assert_eq!(targets(&[100, 300], &[200, 400, 100, 800]), [1.0, 0.5, 1.0, 0.25]);
        // Without bars before it: means of 1; of 1 and 199; of 1, 199 and 100; of these and 300. Still bars at the start, as
        // of a market that has not opened yet, are no reason to stay out.
        assert_eq!(targets(&[], &[1, 199, 100, 300]), [1.0, 100.0 / 199.0, 1.0, 0.5]);
    }
}
