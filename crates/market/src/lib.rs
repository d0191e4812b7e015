//! Trade physics: the host's side of the market kernels.
//!
//! The physics itself is `crates/kernels/cu/market`, one set of headers for training and backtest. Here are its rules in
//! words and numbers ([`RuleBook`]), and two independent checks of it: a cash-flow book that knows nothing but fills
//! ([`CashFlowBook`]), and the whole decision step again in plain Rust ([`reference`]).

mod assumptions;
mod bar_table;
mod book;
pub mod reference;
mod rule_book;
mod spread;

pub use bar_table::{BarColumns, BarTable, TableError};
pub use book::{BookError, CashFlowBook};
pub use foxhunt_kernels::env::Context;
pub use foxhunt_kernels::market::{
    Account, BRANCH_ACTIONS, Bar, Exit, FillKind, FillRow, LedgerRow, MAX_FILLS, OrderEnd, Rules,
    SESSION_END, flag,
};
pub use rule_book::{FinancingBase, OrderTypes, RuleBook, RuleError, new_account};
