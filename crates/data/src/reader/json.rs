//! JSON: an array of rows (arrays or objects) at any depth, one object a line, objects under their stamps, or columns in
//! arrays. Rows stream; columns in arrays have to be held.

use std::io::Read;

use super::{
    json_text::{Piece, Pieces},
    row::{Facts, Row, Rows},
};
use crate::{error::DataError, open::Origin, stamp};

/// Tables are a few levels deep.
const MAX_DEPTH: usize = 64;
/// Values of columns in arrays that are held, some gigabytes.
const MAX_HELD_VALUES: usize = 100_000_000;

/// Rows of JSON.
pub(crate) struct Json {
    pieces: Pieces,
    stack: Vec<Frame>,
    /// The name before the next value.
    name: Option<String>,
    /// Names of the first object's values; later objects are read by them.
    names: Option<Row>,
    width: usize,
    /// The first row, which is read when the file is opened.
    first: Option<Found>,
    /// Columns in arrays, and the row that is next.
    held: Vec<(String, Vec<String>)>,
    held_values: usize,
    /// There are no rows but columns.
    columnar: bool,
    at: usize,
}

/// An object or array that is being read.
struct Frame {
    is_array: bool,
    /// The name that it stands under.
    name: Option<String>,
    /// Names of an object's values.
    names: Vec<String>,
    values: Vec<String>,
    /// It holds objects or arrays, and is no row.
    nested: bool,
}

/// A row as it stands.
struct Found {
    line: u64,
    /// Names, for objects.
    names: Option<Vec<String>>,
    values: Vec<String>,
}

/// Reads up to the first row.
pub(crate) fn open(reader: Box<dyn Read>, origin: Origin) -> Result<(Json, Facts), DataError> {
    let mut json = Json {
        pieces: Pieces::new(reader, origin),
        stack: Vec::new(),
        name: None,
        names: None,
        width: 0,
        first: None,
        held: Vec::new(),
        held_values: 0,
        columnar: false,
        at: 0,
    };
    json.first = json.find()?;
    let mut facts = Facts::default();
    match &json.first {
        Some(Found { line, names: Some(names), .. }) => {
            facts.format = "JSON, rows are objects".into();
            json.names = Some(row_of(*line, names));
        }
        Some(found) => {
            facts.format = "JSON, rows are arrays".into();
            json.width = found.values.len();
        }
        None => {
            // The length that most columns have: others are no columns of the table.
            let lengths: Vec<usize> = json.held.iter().map(|(_, v)| v.len()).collect();
            let count = |n: usize| lengths.iter().filter(|&&l| l == n).count();
            let length = lengths.iter().copied().max_by_key(|&n| (count(n), n)).unwrap_or(0);
            json.held.retain(|(_, values)| values.len() == length);
            if json.held.is_empty() {
                return Err(json.pieces.refuse("has no rows of bars"));
            }
            facts.format = "JSON, columns in arrays".into();
            json.columnar = true;
            let names: Vec<String> = json.held.iter().map(|(name, _)| name.clone()).collect();
            json.names = Some(row_of(1, &names));
        }
    }
    facts.names = json.names.clone();
    Ok((json, facts))
}

fn row_of(line: u64, cells: &[String]) -> Row {
    let mut row = Row::default();
    row.start(line);
    cells.iter().for_each(|c| row.push(c));
    row
}

impl Json {
    /// Reads on to the next row; `None` at the end.
    fn find(&mut self) -> Result<Option<Found>, DataError> {
        while let Some(piece) = self.pieces.next()? {
            match piece {
                Piece::Name(name) => self.name = Some(name),
                Piece::Value(value) => self.value(value)?,
                Piece::Mark(mark @ (b'{' | b'[')) => {
                    if self.stack.len() >= MAX_DEPTH {
                        return Err(self.pieces.refuse("is nested too deep"));
                    }
                    if let Some(parent) = self.stack.last_mut() {
                        parent.nested = true;
                        parent.values.clear();
                    }
                    let name = self.name.take();
                    let (names, values) = (Vec::new(), Vec::new());
                    self.stack.push(Frame { is_array: mark == b'[', name, names, values, nested: false });
                }
                Piece::Mark(mark) => {
                    let closed = self.stack.pop().filter(|f| f.is_array == (mark == b']'));
                    let Some(closed) = closed else {
                        return Err(self.pieces.refuse("closes what is not open"));
                    };
                    if let Some(found) = self.close(closed) {
                        return Ok(Some(found));
                    }
                }
            }
        }
        if self.stack.is_empty() { Ok(None) } else { Err(self.pieces.refuse("is cut short")) }
    }

    fn value(&mut self, value: String) -> Result<(), DataError> {
        let name = self.name.take();
        let Some(frame) = self.stack.last_mut() else {
            return Err(self.pieces.refuse("is a value and no table"));
        };
        match (frame.is_array, name) {
            (false, Some(name)) => frame.names.push(name),
            (true, None) => {}
            _ => return Err(self.pieces.refuse("has a value without a name, or a name in an array")),
        }
        self.held_values += 1;
        if self.held_values > MAX_HELD_VALUES {
            let problem = "has more values in one array than are held";
            return Err(self.pieces.refuse(problem));
        }
        frame.values.push(value);
        Ok(())
    }

    /// What a closed object or array is: a row, a column, or neither.
    fn close(&mut self, frame: Frame) -> Option<Found> {
        let in_array = self.stack.last().is_some_and(|f| f.is_array);
        self.held_values = self.held_values.saturating_sub(if frame.nested { 0 } else { frame.values.len() });
        if frame.nested {
            return None;
        }
        let line = self.pieces.line;
        if !frame.is_array {
            let stamp = frame.name.filter(|name| stamp::looks_like_stamp(name));
            let is_row = in_array || self.stack.is_empty() || stamp.is_some();
            let (mut names, mut values) = (frame.names, frame.values);
            if let Some(stamp) = stamp {
                names.insert(0, "timestamp".into());
                values.insert(0, stamp);
            }
            return (is_row && names.len() > 1).then_some(Found { line, names: Some(names), values });
        }
        if in_array {
            return (!frame.values.is_empty()).then_some(Found { line, names: None, values: frame.values });
        }
        if let Some(name) = frame.name.filter(|_| !frame.values.is_empty()) {
            self.held_values += frame.values.len();
            self.held.push((name, frame.values));
        }
        None
    }

    fn fill(&self, found: &Found, row: &mut Row) -> Result<(), DataError> {
        row.start(found.line);
        match (&self.names, &found.names) {
            (Some(names), Some(own)) => {
                let value = |i: usize, name: &str| {
                    // Objects of a file mostly have one order.
                    let at = Some(i).filter(|&i| own.get(i).is_some_and(|n| n == name));
                    at.or_else(|| own.iter().position(|n| n == name)).map(|at| found.values[at].as_str())
                };
                let mut known = 0;
                for (i, name) in names.cells().enumerate() {
                    let cell = value(i, name);
                    known += usize::from(cell.is_some());
                    row.push(cell.unwrap_or_default());
                }
                if known < 2 {
                    return Err(self.pieces.refuse("has an object with other names than the first"));
                }
            }
            (None, None) if found.values.len() == self.width => found.values.iter().for_each(|v| row.push(v)),
            (None, None) => {
                let problem =
                    format!("has a row of {} values, and the first has {}", found.values.len(), self.width);
                return Err(self.pieces.refuse(problem));
            }
            _ => return Err(self.pieces.refuse("has rows that are arrays and rows that are objects")),
        }
        Ok(())
    }
}

impl Rows for Json {
    fn next(&mut self, row: &mut Row) -> Result<bool, DataError> {
        if self.columnar {
            if self.held.first().is_none_or(|(_, column)| self.at == column.len()) {
                return Ok(false);
            }
            self.at += 1;
            row.start(self.at as u64);
            self.held.iter().for_each(|(_, values)| row.push(&values[self.at - 1]));
            return Ok(true);
        }
        let found = match self.first.take() {
            Some(first) => Some(first),
            None => self.find()?,
        };
        match found {
            Some(found) => self.fill(&found, row).map(|()| true),
            None => Ok(false),
        }
    }
}
