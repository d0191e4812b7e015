//! What a run began and ended with, without its ledger.

use foxhunt_ledger::Ledger;

/// Equity of a member before its first decision and after its last, money.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ends {
    /// Before, always above 0.
    pub first: i64,
    /// After, with everything closed; 0 or less of an account that lost all.
    pub last: i64,
}

impl Ends {
    /// Of a member of a ledger; none if it has no row.
    pub fn of(ledger: &Ledger, member: u32) -> Option<Self> {
        let bars = ledger.bars_of(member);
        Some(Ends { first: bars.first()?.equity, last: bars.last()?.equity })
    }

    /// `(last - first) / first`, from the exact difference.
    pub fn total_return(self) -> f64 {
        (self.last - self.first) as f64 / self.first as f64
    }

    /// `ln(last / first)`; minus infinity of an account that lost all.
    pub fn log_return(self) -> f64 {
        if self.last > 0 { (self.last as f64 / self.first as f64).ln() } else { f64::NEG_INFINITY }
    }
}
