//! From a file to [`Bars`]: bytes, format, rows, checks.

use std::{io::Read, path::Path};

use crate::{
    bars::Bars,
    checks::{Columns, Intake, Sink, Understood},
    detect::{self, Format},
    error::DataError,
    instrument::Instrument,
    open::{self, Opened, Stored, Sum},
    presets,
    reader::{
        columns::ColumnMap,
        dbn, delimited, google, head, json,
        lines::Lines,
        numbers::DecimalMark,
        parquet,
        row::{Facts, Rows},
        table::Table,
    },
    source::StampSide,
    stamp::DateOrder,
};

/// What to do with a bar whose open or close lies outside its low and high.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RangePolicy {
    /// Refuse the file.
    #[default]
    Refuse,
    /// Widen high and low to hold them, and count it.
    Widen,
}

/// What a file does not say, or says wrongly. All empty by default.
#[derive(Clone, Debug, Default)]
pub struct LoadOptions {
    /// The instrument; else the file's own, or guessed from its name or symbol (see [`presets::guess`]).
    pub instrument: Option<Instrument>,
    /// IANA zone of stamps without one; else the instrument's.
    pub time_zone: Option<String>,
    /// Whether stamps are opens or closes; else known for the format, or inferred.
    pub stamp_side: Option<StampSide>,
    /// Order of dates that do not tell by themselves.
    pub date_order: Option<DateOrder>,
    /// Bar length in seconds; else the most common step between stamps.
    pub bar_seconds: Option<i64>,
    /// The instrument where nothing tells one.
    pub otherwise: Option<Instrument>,
    /// Which symbol to take from a file of several.
    pub symbol: Option<String>,
    /// What to do with opens and closes outside the bar's range.
    pub range_policy: RangePolicy,
    /// Which column is what, where names and places do not tell.
    pub columns: ColumnMap,
    /// Columns that are no part of a bar and are kept as [`Bars::extra`], in this order: names of the header, or `#7` for the
    /// seventh.
    pub extra: Vec<String>,
    /// What is between the cells of text; else what cuts most lines alike.
    pub delimiter: Option<u8>,
    /// Point or comma of decimals; else as the numbers tell.
    pub decimal: Option<DecimalMark>,
}

/// Loads bars from a file.
///
/// # Errors
/// [`DataError`] where the file cannot be read or would give wrong numbers: it names the file, the line, the field and
/// the text, and says what to do. Nothing is guessed silently; what was changed is counted in
/// [`SourceInfo`](crate::SourceInfo).
pub fn load(path: impl AsRef<Path>, options: &LoadOptions) -> Result<Bars, DataError> {
    let path = path.as_ref();
    let (file, sum) = open::summed(path)?;
    from_stored(&path.display().to_string(), Stored::File(file), sum, options)
}

/// Loads bars from the bytes of a file (packed or not), under the name `path`.
///
/// # Errors
/// As [`load`].
pub fn load_bytes(path: &str, stored: Vec<u8>, options: &LoadOptions) -> Result<Bars, DataError> {
    let (stored, sum) = open::bytes(stored);
    from_stored(path, stored, sum, options)
}

/// Loads bars from a stream (packed or not), under the name `path`. Nothing is held but the bars and a line number for each;
/// archives and Parquet, which are read from their end, are held whole.
///
/// # Errors
/// As [`load`].
pub fn load_stream(
    path: &str,
    reader: impl Read + 'static,
    options: &LoadOptions,
) -> Result<Bars, DataError> {
    let (stored, sum) = open::stream(reader);
    from_stored(path, stored, sum, options)
}

fn from_stored(path: &str, stored: Stored, sum: Sum, options: &LoadOptions) -> Result<Bars, DataError> {
    let mut columns = Columns::default();
    let rows = read_rows(path, stored, options, &mut columns)?;
    columns.into_bars(rows.intake, rows.understood, options, sum.text())
}

/// What is known of a file when all its rows have been read.
pub(crate) struct FileRows {
    pub(crate) intake: Intake,
    pub(crate) understood: Understood,
    /// The bar length that is given, or that the format says.
    pub(crate) bar_seconds: Option<i64>,
}

/// Understands the bytes of a file, and hands its rows on to `sink` as integers.
///
/// # Errors
/// [`DataError`] naming line and field of the first thing that cannot be read, and those of `sink`.
pub(crate) fn read_rows(
    path: &str,
    stored: Stored,
    options: &LoadOptions,
    sink: &mut dyn Sink,
) -> Result<FileRows, DataError> {
    let again = stored.again();
    read_stored(path, stored, options, sink).map_err(|e| match e {
        DataError::Io { .. } | DataError::Packed { .. } => e,
        // A damaged packing gives other text before its sum tells so.
        e => again.and_then(|stored| open::damage(path, stored)).unwrap_or(e),
    })
}

fn read_stored(
    path: &str,
    stored: Stored,
    options: &LoadOptions,
    sink: &mut dyn Sink,
) -> Result<FileRows, DataError> {
    if let Some(given) = &options.instrument {
        given.validate()?;
    }
    let opened = open::unpack(path, stored)?;
    let format = detect::detect(&opened)?;
    let Opened { stored, origin, name, .. } = opened;
    let lines = |stored: Stored| Lines::new(stored.into_read(), origin.clone());
    let (mut rows, facts): (Box<dyn Rows>, Facts) = match format {
        Format::Delimited => boxed(delimited::open(lines(stored), options.delimiter)?),
        Format::Google => boxed(google::open(lines(stored))?),
        Format::Json => boxed(json::open(stored.into_read(), origin.clone())?),
        Format::Parquet => parquet::open(stored.held(&origin)?, &origin)?,
        Format::Dbn => boxed(dbn::open(stored.into_read(), origin.clone())?),
    };
    let head = head::read(rows.as_mut(), &facts, &origin, options, &name)?;
    if let (Some(symbol), None, None) = (&options.symbol, head.columns.symbol, &options.otherwise) {
        let problem = format!(
            "has no column of symbols, so that --symbol {symbol} (data.symbol) chooses none of its rows"
        );
        let fix =
            "leave it out; --instrument (data.instrument) says what bars are of, such as EUR/USD or US:NVDA";
        return Err(DataError::file(path, problem, fix));
    }
    let symbol = head.columns.symbol.and_then(|at| head.rows.front().map(|r| r.cell(at).to_owned()));
    let instrument = instrument(path, options, &facts, symbol.as_deref())?;
    let bar_seconds = options.bar_seconds.or(facts.bar_seconds);
    let table = Table { rows: rows.as_mut(), head, facts, origin: &origin, name: &name };
    let (intake, understood) = table.read(instrument, options, sink)?;
    Ok(FileRows { intake, understood, bar_seconds })
}

fn boxed<R: Rows + 'static>((rows, facts): (R, Facts)) -> (Box<dyn Rows>, Facts) {
    (Box::new(rows), facts)
}

/// The instrument: given, the file's own, of the symbol that is asked for, of the file's name, or of its first symbol.
fn instrument(
    path: &str,
    options: &LoadOptions,
    facts: &Facts,
    first_symbol: Option<&str>,
) -> Result<Instrument, DataError> {
    let instrument = match options.instrument.as_ref().or(facts.instrument.as_ref()) {
        Some(known) => known.clone(),
        None => {
            let file = Path::new(path).file_name().map(|n| n.to_string_lossy()).unwrap_or_default();
            let symbol = options.symbol.as_deref().and_then(presets::guess);
            let guessed = symbol.or_else(|| presets::guess(&file));
            let told = guessed.or_else(|| first_symbol.and_then(presets::guess));
            told.or_else(|| options.otherwise.clone()).ok_or_else(|| {
                let problem = "has a name that tells no known instrument";
                DataError::file(path, problem, "give an instrument (--instrument): a pair such as EUR/USD or BTC/USD, a US equity such as US:NVDA, or a TOML file of its numbers")
            })?
        }
    };
    instrument.validate()?;
    Ok(instrument)
}
