//! Target exposures that are given: anyone's positions, a baseline that sizes finely.

use crate::{BacktestError, scripted::single};
use foxhunt_ledger::MemberInfo;

/// Target exposures of one or several members, to be sent as market orders at the open of the next bar.
///
/// A target need not be one of the nine levels. Level 5 is a quarter of full exposure, so that an exposure x is that level
/// under a leverage of `4 |x|` times the rule book's, which the member's row of rules is given for that one decision: the
/// kernels are those of any backtest. The product is rounded to 1e-4, a target to 2.5e-5 of equity, before it is rounded
/// towards flat to whole lots; every one of the nine levels comes out as it does by its number.
#[derive(Clone, Debug, PartialEq)]
pub struct Exposures {
    /// What the ledger calls it.
    pub name: String,
    /// A sentence for the ledger's assumptions: where the targets are from.
    pub words: String,
    /// Who acts.
    pub members: Vec<MemberInfo>,
    /// For each member the target of each decision, -1 to 1 of full exposure.
    pub targets: Vec<Vec<f64>>,
}

impl Exposures {
    /// Targets of one member.
    pub fn single(name: &str, words: &str, targets: Vec<f64>) -> Self {
        Exposures {
            name: name.to_owned(),
            words: words.to_owned(),
            members: vec![single(name)],
            targets: vec![targets],
        }
    }

    /// The same, every target one bar later, flat before the first.
    #[must_use]
    pub fn delayed(&self) -> Self {
        let late = |x: &Vec<f64>| {
            let given = x.iter().copied().take(x.len().saturating_sub(1));
            std::iter::once(0.0).chain(given).take(x.len()).collect()
        };
        Exposures { targets: self.targets.iter().map(late).collect(), ..self.clone() }
    }

    /// Refuses what is not a target for every one of so many decisions.
    pub(crate) fn check(&self, decisions: usize) -> Result<(), BacktestError> {
        if self.members.is_empty() || self.members.len() != self.targets.len() {
            return Err(BacktestError::Members { members: self.members.len(), given: self.targets.len() });
        }
        for (member, targets) in self.targets.iter().enumerate() {
            if targets.len() != decisions {
                return Err(BacktestError::TooFewActions { member, given: targets.len(), needed: decisions });
            }
            if let Some(row) = targets.iter().position(|x| !(-1.0..=1.0).contains(x)) {
                return Err(BacktestError::Exposure { member, row, exposure: targets[row] });
            }
        }
        Ok(())
    }
}

/// Four times the leverage of a target, 1e-4, under which a quarter of full exposure is the target.
pub(crate) fn leverage_e4(target: f64, full_e4: i32) -> i32 {
    (4.0 * target.abs() * f64::from(full_e4)).round() as i32
}

/// The action by which a target is sent: a quarter long, a quarter short or flat, at the open.
pub(crate) fn sent(target: f64) -> [u8; 3] {
    let level = if target > 0.0 {
        5
    } else if target < 0.0 {
        3
    } else {
        4
    };
    [level, 0, 2]
}

/// The nearest of the nine levels, which the ledger shows.
pub(crate) fn nearest_level(target: f64) -> u8 {
    (4.0 + 4.0 * target).round().clamp(0.0, 8.0) as u8
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_product_of_target_and_leverage_is_rounded_once() {
        assert_eq!(leverage_e4(0.25, 10_000), 10_000, "a quarter is the level itself");
        assert_eq!(leverage_e4(-1.0, 30_001), 120_004);
        assert_eq!(leverage_e4(0.123_45, 10_000), 4_938);
        assert_eq!([1.0, -0.1, 0.0].map(|x| sent(x)[0]), [5, 3, 4]);
        assert_eq!([-1.0, -0.6, -0.1, 0.1, 0.13, 1.0].map(nearest_level), [0, 2, 4, 4, 5, 8]);
    }

    #[test]
    fn a_delay_moves_targets_by_one_bar() {
        let x = Exposures::single("x", "", vec![0.5, -1.0, 0.25]).delayed();
        assert_eq!(x.targets, [[0.0, 0.5, -1.0]]);
        assert_eq!(Exposures::single("x", "", vec![]).delayed().targets, [[0.0_f64; 0]]);
    }

    #[test]
    fn what_is_no_target_is_refused() {
        let of = |targets| Exposures::single("x", "", targets).check(2).map_err(|e| e.to_string());
        assert!(of(vec![1.0, -1.0]).is_ok());
        assert!(of(vec![1.0]).unwrap_err().contains("2 decisions"));
        for bad in [f64::NAN, 1.01, f64::INFINITY] {
            assert!(of(vec![0.0, bad]).unwrap_err().contains("-1 to 1"));
        }
    }
}
