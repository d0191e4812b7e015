//! The page of a comparison: one file that loads nothing.

mod curves;
mod dots;
mod forest;
mod memory;
mod numbers;
mod tables;

use crate::{Arm, Comparison, Difference, Measure, Result, Verdict};
use foxhunt_report::draw::{shell, short_hash};
use maud::{Markup, html};

const STYLE: &str = include_str!("style.css");

/// The page as HTML. Equal comparisons give equal text; what clocks said is in the section `timing` alone.
///
/// # Errors
/// A configuration that TOML can't hold.
pub fn render(c: &Comparison) -> Result<String> {
    let config = c.setting.config.to_toml()?;
    let body = html! {
        header {
            h1 { (c.setting.market) " " span.quiet { "F32 and BF16 compared" } }
            p.lead {
                (c.setting.config.epochs) " epochs · " (most(c)) " members an arm, the same seeds in each · "
                (c.devices.join(", "))
            }
        }
        main {
            (verdict(c))
            (learning(c))
            (scores(c))
            section #quantities { h2 { "Quantities" } (tables::quantities(c)) (tables::divergences(c)) }
            @if let Some(memory) = memory::memory(&c.arms) { (memory) }
            (tables::timing(c))
            (definitions(c))
            section #config {
                h2 { "Configuration" }
                p.notes { "Data SHA-256 " code { (short_hash(&c.setting.data_sha256)) } ", " (c.setting.bars) " bars" }
                details { summary { "All keys; arms change learn.weights, learn.rounding and the storage type" } pre { (config) } }
            }
        }
        footer { p { (c.setting.program) } }
    };
    Ok(shell(&format!("{}: F32 and BF16 compared", c.setting.market), STYLE, &body).into_string())
}

fn most(c: &Comparison) -> usize {
    c.arms.iter().map(|arm| arm.ids.len()).max().unwrap_or(0)
}

fn key(c: &Comparison) -> Markup {
    html! { @for arm in &c.arms { span.item.{ "arm-" (arm.arm) } { span.key.key-arm {} (arm.arm.label()) } " " } }
}

fn verdict(c: &Comparison) -> Markup {
    let own = c.score_of(c.own).and_then(|d| d.verdict);
    let class = match own {
        Some(Verdict::Worse) => "marked",
        Some(Verdict::Equivalent | Verdict::Better) => "",
        _ => "open",
    };
    let worse: Vec<&str> = Arm::ALL
        .into_iter()
        .filter(|arm| *arm != c.own && c.score_of(*arm).is_some_and(|d| d.verdict == Some(Verdict::Worse)))
        .map(Arm::label)
        .collect();
    html! {
        section #verdict {
            h2 { "Verdict" }
            p.default.{ (class) } { "Reported default: " b { (c.reported_default.label()) } " · " (c.because) "." }
            @if !worse.is_empty() { p { "Also worse than F32, and not what this configuration uses: " (worse.join(", ")) "." } }
            @for gap in &c.missing {
                p.notes { "Incomplete: " (gap.arm.label()) " lacks " (gap.ids.len()) " of the members asked for ("
                    (gap.ids.first().copied().unwrap_or_default()) " to " (gap.ids.last().copied().unwrap_or_default()) ")." }
            }
            (tables::verdicts(c))
            @if c.devices.len() > 1 { p.notes { "Trained on devices of different kinds: members are paired across them, and times are not comparable." } }
        }
    }
}

fn learning(c: &Comparison) -> Markup {
    let charts: Vec<Markup> = (0..2).filter_map(|k| curves::curve(&c.arms, k)).collect();
    html! {
        section #learning {
            h2 { "Learning" }
            figure {
                figcaption { (key(c)) "IQM over members, band: its 95 % interval" }
                div.pair { @for chart in charts { div { (chart) } } }
            }
        }
    }
}

fn scores(c: &Comparison) -> Markup {
    let scores: Vec<&Difference> = c.arms.iter().filter_map(|arm| c.score_of(arm.arm)).collect();
    html! {
        section #scores {
            h2 { "Scores" }
            figure {
                figcaption { span.item { "A dot is a member, at the same height in every arm" } span.item { "box: the middle half" } "large dot and bar: IQM with its 95 % interval" }
                @if let Some(chart) = dots::dots(&c.arms) { (chart) } @else { p.notes { "No member has a score." } }
            }
            figure {
                figcaption {
                    span.item { b { "Paired differences" } } span.item { span.key.key-bound {} "within the bound" }
                    span.item { "filled: IQM, pairs resampled" } "open: mean, Student’s interval"
                }
                @if let Some(chart) = forest::forest(&scores) { (chart) } @else { p.notes { "Nothing to compare yet: F32 or all BF16 arms have no members." } }
            }
        }
    }
}

fn definitions(c: &Comparison) -> Markup {
    let score = match c.setting.measure {
        Measure::Regret => {
            "Log return of the optimal policy on the test window minus the member’s, over the optimum’s: 0 is optimal, 1 is never trading. By the last epoch’s weights."
        }
        Measure::Sharpe => {
            "Sharpe ratio per session day on the test window, by the weights of the evaluation with the largest return on the validation window. An account that never changed counts as 0."
        }
    };
    let (draws, seed) = c.bootstrap;
    let every = c.setting.every;
    html! {
        section #definitions {
            h2 { "Definitions" }
            dl.definitions {
                div { dt { "Arms" } dd { "F32 without TF32; BF16 with everything rounded to nearest; with weights, moments and targets rounded stochastically; with weights and targets as pairs of BF16. Of an arm that names one quantity, that is rounded to nearest and all else stochastically: weights, first moment (m), second moment (v) or targets. A member has the same seed in every arm." } }
                div { dt { "Score" } dd { (score) " Policies are evaluated greedily every " (every) @if every == 1 { " epoch" } @else { " epochs" } " and after the last." } }
                div { dt { "IQM" } dd { "Mean of the middle half of the members (Agarwal et al. 2021), with the percentile bootstrap over members: " (draws) " resamples, Philox stream of seed " (seed) ". Differences resample pairs." } }
                div { dt { "Bound" } dd { "What counts as no difference: 0.02 of the optimum for regret; a tenth of F32’s IQM, at least 0.1, for Sharpe." } }
                div { dt { "Verdict" } dd { "Of the interval of arm − F32: inside the bound equivalent, beyond it worse or better, otherwise undecided. Members without a score rule out equivalent and better." } }
                div { dt { "Power" } dd { "Normal approximation with the bootstrap’s standard error, two-sided at 5 %. Detectable: the smallest true difference told from none in 80 % of repetitions. At the bound: how often a true difference of that size is told from none. Of equivalence: how often the verdict is equivalent where there is no difference." } }
                div { dt { "Weights that never moved" } dd { "Share of the weights that a gradient ever reached (second moment not 0) whose stored bits, of pairs both words, are what they were at the start." } }
                div { dt { "Effective step size" } dd { "Root mean square of what the last epoch changed a weight by, over the sum of its learning rates. Stochastic rounding adds its own random walk." } }
                div { dt { "Target lag" } dd { "Root mean square of target minus weight over that of the weights, at the end." } }
            }
        }
    }
}
