//! Readers: one file per format, each from bytes to [`Rows`](row::Rows) of texts; `table` says what they mean and hands
//! them to the checks, row by row. Nothing holds more than the first rows.

pub(crate) mod columns;
mod compact;
pub(crate) mod dbn;
pub(crate) mod delimited;
mod extra;
pub(crate) mod google;
mod guard;
pub(crate) mod head;
pub(crate) mod header;
pub(crate) mod json;
mod json_text;
pub(crate) mod layout;
pub(crate) mod lines;
pub(crate) mod numbers;
mod pages;
pub(crate) mod parquet;
mod parquet_format;
pub(crate) mod row;
mod symbols;
pub(crate) mod table;
