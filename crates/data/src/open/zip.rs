//! The one file of a zip archive. The archive's directory is read by the `zip` crate; the entry's bytes are unpacked here, as
//! a stream that owns its file and checks the sum at its end.

use std::io::{self, Cursor, ErrorKind, Read, Seek, SeekFrom};

use bytes::Bytes;
use flate2::{Crc, bufread::DeflateDecoder};
use zip::{CompressionMethod, ZipArchive};

use super::{Origin, Stored};
use crate::error::DataError;

/// Opens the only file of the archive. Folders and what macOS adds to archives are no files.
pub(super) fn only_entry(stored: Stored, origin: &Origin) -> Result<(Stored, String), DataError> {
    match stored {
        Stored::File(file) => entry(file, origin),
        Stored::Bytes(bytes) => entry(Cursor::<Bytes>::new(bytes), origin),
        Stored::Stream(_) => Err(DataError::file(
            &origin.path,
            "is an archive that comes as a stream",
            "save it to a file and load that",
        )),
    }
}

fn entry<R: Read + Seek + 'static>(reader: R, origin: &Origin) -> Result<(Stored, String), DataError> {
    let path = &origin.path;
    let damaged = |e: &dyn std::fmt::Display| {
        DataError::file(path, format!("is a damaged zip archive ({e})"), "fetch or pack the file again")
    };
    let mut archive = ZipArchive::new(reader).map_err(|e| damaged(&e))?;
    let mut found = Vec::new();
    for i in 0..archive.len() {
        let file = archive.by_index_raw(i).map_err(|e| damaged(&e))?;
        let name = file.name().map_err(|e| damaged(&e))?.into_owned();
        if file.is_file() && !name.starts_with("__MACOSX/") && !name.ends_with(".DS_Store") {
            found.push((i, name));
        }
    }
    if let Some((_, name)) = found.iter().find(|(_, n)| n == "[Content_Types].xml") {
        let problem = format!("is a spreadsheet or document (it holds {name})");
        return Err(DataError::file(path, problem, "save the sheet as comma-separated text (CSV UTF-8)"));
    }
    let (index, name) = match found.as_slice() {
        [] => return Err(DataError::file(path, "is an archive without a file", "give a file with bars")),
        [one] => one.clone(),
        [(_, a), (_, b), ..] => {
            let problem = format!("is an archive of {} files, such as {a} and {b}", found.len());
            return Err(DataError::file(path, problem, "unpack it and name the files in order of time"));
        }
    };
    let file = archive.by_index_raw(index).map_err(|e| damaged(&e))?;
    let (packed, method, sum) = (file.compressed_size(), file.compression(), file.crc32());
    if file.encrypted() {
        return Err(DataError::file(path, "is encrypted", "unpack it with its password and load the file"));
    }
    let start = file.data_start().ok_or_else(|| damaged(&"no place of the entry's data"))?;
    drop(file);
    let mut reader = archive.into_inner();
    reader.seek(SeekFrom::Start(start)).map_err(|e| origin.io(e))?;
    let raw = io::BufReader::new(reader).take(packed);
    let unpacked: Box<dyn Read> = match method {
        CompressionMethod::Stored => Box::new(raw),
        CompressionMethod::Deflated => Box::new(DeflateDecoder::new(raw)),
        other => {
            let problem = format!("is an archive packed by {other}, which is not read");
            return Err(DataError::file(path, problem, "unpack it, or pack it as a usual zip (deflate)"));
        }
    };
    Ok((Stored::Stream(Box::new(Checked { reader: unpacked, crc: Crc::new(), sum })), name))
}

/// A stream whose CRC-32 must be `sum`.
struct Checked {
    reader: Box<dyn Read>,
    crc: Crc,
    sum: u32,
}

impl Read for Checked {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let n = self.reader.read(buffer)?;
        self.crc.update(&buffer[..n]);
        if n == 0 && !buffer.is_empty() && self.crc.sum() != self.sum {
            return Err(io::Error::new(ErrorKind::InvalidData, "the checksum does not hold"));
        }
        Ok(n)
    }
}
