//! A Parquet file whose pages are looked at before the Parquet crate makes room for them. It trusts a page's header, in which a
//! damaged byte can ask for gigabytes.

use bytes::Bytes;
use parquet::{
    basic::{Compression, Encoding, Type as Physical},
    bloom_filter::Sbbf,
    column::page::{Page, PageMetadata, PageReader},
    errors::{ParquetError, Result},
    file::{
        metadata::{ColumnChunkMetaData, ParquetMetaData, RowGroupMetaData},
        reader::{ChunkReader, FileReader, RowGroupReader, SerializedFileReader},
    },
    record::reader::RowIter,
    schema::types::Type,
};

use super::compact::{self, PageHeader};

/// A page may be this large whatever its column says of its size: not all that write Parquet say it right.
const COMMON_BYTES: u64 = 64 << 20;

fn refuse<T>(problem: String) -> Result<T> {
    Err(ParquetError::General(problem))
}

/// The most bytes that a codec makes of so many.
fn most_unpacked(codec: Compression, packed: u64) -> u64 {
    let times = match codec {
        // No room is made by it: the page is taken as it is stored.
        Compression::UNCOMPRESSED => return u64::MAX,
        // A copy of 64 bytes takes up three.
        Compression::SNAPPY => 22,
        // A match of 258 bytes takes up two bits.
        Compression::GZIP(_) => 1_032,
        // A block of 128 KiB takes up four.
        _ => 1 << 15,
    };
    packed.saturating_mul(times).saturating_add(1 << 10)
}

/// The first byte of a column's pages, and how many there are, as the directory has them.
pub(super) fn place(column: &ColumnChunkMetaData) -> Option<(u64, u64)> {
    let start = column.dictionary_page_offset().unwrap_or(column.data_page_offset());
    u64::try_from(start).ok().zip(u64::try_from(column.compressed_size()).ok())
}

/// Looks at the directory at the end of a file: the Parquet crate goes through as many elements as a list says that it has, makes room
/// for as many columns as a group says that it has, and goes down into groups without a bound.
pub(super) fn check_directory<R: ChunkReader>(file: &R) -> Result<()> {
    let Some(tail) = file.len().checked_sub(8) else { return refuse("it is too short".into()) };
    let last = file.get_bytes(tail, 8)?;
    let Some((length, b"PAR1")) = last.split_first_chunk() else {
        return refuse("it does not end like Parquet: it is cut short, or encrypted".into());
    };
    let length = u64::from(u32::from_le_bytes(*length));
    let Some(start) = tail.checked_sub(length) else {
        return refuse("its directory is longer than the file".into());
    };
    compact::check_directory(file.get_read(start)?, length)
}

/// Looks at the header of each page of a column: none may be larger, packed or unpacked, than its column and its codec can have it.
fn check<R: ChunkReader>(file: &R, column: &ColumnChunkMetaData) -> Result<()> {
    let Some((mut at, mut left)) = place(column) else { return refuse("a column has no place".into()) };
    let declared = u64::try_from(column.uncompressed_size()).unwrap_or(0);
    while left > 0 {
        let header = PageHeader::read(file.get_read(at)?, left)?;
        let PageHeader { bytes, packed, unpacked } = header;
        at += bytes;
        left -= bytes;
        if packed > left {
            return refuse(format!("a page of {packed} bytes is in a place of {left}"));
        }
        let most = most_unpacked(column.compression(), packed).min(declared.max(COMMON_BYTES));
        if unpacked > most {
            return refuse(format!(
                "a page of {packed} bytes would unpack to {unpacked}, and can to {most} at most"
            ));
        }
        at += packed;
        left -= packed;
    }
    Ok(())
}

/// The file.
pub(super) struct Bounded<R: ChunkReader> {
    inner: SerializedFileReader<R>,
    file: R,
}

impl<R: ChunkReader + 'static> Bounded<R> {
    /// `file` is what `inner` reads.
    pub(super) fn new(inner: SerializedFileReader<R>, file: R) -> Self {
        Self { inner, file }
    }
}

impl<R: ChunkReader + 'static> FileReader for Bounded<R> {
    fn metadata(&self) -> &ParquetMetaData {
        self.inner.metadata()
    }

    fn num_row_groups(&self) -> usize {
        self.inner.num_row_groups()
    }

    fn get_row_group(&self, i: usize) -> Result<Box<dyn RowGroupReader + '_>> {
        Ok(Box::new(Group { inner: self.inner.get_row_group(i)?, file: &self.file }))
    }

    fn get_row_iter(&self, projection: Option<Type>) -> Result<RowIter<'_>> {
        RowIter::from_file(projection, self)
    }
}

struct Group<'a, R: ChunkReader> {
    inner: Box<dyn RowGroupReader + 'a>,
    file: &'a R,
}

impl<R: ChunkReader> RowGroupReader for Group<'_, R> {
    fn metadata(&self) -> &RowGroupMetaData {
        self.inner.metadata()
    }

    fn num_columns(&self) -> usize {
        self.inner.num_columns()
    }

    fn get_column_page_reader(&self, i: usize) -> Result<Box<dyn PageReader>> {
        let column = self.metadata().column(i);
        check(self.file, column)?;
        Ok(Box::new(Pages {
            inner: self.inner.get_column_page_reader(i)?,
            physical: column.column_type(),
            nullable: column.column_descr().max_def_level() > 0,
            most: u64::try_from(column.num_values()).unwrap_or(0),
        }))
    }

    fn get_column_bloom_filter(&self, i: usize) -> Option<&Sbbf> {
        self.inner.get_column_bloom_filter(i)
    }

    fn get_row_iter(&self, projection: Option<Type>) -> Result<RowIter<'_>> {
        RowIter::from_row_group(projection, self)
    }
}

/// The pages of a column, none of which has more values than its column, or than its bytes can hold.
struct Pages {
    inner: Box<dyn PageReader>,
    physical: Physical,
    nullable: bool,
    /// Values of the column.
    most: u64,
}

impl Pages {
    fn check(&self, page: &Page) -> Result<()> {
        let values = u64::from(page.num_values());
        let bytes = page.buffer().len() as u64;
        let most = match page {
            Page::DictionaryPage { .. } => bytes / least_bytes(self.physical),
            Page::DataPage { .. } | Page::DataPageV2 { .. } => self.most,
        };
        if values > most {
            return refuse(format!("a page says that it has {values} values, and can have {most} at most"));
        }
        let (Encoding::DELTA_LENGTH_BYTE_ARRAY | Encoding::DELTA_BYTE_ARRAY) = page.encoding() else {
            return Ok(());
        };
        // Lengths of texts are counted by the page's own bytes.
        let lengths = self.after_levels(page).and_then(|bytes| after_deltas(bytes, values));
        let sound = match page.encoding() {
            Encoding::DELTA_BYTE_ARRAY => lengths.and_then(|bytes| after_deltas(bytes, values)),
            _ => lengths,
        };
        if sound.is_some() { Ok(()) } else { refuse("a page has texts whose lengths are not sound".into()) }
    }

    /// A data page's values: what comes after the levels that tell which are there.
    fn after_levels<'a>(&self, page: &'a Page) -> Option<&'a [u8]> {
        let bytes: &Bytes = page.buffer();
        match page {
            Page::DataPageV2 { def_levels_byte_len, rep_levels_byte_len, .. } => {
                bytes.get((*def_levels_byte_len as usize).checked_add(*rep_levels_byte_len as usize)?..)
            }
            Page::DataPage { def_level_encoding: Encoding::RLE, .. } if self.nullable => {
                let length = u32::from_le_bytes(*bytes.first_chunk()?) as usize;
                bytes.get(4..)?.get(length..)
            }
            // The other encoding has a bit for each value.
            Page::DataPage { num_values, .. } if self.nullable => {
                bytes.get((*num_values as usize).div_ceil(8)..)
            }
            _ => Some(bytes),
        }
    }
}

/// The fewest bytes of a value of a dictionary.
fn least_bytes(physical: Physical) -> u64 {
    match physical {
        Physical::INT64 | Physical::DOUBLE => 8,
        Physical::INT96 => 12,
        Physical::BOOLEAN | Physical::FIXED_LEN_BYTE_ARRAY => 1,
        // Texts have their length before them.
        Physical::INT32 | Physical::FLOAT | Physical::BYTE_ARRAY => 4,
    }
}

/// What follows a run of integers in Parquet's DELTA_BINARY_PACKED, which has at most `most` of them.
fn after_deltas(mut bytes: &[u8], most: u64) -> Option<&[u8]> {
    let (block, minis, values) = (varint(&mut bytes)?, varint(&mut bytes)?, varint(&mut bytes)?);
    varint(&mut bytes)?;
    let each = block.checked_div(minis)?;
    if values > most || each == 0 {
        return None;
    }
    let mut left = values.saturating_sub(1);
    while left > 0 {
        varint(&mut bytes)?;
        let widths;
        (widths, bytes) = bytes.split_at_checked(usize::try_from(minis).ok()?)?;
        for &width in widths {
            if left == 0 {
                break;
            }
            let packed = each.checked_mul(u64::from(width))?.div_ceil(8);
            // The crate reads a last block that was cut short.
            bytes = bytes.get(usize::try_from(packed).ok()?.min(bytes.len())..)?;
            left = left.saturating_sub(each);
        }
    }
    Some(bytes)
}

fn varint(bytes: &mut &[u8]) -> Option<u64> {
    let mut value = 0;
    for shift in (0..64).step_by(7) {
        let (byte, rest) = bytes.split_first()?;
        *bytes = rest;
        value |= u64::from(byte & 0x7f) << shift;
        if *byte < 0x80 {
            return Some(value);
        }
    }
    None
}

impl Iterator for Pages {
    type Item = Result<Page>;

    fn next(&mut self) -> Option<Result<Page>> {
        self.get_next_page().transpose()
    }
}

impl PageReader for Pages {
    fn get_next_page(&mut self) -> Result<Option<Page>> {
        let page = self.inner.get_next_page()?;
        page.iter().try_for_each(|page| self.check(page))?;
        Ok(page)
    }

    fn peek_next_page(&mut self) -> Result<Option<PageMetadata>> {
        self.inner.peek_next_page()
    }

    fn skip_next_page(&mut self) -> Result<()> {
        self.inner.skip_next_page()
    }

    fn at_record_boundary(&mut self) -> Result<bool> {
        self.inner.at_record_boundary()
    }
}
