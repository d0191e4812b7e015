//! Configuration and data, as commands take them.

use super::{number, place, setting::Setting};
use crate::Failure;
use clap::Args;
use foxhunt_checkpoint::RunFolder;
use foxhunt_data::{
    BarStream, Bars, DateOrder, DecimalMark, Instrument, LoadOptions, RangePolicy, SourceInfo, StampSide,
    delimiter, load, presets, sample,
};
use foxhunt_train::{Config, Dates, DecimalMarks, SetOption, Size, Stamps};
use std::path::Path;

/// The configuration of a file, a size and options.
pub(crate) fn resolve(file: Option<&Path>, size: Option<Size>, set: &[SetOption]) -> Result<Config, Failure> {
    let text = file.map(place::read).transpose()?;
    let name = file.map(|p| p.display().to_string()).unwrap_or_default();
    let given = text.as_deref().map(|t| (name.as_str(), t));
    Ok(Config::resolve_options(given, size, set)?)
}

/// How files of bars are to be read, where they don't tell.
#[derive(Args)]
#[command(next_help_heading = "Data")]
pub(crate) struct DataOptions {
    /// The instrument: a name such as EUR/USD, BTC/USD, PERP:BTC/USDT, US:NVDA or CME:ES, or a TOML file of its numbers
    #[arg(long, value_name = "NAME|FILE")]
    instrument: Option<String>,
    /// Zone of stamps without one: UTC, America/New_York
    #[arg(long, value_name = "ZONE")]
    time_zone: Option<String>,
    /// What stamps are: auto, open or close
    #[arg(long, value_name = "WHAT", value_parser = ["auto", "open", "close"])]
    stamps: Option<String>,
    /// Order of dates: auto, year-first, day-first or month-first
    #[arg(long, value_name = "ORDER", value_parser = ["auto", "year-first", "day-first", "month-first"])]
    date_order: Option<String>,
    /// Length of a bar, seconds
    #[arg(long, value_name = "SECONDS", allow_negative_numbers = true, value_parser = number::whole(1..=u32::MAX))]
    bar_seconds: Option<u32>,
    /// Which symbol to read from a file of several
    #[arg(long, value_name = "NAME")]
    symbol: Option<String>,
    /// Which column is what: time=Date,close=Last,volume=none; names of the header, or #1, #2, …
    #[arg(long, value_name = "FIELD=COLUMN,...")]
    columns: Option<String>,
    /// Columns of the file that are no part of a bar, as features: sentiment,funding; their values must be known at the bar's
    /// close
    #[arg(long, value_name = "NAME,...", value_delimiter = ',')]
    feature_columns: Vec<String>,
    /// What is between cells: comma, semicolon, tab, bar or blank
    #[arg(long, value_name = "NAME", value_parser = ["comma", "semicolon", "tab", "bar", "blank"])]
    delimiter: Option<String>,
    /// What stands before decimals: auto, point or comma
    #[arg(long, value_name = "MARK", value_parser = ["auto", "point", "comma"])]
    decimal: Option<String>,
    /// Widen bars whose open or close lies outside their low and high, and count them, instead of refusing the file
    #[arg(long)]
    widen_ranges: bool,
}

impl DataOptions {
    /// The keys of the configuration that they set.
    pub(crate) fn as_set(&self) -> Vec<SetOption> {
        let text = |name: &str, key: &str, x: &Option<String>| {
            x.as_ref().map(|x| SetOption::new(name, &format!("data.{key}={x:?}"), x))
        };
        [
            text("--instrument", "instrument", &self.instrument),
            text("--time-zone", "time_zone", &self.time_zone),
            text("--stamps", "stamps", &self.stamps),
            text("--date-order", "date_order", &self.date_order),
            self.bar_seconds
                .map(|s| SetOption::new("--bar-seconds", &format!("data.bar_seconds={s}"), &s.to_string())),
            text("--symbol", "symbol", &self.symbol),
            text("--columns", "columns", &self.columns),
            (!self.feature_columns.is_empty()).then(|| {
                let names = &self.feature_columns;
                SetOption::new("--feature-columns", &format!("features.columns={names:?}"), &names.join(","))
            }),
            text("--delimiter", "delimiter", &self.delimiter),
            text("--decimal", "decimal", &self.decimal),
            self.widen_ranges.then(|| SetOption::new("--widen-ranges", "data.widen_ranges=true", "true")),
        ]
        .into_iter()
        .flatten()
        .collect()
    }
}

/// A run's configuration as it reads the files of `--data`: with the keys of its instrument, where it has several, and with
/// what `options` say over both.
pub(crate) fn reading(config: &Config, files: &[String], options: &DataOptions) -> Result<Config, Failure> {
    let set = options.as_set();
    if files.is_empty() && !set.is_empty() {
        return Err(Failure::Refused(
            "a run's own files are read as its configuration says: name others with --data, or leave out how data are read".into(),
        ));
    }
    if !options.feature_columns.is_empty() {
        return Err(Failure::Refused("a run has its own features: leave --feature-columns out".into()));
    }
    let mut data = config.data.of_market(0);
    let said = Config::resolve_options(None, None, &set)?.data;
    let given = |option: &Option<String>| option.is_some();
    for (to, from, given) in [
        (&mut data.instrument, said.instrument, given(&options.instrument)),
        (&mut data.time_zone, said.time_zone, given(&options.time_zone)),
        (&mut data.symbol, said.symbol, given(&options.symbol)),
        (&mut data.columns, said.columns, given(&options.columns)),
        (&mut data.delimiter, said.delimiter, given(&options.delimiter)),
    ] {
        if given {
            *to = from;
        }
    }
    if given(&options.stamps) {
        data.stamps = said.stamps;
    }
    if given(&options.date_order) {
        data.date_order = said.date_order;
    }
    if given(&options.decimal) {
        data.decimal = said.decimal;
    }
    if options.bar_seconds.is_some() {
        data.bar_seconds = said.bar_seconds;
    }
    data.widen_ranges |= said.widen_ranges;
    Ok(Config { data, ..config.clone() })
}

fn load_options(config: &Config) -> Result<LoadOptions, Failure> {
    let data = &config.data;
    let name = data.instrument.trim();
    let instrument = if name.is_empty() {
        None
    } else if Path::new(name).extension().is_some_and(|e| e == "toml") {
        Some(Instrument::from_toml_file(name, &place::read(Path::new(name))?)?)
    } else {
        Some(
            presets::named(name)
                .map_err(|e| Failure::Unusable(format!("--instrument (data.instrument): {e}")))?,
        )
    };
    Ok(LoadOptions {
        instrument,
        time_zone: (!data.time_zone.is_empty()).then(|| data.time_zone.clone()),
        stamp_side: match data.stamps {
            Stamps::Auto => None,
            Stamps::Open => Some(StampSide::Open),
            Stamps::Close => Some(StampSide::Close),
        },
        date_order: match data.date_order {
            Dates::Auto => None,
            Dates::YearFirst => Some(DateOrder::YearFirst),
            Dates::DayFirst => Some(DateOrder::DayFirst),
            Dates::MonthFirst => Some(DateOrder::MonthFirst),
        },
        bar_seconds: (data.bar_seconds > 0).then_some(data.bar_seconds),
        symbol: (!data.symbol.is_empty()).then(|| data.symbol.clone()),
        range_policy: if data.widen_ranges { RangePolicy::Widen } else { RangePolicy::Refuse },
        columns: data
            .columns
            .parse()
            .map_err(|e| Failure::Unusable(format!("--columns (data.columns): {e}")))?,
        extra: config.features.columns.clone(),
        otherwise: None,
        delimiter: match data.delimiter.as_str() {
            "" => None,
            name => Some(delimiter(name).ok_or_else(|| {
                let known = "comma, semicolon, tab, bar or blank";
                Failure::Unusable(format!(
                    "--delimiter (data.delimiter): '{name}' is not known: name {known}"
                ))
            })?),
        },
        decimal: match data.decimal {
            DecimalMarks::Auto => None,
            DecimalMarks::Point => Some(DecimalMark::Point),
            DecimalMarks::Comma => Some(DecimalMark::Comma),
        },
    })
}

/// How files are read, or the sample where there is none.
fn options_for(files: &[String], config: &Config) -> Result<LoadOptions, Failure> {
    let options = load_options(config)?;
    let said = config.data.reading();
    if files.is_empty() && !said.is_empty() {
        return Err(Failure::Unusable(format!(
            "{} says how files are read, and no file is named: name one with --data, or leave it out",
            said.join(", ")
        )));
    }
    if files.is_empty() && !options.extra.is_empty() {
        return Err(Failure::Unusable(format!(
            "--feature-columns (features.columns) names {}, and the embedded sample has bars alone: name a file that has them",
            options.extra.join(", ")
        )));
    }
    Ok(options)
}

/// The bars of the files, one after the other, or the embedded sample; read as the configuration says.
pub(crate) fn load_bars(files: &[String], config: &Config) -> Result<Bars, Failure> {
    load_bars_or(files, config, None)
}

/// The same, of `otherwise` where neither configuration nor file tells an instrument.
pub(crate) fn load_bars_or(
    files: &[String],
    config: &Config,
    otherwise: Option<&Instrument>,
) -> Result<Bars, Failure> {
    let options = LoadOptions { otherwise: otherwise.cloned(), ..options_for(files, config)? };
    let mut all: Option<Bars> = None;
    for file in files {
        let bars = load(file, &options)?;
        all = Some(match all {
            None => bars,
            Some(before) => before.append(bars)?,
        });
    }
    let bars = all.unwrap_or_else(sample);
    tell_far_prices(&bars.source);
    Ok(bars)
}

/// Says on stderr which prices are far from those around them: whatever is done with the bars takes them as they stand.
pub(crate) fn tell_far_prices(source: &SourceInfo) {
    if let Some(words) = source.splits() {
        note!(
            "note: {}: {words}; prices stay as they are, and the jump is traded: where it was a split, give prices that are adjusted \
             for it",
            source.path
        );
    }
    if let Some(words) = source.far_prices() {
        note!("note: {}: {words}; they stay as they are: mend the rows if they are wrong", source.path);
    }
}

/// The same files or the sample, for bars that are taken one after the other and not held.
pub(crate) fn open_bars(files: &[String], config: &Config) -> Result<BarStream, Failure> {
    let options = options_for(files, config)?;
    let mut all: Option<BarStream> = None;
    for file in files {
        let bars = BarStream::open(file, &options)?;
        all = Some(match all {
            None => bars,
            Some(before) => before.append(bars)?,
        });
    }
    Ok(all.map_or_else(BarStream::sample, Ok)?)
}

/// The configuration that a run was begun with, resolved and as it stands in its folder.
pub(crate) fn own_config(run: &Path) -> Result<(Config, String), Failure> {
    let text = RunFolder::read_config(run)?;
    let place = run.join("config.toml");
    Ok((Config::resolve(Some((&place.display().to_string(), &text)), None, &[])?, text))
}

/// The bars of every instrument of a configuration, in its order.
pub(crate) fn load_markets(config: &Config) -> Result<Vec<Bars>, Failure> {
    let load = |market: usize| {
        let of = Config { data: config.data.of_market(market), ..config.clone() };
        load_bars(&of.data.files, &of).map_err(|e| e.at_some(config.market_place(market).as_deref()))
    };
    (0..config.markets()).map(load).collect()
}

/// The files of `--data`, if any, in place of the configuration's.
pub(crate) fn take_files(config: &mut Config, files: &[String]) -> Result<(), Failure> {
    if files.is_empty() {
        return Ok(());
    }
    if config.lists_markets() {
        return Err(Failure::Unusable(
            "--data and data.markets both name files: leave one of them out".into(),
        ));
    }
    config.data.files = files.to_vec();
    Ok(())
}

/// Refuses a configuration that lists instruments where a command takes one.
pub(crate) fn refuse_markets(config: &Config, command: &str) -> Result<(), Failure> {
    if !config.lists_markets() {
        return Ok(());
    }
    let what =
        format!("{command} takes one instrument: give its files with --data, and leave data.markets out");
    Err(Failure::Refused(what))
}

/// The bars that a run with one instrument was begun on, or one with several that was narrowed to it.
pub(crate) fn load_own_bars(run: &Path, config: &Config) -> Result<Bars, Failure> {
    let (mut bars, _) = load_own_markets(run, config)?;
    bars.pop().ok_or_else(|| Failure::Unusable(format!("{} names no data", run.display())))
}

/// The bars of every instrument that a run was begun on, and its setting.
pub(crate) fn load_own_markets(run: &Path, config: &Config) -> Result<(Vec<Bars>, Option<Setting>), Failure> {
    let all: Vec<_> = (0..config.markets()).map(|m| config.data.of_market(m)).collect();
    let mut files = all.iter().flat_map(|data| &data.files);
    if let Some(missing) = files.find(|f| Path::new(f).is_relative() && !Path::new(f).exists()) {
        return Err(Failure::Unusable(format!(
            "there is no {missing}; {} names its data relative to the folder that it was begun in: start foxhunt there",
            run.display()
        )));
    }
    let bars = load_markets(config)?;
    let setting = Setting::read(run)?;
    if let Some(setting) = &setting {
        for (market, bars) in bars.iter().enumerate() {
            setting.check(config.market_name(market), bars)?;
        }
    }
    Ok((bars, setting))
}
