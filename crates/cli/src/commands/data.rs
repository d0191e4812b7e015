use super::{
    place::write_new,
    source::{DataOptions, load_bars, resolve},
};
use crate::Failure;
use clap::Subcommand;
use foxhunt_data::{inspect, plot, write_parquet};
use std::{io::Write, path::PathBuf};

/// Look at files of bars
#[derive(Subcommand)]
pub(crate) enum DataCommand {
    /// Show what was understood of a file, what was repaired, and what its bars are like
    #[command(after_help = "Examples:
  foxhunt data inspect
  foxhunt data inspect XBTUSD_60.csv.gz --plot bars.html
  foxhunt data inspect bars.csv --instrument EUR/USD --time-zone America/New_York")]
    Inspect {
        /// A file of bars: text, JSON, Parquet or DBN, plain or in gzip, zstd or zip; the embedded sample if left out
        file: Option<String>,
        /// Draw the bars, with gaps and jumps marked, into one HTML page
        #[arg(long, value_name = "FILE")]
        plot: Option<PathBuf>,
        #[command(flatten)]
        how: DataOptions,
    },
    /// Read files of bars and write them as one Parquet file, which says of itself all that was understood
    #[command(after_help = "Examples:
  foxhunt data convert XBTUSD_60.csv.gz --out btc.parquet
  foxhunt data convert 2017.csv 2018.csv --instrument EUR/USD --date-order day-first --out eurusd.parquet
  foxhunt data convert bars.csv --feature-columns sentiment,funding --out bars.parquet")]
    Convert {
        /// Files of bars of one instrument, in order of time
        #[arg(required = true)]
        files: Vec<String>,
        /// The file to write
        #[arg(long, value_name = "FILE")]
        out: PathBuf,
        #[command(flatten)]
        how: DataOptions,
    },
}

pub(crate) fn run(command: &DataCommand) -> Result<(), Failure> {
    match command {
        DataCommand::Inspect { file, plot: page, how } => {
            let files: Vec<String> = file.iter().cloned().collect();
            let config = resolve(None, None, &how.as_set())?;
            let bars = load_bars(&files, &config)?;
            let inspection = inspect(&bars);
            say!("{}", inspection.to_string().trim_end())?;
            let Some(page) = page else { return Ok(()) };
            write_new(page, |file| {
                file.write_all(plot(&bars, &inspection).as_bytes())
                    .map_err(|e| Failure::file("write", page, &e))
            })?;
            say!("plot        {}", page.display())
        }
        DataCommand::Convert { files, out, how } => {
            let config = resolve(None, None, &how.as_set())?;
            let bars = load_bars(files, &config)?;
            let name = out.display().to_string();
            write_new(out, |file| Ok(write_parquet(&name, &bars, file).map(|_| ())?))?;
            let unused = &bars.source.columns_unused;
            if !unused.is_empty() {
                note!(
                    "note: left out: {}; --feature-columns keeps what is to be a feature",
                    unused.join(", ")
                );
            }
            let bars = bars.len();
            say!("{name}: {bars} bars; inspect it with foxhunt data inspect {name}")
        }
    }
}
