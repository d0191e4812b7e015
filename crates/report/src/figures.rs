//! All figures of a report as JSON, for programs: the same ledgers, the same functions, no rounding.

mod detail;

use foxhunt_ledger::MemberAttribution;
use foxhunt_metrics::{
    Drawdown, Metric, Series, TimeInterval, drawdown_closes, drawdown_worst, over_members, time_intervals,
};
use serde_json::{Map, Value, json};

use crate::input::{ReportError, ReportInput};
use crate::view::{Accounts, MemberView, PartView, View, Views};

/// Version of the layout of [`figures`].
pub const FORMAT: u32 = 1;

/// Everything that a report shows in numbers.
///
/// A metric is a number, or `{"undefined": reason}`; never null, NaN or a stand-in. Money is in units of the ledger,
/// 10^-`money_exponent` of the quote currency; what is too large for 64 bits is text. A member that was ruined has `ruined_at_bar`, how
/// many bars it lived: its figures are of these. The two kinds of interval are apart:
/// `over_time` of the agent's
/// middle member, `over_members` of all.
///
/// # Errors
/// As [`render`](crate::render).
pub fn figures(input: &ReportInput<'_>) -> Result<Value, ReportError> {
    let views = Views::new(input)?;
    let header = &views.agent.ledger.header;
    let stress = views.stress.iter().map(|s| {
        let view = s.view.as_deref().map_err(|problem| *problem);
        stress(&s.line.key, &s.line.label, s.line.again, view)
    });
    let baselines = views.baselines.iter().map(|view| {
        let mut line = strategy(view, true);
        line.insert("how".into(), json!(view.own_words(&views.agent.accounts).join(" ")));
        Value::Object(line)
    });
    let folds = views.folds.iter().enumerate().map(|(number, f)| {
        let mut fold = part(f);
        fold.insert("fold".into(), json!(number));
        Value::Object(fold)
    });
    Ok(json!({
        "format": FORMAT,
        "program": header.program,
        "instrument": header.instrument,
        "quote_currency": header.quote_currency,
        "money_exponent": header.money_exponent,
        "start_cash": header.start_cash,
        "window": {
            "name": header.window.name,
            "start_ns": header.window.start_ns,
            "end_ns": header.window.end_ns,
        },
        "data": { "name": header.data.name, "sha256": header.data.sha256 },
        "trials": header.trials,
        "agent": strategy(&views.agent, true),
        "over_time": { "member": views.agent.shown().label, "intervals": over_time(&views.agent) },
        "training": detail::training(input.curves),
        "baselines": baselines.collect::<Vec<_>>(),
        "stress": stress.collect::<Vec<_>>(),
        "folds": folds.collect::<Vec<_>>(),
    }))
}

/// A part of a run: its windows, what was chosen, the figures of its members.
pub(crate) fn part(part: &PartView<'_>) -> Map<String, Value> {
    let window = |[start_ns, end_ns]: [i64; 2]| json!({ "start_ns": start_ns, "end_ns": end_ns });
    let mut out = strategy(&part.view, false);
    out.insert("train".into(), json!(part.line.train.map(window)));
    out.insert("validation".into(), json!(part.line.validation.map(window)));
    out.insert("test".into(), window(part.line.test));
    out.insert("chosen".into(), json!(part.chosen().label));
    let of_time = intervals(&part.chosen().series, part.view.seed);
    out.insert("over_time".into(), json!({ "member": part.chosen().label, "intervals": of_time }));
    out
}

/// A line under stress: its accounts, or why there are none.
pub(crate) fn stress(key: &str, label: &str, again: bool, of: Result<&Accounts, &str>) -> Value {
    let mut line = match of {
        Ok(accounts) => members(accounts, |_, _| {}, false),
        Err(problem) => Map::from_iter([("not_run".to_owned(), json!(problem))]),
    };
    line.insert("key".into(), json!(key));
    line.insert("label".into(), json!(label));
    let how = if again { "policy run again in a closed loop" } else { "recorded decisions" };
    line.insert("how".into(), json!(how));
    Value::Object(line)
}

/// Accounts of no one ledger.
pub(crate) fn accounts(of: &Accounts) -> Map<String, Value> {
    members(of, |member, out| out.extend(detail::of_series(of, member)), true)
}

/// Members of one ledger; `whole` with what is not needed of a stress line.
fn strategy(view: &View<'_>, whole: bool) -> Map<String, Value> {
    members(view, |member, out| out.extend(detail::of_member(view, member)), whole)
}

fn members(
    view: &Accounts,
    more: impl Fn(&MemberView, &mut Map<String, Value>),
    whole: bool,
) -> Map<String, Value> {
    let members = view.members.iter().map(|member| {
        let mut out = Map::from_iter([
            ("label".to_owned(), json!(member.label)),
            ("metrics".to_owned(), metrics(member)),
        ]);
        if let Some(bar) = member.ruined {
            out.insert("ruined_at_bar".into(), json!(bar));
        }
        if whole {
            out.insert("attribution".into(), attribution(&member.lines));
            out.insert("drawdown_closes".into(), drawdown(drawdown_closes(&member.series)));
            out.insert("drawdown_worst".into(), drawdown(drawdown_worst(&member.series)));
            more(member, &mut out);
        }
        Value::Object(out)
    });
    Map::from_iter([
        ("name".to_owned(), json!(view.name)),
        ("members".to_owned(), members.collect()),
        ("over_members".to_owned(), over_all(view)),
    ])
}

fn metric(metric: Metric) -> Value {
    match metric {
        Metric::Value(value) => json!(value),
        Metric::Undefined(reason) => json!({ "undefined": reason.to_string() }),
    }
}

pub(crate) fn metrics(member: &MemberView) -> Value {
    member.summary.iter().map(|named| (named.key.to_owned(), metric(named.metric))).collect()
}

fn money(units: i128) -> Value {
    i64::try_from(units).map_or_else(|_| json!(units.to_string()), |small| json!(small))
}

fn attribution(m: &MemberAttribution) -> Value {
    json!({
        "held": money(m.held),
        "traded_and_delay": money(m.traded + m.delay),
        "delay": money(-m.delay),
        "spread": money(-m.spread),
        "impact": money(-m.impact),
        "fees": money(-m.fees),
        "financing": money(-m.financing),
        "change_in_equity": money(m.total()),
    })
}

fn drawdown(found: Option<Drawdown>) -> Value {
    found.map_or_else(
        || json!({ "undefined": "equity never fell below an earlier peak" }),
        |d| json!({ "depth": d.depth, "start_ns": d.start_ns, "trough_ns": d.trough_ns, "recovery_ns": d.recovery_ns }),
    )
}

/// The stationary block bootstrap of the shown member.
fn over_time(view: &Accounts) -> Value {
    intervals(&view.shown().series, view.seed)
}

fn intervals(series: &Series, seed: u64) -> Value {
    let row = |row: TimeInterval| {
        let value = match row.interval {
            Ok(i) => json!({ "low": i.low, "high": i.high, "level": i.level, "mean_block": i.mean_block,
                             "block_of": if row.of_days { "days" } else { "bars" } }),
            Err(reason) => json!({ "undefined": reason.to_string() }),
        };
        (row.key.to_owned(), value)
    };
    time_intervals(series, seed).into_iter().map(row).collect()
}

/// The spread over members of every metric.
fn over_all(view: &Accounts) -> Value {
    let keys = view.shown().summary.iter().map(|named| named.key);
    keys.map(|key| {
        let value = match over_members(&view.figures(key)) {
            Ok(s) => {
                json!({ "defined": s.defined, "members": s.members, "mean": s.mean, "sd": s.sd, "min": s.min,
                             "max": s.max, "low": s.low, "high": s.high })
            }
            Err(reason) => json!({ "undefined": reason.to_string() }),
        };
        (key.to_owned(), value)
    })
    .collect()
}
