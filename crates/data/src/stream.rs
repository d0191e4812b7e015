//! Bars one after the other, of files of any size: nothing is held that grows with the rows.

use std::{
    fs::{File, Metadata},
    io::Seek,
    path::Path,
    time::SystemTime,
};

use bytes::Bytes;

use crate::{
    bars::Bar,
    checks::{Finisher, GridRow, Settled, Sink, Sorter, Survey},
    error::DataError,
    extra::hold,
    heading::Heading,
    load::{LoadOptions, read_rows},
    open::{self, Stored, Sum},
    sample,
};

/// Files of bars of one instrument, in order of time, that are read anew for each look at their bars.
///
/// Opening reads a file once for its hash and once for what must be known of all its rows (bar length, the grid of mids, whether
/// opens are made); [`each`](Self::each) reads it again. Rows out of order are sorted in a temporary file.
pub struct BarStream {
    parts: Vec<Part>,
    heading: Heading,
}

/// One file.
struct Part {
    path: String,
    content: Content,
    /// Options under which rows are read as they were when they were settled.
    options: LoadOptions,
    settled: Settled,
    /// The rows, where the file has them out of order.
    sorted: Option<Sorter>,
}

/// What is read more than once.
enum Content {
    /// A file on disk, with its size and time when it was opened.
    File(File, (u64, Option<SystemTime>)),
    Bytes(Bytes),
}

fn stamp(metadata: &Metadata) -> (u64, Option<SystemTime>) {
    (metadata.len(), metadata.modified().ok())
}

impl Content {
    /// The bytes from their beginning.
    fn stored(&mut self, path: &str) -> Result<Stored, DataError> {
        match self {
            Self::Bytes(bytes) => Ok(Stored::Bytes(bytes.clone())),
            Self::File(file, _) => {
                let again = file.rewind().and_then(|()| file.try_clone());
                again.map(Stored::File).map_err(|source| DataError::Io { path: path.into(), source })
            }
        }
    }

    /// Refuses a file that was written to since it was opened: its bars would be no one's.
    fn unchanged(&self, path: &str) -> Result<(), DataError> {
        match self {
            Self::File(file, before) if file.metadata().ok().is_none_or(|now| stamp(&now) != *before) => {
                let fix = "start again when nothing writes to it any more";
                Err(DataError::file(path, "was changed while it was read", fix))
            }
            _ => Ok(()),
        }
    }
}

impl BarStream {
    /// Looks a file over.
    ///
    /// # Errors
    /// As [`load`](crate::load); and where rows out of order find no room in the folder of temporary files.
    pub fn open(path: impl AsRef<Path>, options: &LoadOptions) -> Result<Self, DataError> {
        let path = path.as_ref();
        let name = path.display().to_string();
        let failed = |source| DataError::Io { path: name.as_str().into(), source };
        let (file, sum) = open::summed(path)?;
        let before = stamp(&file.metadata().map_err(failed)?);
        Self::of(&name, Content::File(file, before), sum, options)
    }

    /// Looks the bytes of a file over, under the name `path`.
    ///
    /// # Errors
    /// As [`open`](Self::open).
    pub fn from_bytes(path: &str, bytes: Vec<u8>, options: &LoadOptions) -> Result<Self, DataError> {
        let sum = Sum::Known(open::sha256(&bytes));
        Self::of(path, Content::Bytes(bytes.into()), sum, options)
    }

    /// The embedded sample.
    ///
    /// # Errors
    /// None: the bytes are fixed when the program is built.
    pub fn sample() -> Result<Self, DataError> {
        let (path, bytes, options) = sample::source();
        Self::from_bytes(path, bytes, &options)
    }

    fn of(path: &str, mut content: Content, sum: Sum, options: &LoadOptions) -> Result<Self, DataError> {
        let mut survey = Survey::new(path);
        let rows = read_rows(path, content.stored(path)?, options, &mut survey)?;
        let mut same = options.clone();
        same.instrument = Some(rows.intake.instrument.clone());
        same.symbol = rows.intake.symbol.clone().or(same.symbol);
        let mut sorted = None;
        if rows.intake.is_disordered() {
            let mut sorter = Sorter::new(path);
            read_rows(path, content.stored(path)?, &same, &mut sorter)?;
            survey.begin(rows.bar_seconds);
            sorter.each(&mut |row| survey.take(row))?;
            sorted = Some(sorter);
        }
        content.unchanged(path)?;
        let settled = survey.settle(rows.intake, rows.understood, options, sum.text())?;
        let heading = settled.heading.clone();
        let part = Part { path: path.to_owned(), content, options: same, settled, sorted };
        Ok(Self { parts: vec![part], heading })
    }

    /// These bars and then `next`, later bars of the same instrument, as [`Bars::append`](crate::Bars::append) has it.
    ///
    /// # Errors
    /// [`DataError::File`] for another instrument, kind of bars or order in time.
    pub fn append(mut self, next: Self) -> Result<Self, DataError> {
        self.heading.append(next.heading)?;
        self.parts.extend(next.parts);
        Ok(self)
    }

    /// What holds for all bars.
    pub fn heading(&self) -> &Heading {
        &self.heading
    }

    /// Hands every bar to `take`, in order of time.
    ///
    /// # Errors
    /// Those of `take`, those of reading, and [`DataError::File`] for a file that was changed since it was opened.
    pub fn each(&mut self, mut take: impl FnMut(&Bar) -> Result<(), DataError>) -> Result<(), DataError> {
        // What an extra column says last in one file holds into the next.
        let mut held = vec![f64::NAN; self.heading.extra.len()];
        let mut take_held = |bar: &Bar| {
            if held.is_empty() {
                return take(bar);
            }
            let mut bar = bar.clone();
            for (last, value) in held.iter_mut().zip(&mut bar.extra) {
                *value = hold(last, *value);
            }
            take(&bar)
        };
        self.parts.iter_mut().try_for_each(|part| part.each(&mut take_held))
    }
}

impl Part {
    fn each(&mut self, take: &mut dyn FnMut(&Bar) -> Result<(), DataError>) -> Result<(), DataError> {
        let mut making = Making { finisher: Finisher::new(&self.settled), take };
        match &mut self.sorted {
            Some(sorter) => sorter.each(&mut |row| making.take(row))?,
            None => {
                self.content.unchanged(&self.path)?;
                let stored = self.content.stored(&self.path)?;
                read_rows(&self.path, stored, &self.options, &mut making)?;
                self.content.unchanged(&self.path)?;
            }
        }
        let Making { finisher, take } = making;
        finisher.last().map_or(Ok(()), |bar| take(&bar))
    }
}

/// Makes bars of rows in order.
struct Making<'a> {
    finisher: Finisher<'a>,
    take: &'a mut dyn FnMut(&Bar) -> Result<(), DataError>,
}

impl Sink for Making<'_> {
    fn begin(&mut self, _: Option<i64>) {}

    fn take(&mut self, row: &GridRow) -> Result<(), DataError> {
        self.finisher.push(row).map_or(Ok(()), |bar| (self.take)(&bar))
    }
}
