//! What was traded, and how orders ended.

use foxhunt_ledger::{Leg, OrderEnd};
use maud::{Markup, html};

use crate::chart::trips;
use crate::format::{integer, percent};
use crate::view::View;

/// Histogram of round trips, fills by leg, and how orders ended; all of the shown member.
pub(crate) fn trades(agent: &View<'_>) -> Markup {
    let shown = agent.shown();
    html! {
        section id=[agent.id("trades")] {
            h2 { "Trades" }
            @if let Some(chart) = trips(agent) {
                figure {
                    figcaption { "Net gains of the round trips of " b { (shown.label) } ", fees and financing included" }
                    (chart)
                }
            }
            div.pair {
                (legs(agent))
                (ends(agent))
            }
            @if shown.series.open_at_end {
                p.notes { "A position was still open on the last bar; its round trip is not counted." }
            }
        }
    }
}

fn leg_name(leg: Leg) -> &'static str {
    match leg {
        Leg::Open => "At the open",
        Leg::Twap => "Over the bar",
        Leg::Maker => "Maker",
        Leg::Stop => "Stop",
        Leg::Liquidation => "Liquidation",
        Leg::CloseOut => "Close-out",
    }
}

fn legs(agent: &View<'_>) -> Markup {
    let fills = agent.shown_fills();
    let rows = Leg::ALL.iter().filter_map(|&leg| {
        let of_leg = || fills.iter().filter(move |fill| fill.leg == leg);
        let count = of_leg().count();
        let lots: i128 = of_leg().map(|fill| i128::from(fill.lots.unsigned_abs())).sum();
        let fees: i128 = of_leg().map(|fill| i128::from(fill.fee)).sum();
        (count > 0).then_some((leg, count, lots, fees))
    });
    html! {
        div.scroll {
            table.figures {
                caption { "Fills" }
                thead { tr { th { "" } th.number { "fills" } th.number { "lots" } th.number { "fees" } } }
                tbody {
                    @for (leg, count, lots, fees) in rows {
                        tr {
                            th scope="row" { (leg_name(leg)) }
                            td.number { (integer(count as i128)) }
                            td.number { (integer(lots)) }
                            td.number { (agent.units.money(fees as f64)) }
                        }
                    }
                    @if fills.is_empty() { tr { td colspan="4" { "Nothing was traded." } } }
                }
            }
        }
    }
}

fn end_name(end: OrderEnd) -> &'static str {
    match end {
        OrderEnd::None => "Target already held",
        OrderEnd::Filled => "Filled",
        OrderEnd::PartVolume => "Cut by volume",
        OrderEnd::PartMargin => "Cut by margin",
        OrderEnd::DroppedBand => "Dropped: within the no-trade band",
        OrderEnd::LimitNotReached => "Limit not traded through",
        OrderEnd::IocBeyondLimit => "IOC beyond its limit",
        OrderEnd::RejectedGap => "Rejected after a gap",
        OrderEnd::NoVolume => "No volume",
        OrderEnd::CancelledByStop => "Cancelled by a stop",
        OrderEnd::CancelledByLiquidation => "Cancelled by a liquidation",
    }
}

fn ends(agent: &View<'_>) -> Markup {
    let rows = agent.shown_bars().get(1..).unwrap_or(&[]);
    let counted = OrderEnd::ALL.iter().filter_map(|&end| {
        let count = rows.iter().filter(|row| row.order_end == end).count();
        (count > 0).then_some((end, count))
    });
    html! {
        div.scroll {
            table.figures {
                caption { "How orders ended" }
                thead { tr { th { "" } th.number { "bars" } th.number { "share" } } }
                tbody {
                    @for (end, count) in counted {
                        tr {
                            th scope="row" { (end_name(end)) }
                            td.number { (integer(count as i128)) }
                            td.number { (percent(count as f64 / rows.len() as f64, 1)) }
                        }
                    }
                }
            }
        }
    }
}
