//! Values that have names: shells complete them, and what else may be written is told by whoever reads it.

use clap::{
    Arg, Command, Error,
    builder::{PossibleValue, TypedValueParser},
};
use foxhunt_device::DeviceChoice;
use std::ffi::OsStr;

/// Reads a value with `parse`, and offers words to shells.
#[derive(Clone)]
pub(crate) struct Offered<F> {
    words: &'static [&'static str],
    parse: F,
}

/// See [`Offered`].
pub(crate) fn offered<T, F>(words: &'static [&'static str], parse: F) -> Offered<F>
where
    F: Fn(&str) -> Result<T, String> + Clone + Send + Sync + 'static,
{
    Offered { words, parse }
}

/// A device.
pub(crate) fn device() -> impl TypedValueParser<Value = DeviceChoice> {
    offered(&["auto", "cpu", "cuda"], |s: &str| s.parse::<DeviceChoice>())
}

impl<T, F> TypedValueParser for Offered<F>
where
    T: Clone + Send + Sync + 'static,
    F: Fn(&str) -> Result<T, String> + Clone + Send + Sync + 'static,
{
    type Value = T;

    fn parse_ref(&self, command: &Command, arg: Option<&Arg>, value: &OsStr) -> Result<T, Error> {
        TypedValueParser::parse_ref(&self.parse, command, arg, value)
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        Some(Box::new(self.words.iter().map(|word| PossibleValue::new(*word))))
    }
}
