//! From a file to [`Bars`]: bytes, format, rows, checks.

use std::path::Path;

use crate::{
    bars::Bars,
    bytes::{self, Content},
    checks, detect,
    error::DataError,
    instrument::Instrument,
    presets,
    reader::delimited,
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
    /// The instrument; else it is guessed from the file's name (see [`presets::guess`]).
    pub instrument: Option<Instrument>,
    /// IANA zone of stamps without one; else the instrument's.
    pub time_zone: Option<String>,
    /// Whether stamps are opens or closes; else known for the format, or inferred.
    pub stamp_side: Option<StampSide>,
    /// Order of dates that do not tell by themselves.
    pub date_order: Option<DateOrder>,
    /// Bar length in seconds; else the most common step between stamps.
    pub bar_seconds: Option<i64>,
    /// Which symbol to take from a file of several.
    pub symbol: Option<String>,
    /// What to do with opens and closes outside the bar's range.
    pub range_policy: RangePolicy,
}

/// Loads bars from a file.
///
/// # Errors
/// [`DataError`] where the file cannot be read or would give wrong numbers: it names the file, the line, the field and
/// the text, and says what to do. Nothing is guessed silently; what was changed is counted in
/// [`SourceInfo`](crate::SourceInfo).
pub fn load(path: impl AsRef<Path>, options: &LoadOptions) -> Result<Bars, DataError> {
    let path = path.as_ref();
    let content = bytes::read(path)?;
    from_content(&path.display().to_string(), &content, options)
}

/// Loads bars from the bytes of a file (packed or not), under the name `path`.
///
/// # Errors
/// As [`load`].
pub fn load_bytes(path: &str, stored: Vec<u8>, options: &LoadOptions) -> Result<Bars, DataError> {
    from_content(path, &bytes::unpack(path, stored)?, options)
}

fn from_content(path: &str, content: &Content, options: &LoadOptions) -> Result<Bars, DataError> {
    let instrument = instrument(path, options)?;
    let (format, body) = detect::detect(path, &content.bytes)?;
    let mut raw = match format {
        detect::Format::Delimited => delimited::read(path, body, &instrument, options)?,
    };
    if content.gzip {
        raw.format.push_str(", gzip");
    }
    checks::to_bars(path, raw, instrument, options, &content.sha256)
}

fn instrument(path: &str, options: &LoadOptions) -> Result<Instrument, DataError> {
    let instrument = match &options.instrument {
        Some(given) => given.clone(),
        None => {
            let file = Path::new(path).file_name().map(|n| n.to_string_lossy()).unwrap_or_default();
            let symbol = options.symbol.as_deref().and_then(presets::guess);
            symbol.or_else(|| presets::guess(&file)).ok_or_else(|| {
                let problem = "has a name that tells no known instrument";
                DataError::file(path, problem, "give an instrument: a preset or a TOML file")
            })?
        }
    };
    instrument.validate()?;
    Ok(instrument)
}
