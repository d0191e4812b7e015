//! Faults of metrics that others had (`market.md` section 9): the faulty figure is computed too, and is another.

#![allow(clippy::unwrap_used, reason = "helpers of tests")]

use foxhunt_metrics::{
    Series, cagr, days_per_year, periods_per_year, session_count, sharpe_bars, sharpe_of, total_return,
};

const HOUR_NS: i64 = 3_600_000_000_000;

/// 100 sessions of seven hourly bars on five days a week, 17 hours apart.
fn sessions() -> Series {
    let mut series = Series { time_ns: vec![0], day: vec![0], equity: vec![1_000_000], ..Series::default() };
    for session in 0..100_i64 {
        let day = session + session / 5 * 2;
        for hour in 1..=7 {
            let last = *series.equity.last().unwrap();
            series.time_ns.push((day * 24 + hour) * HOUR_NS);
            series.day.push(day as i32);
            series.equity.push(last + last * [3, -2, 4, -1, 2, -3, 1][hour as usize - 1] / 1_000);
        }
    }
    series
}

fn near(a: f64, b: f64) -> bool {
    (a - b).abs() < 1e-9 * b.abs()
}

/// "√252 for any bar length" and "a 24-hour year for a market with sessions".
#[test]
fn a_year_has_the_bars_that_the_data_has() {
    let series = sessions();
    let years = (137.0 * 24.0 + 7.0) / 8_760.0;
    let bars = periods_per_year(&series).value().unwrap();
    assert!(near(bars, 700.0 / years), "{bars}");
    assert!(near(days_per_year(&series).value().unwrap(), 100.0 / years));
    assert_eq!(session_count(&series).value(), Some(100.0));
    let sharpe = sharpe_bars(&series).value().unwrap();
    let returns = series.returns().unwrap();
    assert!(near(sharpe, sharpe_of(&returns, 700.0 / years).value().unwrap()));
    for planted in [252.0, 365.0, 8_760.0] {
        let faulty = sharpe_of(&returns, planted).value().unwrap();
        assert!((faulty / sharpe - 1.0).abs() > 0.3, "{planted}: {faulty} {sharpe}");
    }
}

/// "Sums not compounded".
#[test]
fn returns_are_compounded() {
    let series = sessions();
    let compounded: f64 = series.returns().unwrap().iter().map(|r| 1.0 + r).product();
    let summed: f64 = series.returns().unwrap().iter().sum();
    let total = total_return(&series).value().unwrap();
    assert!(near(total, compounded - 1.0));
    assert!((summed - total).abs() > 0.01, "{summed} {total}");
    let years = (137.0 * 24.0 + 7.0) / 8_760.0;
    assert!(near(cagr(&series).value().unwrap(), compounded.powf(1.0 / years) - 1.0));
}
