//! What kind of file the unpacked bytes are. The first bytes decide, never the name; a later format is one more arm here and
//! one more file in `reader`.

use crate::{error::DataError, open::Opened};

/// A file format that has a reader.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Format {
    /// Delimited text.
    Delimited,
    /// Google Finance's `getprices`: text whose stamps count from the last whole one.
    Google,
    /// JSON: rows in an array, columns in arrays, or one object a line.
    Json,
    /// Apache Parquet.
    Parquet,
    /// Databento binary encoding.
    Dbn,
}

pub(crate) const UTF8_BOM: &[u8] = b"\xef\xbb\xbf";

/// Formats that are recognised and refused by name, by their first bytes.
const OTHERS: [(&[u8], &str); 8] = [
    (b"BZh", "a bzip2 stream"),
    (b"\xfd7zXZ", "an xz stream"),
    (b"7z\xbc\xaf", "a 7z archive"),
    (b"Rar!", "a RAR archive"),
    (b"ARROW1", "an Arrow (Feather) file"),
    (b"\x89HDF", "an HDF5 file"),
    (b"SQLite format 3", "a SQLite database"),
    (b"\xd0\xcf\x11\xe0", "an old spreadsheet (.xls)"),
];

/// Tells the format.
pub(crate) fn detect(opened: &Opened) -> Result<Format, DataError> {
    let (path, head) = (&opened.origin.path, &opened.head);
    let refuse = |problem: String, fix: &str| Err(DataError::file(path, problem, fix));
    let convert = "convert it to comma-separated text in UTF-8 (it may be packed with gzip, zstd or zip), or to Parquet";
    if head.starts_with(b"PAR1") {
        return Ok(Format::Parquet);
    }
    if head.starts_with(b"DBN") {
        return Ok(Format::Dbn);
    }
    if let Some((_, what)) = OTHERS.iter().find(|(magic, _)| head.starts_with(magic)) {
        return refuse(format!("is {what}, which is not read"), convert);
    }
    if head.get(257..262) == Some(b"ustar") {
        return refuse("is a tar archive, which is not read".into(), "unpack it and name the files");
    }
    let body = head.strip_prefix(UTF8_BOM).unwrap_or(head).trim_ascii_start();
    match body.first() {
        None => return refuse("is empty".into(), "give a file with bars"),
        Some(b'{' | b'[') => return Ok(Format::Json),
        Some(b'<') if [&b"<!doctype"[..], b"<html", b"<?xml"].iter().any(|t| starts_with(body, t)) => {
            let fix =
                "it is likely an error message of the site: open it and see, then download the file again";
            return refuse("is a web page or XML, not a table".into(), fix);
        }
        Some(_) => {}
    }
    if head.contains(&0) {
        return refuse("is not text".into(), convert);
    }
    let google = body.windows(8).any(|w| w == b"COLUMNS=") && body.windows(9).any(|w| w == b"INTERVAL=");
    Ok(if google { Format::Google } else { Format::Delimited })
}

fn starts_with(text: &[u8], start: &[u8]) -> bool {
    text.get(..start.len()).is_some_and(|t| t.eq_ignore_ascii_case(start))
}
