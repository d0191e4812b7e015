//! What a person sees of a running training: one bar on a terminal, nothing elsewhere.

use foxhunt_train::{Config, EpochReport};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::{io::IsTerminal, time::Instant};

pub(crate) struct Progress {
    bar: ProgressBar,
    start: Instant,
    first: u64,
}

impl Progress {
    pub(crate) fn new(epochs: u64, done: u64) -> Self {
        let target = if std::io::stderr().is_terminal() {
            ProgressDrawTarget::stderr()
        } else {
            ProgressDrawTarget::hidden()
        };
        let bar = ProgressBar::with_draw_target(Some(epochs), target);
        let style = ProgressStyle::with_template("epoch {pos}/{len} {bar:24} {msg}  {eta} left");
        bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
        bar.set_position(done);
        Progress { bar, start: Instant::now(), first: done }
    }

    /// Means over the members of one epoch, and the rate since the start.
    pub(crate) fn epoch(&self, config: &Config, reports: &[EpochReport]) {
        let mean = |x: &dyn Fn(&EpochReport) -> Option<f64>| {
            let values: Vec<f64> = reports.iter().filter_map(x).collect();
            if values.is_empty() {
                "-".to_owned()
            } else {
                format!("{:.4}", values.iter().sum::<f64>() / values.len() as f64)
            }
        };
        self.bar.inc(1);
        let epochs = (self.bar.position() - self.first) as f64;
        let steps =
            epochs * (config.learn.collect * config.population) as f64 / self.start.elapsed().as_secs_f64();
        self.bar.set_message(format!(
            "loss {}  return {}  {:.0} k steps/s",
            mean(&|r| r.loss),
            mean(&|r| r.episode_return),
            steps / 1e3
        ));
    }

    pub(crate) fn finish(&self) {
        self.bar.finish_and_clear();
    }
}
