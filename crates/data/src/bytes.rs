//! A file's bytes: read, summed, unpacked by their first bytes, never by the name.

use std::{fmt::Write as _, fs, io::Read, path::Path};

use sha2::{Digest, Sha256};

use crate::error::DataError;

/// Unpacked files above this are refused: a few megabytes of gzip can unpack to more than memory holds.
const MAX_UNPACKED_BYTES: u64 = 4 << 30;

const GZIP_MAGIC: [u8; 2] = [0x1f, 0x8b];

/// The unpacked content of a file.
pub(crate) struct Content {
    pub(crate) bytes: Vec<u8>,
    /// Of the bytes as stored.
    pub(crate) sha256: String,
    pub(crate) gzip: bool,
}

/// Reads a file and unpacks it.
pub(crate) fn read(path: &Path) -> Result<Content, DataError> {
    let name = path.display().to_string();
    let stored = fs::read(path).map_err(|source| DataError::Io { path: name.as_str().into(), source })?;
    unpack(&name, stored)
}

/// Sums the stored bytes and unpacks them if they are gzip (one member or several).
pub(crate) fn unpack(path: &str, stored: Vec<u8>) -> Result<Content, DataError> {
    let sha256 = sha256(&stored);
    if !stored.starts_with(&GZIP_MAGIC) {
        return Ok(Content { bytes: stored, sha256, gzip: false });
    }
    let mut bytes = Vec::new();
    let mut limited = flate2::read::MultiGzDecoder::new(stored.as_slice()).take(MAX_UNPACKED_BYTES + 1);
    limited.read_to_end(&mut bytes).map_err(|source| DataError::Gzip { path: path.into(), source })?;
    if bytes.len() as u64 > MAX_UNPACKED_BYTES {
        let problem = format!("unpacks to more than {MAX_UNPACKED_BYTES} bytes");
        return Err(DataError::file(path, problem, "divide the file by time and load one part"));
    }
    Ok(Content { bytes, sha256, gzip: true })
}

/// SHA-256 in lower-case hexadecimal.
pub(crate) fn sha256(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().fold(String::new(), |mut hex, byte| {
        // Writing to a string cannot fail.
        let _ = write!(hex, "{byte:02x}");
        hex
    })
}
