use crate::BacktestError;
use foxhunt_train::Market;
use std::ops::Range;

/// A stretch of a market's bars to trade.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TestWindow {
    /// `train`, `validation` or `test`: what the ledger calls it.
    pub name: String,
    /// Rows of the bar table: decisions at the closes of all but the last, marks at all but the first.
    pub rows: Range<usize>,
}

impl TestWindow {
    /// The window that chooses members and epochs.
    pub fn validation(market: &Market) -> Self {
        TestWindow { name: "validation".into(), rows: market.splits.validation.clone() }
    }

    /// The window that is read once.
    pub fn test(market: &Market) -> Self {
        TestWindow { name: "test".into(), rows: market.splits.test.clone() }
    }

    /// Decisions, T.
    pub fn decisions(&self) -> usize {
        self.rows.len().saturating_sub(1)
    }

    /// The last bar alone, at whose close the next order is decided, and the one before it, which nothing is read of.
    pub(crate) fn now(market: &Market) -> Self {
        let end = market.bars.len();
        TestWindow { name: "now".into(), rows: end.saturating_sub(2)..end }
    }

    /// Refuses rows that are not in the market, lack features, or hold no decision.
    pub(crate) fn check(&self, market: &Market, lookback: usize) -> Result<(), BacktestError> {
        let first = first_seen(market, lookback);
        let problem = if self.rows.end > market.bars.len() {
            format!("there are {} bars", market.bars.len())
        } else if self.rows.start < first {
            format!("the first row with all features in sight is {first}")
        } else if self.decisions() == 0 {
            "two bars are the least".into()
        } else {
            return Ok(());
        };
        let Range { start, end } = self.rows;
        Err(BacktestError::Window { name: self.name.clone(), start, end, problem })
    }
}

/// The first row with all features in sight.
pub(crate) fn first_seen(market: &Market, lookback: usize) -> usize {
    market.features.warmup_rows + lookback.saturating_sub(1)
}
