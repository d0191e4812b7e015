//! Deflated Sharpe ratio.

use crate::metric::{Metric, Undefined};
use crate::normal::{cdf, lower_quantile};
use crate::series::Series;
use crate::volatility::mean_sd;

/// Euler and Mascheroni's constant.
const EULER: f64 = 0.577_215_664_901_532_9;

/// The probability that the Sharpe ratio of session days is above what the best of the recorded number of trials would have
/// reached without skill (Bailey and López de Prado 2014, "The Deflated Sharpe Ratio"):
///
/// ```text
/// DSR = Φ( (SR - SR0) √(n - 1) / √(1 - g3 SR + (g4 - 1)/4 SR²) )
/// SR0 = √V ( (1 - γ) Φ⁻¹(1 - 1/N) + γ Φ⁻¹(1 - 1/(N e)) )
/// ```
///
/// SR is mean over standard deviation of n day returns, not annualised; g3 and g4 are their skewness and kurtosis (3 for a
/// normal distribution); N the trials in the ledger's header; γ Euler's constant. V, the variance of SR among the trials, was
/// not recorded: taken is that of trials without skill, 1/(n - 1). With one trial SR0 is 0, and this is the probabilistic
/// Sharpe ratio. Trials that are like one another count as fewer, so that for epochs of one member it is too strict; what was
/// tried without a record it can't know. Days, since bars depend on each other more.
pub fn deflated_sharpe(series: &Series) -> Metric {
    series.day_returns().and_then(|returns| deflated(&returns, series.trials)).into()
}

/// The same of any returns after so many trials.
pub fn deflated_sharpe_of(returns: &[f64], trials: u32) -> Metric {
    deflated(returns, trials).into()
}

/// Returns below which a third and fourth moment say nothing.
const RETURNS_MIN: usize = 20;

fn deflated(returns: &[f64], trials: u32) -> Result<f64, Undefined> {
    let have = returns.len();
    if have < RETURNS_MIN {
        return Err(Undefined::TooFew { have, need: RETURNS_MIN });
    }
    let (mean, sd) = mean_sd(returns)?;
    if sd <= 1e-14 * mean.abs() || sd == 0.0 {
        return Err(Undefined::NoVariation);
    }
    let n = have as f64;
    let moment = |k: i32| returns.iter().map(|r| (r - mean).powi(k)).sum::<f64>() / n;
    let variance = moment(2);
    let (skewness, kurtosis) = (moment(3) / variance.powf(1.5), moment(4) / variance.powi(2));
    let without_skill = 1.0 / (n - 1.0);
    Ok(probability(mean / sd, n, (skewness, kurtosis), best_of(trials, without_skill)))
}

/// SR0: the expected largest of N ratios without skill whose variance is V.
fn best_of(trials: u32, variance: f64) -> f64 {
    if trials < 2 {
        return 0.0;
    }
    let above = |p: f64| -lower_quantile(p);
    let n = f64::from(trials);
    variance.sqrt() * ((1.0 - EULER) * above(1.0 / n) + EULER * above(1.0 / (n * std::f64::consts::E)))
}

fn probability(ratio: f64, n: f64, (skewness, kurtosis): (f64, f64), least: f64) -> f64 {
    // Not negative for any returns: g4 >= 1 + g3².
    let spread = 1.0 - skewness * ratio + (kurtosis - 1.0) / 4.0 * ratio * ratio;
    cdf((ratio - least) * (n - 1.0).sqrt() / spread.max(f64::MIN_POSITIVE).sqrt())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The paper's own example: annual SR 2.5 over five years of 250 days, skewness -3, kurtosis 10, and a variance of the
    /// trials' annual SR of 1/2. After 100 trials SR0 is 0.1132 a day and DSR 0.9004; after 46 it is 0.9505.
    #[test]
    fn the_papers_example() {
        let sr = 2.5 / 250f64.sqrt();
        let of = |trials| probability(sr, 1_250.0, (-3.0, 10.0), best_of(trials, 0.5 / 250.0));
        assert!((best_of(100, 0.5 / 250.0) - 0.1132).abs() < 5e-5, "{}", best_of(100, 0.5 / 250.0));
        assert!((of(100) - 0.9004).abs() < 5e-5, "{}", of(100));
        assert!((of(46) - 0.9505).abs() < 5e-5, "{}", of(46));
    }

    #[test]
    fn more_trials_leave_less() {
        let returns: Vec<f64> = (0..250).map(|k| f64::from(k * 37 % 101 - 44) / 1e4).collect();
        let of = |trials| deflated(&returns, trials).unwrap();
        assert!(of(1) > of(2) && of(2) > of(10) && of(10) > of(1_000) && of(1_000) > of(u32::MAX));
        assert_eq!(of(0), of(1), "a ledger without trials has one");
        assert!(of(u32::MAX) > 0.0);
    }

    #[test]
    fn undefined() {
        let few = Undefined::TooFew { have: 19, need: 20 };
        assert_eq!(deflated(&[0.1; 19], 1), Err(few));
        assert_eq!(deflated(&[0.0; 40], 5), Err(Undefined::NoVariation));
        let lost = crate::series::daily(&[100, -5, 100]);
        assert_eq!(deflated_sharpe(&lost), Metric::Undefined(Undefined::EquityNotPositive));
    }
}
