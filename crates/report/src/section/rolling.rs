//! How the Sharpe ratio moved.

use maud::{Markup, html};

use super::legend;
use crate::chart;
use crate::view::Accounts;

/// The chart, or why there is none.
pub(crate) fn rolling(agent: &Accounts, baselines: &[impl AsRef<Accounts>]) -> Markup {
    html! {
        section id=[agent.id("rolling")] {
            h2 { "Rolling Sharpe" }
            @match chart::rolling(agent, baselines) {
                Ok(chart) => figure { (legend(agent, baselines, false)) (chart) },
                Err(reason) => p { "Undefined over " (chart::rolling_window(agent)) " session days: " (reason.to_string()) "." },
            }
        }
    }
}
