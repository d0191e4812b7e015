//! Learning curves of an arm.

use crate::{Measure, Member, statistics::Bootstrap};
use serde::Serialize;

/// The middle of an arm after some epochs.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct CurvePoint {
    /// Epochs done.
    pub epoch: u32,
    /// IQM over the members that have a value there.
    pub iqm: f64,
    /// Lower end of its 95 % bootstrap interval.
    pub low: f64,
    /// Upper end.
    pub high: f64,
}

/// A learning curve of an arm.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Curve {
    /// What it shows.
    pub label: &'static str,
    /// Its points, by rising epoch; epochs at which no member has a value are left out.
    pub points: Vec<CurvePoint>,
}

/// The score on the validation window, and the loss.
pub(super) fn of(members: &[&Member], measure: Measure, how: Bootstrap) -> Vec<Curve> {
    let label = match measure {
        Measure::Regret => "Regret, validation window",
        Measure::Sharpe => "Total return, validation window",
    };
    let score = members.iter().flat_map(|m| &m.curve).map(|p| {
        let value = match measure {
            Measure::Regret => p.regret,
            Measure::Sharpe => p.total_return,
        };
        (p.epoch, value)
    });
    let loss = members.iter().flat_map(|m| (1..).zip(m.loss.iter().copied()));
    vec![Curve { label, points: points(score, how) }, Curve { label: "Loss", points: points(loss, how) }]
}

fn points(values: impl Iterator<Item = (u32, Option<f64>)>, how: Bootstrap) -> Vec<CurvePoint> {
    let mut values: Vec<(u32, f64)> = values.filter_map(|(epoch, x)| Some((epoch, x?))).collect();
    // Stable: members stay in order of their ids.
    values.sort_by_key(|(epoch, _)| *epoch);
    let of_epoch = |part: &[(u32, f64)]| {
        let values: Vec<f64> = part.iter().map(|(_, x)| *x).collect();
        how.iqm(&values).map(|e| CurvePoint { epoch: part[0].0, iqm: e.value, low: e.low, high: e.high })
    };
    values.chunk_by(|a, b| a.0 == b.0).filter_map(of_epoch).collect()
}
