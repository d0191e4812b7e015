//! Paired differences to F32, and what follows from them.

use super::{mean, spread};
use crate::{
    Arm, Measure, Member, Quantity, Verdict, bound_of, iqm,
    statistics::{Bootstrap, Estimate, Power},
};
use serde::Serialize;
use std::collections::BTreeMap;

/// A quantity of an arm minus that of F32, member by member.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Difference {
    /// The arm that F32 is taken from.
    pub arm: Arm,
    /// Which quantity.
    pub quantity: Quantity,
    /// Members that have it in both.
    pub pairs: usize,
    /// Members that are in both and lack it in one.
    pub lost: usize,
    /// Difference of the two IQMs, pairs resampled.
    pub iqm: Option<Estimate>,
    /// Mean of the differences.
    pub mean: Option<f64>,
    /// Their standard deviation (n − 1).
    pub sd: Option<f64>,
    /// Student's 95 % interval of the mean.
    pub mean_interval: Option<(f64, f64)>,
    /// IQM of the arm over that of F32, on the same members; none where F32's is 0.
    pub ratio: Option<f64>,
    /// The bound of the verdict, and what could have been found: of the score alone.
    pub bound: Option<f64>,
    /// Power of the test of `iqm`.
    pub power: Option<Power>,
    /// What it says of the arm.
    pub verdict: Option<Verdict>,
}

/// A trainer whose own BF16 arm is worse is marked: F32 is what it reports.
pub(super) fn default_of(own: Arm, differences: &[Difference]) -> (Arm, String) {
    let verdict = differences.iter().find(|d| d.arm == own && d.verdict.is_some()).and_then(|d| d.verdict);
    let label = own.label();
    match verdict {
        Some(Verdict::Worse) => (Arm::F32, format!("{label} is worse than F32: F32 is the reported default")),
        Some(Verdict::Undecided) => {
            (own, format!("undecided: {label} is neither shown to be equivalent to F32 nor to be worse"))
        }
        Some(verdict) => (own, format!("{label} is {verdict} to F32").replace("better to", "better than")),
        None => match differences.iter().find(|d| d.arm == own && d.lost > 0) {
            Some(d) => {
                let what = format!("none of the {} members of {label} has a score beside F32's", d.lost);
                (Arm::F32, format!("{what}: F32 is the reported default"))
            }
            None => (own, format!("{label} has not been compared with F32 yet")),
        },
    }
}

/// Of one quantity, over the members that both arms have.
pub(super) fn difference(
    arm: Arm,
    quantity: Quantity,
    members: &[&Member],
    base: &[&Member],
    measure: Measure,
    how: Bootstrap,
) -> Difference {
    let base: BTreeMap<u64, &Member> = base.iter().map(|m| (m.id, *m)).collect();
    let (mut a, mut b, mut lost) = (Vec::new(), Vec::new(), 0);
    for member in members {
        let Some(other) = base.get(&member.id) else { continue };
        match (quantity.value(member, measure), quantity.value(other, measure)) {
            (Some(x), Some(y)) => {
                a.push(x);
                b.push(y);
            }
            _ => lost += 1,
        }
    }
    let each: Vec<f64> = a.iter().zip(&b).map(|(x, y)| x - y).collect();
    let spread = spread(&each);
    let estimate = how.difference(&a, &b);
    let f32_iqm = iqm(&b);
    let ratio = iqm(&a).zip(f32_iqm).filter(|(_, y)| *y != 0.0).map(|(x, y)| x / y);
    let scored = quantity == Quantity::score(measure);
    let bound = f32_iqm.filter(|_| scored).map(|x| bound_of(measure, x));
    let judged = estimate.zip(bound);
    Difference {
        arm,
        quantity,
        pairs: a.len(),
        lost,
        iqm: estimate,
        mean: mean(&each),
        sd: spread.map(|s| s.sd),
        mean_interval: spread.map(|s| (s.low, s.high)),
        ratio,
        bound,
        power: judged.map(|(e, bound)| Power::new(e.standard_error, bound)),
        verdict: judged.map(|(e, bound)| Verdict::of(&e, bound, quantity.less_is_better(), a.len(), lost)),
    }
}
