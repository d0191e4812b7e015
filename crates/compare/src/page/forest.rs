//! Paired differences of the score to F32, with the bound shaded.

use super::numbers::difference;
use crate::{Difference, Verdict, statistics::Estimate};
use foxhunt_report::draw::{Anchor, FULL, NARROW, Panel, Svg, both, with_room};
use maud::Markup;

const ROW: f64 = 50.0;
const TOP: f64 = 26.0;

/// A row for every BF16 arm; none where nothing can be compared.
pub(super) fn forest(scores: &[&Difference]) -> Option<Markup> {
    let rows: Vec<(&Difference, Estimate, f64)> =
        scores.iter().filter_map(|d| Some((*d, d.iqm?, d.bound?))).collect();
    let (first, _, bound) = *rows.first()?;
    let quantity = first.quantity;
    let reach = |d: &Difference, e: &Estimate| {
        let mean = d.mean_interval.unwrap_or((e.low, e.high));
        [e.low, e.high, mean.0, mean.1]
    };
    let ends = rows.iter().flat_map(|(d, e, b)| reach(d, e).into_iter().chain([-b, *b, -1.6 * b, 1.6 * b]));
    let (low, high) = ends.fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), x| (a.min(x), b.max(x)));
    let x = with_room(low, high);
    let height = TOP + ROW * rows.len() as f64 + 44.0;
    Some(both((FULL, height), (NARROW, height), |size| {
        let mut svg = Svg::new(size);
        let left = if size.narrow { 124.0 } else { 150.0 };
        let right = if size.narrow { 14.0 } else { 120.0 };
        let area = (size.width - left - right, ROW * rows.len() as f64);
        let panel = Panel::at((left, TOP), area, x, (rows.len() as f64, 0.0));
        let (from, to) = (panel.px(-bound), panel.px(bound));
        svg.rect("bound", (from, TOP), (to - from, area.1), "no difference that counts");
        panel.x_numbers(&mut svg, if size.narrow { 4 } else { 8 });
        svg.line("zero", (panel.px(0.0), TOP), (panel.px(0.0), panel.bottom()));
        let better = if quantity.less_is_better() { "← better than F32" } else { "better than F32 →" };
        let (place, anchor) =
            if quantity.less_is_better() { (left, Anchor::Start) } else { (panel.right(), Anchor::End) };
        svg.text("tick", (place, TOP - 9.0), anchor, better);
        let label = format!("{}, arm − F32", quantity.label());
        svg.text("tick", (left + area.0 / 2.0, panel.bottom() + 36.0), Anchor::Middle, &label);
        for (k, (d, e, _)) in rows.iter().enumerate() {
            let class = |of: &str| format!("{of} arm-{}", d.arm);
            let y = panel.py(k as f64 + 0.5);
            svg.text("label", (left - 10.0, y + 4.0), Anchor::End, d.arm.label());
            let say = |x: f64| difference(quantity, x);
            let title = format!("IQM {} [{}, {}]", say(e.value), say(e.low), say(e.high));
            svg.line(&class("arm-bar"), (panel.px(e.low), y - 6.0), (panel.px(e.high), y - 6.0));
            svg.circle(&class("arm-mark"), (panel.px(e.value), y - 6.0), 5.5, &title);
            if let Some((mean, (low, high))) = d.mean.zip(d.mean_interval) {
                svg.line(&class("arm-thin"), (panel.px(low), y + 9.0), (panel.px(high), y + 9.0));
                let title = format!("mean {} [{}, {}]", say(mean), say(low), say(high));
                svg.circle(&class("arm-open"), (panel.px(mean), y + 9.0), 3.8, &title);
            }
            if !size.narrow {
                let verdict = d.verdict.map_or("", Verdict::name);
                svg.text("label", (panel.right() + 14.0, y + 4.0), Anchor::Start, verdict);
            }
        }
        svg.finish(&format!("Differences of {} to F32 with intervals and the bound", quantity.label()))
    }))
}
