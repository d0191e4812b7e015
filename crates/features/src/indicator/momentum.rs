//! Speed of the price, and of price and volume together.

use super::{
    rolling::{rolling_max, rolling_mean, rolling_min, windows},
    smoothed::ema,
};

/// Fast stochastic %K, 0 to 100; first value in row `n - 1`; 50 where the window has no range.
pub fn stochastic(high: &[f64], low: &[f64], close: &[f64], n: usize) -> Vec<f64> {
    let (high, low) = (rolling_max(high, n), rolling_min(low, n));
    let at =
        |t: usize| if high[t] == low[t] { 50.0 } else { 100.0 * (close[t] - low[t]) / (high[t] - low[t]) };
    (0..close.len()).map(at).collect()
}

/// Mean of the last `n` known rows of a column that begins with rows without a value.
pub fn mean_of_known(x: &[f64], n: usize) -> Vec<f64> {
    after_unknown(x, |known| rolling_mean(known, n))
}

/// Applies `f` to what follows the leading rows without a value, and puts those back in front.
fn after_unknown(x: &[f64], f: impl Fn(&[f64]) -> Vec<f64>) -> Vec<f64> {
    let first = x.iter().position(|v| !v.is_nan()).unwrap_or(x.len());
    let mut out = vec![f64::NAN; first];
    out.extend(f(&x[first..]));
    out
}

/// Chande's momentum oscillator, -100 to 100, of plain sums over `n` changes; first value in row `n`; 0 where nothing moved.
/// TA-Lib's smooths as Wilder does, and is then twice the relative strength index less 100.
pub fn chande(x: &[f64], n: usize) -> Vec<f64> {
    windows(x, n.max(1) + 1, |w| {
        let (mut way, mut gone) = (0.0, 0.0);
        for p in w.windows(2) {
            way += p[1] - p[0];
            gone += (p[1] - p[0]).abs();
        }
        if gone == 0.0 { 0.0 } else { 100.0 * way / gone }
    })
}

/// Change of the triple exponential average in one row, percent; first value in row `3 (n - 1) + 1`.
pub fn trix(x: &[f64], n: usize) -> Vec<f64> {
    let average = |x: &[f64]| after_unknown(x, |known| ema(known, n));
    let third = average(&average(&average(x)));
    let change = |t: usize| if t == 0 { f64::NAN } else { 100.0 * (third[t] / third[t - 1] - 1.0) };
    (0..x.len()).map(change).collect()
}

/// Money flow index, 0 to 100: the share of typical price times volume that came with a rising typical price; first value in
/// row `n`; 50 where no money flowed (TA-Lib: 0).
pub fn money_flow(high: &[f64], low: &[f64], close: &[f64], volume: &[f64], n: usize) -> Vec<f64> {
    let typical = |t: usize| (high[t] + low[t] + close[t]) / 3.0;
    let flow: Vec<f64> = (0..close.len())
        .map(|t| match t.checked_sub(1).map(typical) {
            Some(before) if typical(t) > before => typical(t) * volume[t],
            Some(before) if typical(t) < before => -typical(t) * volume[t],
            _ => 0.0,
        })
        .collect();
    let share = windows(&flow, n, |w| {
        let (up, all) = w.iter().fold((0.0, 0.0), |(up, all), f| (up + f.max(0.0), all + f.abs()));
        if all == 0.0 { 50.0 } else { 100.0 * up / all }
    });
    // The first row has no row to rise from, so no window may hold it.
    share.into_iter().enumerate().map(|(t, v)| if t < n { f64::NAN } else { v }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn by_hand() {
        assert_eq!(chande(&[1.0, 2.0, 1.5, 2.5], 3)[3], 60.0);
        assert_eq!(stochastic(&[3.0, 4.0], &[1.0, 2.0], &[2.0, 2.5], 2)[1], 50.0);
        assert_eq!(mean_of_known(&[f64::NAN, 1.0, 3.0], 2)[2], 2.0);
        let flat = [2.0; 5];
        assert_eq!(money_flow(&flat, &flat, &flat, &flat, 2)[2..], [50.0; 3]);
        assert_eq!(trix(&flat, 2)[4], 0.0);
        assert!(trix(&[1.0], 2)[0].is_nan() && trix(&[], 2).is_empty());
    }
}
