//! Tables: verdicts, quantities, gauges, times.

use super::numbers::{difference, estimate, plain, seconds, value};
use crate::{Comparison, Difference, Quantity, Verdict};
use foxhunt_report::draw::{decimal, integer, percent};
use maud::{Markup, html};

/// The word, in its colour.
fn word(verdict: Option<Verdict>) -> Markup {
    html! { @if let Some(v) = verdict { span.verdict.{ "verdict-" (v) } { (v) } } @else { span.quiet { "–" } } }
}

/// Score, difference, bound, power and verdict of every arm.
pub(super) fn verdicts(c: &Comparison) -> Markup {
    let score = Quantity::score(c.setting.measure);
    let share = |x: f64| percent(x, 0);
    html! {
        div.scroll { table {
            thead { tr {
                th { "" } th { "verdict" } th.number { "members" } th.number { (score.label()) br; span.quiet { "IQM, 95 %" } }
                th.number { "arm − F32" br; span.quiet { "paired, 95 %" } } th.number { "bound" }
                th.number { "detectable" br; span.quiet { "with 80 %" } }
                th.number { "power" br; span.quiet { "at the bound" } }
                th.number { "power" br; span.quiet { "of equivalence" } }
            } }
            tbody { @for arm in &c.arms {
                @let d = c.score_of(arm.arm);
                @let power = d.and_then(|d| d.power);
                tr {
                    th scope="row" { (arm.arm.label()) }
                    td { @if d.is_some() { (word(d.and_then(|d| d.verdict))) } @else { span.quiet { "baseline" } } }
                    td.number { (arm.ids.len()) @if let Some(d) = d { @if d.lost > 0 { span.range-of { (d.lost) " without score" } } } }
                    td.number { (estimate(arm.summaries.first().and_then(|s| s.iqm), |x| value(score, x))) }
                    td.number { @if let Some(d) = d { (estimate(d.iqm, |x| difference(score, x))) } }
                    td.number { @if let Some(b) = d.and_then(|d| d.bound) { "±" (decimal(b, 2)) } }
                    td.number { @if let Some(p) = power { (plain(p.detectable)) } }
                    td.number { @if let Some(p) = power { (share(p.at_bound)) } }
                    td.number { @if let Some(p) = power { (share(p.equivalence)) } }
                }
            } }
        } }
    }
}

/// IQM of every quantity and arm, and below it the paired difference to F32.
pub(super) fn quantities(c: &Comparison) -> Markup {
    let find = |arm, q| c.differences.iter().find(|d: &&Difference| d.arm == arm && d.quantity == q);
    html! {
        div.scroll { table {
            caption { "IQM over members with its 95 % interval" }
            thead { tr { th { "" } @for arm in &c.arms { th.number { (arm.arm.label()) } } } }
            tbody { @for q in Quantity::of(c.setting.measure) { tr {
                th scope="row" { (q.label()) }
                @for arm in &c.arms {
                    td.number { (estimate(arm.summaries.iter().find(|s| s.quantity == q).and_then(|s| s.iqm), |x| value(q, x))) }
                }
            } } }
        } }
        @if c.arms.iter().any(|arm| find(arm.arm, Quantity::Loss).is_some()) {
            div.scroll { table {
                caption { "Arm − F32, member by member: difference of IQMs with its 95 % interval; of the step size the ratio" }
                thead { tr { th { "" } @for arm in c.arms.iter().skip(1) { th.number { (arm.arm.label()) } } } }
                tbody { @for q in Quantity::of(c.setting.measure) { tr {
                    th scope="row" { (q.label()) }
                    @for d in c.arms.iter().skip(1).map(|arm| find(arm.arm, q)) {
                        td.number { @if let Some(d) = d {
                            (estimate(d.iqm, |x| difference(q, x)))
                            @if q == Quantity::Step { @if let Some(ratio) = d.ratio { span.range-of { (plain(ratio)) "× F32" } } }
                        } }
                    }
                } } }
            } }
        }
    }
}

/// What went wrong in each arm.
pub(super) fn divergences(c: &Comparison) -> Markup {
    html! {
        div.scroll { table {
            caption { "Divergences, of all members together" }
            thead { tr {
                th { "" } th.number { "steps" } th.number { "skipped" } th.number { "epochs without a loss" }
                th.number { "ruined on the test window" } th.number { "members concerned" }
            } }
            tbody { @for arm in &c.arms { @let d = &arm.divergences; tr {
                th scope="row" { (arm.arm.label()) }
                @for n in [d.steps, d.skipped, d.lost_epochs, d.ruined, d.members] { td.number { (integer(n.into())) } }
            } } }
        } }
    }
}

/// What clocks said. The only part of a page that differs from run to run.
pub(super) fn timing(c: &Comparison) -> Markup {
    html! {
        section #timing {
            h2 { "Time" }
            div.scroll { table {
                caption { "Medians over the epochs of the largest slices; the only numbers here that differ from run to run" }
                thead { tr { th { "" } th.number { "members" } th.number { "an update" } th.number { "an epoch" } th.number { "epochs timed" } th.number { "all slices" } } }
                tbody { @for (arm, t) in &c.timing { tr {
                    th scope="row" { (arm.label()) }
                    td.number { (t.members) }
                    td.number { (seconds(t.update_us * 1e-6)) }
                    td.number { (seconds(t.epoch_s)) }
                    td.number { (t.epochs) }
                    td.number { (seconds(t.total_s)) }
                } } }
            } }
        }
    }
}
