//! What every feature is, as a page.

use std::fmt::Write as _;

use crate::set::FeatureSet;

const HEAD: &str = "# Features

What `foxhunt features --list` prints, and a test holds this page to it. `features.set` chooses `standard` (the default, the
first {standard}) or `full` (all {full}); `features.names` takes any by name. An agent sees a row's features once
its bar has closed, normalised to mean 0 and deviation 1 over the training window and kept within 8. Prices are mids: O open, H high, L low, C close; V volume, S spread,
r = ln(C[t] / C[t-1]), t this row. An sd is over n unless it says otherwise. A window counts bars of the timeframe, recursive
averages until their seed.

Bars of a higher timeframe follow the instrument's sessions: a 4-hour bar is four hours of the session day from its start, a
day a session day, a week its days from Monday to Sunday. One counts from the close of the first bar that reaches its end: that is
its own last bar where that closes at the very end, and the first bar after it where a night, a weekend or a gap follows. The
span that the file begins in is left out, and the rows before the first value are the feature's warm-up.

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
