//! The ledger: header and two tables, sorted.

use crate::error::ReconcileError;
use crate::header::LedgerHeader;
use crate::rows::{BarRow, FillRow};

/// The record of a backtest of one or several members.
#[derive(Clone, Debug, PartialEq)]
pub struct Ledger {
    /// What the rows mean.
    pub header: LedgerHeader,
    /// Accounts, sorted by member, then bar.
    pub bars: Vec<BarRow>,
    /// Fills, sorted by member, then bar, then the order of events.
    pub fills: Vec<FillRow>,
}

impl Ledger {
    /// The bars of a member; empty if there are none. Relies on the sorting that [`check_sorted`](Self::check_sorted)
    /// checks.
    pub fn bars_of(&self, member: u32) -> &[BarRow] {
        run(&self.bars, member, |row| row.member)
    }

    /// The fills of a member, in the order of events.
    pub fn fills_of(&self, member: u32) -> &[FillRow] {
        run(&self.fills, member, |row| row.member)
    }

    /// After how many bars a member was ruined; none where its account reached the end of the window.
    pub fn ruined(&self, member: u32) -> Option<usize> {
        let rows = self.bars_of(member);
        rows.last().is_some_and(|row| row.flags.terminated).then(|| rows.len() - 1)
    }

    /// How many members the header lists.
    pub fn members(&self) -> u32 {
        u32::try_from(self.header.members.len()).unwrap_or(u32::MAX)
    }

    /// Checks that both tables are sorted and that every row belongs to a listed member.
    ///
    /// # Errors
    ///
    /// [`ReconcileError::Unsorted`] or [`ReconcileError::UnknownMember`].
    pub fn check_sorted(&self) -> Result<(), ReconcileError> {
        let bar_key = |row: &BarRow| (row.member, row.bar);
        let fill_key = |row: &FillRow| (row.member, row.bar);
        // Two rows of one bar would be two accounts at one time; two fills of one bar are normal.
        if let Some(k) = self.bars.windows(2).position(|w| bar_key(&w[0]) >= bar_key(&w[1])) {
            return Err(ReconcileError::Unsorted { table: "bars", row: k + 1 });
        }
        if let Some(k) = self.fills.windows(2).position(|w| fill_key(&w[0]) > fill_key(&w[1])) {
            return Err(ReconcileError::Unsorted { table: "fills", row: k + 1 });
        }
        let last = self.bars.last().map(|row| row.member).max(self.fills.last().map(|row| row.member));
        match last {
            Some(member) if member >= self.members() => {
                Err(ReconcileError::UnknownMember { member, members: self.header.members.len() })
            }
            _ => Ok(()),
        }
    }
}

/// The stretch of sorted `rows` whose key is `member`.
fn run<T>(rows: &[T], member: u32, key: impl Fn(&T) -> u32) -> &[T] {
    let start = rows.partition_point(|row| key(row) < member);
    let end = rows.partition_point(|row| key(row) <= member);
    rows.get(start..end).unwrap_or(&[])
}
