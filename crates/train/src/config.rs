//! What a training run is: every number that decides it, with its default.

mod check;
mod cost;
mod groups;
mod keys;
mod markets;
mod storage;
mod walk_forward;
mod windows;

pub use cost::Cost;
pub use groups::{Group, Policy};
pub use keys::{documented, nearest_key, schema};
pub use markets::{MARKET_IDS, MarketData};
pub use storage::WeightsChoice;
pub use walk_forward::{FOLD_IDS, WalkForward};

use crate::TrainError;
use foxhunt_core::{Rounding, plain_words};
use foxhunt_features::{FeatureError, FeatureSet};
use foxhunt_kernels::optim::AdamSettings;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How much one epoch does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Size {
    /// 2^14 transitions and 256 updates of 64: minutes on a laptop.
    #[default]
    Small,
    /// 2^16 transitions and 256 updates of 512.
    Study,
    /// 2^20 transitions and 2,048 updates of 4,096.
    Bench,
}

/// Which order types are sent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Orders {
    /// The type that is chosen: market, maker or IOC.
    #[default]
    All,
    /// Market orders, whatever type is chosen.
    Market,
}

/// What carries out a learning step.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum LearnStep {
    /// Fused kernels where there are some for device and network that are faster, in BF16 alone; the span elsewhere.
    #[default]
    Auto,
    /// The fused kernels for Ampere and later GPUs, also where others are faster; the span where they don't run.
    Mma,
    /// The plan's span of operations, which the fused kernels are held against.
    Span,
}

/// How an agent explores while it collects.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Explore {
    /// Epsilon-greedy: a random action with probability epsilon, the best one otherwise.
    #[default]
    Epsilon,
    /// Each branch draws its action from the softmax of its values over a temperature.
    Boltzmann,
}

/// A resolved configuration. Unknown keys are errors.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Config {
    /// Seed of everything random.
    pub seed: u64,
    /// Members of the population, of each fold and of each instrument where there are several: paired runs that differ in
    /// their seed.
    pub population: usize,
    /// Id of each member, which its seed follows from: a member learns the same whoever else is there, in whatever
    /// order. 0 to `population` - 1 where empty. With folds these are of the first; see [`Config::member_ids`].
    pub members: Vec<u64>,
    /// Epochs.
    pub epochs: u32,
    /// Data and its windows.
    pub data: DataConfig,
    /// What the agent sees of the market.
    pub features: FeaturesConfig,
    /// The network.
    pub network: NetworkConfig,
    /// Collecting and learning.
    pub learn: LearnConfig,
    /// The account.
    pub market: MarketConfig,
}

/// What a file's stamps are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Stamps {
    /// Known for the format, or inferred.
    #[default]
    Auto,
    /// Opens of bars.
    Open,
    /// Closes of bars.
    Close,
}

/// Order of the parts of a date.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Dates {
    /// As the file's dates tell.
    #[default]
    Auto,
    /// 2017-01-31.
    YearFirst,
    /// 31.01.2017.
    DayFirst,
    /// 01/31/2017.
    MonthFirst,
}

/// What stands before the decimals of numbers in a file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum DecimalMarks {
    /// As the numbers tell.
    #[default]
    Auto,
    /// 1,234.56
    Point,
    /// 1.234,56
    Comma,
}

/// Data and its windows.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DataConfig {
    /// Files of bars of one instrument, in order of time; the embedded sample where empty.
    pub files: Vec<String>,
    /// The instrument: a name such as EUR/USD, BTC/USD, PERP:BTC/USDT, US:NVDA or CME:ES, or a TOML file of its numbers;
    /// guessed from the file's name where empty.
    pub instrument: String,
    /// IANA zone of stamps without one; the instrument's where empty.
    pub time_zone: String,
    /// What stamps are; known for the format or inferred where auto.
    pub stamps: Stamps,
    /// Order of dates that don't tell by themselves.
    pub date_order: Dates,
    /// Bar length in seconds; the most common step where 0.
    pub bar_seconds: i64,
    /// Which symbol to read from files of several; the instrument's own, or the only one, where empty.
    pub symbol: String,
    /// Which column is what, such as `time=Date,close=Last,volume=none`: names of the header, or #1, #2, …; as names and
    /// places tell where empty.
    pub columns: String,
    /// What is between the cells of text: `comma`, `semicolon`, `tab`, `bar` or `blank`; told by the lines where empty.
    pub delimiter: String,
    /// What stands before the decimals of numbers.
    pub decimal: DecimalMarks,
    /// Bars whose open or close lies outside their low and high are widened and counted, not refused.
    pub widen_ranges: bool,
    /// Share of the bars that the agent trains on, from the start. Shares are not read where dates divide the bars.
    pub train_share: f64,
    /// Share after that, on which the epoch of each member is chosen. The rest is the test window.
    pub validation_share: f64,
    /// Begin of the training window, a date such as 2017-01-31 (UTC) or an RFC 3339 stamp; with the first bar whose
    /// features are known where empty. Bars before it still warm features up.
    pub train_from: String,
    /// Begin of the validation window, which ends the training window. With `test_from`, or neither: then shares divide.
    pub validation_from: String,
    /// Begin of the test window, which ends the validation window.
    pub test_from: String,
    /// End of the test window; with the last bar where empty.
    pub test_to: String,
    /// Several instruments instead of `files`, one after another, each a table: `[[data.markets]]`, `files = ["xbt.csv"]`,
    /// `instrument = "BTC/USD"`. All are trained at once, and the windows above divide each one's bars.
    pub markets: Vec<MarketData>,
    /// Whether each of several instruments has members of its own, or all have the same.
    pub policy: Policy,
    /// Folds that follow one another, instead of one training, validation and test window.
    pub walk_forward: WalkForward,
}

/// What the agent sees of the market. The network must hold it: `network.inputs` is at least `network.lookback` times the
/// features plus 13 of the account.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FeaturesConfig {
    /// A set by name: `standard` (24 features) or `full` (all of them).
    pub set: String,
    /// Features by name, in this order, instead of a set. `foxhunt features --list` shows all.
    pub names: Vec<String>,
    /// Columns of the files that are no part of a bar, as features after those: names of the header, or #7, such as
    /// `["sentiment", "funding"]`. That each value was known at its bar's close is your statement; where there is none, the
    /// last one before holds.
    pub columns: Vec<String>,
}

/// The network.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NetworkConfig {
    /// Bars whose features the network sees at once.
    pub lookback: usize,
    /// Inputs, padded with zeros: at least `lookback` times the features plus 13 of the account.
    pub inputs: usize,
    /// Widths of the two trunk layers.
    pub trunk: [usize; 2],
    /// Width of each stream, a multiple of 32.
    pub stream: usize,
    /// Atoms of a value distribution.
    pub atoms: usize,
    /// The support is from minus this to this, in units of the scaled reward.
    pub v_max: f32,
}

/// Collecting and learning.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LearnConfig {
    /// Environments of a member.
    pub envs: usize,
    /// Transitions that an epoch collects, a multiple of `envs`.
    pub collect: usize,
    /// Updates of an epoch.
    pub updates: usize,
    /// Samples of an update.
    pub batch: usize,
    /// Transitions that replay holds, a multiple of `envs`.
    pub replay: usize,
    /// Decisions of an episode.
    pub episode_bars: usize,
    /// Discount of one decision.
    pub gamma: f64,
    /// Steps of the return.
    pub n_step: usize,
    /// Adam's learning rate.
    pub learning_rate: f64,
    /// Share of the learning rate that is left at the last update, which it falls to in a straight line; 1 is constant.
    pub learning_rate_end: f64,
    /// Adam's beta1.
    pub beta1: f64,
    /// Adam's beta2.
    pub beta2: f64,
    /// Adam's epsilon.
    pub epsilon: f64,
    /// Decoupled weight decay.
    pub weight_decay: f64,
    /// Largest global gradient norm; 0 for no clip.
    pub clip: f64,
    /// Rate at which the target net follows.
    pub tau: f64,
    /// Whether weights and targets are one word or pairs; F32 refuses pairs, which would change nothing.
    pub weights: WeightsChoice,
    /// In BF16, how weights, moments and targets are rounded; to nearest is for study, and in F32 both are one.
    pub rounding: Rounding,
    /// Which kernels learn where the device has them: the fastest, those for Ampere and later, or the plan's span everywhere.
    pub step: LearnStep,
    /// How the agent explores while it collects; tested, it takes the best action.
    pub explore: Explore,
    /// Epsilon at the start: the share of decisions of which some branch is random.
    pub explore_start: f64,
    /// Epsilon at the end of its schedule.
    pub explore_end: f64,
    /// Temperature of `boltzmann` at the start, in units of the scaled reward.
    pub temperature_start: f64,
    /// Temperature at the end of its schedule. In trained networks the best action lies about 0.02 above the mean of its branch;
    /// a quarter of that draws the better ones. Measured on the sample: from 0.001 to 0.01 members end alike, at 0.05 most
    /// actions are still drawn almost alike, and nothing is learned.
    pub temperature_end: f64,
    /// Epochs of the schedule, of epsilon or of the temperature: a straight line.
    pub explore_epochs: f64,
}

/// The account, and costs where they are not the instrument's own. Of several instruments each may have keys of its own:
/// `market` in its table of `data.markets`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MarketConfig {
    /// Largest leverage, which full exposure uses; the instrument's own where 0.
    pub leverage: f64,
    /// Orders smaller than this share of the position are dropped, basis points.
    pub band_bp: i32,
    /// Largest share of a bar's volume that an order takes.
    pub participation_cap: f64,
    /// An account that falls to this share of its start is ruined.
    pub ruin: f64,
    /// Distance of a stop in ATR24; none where 0.
    pub stop_atr: f64,
    /// Which order types are sent.
    pub orders: Orders,
    /// Starting cash in quote currency; the instrument's own where 0. Lots, leverage and units of money of an instrument may allow less.
    pub start_cash: f64,
    /// Half of the spread in basis points of the close, instead of the instrument's rate, least half-spread and share of
    /// ATR24; "own" leaves those. Bars with a bid and an ask side have their own spread, and refuse it.
    pub half_spread_bp: Cost,
    /// Fee of fills that take liquidity, basis points of the notional; "own" is the instrument's.
    pub taker_fee_bp: Cost,
    /// Fee of fills that make liquidity, basis points of the notional, a rebate below 0; "own" is the instrument's.
    pub maker_fee_bp: Cost,
    /// What a year of a long position costs, basis points; below 0 it earns. "own" is the instrument's.
    pub financing_long_bp: Cost,
    /// What a year of a short position costs, basis points; below 0 it earns. "own" is the instrument's.
    pub financing_short_bp: Cost,
}

impl FeaturesConfig {
    fn set(&self) -> Result<FeatureSet, FeatureError> {
        let set = if self.names.is_empty() {
            FeatureSet::named(&self.set)
        } else {
            FeatureSet::of_names(&self.names)
        };
        set?.with_columns(&self.columns)
    }
}

/// One key of the configuration as an option of the command line gives it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SetOption {
    /// How the user wrote it, for messages: `--population 4`.
    pub option: String,
    /// What it sets: `population=4`.
    pub pair: String,
}

impl SetOption {
    /// The option `name`, which the user gave `value`, sets `pair`.
    pub fn new(name: &str, pair: &str, value: &str) -> Self {
        SetOption { option: format!("{name} {value}"), pair: pair.to_owned() }
    }
}

impl Config {
    /// The defaults of a size.
    pub fn of(size: Size) -> Self {
        let (envs, collect, updates, batch, replay) = match size {
            Size::Small => (64, 1 << 14, 256, 64, 1 << 16),
            Size::Study => (256, 1 << 16, 256, 512, 1 << 18),
            Size::Bench => (8192, 1 << 20, 2048, 4096, 1 << 20),
        };
        let (lookback, inputs, trunk, stream) = match size {
            Size::Small => (1, 64, [128, 128], 64),
            Size::Study | Size::Bench => (10, 256, [512, 256], 128),
        };
        let adam = AdamSettings::DEFAULT;
        Config {
            seed: 1,
            population: 1,
            members: Vec::new(),
            epochs: 30,
            data: DataConfig {
                files: Vec::new(),
                instrument: String::new(),
                time_zone: String::new(),
                stamps: Stamps::Auto,
                date_order: Dates::Auto,
                bar_seconds: 0,
                symbol: String::new(),
                columns: String::new(),
                delimiter: String::new(),
                decimal: DecimalMarks::Auto,
                widen_ranges: false,
                train_share: 0.7,
                validation_share: 0.15,
                train_from: String::new(),
                validation_from: String::new(),
                test_from: String::new(),
                test_to: String::new(),
                markets: Vec::new(),
                policy: Policy::default(),
                walk_forward: WalkForward::default(),
            },
            features: FeaturesConfig { set: "standard".into(), names: Vec::new(), columns: Vec::new() },
            network: NetworkConfig { lookback, inputs, trunk, stream, atoms: 51, v_max: 10.0 },
            learn: LearnConfig {
                envs,
                collect,
                updates,
                batch,
                replay,
                episode_bars: 512,
                gamma: 0.99,
                n_step: 3,
                learning_rate: adam.learning_rate,
                learning_rate_end: 1.0,
                beta1: adam.beta1,
                beta2: adam.beta2,
                epsilon: adam.epsilon,
                weight_decay: adam.weight_decay,
                clip: adam.clip,
                tau: adam.tau,
                weights: WeightsChoice::default(),
                rounding: Rounding::default(),
                step: LearnStep::default(),
                explore: Explore::default(),
                explore_start: 1.0,
                explore_end: 0.05,
                temperature_start: 1.0,
                temperature_end: 0.005,
                explore_epochs: 10.0,
            },
            market: MarketConfig {
                leverage: 1.0,
                band_bp: 500,
                participation_cap: 0.1,
                ruin: 0.5,
                stop_atr: 0.0,
                orders: Orders::All,
                start_cash: 0.0,
                half_spread_bp: Cost::Own,
                taker_fee_bp: Cost::Own,
                maker_fee_bp: Cost::Own,
                financing_long_bp: Cost::Own,
                financing_short_bp: Cost::Own,
            },
        }
    }

    /// As [`Config::resolve_options`], for `key=value` pairs that were given with `--set`.
    ///
    /// # Errors
    /// As there.
    pub fn resolve(
        file: Option<(&str, &str)>,
        size: Option<Size>,
        set: &[String],
    ) -> Result<Self, TrainError> {
        let options: Vec<SetOption> = set.iter().map(|pair| SetOption::new("--set", pair, pair)).collect();
        Self::resolve_options(file, size, &options)
    }

    /// Reads a configuration: the file's keys over the defaults of its `size` (small where it names none), then options
    /// over both, in order.
    ///
    /// # Errors
    /// Text that is not TOML, a key that does not exist, a value out of its range; each with the file or the option that
    /// it stands in, and what to do.
    pub fn resolve_options(
        file: Option<(&str, &str)>,
        size: Option<Size>,
        options: &[SetOption],
    ) -> Result<Self, TrainError> {
        let wrong = |place: &str, what: String| TrainError::Config { place: place.to_owned(), what };
        let mut given = toml::Table::new();
        let file_name = file.map_or("the configuration", |(path, _)| path);
        // A message about a key of the file begins with it.
        let at = |what: &str| match file.and_then(|(_, text)| keys::line_of(text, &first_key(what))) {
            Some(line) => format!("{file_name}, line {line}"),
            None => file_name.to_owned(),
        };
        if let Some((path, text)) = file {
            given = text.parse().map_err(|e: toml::de::Error| {
                wrong(path, format!("not TOML: {}", e.to_string().trim_end()))
            })?;
        }
        let named = given
            .remove("size")
            .map(|v| {
                v.try_into::<Size>()
                    .map_err(|e| wrong(&at("size"), format!("size: {}", plain_words(&e.to_string()).trim())))
            })
            .transpose()?;
        let defaults = Config::of(size.or(named).unwrap_or_default());
        let mut table = toml::Table::try_from(&defaults).map_err(|e| wrong("the defaults", e.to_string()))?;
        for (key, value) in leaves(given) {
            set_key(&mut table, &key, value).map_err(|e| wrong(&at(&key), e))?;
        }
        let mut result = finished(&table);
        // What is to blame where the configuration can't be used: the option after which it never could again. Options may
        // need one another, so that what lies between may be wrong.
        let mut culprit = None;
        for SetOption { option, pair } in options {
            let (key, value) =
                pair.split_once('=').ok_or_else(|| wrong(option, "is not of the form key=value".into()))?;
            // A value is TOML where it can be, and text where not.
            let value = format!("v = {}", value.trim())
                .parse::<toml::Table>()
                .ok()
                .and_then(|mut t| t.remove("v"))
                .unwrap_or_else(|| toml::Value::String(value.trim().to_owned()));
            set_key(&mut table, key.trim(), value).map_err(|e| wrong(option, e))?;
            let before = std::mem::replace(&mut result, finished(&table));
            if before.is_ok() {
                culprit = Some(option);
            }
        }
        result.map_err(|e| wrong(&culprit.cloned().unwrap_or_else(|| at(&e)), e))
    }

    /// The features that the agent sees.
    ///
    /// # Errors
    /// Never for a configuration that was resolved.
    pub fn feature_set(&self) -> Result<FeatureSet, TrainError> {
        Ok(self.features.set()?)
    }

    /// The configuration as TOML.
    ///
    /// # Errors
    /// Never for a configuration that was resolved.
    pub fn to_toml(&self) -> Result<String, TrainError> {
        toml::to_string_pretty(self)
            .map_err(|e| TrainError::Config { place: "the configuration".into(), what: e.to_string() })
    }
}

impl Config {
    /// The configuration as TOML, a key a line, in the order of the types.
    fn to_line_toml(&self) -> Result<String, TrainError> {
        toml::to_string(self)
            .map_err(|e| TrainError::Config { place: "the configuration".into(), what: e.to_string() })
    }
}

/// The configuration that a table holds, if it can be used.
fn finished(table: &toml::Table) -> Result<Config, String> {
    markets::check_keys(table)?;
    let mut config: Config = table.clone().try_into().map_err(|e| mistyped(&e))?;
    markets::fill_names(&mut config);
    check::check(&config)?;
    Ok(config)
}

/// What is wrong with a value of a table, behind its key.
fn mistyped(e: &toml::de::Error) -> String {
    // "unknown variant …" and "in `key`" are two lines.
    let text = plain_words(&e.to_string());
    let text = text.trim();
    match text.rsplit_once("\nin `") {
        Some((what, key)) => format!("{}: {what}", key.trim_end_matches('`')),
        None => text.replace('\n', " "),
    }
}

/// Values with their keys, `learn.gamma`. An empty group, which sets nothing, is one too: its name must exist.
fn leaves(table: toml::Table) -> Vec<(String, toml::Value)> {
    let mut all = Vec::new();
    for (key, value) in table {
        match value {
            toml::Value::Table(inside) if !inside.is_empty() => {
                all.extend(leaves(inside).into_iter().map(|(k, v)| (format!("{key}.{k}"), v)));
            }
            value => all.push((key, value)),
        }
    }
    all
}

/// The key that a message is about, which it begins with: `network.trunk[0] is 3: …`, `learn.gamma: …`. Of an instrument's own
/// keys that is `data.markets[1].KEY`, said as `data.markets[1]: KEY is …` or `data.markets[1]: there is no key 'KEY': …`.
fn first_key(what: &str) -> String {
    if let Some(missing) = what.strip_prefix("there is no key '") {
        return missing.split('\'').next().unwrap_or(missing).to_owned();
    }
    let key = what.split([' ', ':']).next().unwrap_or(what);
    match what[key.len()..].strip_prefix(": ") {
        Some(rest) if key.ends_with(']') => {
            let own = first_key(rest);
            format!("{key}.{}", own.strip_prefix("data.").unwrap_or(&own))
        }
        _ => key.to_owned(),
    }
}

/// A value in the type that its key has: `1` for a number that is a float by default, and a date without quotes, which TOML
/// has a type of its own for, as text.
fn as_written(slot: &toml::Value, value: toml::Value) -> toml::Value {
    match (slot, value) {
        (toml::Value::Float(_), toml::Value::Integer(i)) => toml::Value::Float(i as f64),
        (toml::Value::String(_), toml::Value::Datetime(date)) => toml::Value::String(date.to_string()),
        (_, value) => value,
    }
}

/// Overwrites a value that is there; what is wrong otherwise.
fn set_key(root: &mut toml::Table, key: &str, value: toml::Value) -> Result<(), String> {
    if let Some(of_market) = key.strip_prefix(markets::LIST) {
        return markets::set(root, of_market, value);
    }
    let missing = |root: &toml::Table, place: &str, inside: &toml::Table| {
        let keys: Vec<&str> = inside.keys().map(String::as_str).collect();
        let place = if place.is_empty() { "the configuration" } else { place };
        let size = if key == "size" { "; a size is chosen by --size or in a file" } else { "" };
        let near = keys::nearest(root, key).map(|k| format!("did you mean {k}? ")).unwrap_or_default();
        format!("there is no key '{key}': {near}{place} has {}{size}", keys.join(", "))
    };
    // Found first and changed then, so that a message can look at all that there is.
    let (mut place, mut at) = (String::new(), &*root);
    let parts: Vec<&str> = key.split('.').collect();
    let (last, groups) = parts.split_last().unwrap_or((&"", &[]));
    for part in groups {
        place = if place.is_empty() { (*part).to_owned() } else { format!("{place}.{part}") };
        match at.get(*part) {
            Some(toml::Value::Table(inside)) => at = inside,
            Some(_) => return Err(format!("there is no key '{key}': {place} is a value")),
            None => {
                let outside = place.rsplit_once('.').map_or("", |(outside, _)| outside);
                return Err(missing(root, outside, at));
            }
        }
    }
    let value = match at.get(*last) {
        None => return Err(missing(root, &place, at)),
        Some(toml::Value::Table(inside)) => {
            if value.as_table().is_some_and(toml::Table::is_empty) {
                return Ok(());
            }
            let keys: Vec<&str> = inside.keys().map(String::as_str).collect();
            return Err(format!("{key} is a group of keys: set one of them ({})", keys.join(", ")));
        }
        Some(slot) => fitting(key, slot, value)?,
    };
    let mut at = root;
    for part in groups {
        match at.get_mut(*part) {
            Some(toml::Value::Table(inside)) => at = inside,
            _ => return Ok(()),
        }
    }
    at.insert((*last).to_owned(), value);
    Ok(())
}

/// A value of `key` in the type that its slot has, or what it must be.
fn fitting(key: &str, slot: &toml::Value, value: toml::Value) -> Result<toml::Value, String> {
    let value = as_written(slot, value);
    if cost::KEYS.contains(&key) {
        return match value {
            toml::Value::Integer(bp) => Ok(toml::Value::Float(bp as f64)),
            toml::Value::Float(_) => Ok(value),
            toml::Value::String(ref word) if word == cost::OWN => Ok(value),
            _ => Err(format!("{key} is {value}: it must be a number, or \"{}\"", cost::OWN)),
        };
    }
    if slot.type_str() != value.type_str() {
        return Err(format!("{key} is {value}: it must be {}", kind(slot)));
    }
    Ok(value)
}

/// The type of a value in words, with it as an example.
fn kind(value: &toml::Value) -> String {
    let kind = match value {
        toml::Value::Integer(_) => "a whole number",
        toml::Value::Float(_) => "a number",
        toml::Value::Boolean(_) => return "true or false".into(),
        // Lists that are empty by default are of texts.
        toml::Value::Array(items) if items.is_empty() => {
            return r#"a list of texts, such as ["a", "b"]"#.into();
        }
        toml::Value::Array(_) => return format!("a list, such as {value}"),
        _ => return "text, in quotes".into(),
    };
    format!("{kind}, such as {value}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_over_file_over_defaults() {
        let file = "size = \"study\"\nepochs = 7\n[learn]\ngamma = 0.9\n";
        let c =
            Config::resolve(Some(("a.toml", file)), None, &["learn.tau=1".into(), "seed=9".into()]).unwrap();
        assert_eq!((c.epochs, c.learn.gamma, c.learn.tau, c.seed), (7, 0.9, 1.0, 9));
        assert_eq!(c.learn.batch, 512, "of the study size");
        let again = Config::resolve(Some(("b.toml", &c.to_toml().unwrap())), None, &[]).unwrap();
        assert_eq!(c, again, "a resolved configuration resolves to itself");
    }

    /// Whatever is written for a key, what is said of it needs no knowledge of the program's language.
    #[test]
    fn messages_have_no_words_of_rust() {
        let rust = [
            "u8", "u16", "u32", "u64", "i128", "usize", "i32", "i64", "f32", "f64", "struct", "enum",
            "tuple", "sequence",
        ];
        let mut refused = 0;
        for (key, _) in leaves(toml::Table::try_from(Config::of(Size::Small)).unwrap()) {
            for value in [
                "-1",
                "1.5",
                "true",
                "[-1]",
                "[[1]]",
                "{ a = 1 }",
                "x",
                "9223372036854775807",
                "99999999999999999999",
            ] {
                let Err(e) = Config::resolve(None, None, &[format!("{key}={value}")]) else { continue };
                let message = e.to_string();
                let mut words = message.split(|c: char| !c.is_alphanumeric());
                assert!(words.all(|w| !rust.contains(&w)), "{key}={value}: {message}");
                refused += 1;
            }
        }
        assert!(refused > 300, "{refused}");
    }

    #[test]
    fn features_are_chosen_by_set_or_name() {
        let c = |set: &str| Config::resolve(None, None, &[set.into()]);
        assert_eq!(c("seed=1").unwrap().feature_set().unwrap().len(), 24);
        assert_eq!(c("features.set=full").unwrap().feature_set().unwrap().len(), 75);
        let own = c("features.columns=[\"mood\", \"#7\"]").unwrap().feature_set().unwrap();
        assert_eq!(own.names().skip(23).collect::<Vec<_>>()[1..], ["mood", "#7"]);
        let named = c("features.names=[\"adx_14\", \"return_1\"]").unwrap();
        let names: Vec<&str> = named.feature_set().unwrap().specs().iter().map(|s| s.name).collect();
        assert_eq!(names, ["adx_14", "return_1"]);
        let again = Config::resolve(Some(("b.toml", &named.to_toml().unwrap())), None, &[]).unwrap();
        assert_eq!(named, again);
        let error = |set: &str| c(set).unwrap_err().to_string();
        assert!(
            error("features.set=all")
                .contains("features.set: there is no set of features 'all': choose one of")
        );
        let near = error("features.names=[\"adx14\"]");
        assert!(near.contains("features.names: there is no feature 'adx14': did you mean adx_14"), "{near}");
        assert!(error("features.names=[\"body\", \"body\"]").contains("twice"));
        for (columns, words) in [
            ("[\"a\", \"A\"]", "features.columns: feature A is in the set twice"),
            ("[\"return_1\"]", "features.columns: feature return_1 is in the set twice"),
            ("[\"warmup\"]", "features.columns: a column named 'warmup' can't be a feature"),
            ("[\" \"]", "features.columns: a column needs a name"),
        ] {
            let said = error(&format!("features.columns={columns}"));
            assert!(said.contains(words), "{said}");
        }
    }

    #[test]
    fn order_types_are_chosen_by_name() {
        let c = |set: &str| Config::resolve(None, None, &[set.into()]);
        assert_eq!(c("seed=1").unwrap().market.orders, Orders::All);
        assert_eq!(c("market.orders=market").unwrap().market.orders, Orders::Market);
        let error = c("market.orders=limit").unwrap_err().to_string();
        assert!(error.contains("limit") && error.contains("market"), "{error}");
    }

    #[test]
    fn exploration_is_chosen_by_name() {
        let c = |set: &str| Config::resolve(None, None, &[set.into()]);
        assert_eq!(c("seed=1").unwrap().learn.explore, Explore::Epsilon);
        assert_eq!(c("learn.explore=boltzmann").unwrap().learn.explore, Explore::Boltzmann);
        for (set, words) in [
            ("learn.explore=softmax", "expected `epsilon` or `boltzmann`"),
            ("learn.temperature_end=0", "learn.temperature_end is 0: it must be 0.001 to 100"),
            ("learn.temperature_start=101", "learn.temperature_start is 101"),
        ] {
            let said = c(set).unwrap_err().to_string();
            assert!(said.contains(words), "{said}");
        }
    }

    #[test]
    fn costs_are_the_instruments_own_or_given() {
        let c = |file: &str, set: &[String]| {
            Config::resolve(Some(("a.toml", file)), None, set).map_err(|e| e.to_string())
        };
        assert_eq!(c("", &[]).unwrap().market.taker_fee_bp, Cost::Own);
        let file = "[market]\ntaker_fee_bp = 2\nhalf_spread_bp = 0.25\nmaker_fee_bp = 'own'";
        let given =
            c(file, &["market.half_spread_bp=own".into(), "market.maker_fee_bp=-0.5".into()]).unwrap();
        let m = &given.market;
        assert_eq!(
            (m.taker_fee_bp, m.half_spread_bp, m.maker_fee_bp),
            (Cost::Bp(2.0), Cost::Own, Cost::Bp(-0.5))
        );
        assert_eq!(c(&given.to_toml().unwrap(), &[]).unwrap(), given);
        assert_eq!((Cost::Bp(0.25).e7_or(7), Cost::Own.e7_or(7), Cost::Bp(0.0).e7_or(7)), (250, 7, 0));
        for (file, words) in [
            (
                "taker_fee_bp = 'none'",
                "a.toml, line 2: market.taker_fee_bp is \"none\": it must be a number, or \"own\"",
            ),
            (
                "taker_fee_bp = true",
                "a.toml, line 2: market.taker_fee_bp is true: it must be a number, or \"own\"",
            ),
            ("taker_fee_bp = 1001", "market.taker_fee_bp is 1001: it must be -1000 to 1000"),
            ("half_spread_bp = nan", "market.half_spread_bp is NaN: it must be 0 to 1000"),
        ] {
            let said = c(&format!("[market]\n{file}"), &[]).unwrap_err();
            assert!(said.contains(words), "{file}: {said}");
        }
    }

    #[test]
    fn members_have_ids() {
        let c = |file: &str| Config::resolve(Some(("a.toml", file)), None, &[]).unwrap();
        assert_eq!(c("population = 3").member_ids(), [0, 1, 2]);
        let chosen = c("population = 2\nmembers = [7, 2]");
        assert_eq!(chosen.member_ids(), [7, 2]);
        let again = Config::resolve(Some(("b.toml", &chosen.to_toml().unwrap())), None, &[]).unwrap();
        assert_eq!(chosen, again);
    }

    #[test]
    fn what_is_wrong_is_named() {
        let error = |file: &str, set: &str| {
            let set: Vec<String> = if set.is_empty() { vec![] } else { vec![set.into()] };
            Config::resolve(Some(("a.toml", file)), None, &set).unwrap_err().to_string()
        };
        assert!(error("epochz = 3", "").contains("epochz"));
        assert!(error("[learn]\nbatchs = 3", "").contains("batchs"));
        assert!(error("epochs = \"many\"", "").contains("epochs"));
        assert!(error("", "learn.nothing=3").contains("there is no key 'learn.nothing'"));
        assert!(error("", "learn.tau").contains("key=value"));
        assert!(error("", "learn.gamma=1.5").contains("learn.gamma"));
        assert!(error("", "learn.collect=1000").contains("multiple of learn.envs"));
        assert!(error("population = 2\nmembers = [4]", "").contains("different ids"));
        assert!(error("population = 2\nmembers = [4, 4]", "").contains("different ids"));
        assert!(error("epochs = ", "").contains("a.toml"));
        for (file, words) in [
            ("\n\nepochz = 3", "a.toml, line 3: there is no key 'epochz': did you mean epochs?"),
            (
                "[learn]\nbatchs = 3",
                "a.toml, line 2: there is no key 'learn.batchs': did you mean learn.batch?",
            ),
            ("gamma = 0.9", "a.toml, line 1: there is no key 'gamma': did you mean learn.gamma?"),
            (
                "[lern]\ngamma = 0.9",
                "a.toml, line 2: there is no key 'lern.gamma': did you mean learn.gamma?",
            ),
            ("[lern]", "a.toml, line 1: there is no key 'lern'"),
            ("epochs = 2.5", "a.toml, line 1: epochs is 2.5: it must be a whole number, such as 30"),
            ("learn = 3", "a.toml, line 1: learn is a group of keys"),
            ("epochs.x = 3", "a.toml, line 1: there is no key 'epochs.x': epochs is a value"),
            ("[data]\nfiles = 'a.csv'", "a.toml, line 2: data.files is \"a.csv\": it must be a list"),
            ("[data]\nwiden_ranges = 1", "a.toml, line 2: data.widen_ranges is 1: it must be true or false"),
            (
                "[data]\nstamps = 'x'",
                "a.toml, line 2: data.stamps: unknown variant `x`, expected one of `auto`, `open`",
            ),
            ("seed = -1", "a.toml, line 1: seed"),
            ("[network]\ntrunk = [1, 128]", "a.toml, line 2: network.trunk[0] is 1: it must be 8 to 4096"),
            ("[data]\nbar_seconds = -5", "a.toml, line 2: data.bar_seconds is -5: it must be 0, or 1 to"),
            ("size = 'huge'", "a.toml, line 1: size: unknown variant `huge`"),
        ] {
            let said = error(file, "");
            assert!(said.contains(words), "{file}: {said}");
        }
        assert!(Config::resolve(Some(("a.toml", "[learn]\n[data]")), None, &[]).is_ok());
    }

    /// Whatever is wrong is said of where it stands: the file, or the option that broke what worked before it.
    #[test]
    fn the_option_is_blamed_and_not_the_file() {
        let error = |file: Option<&str>, set: &[&str]| {
            let set: Vec<String> = set.iter().map(|s| (*s).to_owned()).collect();
            Config::resolve(file.map(|text| ("a.toml", text)), None, &set).unwrap_err().to_string()
        };
        let starts = |error: String, place: &str| assert!(error.starts_with(place), "{error}, not {place}");
        for file in [None, Some("epochs = 3")] {
            // Syntax, key, type, variant, range, and what does not fit together.
            for bad in
                ["learn.tau", "learn.x=1", "epochs=a", "learn.weights=x", "learn.gamma=2", "learn.envs=7"]
            {
                starts(error(file, &["seed=4", bad, "epochs=2"]), &format!("--set {bad}: "));
            }
        }
        starts(error(Some("[learn]\ngamma = 2"), &["epochs=2"]), "a.toml, line 2: learn.gamma is 2: ");
        starts(error(None, &["learn.envs=7", "learn.envs=16", "learn.gamma=2"]), "--set learn.gamma=2: ");
        // Each breaks it alone, together they work; and an option may mend the file.
        let together: Vec<String> = ["members=[4, 5]", "population=2"].map(String::from).into();
        assert!(Config::resolve(None, None, &together[..1]).is_err());
        assert_eq!(Config::resolve(None, None, &together).unwrap().member_ids(), [4, 5]);
        assert!(
            Config::resolve(Some(("a.toml", "[learn]\ngamma = 2")), None, &["learn.gamma=0.9".into()])
                .is_ok()
        );
        // An option with a name of its own goes by it.
        let zero = SetOption::new("--population", "population=0", "0");
        let error = Config::resolve_options(None, None, &[zero]).unwrap_err().to_string();
        starts(error, "--population 0: population");
    }
}
