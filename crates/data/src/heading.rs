//! What holds for all bars of a table: everything but its rows.

use crate::{bars::YEAR_SECONDS, error::DataError, instrument::Instrument, source::SourceInfo};

const NS_PER_SECOND: f64 = 1e9;

/// What is known of bars beside the bars.
#[derive(Clone, Debug, PartialEq)]
pub struct Heading {
    /// What is traded, and its units.
    pub instrument: Instrument,
    /// Where the bars came from.
    pub source: SourceInfo,
    /// Number of bars, T.
    pub rows: usize,
    /// First open and last close, ns UTC; zeros where there is no bar.
    pub span_ns: (i64, i64),
    /// Whether bid and ask are apart.
    pub is_quote: bool,
    /// Whether the volume was in the file.
    pub has_volume: bool,
    /// Names of the extra columns.
    pub extra: Vec<String>,
}

impl Heading {
    /// Bars per year of 31,536,000 s, counted: rows over the time from first open to last close. 0 when empty.
    pub fn periods_per_year(&self) -> f64 {
        if self.rows == 0 {
            return 0.0;
        }
        let (first, last) = self.span_ns;
        let seconds = (i128::from(last) - i128::from(first)) as f64 / NS_PER_SECOND;
        self.rows as f64 * YEAR_SECONDS as f64 / seconds
    }

    /// Takes up `next`, later bars of the same instrument from another file.
    ///
    /// # Errors
    /// [`DataError::File`] for another instrument, kind of bars or order in time.
    pub(crate) fn append(&mut self, next: Heading) -> Result<(), DataError> {
        let refuse = |problem: String, fix: &str| Err(DataError::file(&next.source.path, problem, fix));
        if self.instrument != next.instrument {
            let (a, b) = (&self.instrument.name, &next.instrument.name);
            let problem = format!(
                "its bars are of {b} and those of {} of {a}, or their price grids differ",
                self.source.path
            );
            let fix =
                "name files of one instrument; several are listed in a configuration file, as data.markets";
            return refuse(problem, fix);
        }
        if self.is_quote != next.is_quote || self.has_volume != next.has_volume {
            let problem = format!("it has other columns than {} (bid and ask, or volume)", self.source.path);
            return refuse(problem, "name files of one kind");
        }
        if self.extra != next.extra {
            let problem = format!("it has other columns than {} beside its bars", self.source.path);
            return refuse(problem, "read both with the same --feature-columns (features.columns)");
        }
        if self.rows > 0 && next.rows > 0 && self.span_ns.1 > next.span_ns.0 {
            let problem = format!("its first bar opens before the last of {} closes", self.source.path);
            return refuse(problem, "name the files in order of time, without overlap");
        }
        self.span_ns = match (self.rows, next.rows) {
            (0, _) => next.span_ns,
            (_, 0) => self.span_ns,
            _ => (self.span_ns.0, next.span_ns.1),
        };
        self.source.append(self.rows, next.source);
        self.rows += next.rows;
        Ok(())
    }
}
