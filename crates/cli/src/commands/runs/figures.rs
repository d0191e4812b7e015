//! The test figures of a run, read back from `figures.json`.

use crate::commands::table::unsigned_zero;
use foxhunt_metrics::{Metric, Named, Undefined, Unit, named};
use serde_json::Value;

/// Metrics of every member of a run, and over what they were measured.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Figures {
    /// Begin and end of the test window, ns UTC.
    pub(crate) window: (i64, i64),
    /// SHA-256 of the data.
    pub(crate) sha256: String,
    /// Of each member, in the order of the run's ids: its `metrics`, as they stand.
    members: Vec<Value>,
    /// Name and one member's metrics, or their means over draws, of each baseline.
    pub(crate) baselines: Vec<(String, Value)>,
}

impl Figures {
    /// Reads the value of a file.
    ///
    /// # Errors
    /// What is missing or not as foxhunt writes it.
    pub(crate) fn of(value: &Value) -> Result<Self, String> {
        let format = value["format"].as_u64().ok_or("it names no format")?;
        if format != u64::from(foxhunt_report::FIGURES_FORMAT) {
            return Err(format!("its format is {format}, which this foxhunt doesn't know"));
        }
        let moment = |key: &str| value["window"][key].as_i64().ok_or(format!("window.{key} is missing"));
        let members = |of: &Value| -> Vec<Value> {
            of["members"].as_array().into_iter().flatten().map(|m| m["metrics"].clone()).collect()
        };
        let agents = members(&value["agent"]);
        if agents.is_empty() || !agents.iter().all(Value::is_object) {
            return Err("agent.members is missing".into());
        }
        let baselines = value["baselines"].as_array().into_iter().flatten().filter_map(|b| {
            // A baseline of several draws stands with their means.
            let own = members(b);
            let one = own.first().filter(|_| own.len() == 1).cloned();
            Some((b["name"].as_str()?.to_owned(), one.unwrap_or_else(|| means(&b["over_members"]))))
        });
        Ok(Figures {
            window: (moment("start_ns")?, moment("end_ns")?),
            sha256: value["data"]["sha256"].as_str().unwrap_or_default().to_owned(),
            members: agents,
            baselines: baselines.collect(),
        })
    }

    /// Members that it has figures of.
    pub(crate) fn members(&self) -> usize {
        self.members.len()
    }

    /// A metric of a member; nothing where it is undefined.
    pub(crate) fn get(&self, member: usize, key: &str) -> Option<f64> {
        self.members.get(member)?[key].as_f64()
    }

    /// A metric of every member, for statistics.
    pub(crate) fn all(&self, key: &str) -> Vec<Metric> {
        (0..self.members.len()).map(|m| metric(self.get(m, key))).collect()
    }

    /// A member's metrics as they stand in the file.
    pub(crate) fn raw(&self, member: usize) -> Value {
        self.members.get(member).cloned().unwrap_or_default()
    }
}

fn means(over_members: &Value) -> Value {
    let one = |(key, spread): (&String, &Value)| (key.clone(), spread["mean"].clone());
    over_members.as_object().into_iter().flatten().map(one).collect()
}

/// A number as a metric. Why one is undefined was said in the report; here it stands as a dash.
pub(crate) fn metric(x: Option<f64>) -> Metric {
    x.map_or(Metric::Undefined(Undefined::NoTrades), Metric::Value)
}

/// A number of a unit as a person reads it, a dash where there is none.
pub(crate) fn shown(x: Option<f64>, unit: Unit) -> String {
    let Some(x) = x else { return "-".into() };
    unsigned_zero(match unit {
        Unit::Share => format!("{:.2} %", 100.0 * x),
        Unit::Count | Unit::Money => format!("{x:.0}"),
        Unit::BasisPoints => format!("{x:.2} bp"),
        Unit::Ratio | Unit::Times | Unit::Bars | Unit::Hours | Unit::Days => {
            format!("{x:.2}")
        }
    })
}

/// What `show` and `compare` print unless all is asked for.
const SHOWN: [&str; 11] = [
    "total_return",
    "volatility",
    "sharpe_days",
    "sharpe_bars",
    "sortino",
    "max_drawdown_closes",
    "max_drawdown_worst",
    "turnover",
    "break_even_bp",
    "trip_count",
    "win_rate",
];

/// The metrics to print, in the order of a report.
pub(crate) fn rows(all: bool) -> Vec<Named> {
    named().filter(|n| all || SHOWN.contains(&n.key)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn figures_are_read_as_written_and_what_is_missing_is_named() {
        let mut value = json!({
            "format": 1, "window": { "start_ns": 5, "end_ns": 9 }, "data": { "sha256": "ab" },
            "agent": { "members": [{ "metrics": { "sharpe_bars": 1.5, "cagr": { "undefined": "too short" } } }] },
            "baselines": [{ "name": "random", "members": [{}, {}],
                            "over_members": { "sharpe_bars": { "mean": 0.25 }, "cagr": { "undefined": "x" } } }],
        });
        let figures = Figures::of(&value).unwrap();
        assert_eq!((figures.window, figures.members()), ((5, 9), 1));
        assert_eq!((figures.get(0, "sharpe_bars"), figures.get(0, "cagr")), (Some(1.5), None));
        assert_eq!(figures.baselines[0].1["sharpe_bars"], 0.25);
        value["window"]["end_ns"] = json!("late");
        assert_eq!(Figures::of(&value), Err("window.end_ns is missing".into()));
        value["format"] = json!(99);
        assert!(Figures::of(&value).unwrap_err().contains("99"));
        assert!(Figures::of(&json!([])).is_err());
    }

    #[test]
    fn numbers_as_a_person_reads_them() {
        for (x, unit, text) in [
            (None, Unit::Share, "-"),
            (Some(0.0123), Unit::Share, "1.23 %"),
            (Some(-0.000_01), Unit::Share, "0.00 %"),
            (Some(-0.2), Unit::Count, "0"),
            (Some(-1.5), Unit::Ratio, "-1.50"),
            (Some(0.5), Unit::BasisPoints, "0.50 bp"),
        ] {
            assert_eq!(shown(x, unit), text);
        }
    }

    /// A key that no metric has would print nothing.
    #[test]
    fn what_is_shown_exists() {
        assert_eq!(rows(false).len(), SHOWN.len());
        assert!(rows(true).len() > SHOWN.len());
    }
}
