use super::{
    finish::agents,
    open,
    report::{Paper, write_paper},
    source::load_bars,
    trained::TrainedRun,
};
use crate::Failure;
use clap::Args;
use foxhunt_backtest::{Backtest, TestWindow};
use foxhunt_device::DeviceChoice;
use foxhunt_ledger::Ledger;
use foxhunt_train::Market;
use std::path::{Path, PathBuf};

/// Backtest the chosen members of a run again, on its own test window or on other bars
#[derive(Args)]
#[command(after_help = "Examples:
  foxhunt backtest runs/first --out runs/first-again
  foxhunt backtest runs/first --actions runs/first/ledger --out runs/first-replayed
  foxhunt backtest runs/first --data EURUSD_2018.csv --out runs/first-2018")]
pub(crate) struct BacktestArgs {
    /// A finished run
    #[arg(value_name = "RUN")]
    run: PathBuf,
    /// Other bars: the whole file is tested, with features normalised as in training
    #[arg(long, value_name = "FILE")]
    data: Vec<String>,
    /// A ledger whose actions are taken again, instead of the members': every number must come out the same
    #[arg(long, value_name = "LEDGER", conflicts_with = "data")]
    actions: Option<PathBuf>,
    /// Where ledger and report go, a new or empty folder
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
    /// auto, cpu, cuda or cuda:n
    #[arg(long, default_value = "auto")]
    device: DeviceChoice,
}

pub(crate) fn run(args: &BacktestArgs) -> Result<(), Failure> {
    let trained = TrainedRun::open(&args.run)?;
    if args.out.read_dir().is_ok_and(|mut d| d.next().is_some()) {
        return Err(Failure::Check(format!("{} is not empty: name another folder", args.out.display())));
    }
    let config = &trained.config;
    let own = Market::prepare(load_bars(&config.data.files)?, config)?;
    let (market, window) = if args.data.is_empty() {
        let window = TestWindow::test(&own);
        (own, window)
    } else {
        let market = Market::prepare_unseen(load_bars(&args.data)?, config, &own)?;
        let rows = market.splits.train.start..market.bars.len();
        (market, TestWindow { name: "other data".into(), rows })
    };
    let device = open(args.device)?;
    let backtest = Backtest::new(&device, trained.dtype, config, &market, window)?;
    let ledger = match &args.actions {
        None => agents(&backtest, &trained.saves, &trained.choices)?,
        Some(path) => replay(&backtest, path)?,
    };
    std::fs::create_dir_all(&args.out)
        .map_err(|e| Failure::Check(format!("can't make the folder {}: {e}", args.out.display())))?;
    write_paper(&Paper {
        folder: &args.out,
        run: &args.run,
        backtest: &backtest,
        ledger: &ledger,
        config_text: &trained.config_text,
    })
}

/// The recorded actions again, which must give the recorded ledger to the unit.
fn replay(backtest: &Backtest<'_>, path: &Path) -> Result<Ledger, Failure> {
    let recorded = Ledger::read(path)?;
    let again = backtest.replay(&recorded)?;
    let bars = recorded.bars.iter().zip(&again.bars).filter(|(a, b)| a != b).count();
    let fills = recorded.fills.iter().zip(&again.fills).filter(|(a, b)| a != b).count();
    let lengths = recorded.bars.len() == again.bars.len() && recorded.fills.len() == again.fills.len();
    println!(
        "{} of {} bars and {} of {} fills come out as recorded",
        again.bars.len() - bars,
        recorded.bars.len(),
        again.fills.len() - fills,
        recorded.fills.len()
    );
    if bars == 0 && fills == 0 && lengths {
        return Ok(again);
    }
    Err(Failure::Check(format!("{} is not reproduced: {bars} bars and {fills} fills differ", path.display())))
}
