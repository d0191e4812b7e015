//! What can be wrong with a table, a normaliser or a split.

use foxhunt_data::DataError;

/// Features could not be made, normalised or divided.
#[derive(Debug, thiserror::Error)]
pub enum FeatureError {
    /// The bars' instrument has a fault.
    #[error(transparent)]
    Data(#[from] DataError),
    /// A file of features can't be written.
    #[error("{path}: cannot be written ({problem}); check the folder and the space on the disk")]
    Write {
        /// The file.
        path: String,
        /// What went wrong.
        problem: String,
    },
    /// Two features of one set share a name.
    #[error("feature {name} is in the set twice; rename one")]
    Duplicate {
        /// The name.
        name: String,
    },
    /// A set that doesn't exist.
    #[error("there is no set of features '{name}': choose one of {known}")]
    UnknownSet {
        /// What was asked for.
        name: String,
        /// Sets that there are.
        known: String,
    },
    /// A feature that doesn't exist.
    #[error("there is no feature '{name}': {near}`foxhunt features --list` shows all")]
    Unknown {
        /// What was asked for.
        name: String,
        /// Names that may have been meant, with what to say before and after them.
        near: String,
    },
    /// A column that is no part of a bar and was not read with the bars.
    #[error(
        "{file}: its bars were read without the column '{name}' (features.columns): give a file that has it"
    )]
    NoColumn {
        /// Where the bars came from.
        file: String,
        /// The column.
        name: String,
    },
    /// A column whose name the program needs for its own.
    #[error("a column named '{name}' can't be a feature, for the table of features has its own: rename it")]
    Reserved {
        /// The name.
        name: String,
    },
    /// A feature gave something that is not a number, after its own warm-up.
    #[error("feature {name} is {value} in row {row}; its formula has to say what it is there")]
    NotFinite {
        /// The feature.
        name: String,
        /// The row.
        row: usize,
        /// NaN or an infinity.
        value: f64,
    },
    /// A normaliser is not of this table.
    #[error("the normaliser was fitted on columns {fitted:?} and the table has {found:?}; fit it again")]
    OtherColumns {
        /// Names it was fitted on.
        fitted: Vec<String>,
        /// Names of the table.
        found: Vec<String>,
    },
    /// A range of rows that is not in the table, or begins in its warm-up.
    #[error("rows {start}..{end} are not within the usable rows {first}..{rows}; choose a range inside")]
    Rows {
        /// First row asked for.
        start: usize,
        /// End of the rows asked for.
        end: usize,
        /// First row after the warm-up.
        first: usize,
        /// Rows of the table.
        rows: usize,
    },
    /// A window of a split is too short to mean anything.
    #[error("the {window} window has {rows} rows and needs {least}; use more data, or other shares or dates")]
    TooShort {
        /// Which window.
        window: &'static str,
        /// Its rows.
        rows: usize,
        /// Rows it needs.
        least: usize,
    },
    /// Shares or dates that make no three windows in time order.
    #[error("{problem}; give windows in time order")]
    Split {
        /// What is wrong.
        problem: String,
    },
}
