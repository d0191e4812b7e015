//! What the terminal shows of a backtest: a few metrics of every member beside the baselines, and what stress does.

use crate::Failure;
use foxhunt_ledger::{Ledger, reconcile};
use foxhunt_metrics::{Metric, Named, RETURNS_MIN, Series, Unit, over_members, summary, time_interval};
use foxhunt_report::{MarketLine, PartLine, StressLine, draw::integer, ruin};
use serde_json::Value;

/// Metrics that are shown, and what stands above them.
const SHOWN: [(&str, &str); 7] = [
    ("total_return", "return"),
    ("sharpe_bars", "Sharpe"),
    ("max_drawdown_closes", "drawdown"),
    ("max_drawdown_worst", "within bars"),
    ("turnover", "turnover/yr"),
    ("trip_count", "trips"),
    ("win_rate", "won"),
];

/// A metric as the terminal shows it.
fn value(metric: Metric, unit: Unit) -> String {
    unsigned_zero(match (metric, unit) {
        (Metric::Undefined(_), _) => "undefined".into(),
        (Metric::Value(x), Unit::Share) => format!("{:.2} %", 100.0 * x),
        (Metric::Value(x), Unit::Count) => format!("{x:.0}"),
        (Metric::Value(x), _) => format!("{x:.2}"),
    })
}

/// A number as it is printed, without a sign where it is rounded to nothing.
pub(crate) fn unsigned_zero(text: String) -> String {
    match text.strip_prefix('-') {
        Some(rest) if !rest.contains(|c: char| ('1'..='9').contains(&c)) => rest.to_owned(),
        _ => text,
    }
}

/// The metrics of each member.
fn summaries(ledger: &Ledger) -> Result<Vec<Vec<Named>>, Failure> {
    Ok(reconcile(ledger)?.members.iter().map(|lines| summary(&Series::new(ledger, lines))).collect())
}

/// Mean over members of those for which it is defined.
fn mean(members: &[Vec<Named>], key: &str) -> (Metric, Unit) {
    let figures: Vec<Named> = members.iter().flatten().filter(|n| n.key == key).copied().collect();
    let metrics: Vec<Metric> = figures.iter().map(|n| n.metric).collect();
    let first = metrics.iter().copied().find(|m| m.value().is_some()).or(metrics.first().copied());
    let one = first.unwrap_or(Metric::Undefined(foxhunt_metrics::Undefined::NoTrades));
    let unit = figures.first().map_or(Unit::Ratio, |n| n.unit);
    (over_members(&metrics).map_or(one, |spread| Metric::Value(spread.mean)), unit)
}

/// One policy: its label, its metrics in the order of [`SHOWN`], and what of the window they are of, where not of all.
struct Row {
    label: String,
    cells: Vec<String>,
    end: Option<String>,
}

/// Who was ruined of all members of a ledger.
fn ruined(ledger: &Ledger) -> Option<String> {
    ruin((0..ledger.members()).map(|m| ledger.ruined(m)))
}

/// The means of [`SHOWN`] over members.
fn means(members: &[Vec<Named>]) -> Vec<String> {
    let of = |(key, _): (&str, &str)| {
        let (metric, unit) = mean(members, key);
        value(metric, unit)
    };
    SHOWN.map(of).to_vec()
}

/// A few metrics of every member and of the baselines, a line each, over a window of so many decisions. A baseline of several
/// draws stands with their mean.
pub(crate) fn table(ledger: &Ledger, baselines: &[Ledger], decisions: usize) -> Result<String, Failure> {
    let mut rows = Vec::new();
    let members = summaries(ledger)?;
    for (m, named) in members.iter().enumerate() {
        let of = |(key, _): (&str, &str)| {
            named.iter().find(|n| n.key == key).map(|n| value(n.metric, n.unit)).unwrap_or_default()
        };
        let label = ledger.header.members.get(m).map(|info| info.label.clone()).unwrap_or_default();
        rows.push(Row { label, cells: SHOWN.map(of).to_vec(), end: ruin([ledger.ruined(m as u32)]) });
    }
    for baseline in baselines {
        // Random timing trades what a ruined agent lived.
        let whole = (0..baseline.members()).find(|m| baseline.ruined(*m).is_none());
        let short = whole
            .filter(|_| baseline.header.window.end_ns < ledger.header.window.end_ns)
            .map(|m| format!("over the first {} bars", integer(baseline.bars_of(m).len() as i128 - 1)));
        let end: Vec<String> = short.into_iter().chain(ruined(baseline)).collect();
        rows.push(Row {
            label: baseline.header.baseline.clone().unwrap_or_default(),
            cells: means(&summaries(baseline)?),
            end: (!end.is_empty()).then(|| end.join(", ")),
        });
    }
    let window = &ledger.header.window;
    let mut text = format!("{} window, {decisions} decisions, all costs included\n", window.name);
    if let Some(sessions) = few_sessions(&members) {
        text.push_str(&format!(
            "only {sessions} of the market's sessions: Sharpe and turnover of a year are scaled up from them\n"
        ));
    }
    let widest = rows.iter().map(|r| r.label.chars().count()).max().unwrap_or(0);
    let mut line = |label: &str, cells: &mut dyn Iterator<Item = &str>, end: &str| {
        text.push_str(&format!("{label:<widest$}"));
        cells.for_each(|cell| text.push_str(&format!("{cell:>13}")));
        text.push_str(end);
        text.push('\n');
    };
    line("", &mut SHOWN.iter().map(|(_, heading)| *heading), "");
    for row in &rows {
        // Whoever was ruined has no more decisions: figures above one another are then of stretches of different length.
        let end = row.end.as_ref().map_or_else(String::new, |words| format!("  {words}"));
        line(&row.label, &mut row.cells.iter().map(String::as_str), &end);
    }
    Ok(text)
}

/// How many sessions the longest account lived, where they are too few for an interval over them.
fn few_sessions(members: &[Vec<Named>]) -> Option<u32> {
    let counts =
        members.iter().flatten().filter(|n| n.key == "session_count").filter_map(|n| n.metric.value());
    counts.reduce(f64::max).filter(|n| *n < RETURNS_MIN as f64).map(|n| n as u32)
}

/// The chosen member of each fold on its test window with its interval over time; the mean of all members with that mean's; last the
/// mean over folds with its own.
pub(crate) fn folds(lines: &[PartLine]) -> Result<String, Failure> {
    let mut rows = Vec::new();
    let mut chosen = Vec::new();
    for (number, l) in lines.iter().enumerate() {
        let attribution = reconcile(&l.ledger)?;
        let series: Vec<Series> = attribution.members.iter().map(|own| Series::new(&l.ledger, own)).collect();
        let members: Vec<Vec<Named>> = series.iter().map(summary).collect();
        let own = ruin([l.ledger.ruined(l.member)]);
        rows.push(([format!("{number} {}", window(l)), l.chosen.clone()], cells(&l.ledger, l.member)?, own));
        if let Some(own) = series.get(l.member as usize) {
            let of = |key: &str| time_interval(own, key, l.ledger.header.seed)?.interval.ok();
            rows.push(below("95 % over time", |key| of(key).map(|i| (i.low, i.high))));
        }
        if members.len() > 1 {
            let what = format!("mean of {} members", members.len());
            rows.push(([String::new(), what], means(&members), ruined(&l.ledger)));
            rows.push(below("95 % of that mean", |key| spread(&members, key)));
        }
        chosen.extend(members.into_iter().nth(l.member as usize));
    }
    if chosen.len() > 1 {
        rows.push((["mean".into(), "of the chosen".into()], means(&chosen), None));
        rows.push(below("95 % over folds", |key| spread(&chosen, key)));
    }
    rows.retain(|(_, cells, _)| cells.iter().any(|cell| !cell.is_empty()));
    Ok(under("fold", &rows))
}

/// Student's interval of a figure over members or folds, where two have it.
fn spread(members: &[Vec<Named>], key: &str) -> Option<(f64, f64)> {
    let figures: Vec<Metric> = members.iter().flatten().filter(|n| n.key == key).map(|n| n.metric).collect();
    over_members(&figures).ok().map(|spread| (spread.low, spread.high))
}

fn tenths(x: f64) -> String {
    unsigned_zero(format!("{x:.1}"))
}

/// A row of intervals of the figures that have one over time, which stand for how sure the row above is.
fn below(what: &str, of: impl Fn(&str) -> Option<(f64, f64)>) -> Line {
    let cell = |(key, _): (&str, &str)| {
        let interval = foxhunt_metrics::time_interval_keys().any(|own| own == key).then(|| of(key)).flatten();
        let unit = foxhunt_metrics::named().find(|n| n.key == key).map_or(Unit::Ratio, |n| n.unit);
        match (interval, unit) {
            (None, _) => String::new(),
            (Some((low, high)), Unit::Share) => {
                format!("{}..{} %", tenths(100.0 * low), tenths(100.0 * high))
            }
            (Some((low, high)), _) => format!("{}..{}", tenths(low), tenths(high)),
        }
    };
    ([String::new(), what.into()], SHOWN.map(cell).to_vec(), None)
}

/// The chosen member of each instrument on its test window, with buy and hold below it, and the account through all of them, as
/// `figures.json` has it.
pub(crate) fn markets(lines: &[MarketLine], account: &Value) -> Result<String, Failure> {
    let mut rows = Vec::new();
    // The sum goes on with what is left in the parts that were ruined.
    let lost = |of: &dyn Fn(&MarketLine) -> Option<usize>| {
        let some = lines.iter().filter_map(of).count();
        (some > 0).then(|| format!("{some} of {} ruined", lines.len()))
    };
    for MarketLine { name, part, baselines, .. } in lines {
        rows.push((
            [format!("{name} {}", window(part)), part.chosen.clone()],
            cells(&part.ledger, part.member)?,
            ruin([part.ledger.ruined(part.member)]),
        ));
        if let Some(hold) = baselines.first() {
            rows.push(([String::new(), "buy and hold".into()], cells(hold, 0)?, ruined(hold)));
        }
    }
    let shown = account["shown"].as_str();
    let labelled = |m: &&Value| m["label"].as_str() == shown;
    let members = account["members"].as_array().map_or(&[][..], Vec::as_slice);
    if let (Some(label), Some(member)) = (shown, members.iter().find(labelled)) {
        let parts = lost(&|line| line.part.ledger.ruined(line.part.member));
        rows.push((["all together".into(), label.to_owned()], told(&member["metrics"]), parts));
        if let Some(hold) = account["baselines"].as_array().and_then(|all| all.first()) {
            let parts = lost(&|line| line.baselines.first()?.ruined(0));
            rows.push(([String::new(), "buy and hold".into()], told(&hold["members"][0]["metrics"]), parts));
        }
    }
    let mut text = under("instrument", &rows);
    if let Some(why) = account["none"].as_str() {
        text.push_str(&format!("no account through all instruments: {why}\n"));
    }
    let stress = account["stress"].as_array().map_or(&[][..], Vec::as_slice);
    if !stress.is_empty() {
        text.push_str("total return of all together under stress\n");
    }
    for line in stress {
        let run =
            told(&line["members"][0]["metrics"]).into_iter().next().filter(|_| line["not_run"].is_null());
        text.push_str(&under_stress(line["label"].as_str().unwrap_or_default(), run, None));
    }
    Ok(text)
}

/// Figures of [`SHOWN`] that stand in `figures.json`.
fn told(metrics: &Value) -> Vec<String> {
    let of = |(key, _): (&str, &str)| {
        let unit = foxhunt_metrics::named().find(|n| n.key == key).map_or(Unit::Ratio, |n| n.unit);
        let none = Metric::Undefined(foxhunt_metrics::Undefined::NoTrades);
        value(metrics[key].as_f64().map_or(none, Metric::Value), unit)
    };
    SHOWN.map(of).to_vec()
}

/// First and last day of the test window.
fn window(line: &PartLine) -> String {
    let [from, to] = line.test.map(|ns| foxhunt_data::show_moment(ns).chars().take(10).collect::<String>());
    format!("{from} – {to}")
}

/// The figures of one member, in the order of [`SHOWN`].
fn cells(ledger: &Ledger, member: u32) -> Result<Vec<String>, Failure> {
    let members = summaries(ledger)?;
    let named = members.get(member as usize).map_or(&[][..], Vec::as_slice);
    let cell = |(key, _): (&str, &str)| named.iter().find(|n| n.key == key).map(|n| value(n.metric, n.unit));
    Ok(SHOWN.iter().map(|shown| cell(*shown).unwrap_or_default()).collect())
}

/// Two texts, the figures of [`SHOWN`], and what is said behind them.
type Line = ([String; 2], Vec<String>, Option<String>);

/// Lines below their headings.
fn under(heading: &str, rows: &[Line]) -> String {
    let widest = |k: usize| rows.iter().map(|(h, ..)| h[k].chars().count()).max().unwrap_or(0).max(6) + 2;
    let (first, second) = (widest(0).max(heading.len() + 2), widest(1));
    let mut text = format!("{heading:<first$}{:<second$}", "chosen");
    SHOWN.iter().for_each(|(_, heading)| text.push_str(&format!("{heading:>13}")));
    text.push('\n');
    for ([what, chosen], cells, end) in rows {
        let mut line = format!("{what:<first$}{chosen:<second$}");
        cells.iter().for_each(|cell| line.push_str(&format!("{cell:>13}")));
        if let Some(words) = end {
            line.push_str(&format!("  {words}"));
        }
        text.push_str(line.trim_end());
        text.push('\n');
    }
    text
}

/// Total return under stress, means over members, a line each.
pub(crate) fn stress(lines: &[StressLine]) -> Result<String, Failure> {
    let mut text = String::new();
    if !lines.is_empty() {
        let many = lines.iter().flat_map(|line| &line.ledger).any(|ledger| ledger.members() > 1);
        text.push_str(if many {
            "total return under stress, mean over members\n"
        } else {
            "total return under stress\n"
        });
    }
    for line in lines {
        let run = line.ledger.as_ref().ok().map(|ledger| {
            let (metric, unit) = mean(&summaries(ledger)?, "total_return");
            Ok::<_, Failure>(value(metric, unit))
        });
        let end = line.ledger.as_ref().ok().and_then(ruined);
        text.push_str(&under_stress(&line.label, run.transpose()?, end));
    }
    Ok(text)
}

/// A line under stress, its total return where it was run, and who was ruined.
fn under_stress(label: &str, run: Option<String>, end: Option<String>) -> String {
    let end = end.map_or_else(String::new, |words| format!("  {words}"));
    format!("{:<17}{:>13}{end}\n", label.to_lowercase(), run.unwrap_or_else(|| "not run".to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use foxhunt_ledger::synth::Synth;

    fn calm(members: u32) -> Ledger {
        Synth { bars: 900, members, ..Synth::default() }.ledger()
    }

    #[test]
    fn what_rounds_to_nothing_has_no_sign() {
        let share = |x| value(Metric::Value(x), Unit::Share);
        assert_eq!(
            [share(-0.000_04), share(-0.000_06), share(-0.5)].map(|s| s.replace(" %", "")),
            ["0.00", "-0.01", "-50.00"]
        );
        assert_eq!(value(Metric::Value(-0.4), Unit::Count), "0");
        assert_eq!([tenths(-0.04), tenths(-0.06)], ["0.0", "-0.1"]);
    }

    #[test]
    fn a_few_sessions_are_told() {
        let days = |bars| table(&Synth { bars, members: 1, ..Synth::default() }.ledger(), &[], 1).unwrap();
        assert!(days(48).contains("of the market's sessions: Sharpe"), "{}", days(48));
        assert!(!days(900).contains("of the market's sessions"), "{}", days(900));
    }

    fn wild(members: u32) -> Ledger {
        let of = Synth { seed: 2, bars: 900, members, max_leverage_e4: 300_000, ..Synth::default() };
        Synth { volatility_bp: 60.0, stop_sd: 0.0, ..of }.ledger()
    }

    /// The line that begins so.
    fn line<'a>(text: &'a str, begin: &str) -> &'a str {
        text.lines().find(|l| l.trim_start().starts_with(begin)).unwrap()
    }

    /// Who was ruined is said behind the figures, of several how many; and a baseline that ends with the agent says what it is of.
    #[test]
    fn ruin_is_told_behind_every_line() {
        let (one, mut draws, mut short) = (wild(1), wild(20), calm(1));
        let bar = one.ruined(0).unwrap();
        let count = (0..20).filter(|m| draws.ruined(*m).is_some()).count();
        assert!(count > 0 && calm(1).ruined(0).is_none());
        draws.header.baseline = Some("draws".into());
        short.header.baseline = Some("short".into());
        short.header.window.end_ns -= 1;
        let text = table(&one, &[draws, short, calm(1)], 1_000).unwrap();
        assert!(
            line(&text, &one.header.members[0].label).ends_with(&format!("  ruined at bar {bar}")),
            "{text}"
        );
        assert!(line(&text, "draws").ends_with(&format!("  {count} of 20 ruined")), "{text}");
        assert!(line(&text, "short").ends_with("  over the first 900 bars"), "{text}");
        assert!(!text.lines().last().unwrap().contains("ruined"), "{text}");

        let of = |label: &str, ledger| StressLine {
            key: "k".into(),
            label: label.into(),
            again: true,
            ledger: Ok(ledger),
        };
        let text = stress(&[of("Calm", calm(1)), of("Dear", wild(1)), of("Dearer", wild(20))]).unwrap();
        assert!(line(&text, "calm").ends_with('%'), "{text}");
        assert!(line(&text, "dear ").ends_with(&format!("  ruined at bar {bar}")), "{text}");
        assert!(line(&text, "dearer").ends_with(&format!("  {count} of 20 ruined")), "{text}");
    }

    /// The interval of the mean of all members stands below that mean, not below the chosen one.
    #[test]
    fn a_mean_stands_with_its_interval() {
        let (few, many) = (calm(3), wild(20));
        let member = (0..20).find(|m| many.ruined(*m).is_some()).unwrap();
        let (bar, count) =
            (many.ruined(member).unwrap(), (0..20).filter(|m| many.ruined(*m).is_some()).count());
        let part = |ledger, member| PartLine {
            train: None,
            validation: None,
            test: [0, 1],
            chosen: format!("member {member} after epoch 1"),
            page: String::new(),
            ledger,
            member,
        };
        let all: Vec<Vec<Named>> = summaries(&few).unwrap();
        let expected = means(&all)[0].clone();
        let text = folds(&[part(few, 0), part(many, member)]).unwrap();
        let lines: Vec<&str> = text.lines().collect();
        let at = lines.iter().position(|l| l.contains("mean of 3 members")).unwrap();
        assert!(lines[at].contains(&expected), "{expected}\n{text}");
        assert!(lines[at + 1].trim_start().starts_with("95 % of that mean"), "{text}");
        assert!(lines[at - 1].trim_start().starts_with("95 % over time"), "{text}");
        let own = lines.iter().find(|l| l.contains(&format!("member {member} after epoch 1  "))).unwrap();
        assert!(
            lines.iter().any(|l| l.starts_with("1 ") && l.ends_with(&format!("  ruined at bar {bar}"))),
            "{own}\n{text}"
        );
        assert!(line(&text, "mean of 20 members").ends_with(&format!("  {count} of 20 ruined")), "{text}");
        // Of one member there is no mean.
        assert!(!folds(&[part(calm(1), 0)]).unwrap().contains("mean"));
    }
}
