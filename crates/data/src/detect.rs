//! What kind of file the bytes are. The first bytes decide, never the name; a later format is one more arm here and one
//! more file in `reader`.

use crate::error::DataError;

/// A file format that has a reader.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Format {
    /// Delimited text.
    Delimited,
}

const UTF8_BOM: &[u8] = b"\xef\xbb\xbf";

/// Formats that are recognised and refused by name, by their first bytes.
const OTHERS: [(&[u8], &str); 7] = [
    (b"PAR1", "a Parquet file"),
    (b"PK\x03\x04", "a zip archive or spreadsheet"),
    (b"DBN", "a Databento (DBN) file"),
    (b"\x28\xb5\x2f\xfd", "a zstd stream"),
    (b"BZh", "a bzip2 stream"),
    (b"\xff\xfe", "UTF-16 text"),
    (b"\xfe\xff", "UTF-16 text"),
];

/// Tells the format, and where its content begins (after a byte order mark).
pub(crate) fn detect<'a>(path: &str, bytes: &'a [u8]) -> Result<(Format, &'a [u8]), DataError> {
    let refuse = |problem: String, fix: &str| Err(DataError::file(path, problem, fix));
    let convert = "convert it to comma-separated text in UTF-8 (it may be packed with gzip)";
    if let Some((_, what)) = OTHERS.iter().find(|(magic, _)| bytes.starts_with(magic)) {
        return refuse(format!("is {what}, which is not read"), convert);
    }
    let body = bytes.strip_prefix(UTF8_BOM).unwrap_or(bytes);
    match body.trim_ascii_start().first() {
        None => return refuse("is empty".into(), "give a file with bars"),
        Some(b'{' | b'[') => return refuse("is JSON, which is not read".into(), convert),
        Some(_) => {}
    }
    if body.iter().take(4_096).any(|&b| b == 0) {
        return refuse("is not text".into(), convert);
    }
    Ok((Format::Delimited, body))
}
