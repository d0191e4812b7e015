//! Volatility from open, high, low and close: variances of one row's log return, each a mean over `n` rows.

use super::rolling::{rolling_mean, windows};

/// Parkinson 1980, from the range alone: mean of ln(H/L)² / (4 ln 2). First value in row `n - 1`.
pub fn parkinson(high: &[f64], low: &[f64], n: usize) -> Vec<f64> {
    let square: Vec<f64> = high.iter().zip(low).map(|(h, l)| (h / l).ln().powi(2)).collect();
    rolling_mean(&square, n).into_iter().map(|v| v / (4.0 * std::f64::consts::LN_2)).collect()
}

/// Garman and Klass 1980: mean of ln(H/L)² / 2 - (2 ln 2 - 1) ln(C/O)². First value in row `n - 1`.
pub fn garman_klass(open: &[f64], high: &[f64], low: &[f64], close: &[f64], n: usize) -> Vec<f64> {
    let weight = 2.0 * std::f64::consts::LN_2 - 1.0;
    let term = |t: usize| {
        (0.5 * (high[t] / low[t]).ln().powi(2) - weight * (close[t] / open[t]).ln().powi(2)).max(0.0)
    };
    rolling_mean(&(0..close.len()).map(term).collect::<Vec<_>>(), n)
}

/// Rogers and Satchell 1991, which a trend does not bias: mean of ln(H/C) ln(H/O) + ln(L/C) ln(L/O). First value in row
/// `n - 1`.
pub fn rogers_satchell(open: &[f64], high: &[f64], low: &[f64], close: &[f64], n: usize) -> Vec<f64> {
    let term = |t: usize| {
        let (up, down) = ((high[t] / close[t]).ln(), (low[t] / close[t]).ln());
        (up * (high[t] / open[t]).ln() + down * (low[t] / open[t]).ln()).max(0.0)
    };
    rolling_mean(&(0..close.len()).map(term).collect::<Vec<_>>(), n)
}

/// Yang and Zhang 2000, jumps from close to open included: Var(ln(O/C before)) + k Var(ln(C/O)) + (1 - k) Rogers and Satchell,
/// k = 0.34 / (1.34 + (n + 1)/(n - 1)), variances over n - 1. First value in row `n`. `n` is at least 2.
pub fn yang_zhang(open: &[f64], high: &[f64], low: &[f64], close: &[f64], n: usize) -> Vec<f64> {
    let n = n.max(2);
    let jump: Vec<f64> = (0..close.len())
        .map(|t| t.checked_sub(1).map_or(0.0, |before| (open[t] / close[before]).ln()))
        .collect();
    let body: Vec<f64> = (0..close.len()).map(|t| (close[t] / open[t]).ln()).collect();
    let (jump, body) = (windows(&jump, n, variance), windows(&body, n, variance));
    let still = rogers_satchell(open, high, low, close, n);
    let count = n as f64;
    let k = 0.34 / (1.34 + (count + 1.0) / (count - 1.0));
    let at = |t: usize| if t < n { f64::NAN } else { jump[t] + k * body[t] + (1.0 - k) * still[t] };
    (0..close.len()).map(at).collect()
}

/// Variance over n - 1; exactly 0 where all are equal.
fn variance(w: &[f64]) -> f64 {
    let m = w.iter().map(|v| v - w[0]).sum::<f64>() / w.len() as f64;
    w.iter().map(|v| (v - w[0] - m).powi(2)).sum::<f64>() / (w.len() as f64 - 1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flat_rows_have_none_and_a_move_has_its_own() {
        let flat = [7.0; 4];
        assert_eq!(yang_zhang(&flat, &flat, &flat, &flat, 2)[2..], [0.0; 2]);
        assert_eq!(garman_klass(&flat, &flat, &flat, &flat, 2)[1..], [0.0; 3]);
        // One row from 1 to 2 in a straight line: ln 2 squared over 4 ln 2; no Rogers-Satchell, for all of it is trend.
        let v = parkinson(&[2.0], &[1.0], 1)[0];
        assert!((v - std::f64::consts::LN_2 / 4.0).abs() < 1e-15, "{v}");
        assert_eq!(rogers_satchell(&[1.0], &[2.0], &[1.0], &[2.0], 1), [0.0]);
    }
}
