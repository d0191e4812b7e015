//! What follows the last epoch of a run that walks forward: each fold on its own test window, and one account through all.

use super::{
    finish::{Choice, Chosen, Finish, Tested, Traders, trials},
    report::{Paper, Written, write_paper},
    stop, table,
};
use crate::Failure;
use foxhunt_backtest::{Backtest, Strategy, Stretch, TestWindow, recorded, stitched};
use foxhunt_checkpoint::Save;
use foxhunt_core::{DType, rng::member_seed};
use foxhunt_device::Device;
use foxhunt_ledger::Ledger;
use foxhunt_report::PartLine;
use foxhunt_train::{Config, Market};
use std::{ops::Range, path::Path};

/// What the account through all test windows is called.
const NAME: &str = "the chosen of each fold";

/// Whether a ledger is of the account through all test windows.
pub(crate) fn is_account(ledger: &Ledger) -> bool {
    matches!(ledger.header.members.as_slice(), [only] if only.label == NAME)
}

/// One fold, ready to run by any rules.
pub(crate) struct Fold<'a> {
    pub(crate) backtest: Backtest<'a>,
    pub(crate) members: Traders<'a>,
    /// The place of the chosen member.
    pub(crate) chosen: usize,
}

/// What the folds of a run are tested with.
#[derive(Clone, Copy)]
pub(crate) struct Walk<'a> {
    pub(crate) device: &'a Device,
    pub(crate) dtype: DType,
    pub(crate) config: &'a Config,
    /// The market of each fold.
    pub(crate) markets: &'a [Market],
    pub(crate) saves: &'a [Save],
    /// Of every fold.
    pub(crate) choices: &'a [Choice],
}

impl<'a> Walk<'a> {
    fn own(&self, number: usize) -> Vec<Choice> {
        self.choices.iter().filter(|c| c.fold == Some(number)).cloned().collect()
    }

    pub(crate) fn fold(&self, number: usize) -> Result<Fold<'a>, Failure> {
        let (own, market) = (self.own(number), &self.markets[number]);
        let backtest = Backtest::new(self.device, self.dtype, self.config, market, TestWindow::test(market))?;
        Ok(Fold {
            members: Chosen::after(self.saves, &own, trials(self.choices))?.on(&backtest)?,
            backtest,
            chosen: own.iter().position(|c| c.chosen).unwrap_or(0),
        })
    }

    /// From the first fold's test window to the last one's end.
    pub(crate) fn window(&self) -> Result<TestWindow, Failure> {
        let (Some(first), Some(last)) = (self.markets.first(), self.markets.last()) else {
            return Err(Failure::Unusable("a run without folds".into()));
        };
        Ok(TestWindow { name: "test".into(), rows: first.splits.test.start..last.splits.test.end })
    }

    /// One account through all test windows.
    fn account(&self) -> Result<(Backtest<'a>, u64), Failure> {
        // The bars are the same in all folds, and an account has no features. What baselines read of volatility is weighed by the
        // first fold's bars a day, which were known when the stretch begins.
        let backtest = Backtest::new(self.device, self.dtype, self.config, &self.markets[0], self.window()?)?;
        Ok((backtest.with_trials(trials(self.choices)), member_seed(self.config.seed, 0)))
    }

    /// The account's recorded actions again, with its page and ledger in `folder`.
    pub(crate) fn account_again(
        &self,
        folder: &Path,
        replay: impl FnOnce(&Backtest<'_>) -> Result<Ledger, Failure>,
        config_text: &str,
    ) -> Result<String, Failure> {
        let (backtest, seed) = self.account()?;
        let ledger = replay(&backtest)?;
        let folds = (0..self.markets.len()).map(|n| self.fold(n)).collect::<Result<Vec<_>, _>>()?;
        std::fs::create_dir_all(folder).map_err(|e| Failure::file("make the folder", folder, &e))?;
        let paper = Paper {
            folder,
            run: None,
            backtest: &backtest,
            ledger: &ledger,
            chosen: None,
            given: None,
            folds: &[],
            config_text,
        };
        Ok(account_paper(&paper, &folds, seed)?.text)
    }
}

/// The page of the account through all folds.
fn account_paper(paper: &Paper<'_>, folds: &[Fold<'_>], seed: u64) -> Result<Written, Failure> {
    let actions = recorded(paper.ledger);
    let window = paper.backtest.window();
    write_paper(paper, &mut |b| again(folds, window, seed, b), &mut |b| {
        Ok(b.strategy(&actions.delayed(b.window().decisions()))?)
    })
}

/// Backtests each fold into a folder of its own and one account through all test windows.
pub(crate) fn finish(x: &Finish<'_>, choices: &[Choice]) -> Result<Tested, Failure> {
    let Finish { device, dtype, config, markets, saves, .. } = *x;
    let walk = Walk { device, dtype, config, markets, saves, choices };
    let mut folds = Vec::new();
    let mut lines = Vec::new();
    for (number, market) in x.markets.iter().enumerate() {
        stop::here()?;
        let (own, fold) = (walk.own(number), walk.fold(number)?);
        let ledger = fold.members.run(&fold.backtest)?;
        let name = format!("fold_{number}");
        let folder = x.out.join(&name);
        std::fs::create_dir_all(&folder).map_err(|e| Failure::file("make the folder", &folder, &e))?;
        fold.members.paper(&Paper {
            folder: &folder,
            run: Some(x.folder),
            backtest: &fold.backtest,
            ledger: &ledger,
            chosen: Some(fold.chosen as u32),
            given: None,
            folds: &[],
            config_text: x.config_text,
        })?;
        lines.push(line(x.config, market, &own, fold.chosen, ledger, format!("{name}/report.html")));
        folds.push(fold);
    }
    stop::here()?;
    let window = walk.window()?;
    let (backtest, seed) = walk.account()?;
    let all = through(&window, seed, folds.iter().zip(&lines).map(|(f, l)| (f, &l.ledger)));
    let ledger = backtest.strategy(&all)?;
    let paper = Paper {
        folder: x.out,
        run: None,
        backtest: &backtest,
        ledger: &ledger,
        chosen: None,
        given: None,
        folds: &lines,
        config_text: x.config_text,
    };
    let Written { text, baselines, stress } = account_paper(&paper, &folds, seed)?;
    Ok(Tested {
        text: format!("{}\none account through all test windows\n{text}", table::folds(&lines)?),
        ledger,
        member: 0,
        chosen: NAME.into(),
        baselines,
        stress,
    })
}

/// Every fold's policy decides anew by the rules and spread of `b`, and one account carries that out.
fn again(folds: &[Fold<'_>], window: &TestWindow, seed: u64, b: &Backtest<'_>) -> Result<Ledger, Failure> {
    let decide = |f: &Fold<'_>| {
        stop::here()?;
        Ok(f.members.run(&f.backtest.clone().under(b)?)?)
    };
    let ledgers = folds.iter().map(decide).collect::<Result<Vec<Ledger>, Failure>>()?;
    Ok(b.strategy(&through(window, seed, folds.iter().zip(&ledgers)))?)
}

fn through<'a>(
    window: &TestWindow,
    seed: u64,
    folds: impl Iterator<Item = (&'a Fold<'a>, &'a Ledger)>,
) -> Strategy {
    let stretches: Vec<Stretch<'_>> = folds
        .map(|(f, ledger)| Stretch {
            rows: f.backtest.window().rows.clone(),
            ledger,
            member: f.chosen as u32,
        })
        .collect();
    stitched(window, NAME, seed, &stretches)
}

fn line(
    config: &Config,
    market: &Market,
    choices: &[Choice],
    chosen: usize,
    ledger: Ledger,
    page: String,
) -> PartLine {
    let ends = |rows: &Range<usize>| [rows.start, rows.end - 1].map(|row| market.bars.close_ns[row]);
    let (member, epoch) = choices.get(chosen).map_or((0, 0), |c| (config.number_of(c.member), c.epoch));
    PartLine {
        train: Some(ends(&market.splits.train)),
        validation: Some(ends(&market.splits.validation)),
        test: ends(&market.splits.test),
        chosen: format!("member {member} after epoch {epoch}"),
        page,
        ledger,
        member: chosen as u32,
    }
}
