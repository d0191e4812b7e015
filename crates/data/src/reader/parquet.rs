//! Apache Parquet: any flat table whose columns are named like those of text, and what `convert` writes.

use parquet::{
    basic::{ConvertedType, LogicalType, Repetition, TimeUnit, Type as Physical},
    errors::ParquetError,
    file::{
        metadata::ParquetMetaData,
        reader::{ChunkReader, FileReader, SerializedFileReader},
    },
    record::{Field, reader::RowIter},
    schema::types::Type,
};

use super::{
    guard,
    pages::{self, Bounded},
    row::{Facts, Row, Rows},
};
use crate::{
    convert::{About, METADATA_KEY},
    digest::{BarDigest, DIGEST_KEY},
    error::DataError,
    open::{Origin, Stored},
};

/// Rows of a Parquet file.
pub(crate) struct Parquet {
    /// `None` after damage: what the iterator holds then is of no use.
    rows: Option<RowIter<'static>>,
    kinds: Vec<Kind>,
    origin: Origin,
    row: u64,
    /// Of what has been read, and what it must come to at the end, where the file says it.
    digest: Option<(BarDigest, String)>,
}

/// How an integer of a column is meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// As it stands.
    Plain,
    /// Time since 1970: nanoseconds in its unit, and whether it is UTC.
    Time { unit: i64, utc: bool },
}

/// Reads the schema and what `convert` left.
pub(crate) fn open(stored: Stored, origin: &Origin) -> Result<(Box<dyn Rows>, Facts), DataError> {
    match stored {
        Stored::File(file) => {
            let again = file.try_clone().map_err(|e| origin.io(e))?;
            table(file, again, origin)
        }
        Stored::Bytes(bytes) => table(bytes.clone(), bytes, origin),
        Stored::Stream(_) => Err(damaged(origin, "it comes as a stream")),
    }
}

fn damaged(origin: &Origin, e: impl std::fmt::Display) -> DataError {
    let problem = format!("cannot be read as Parquet ({e})");
    DataError::file(
        &origin.path,
        problem,
        "fetch or write the file again, packed with snappy, zstd or not at all",
    )
}

/// Runs a step of the Parquet crate, whose readers of rows answer some damage with a panic.
fn guarded<T>(step: impl FnOnce() -> Result<T, ParquetError>) -> Result<T, String> {
    let why = |e| match e {
        ParquetError::General(why) => why,
        other => other.to_string(),
    };
    guard::guarded(|| step().map_err(why))
}

/// Whether all that the directory names lies within the file.
fn fits(metadata: &ParquetMetaData, length: u64) -> bool {
    metadata.row_groups().iter().all(|group| {
        group.num_rows() >= 0
            && group.columns().iter().all(|column| {
                let end = pages::place(column).and_then(|(start, bytes)| start.checked_add(bytes));
                column.num_values() >= 0
                    && column.data_page_offset() >= 0
                    && end.is_some_and(|end| end <= length)
            })
    })
}

/// Both readers are of the same bytes.
fn table<R: ChunkReader + 'static>(
    reader: R,
    again: R,
    origin: &Origin,
) -> Result<(Box<dyn Rows>, Facts), DataError> {
    let length = reader.len();
    let reader = guarded(|| {
        pages::check_directory(&reader)?;
        SerializedFileReader::new(reader)
    })
    .map_err(|e| damaged(origin, e))?;
    if !fits(reader.metadata(), length) {
        return Err(damaged(origin, "its directory points outside the file"));
    }
    let metadata = reader.metadata().file_metadata();
    let root = metadata.schema_descr().root_schema();
    let fields = root.get_fields();
    let (read, unread): (Vec<_>, Vec<_>) = fields.iter().cloned().partition(|field| is_read(field));
    let mut names = Row::default();
    read.iter().for_each(|field| names.push(field.name()));
    let kinds: Vec<Kind> = read.iter().map(|field| kind(field.get_basic_info().logical_type_ref())).collect();
    let unread = unread.iter().map(|field| field.name().to_owned()).collect();
    let mut facts = Facts { format: "Parquet".into(), names: Some(names), unread, ..Facts::default() };
    let value = |key: &str| {
        let mut keys = metadata.key_value_metadata().into_iter().flatten().filter(|k| k.key == key);
        keys.find_map(|k| k.value.as_deref())
    };
    let (about, written) = (value(METADATA_KEY), value(DIGEST_KEY));
    let digest = match (about, written) {
        (Some(about), Some(written)) => {
            let mut digest = BarDigest::new(about);
            for (field, kind) in read.iter().zip(&kinds) {
                digest.column(field.name(), *kind == Kind::Time { unit: 1, utc: true });
            }
            Some((digest, written.to_owned()))
        }
        (None, Some(_)) => return Err(damaged(origin, format!("{METADATA_KEY} is gone"))),
        (_, None) => None,
    };
    // The name of the root is whatever who wrote the file chose, and the projection's must be the same.
    let schema =
        Type::group_type_builder(root.name()).with_fields(read).build().map_err(|e| damaged(origin, e))?;
    if let Some(text) = about {
        let about = About::from_text(text).map_err(|e| damaged(origin, format!("{METADATA_KEY}: {e}")))?;
        facts.format = "Parquet written by foxhunt".into();
        (facts.stamp_side, facts.bar_seconds) = (Some(about.stamps), Some(about.bar_seconds));
        facts.instrument = Some(about.instrument);
        facts.extra = about.extra;
    }
    let reader = Box::new(Bounded::new(reader, again));
    let rows = guarded(|| RowIter::from_file_into(reader).project(Some(schema)));
    let rows = Some(rows.map_err(|e| damaged(origin, e))?);
    Ok((Box::new(Parquet { rows, kinds, origin: origin.clone(), row: 0, digest }), facts))
}

/// Whether a column is of a type that bars have. The others are left out: the Parquet crate cannot turn all of them into
/// values, and says so by a panic.
fn is_read(field: &Type) -> bool {
    if !field.is_primitive() || field.get_basic_info().repetition() == Repetition::REPEATED {
        return false;
    }
    use ConvertedType as C;
    let converted = field.get_basic_info().converted_type();
    match field.get_physical_type() {
        Physical::INT32 => {
            let signed = matches!(converted, C::NONE | C::INT_8 | C::INT_16 | C::INT_32);
            let unsigned = matches!(converted, C::UINT_8 | C::UINT_16 | C::UINT_32);
            signed || unsigned || matches!(converted, C::DATE | C::DECIMAL)
        }
        Physical::INT64 => {
            let number = matches!(converted, C::NONE | C::INT_64 | C::UINT_64 | C::DECIMAL);
            number || matches!(converted, C::TIMESTAMP_MILLIS | C::TIMESTAMP_MICROS)
        }
        Physical::FLOAT | Physical::DOUBLE | Physical::INT96 => converted == C::NONE,
        Physical::BYTE_ARRAY => matches!(converted, C::NONE | C::UTF8),
        _ => false,
    }
}

fn kind(logical: Option<&LogicalType>) -> Kind {
    let Some(LogicalType::Timestamp(stamp)) = logical else { return Kind::Plain };
    let unit = match stamp.unit {
        TimeUnit::MILLIS => 1_000_000,
        TimeUnit::MICROS => 1_000,
        TimeUnit::NANOS => 1,
    };
    Kind::Time { unit, utc: stamp.is_adjusted_to_u_t_c }
}

impl Rows for Parquet {
    fn next(&mut self, row: &mut Row) -> Result<bool, DataError> {
        let Some(mut rows) = self.rows.take() else { return Ok(false) };
        self.row += 1;
        let (next, rows) = guarded(|| rows.next().transpose().map(|next| (next, rows)))
            .map_err(|why| damaged(&self.origin, format!("row {} is damaged: {why}", self.row)))?;
        let Some(next) = next else { return self.end().map(|()| false) };
        if let Some((digest, _)) = &mut self.digest {
            next.get_column_iter().for_each(|(_, field)| sum(digest, field));
        }
        self.rows = Some(rows);
        row.start(self.row);
        for ((name, field), kind) in next.get_column_iter().zip(&self.kinds) {
            if !cell(field, *kind, row) {
                let problem = format!("has a value that is no number, text or time in column {name:?}");
                return Err(DataError::line(
                    &self.origin.path,
                    self.row,
                    problem,
                    "write another type, or leave it out",
                ));
            }
        }
        Ok(true)
    }
}

impl Parquet {
    /// Refuses rows that are not those that were written.
    fn end(&mut self) -> Result<(), DataError> {
        let Some((digest, written)) = self.digest.take() else { return Ok(()) };
        if digest.text() == written {
            return Ok(());
        }
        Err(DataError::file(
            &self.origin.path,
            "is damaged: its bars, or what it says of them, are not what foxhunt wrote",
            "convert the original files again, or restore it from a copy",
        ))
    }
}

/// Adds a value as the file holds it.
fn sum(digest: &mut BarDigest, field: &Field) {
    match field {
        Field::Long(value) => digest.whole(*value),
        Field::Double(value) => digest.double(Some(*value)),
        Field::Null => digest.double(None),
        _ => digest.other(),
    }
}

/// Adds a value as text; false where it is none that bars have.
fn cell(field: &Field, kind: Kind, row: &mut Row) -> bool {
    let utc = !matches!(kind, Kind::Time { utc: false, .. });
    match (field, kind) {
        (Field::Null, _) => row.push(""),
        (Field::Long(v), Kind::Time { unit, .. }) => return time(v.checked_mul(unit), utc, row),
        (Field::TimestampMillis(v), _) => return time(v.checked_mul(1_000_000), utc, row),
        (Field::TimestampMicros(v), _) => return time(v.checked_mul(1_000), utc, row),
        (Field::Date(days), _) => return time(i64::from(*days).checked_mul(86_400_000_000_000), false, row),
        (Field::Float16(v), _) => row.push_fmt(format_args!("{v}")),
        // The shortest text that is this number: what was written as 1.1 is 1.1 again.
        (Field::Float(v), _) if v.is_finite() => row.push_fmt(format_args!("{v}")),
        (Field::Double(v), _) if v.is_finite() => row.push_fmt(format_args!("{v}")),
        (Field::Float(v), _) if v.is_infinite() => row.push("infinity"),
        (Field::Double(v), _) if v.is_infinite() => row.push("infinity"),
        (Field::Float(_) | Field::Double(_), _) => row.push("NaN"),
        (Field::Str(text), _) => row.push(text),
        (Field::Bytes(bytes), _) => match bytes.as_utf8() {
            Ok(text) => row.push(text),
            Err(_) => return false,
        },
        (Field::Group(_) | Field::ListInternal(_) | Field::MapInternal(_), _) => return false,
        (plain, _) => row.push_fmt(format_args!("{plain}")),
    }
    true
}

/// Adds a moment as an RFC 3339 text, with Z where it is UTC.
fn time(ns: Option<i64>, utc: bool, row: &mut Row) -> bool {
    let stamp = ns.and_then(|ns| jiff::Timestamp::from_nanosecond(i128::from(ns)).ok());
    let Some(stamp) = stamp else { return false };
    if utc {
        row.push_fmt(format_args!("{stamp}"));
    } else {
        row.push(stamp.to_string().trim_end_matches('Z'));
    }
    true
}
