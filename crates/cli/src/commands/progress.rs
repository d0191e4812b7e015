//! What a person sees of a running training: one bar on a terminal, nothing elsewhere.

use crate::live::{Board, Live};
use foxhunt_train::{Config, EpochReport};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::{io::IsTerminal, time::Instant};

/// From which share of returns beyond the support on the line tells of it.
const EDGE_SHOWN: f64 = 0.001;

pub(crate) struct Progress {
    bar: ProgressBar,
    live: Option<Live>,
    start: Instant,
    first: u64,
}

impl Progress {
    pub(crate) fn new(epochs: u64, done: u64) -> Self {
        // Drawn on from the first epoch's end: before it there is nothing to say.
        let bar = ProgressBar::with_draw_target(Some(epochs), ProgressDrawTarget::hidden());
        let style = ProgressStyle::with_template("epoch {pos}/{len} {bar:24} {msg}  {eta} left");
        bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
        bar.set_position(done);
        bar.set_draw_target(target());
        Progress { bar, live: None, start: Instant::now(), first: done }
    }

    /// Shows the live view instead of the bar, until its user leaves it; says why where it can't.
    pub(crate) fn show_live(&mut self, board: Board) {
        self.bar.set_draw_target(ProgressDrawTarget::hidden());
        let bar = self.bar.clone();
        let back = |bar: &ProgressBar| {
            bar.set_draw_target(target());
            bar.tick();
        };
        match Live::start(board, move || back(&bar)) {
            Ok(live) => self.live = Some(live),
            Err(why) => {
                note!("note: no live view: {why}");
                back(&self.bar);
            }
        }
    }

    /// Means over the members of one epoch, and the rate since the start.
    /// `returns` are those of the members on the validation window, where they are known.
    pub(crate) fn epoch(&self, config: &Config, reports: &[EpochReport], returns: &[f64]) {
        if let Some(live) = &self.live {
            live.epoch(|board| {
                board.add(reports);
                board.score(returns);
            });
        }
        self.bar.inc(1);
        let epochs = (self.bar.position() - self.first) as f64;
        let steps = epochs * (config.learn.collect * config.member_ids().len()) as f64
            / self.start.elapsed().as_secs_f64();
        self.bar.set_message(message(reports, steps));
    }

    /// Whether the live view is on the terminal.
    pub(crate) fn is_live(&self) -> bool {
        self.live.as_ref().is_some_and(Live::is_on)
    }

    pub(crate) fn finish(&mut self) {
        self.live = None;
        self.bar.finish_and_clear();
    }
}

/// Where the bar is drawn: nowhere but on a terminal.
fn target() -> ProgressDrawTarget {
    if std::io::stderr().is_terminal() { ProgressDrawTarget::stderr() } else { ProgressDrawTarget::hidden() }
}

/// Means over the members, and a rate in environment steps a second.
fn message(reports: &[EpochReport], steps: f64) -> String {
    let mean = |x: &dyn Fn(&EpochReport) -> Option<f64>| {
        let values: Vec<f64> = reports.iter().filter_map(x).collect();
        (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
    };
    let shown = |x: Option<f64>| x.map_or_else(|| "-".to_owned(), |x| format!("{x:.4}"));
    let (loss, gained) = (shown(mean(&|r| r.loss)), shown(mean(&|r| r.episode_return)));
    let edge = mean(&|r| r.edge_share).filter(|share| *share >= EDGE_SHOWN);
    let edge = edge.map(|share| format!("  {:.1} % beyond the support", 100.0 * share));
    format!("loss {loss}  return {gained}  {:.0} k steps/s{}", steps / 1e3, edge.unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn report(loss: Option<f64>, edge_share: Option<f64>) -> EpochReport {
        EpochReport {
            epoch: 0,
            market: None,
            member: 0,
            id: 0,
            loss,
            episodes: 0,
            terminated: 0,
            episode_return: None,
            saturated: 0,
            edge_share,
            epsilon: 0.1,
            temperature: None,
            steps: 0,
            skipped: 0,
        }
    }

    #[test]
    fn returns_beyond_the_support_are_told_where_they_matter() {
        let two = |a, b| message(&[report(Some(1.0), a), report(Some(2.0), b)], 12_345.0);
        let plain = "loss 1.5000  return -  12 k steps/s";
        assert_eq!(two(Some(0.0), Some(0.001)), plain);
        assert_eq!(two(None, None), plain);
        assert_eq!(two(Some(0.0), Some(0.05)), format!("{plain}  2.5 % beyond the support"));
        assert_eq!(message(&[report(None, None)], 0.0), "loss -  return -  0 k steps/s");
    }
}
