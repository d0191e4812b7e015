//! What the sections below the summary show: months, drawdowns, moving Sharpe ratio, trades, training.

use foxhunt_ledger::{Leg, OrderEnd};
use foxhunt_metrics::{drawdowns, month_returns, rolling_sharpe};
use serde_json::{Map, Value, json};

use super::drawdown;
use crate::chart::rolling_window;
use crate::input::LearningCurve;
use crate::section::WORST;
use crate::view::{Accounts, MemberView, View};

/// More of one member, as far as its series goes.
pub(super) fn of_series(view: &Accounts, member: &MemberView) -> Map<String, Value> {
    let series = &member.series;
    let undefined = |reason: foxhunt_metrics::Undefined| json!({ "undefined": reason.to_string() });
    let months = month_returns(series).map_or_else(undefined, |months| {
        let one =
            |m: &foxhunt_metrics::MonthReturn| json!({ "year": m.year, "month": m.month, "return": m.value });
        months.iter().map(one).collect()
    });
    let window = rolling_window(view);
    let rolling = rolling_sharpe(series, window).map_or_else(undefined, |points| {
        let (ns, values): (Vec<i64>, Vec<f64>) = points.into_iter().unzip();
        json!({ "window_days": window, "time_ns": ns, "sharpe": values })
    });
    let worst: Vec<Value> = drawdowns(series).into_iter().take(WORST).map(|d| drawdown(Some(d))).collect();
    let (day_ends, day_returns) = (series.day_ends_ns(), series.day_returns());
    let days =
        day_returns.map_or_else(undefined, |returns| json!({ "time_ns": day_ends, "return": returns }));
    let costs = member.lines.spread + member.lines.impact + member.lines.fees;
    let per_notional = match series.traded_notional {
        0 => json!({ "undefined": "nothing was traded" }),
        notional => json!(costs as f64 / notional as f64),
    };
    let trips: Vec<Value> = series.trips.iter().map(|trip| super::money(trip.net)).collect();
    Map::from_iter([
        ("months".to_owned(), months),
        ("day_returns".to_owned(), days),
        ("rolling_sharpe".to_owned(), rolling),
        ("worst_drawdowns".to_owned(), json!(worst)),
        ("costs_per_notional".to_owned(), per_notional),
        ("trip_nets".to_owned(), json!(trips)),
    ])
}

/// More of one member of a ledger.
pub(super) fn of_member(view: &View<'_>, member: &MemberView) -> Map<String, Value> {
    let (fills, rows) = (view.ledger.fills_of(member.lines.member), view.ledger.bars_of(member.lines.member));
    let legs: Map<String, Value> = Leg::ALL
        .iter()
        .map(|&leg| {
            let of_leg = || fills.iter().filter(move |fill| fill.leg == leg);
            let lots: i64 = of_leg().map(|fill| i64::from(fill.lots.unsigned_abs())).sum();
            let fees: i128 = of_leg().map(|fill| i128::from(fill.fee)).sum();
            (name(leg), json!({ "fills": of_leg().count(), "lots": lots, "fees": super::money(fees) }))
        })
        .collect();
    let decided = rows.get(1..).unwrap_or(&[]);
    let count = |end: OrderEnd| decided.iter().filter(|row| row.order_end == end).count();
    let ends: Map<String, Value> = OrderEnd::ALL.iter().map(|&end| (name(end), json!(count(end)))).collect();
    let mut out = of_series(view, member);
    out.insert("fills_by_leg".to_owned(), Value::Object(legs));
    out.insert("order_ends".to_owned(), Value::Object(ends));
    out
}

/// `PartVolume` as `part_volume`.
fn name(variant: impl std::fmt::Debug) -> String {
    let mut out = String::new();
    for (k, letter) in format!("{variant:?}").chars().enumerate() {
        if letter.is_uppercase() && k > 0 {
            out.push('_');
        }
        out.extend(letter.to_lowercase());
    }
    out
}

/// Learning curves as drawn; what is not finite is said to be so.
pub(super) fn training(curves: &[LearningCurve]) -> Value {
    let number = |value: f64| {
        if value.is_finite() { json!(value) } else { json!({ "undefined": "not a finite number" }) }
    };
    let one = |curve: &LearningCurve| {
        let points = curve.points.iter().map(|p| {
            // What the agent explored by.
            let (by, value) = p.temperature.map_or(("epsilon", p.epsilon), |t| ("temperature", t));
            json!({ "epoch": p.epoch, "loss": number(p.loss), "episode_return": number(p.episode_return),
                    by: number(value), "edge_share": number(p.edge_share) })
        });
        json!({ "member": curve.member, "points": points.collect::<Vec<_>>() })
    };
    curves.iter().map(one).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use foxhunt_ledger::synth::Synth;

    #[test]
    fn details_agree_with_the_summary() {
        let ledger = Synth { bars: 2_000, members: 1, ..Synth::default() }.ledger();
        let view = View::new(&ledger).unwrap();
        let details = of_member(&view, view.shown());
        let figure = |key: &str| view.figures(key)[0].value().unwrap();
        let months = details["months"].as_array().unwrap();
        let wealth: f64 = months.iter().map(|m| 1.0 + m["return"].as_f64().unwrap()).product();
        assert!((wealth - 1.0 - figure("total_return")).abs() < 1e-12);
        let worst = details["worst_drawdowns"].as_array().unwrap();
        assert_eq!((worst.len(), worst[0]["depth"].as_f64()), (5, Some(figure("max_drawdown_closes"))));
        assert_eq!(details["trip_nets"].as_array().unwrap().len() as f64, figure("trip_count"));
        let fills: u64 =
            details["fills_by_leg"].as_object().unwrap().values().map(|l| l["fills"].as_u64().unwrap()).sum();
        assert_eq!(fills as usize, view.shown().series.fills);
        let bars: u64 =
            details["order_ends"].as_object().unwrap().values().map(|n| n.as_u64().unwrap()).sum();
        assert_eq!(bars, 2_000);
        assert_eq!(name(OrderEnd::PartVolume), "part_volume");
    }
}
