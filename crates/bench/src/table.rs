//! How results are printed: as a line of a table, or as a line of JSON.

use crate::Setting;
use serde::Serialize;

/// The result of a workload.
pub trait Outcome: Serialize {
    /// The workload, as `foxhunt bench` calls it.
    const WORKLOAD: &'static str;

    /// Titles and widths of its columns.
    fn columns() -> Vec<(&'static str, usize)>;

    /// What stands in them.
    fn cells(&self) -> Vec<String>;
}

fn line(cells: impl IntoIterator<Item = (String, usize)>) -> String {
    let cells: Vec<String> = cells.into_iter().map(|(cell, width)| format!("{cell:>width$}")).collect();
    cells.join(" ")
}

/// What "of copy" means, where a table has it.
const OF_COPY: &str = "of copy: what launches read and write by the model, each its buffers once, over the machine's copy rate; beyond 100 % \
                       caches carried a part of it, and the memory did less";

/// The titles of a table, and before them what needs a word.
pub fn header<R: Outcome>() -> String {
    let columns = R::columns();
    let note = if columns.iter().any(|(title, _)| *title == "of copy") {
        format!("{OF_COPY}\n")
    } else {
        String::new()
    };
    note + &line(columns.into_iter().map(|(title, width)| (title.to_owned(), width)))
}

/// A line of it.
pub fn row<R: Outcome>(result: &R) -> String {
    line(result.cells().into_iter().zip(R::columns().into_iter().map(|(_, width)| width)))
}

#[derive(Serialize)]
struct Line<'a, R> {
    workload: &'static str,
    #[serde(flatten)]
    setting: &'a Setting,
    #[serde(flatten)]
    result: &'a R,
}

/// The result as an object of JSON, to be written on one line.
pub fn json<'a, R: Outcome>(setting: &'a Setting, result: &'a R) -> impl Serialize + 'a {
    Line { workload: R::WORKLOAD, setting, result }
}
