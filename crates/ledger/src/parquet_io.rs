//! A ledger as two Parquet files in a directory.
//!
//! Both files carry the header as JSON in their key-value metadata under [`HEADER_KEY`]. The file of fills is written
//! first, and the file of bars holds its hash: a run that died in between is found out when the ledger is read.

use std::fs::{self, File};
use std::io::Write as _;
use std::path::Path;
use std::sync::Arc;

use parquet::basic::{Compression, ZstdLevel};
use parquet::column::reader::ColumnReader;
use parquet::column::writer::ColumnWriter;
use parquet::data_type::ByteArray;
use parquet::errors::ParquetError;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::WriterProperties;
use parquet::file::reader::{FileReader as _, SerializedFileReader};
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::parser::parse_message_type;

use crate::columns::{ColumnSpec, Kind, Row, schema};
use crate::error::LedgerError;
use crate::header::{FORMAT, LedgerHeader};
use crate::ledger::Ledger;
use crate::rows::{BarRow, FillRow};

/// File of the accounts per bar.
pub const BARS_FILE: &str = "bars.parquet";
/// File of the fills.
pub const FILLS_FILE: &str = "fills.parquet";
const HEADER_KEY: &str = "foxhunt.ledger";
const FILLS_HASH_KEY: &str = "foxhunt.fills_fnv1a64";

/// Rows of a row group: small enough that a reader of one column need not hold the file.
const GROUP_ROWS: usize = 1 << 18;

impl Ledger {
    /// Writes the ledger into a directory, which is made if it is missing. Each file appears whole, by rename; equal
    /// ledgers give equal bytes.
    ///
    /// # Errors
    ///
    /// When the file system refuses.
    pub fn write(&self, directory: &Path) -> Result<(), LedgerError> {
        fs::create_dir_all(directory).map_err(io("cannot make the directory", directory))?;
        let header = serde_json::to_string(&self.header)
            .map_err(|source| LedgerError::Header { path: directory.into(), source })?;
        let path = directory.join(FILLS_FILE);
        let fills = encode(&self.fills, &[(HEADER_KEY, &header)]).map_err(unsound(&path))?;
        write_whole(&path, &fills)?;
        let hash = format!("{:016x}", fnv1a(&fills));
        let path = directory.join(BARS_FILE);
        let keys = [(HEADER_KEY, header.as_str()), (FILLS_HASH_KEY, hash.as_str())];
        let bars = encode(&self.bars, &keys).map_err(unsound(&path))?;
        write_whole(&path, &bars)
    }

    /// Reads a ledger from its directory. The rows are as they were written; [`reconcile`](crate::reconcile())
    /// tells whether they make sense.
    ///
    /// # Errors
    ///
    /// Files that are missing, are no sound Parquet, are of another version or columns, or do not belong together.
    pub fn read(directory: &Path) -> Result<Self, LedgerError> {
        let path = directory.join(FILLS_FILE);
        let bytes = fs::read(&path).map_err(io("cannot read", &path))?;
        let hash = format!("{:016x}", fnv1a(&bytes));
        let fills = decode::<FillRow>(&path, bytes)?;
        let path = directory.join(BARS_FILE);
        let bytes = fs::read(&path).map_err(io("cannot read", &path))?;
        let bars = decode::<BarRow>(&path, bytes)?;
        if bars.key(FILLS_HASH_KEY) != Some(&hash) {
            return Err(LedgerError::Format {
                path,
                what: format!("it belongs to another {FILLS_FILE} than the one beside it"),
            });
        }
        let text = bars.key(HEADER_KEY).ok_or_else(|| LedgerError::Format {
            path: path.clone(),
            what: format!("no {HEADER_KEY} in its metadata"),
        })?;
        let header: LedgerHeader = serde_json::from_str(text)
            .map_err(|source| LedgerError::Header { path: path.clone(), source })?;
        if header.format != FORMAT {
            let what = format!(
                "its format is {}, this program reads {FORMAT}; backtest the run again with this program, or read the ledger \
                 with the one that wrote it",
                header.format
            );
            return Err(LedgerError::Format { path, what });
        }
        Ok(Self { header, bars: bars.rows, fills: fills.rows })
    }
}

fn io<'a>(what: &'static str, path: &'a Path) -> impl Fn(std::io::Error) -> LedgerError + 'a {
    move |source| LedgerError::Io { what, path: path.into(), source }
}

fn unsound(path: &Path) -> impl Fn(ParquetError) -> LedgerError + '_ {
    move |source| LedgerError::Parquet { path: path.into(), source }
}

/// Writes beside the target and renames, so that no reader ever sees half a file.
fn write_whole(path: &Path, bytes: &[u8]) -> Result<(), LedgerError> {
    let temporary = path.with_extension("parquet.tmp");
    let written = File::create(&temporary).and_then(|mut file| {
        file.write_all(bytes)?;
        file.sync_all()
    });
    written.and_then(|()| fs::rename(&temporary, path)).map_err(|source| {
        // The first error is the one to tell; a leftover that cannot be removed either changes nothing.
        let _ = fs::remove_file(&temporary);
        LedgerError::Io { what: "cannot write", path: path.into(), source }
    })
}

/// FNV-1a: enough to tell one file from another by mistake, not by malice.
fn fnv1a(bytes: &[u8]) -> u64 {
    bytes
        .iter()
        .fold(0xcbf2_9ce4_8422_2325, |hash, &byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

fn encode<R: Row>(rows: &[R], keys: &[(&str, &str)]) -> Result<Vec<u8>, ParquetError> {
    encode_columns(rows, &R::columns(), keys)
}

fn encode_columns<R: Row>(
    rows: &[R],
    columns: &[ColumnSpec<R>],
    keys: &[(&str, &str)],
) -> Result<Vec<u8>, ParquetError> {
    let schema = Arc::new(parse_message_type(&schema(columns))?);
    let keys = keys.iter().map(|&(key, value)| KeyValue::new(key.to_owned(), value.to_owned())).collect();
    let properties = WriterProperties::builder()
        // Fixed, so that an update of the Parquet crate alone does not change the bytes.
        .set_created_by("foxhunt-ledger".to_owned())
        .set_compression(Compression::ZSTD(ZstdLevel::try_new(3)?))
        .set_key_value_metadata(Some(keys))
        .build();
    let mut writer = SerializedFileWriter::new(Vec::new(), schema, Arc::new(properties))?;
    for rows in rows.chunks(GROUP_ROWS) {
        let mut group = writer.next_row_group()?;
        for column in columns {
            let mut open = group.next_column()?.ok_or_else(|| no_column(column.name))?;
            match (open.untyped(), &column.kind) {
                (ColumnWriter::Int32ColumnWriter(w), Kind::I32 { get, .. }) => {
                    w.write_batch(&rows.iter().map(get).collect::<Vec<_>>(), None, None)?;
                }
                (ColumnWriter::Int64ColumnWriter(w), Kind::I64 { get, .. }) => {
                    w.write_batch(&rows.iter().map(get).collect::<Vec<_>>(), None, None)?;
                }
                (ColumnWriter::BoolColumnWriter(w), Kind::Bool { get, .. }) => {
                    w.write_batch(&rows.iter().map(get).collect::<Vec<_>>(), None, None)?;
                }
                (ColumnWriter::ByteArrayColumnWriter(w), Kind::Word { get, .. }) => {
                    let words: Vec<_> = rows.iter().map(|row| ByteArray::from(get(row))).collect();
                    w.write_batch(&words, None, None)?;
                }
                _ => return Err(no_column(column.name)),
            }
            open.close()?;
        }
        group.close()?;
    }
    writer.into_inner()
}

fn no_column(name: &str) -> ParquetError {
    ParquetError::General(format!("column {name} does not have the type that the schema gives it"))
}

struct Decoded<R> {
    rows: Vec<R>,
    keys: Vec<KeyValue>,
}

impl<R> Decoded<R> {
    fn key(&self, name: &str) -> Option<&String> {
        self.keys.iter().find(|pair| pair.key == name).and_then(|pair| pair.value.as_ref())
    }
}

fn decode<R: Row>(path: &Path, bytes: Vec<u8>) -> Result<Decoded<R>, LedgerError> {
    let unsound = unsound(path);
    let reader = SerializedFileReader::new(bytes::Bytes::from(bytes)).map_err(&unsound)?;
    let metadata = reader.metadata().file_metadata();
    let columns = R::columns();
    let expected = parse_message_type(&schema(&columns)).map_err(&unsound)?;
    let (found, expected) = (metadata.schema().get_fields(), expected.get_fields());
    let there = columns.len() - if found.len() < expected.len() { R::LATER } else { 0 };
    if found != &expected[..there] {
        let what = format!("its columns are not those of the table of {} in format {FORMAT}", R::TABLE);
        return Err(LedgerError::Format { path: path.into(), what });
    }
    let keys = metadata.key_value_metadata().cloned().unwrap_or_default();
    let mut rows = Vec::new();
    for k in 0..reader.num_row_groups() {
        let group = reader.get_row_group(k).map_err(&unsound)?;
        // The count is the file's word; memory is taken only as columns deliver.
        let count = usize::try_from(group.metadata().num_rows()).unwrap_or(0);
        let start = rows.len();
        for (c, column) in columns[..there].iter().enumerate() {
            let open = group.get_column_reader(c).map_err(&unsound)?;
            let outcome = fill_column(&mut rows, start, count, open, &column.kind).map_err(&unsound)?;
            if !outcome {
                let what = format!("column {} holds a value that it cannot have, or misses one", column.name);
                return Err(LedgerError::Format { path: path.into(), what });
            }
        }
    }
    Ok(Decoded { rows, keys })
}

/// Puts one column of a row group into `rows[start..start + count]`, which the first column makes. False if a value is
/// out of range or the column is shorter or longer than the group.
fn fill_column<R: Row>(
    rows: &mut Vec<R>,
    start: usize,
    count: usize,
    column: ColumnReader,
    kind: &Kind<R>,
) -> Result<bool, ParquetError> {
    macro_rules! values {
        ($reader:expr) => {{
            let mut reader = $reader;
            let mut values = Vec::new();
            while values.len() < count {
                let (_, read, _) = reader.read_records(count - values.len(), None, None, &mut values)?;
                if read == 0 {
                    break;
                }
            }
            if values.len() != count {
                return Ok(false);
            }
            if rows.len() == start {
                rows.resize(start + count, R::BLANK);
            }
            values
        }};
    }
    let outcome = match (column, kind) {
        (ColumnReader::Int32ColumnReader(reader), Kind::I32 { set, .. }) => {
            let values: Vec<i32> = values!(reader);
            rows[start..].iter_mut().zip(values).all(|(row, value)| set(row, value))
        }
        (ColumnReader::Int64ColumnReader(reader), Kind::I64 { set, .. }) => {
            let values: Vec<i64> = values!(reader);
            rows[start..].iter_mut().zip(values).all(|(row, value)| set(row, value))
        }
        (ColumnReader::BoolColumnReader(reader), Kind::Bool { set, .. }) => {
            let values: Vec<bool> = values!(reader);
            rows[start..].iter_mut().zip(values).all(|(row, value)| set(row, value))
        }
        (ColumnReader::ByteArrayColumnReader(reader), Kind::Word { set, .. }) => {
            let values: Vec<ByteArray> = values!(reader);
            rows[start..]
                .iter_mut()
                .zip(values)
                .all(|(row, value)| value.as_utf8().is_ok_and(|word| set(row, word)))
        }
        _ => false,
    };
    Ok(outcome)
}

#[cfg(test)]
mod tests;
