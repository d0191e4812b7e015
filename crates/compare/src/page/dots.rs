//! Scores of all members: a dot each, the middle half as a box, the IQM with its interval.

use super::numbers::value;
use crate::{ArmResult, Summary};
use foxhunt_report::draw::{Anchor, FULL, NARROW, Panel, Svg, both, with_room};
use maud::Markup;

const ROW: f64 = 62.0;
const TOP: f64 = 8.0;

/// A row for every arm.
pub(super) fn dots(arms: &[ArmResult]) -> Option<Markup> {
    let rows: Vec<(&ArmResult, &Summary)> = arms
        .iter()
        .filter_map(|arm| Some((arm, arm.summaries.first()?)))
        .filter(|(_, s)| s.defined > 0)
        .collect();
    let all = || rows.iter().flat_map(|(_, s)| s.values.iter().flatten().copied());
    let (low, high) = all().fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), x| (a.min(x), b.max(x)));
    let quantity = rows.first()?.1.quantity;
    let x = with_room(low, high);
    let height = TOP + ROW * rows.len() as f64 + 44.0;
    Some(both((FULL, height), (NARROW, height), |size| {
        let mut svg = Svg::new(size);
        let left = if size.narrow { 124.0 } else { 150.0 };
        let area = (size.width - left - 14.0, ROW * rows.len() as f64);
        let panel = Panel::at((left, TOP), area, x, (rows.len() as f64, 0.0));
        panel.x_numbers(&mut svg, if size.narrow { 4 } else { 8 });
        svg.text("tick", (left + area.0 / 2.0, panel.bottom() + 36.0), Anchor::Middle, quantity.label());
        for (k, (arm, s)) in rows.iter().enumerate() {
            let class = |of: &str| format!("{of} arm-{}", arm.arm);
            let y = panel.py(k as f64 + 0.5);
            svg.text("label", (left - 10.0, y + 4.0), Anchor::End, arm.arm.label());
            let mut sorted: Vec<f64> = s.values.iter().flatten().copied().collect();
            sorted.sort_by(f64::total_cmp);
            // The values that the IQM is a mean of.
            let cut = sorted.len() / 4;
            let (first, last) = (panel.px(sorted[cut]), panel.px(sorted[sorted.len() - 1 - cut]));
            svg.rect(&class("arm-box"), (first, y - 16.0), (last - first, 32.0), "middle half");
            for (id, x) in arm.ids.iter().zip(&s.values).filter_map(|(id, x)| Some((id, (*x)?))) {
                let title = format!("member {id}: {}", value(quantity, x));
                svg.circle(&class("arm-dot"), (panel.px(x), y + spread(*id)), 3.2, &title);
            }
            if let Some(e) = s.iqm {
                let x = panel.px(e.value);
                svg.line(&class("arm-bar"), (panel.px(e.low), y), (panel.px(e.high), y));
                svg.circle(&class("arm-mark"), (x, y), 5.5, &format!("IQM {}", value(quantity, e.value)));
            }
        }
        svg.finish(&format!("{} of every member, by arm", quantity.label()))
    }))
}

/// Height of a member's dot about its row: the same in every arm, and far apart for neighbours (golden ratio).
fn spread(id: u64) -> f64 {
    ((id as f64 * 0.618_033_988_75).fract() - 0.5) * 28.0
}
