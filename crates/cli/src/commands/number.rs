//! Numbers of the command line: what is wrong with one is told with what it may be.

use std::{fmt::Display, ops::RangeInclusive, str::FromStr};

/// Takes a whole number of a range.
pub(crate) fn whole<T>(range: RangeInclusive<T>) -> impl Fn(&str) -> Result<T, String> + Clone + Send + Sync
where
    T: FromStr + PartialOrd + Display + Clone + Send + Sync,
{
    move |text| {
        let number = text.parse().ok().filter(|x| range.contains(x));
        number.ok_or_else(|| format!("give a whole number from {} to {}", range.start(), range.end()))
    }
}

/// Takes a whole number; which ones make sense is the configuration's to say.
pub(crate) fn any<T: FromStr>(text: &str) -> Result<T, String> {
    text.parse().map_err(|_| "give a whole number, such as 30".to_owned())
}

/// Takes a seed. TOML's integers end at 2^63 - 1, and the seed must come back from the run's config.toml.
pub(crate) fn seed(text: &str) -> Result<u64, String> {
    whole(0..=i64::MAX as u64)(text)
}
