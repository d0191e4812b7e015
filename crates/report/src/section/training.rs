//! How training went.

use maud::{Markup, html};

use crate::chart::curve;
use crate::format::percent;
use crate::input::LearningCurve;

/// Loss, return and share of random actions or temperature by epoch; none without curves.
pub(crate) fn training(curves: &[LearningCurve]) -> Option<Markup> {
    if curves.iter().all(|curve| curve.points.is_empty()) {
        return None;
    }
    let lost = curves.iter().flat_map(|curve| &curve.points).filter(|point| !point.loss.is_finite()).count();
    let charts = [
        curve(curves, "Loss", |point| point.loss),
        curve(curves, "Log return of an episode", |point| point.episode_return),
        curve(curves, "Share of random actions", |point| {
            point.temperature.map_or(point.epsilon, |_| f64::NAN)
        }),
        curve(curves, "Temperature of actions", |point| point.temperature.unwrap_or(f64::NAN)),
    ];
    Some(html! {
        section #training {
            h2 { "Training" }
            figure {
                figcaption {
                    span.item {
                        span.key.key-agent {} "mean of " (curves.len())
                        @if curves.len() == 1 { " member" } @else { " members" }
                    }
                    @if curves.len() > 1 { span.item { span.key.key-band {} "lowest to highest" } }
                }
                div.small-charts { @for chart in charts.into_iter().flatten() { div { (chart) } } }
            }
            @if let Some((mean, most)) = edge(curves) {
                p.notes {
                    "Target returns beyond the support of the value distribution, where they are clipped: "
                    (percent(mean, 2)) " of the samples, at most " (percent(most, 2)) " in an epoch of a member."
                }
            }
            @if lost > 0 { p.notes { "Left out: " (lost) " epochs whose loss was not a finite number." } }
        }
    })
}

/// Mean and largest share of target returns beyond the support, of the epochs that say.
fn edge(curves: &[LearningCurve]) -> Option<(f64, f64)> {
    let points = curves.iter().flat_map(|curve| &curve.points);
    let shares: Vec<f64> = points.map(|point| point.edge_share).filter(|share| share.is_finite()).collect();
    let most = shares.iter().copied().reduce(f64::max)?;
    Some((shares.iter().sum::<f64>() / shares.len() as f64, most))
}
