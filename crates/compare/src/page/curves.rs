//! Learning curves: the IQM of every arm with its interval.

use crate::{ArmResult, CurvePoint};
use foxhunt_report::draw::{Anchor, Panel, Svg, both, extent, with_room};
use maud::Markup;

/// One chart of the curve with this number; none where no arm has points.
pub(super) fn curve(arms: &[ArmResult], number: usize) -> Option<Markup> {
    let of = |arm: &ArmResult| arm.curves.get(number).map(|c| c.points.clone()).unwrap_or_default();
    let label = arms.iter().find_map(|arm| arm.curves.get(number))?.label;
    let all: Vec<(&ArmResult, Vec<CurvePoint>)> = arms.iter().map(|arm| (arm, of(arm))).collect();
    let line = |points: &[CurvePoint], y: fn(&CurvePoint) -> f64| -> Vec<(f64, f64)> {
        points.iter().map(|p| (f64::from(p.epoch), y(p))).collect()
    };
    let edges: Vec<Vec<(f64, f64)>> =
        all.iter().flat_map(|(_, points)| [line(points, |p| p.low), line(points, |p| p.high)]).collect();
    let epochs = edges.iter().flatten().map(|p| p.0);
    let x = epochs.fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), e| (a.min(e), b.max(e)));
    let (low, high) = extent(&edges);
    if !(x.0.is_finite() && low.is_finite()) {
        return None;
    }
    let y = with_room(low, high);
    Some(both((510.0, 300.0), (384.0, 240.0), |size| {
        let mut svg = Svg::new(size);
        let panel = Panel::across(size, 24.0, size.height - 66.0, x, y);
        panel.heading(&mut svg, label);
        panel.y_numbers(&mut svg);
        panel.x_numbers(&mut svg, 6);
        let middle = (panel.left() + panel.right()) / 2.0;
        svg.text("tick", (middle, panel.bottom() + 34.0), Anchor::Middle, "epoch");
        for (arm, points) in &all {
            let mut around = line(points, |p| p.high);
            around.extend(line(points, |p| p.low).into_iter().rev());
            svg.area(&format!("arm-band arm-{}", arm.arm), &panel.to_pixels(&around));
        }
        // F32 comes last: its dashes show where the others lie on it.
        for (arm, points) in all.iter().rev() {
            let pixels = panel.to_pixels(&line(points, |p| p.iqm));
            svg.path(&format!("arm-line arm-{}", arm.arm), &pixels);
            // A single evaluation makes no line.
            if let [(x, y)] = pixels[..] {
                svg.circle(&format!("arm-mark arm-{}", arm.arm), (x, y), 4.0, arm.arm.label());
            }
        }
        svg.finish(&format!("{label} by epoch, for every arm"))
    }))
}
