//! Actions that are known before the run: a recorded policy, a baseline, anyone's own.

use crate::{BacktestError, TestWindow, scripted::single};
use foxhunt_ledger::{Ledger, MemberInfo};
use foxhunt_market::BRANCH_ACTIONS;

/// Flat, by a patient market order: [`foxhunt_ledger::Action::FLAT`].
pub const FLAT: [u8; 3] = [4, 0, 0];
/// Full long, by a market order at the open.
pub const AGGRESSIVE_LONG: [u8; 3] = [8, 0, 2];

/// The actions of one or several members.
#[derive(Clone, Debug, PartialEq)]
pub struct Strategy {
    /// What the ledger calls it where no agent chose the actions.
    pub baseline: Option<String>,
    /// Who acts.
    pub members: Vec<MemberInfo>,
    /// Seed that the ledger names.
    pub seed: u64,
    /// A list per member: exposure, order type, urgency of each decision.
    pub actions: Vec<Vec<[u8; 3]>>,
}

impl Strategy {
    /// A strategy with a name and one member.
    pub fn scripted(name: &str, actions: Vec<[u8; 3]>) -> Self {
        Strategy {
            baseline: Some(name.to_owned()),
            members: vec![single(name)],
            seed: 0,
            actions: vec![actions],
        }
    }

    /// The same over so many decisions, every action one bar later: flat before the first, and where a list ends early since its
    /// account was ruined, for a bar later it may not be.
    #[must_use]
    pub fn delayed(&self, decisions: usize) -> Self {
        let late = |x: &Vec<[u8; 3]>| {
            let actions = std::iter::once(FLAT).chain(x.iter().copied());
            actions.chain(std::iter::repeat(FLAT)).take(decisions).collect()
        };
        Strategy { actions: self.actions.iter().map(late).collect(), ..self.clone() }
    }

    pub(crate) fn check(&self) -> Result<(), BacktestError> {
        if self.members.is_empty() || self.members.len() != self.actions.len() {
            return Err(BacktestError::Members { members: self.members.len(), given: self.actions.len() });
        }
        for (member, actions) in self.actions.iter().enumerate() {
            let exists = |a: &[u8; 3]| a.iter().zip(BRANCH_ACTIONS).all(|(x, n)| usize::from(*x) < n);
            if let Some(row) = actions.iter().position(|a| !exists(a)) {
                return Err(BacktestError::Action { member, row, action: actions[row] });
            }
        }
        Ok(())
    }
}

/// The actions that a ledger tells of, to be run again.
pub fn recorded(ledger: &Ledger) -> Strategy {
    let of = |member| {
        let rows = ledger.bars_of(member).iter().skip(1);
        rows.map(|r| [r.action.exposure, r.action.order_type, r.action.urgency]).collect()
    };
    Strategy {
        baseline: ledger.header.baseline.clone(),
        members: ledger.header.members.clone(),
        seed: ledger.header.seed,
        actions: (0..ledger.members()).map(of).collect(),
    }
}

/// Full long at every close, by market orders at the open: the position grows and shrinks with equity, outside the band.
pub fn buy_and_hold(window: &TestWindow) -> Strategy {
    Strategy::scripted("buy and hold", vec![AGGRESSIVE_LONG; window.decisions()])
}

/// Never a position.
pub fn flat(window: &TestWindow) -> Strategy {
    Strategy::scripted("flat", vec![FLAT; window.decisions()])
}
