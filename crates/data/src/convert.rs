//! Bars as a Parquet file that any tool reads: stamps in ns UTC, prices and volume as numbers, and what is known about
//! them in the file's metadata, so that loading it again gives the same bars. A digest of both is checked when it is read.

use std::{io::Write, sync::Arc};

use foxhunt_core::plain_words;
use parquet::{
    basic::{Compression, Repetition, Type as Physical, ZstdLevel},
    data_type::{DoubleType, Int64Type},
    errors::ParquetError,
    file::{metadata::KeyValue, properties::WriterProperties, writer::SerializedFileWriter},
    schema::{parser::parse_message_type, types::Type},
};
use rust_decimal::{Decimal, prelude::ToPrimitive};
use serde::{Deserialize, Serialize};

use crate::{
    bars::{Bar, Bars},
    digest::{BarDigest, DIGEST_KEY},
    error::DataError,
    heading::Heading,
    instrument::Instrument,
    reader::columns::PRICES,
    source::StampSide,
};

/// Key of the file's metadata.
pub(crate) const METADATA_KEY: &str = "foxhunt.bars";
/// Rows of a row group: what the writer holds.
const GROUP_ROWS: usize = 1 << 17;

/// What a table of bars does not say by itself.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct About {
    /// What stamps are.
    pub(crate) stamps: StampSide,
    pub(crate) bar_seconds: i64,
    /// The file that the bars were read from, and its hash.
    pub(crate) source: String,
    pub(crate) source_sha256: String,
    /// Names of the columns that are no part of the bars.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) extra: Vec<String>,
    pub(crate) instrument: Instrument,
}

impl About {
    pub(crate) fn from_text(text: &str) -> Result<Self, String> {
        toml::from_str(text).map_err(|e| plain_words(e.message()))
    }
}

/// Writes bars as Parquet: `time`, `open` … `close` (or `bid_open` … `ask_close`), `volume` where the file had it, and the
/// extra columns, null before their first value.
///
/// # Errors
/// As [`BarWriter`].
pub fn write_parquet<W: Write + Send>(path: &str, bars: &Bars, out: W) -> Result<W, DataError> {
    let mut writer = BarWriter::new(path, &bars.heading(), out)?;
    (0..bars.len()).try_for_each(|i| writer.push(&bars.bar(i)))?;
    writer.finish()
}

/// Writes bars as they come; a row group is held.
pub struct BarWriter<W: Write + Send> {
    path: String,
    writer: SerializedFileWriter<W>,
    digest: BarDigest,
    stamp_side: StampSide,
    /// Rows that have been written.
    written: usize,
    stamps: Vec<i64>,
    columns: Vec<Column>,
    extra: Vec<Optional>,
}

/// An extra column of the row group: which rows have a value, and the values.
#[derive(Default)]
struct Optional {
    known: Vec<i16>,
    values: Vec<f64>,
}

/// A column of prices or volumes: its name, what its integers are multiplied by, and the values of the row group.
struct Column {
    name: String,
    unit: Decimal,
    values: Vec<f64>,
}

impl Column {
    fn value(&self, integer: i64) -> Option<f64> {
        let exact = Decimal::from(integer).checked_mul(self.unit)?;
        // The double must lead back to the decimal, else the bars of the new file would be others.
        let near = exact.to_f64()?;
        (near.to_string().parse::<Decimal>().ok()? == exact).then_some(near)
    }
}

impl<W: Write + Send> BarWriter<W> {
    /// Begins a file of the bars that `heading` is of; `path` is its name in messages.
    ///
    /// # Errors
    /// [`DataError::File`] naming `path` where writing fails.
    pub fn new(path: &str, heading: &Heading, out: W) -> Result<Self, DataError> {
        let source = &heading.source;
        let about = About {
            stamps: source.stamp_side,
            bar_seconds: source.bar_seconds,
            source: source.path.clone(),
            source_sha256: source.sha256.clone(),
            extra: heading.extra.clone(),
            instrument: heading.instrument.clone(),
        };
        let about = toml::to_string(&about).map_err(|e| failed(path, &e))?;
        let columns = columns(heading);
        let taken = |name: &str| name == "time" || columns.iter().any(|c| c.name == name);
        if let Some(name) = heading.extra.iter().find(|name| taken(name)) {
            let problem = format!("cannot have two columns {name:?}: one is a part of the bars");
            return Err(DataError::file(path, problem, "rename the other in the file that is read"));
        }
        let extra = heading.extra.iter().map(|_| Optional::default()).collect();
        let mut digest = BarDigest::new(&about);
        digest.column("time", true);
        columns.iter().map(|c| &c.name).chain(&heading.extra).for_each(|name| digest.column(name, false));
        let writer = begin(&columns, &heading.extra, about, out).map_err(|e| failed(path, &e))?;
        let (stamp_side, path) = (source.stamp_side, path.to_owned());
        Ok(Self { path, writer, digest, stamp_side, written: 0, stamps: Vec::new(), columns, extra })
    }

    /// Takes the next bar.
    ///
    /// # Errors
    /// [`DataError::File`] where a number does not survive as a double, or writing fails.
    pub fn push(&mut self, bar: &Bar) -> Result<(), DataError> {
        self.stamps.push(match self.stamp_side {
            StampSide::Open => bar.open_ns,
            StampSide::Close => bar.close_ns,
        });
        let prices = bar.bid.into_iter().chain(bar.ask.into_iter().flatten()).map(i64::from);
        for (column, integer) in self.columns.iter_mut().zip(prices.chain([bar.volume_lots])) {
            let Some(value) = column.value(integer) else {
                let row = self.written + self.stamps.len() - 1;
                let problem =
                    format!("cannot hold {} of bar {row}: it has more digits than a double", column.name);
                let fix = "give an instrument with a larger lot or coarser price_unit";
                return Err(DataError::file(&self.path, problem, fix));
            };
            column.values.push(value);
        }
        for (column, value) in self.extra.iter_mut().zip(&bar.extra) {
            column.known.push(i16::from(!value.is_nan()));
            column.values.extend((!value.is_nan()).then_some(value));
        }
        if self.stamps.len() == GROUP_ROWS { self.write_group() } else { Ok(()) }
    }

    /// Writes what is held and the footer.
    ///
    /// # Errors
    /// [`DataError::File`] where writing fails.
    pub fn finish(mut self) -> Result<W, DataError> {
        if !self.stamps.is_empty() {
            self.write_group()?;
        }
        self.writer.append_key_value_metadata(KeyValue::new(DIGEST_KEY.to_owned(), self.digest.text()));
        self.writer.into_inner().map_err(|e| failed(&self.path, &e))
    }

    fn write_group(&mut self) -> Result<(), DataError> {
        write_group(&mut self.writer, &self.stamps, &self.columns, &self.extra)
            .map_err(|e| failed(&self.path, &e))?;
        self.sum_group();
        self.written += self.stamps.len();
        self.stamps.clear();
        self.columns.iter_mut().for_each(|column| column.values.clear());
        self.extra.iter_mut().for_each(|column| (column.known.clear(), column.values.clear()).0);
        Ok(())
    }
}

impl<W: Write + Send> BarWriter<W> {
    fn sum_group(&mut self) {
        let mut extra: Vec<_> = self.extra.iter().map(|column| column.values.iter().copied()).collect();
        for (row, stamp) in self.stamps.iter().enumerate() {
            self.digest.whole(*stamp);
            self.columns.iter().for_each(|column| self.digest.double(column.values.get(row).copied()));
            for (column, values) in self.extra.iter().zip(&mut extra) {
                let known = column.known.get(row) == Some(&1);
                self.digest.double(known.then(|| values.next()).flatten());
            }
        }
    }
}

fn failed(path: &str, e: &dyn std::fmt::Display) -> DataError {
    let problem = format!("cannot be written ({e})");
    DataError::file(path, problem, "check the folder and the space on the disk")
}

/// The columns after the stamp, in the order in which a bar's numbers are taken.
fn columns(heading: &Heading) -> Vec<Column> {
    let sides: &[&str] = if heading.is_quote { &["bid_", "ask_"] } else { &[""] };
    let prices = sides.iter().flat_map(|side| PRICES.iter().map(move |price| format!("{side}{price}")));
    let column = |name: String, unit: Decimal| Column { name, unit, values: Vec::new() };
    let mut columns: Vec<Column> = prices.map(|name| column(name, heading.instrument.price_unit)).collect();
    if heading.has_volume {
        columns.push(column("volume".into(), heading.instrument.lot));
    }
    columns
}

fn begin<W: Write + Send>(
    columns: &[Column],
    extra: &[String],
    about: String,
    out: W,
) -> Result<SerializedFileWriter<W>, ParquetError> {
    let fields: String = columns.iter().map(|c| format!("required double {};", c.name)).collect();
    let schema = format!("message bars {{ required int64 time (TIMESTAMP(NANOS,true)); {fields} }}");
    let mut fields = parse_message_type(&schema)?.get_fields().to_vec();
    // Their names are anyone's, and may be no words of the schema's language.
    for name in extra {
        let optional = Type::primitive_type_builder(name, Physical::DOUBLE);
        fields.push(Arc::new(optional.with_repetition(Repetition::OPTIONAL).build()?));
    }
    let schema = Arc::new(Type::group_type_builder("bars").with_fields(fields).build()?);
    let properties = WriterProperties::builder()
        // Fixed, so that an update of the Parquet crate alone does not change the bytes.
        .set_created_by("foxhunt-data".to_owned())
        .set_compression(Compression::ZSTD(ZstdLevel::try_new(3)?))
        .set_key_value_metadata(Some(vec![KeyValue::new(METADATA_KEY.to_owned(), about)]))
        .build();
    SerializedFileWriter::new(out, schema, Arc::new(properties))
}

fn write_group<W: Write + Send>(
    writer: &mut SerializedFileWriter<W>,
    stamps: &[i64],
    columns: &[Column],
    extra: &[Optional],
) -> Result<(), ParquetError> {
    let missing = || ParquetError::General("the schema has fewer columns".into());
    let mut group = writer.next_row_group()?;
    let mut open = group.next_column()?.ok_or_else(missing)?;
    open.typed::<Int64Type>().write_batch(stamps, None, None)?;
    open.close()?;
    for column in columns {
        let mut open = group.next_column()?.ok_or_else(missing)?;
        open.typed::<DoubleType>().write_batch(&column.values, None, None)?;
        open.close()?;
    }
    for column in extra {
        let mut open = group.next_column()?.ok_or_else(missing)?;
        open.typed::<DoubleType>().write_batch(&column.values, Some(&column.known), None)?;
        open.close()?;
    }
    group.close().map(|_| ())
}
