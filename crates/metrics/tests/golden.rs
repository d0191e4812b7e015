//! Against QuantStats and empyrical, where they define a figure as we do (`scripts/golden/quantstats_metrics.py`).

#![allow(clippy::unwrap_used, reason = "helpers of tests")]

use foxhunt_metrics::{
    Metric, Series, Undefined, cagr, calmar, cvar_bars, deflated_sharpe_of, max_drawdown_closes,
    periods_per_year, sharpe_bars, sortino, total_return, volatility,
};
use serde_json::Value;

fn load(text: &str) -> (Series, Value) {
    let file: Value = serde_json::from_str(text).unwrap();
    let list = |key: &str| -> Vec<i64> {
        file[key].as_array().unwrap().iter().map(|x| x.as_i64().unwrap()).collect()
    };
    let series = Series { time_ns: list("time_ns"), equity: list("equity"), ..Series::default() };
    (series, file["values"].clone())
}

fn near(metric: Metric, golden: &Value, tolerance: f64) {
    let (value, golden) = (metric.value().unwrap(), golden.as_f64().unwrap());
    assert!((value - golden).abs() <= tolerance * golden.abs(), "{value} {golden}");
}

/// The libraries sum thousands of floats in another order; 1e-10 leaves room for that alone.
fn compare(series: &Series, values: &Value) {
    near(periods_per_year(series), &values["periods_per_year"], 1e-14);
    for library in ["quantstats", "empyrical"] {
        let of = &values[library];
        near(sharpe_bars(series), &of["sharpe"], 1e-10);
        near(sortino(series), &of["sortino"], 1e-10);
        near(volatility(series), &of["volatility"], 1e-10);
        near(total_return(series), &of["total_return"], 1e-10);
        let negated = of["max_drawdown"].as_f64().map(|x| -x).into();
        near(max_drawdown_closes(series), &negated, 1e-10);
    }
    near(cvar_bars(series), &values["empyrical"]["cvar"], 1e-10);
}

#[test]
fn hourly() {
    let (series, values) = load(include_str!("golden/hourly.json"));
    assert_eq!(series.equity.len(), 1_201);
    compare(&series, &values);
    // 70 days: the libraries extrapolate to a year, we do not.
    let short = Metric::Undefined(Undefined::TooShort { days: 70, need: 90 });
    assert_eq!((cagr(&series), calmar(&series)), (short, short));
}

#[test]
fn daily() {
    let (series, values) = load(include_str!("golden/daily.json"));
    assert_eq!(series.equity.len(), 301);
    compare(&series, &values);
    near(cagr(&series), &values["empyrical"]["cagr"], 1e-10);
    near(calmar(&series), &values["empyrical"]["calmar"], 1e-10);
}

/// By `scripts/golden/deflated_sharpe.py`: another language's normal distribution.
#[test]
fn deflated() {
    let file: Value = serde_json::from_str(include_str!("golden/deflated_sharpe.json")).unwrap();
    let curves = [
        ("hourly", load(include_str!("golden/hourly.json")).0),
        ("daily", load(include_str!("golden/daily.json")).0),
    ];
    let rows = file.as_array().unwrap();
    assert_eq!(rows.len(), 10);
    for row in rows {
        let (_, series) = curves.iter().find(|(name, _)| row["curve"] == *name).unwrap();
        let trials = u32::try_from(row["trials"].as_u64().unwrap()).unwrap();
        near(deflated_sharpe_of(&series.returns().unwrap(), trials), &row["value"], 1e-9);
    }
}
