//! Trade physics: the structs of `cu/market`, and the backtest's step.

mod market_step;
mod types;

pub use market_step::{ENDED, MarketStep, Span, market_close, market_step};
pub use types::{
    Account, BRANCH_ACTIONS, Bar, Exit, FillKind, FillRow, LedgerRow, MAX_FILLS, OrderEnd, Rules,
    SESSION_END, flag,
};
