//! How the returns of days are distributed.

use maud::{Markup, html};

use crate::chart;
use crate::view::View;

/// Figures beside the histogram.
const KEYS: [&str; 8] =
    ["best_day", "worst_day", "var_days", "cvar_days", "skewness", "kurtosis", "tail_ratio", "winning_days"];

/// The histogram of the shown member's day returns with its figures; or that there are too few.
pub(crate) fn distribution(agent: &View<'_>) -> Markup {
    let shown = agent.shown();
    html! {
        section id=[agent.id("distribution")] {
            h2 { "Return distribution" }
            @match chart::day_returns(agent) {
                Some(chart) => figure {
                    figcaption.legend {
                        span.item { b { (shown.label) } ", returns of session days" }
                        span.item { span.key.key-normal {} "normal distribution with the same mean and standard deviation" }
                    }
                    (chart)
                },
                None => p { "Undefined: it takes five session days with equity above zero." },
            }
            dl.strip {
                @for named in shown.summary.iter().filter(|named| KEYS.contains(&named.key)) {
                    div {
                        dt { (named.label) }
                        dd {
                            @match named.metric {
                                foxhunt_metrics::Metric::Value(value) => (agent.units.metric(value, named.unit)),
                                foxhunt_metrics::Metric::Undefined(reason) => span.undefined title=(reason.to_string()) { "undefined" },
                            }
                        }
                    }
                }
            }
        }
    }
}
