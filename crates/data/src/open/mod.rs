//! A file's bytes: summed, and unpacked layer by layer by their first bytes, never by the name. Nothing is held whole but
//! archives and Parquet that come through a stream, for both are read from their end.

mod unpack;
mod utf16;
mod zip;

use std::{
    cell::RefCell,
    fs::File,
    io::{self, Read, Seek},
    path::Path,
    rc::Rc,
};

use bytes::Bytes;
use sha2::{Digest, Sha256};

use crate::error::DataError;

pub(crate) use unpack::unpack;

/// How many first bytes decide about a format.
pub(crate) const PEEK_BYTES: usize = 4_096;
/// What has to be held whole, when it comes through a stream or a packing, may be this large.
const MAX_HELD_BYTES: u64 = 4 << 30;

/// Unpacked bytes that are read to tell whether a packing is damaged.
const MAX_CHECKED_BYTES: u64 = 512 << 20;

/// Bytes as they are stored.
pub(crate) enum Stored {
    /// A file on disk.
    File(File),
    /// All bytes, in memory.
    Bytes(Bytes),
    /// Bytes that come one after the other.
    Stream(Box<dyn Read>),
}

/// Unpacked content.
pub(crate) struct Opened {
    pub(crate) stored: Stored,
    /// The first bytes of the content.
    pub(crate) head: Vec<u8>,
    /// Where it came from, for messages.
    pub(crate) origin: Origin,
    /// Name of the innermost file: an archive's entry, else the file itself.
    pub(crate) name: String,
}

/// Where bytes come from, as messages say it.
#[derive(Clone, Debug)]
pub(crate) struct Origin {
    pub(crate) path: String,
    /// The packings around the content, outermost first.
    pub(crate) packing: Vec<&'static str>,
}

impl Origin {
    /// An error of reading or of unpacking.
    pub(crate) fn io(&self, source: io::Error) -> DataError {
        let path = self.path.as_str().into();
        match self.packing.last() {
            None => DataError::Io { path, source },
            Some(packing) => DataError::Packed { path, packing, source },
        }
    }
}

/// The hash of the stored bytes: known at once, or when the stream has been read.
pub(crate) enum Sum {
    Known(String),
    Running(Rc<RefCell<Sha256>>),
}

impl Sum {
    /// Hexadecimal.
    pub(crate) fn text(self) -> String {
        match self {
            Self::Known(text) => text,
            Self::Running(sum) => hex(&sum.borrow().clone().finalize()),
        }
    }
}

/// Opens a file on disk and sums it, one reading in advance.
pub(crate) fn summed(path: &Path) -> Result<(File, Sum), DataError> {
    let failed = |source| DataError::Io { path: path.display().to_string().into(), source };
    let mut file = File::open(path).map_err(failed)?;
    let mut sum = Sha256::new();
    io::copy(&mut file, &mut sum).map_err(failed)?;
    file.rewind().map_err(failed)?;
    Ok((file, Sum::Known(hex(&sum.finalize()))))
}

/// All bytes of a file.
pub(crate) fn bytes(stored: Vec<u8>) -> (Stored, Sum) {
    let sum = sha256(&stored);
    (Stored::Bytes(stored.into()), Sum::Known(sum))
}

/// A stream, summed while it is read.
pub(crate) fn stream(reader: impl Read + 'static) -> (Stored, Sum) {
    let sum = Rc::new(RefCell::new(Sha256::new()));
    (Stored::Stream(Box::new(Summed { reader, sum: Rc::clone(&sum) })), Sum::Running(sum))
}

/// What is wrong with the packing of a file, if that can be told: its stream is read to the end.
pub(crate) fn damage(path: &str, stored: Stored) -> Option<DataError> {
    let mut stored = stored;
    if let Stored::File(file) = &mut stored {
        file.rewind().ok()?;
    }
    let opened = match unpack(path, stored) {
        Ok(opened) => opened,
        Err(e) => return matches!(e, DataError::Packed { .. }).then_some(e),
    };
    if opened.origin.packing.is_empty() {
        return None;
    }
    let mut rest = opened.stored.into_read().take(MAX_CHECKED_BYTES);
    io::copy(&mut rest, &mut io::sink()).err().map(|e| opened.origin.io(e))
}

impl Stored {
    /// The same bytes once more, where they can be had; only one of both is read at a time.
    pub(crate) fn again(&self) -> Option<Self> {
        match self {
            Self::File(file) => file.try_clone().ok().map(Self::File),
            Self::Bytes(bytes) => Some(Self::Bytes(bytes.clone())),
            Self::Stream(_) => None,
        }
    }

    /// The bytes one after the other.
    pub(crate) fn into_read(self) -> Box<dyn Read> {
        match self {
            Self::File(file) => Box::new(file),
            Self::Bytes(bytes) => Box::new(io::Cursor::new(bytes)),
            Self::Stream(reader) => reader,
        }
    }

    /// A stream's bytes, held; files stay on disk.
    pub(crate) fn held(self, origin: &Origin) -> Result<Self, DataError> {
        let Self::Stream(reader) = self else { return Ok(self) };
        let mut all = Vec::new();
        reader.take(MAX_HELD_BYTES + 1).read_to_end(&mut all).map_err(|e| origin.io(e))?;
        if all.len() as u64 > MAX_HELD_BYTES {
            let problem = format!("has to be held whole and is larger than {MAX_HELD_BYTES} bytes");
            return Err(DataError::file(&origin.path, problem, "unpack it to a file and load that"));
        }
        Ok(Self::Bytes(all.into()))
    }
}

struct Summed<R> {
    reader: R,
    sum: Rc<RefCell<Sha256>>,
}

impl<R: Read> Read for Summed<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let n = self.reader.read(buffer)?;
        self.sum.borrow_mut().update(&buffer[..n]);
        Ok(n)
    }
}

/// SHA-256 in lower-case hexadecimal.
pub(crate) fn sha256(bytes: &[u8]) -> String {
    hex(&Sha256::digest(bytes))
}

pub(crate) fn hex(digest: &[u8]) -> String {
    digest.iter().map(|byte| format!("{byte:02x}")).collect()
}
