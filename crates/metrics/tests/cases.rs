//! Day metrics against QuantStats and empyrical (`scripts/golden/metric_cases.py`), and the guide against the code.

#![allow(clippy::unwrap_used, reason = "helpers of tests")]

use std::collections::BTreeSet;

use foxhunt_metrics::{Series, drawdowns, rolling_sharpe, summary};
use serde_json::Value;

fn near(what: &str, value: f64, golden: f64) {
    // Both sum in another order; what is near zero is compared absolutely.
    assert!((value - golden).abs() <= 1e-9 * golden.abs().max(1e-3), "{what}: {value} {golden}");
}

fn series(case: &Value) -> Series {
    let list = |key: &str| -> Vec<i64> {
        case[key].as_array().unwrap().iter().map(|x| x.as_i64().unwrap()).collect()
    };
    Series {
        time_ns: list("time_ns"),
        day: list("day").into_iter().map(|day| day as i32).collect(),
        equity: list("equity"),
        ..Series::default()
    }
}

fn numbers(list: &Value) -> Vec<f64> {
    list.as_array().unwrap().iter().map(|x| x.as_f64().unwrap()).collect()
}

#[test]
fn both_libraries_agree() {
    let cases: Value = serde_json::from_str(include_str!("golden/cases.json")).unwrap();
    let cases = cases.as_array().unwrap();
    assert_eq!(cases.len(), 5);
    for case in cases {
        let name = case["name"].as_str().unwrap();
        let series = series(case);
        let ours = summary(&series);
        let values = case["values"].as_object().unwrap();
        assert_eq!(values.len(), 16, "{name}");
        for (key, golden) in values {
            let key = key.trim_end_matches("_empyrical").trim_end_matches("_profit_factor");
            let found = ours.iter().find(|named| named.key == key).unwrap();
            near(&format!("{name}, {key}"), found.metric.value().unwrap(), golden.as_f64().unwrap());
        }
        let depths: Vec<f64> = drawdowns(&series).iter().take(5).map(|d| d.depth).collect();
        let golden = numbers(&case["worst_depths"]);
        assert_eq!(depths.len(), golden.len(), "{name}");
        for (depth, golden) in depths.into_iter().zip(golden) {
            near(&format!("{name}, a drawdown"), depth, golden);
        }
        let window = case["window"].as_u64().unwrap() as usize;
        let (ours, golden) = (rolling_sharpe(&series, window).unwrap(), numbers(&case["rolling_sharpe"]));
        assert_eq!(ours.len(), golden.len(), "{name}");
        for ((_, value), golden) in ours.into_iter().zip(golden) {
            near(&format!("{name}, rolling Sharpe"), value, golden);
        }
    }
}

/// `docs/metrics.md` has a line for every metric of a summary, in its order, and no other.
#[test]
fn the_guide_lists_every_metric() {
    let guide = include_str!("../../../docs/metrics.md");
    let listed: Vec<&str> = guide
        .lines()
        .filter_map(|line| line.strip_prefix("| `")?.split_once('`'))
        .map(|(key, _)| key)
        .collect();
    let keys: Vec<&str> = summary(&Series::default()).iter().map(|named| named.key).collect();
    assert_eq!(listed, keys);
    assert_eq!(listed.iter().collect::<BTreeSet<_>>().len(), keys.len(), "no key twice");
    for line in guide.lines().filter(|line| line.starts_with("| `")) {
        assert_eq!(line.matches(" | ").count(), 4, "five columns: {line}");
    }
}
