//! Readers: one file per format, each from bytes to a [`RawTable`](crate::raw::RawTable).

pub(crate) mod columns;
pub(crate) mod delimited;
