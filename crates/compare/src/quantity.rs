//! Which numbers of a member are compared.

use crate::{Measure, Member};
use serde::Serialize;

/// A number that every member has, and how it reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Quantity {
    /// Distance from the optimum on the test window, last epoch.
    Regret,
    /// Sharpe ratio per session day on the test window.
    Sharpe,
    /// Total return on the test window.
    Return,
    /// Mean loss of the last epoch.
    Loss,
    /// Share of reached weights that never moved.
    Unmoved,
    /// Effective step size.
    Step,
    /// Lag of the target.
    Lag,
}

impl Quantity {
    /// What is reported of a comparison with this measure, the score first.
    pub fn of(measure: Measure) -> Vec<Quantity> {
        let all =
            [Self::Regret, Self::Sharpe, Self::Return, Self::Loss, Self::Unmoved, Self::Step, Self::Lag];
        all.into_iter().filter(|q| *q != Self::Regret || measure == Measure::Regret).collect()
    }

    /// The score that verdicts are about.
    pub fn score(measure: Measure) -> Self {
        match measure {
            Measure::Regret => Self::Regret,
            Measure::Sharpe => Self::Sharpe,
        }
    }

    /// Of a member; none where it is undefined. Regret goes with the last epoch's weights, so where that is the measure the test
    /// window's other numbers do too; otherwise they go with the chosen epoch's.
    pub fn value(self, member: &Member, measure: Measure) -> Option<f64> {
        let scores = match measure {
            Measure::Regret => &member.last,
            Measure::Sharpe => &member.chosen,
        };
        match self {
            Self::Regret => scores.regret,
            Self::Sharpe => scores.sharpe,
            Self::Return => scores.total_return,
            Self::Loss => member.loss.last().copied().flatten(),
            Self::Unmoved => member.gauges.unmoved_share(),
            Self::Step => member.gauges.step,
            Self::Lag => member.gauges.lag,
        }
    }

    /// Name for people.
    pub const fn label(self) -> &'static str {
        match self {
            Self::Regret => "Regret",
            Self::Sharpe => "Sharpe, per session day",
            Self::Return => "Total return",
            Self::Loss => "Loss, last epoch",
            Self::Unmoved => "Weights that never moved",
            Self::Step => "Effective step size",
            Self::Lag => "Target lag",
        }
    }

    /// Whether it is a share, printed as a percentage.
    pub const fn is_share(self) -> bool {
        matches!(self, Self::Return | Self::Unmoved | Self::Lag)
    }

    /// Whether less of it is better.
    pub const fn less_is_better(self) -> bool {
        matches!(self, Self::Regret | Self::Loss | Self::Unmoved | Self::Lag)
    }
}
