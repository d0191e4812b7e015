//! What every feature is, as a page.

use std::fmt::Write as _;

use crate::set::FeatureSet;

const HEAD: &str = "# Features

What `foxhunt features --list` prints, and a test holds this page to it. `features.set` chooses `standard` (the default, the
first {standard}) or `full` (all {full}); `features.names` takes any by name. An agent sees a row's features once
its bar has closed, normalised to mean 0 and deviation 1 over the training window and kept within 8. One that stands still there, or
moves by less than a 50th of its mean, is left out: 0 everywhere, and `train` says so; one that was asked for by name is refused. Prices are mids: O open, H high, L low, C close; V volume, S spread,
r = ln(C[t] / C[t-1]), t this row. An sd is over n unless it says otherwise. A window counts bars of the timeframe, recursive
averages until their seed.

Bars of a higher timeframe follow the instrument's sessions: a 4-hour bar is four hours of the session day from its start, a
day a session day, a week its days from Monday to Sunday. One counts from the close of the first bar that reaches its end: that is
its own last bar where that closes at the very end, and the first bar after it where a night, a weekend or a gap follows. The
span that the file begins in is left out, and the rows before the first value are the feature's warm-up.

## Columns of the file

`features.columns = [\"sentiment\", \"funding\"]`, or `--feature-columns sentiment,funding`, takes columns of the file of bars that
are no part of a bar as features, after the others and by the header's names (`#7` for the seventh column). They are normalised
like the others, on the training window alone, and are columns of `foxhunt features FILE --out X.parquet`; `foxhunt data convert`
keeps those that are named.

- **When a value is known is your statement.** A bar's value is shown to the agent at the bar's close, so it must have been known
  by then: a number that was published, or revised, later is look-ahead that no check here can find. `verify leak` checks that
  nothing earlier depends on later values, and every report says whose statement the rest is.
- **Missing values** (empty, NaN, null, `-`): the last value before holds, however old it is, and `inspect` counts them. Rows
  before the first value are the feature's warm-up. To show an agent how old a value is, give a column that says so.
- Anything else that is no number is refused with file, line and field, as is a number beyond F32.
- A run's `features.columns` is part of its configuration: `backtest RUN --data` and `act RUN --data` need the same columns.

## Computed features

| name | formula | window | timeframe | source | why it is causal |
|---|---|---|---|---|---|
";

/// The page of all features, in Markdown: `docs/features.md`.
pub fn document() -> String {
    let (standard, full) = (FeatureSet::standard(), FeatureSet::full());
    let mut page =
        HEAD.replace("{standard}", &standard.len().to_string()).replace("{full}", &full.len().to_string());
    for s in full.specs() {
        // A bar in a formula would end the cell.
        let formula = s.formula.replace('|', "\\|");
        // Writing to a string doesn't fail.
        let _ = writeln!(
            page,
            "| `{}` | {formula} | {} | {} | {} | {} |",
            s.name,
            s.window,
            s.timeframe.name(),
            s.source,
            s.causal
        );
    }
    page
}
