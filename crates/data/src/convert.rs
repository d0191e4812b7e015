//! Bars as a Parquet file that any tool reads: stamps in ns UTC, prices and volume as numbers, and what is known about
//! them in the file's metadata, so that loading it again gives the same bars.

use std::{io::Write, sync::Arc};

use parquet::{
    basic::{Compression, Repetition, Type as Physical, ZstdLevel},
    data_type::{DoubleType, Int64Type},
    errors::ParquetError,
    file::{metadata::KeyValue, properties::WriterProperties, writer::SerializedFileWriter},
    schema::{parser::parse_message_type, types::Type},
};
use rust_decimal::{Decimal, prelude::ToPrimitive};
use serde::{Deserialize, Serialize};

use crate::{bars::Bars, error::DataError, instrument::Instrument, source::StampSide};

/// Key of the file's metadata.
pub(crate) const METADATA_KEY: &str = "foxhunt.bars";
/// Rows of a row group: what a reader holds at once.
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
    #[serde(default)]
    pub(crate) extra: Vec<String>,
    pub(crate) instrument: Instrument,
}

impl About {
    pub(crate) fn from_text(text: &str) -> Result<Self, String> {
        toml::from_str(text).map_err(|e| e.message().to_owned())
    }
}

/// Writes bars as Parquet: `time`, `open` … `close` (or `bid_open` … `ask_close`), `volume` where the file had it, and the
/// extra columns, null before their first value.
///
/// # Errors
/// [`DataError::File`] naming `path` where a number does not survive as a double, or writing fails.
pub fn write_parquet<W: Write + Send>(path: &str, bars: &Bars, out: W) -> Result<W, DataError> {
    let failed = |e: &dyn std::fmt::Display| {
        DataError::file(
            path,
            format!("cannot be written ({e})"),
            "check the folder and the space on the disk",
        )
    };
    let about = About {
        stamps: bars.source.stamp_side,
        bar_seconds: bars.source.bar_seconds,
        source: bars.source.path.clone(),
        source_sha256: bars.source.sha256.clone(),
        extra: bars.extra.iter().map(|c| c.name.clone()).collect(),
        instrument: bars.instrument.clone(),
    };
    let about = toml::to_string(&about).map_err(|e| failed(&e))?;
    let columns = columns(path, bars)?;
    write(&columns, bars, about, out).map_err(|e| failed(&e))
}

/// A column of prices or volumes: its name and what its integers are multiplied by.
struct Column<'a> {
    name: String,
    values: Values<'a>,
    unit: Decimal,
}

enum Values<'a> {
    Prices(&'a [i32]),
    Lots(&'a [i64]),
}

impl Column<'_> {
    fn value(&self, i: usize) -> Option<f64> {
        let integer = match self.values {
            Values::Prices(v) => Decimal::from(v[i]),
            Values::Lots(v) => Decimal::from(v[i]),
        };
        let exact = integer.checked_mul(self.unit)?;
        // The double must lead back to the decimal, else the bars of the new file would be others.
        let near = exact.to_f64()?;
        (near.to_string().parse::<Decimal>().ok()? == exact).then_some(near)
    }
}

fn columns<'a>(path: &str, bars: &'a Bars) -> Result<Vec<Column<'a>>, DataError> {
    let mut columns = Vec::new();
    let unit = bars.instrument.price_unit;
    for (side, prefix) in
        [(Some(&bars.bid), if bars.is_quote() { "bid_" } else { "" }), (bars.ask.as_ref(), "ask_")]
    {
        let Some(side) = side else { continue };
        for (name, values) in
            [("open", &side.open), ("high", &side.high), ("low", &side.low), ("close", &side.close)]
        {
            columns.push(Column { name: format!("{prefix}{name}"), values: Values::Prices(values), unit });
        }
    }
    if bars.has_volume {
        let (values, unit) = (Values::Lots(&bars.volume_lots), bars.instrument.lot);
        columns.push(Column { name: "volume".into(), values, unit });
    }
    let taken = |name: &str| name == "time" || columns.iter().any(|c| c.name == name);
    if let Some(extra) = bars.extra.iter().find(|c| taken(&c.name)) {
        let problem = format!("cannot have two columns {:?}: one is a part of the bars", extra.name);
        return Err(DataError::file(path, problem, "rename the other in the file that is read"));
    }
    for column in &columns {
        if let Some(i) = (0..bars.len()).find(|&i| column.value(i).is_none()) {
            let problem = format!("cannot hold {} of bar {i}: it has more digits than a double", column.name);
            return Err(DataError::file(
                path,
                problem,
                "give an instrument with a larger lot or coarser price_unit",
            ));
        }
    }
    Ok(columns)
}

/// The stamps as the file had them: opens or closes.
fn stamps(bars: &Bars) -> &[i64] {
    match bars.source.stamp_side {
        StampSide::Open => &bars.open_ns,
        StampSide::Close => &bars.close_ns,
    }
}

fn write<W: Write + Send>(
    columns: &[Column<'_>],
    bars: &Bars,
    about: String,
    out: W,
) -> Result<W, ParquetError> {
    let stamps = stamps(bars);
    let fields: String = columns.iter().map(|c| format!("required double {};", c.name)).collect();
    let schema = format!("message bars {{ required int64 time (TIMESTAMP(NANOS,true)); {fields} }}");
    let mut fields = parse_message_type(&schema)?.get_fields().to_vec();
    // Their names are anyone's, and may be no words of the schema's language.
    for column in &bars.extra {
        let optional = Type::primitive_type_builder(&column.name, Physical::DOUBLE);
        fields.push(Arc::new(optional.with_repetition(Repetition::OPTIONAL).build()?));
    }
    let schema = Arc::new(Type::group_type_builder("bars").with_fields(fields).build()?);
    let properties = WriterProperties::builder()
        // Fixed, so that an update of the Parquet crate alone does not change the bytes.
        .set_created_by("foxhunt-data".to_owned())
        .set_compression(Compression::ZSTD(ZstdLevel::try_new(3)?))
        .set_key_value_metadata(Some(vec![KeyValue::new(METADATA_KEY.to_owned(), about)]))
        .build();
    let mut writer = SerializedFileWriter::new(out, schema, Arc::new(properties))?;
    let missing = || ParquetError::General("the schema has fewer columns".into());
    for start in (0..stamps.len()).step_by(GROUP_ROWS) {
        let range = start..(start + GROUP_ROWS).min(stamps.len());
        let mut group = writer.next_row_group()?;
        let mut open = group.next_column()?.ok_or_else(missing)?;
        open.typed::<Int64Type>().write_batch(&stamps[range.clone()], None, None)?;
        open.close()?;
        for column in columns {
            let values: Vec<f64> = range.clone().filter_map(|i| column.value(i)).collect();
            let mut open = group.next_column()?.ok_or_else(missing)?;
            open.typed::<DoubleType>().write_batch(&values, None, None)?;
            open.close()?;
        }
        for column in &bars.extra {
            let known: Vec<i16> = range.clone().map(|i| i16::from(i >= column.first)).collect();
            let values = &column.values[column.first.clamp(range.start, range.end)..range.end];
            let mut open = group.next_column()?.ok_or_else(missing)?;
            open.typed::<DoubleType>().write_batch(values, Some(&known), None)?;
            open.close()?;
        }
        group.close()?;
    }
    writer.into_inner()
}
