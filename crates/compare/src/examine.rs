//! Greedy policies of a slice on held-out windows.

use crate::{Point, Result, Scores, Task};
use foxhunt_backtest::{Agents, Backtest, Ends, TestWindow};
use foxhunt_core::DType;
use foxhunt_device::Device;
use foxhunt_ledger::{Ledger, reconcile};
use foxhunt_metrics::{Metric, Series, Undefined, sharpe_days, total_return};
use foxhunt_train::{Config, Market, Trainer};

/// Follows a slice: its learning curves, and the weights that the validation window chooses.
pub(crate) struct Examiner<'a> {
    device: &'a Device,
    dtype: DType,
    config: &'a Config,
    task: &'a Task<'a>,
    ids: Vec<u64>,
    /// On the validation window of each market.
    validation: Vec<Agents<'a>>,
    curves: Vec<Vec<Point>>,
    /// Of each member: the best return so far, after how many epochs, and the image of its weights.
    best: Vec<(f64, u32, Vec<f32>)>,
}

/// A member's curve, and its scores by chosen and by last weights.
pub(crate) type Examined = (Vec<Point>, Scores, Scores);

impl<'a> Examiner<'a> {
    pub(crate) fn new(
        device: &'a Device,
        dtype: DType,
        config: &'a Config,
        task: &'a Task<'a>,
    ) -> Result<Self> {
        let ids = config.member_ids();
        // Compiled once: it would take longer than the backtest itself.
        let validation = compiled(device, dtype, config, task, TestWindow::validation)?;
        let curves = vec![Vec::new(); ids.len()];
        Ok(Examiner { device, dtype, config, task, ids, validation, curves, best: Vec::new() })
    }

    /// Evaluates the weights as they are after `epoch` epochs.
    pub(crate) fn look(&mut self, epoch: u32, trainer: &Trainer) -> Result<()> {
        let images = trainer.runtime().read(trainer.net().weight)?;
        let one = images.len() / self.ids.len();
        let ends = self.validation.iter().map(|a| Ok(a.ends_of_images(&images)?));
        let ends = ends.collect::<Result<Vec<Vec<Ends>>>>()?;
        let mean = |m: usize, of: &dyn Fn(&TestWindow, Ends) -> f64| {
            let all = self.validation.iter().zip(&ends);
            all.map(|(a, one)| of(a.window(), one[m])).sum::<f64>() / ends.len() as f64
        };
        for (member, image) in images.chunks(one).enumerate() {
            let value = mean(member, &|_, e| e.total_return());
            let regret = self.task.regret.map(|of| mean(member, &|w, e| of(&w.name, e.log_return())));
            let regret = regret.filter(|x| x.is_finite());
            self.curves[member].push(Point { epoch, regret, total_return: Some(value) });
            match self.best.get_mut(member) {
                None => self.best.push((value, epoch, image.to_vec())),
                Some(best) if value > best.0 => *best = (value, epoch, image.to_vec()),
                Some(_) => {}
            }
        }
        Ok(())
    }

    /// Reads the test window, twice: by the chosen weights, and by the last.
    pub(crate) fn finish(self, trainer: &Trainer, epochs: u32) -> Result<Vec<Examined>> {
        let test = compiled(self.device, self.dtype, self.config, self.task, TestWindow::test)?;
        let last = trainer.runtime().read(trainer.net().weight)?;
        let last = scores(self.task, &played(&test, &last)?, epochs)?;
        let chosen: Vec<f32> = self.best.iter().flat_map(|best| best.2.iter().copied()).collect();
        let chosen = scores(self.task, &played(&test, &chosen)?, epochs)?;
        let chosen = chosen.into_iter().zip(&self.best).map(|(s, best)| Scores { epoch: best.1, ..s });
        Ok(self.curves.into_iter().zip(chosen).zip(last).map(|((curve, c), l)| (curve, c, l)).collect())
    }
}

/// All members on a window of each market.
fn compiled<'a>(
    device: &'a Device,
    dtype: DType,
    config: &'a Config,
    task: &'a Task<'a>,
    window: fn(&Market) -> TestWindow,
) -> Result<Vec<Agents<'a>>> {
    let one = |market: &'a Market| {
        Ok(Backtest::new(device, dtype, config, market, window(market))?.compile(&config.member_ids())?)
    };
    task.markets.iter().map(one).collect()
}

fn played(agents: &[Agents<'_>], images: &[f32]) -> Result<Vec<Ledger>> {
    agents.iter().map(|a| Ok(a.run_images(images)?)).collect()
}

/// Scores of every member, means over the ledgers of each market. A score that one of them lacks is none.
fn scores(task: &Task<'_>, ledgers: &[Ledger], epoch: u32) -> Result<Vec<Scores>> {
    let all = ledgers.iter().map(|l| scores_of(task, l, epoch)).collect::<Result<Vec<_>>>()?;
    let members = all.iter().map(Vec::len).min().unwrap_or(0);
    let mean = |m: usize, of: fn(&Scores) -> Option<f64>| {
        Some(all.iter().map(|one| of(&one[m])).sum::<Option<f64>>()? / all.len() as f64)
    };
    let one = |m: usize| Scores {
        epoch,
        regret: mean(m, |s| s.regret),
        sharpe: mean(m, |s| s.sharpe),
        total_return: mean(m, |s| s.total_return),
        ruined: all.iter().any(|one| one[m].ruined),
    };
    Ok((0..members).map(one).collect())
}

/// Scores of every member of a ledger.
fn scores_of(task: &Task<'_>, ledger: &Ledger, epoch: u32) -> Result<Vec<Scores>> {
    let attribution = reconcile(ledger)?;
    let of = |(member, lines): (usize, &_)| -> Result<Scores> {
        let series = Series::new(ledger, lines);
        let sharpe = match sharpe_days(&series) {
            // A policy that stays flat has earned nothing at no risk: leaving it out would favour those that gave up.
            Metric::Undefined(Undefined::NoVariation) => Some(0.0),
            other => other.value(),
        };
        let ends = Ends::of(ledger, member as u32);
        let regret = task.regret.zip(ends).map(|(of, e)| of(&ledger.header.window.name, e.log_return()));
        let regret = regret.filter(|x| x.is_finite());
        let ruined = ledger.bars_of(member as u32).last().is_some_and(|row| row.flags.terminated);
        Ok(Scores { epoch, regret, sharpe, total_return: total_return(&series).value(), ruined })
    };
    attribution.members.iter().enumerate().map(of).collect()
}
