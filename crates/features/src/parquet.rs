//! Raw features as a Parquet file that any tool reads.

use std::{io::Write, sync::Arc};

use foxhunt_data::Bars;
use parquet::{
    basic::{Compression, Repetition, Type as Physical, ZstdLevel},
    data_type::{BoolType, FloatType, Int64Type},
    errors::ParquetError,
    file::{properties::WriterProperties, writer::SerializedFileWriter},
    schema::{parser::parse_message_type, types::Type},
};

use crate::{error::FeatureError, table::FeatureColumn};

/// Rows of a row group: what a reader holds at once.
const GROUP_ROWS: usize = 1 << 17;

/// Writes a row per bar: `time`, the close of the bar in ns UTC, from when on its features are known; `warmup`, whether some
/// feature has no value yet; and one column per feature, null in its own warm-up.
///
/// # Errors
/// [`FeatureError::Write`] naming `path` where writing fails.
pub fn write_parquet<W: Write + Send>(
    path: &str,
    bars: &Bars,
    columns: &[FeatureColumn],
    out: W,
) -> Result<W, FeatureError> {
    write(&bars.close_ns, columns, out)
        .map_err(|e| FeatureError::Write { path: path.to_owned(), problem: e.to_string() })
}

fn write<W: Write + Send>(close_ns: &[i64], columns: &[FeatureColumn], out: W) -> Result<W, ParquetError> {
    let own = parse_message_type(
        "message own { required int64 time (TIMESTAMP(NANOS,true)); required boolean warmup; }",
    )?;
    let mut fields = own.get_fields().to_vec();
    // Names of a file's columns may be no words of the schema's language.
    for column in columns {
        let optional = Type::primitive_type_builder(&column.name, Physical::FLOAT);
        fields.push(Arc::new(optional.with_repetition(Repetition::OPTIONAL).build()?));
    }
    let schema = Arc::new(Type::group_type_builder("features").with_fields(fields).build()?);
    let properties = WriterProperties::builder()
        // Fixed, so that an update of the Parquet crate alone does not change the bytes.
        .set_created_by("foxhunt-features".to_owned())
        .set_compression(Compression::ZSTD(ZstdLevel::try_new(3)?))
        .build();
    let mut writer = SerializedFileWriter::new(out, schema, Arc::new(properties))?;
    let missing = || ParquetError::General("the schema has fewer columns".into());
    let warmup = columns.iter().map(|c| c.warmup).max().unwrap_or(0);
    for start in (0..close_ns.len()).step_by(GROUP_ROWS) {
        let rows = start..(start + GROUP_ROWS).min(close_ns.len());
        let mut group = writer.next_row_group()?;
        let mut open = group.next_column()?.ok_or_else(missing)?;
        open.typed::<Int64Type>().write_batch(&close_ns[rows.clone()], None, None)?;
        open.close()?;
        let mut open = group.next_column()?.ok_or_else(missing)?;
        let warming: Vec<bool> = rows.clone().map(|row| row < warmup).collect();
        open.typed::<BoolType>().write_batch(&warming, None, None)?;
        open.close()?;
        for column in columns {
            let known: Vec<i16> = rows.clone().map(|row| i16::from(row >= column.warmup)).collect();
            let first = column.warmup.clamp(rows.start, rows.end);
            let mut open = group.next_column()?.ok_or_else(missing)?;
            open.typed::<FloatType>().write_batch(&column.values[first..rows.end], Some(&known), None)?;
            open.close()?;
        }
        group.close()?;
    }
    writer.into_inner()
}
