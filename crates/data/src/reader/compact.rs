//! Parquet's directory and the headers of its pages, as far as room is made and time is spent by what they say: Thrift's compact
//! protocol, read without trust.

use std::io::{self, Read};

use parquet::errors::ParquetError;

use super::parquet_format::{self as format, Fields, Form};

/// Structs and lists in one another that there may be.
const MAX_DEPTH: usize = 32;

/// Groups in one another that a schema may have: the crate goes down by calls.
const MAX_LEVELS: usize = 32;
/// What the paths of all columns may take up: the crate holds the names of all groups around it for each.
const MAX_PATHS: usize = 16 << 20;
/// What a name in a path takes up beside its bytes.
const NAME_BYTES: usize = 64;
/// Kinds of values in Thrift's compact protocol.
const TRUE: u8 = 1;
const FALSE: u8 = 2;
const BYTE: u8 = 3;
const NUMBER_16: u8 = 4;
const NUMBER_32: u8 = 5;
const NUMBER_64: u8 = 6;
const DOUBLE: u8 = 7;
const BINARY: u8 = 8;
const LIST: u8 = 9;
const SET: u8 = 10;
const MAP: u8 = 11;
const STRUCT: u8 = 12;

fn refuse<T>(problem: impl Into<String>) -> Result<T, ParquetError> {
    Err(ParquetError::General(problem.into()))
}

/// Looks at a directory of at most `most` bytes: every field must be what the format says, no list may have more elements than
/// bytes, and its schema must be a tree of which the crate can make columns in bounded room.
///
/// # Errors
/// What is wrong with it.
pub(super) fn check_directory(from: impl Read, most: u64) -> Result<(), ParquetError> {
    let damaged = |_| ParquetError::General("its directory is damaged".into());
    let mut compact = Compact { from, left: most };
    let mut last = 0;
    while let Some((id, kind)) = compact.field(last).map_err(damaged)? {
        match kind {
            LIST | SET if id == format::FILE_SCHEMA => match compact.elements().map_err(damaged)? {
                (0, _) => {}
                (elements, STRUCT) => Tree::default().read(&mut compact, elements)?,
                _ => return refuse("its directory is damaged"),
            },
            _ => compact.known(format::FILE_META_DATA, id, kind).map(|_| ()).map_err(damaged)?,
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
            let value = compact.known(format::PAGE_HEADER, id, kind)?;
            match id {
                format::PAGE_UNPACKED => unpacked = u64::try_from(value).ok(),
                format::PAGE_PACKED => packed = u64::try_from(value).ok(),
                _ => {}
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
    fn field(&mut self, last: i16) -> Result<Option<(i16, u8)>, ParquetError> {
        let byte = self.byte()?;
        let (id, kind) = match (byte >> 4, byte & 0x0f) {
            (_, 0) => return Ok(None),
            (0, kind) => (i16::try_from(self.signed()?).ok(), kind),
            (step, kind) => (last.checked_add(i16::from(step)), kind),
        };
        id.map(|id| Some((id, kind))).ok_or_else(no_header)
    }

    /// Passes over field `id` of a struct, which must be what the format says. The value of a number, the bytes of a text.
    fn known(&mut self, fields: Fields, id: i16, kind: u8) -> Result<i64, ParquetError> {
        match fields.iter().find(|(known, _)| *known == id) {
            Some((_, form)) => self.value(kind, *form),
            None => self.skip(kind, 0).map(|()| 0),
        }
    }

    fn value(&mut self, kind: u8, form: Form) -> Result<i64, ParquetError> {
        match (form, kind) {
            (Form::Number, NUMBER_16 | NUMBER_32 | NUMBER_64) => return self.signed(),
            (Form::Text, BINARY) => {
                let bytes = self.unsigned()?;
                self.pass(bytes)?;
                return i64::try_from(bytes).map_err(|_| no_header());
            }
            (Form::Truth, TRUE | FALSE) | (Form::Byte, BYTE) | (Form::Double, DOUBLE) => {
                self.skip(kind, 0)?
            }
            (Form::One(fields), STRUCT) => {
                let mut last = 0;
                while let Some((id, kind)) = self.field(last)? {
                    self.known(fields, id, kind)?;
                    last = id;
                }
            }
            (Form::Many(form), LIST | SET) => {
                let (elements, kind) = self.elements()?;
                for _ in 0..elements {
                    self.value(kind, *form)?;
                }
            }
            _ => return Err(no_header()),
        }
        Ok(0)
    }

    fn pass(&mut self, bytes: u64) -> Result<(), ParquetError> {
        self.left = self.left.checked_sub(bytes).ok_or_else(no_header)?;
        let passed = io::copy(&mut self.from.by_ref().take(bytes), &mut io::sink())?;
        if passed == bytes { Ok(()) } else { Err(no_header()) }
    }

    /// Passes over a value of a field that the format does not know; a true or false that is a field stands in its type.
    fn skip(&mut self, kind: u8, depth: usize) -> Result<(), ParquetError> {
        match kind {
            _ if depth > MAX_DEPTH => Err(no_header()),
            TRUE | FALSE => Ok(()),
            BYTE => self.pass(1),
            NUMBER_16 | NUMBER_32 | NUMBER_64 => self.unsigned().map(|_| ()),
            DOUBLE => self.pass(8),
            BINARY => {
                let bytes = self.unsigned()?;
                self.pass(bytes)
            }
            LIST | SET => {
                let (elements, kind) = self.elements()?;
                (0..elements).try_for_each(|_| self.element(kind, depth))
            }
            MAP => {
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
            let value = self.known(format::SCHEMA_ELEMENT, id, kind)?;
            match id {
                format::SCHEMA_NAME => name = usize::try_from(value).map_err(|_| no_header())?,
                format::SCHEMA_CHILDREN => children = value,
                _ => {}
            }
            last = id;
        }
        Ok((name, children))
    }

    /// Passes over an element of an unknown field's list or map. Truths are refused: they take up a byte each, and the crate passes
    /// over them as if they took up none, two billion times if they say so. The format has no list of them in a directory.
    fn element(&mut self, kind: u8, depth: usize) -> Result<(), ParquetError> {
        match kind {
            TRUE | FALSE => Err(no_header()),
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
            0x06, 0x1c, 0x18, 0x02, b'a', b'b', 0x61, 0x00, 0x00, 0x09, 0xc8, 0x01, 0x23, 0x01, 0x02, 0x00,
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
    }

    #[test]
    fn a_directory_is_what_the_format_says() {
        let sound = |bytes: &[u8]| check_directory(bytes, bytes.len() as u64).is_ok();
        // A version; a field and a list that the format does not know; the text of who wrote it.
        assert!(sound(&[0x15, 0x04, 0x00]));
        assert!(sound(&[0xc8, 0x01, b'a', 0x19, 0x23, 0x07, 0x07, 0x00]));
        assert!(sound(&[0x68, 0x01, b'a', 0x00]));
        // A version that is a text, a list or a truth; who wrote it as a number; columns' orders that are numbers.
        for damaged in [
            &[0x18, 0x01, b'a', 0x00][..],
            &[0x19, 0x01, 0x00],
            &[0x11, 0x00],
            &[0x65, 0x02, 0x00],
            &[0x79, 0x15, 0x02, 0x00],
        ] {
            assert!(!sound(damaged), "{damaged:?}");
        }
        // An order that is known, and is no empty struct but a number of 64 bits, which the crate would take for a byte.
        assert!(sound(&[0x79, 0x1c, 0x1c, 0x00, 0x00, 0x00]));
        assert!(!sound(&[0x79, 0x1c, 0x17, 0, 0, 0, 0, 0, 0, 0, 0, 0x00, 0x00]));
        // Truths in a list of an unknown field, few or two billion; in a map; a number of a field that only its last bits make known.
        assert!(!sound(&[0xc9, 0x21, 0x01, 0x02, 0x00]));
        assert!(!sound(&[0xc9, 0xf1, 0xff, 0xff, 0xff, 0xff, 0x07, 0x00]));
        assert!(!sound(&[0xcb, 0x01, 0x11, 0x01, 0x01, 0x00]));
        assert!(sound(&[0x05, 0x7e, 0x02, 0x00]));
        assert!(!sound(&[0x05, 0x84, 0x80, 0x08, 0x02, 0x00]));
    }
}
