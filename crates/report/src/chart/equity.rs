//! Equity of all members and baselines, with the drawdown of each below it.

use foxhunt_metrics::{Series, underwater};
use maud::Markup;

use super::panel::{Panel, extent};
use super::plot::{Format, Plot, geometry};
use super::{BUCKETS, FULL, NARROW, both};
use crate::format::{axis_number, percent};
use crate::sample::{band, min_max};
use crate::scale::with_room;
use crate::svg::Svg;
use crate::view::Accounts;

type Line = Vec<(f64, f64)>;

struct Lines {
    shown: Line,
    members: Vec<Line>,
    /// The other members that get a line of their own.
    others: Vec<Line>,
    baselines: Vec<Line>,
}

/// Which lines of the plot's values are which.
struct Tags {
    band: usize,
    others: Vec<usize>,
    baselines: Vec<usize>,
    shown: usize,
}

impl Lines {
    fn of(
        agent: &Accounts,
        baselines: &[impl AsRef<Accounts>],
        line: impl Fn(&Accounts, &Series) -> Line,
    ) -> Self {
        let members: Vec<Line> = agent.members.iter().map(|member| line(agent, &member.series)).collect();
        Self {
            shown: line(agent, &agent.shown().series),
            members: if members.len() > 1 { members } else { Vec::new() },
            others: agent.others().map(|member| line(agent, &member.series)).collect(),
            baselines: baselines.iter().map(|b| line(b.as_ref(), &b.as_ref().shown().series)).collect(),
        }
    }

    fn all(&self) -> impl Iterator<Item = &Line> {
        [&self.shown].into_iter().chain(&self.members).chain(&self.baselines)
    }

    fn tags(
        &self,
        plot: &mut Plot,
        panel: usize,
        x: (f64, f64),
        agent: &Accounts,
        baselines: &[impl AsRef<Accounts>],
    ) -> Tags {
        let band = plot.add_band(panel, &band(&self.members, x, BUCKETS));
        let others = self.others.iter().zip(agent.others());
        let others =
            others.map(|(line, member)| plot.add(&member.label, "key-member", panel, line)).collect();
        let named = self.baselines.iter().zip(baselines).enumerate();
        let key = |k: usize| format!("key-baseline-{}", k % 4);
        let baselines =
            named.map(|(k, (line, view))| plot.add(&view.as_ref().name, &key(k), panel, line)).collect();
        let shown = plot.add(&agent.shown().label, "key-agent", panel, &self.shown);
        Tags { band, others, baselines, shown }
    }

    fn draw(&self, svg: &mut Svg, panel: &Panel, x: (f64, f64), tags: &Tags) {
        let buckets = panel.buckets() / 2;
        let edges = band(&self.members, x, buckets);
        let upper = edges.iter().map(|&(x, _, high)| (x, high));
        let lower = edges.iter().rev().map(|&(x, low, _)| (x, low));
        svg.tag(tags.band, "band");
        svg.area("band", &panel.to_pixels(&upper.chain(lower).collect::<Vec<_>>()));
        for (line, &tag) in self.others.iter().zip(&tags.others) {
            svg.tag(tag, "line");
            svg.path("member", &panel.to_pixels(&min_max(line, panel.buckets())));
        }
        for (k, (line, &tag)) in self.baselines.iter().zip(&tags.baselines).enumerate() {
            svg.tag(tag, "line");
            let class = format!("baseline baseline-{}", k % 4);
            svg.path(&class, &panel.to_pixels(&min_max(line, panel.buckets())));
        }
        svg.tag(tags.shown, "line");
        svg.path("agent", &panel.to_pixels(&min_max(&self.shown, panel.buckets())));
    }
}

/// Equity in the account's currency above, drawdown from the highest close below.
pub(crate) fn equity(agent: &Accounts, baselines: &[impl AsRef<Accounts>]) -> Markup {
    let money = Lines::of(agent, baselines, |view, series| {
        let point = |(&t, &e): (&i64, &i64)| (t as f64, view.units.amount(e as f64));
        series.time_ns.iter().zip(&series.equity).map(point).collect()
    });
    let below = Lines::of(agent, baselines, |_, series| {
        series.time_ns.iter().map(|&t| t as f64).zip(underwater(series)).collect()
    });
    let times = money.all().flatten().map(|&(x, _)| x);
    let x = times.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), x| (low.min(x), high.max(x)));
    let (low, high) = extent(money.all());
    let y = with_room(low, high);
    let deepest = extent(below.all()).0.min(-1e-4);

    let after = format!(" {}", agent.units.currency);
    let mut plot = Plot::new(vec![
        Format { factor: 1.0, decimals: 2, after, zero: false },
        Format { factor: 100.0, decimals: 2, after: " %".into(), zero: true },
    ]);
    let upper_tags = money.tags(&mut plot, 0, x, agent, baselines);
    let lower_tags = below.tags(&mut plot, 1, x, agent, baselines);
    let chart = both((FULL, 460.0), (NARROW, 400.0), |size| {
        let mut svg = Svg::new(size);
        let upper_height = if size.narrow { 215.0 } else { 270.0 };
        let upper = Panel::across(size, 22.0, upper_height, x, y);
        let top = upper.bottom() + 34.0;
        let lower = Panel::across(size, top, size.height - top - 26.0, x, (deepest * 1.08, 0.0));
        let start = agent.units.amount(agent.shown().lines.start as f64);
        upper.heading(&mut svg, &format!("Equity, {}", agent.units.currency));
        upper.date_lines(&mut svg);
        upper.y_axis(&mut svg, |value, decimals| axis_number(value, decimals, size.narrow));
        upper.level(&mut svg, "zero", start);
        money.draw(&mut svg, &upper, x, &upper_tags);
        lower.heading(&mut svg, "Drawdown from the highest close");
        lower.dates(&mut svg);
        lower.y_axis(&mut svg, |value, decimals| percent(value, decimals.saturating_sub(2)));
        let drawn = min_max(&below.shown, lower.buckets());
        let mut filled = lower.to_pixels(&drawn);
        let ends = (filled.first().map_or(0.0, |p| p.0), filled.last().map_or(0.0, |p| p.0));
        filled.insert(0, (ends.0, lower.py(0.0)));
        filled.push((ends.1, lower.py(0.0)));
        svg.tag(lower_tags.shown, "fill");
        svg.area("underwater", &filled);
        below.draw(&mut svg, &lower, x, &lower_tags);
        svg.over_time(geometry(&[&upper, &lower]));
        svg.finish("Equity over time with the drawdown below it")
    });
    plot.around(&chart)
}
