//! Parquet's directory and the headers of its pages, as far as room is made and time is spent by what they say: Thrift's compact
//! protocol, read without trust.

use std::io::{self, Read};

use parquet::errors::ParquetError;

/// Structs and lists in one another that there may be.
const MAX_DEPTH: usize = 32;

/// Groups in one another that a schema may have: the crate goes down by calls.
const MAX_LEVELS: usize = 32;
/// What the paths of all columns may take up: the crate holds the names of all groups around it for each.
const MAX_PATHS: usize = 16 << 20;
/// What a name in a path takes up beside its bytes.
const NAME_BYTES: usize = 64;
/// Kinds of values.
const BINARY: u8 = 8;
const STRUCT: u8 = 12;

fn refuse<T>(problem: impl Into<String>) -> Result<T, ParquetError> {
    Err(ParquetError::General(problem.into()))
}

/// Looks at a directory of at most `most` bytes: no list in it may have more elements than bytes, and its schema must be a tree of
/// which the crate can make columns in bounded room.
///
/// # Errors
/// What is wrong with it.
pub(super) fn check_directory(from: impl Read, most: u64) -> Result<(), ParquetError> {
    let damaged = |_| ParquetError::General("its directory is damaged".into());
    let mut compact = Compact { from, left: most };
    let mut last = 0;
    while let Some((id, kind)) = compact.field(last).map_err(damaged)? {
        match (id, kind) {
            (2, 9 | 10) => match compact.elements().map_err(damaged)? {
                (elements, STRUCT) => Tree::default().read(&mut compact, elements)?,
                (elements, kind) => {
                    (0..elements).try_for_each(|_| compact.element(kind, 0)).map_err(damaged)?;
                }
            },
            _ => compact.skip(kind, 1).map_err(damaged)?,
        }
        last = id;
    }
    Ok(())
}

/// A schema's tree, depth first, as far as it has been read.
#[derive(Default)]
struct Tree {
    /// Groups that are open: elements of each that are still to come, and the bytes of its path.
    open: Vec<(u64, usize)>,
    /// Elements of all open groups that are still to come.
    pending: u64,
    /// Bytes of the paths of all columns.
    paths: usize,
}

impl Tree {
    fn read<R: Read>(mut self, compact: &mut Compact<R>, elements: u64) -> Result<(), ParquetError> {
        let damaged = || ParquetError::General("its schema is damaged".into());
        for left in (0..elements).rev() {
            let (name, children) = compact.schema_element().map_err(|_| damaged())?;
            let above = match self.open.last_mut() {
                Some((more, path)) => {
                    *more -= 1;
                    self.pending -= 1;
                    *path
                }
                None if left + 1 == elements => 0,
                None => return refuse("its schema has several roots"),
            };
            let path = above.saturating_add(NAME_BYTES).saturating_add(name);
            let children = u64::try_from(children).map_err(|_| damaged())?;
            if children.checked_add(self.pending).is_none_or(|all| all > left) {
                return refuse("its schema has groups of more columns than there are");
            }
            if children == 0 {
                self.paths = self.paths.saturating_add(path);
            } else if self.open.len() == MAX_LEVELS {
                return refuse(format!("its columns are nested deeper than {MAX_LEVELS} levels"));
            } else {
                self.open.push((children, path));
                self.pending += children;
            }
            if self.paths > MAX_PATHS {
                return refuse(format!("the names of its columns would take up more than {MAX_PATHS} bytes"));
            }
            while self.open.pop_if(|(more, _)| *more == 0).is_some() {}
        }
        Ok(())
    }
}

/// What the header of a page says of its size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct PageHeader {
    /// Bytes of the header itself.
    pub(super) bytes: u64,
    /// Bytes of the page as it is stored.
    pub(super) packed: u64,
    /// Bytes of the page when it is unpacked.
    pub(super) unpacked: u64,
}

impl PageHeader {
    /// Reads a header that may take up `most` bytes.
    ///
    /// # Errors
    /// For what is no header, or has no sizes.
    pub(super) fn read(from: impl Read, most: u64) -> Result<Self, ParquetError> {
        let mut compact = Compact { from, left: most };
        let (mut packed, mut unpacked) = (None, None);
        let mut last = 0;
        while let Some((id, kind)) = compact.field(last)? {
            match (id, kind) {
                (2, 5) => unpacked = u64::try_from(compact.signed()?).ok(),
                (3, 5) => packed = u64::try_from(compact.signed()?).ok(),
                _ => compact.skip(kind, 0)?,
            }
            last = id;
        }
        let bytes = most - compact.left;
        match (packed, unpacked) {
            (Some(packed), Some(unpacked)) => Ok(Self { bytes, packed, unpacked }),
            _ => Err(no_header()),
        }
    }
}

fn no_header() -> ParquetError {
    ParquetError::General("a page has no sound header".into())
}

struct Compact<R> {
    from: R,
    left: u64,
}

impl<R: Read> Compact<R> {
    fn byte(&mut self) -> Result<u8, ParquetError> {
        let mut one = [0];
        self.left = self.left.checked_sub(1).ok_or_else(no_header)?;
        self.from.read_exact(&mut one)?;
        Ok(one[0])
    }

    fn unsigned(&mut self) -> Result<u64, ParquetError> {
        let mut value = 0;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            value |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return Ok(value);
            }
        }
        Err(no_header())
    }

    fn signed(&mut self) -> Result<i64, ParquetError> {
        let zigzag = self.unsigned()?;
        Ok((zigzag >> 1) as i64 ^ -((zigzag & 1) as i64))
    }

    /// Number and type of the next field after field `last`; none at the end of the struct.
    fn field(&mut self, last: i64) -> Result<Option<(i64, u8)>, ParquetError> {
        let byte = self.byte()?;
        match (byte >> 4, byte & 0x0f) {
            (_, 0) => Ok(None),
            (0, kind) => Ok(Some((self.signed()?, kind))),
            (step, kind) => Ok(Some((last.saturating_add(i64::from(step)), kind))),
        }
    }

    fn pass(&mut self, bytes: u64) -> Result<(), ParquetError> {
        self.left = self.left.checked_sub(bytes).ok_or_else(no_header)?;
        let passed = io::copy(&mut self.from.by_ref().take(bytes), &mut io::sink())?;
        if passed == bytes { Ok(()) } else { Err(no_header()) }
    }

    /// Passes over a value; a true or false that is a field stands in its type.
    fn skip(&mut self, kind: u8, depth: usize) -> Result<(), ParquetError> {
        match kind {
            _ if depth > MAX_DEPTH => Err(no_header()),
            1 | 2 => Ok(()),
            3 => self.pass(1),
            4..=6 => self.unsigned().map(|_| ()),
            7 => self.pass(8),
            BINARY => {
                let bytes = self.unsigned()?;
                self.pass(bytes)
            }
            9 | 10 => {
                let (elements, kind) = self.elements()?;
                (0..elements).try_for_each(|_| self.element(kind, depth))
            }
            11 => {
                let pairs = self.unsigned()?;
                let kinds = if pairs == 0 { 0 } else { self.byte()? };
                (0..pairs).try_for_each(|_| {
                    self.element(kinds >> 4, depth)?;
                    self.element(kinds & 0x0f, depth)
                })
            }
            STRUCT => {
                let mut last = 0;
                while let Some((id, kind)) = self.field(last)? {
                    self.skip(kind, depth + 1)?;
                    last = id;
                }
                Ok(())
            }
            _ => Err(no_header()),
        }
    }

    /// How many elements a list has, and of which kind.
    fn elements(&mut self) -> Result<(u64, u8), ParquetError> {
        let byte = self.byte()?;
        let elements = if byte >> 4 == 15 { self.unsigned()? } else { u64::from(byte >> 4) };
        Ok((elements, byte & 0x0f))
    }

    /// Bytes of the name of an element of a schema, and how many elements it is the group of.
    fn schema_element(&mut self) -> Result<(usize, i64), ParquetError> {
        let (mut name, mut children, mut last) = (0, 0, 0);
        while let Some((id, kind)) = self.field(last)? {
            match (id, kind) {
                (4, BINARY) => {
                    let bytes = self.unsigned()?;
                    name = usize::try_from(bytes).map_err(|_| no_header())?;
                    self.pass(bytes)?;
                }
                (5, 5) => children = self.signed()?,
                _ => self.skip(kind, 2)?,
            }
            last = id;
        }
        Ok((name, children))
    }

    /// Passes over an element, which takes up a byte at least, so that a header's end bounds their number.
    fn element(&mut self, kind: u8, depth: usize) -> Result<(), ParquetError> {
        match kind {
            1 | 2 => self.pass(1),
            kind => self.skip(kind, depth + 1),
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_read_and_what_is_around_them_is_passed_over() {
        // type 0, unpacked 300, packed 150, a data page's header with statistics, and a field by its full number.
        let header = [
            0x15, 0x00, 0x15, 0xd8, 0x04, 0x15, 0xac, 0x02, 0x2c, 0x15, 0x14, 0x15, 0x00, 0x15, 0x06, 0x15,
            0x06, 0x1c, 0x18, 0x02, b'a', b'b', 0x11, 0x00, 0x00, 0x09, 0xc8, 0x01, 0x21, 0x01, 0x02, 0x00,
        ];
        let read = |bytes: &[u8], most| PageHeader::read(bytes, most);
        let right = PageHeader { bytes: header.len() as u64, packed: 150, unpacked: 300 };
        assert_eq!(read(&header, 1_000).unwrap(), right);
        for end in 0..header.len() {
            assert!(read(&header[..end], 1_000).is_err() && read(&header, end as u64).is_err(), "{end}");
        }
        // Sizes below zero; a text and a list that are longer than all that is there; structs without end.
        assert!(read(&[0x25, 0x01, 0x15, 0x02, 0x00], 99).is_err());
        assert!(read(&[0x18, 0xff, 0xff, 0xff, 0xff, 0x7f], u64::MAX).is_err());
        assert!(read(&[0x19, 0xf3, 0xff, 0xff, 0xff, 0xff, 0x7f], 99).is_err());
        assert!(read(&[0x1c; 99], 99).is_err());
        // A list of two billion truths, which some readers take to need no bytes.
        assert!(check_directory(&[0x19, 0x21, 0x01, 0x02, 0x00][..], 5).is_ok());
        assert!(check_directory(&[0x19, 0xf1, 0xff, 0xff, 0xff, 0xff, 0x07, 0x00][..], 8).is_err());
    }
}
