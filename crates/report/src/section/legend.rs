//! The legend of charts that compare the agent with the baselines.

use maud::{Markup, html};

use crate::view::Accounts;

/// Shown member, band and other members where the chart has them, baselines. With the script each item hides its line.
pub(crate) fn legend(agent: &Accounts, baselines: &[impl AsRef<Accounts>], members: bool) -> Markup {
    let many = agent.members.len() > 1;
    html! {
        figcaption.legend {
            span.item data-key="key-agent" {
                span.key.key-agent {} (agent.shown().label)
                @if many && !agent.shown_as.is_empty() { " (" (agent.shown_as) ")" }
            }
            @if many && members {
                @if agent.others().next().is_some() { span.item data-key="key-member" { span.key.key-member {} "other members" } }
                span.item data-key="key-band" { span.key.key-band {} "lowest to highest member" }
            }
            @for (k, baseline) in baselines.iter().map(AsRef::as_ref).enumerate() {
                span.item data-key={ "key-baseline-" (k % 4) } {
                    span.key.{ "key-baseline-" (k % 4) } {} (baseline.name)
                    @if baseline.members.len() > 1 { " (the middle of " (baseline.members.len()) ")" }
                }
            }
        }
    }
}
