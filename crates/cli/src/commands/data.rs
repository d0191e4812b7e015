use super::{
    place::{check_parquet, check_unwritten, write_new},
    source::{DataOptions, open_bars, resolve, tell_far_prices},
};
use crate::Failure;
use clap::Subcommand;
use foxhunt_data::{BarWriter, Inspector, Picture};
use std::{io::Write, path::PathBuf};

/// Look at files of bars
#[derive(Subcommand)]
#[command(after_help = "Examples:
  foxhunt data inspect XBTUSD_60.csv.gz
  foxhunt data convert XBTUSD_60.csv.gz --out btc.parquet")]
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
            page.as_deref().map_or(Ok(()), check_unwritten)?;
            let files: Vec<String> = file.iter().cloned().collect();
            let config = resolve(None, None, &how.as_set())?;
            let mut bars = open_bars(&files, &config)?;
            // Of fewer lots the share that an order may take is under one.
            let least = (1.0 / config.market.participation_cap).ceil() as i64;
            let mut inspector = Inspector::new(bars.heading()).counting_below(least);
            let mut picture = page.as_ref().map(|_| Picture::new(bars.heading()));
            bars.each(|bar| {
                inspector.push(bar);
                picture.iter_mut().for_each(|picture| picture.push(bar));
                Ok(())
            })?;
            let inspection = inspector.finish();
            say!("{}", inspection.to_string().trim_end())?;
            let Some((page, picture)) = page.as_ref().zip(picture) else { return Ok(()) };
            write_new(page, |file| {
                file.write_all(picture.page(&inspection).as_bytes())
                    .map_err(|e| Failure::file("write", page, &e))
            })?;
            say!("plot        {}", page.display())
        }
        DataCommand::Convert { files, out, how } => {
            check_unwritten(out)?;
            check_parquet(out)?;
            let config = resolve(None, None, &how.as_set())?;
            let mut bars = open_bars(files, &config)?;
            let name = out.display().to_string();
            write_new(out, |file| {
                let mut writer = BarWriter::new(&name, bars.heading(), file)?;
                bars.each(|bar| writer.push(bar))?;
                Ok(writer.finish().map(|_| ())?)
            })?;
            tell_far_prices(&bars.heading().source);
            let unused = &bars.heading().source.columns_unused;
            if !unused.is_empty() {
                note!(
                    "note: left out: {}; --feature-columns keeps what is to be a feature",
                    unused.join(", ")
                );
            }
            let rows = bars.heading().rows;
            say!("{name}: {rows} bars; inspect it with foxhunt data inspect {name}")
        }
    }
}
