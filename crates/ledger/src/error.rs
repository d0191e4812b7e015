//! What can be wrong with a ledger, or with its files.

use std::fmt;
use std::path::PathBuf;

/// A column of one of the two tables.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "each is the field of that name in BarRow or FillRow")]
pub enum Column {
    Bar,
    TimeNs,
    Day,
    Close,
    Worst,
    Position,
    Equity,
    WorstEquity,
    Cash,
    Basis,
    Realised,
    Fees,
    Financing,
    Action,
    RewardQ20,
    Flags,
    OrderEnd,
    FillBar,
    FillLeg,
    FillLots,
    FillPrice,
    FillReference,
    FillDecisionClose,
    FillHalfSpread,
    FillImpact,
    FillFee,
    FillReason,
    FillQuoted,
}

impl Column {
    /// Table and column, as in the files: `bars.equity`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Bar => "bars.bar",
            Self::TimeNs => "bars.time_ns",
            Self::Day => "bars.day",
            Self::Close => "bars.close",
            Self::Worst => "bars.worst",
            Self::Position => "bars.position",
            Self::Equity => "bars.equity",
            Self::WorstEquity => "bars.worst_equity",
            Self::Cash => "bars.cash",
            Self::Basis => "bars.basis",
            Self::Realised => "bars.realised",
            Self::Fees => "bars.fees",
            Self::Financing => "bars.financing",
            Self::Action => "bars.exposure/order_type/urgency",
            Self::RewardQ20 => "bars.reward_q20",
            Self::Flags => "bars.terminated/truncated/liquidated/stopped",
            Self::OrderEnd => "bars.order_end",
            Self::FillBar => "fills.bar",
            Self::FillLeg => "fills.leg",
            Self::FillLots => "fills.lots",
            Self::FillPrice => "fills.price",
            Self::FillReference => "fills.reference_x4",
            Self::FillDecisionClose => "fills.decision_close",
            Self::FillHalfSpread => "fills.half_spread",
            Self::FillImpact => "fills.impact_x4",
            Self::FillFee => "fills.fee",
            Self::FillReason => "fills.reason",
            Self::FillQuoted => "fills.quoted_x4",
        }
    }
}

impl fmt::Display for Column {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Where a ledger contradicts its rules.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mismatch {
    /// Index of the member in the header.
    pub member: u32,
    /// Bar index.
    pub bar: u32,
    /// The column at fault. Several where the ledger cannot tell which: reference, half-spread and impact of a fill
    /// only ever appear as a sum.
    pub columns: Vec<Column>,
    /// The rule that is broken.
    pub rule: &'static str,
    /// What the rule gives.
    pub expected: i128,
    /// What the ledger says.
    pub found: i128,
}

impl fmt::Display for Mismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "member {}, bar {}: ", self.member, self.bar)?;
        for (k, column) in self.columns.iter().enumerate() {
            let joint = if k == 0 { "" } else { " or " };
            write!(f, "{joint}{column}")?;
        }
        write!(f, " is wrong: {} gives {}, the ledger says {}", self.rule, self.expected, self.found)
    }
}

/// Why a ledger does not reconcile.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ReconcileError {
    /// A number contradicts the rules of the account.
    #[error("{0}")]
    Mismatch(Box<Mismatch>),
    /// A header value is outside what the rules allow.
    #[error("ledger header: {0}")]
    Header(&'static str),
    /// A row names a member that the header does not list.
    #[error("a row belongs to member {member}, but the header lists {members}")]
    UnknownMember {
        /// The row's member.
        member: u32,
        /// Members in the header.
        members: usize,
    },
    /// A listed member has no rows.
    #[error("member {member} has no bars")]
    NoBars {
        /// Index of the member.
        member: u32,
    },
    /// Rows are not in order of member, then bar.
    #[error("{table}: rows are not sorted by member and bar at row {row}")]
    Unsorted {
        /// `bars` or `fills`.
        table: &'static str,
        /// The first row out of order.
        row: usize,
    },
}

/// Why a ledger could not be written or read.
#[derive(Debug, thiserror::Error)]
pub enum LedgerError {
    /// The file system refused.
    #[error("{what} {path}")]
    Io {
        /// What was tried.
        what: &'static str,
        /// On which path.
        path: PathBuf,
        /// The system's answer.
        #[source]
        source: std::io::Error,
    },
    /// The file is not sound Parquet.
    #[error("{path} is not a sound Parquet file")]
    Parquet {
        /// The file.
        path: PathBuf,
        /// What the reader says.
        #[source]
        source: parquet::errors::ParquetError,
    },
    /// The file is Parquet, but not a ledger of this version.
    #[error("{path} is not a ledger: {what}")]
    Format {
        /// The file.
        path: PathBuf,
        /// What is missing or unknown.
        what: String,
    },
    /// The header is not the JSON that it should be.
    #[error("the ledger header in {path} cannot be read")]
    Header {
        /// The file.
        path: PathBuf,
        /// What the JSON reader says.
        #[source]
        source: serde_json::Error,
    },
}
