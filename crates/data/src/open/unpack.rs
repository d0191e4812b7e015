//! Packings, one layer after the other: gzip, zstd, zip; what is packed otherwise is refused by its name.

use std::io::{self, BufReader, Cursor, Read};

use super::{Opened, Origin, PEEK_BYTES, Stored, utf16::Utf16, zip};
use crate::error::DataError;

/// A file in an archive in a stream is as deep as people go; more is a mistake or a trap.
const MAX_LAYERS: usize = 3;

/// Kinds of packing and their first bytes.
const PACKINGS: [(&[u8], Packing); 5] = [
    (b"\x1f\x8b", Packing::Gzip),
    (b"\x28\xb5\x2f\xfd", Packing::Zstd),
    (b"PK\x03\x04", Packing::Zip),
    (b"\xff\xfe", Packing::Utf16 { big: false }),
    (b"\xfe\xff", Packing::Utf16 { big: true }),
];

#[derive(Clone, Copy)]
enum Packing {
    Gzip,
    Zstd,
    Zip,
    Utf16 { big: bool },
}

/// Unpacks until something that is no packing appears.
pub(crate) fn unpack(path: &str, stored: Stored) -> Result<Opened, DataError> {
    let mut origin = Origin { path: path.to_owned(), packing: Vec::new() };
    let mut name = path.to_owned();
    let mut stored = stored;
    for _ in 0..=MAX_LAYERS {
        let (head, same) = peek(stored).map_err(|e| origin.io(e))?;
        stored = same;
        let Some((_, packing)) = PACKINGS.iter().find(|(magic, _)| head.starts_with(magic)) else {
            return Ok(Opened { stored, head, origin, name });
        };
        stored = match packing {
            Packing::Gzip => {
                origin.packing.push("gzip");
                let packed = BufReader::new(stored.into_read());
                Stored::Stream(Box::new(flate2::bufread::MultiGzDecoder::new(packed)))
            }
            Packing::Zstd => {
                origin.packing.push("zstd");
                let unpacked = zstd::Decoder::new(stored.into_read()).map_err(|e| origin.io(e))?;
                Stored::Stream(Box::new(unpacked))
            }
            Packing::Zip => {
                let entry;
                (stored, entry) = zip::only_entry(stored.held(&origin)?, &origin)?;
                origin.packing.push("zip");
                name = entry;
                stored
            }
            Packing::Utf16 { big } => {
                origin.packing.push("UTF-16");
                Stored::Stream(Box::new(Utf16::new(stored.into_read(), *big)))
            }
        };
    }
    let problem = format!("is packed more than {MAX_LAYERS} times over");
    Err(DataError::file(path, problem, "unpack it and load what is inside"))
}

/// The first bytes, and the same bytes from the beginning.
fn peek(stored: Stored) -> io::Result<(Vec<u8>, Stored)> {
    let take = |reader: &mut dyn Read| {
        let mut head = Vec::with_capacity(PEEK_BYTES);
        reader.take(PEEK_BYTES as u64).read_to_end(&mut head).map(|_| head)
    };
    match stored {
        Stored::Bytes(bytes) => Ok((bytes[..bytes.len().min(PEEK_BYTES)].to_vec(), Stored::Bytes(bytes))),
        Stored::File(mut file) => {
            let head = take(&mut file)?;
            io::Seek::rewind(&mut file)?;
            Ok((head, Stored::File(file)))
        }
        Stored::Stream(mut reader) => {
            let head = take(&mut reader)?;
            Ok((head.clone(), Stored::Stream(Box::new(Cursor::new(head).chain(reader)))))
        }
    }
}
