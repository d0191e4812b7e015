//! Indicators against TA-Lib's values on the embedded sample (`scripts/golden/talib_features.py` writes them).

use foxhunt_features::{Series, indicator};

const GOLDEN: &str = include_str!("golden/talib_eurusd_1h_2017.csv");

#[test]
fn indicators_equal_talib() {
    let s = Series::from_bars(&foxhunt_data::sample()).unwrap();
    let macd = indicator::macd(&s.close, 12, 26, 9);
    // Name, ours, first row with a value in TA-Lib (for MACD, it withholds the line until there is a signal).
    let columns = [
        ("rsi_14", indicator::rsi(&s.close, 14), 14),
        ("atr_14", indicator::atr(&s.high, &s.low, &s.close, 14), 14),
        ("ema_12", indicator::ema(&s.close, 12), 11),
        ("macd_line", macd.line, 33),
        ("macd_signal", macd.signal, 33),
        ("mean_20", indicator::rolling_mean(&s.close, 20), 19),
        ("sd_20", indicator::rolling_sd(&s.close, 20), 19),
        ("max_24", indicator::rolling_max(&s.high, 24), 23),
        ("min_24", indicator::rolling_min(&s.low, 24), 23),
    ];
    let mut lines = GOLDEN.lines();
    let header: Vec<&str> = lines.next().unwrap().split(',').skip(1).collect();
    assert_eq!(header, columns.iter().map(|c| c.0).collect::<Vec<_>>());
    let mut compared = 0;
    for line in lines {
        let (row, cells) = line.split_once(',').unwrap();
        let row: usize = row.parse().unwrap();
        for ((name, ours, first), cell) in columns.iter().zip(cells.split(',')) {
            assert_eq!(cell.is_empty(), row < *first, "{name}, row {row}");
            if let Ok(theirs) = cell.parse::<f64>() {
                let ours = ours[row];
                // Prices are about 2e5 units: both sides lose some 1e-16 of that a step. TA-Lib's deviation comes from the
                // difference of mean square and squared mean, about 1e-16 * (2e5)^2 / (2 sd) off.
                let bound = if *name == "sd_20" { 1e-5 } else { 1e-8 };
                assert!((ours - theirs).abs() <= bound, "{name}, row {row}: {ours} and {theirs}");
                compared += 1;
            }
        }
    }
    assert_eq!(compared, 927);
}
