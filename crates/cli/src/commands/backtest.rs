use super::{
    finish::{Choice, SELECTION, agents},
    open,
    report::{Paper, write_paper},
    source::load_bars,
};
use crate::Failure;
use clap::Args;
use foxhunt_backtest::{Backtest, TestWindow};
use foxhunt_checkpoint::RunFolder;
use foxhunt_core::DType;
use foxhunt_device::DeviceChoice;
use foxhunt_ledger::Ledger;
use foxhunt_train::{Config, Market};
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
    let saves = RunFolder::list_saves(&args.run)?;
    let place = args.run.join("config.toml");
    let text = read(&place)?;
    let config = Config::resolve(Some((&place.display().to_string(), &text)), None, &[])?;
    let selection = args.run.join(SELECTION);
    if !selection.exists() {
        return Err(Failure::Check(format!(
            "{} has not chosen its members yet: finish it with foxhunt train --resume {}",
            args.run.display(),
            args.run.display()
        )));
    }
    let choices: Vec<Choice> = serde_json::from_str(&read(&selection)?)?;
    if args.out.read_dir().is_ok_and(|mut d| d.next().is_some()) {
        return Err(Failure::Check(format!("{} is not empty: name another folder", args.out.display())));
    }
    let own = Market::prepare(load_bars(&config.data.files)?, &config)?;
    let (market, window) = if args.data.is_empty() {
        let window = TestWindow::test(&own);
        (own, window)
    } else {
        let market = Market::prepare_with(load_bars(&args.data)?, &config, own.normaliser)?;
        let rows = market.splits.train.start..market.bars.len();
        (market, TestWindow { name: "other data".into(), rows })
    };
    let device = open(args.device)?;
    let dtype = saved_dtype(&saves, &choices)?;
    let backtest = Backtest::new(&device, dtype, &config, &market, window)?;
    let ledger = match &args.actions {
        None => agents(&backtest, &saves, &choices)?,
        Some(path) => replay(&backtest, path)?,
    };
    std::fs::create_dir_all(&args.out)
        .map_err(|e| Failure::Check(format!("can't make the folder {}: {e}", args.out.display())))?;
    let paper =
        Paper { folder: &args.out, run: &args.run, backtest: &backtest, ledger: &ledger, config_text: &text };
    write_paper(&paper)
}

fn read(path: &Path) -> Result<String, Failure> {
    std::fs::read_to_string(path).map_err(|e| Failure::Check(format!("can't read {}: {e}", path.display())))
}

/// The storage type of the chosen weights.
fn saved_dtype(saves: &[foxhunt_checkpoint::Save], choices: &[Choice]) -> Result<DType, Failure> {
    let gone = || Failure::Check("the chosen weights are gone: train again".into());
    let choice = choices.first().ok_or_else(gone)?;
    let save = saves.iter().find(|s| s.epoch() == choice.epoch).ok_or_else(gone)?;
    let weights = save.load_weights(choice.member)?;
    weights.iter().next().map(|(_, t)| t.dtype).ok_or_else(gone)
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
