//! Device memory by purpose, stacked.

use super::numbers::bytes;
use crate::{ArmResult, Memory};
use foxhunt_report::draw::{Anchor, FULL, NARROW, Panel, Svg, both};
use maud::{Markup, html};

const ROW: f64 = 44.0;
const TOP: f64 = 6.0;

/// Bars, key and table; none where no memory is known.
pub(super) fn memory(arms: &[ArmResult]) -> Option<Markup> {
    let rows: Vec<(&ArmResult, &Memory)> =
        arms.iter().filter_map(|a| Some((a, a.memory.as_ref()?))).collect();
    let purposes: Vec<&str> = rows.first()?.1.by_purpose.iter().map(|(name, _)| name.as_str()).collect();
    Some(html! {
        section #memory {
            h2 { "Device memory" }
            figure {
                figcaption {
                    @for (k, name) in purposes.iter().enumerate() { span.item.{ "m" (k % 10) } { span.key.key-box {} (name) } " " }
                }
                (bars(&rows))
            }
            div.scroll {
                table {
                    caption { "Bytes of one slice while it trains; backtests beside it are not counted" }
                    thead { tr {
                        th { "" }
                        @for (arm, memory) in &rows { th.number { (arm.arm.label()) br; span.quiet { (memory.members) " members" } } }
                    } }
                    tbody {
                        @for (k, name) in purposes.iter().enumerate() { tr {
                            th scope="row" { (name) }
                            @for (_, memory) in &rows { td.number { (memory.by_purpose.get(k).map_or(String::new(), |p| bytes(p.1))) } }
                        } }
                        tr.total { th scope="row" { "all" } @for (_, memory) in &rows { td.number { (bytes(memory.bytes)) } } }
                        tr { th scope="row" { "per member" } @for (_, memory) in &rows { td.number { (bytes(memory.bytes / memory.members.max(1) as u64)) } } }
                        tr {
                            th scope="row" { "a member’s checkpoint, on disk" }
                            @for (arm, _) in &rows { td.number { (arm.checkpoint_bytes.map_or(String::new(), bytes)) } }
                        }
                    }
                }
            }
        }
    })
}

fn bars(rows: &[(&ArmResult, &Memory)]) -> Markup {
    let most = rows.iter().map(|(_, m)| m.bytes).max().unwrap_or(1).max(1);
    let unit = if most >= 1 << 20 { f64::from(1 << 20) } else { 1024.0 };
    let name = if most >= 1 << 20 { "MiB" } else { "KiB" };
    let height = TOP + ROW * rows.len() as f64 + 42.0;
    both((FULL, height), (NARROW, height), |size| {
        let mut svg = Svg::new(size);
        let left = if size.narrow { 124.0 } else { 150.0 };
        let area = (size.width - left - 14.0, ROW * rows.len() as f64);
        let panel = Panel::at((left, TOP), area, (0.0, most as f64 / unit * 1.02), (rows.len() as f64, 0.0));
        panel.x_numbers(&mut svg, if size.narrow { 4 } else { 8 });
        svg.text("tick", (left + area.0 / 2.0, panel.bottom() + 35.0), Anchor::Middle, name);
        for (k, (arm, memory)) in rows.iter().enumerate() {
            let y = panel.py(k as f64 + 0.5);
            svg.text("label", (left - 10.0, y + 4.0), Anchor::End, arm.arm.label());
            let mut sum = 0.0;
            for (p, (purpose, part)) in memory.by_purpose.iter().enumerate() {
                let from = panel.px(sum);
                sum += *part as f64 / unit;
                let title = format!("{purpose}: {}", bytes(*part));
                svg.rect(
                    &format!("part m{}", p % 10),
                    (from, y - 13.0),
                    (panel.px(sum) - from, 26.0),
                    &title,
                );
            }
        }
        svg.finish("Device memory by purpose, for every arm")
    })
}
