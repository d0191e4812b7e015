//! What the live view knows of a run.

use foxhunt_train::EpochReport;
use std::time::Duration;

/// A figure of one epoch over the members: mean and extremes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Band {
    pub(crate) mean: f64,
    pub(crate) low: f64,
    pub(crate) high: f64,
}

impl Band {
    /// Of the members that have the figure; nothing where none has.
    pub(crate) fn of(values: impl Iterator<Item = Option<f64>>) -> Option<Self> {
        let values: Vec<f64> = values.flatten().filter(|x| x.is_finite()).collect();
        let (low, high) =
            (values.iter().copied().reduce(f64::min)?, values.iter().copied().reduce(f64::max)?);
        Some(Band { mean: values.iter().sum::<f64>() / values.len() as f64, low, high })
    }
}

/// A figure by epochs done.
pub(crate) type Curve = Vec<(f64, Band)>;

/// What the live view knows of a run.
#[derive(Clone, Debug, Default)]
pub(crate) struct Board {
    /// The run's folder.
    pub(crate) run: String,
    /// The device, and how numbers are stored.
    pub(crate) device: String,
    /// What is trained on.
    pub(crate) data: String,
    pub(crate) members: usize,
    /// Bytes that the training takes on the device.
    pub(crate) memory: u64,
    /// Environment steps of all members in an epoch.
    pub(crate) steps: u64,
    /// Epochs to do, done, and done before this process went on with them.
    pub(crate) epochs: u64,
    pub(crate) done: u64,
    pub(crate) first: u64,
    pub(crate) loss: Curve,
    pub(crate) gained: Curve,
    pub(crate) validation: Curve,
    /// Whether a signal has asked to stop.
    pub(crate) stopping: bool,
}

impl Board {
    /// Adds epochs' reports, whole epochs in order.
    pub(crate) fn add(&mut self, reports: &[EpochReport]) {
        for epoch in reports.chunk_by(|a, b| a.epoch == b.epoch) {
            let done = u64::from(epoch[0].epoch) + 1;
            let push = |curve: &mut Curve, of: &dyn Fn(&EpochReport) -> Option<f64>| {
                curve.extend(Band::of(epoch.iter().map(of)).map(|band| (done as f64, band)));
            };
            push(&mut self.loss, &|r| r.loss);
            push(&mut self.gained, &|r| r.episode_return);
            self.done = done;
        }
    }

    /// Adds the members' returns on the validation window after the last epoch.
    pub(crate) fn score(&mut self, returns: &[f64]) {
        let band = Band::of(returns.iter().copied().map(Some));
        self.validation.extend(band.map(|band| (self.done as f64, band)));
    }

    /// Environment steps a second, after `elapsed` in which the epochs since [`Board::first`] were done.
    pub(crate) fn rate(&self, elapsed: Duration) -> Option<f64> {
        let epochs = self.done.saturating_sub(self.first);
        (epochs > 0 && !elapsed.is_zero()).then(|| (epochs * self.steps) as f64 / elapsed.as_secs_f64())
    }

    /// Time until the last epoch is done, if all take as long as those so far; `now` since the last one ended.
    pub(crate) fn left(&self, elapsed: Duration, now: Duration) -> Option<Duration> {
        let epochs = u32::try_from(self.done.saturating_sub(self.first)).ok().filter(|e| *e > 0)?;
        let rest = u32::try_from(self.epochs.saturating_sub(self.done)).ok()?;
        Some((elapsed / epochs).checked_mul(rest)?.saturating_sub(now))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bands_rates_and_time_left() {
        assert_eq!(Band::of([None, Some(f64::NAN)].into_iter()), None);
        let band = Band::of([Some(1.0), None, Some(4.0)].into_iter());
        assert_eq!(band, Some(Band { mean: 2.5, low: 1.0, high: 4.0 }));
        let seconds = Duration::from_secs;
        let mut board = Board { epochs: 10, first: 2, done: 2, steps: 100, ..Board::default() };
        assert_eq!((board.rate(seconds(5)), board.left(seconds(5), seconds(0))), (None, None));
        board.done = 4;
        assert_eq!(board.rate(seconds(10)), Some(20.0));
        assert_eq!(board.left(seconds(10), seconds(3)), Some(seconds(27)));
        assert_eq!(board.left(seconds(10), seconds(99)), Some(seconds(0)));
    }
}
