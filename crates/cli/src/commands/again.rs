//! A ledger's recorded actions again, on the stretch that it tells of: every number must come out as recorded.

use super::{
    finish::Traders,
    folds::{Fold, Walk, is_account},
    report::Paper,
    source::load_own_bars,
    trained::TrainedRun,
};
use crate::Failure;
use foxhunt_backtest::{Backtest, BacktestError, TestWindow};
use foxhunt_data::show_moment;
use foxhunt_device::Device;
use foxhunt_ledger::{FillRow, Ledger, LedgerHeader, reconcile};
use foxhunt_train::Market;
use std::path::Path;

/// The ledger of one of a run's folds, or of its account through all, again.
pub(super) fn of_walk(
    (run, out): (&Path, &Path),
    device: &Device,
    trained: &TrainedRun,
    (path, recorded): (&Path, &Ledger),
) -> Result<String, Failure> {
    let config = &trained.config;
    let markets = Market::folds(load_own_bars(run, config)?, config)?;
    let choices = &trained.of_folds;
    let walk =
        Walk { device, dtype: trained.dtype, config, markets: &markets, saves: &trained.saves, choices };
    let whole = walk.window()?;
    let is_of = |market: &Market, window: &TestWindow| stretch(market, window) == told(recorded);
    let last = markets.last().ok_or_else(|| Failure::Unusable("a run without folds".into()))?;
    let fold = markets.iter().position(|m| is_of(m, &TestWindow::test(m)));
    let (market, window) = match fold {
        _ if is_account(recorded) => (last, whole),
        Some(number) => (&markets[number], TestWindow::test(&markets[number])),
        None => (last, TestWindow::test(last)),
    };
    check_same(recorded, path, market, &window)?;
    if is_account(recorded) {
        let again =
            |b: &Backtest<'_>| check_rules(b, path, recorded).and_then(|()| replay(b, path, recorded));
        return walk.account_again(out, again, &trained.config_text);
    }
    let number = fold.unwrap_or(markets.len() - 1);
    let Fold { members, backtest, chosen } = walk.fold(number)?;
    check_own(&members, &backtest, path, recorded)?;
    let ledger = replay(&backtest, path, recorded)?;
    std::fs::create_dir_all(out).map_err(|e| Failure::file("make the folder", out, &e))?;
    let written = members.paper(&Paper {
        folder: out,
        run: Some(run),
        backtest: &backtest,
        ledger: &ledger,
        chosen: Some(chosen as u32),
        given: None,
        folds: &[],
        config_text: &trained.config_text,
    })?;
    Ok(written.text)
}

/// The ledger of a folder; says where one is if there is none.
pub(super) fn read_ledger(path: &Path) -> Result<Ledger, Failure> {
    if path.join(foxhunt_ledger::FILLS_FILE).is_file() {
        return Ok(Ledger::read(path)?);
    }
    let at = path.display();
    let own = path.join(super::finish::LEDGER);
    Err(Failure::Unusable(if own.is_dir() {
        format!("{at} is no ledger, but has one: name {}", own.display())
    } else {
        format!("{at} is no ledger: name a folder with bars and fills, such as RUN/ledger")
    }))
}

/// Refuses a ledger of other bars or another stretch: its actions would mean nothing here.
pub(super) fn check_same(
    recorded: &Ledger,
    path: &Path,
    market: &Market,
    window: &TestWindow,
) -> Result<(), Failure> {
    reconcile(recorded).map_err(|e| Failure::Check(format!("{}: {e}", path.display())))?;
    let theirs = &recorded.header;
    if theirs.data.sha256 == market.bars.source.sha256 && told(recorded) == stretch(market, window) {
        return Ok(());
    }
    let span = |(from, to): (i64, i64)| format!("{} to {}", show_moment(from), show_moment(to));
    Err(Failure::Refused(format!(
        "{} tells of the {} window of {} ({}, {}), and not of the {} window of {} ({}, {}) that is asked for: give a ledger of \
         this run, or with --data the file that it was made on",
        path.display(),
        theirs.window.name,
        theirs.instrument,
        theirs.data.name,
        span(told(recorded)),
        window.name,
        market.bars.instrument.name,
        market.bars.source.path,
        span(stretch(market, window)),
    )))
}

/// Refuses a ledger of other rules, or of other members than this run's chosen ones, and says where these decide otherwise: the page's lines under
/// stress are of their policy.
pub(super) fn check_own(
    members: &Traders<'_>,
    backtest: &Backtest<'_>,
    path: &Path,
    recorded: &Ledger,
) -> Result<(), Failure> {
    check_rules(backtest, path, recorded)?;
    let own = members.run(backtest)?;
    let known = |l: &Ledger| l.header.members.iter().map(|m| (m.id, m.seed)).collect::<Vec<_>>();
    if known(&own) != known(recorded) {
        let labels =
            |l: &Ledger| l.header.members.iter().map(|m| m.label.as_str()).collect::<Vec<_>>().join(", ");
        return Err(Failure::Refused(format!(
            "{} tells of {} with other seeds or numbers than this run's {}: give a ledger of this run, or of a backtest of it",
            path.display(),
            labels(recorded),
            labels(&own),
        )));
    }
    let differs = own.bars.iter().zip(&recorded.bars).find(|(a, b)| a.action != b.action);
    if let Some((first, _)) = differs {
        note!(
            "note: on this device the run's members decide otherwise than {} from {} on; lines under stress are of what they do here",
            path.display(),
            show_moment(first.time_ns)
        );
    }
    Ok(())
}

/// Refuses a ledger that other rules led to: other costs, other cash, another leverage. Every rule is a sentence of its header.
fn check_rules(backtest: &Backtest<'_>, path: &Path, recorded: &Ledger) -> Result<(), Failure> {
    let (ours, theirs) = (backtest.rules().assumptions(), &recorded.header.assumptions);
    let Some(own) = ours.iter().find(|rule| !theirs.contains(rule)) else { return Ok(()) };
    // What stands in its place, where anything does: both say the same of the same things in the same order.
    let other =
        theirs.iter().find(|rule| !ours.contains(rule)).map(|rule| format!(", and the ledger: \"{rule}\""));
    Err(Failure::Refused(format!(
        "{} was made by other rules. This run's say: \"{own}\"{}; give a ledger of this run",
        path.display(),
        other.unwrap_or_default()
    )))
}

/// The recorded actions again, which must give the recorded ledger to the unit.
pub(super) fn replay(backtest: &Backtest<'_>, path: &Path, recorded: &Ledger) -> Result<Ledger, Failure> {
    let again = backtest.replay(recorded).map_err(|e| match e {
        BacktestError::TooFewActions { member, given, .. } => Failure::Check(format!(
            "{} is not reproduced: its record of {} ends after {given} decisions, and here its account goes on",
            path.display(),
            recorded.header.members.get(member).map_or("a member", |m| &m.label)
        )),
        e => e.into(),
    })?;
    let bars = recorded.bars.iter().zip(&again.bars).filter(|(a, b)| a != b).count();
    // What is quoted follows from bar and reference, and ledgers of earlier programs don't have it.
    let fill = |f: &FillRow| FillRow { quoted_x4: 0, ..*f };
    let fills = recorded.fills.iter().zip(&again.fills).filter(|(a, b)| fill(a) != fill(b)).count();
    let lengths = recorded.bars.len() == again.bars.len() && recorded.fills.len() == again.fills.len();
    say!(
        "{} of {} bars and {} of {} fills come out as recorded",
        again.bars.len() - bars,
        recorded.bars.len(),
        again.fills.len() - fills,
        recorded.fills.len()
    )?;
    if bars > 0 || fills > 0 || !lengths {
        let what = format!("{} is not reproduced: {bars} bars and {fills} fills differ", path.display());
        return Err(Failure::Check(what));
    }
    // Of what stands above the numbers only the program's version may be another.
    let header = LedgerHeader { program: again.header.program.clone(), ..recorded.header.clone() };
    if header != again.header {
        let what =
            format!("{}: the numbers are reproduced, but its header tells of other rules", path.display());
        return Err(Failure::Check(what));
    }
    Ok(again)
}

/// When the first and the last bar of a window close.
fn stretch(market: &Market, window: &TestWindow) -> (i64, i64) {
    let close_ns = &market.bars.close_ns;
    (close_ns[window.rows.start], close_ns[window.rows.end - 1])
}

/// When the first and the last bar close that a ledger tells of.
fn told(ledger: &Ledger) -> (i64, i64) {
    let window = &ledger.header.window;
    (window.start_ns, window.end_ns)
}
