//! [`FeatureSet`]: which features, in which order; and the table that it makes.

use foxhunt_data::Bars;

use crate::{
    error::FeatureError,
    extended,
    series::Series,
    standard,
    table::{FeatureColumn, FeatureTable},
};

/// The bars that a feature is made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Timeframe {
    /// The file's own.
    Bar,
    /// Four hours of the session day, counted from its start.
    FourHours,
    /// Session days.
    Day,
    /// Weeks of session days, Monday to Sunday.
    Week,
}

impl Timeframe {
    /// As documentation says it.
    pub fn name(self) -> &'static str {
        match self {
            Timeframe::Bar => "bar",
            Timeframe::FourHours => "4 h",
            Timeframe::Day => "day",
            Timeframe::Week => "week",
        }
    }
}

/// One feature: what it is in words, and how it is computed.
#[derive(Clone, Copy, Debug)]
pub struct FeatureSpec {
    /// Name of the column.
    pub name: &'static str,
    /// Formula: O open, C close, H high, L low, V volume, r log return of one bar, t this row.
    pub formula: &'static str,
    /// Bars of its timeframe that a value reads, this one included (recursive ones: until their seed).
    pub window: usize,
    /// Where the definition comes from.
    pub source: &'static str,
    /// Why row t needs nothing after bar t.
    pub causal: &'static str,
    /// What `window` counts.
    pub timeframe: Timeframe,
    /// First row that has a value. Of a higher timeframe 0: where its bars end depends on the data, and the rows before the
    /// first value are its warm-up.
    pub warmup: usize,
    /// Computes the column: T rows, NaN in the warm-up.
    pub compute: fn(&Series) -> Vec<f64>,
}

impl FeatureSpec {
    /// Rows of a computed column that are its warm-up.
    pub(crate) fn warmup_of(&self, column: &[f64]) -> usize {
        match self.timeframe {
            Timeframe::Bar => self.warmup,
            _ => column.iter().position(|v| !v.is_nan()).unwrap_or(column.len()),
        }
    }
}

/// Sets that have a name.
pub const SET_NAMES: [&str; 2] = ["standard", "full"];

/// Columns of the table of features that are none.
pub(crate) const OWN_COLUMNS: [&str; 2] = ["time", "warmup"];

/// An ordered list of features: of computed ones, and after them columns of the file as they stand.
#[derive(Clone, Debug)]
pub struct FeatureSet {
    specs: Vec<FeatureSpec>,
    extra: Vec<String>,
}

impl FeatureSet {
    /// The standard set: returns, volatility, oscillators, volume, clock. It stays as it is, for runs rest on its columns.
    pub fn standard() -> Self {
        Self { specs: standard::all(), extra: Vec::new() }
    }

    /// All features: the standard ones and then the others, by family. Growing it appends.
    pub fn full() -> Self {
        Self { specs: [standard::all(), extended::all()].concat(), extra: Vec::new() }
    }

    /// The set of a name, one of [`SET_NAMES`].
    ///
    /// # Errors
    /// [`FeatureError::UnknownSet`].
    pub fn named(name: &str) -> Result<Self, FeatureError> {
        match name {
            "standard" => Ok(Self::standard()),
            "full" => Ok(Self::full()),
            _ => Err(FeatureError::UnknownSet { name: name.to_owned(), known: SET_NAMES.join(", ") }),
        }
    }

    /// The features of these names, in this order, from the full set.
    ///
    /// # Errors
    /// [`FeatureError::Unknown`], with names that are near; [`FeatureError::Duplicate`].
    pub fn of_names<S: AsRef<str>>(names: &[S]) -> Result<Self, FeatureError> {
        let all = Self::full();
        let find = |name: &S| {
            let name = name.as_ref();
            all.specs
                .iter()
                .find(|s| s.name == name)
                .copied()
                .ok_or_else(|| FeatureError::Unknown { name: name.to_owned(), near: near(name, &all.specs) })
        };
        Self::new(names.iter().map(find).collect::<Result<_, _>>()?)
    }

    /// A set of any features, in this order.
    ///
    /// # Errors
    /// [`FeatureError::Duplicate`] if two share a name.
    pub fn new(specs: Vec<FeatureSpec>) -> Result<Self, FeatureError> {
        for (i, spec) in specs.iter().enumerate() {
            if specs[..i].iter().any(|other| other.name == spec.name) {
                return Err(FeatureError::Duplicate { name: spec.name.to_owned() });
            }
        }
        Ok(Self { specs, extra: Vec::new() })
    }

    /// The set and, after its features, these columns of the bars, by name ([`Bars::extra`]). That a value was known at its
    /// bar's close is the caller's statement.
    ///
    /// # Errors
    /// [`FeatureError::Duplicate`] where a name is another feature's; [`FeatureError::Reserved`].
    pub fn with_columns(mut self, names: &[String]) -> Result<Self, FeatureError> {
        for name in names {
            if OWN_COLUMNS.iter().any(|own| own.eq_ignore_ascii_case(name)) {
                return Err(FeatureError::Reserved { name: name.clone() });
            }
            if self.names().any(|other| other.eq_ignore_ascii_case(name)) {
                return Err(FeatureError::Duplicate { name: name.clone() });
            }
            self.extra.push(name.clone());
        }
        Ok(self)
    }

    /// Names of all features, in column order.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.specs.iter().map(|s| s.name).chain(self.extra.iter().map(String::as_str))
    }

    /// The computed features, in column order.
    pub fn specs(&self) -> &[FeatureSpec] {
        &self.specs
    }

    /// Number of features, F.
    pub fn len(&self) -> usize {
        self.specs.len() + self.extra.len()
    }

    /// The first row in which features of the bars themselves can all have values; those of higher timeframes may need more.
    pub fn warmup(&self) -> usize {
        self.specs.iter().map(|s| s.warmup).max().unwrap_or(0)
    }

    /// Whether there is no feature.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The columns of all features of all bars, each as far as it is known: computed in F64 and rounded to F32 once.
    ///
    /// # Errors
    /// [`FeatureError::NotFinite`] if a feature has no number in a row past its own warm-up; [`FeatureError::NoColumn`];
    /// [`FeatureError::Data`] for a faulty instrument.
    pub fn columns(&self, bars: &Bars) -> Result<Vec<FeatureColumn>, FeatureError> {
        let series = Series::from_bars(bars)?;
        let computed = self.specs.iter().map(|spec| FeatureColumn::compute(spec, &series));
        computed.chain(self.extra.iter().map(|name| FeatureColumn::extra(name, bars))).collect()
    }

    /// All features of all bars: [T, F] raw values. A table has values from the first row in which every feature has one.
    ///
    /// # Errors
    /// As [`FeatureSet::columns`].
    pub fn compute(&self, bars: &Bars) -> Result<FeatureTable, FeatureError> {
        let columns = self.columns(bars)?;
        let (rows, cols) = (bars.len(), self.len());
        let mut values = vec![0.0_f32; rows * cols];
        for (col, column) in columns.iter().enumerate() {
            for (row, value) in column.values.iter().enumerate() {
                values[row * cols + col] = *value;
            }
        }
        Ok(FeatureTable {
            names: columns.iter().map(|c| c.name.clone()).collect(),
            rows,
            cols,
            values,
            warmup_rows: columns.iter().map(|c| c.warmup).max().unwrap_or(0),
        })
    }
}

/// Names that may have been meant, as a message says them; empty where none is near.
fn near(name: &str, specs: &[FeatureSpec]) -> String {
    let stem = |name: &str| name.split('_').next().unwrap_or_default().to_owned();
    let mut close: Vec<(usize, &str)> = specs
        .iter()
        .map(|s| (edits(name, s.name), s.name))
        .filter(|(edits, other)| *edits <= 2 + name.len() / 6 || stem(other) == stem(name))
        .collect();
    close.sort_unstable();
    let names: Vec<&str> = close.iter().take(3).map(|(_, name)| *name).collect();
    if names.is_empty() { String::new() } else { format!("did you mean {}? ", names.join(" or ")) }
}

/// Levenshtein's distance.
fn edits(a: &str, b: &str) -> usize {
    let mut row: Vec<usize> = (0..=b.chars().count()).collect();
    for (i, x) in a.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, y) in b.chars().enumerate() {
            let replaced = diagonal + usize::from(x != y);
            diagonal = row[j + 1];
            row[j + 1] = replaced.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[b.chars().count()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn features_are_chosen_by_name() {
        let set = FeatureSet::of_names(&["rsi_14", "return_1"]).unwrap();
        assert_eq!(set.specs().iter().map(|s| s.name).collect::<Vec<_>>(), ["rsi_14", "return_1"]);
        let error = |name: &str| FeatureSet::of_names(&[name]).unwrap_err().to_string();
        assert!(error("rsi14").contains("did you mean rsi_14?"), "{}", error("rsi14"));
        assert!(error("volatility_25").contains("volatility_24"), "{}", error("volatility_25"));
        assert!(!error("xyzzy").contains("did you mean"), "{}", error("xyzzy"));
        assert!(FeatureSet::of_names(&["rsi_14", "rsi_14"]).is_err());
        assert!(FeatureSet::named("fuller").unwrap_err().to_string().contains("standard, full"));
        for name in SET_NAMES {
            assert!(FeatureSet::named(name).unwrap().len() >= 24);
        }
        assert_eq!((edits("", "abc"), edits("abc", "adc"), edits("kitten", "sitting")), (3, 1, 3));
    }
}
