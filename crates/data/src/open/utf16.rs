//! UTF-16 text, as spreadsheets save "Unicode text", to UTF-8 while it is read.

use std::io::{self, BufReader, ErrorKind, Read};

/// Turns a stream of UTF-16 (with its byte order mark) into UTF-8.
pub(super) struct Utf16 {
    reader: BufReader<Box<dyn Read>>,
    big: bool,
    /// UTF-8 that no one has read yet.
    ready: Vec<u8>,
    at: usize,
    /// The first half of a pair.
    high: Option<u16>,
}

impl Utf16 {
    pub(super) fn new(reader: Box<dyn Read>, big: bool) -> Self {
        Self { reader: BufReader::new(reader), big, ready: Vec::new(), at: 0, high: None }
    }

    /// The next code unit, or `None` at the end.
    fn unit(&mut self) -> io::Result<Option<u16>> {
        let mut two = [0; 2];
        let mut n = 0;
        while n < 2 {
            match self.reader.read(&mut two[n..])? {
                0 if n == 0 => return Ok(None),
                0 => {
                    return Err(io::Error::new(ErrorKind::InvalidData, "half a UTF-16 character at the end"));
                }
                k => n += k,
            }
        }
        Ok(Some(if self.big { u16::from_be_bytes(two) } else { u16::from_le_bytes(two) }))
    }
}

impl Read for Utf16 {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.at == self.ready.len() {
            (self.at, self.ready) = (0, Vec::new());
            while self.ready.len() < buffer.len() {
                let Some(unit) = self.unit()? else { break };
                let units = [self.high.take().unwrap_or(unit), unit];
                let pair = if units[0] == unit && !(0xd800..0xdc00).contains(&unit) {
                    &units[1..]
                } else if units[0] == unit {
                    self.high = Some(unit);
                    continue;
                } else {
                    &units[..]
                };
                let text: String = char::decode_utf16(pair.iter().copied())
                    .collect::<Result<_, _>>()
                    .map_err(|_| io::Error::new(ErrorKind::InvalidData, "a broken UTF-16 pair"))?;
                // The mark says how the text is stored and is no part of it.
                self.ready.extend(text.trim_start_matches('\u{feff}').bytes());
            }
            if self.ready.is_empty() && self.high.is_some() {
                return Err(io::Error::new(ErrorKind::InvalidData, "half a UTF-16 pair at the end"));
            }
        }
        let n = (self.ready.len() - self.at).min(buffer.len());
        buffer[..n].copy_from_slice(&self.ready[self.at..self.at + n]);
        self.at += n;
        Ok(n)
    }
}
