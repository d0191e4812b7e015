//! How training went: one small chart per figure.

use maud::Markup;

use super::both;
use super::panel::{Panel, extent};
use crate::format::decimal;
use crate::input::{EpochPoint, LearningCurve};
use crate::sample::min_max;
use crate::scale::{whole_ticks, with_room};
use crate::svg::{Anchor, Svg};

/// Mean over members with a band from the lowest to the highest, by epochs that were done; none if no value is finite.
pub(crate) fn curve(
    curves: &[LearningCurve],
    heading: &str,
    of: impl Fn(&EpochPoint) -> f64,
) -> Option<Markup> {
    let done = |point: &EpochPoint| point.epoch.saturating_add(1);
    let mut points: Vec<(u32, f64)> =
        curves.iter().flat_map(|curve| &curve.points).map(|point| (done(point), of(point))).collect();
    // The charts beside one another have one axis, whatever values are missing.
    let epochs = points.iter().map(|(epoch, _)| *epoch);
    let x = (f64::from(epochs.clone().min()?), f64::from(epochs.max()?));
    points.retain(|(_, value)| value.is_finite());
    points.sort_by(|a, b| a.0.cmp(&b.0).then(a.1.total_cmp(&b.1)));
    let epochs: Vec<(f64, f64, f64, f64)> = points
        .chunk_by(|a, b| a.0 == b.0)
        .map(|of_epoch| {
            let mean = of_epoch.iter().map(|(_, value)| value).sum::<f64>() / of_epoch.len() as f64;
            (f64::from(of_epoch[0].0), of_epoch[0].1, mean, of_epoch[of_epoch.len() - 1].1)
        })
        .collect();
    epochs.first()?;
    let mean: Vec<(f64, f64)> = epochs.iter().map(|e| (e.0, e.2)).collect();
    let low: Vec<(f64, f64)> = epochs.iter().map(|e| (e.0, e.1)).collect();
    let high: Vec<(f64, f64)> = epochs.iter().map(|e| (e.0, e.3)).collect();
    let (least, most) = extent([&low, &high]);
    let y = with_room(least, most);

    Some(both((340.0, 210.0), (384.0, 200.0), |size| {
        let mut svg = Svg::new(size);
        let panel = Panel::across(size, 24.0, size.height - 66.0, x, y);
        panel.heading(&mut svg, heading);
        panel.y_axis(&mut svg, decimal);
        for epoch in whole_ticks(x.0, x.1, 5) {
            svg.text("tick", (panel.px(epoch), panel.bottom() + 16.0), Anchor::Middle, &decimal(epoch, 0));
        }
        svg.text(
            "tick",
            ((panel.left() + panel.right()) / 2.0, panel.bottom() + 34.0),
            Anchor::Middle,
            "epoch",
        );
        let buckets = panel.buckets();
        let mut around = min_max(&high, buckets);
        around.extend(min_max(&low, buckets).into_iter().rev());
        svg.area("band", &panel.to_pixels(&around));
        svg.path("agent", &panel.to_pixels(&min_max(&mean, buckets)));
        if let [(epoch, value)] = mean[..] {
            svg.circle("total", (panel.px(epoch), panel.py(value)), 3.0, &decimal(value, 4));
        }
        svg.finish(&format!("{heading} by epoch"))
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn point(epoch: u32, loss: f64) -> EpochPoint {
        EpochPoint { epoch, loss, episode_return: 0.0, epsilon: 0.0, temperature: None, edge_share: 0.0 }
    }

    #[test]
    fn what_is_not_finite_is_left_out() {
        let curve_of = |points| curve(&[LearningCurve { member: 0, points }], "Loss", |p| p.loss);
        assert!(curve_of(vec![point(0, f64::NAN)]).is_none());
        assert!(curve_of(vec![]).is_none());
        let text =
            curve_of(vec![point(0, 1.0), point(1, f64::INFINITY), point(2, 3.0)]).unwrap().into_string();
        assert!(
            text.contains("aria-label=\"Loss by epoch\"") && !text.contains("inf") && !text.contains("NaN")
        );
        // The first epoch is 1, as in `after epoch 1`, and none is written twice.
        for epoch in 1..=3 {
            let label = format!("text-anchor=\"middle\">{epoch}<");
            assert_eq!(text.matches(&label).count(), 2, "{label}: {text}");
        }
        // A value alone is a dot: a line needs two.
        let lone = curve_of(vec![point(0, f64::NAN), point(1, 2.0)]).unwrap().into_string();
        assert!(lone.contains("<circle class=\"total\"") && !text.contains("<circle"), "{lone}");
    }
}
