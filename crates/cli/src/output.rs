//! What is printed: results on standard output, everything else on standard error.

use crate::Failure;
use std::{
    fmt,
    io::{self, ErrorKind, Write},
    sync::{Mutex, PoisonError},
};

/// Prints a line of results; the arguments are those of `println!`. `println!` itself panics where nobody reads.
macro_rules! say {
    ($($what:tt)*) => { $crate::output::line(format_args!($($what)*)) };
}

/// Prints a line for the person at the terminal, if there is one.
macro_rules! note {
    ($($what:tt)*) => { $crate::output::aside(format_args!($($what)*)) };
}

/// A line on standard output.
pub(crate) fn line(what: fmt::Arguments<'_>) -> Result<(), Failure> {
    written(writeln!(io::stdout().lock(), "{what}"))
}

/// Bytes on standard output, as they are.
pub(crate) fn bytes(what: &[u8]) -> Result<(), Failure> {
    let mut out = io::stdout().lock();
    written(out.write_all(what).and_then(|()| out.flush()))
}

fn written(result: io::Result<()>) -> Result<(), Failure> {
    match result {
        Ok(()) => Ok(()),
        Err(e) if e.kind() == ErrorKind::BrokenPipe => Err(Failure::ReaderLeft),
        Err(e) => Err(Failure::Unusable(format!("can't write to standard output: {e}"))),
    }
}

/// Lines for the person at the terminal that wait until the live view is off it.
static HELD: Mutex<Option<Vec<String>>> = Mutex::new(None);

/// From now on lines on standard error wait.
pub(crate) fn hold() {
    HELD.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert_default();
}

/// Prints the lines that waited; those to come don't.
pub(crate) fn release() {
    let held = HELD.lock().unwrap_or_else(PoisonError::into_inner).take();
    held.into_iter().flatten().for_each(|line| aside(format_args!("{line}")));
}

/// A line on standard error. There is nowhere to tell of a failure.
pub(crate) fn aside(what: fmt::Arguments<'_>) {
    if let Some(held) = HELD.lock().unwrap_or_else(PoisonError::into_inner).as_mut() {
        return held.push(what.to_string());
    }
    let _ = writeln!(io::stderr().lock(), "{what}");
}
