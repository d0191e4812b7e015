use super::{
    place::{check_parquet, check_unwritten, write_new},
    source::{DataOptions, load_bars, refuse_markets, resolve},
};
use crate::Failure;
use clap::Args;
use foxhunt_features::{document, write_parquet};
use foxhunt_train::SetOption;
use std::path::PathBuf;

/// Write the raw features of bars as a Parquet file, or list what features there are
#[derive(Args)]
#[command(after_help = "Examples:
  foxhunt features --list
  foxhunt features EURUSD_1h.csv --out features.parquet --set features.set=full
  foxhunt features bars.csv --out features.parquet --feature-columns sentiment,funding
  foxhunt features --out two.parquet --set 'features.names=[\"adx_14\", \"week_return\"]'")]
pub(crate) struct FeaturesArgs {
    /// A file of bars; the embedded sample if left out
    file: Option<String>,
    /// The file to write: a row per bar with the time of its close, whether it is warm-up, and a column per feature
    #[arg(long, value_name = "FILE", required_unless_present = "list")]
    out: Option<PathBuf>,
    /// Print every feature: name, formula, window, timeframe, source, and why it is causal
    #[arg(long, conflicts_with_all = ["file", "out"])]
    list: bool,
    /// Keys of the configuration, such as features.set=full
    #[arg(long, value_name = "KEY=VALUE")]
    set: Vec<String>,
    #[command(flatten)]
    how: DataOptions,
}

pub(crate) fn run(args: &FeaturesArgs) -> Result<(), Failure> {
    let Some(out) = args.out.as_ref().filter(|_| !args.list) else {
        return say!("{}", document().trim_end());
    };
    check_unwritten(out)?;
    check_parquet(out)?;
    let mut set: Vec<SetOption> = args.set.iter().map(|s| SetOption::new("--set", s, s)).collect();
    set.extend(args.how.as_set());
    let config = resolve(None, None, &set)?;
    refuse_markets(&config, "features")?;
    let files: Vec<String> =
        args.file.as_ref().map_or_else(|| config.data.files.clone(), |file| vec![file.clone()]);
    let bars = load_bars(&files, &config)?;
    let columns = config.feature_set()?.columns(&bars)?;
    let name = out.display().to_string();
    write_new(out, |file| Ok(write_parquet(&name, &bars, &columns, file).map(|_| ())?))?;
    let warmup = columns.iter().map(|c| c.warmup).max().unwrap_or(0);
    say!("{name}: {} features of {} bars, the first {warmup} of them warm-up", columns.len(), bars.len())
}
