//! Several instruments in one run: what each is called, which files it is in, and which members are its own.

use super::{
    Config, DataConfig, Dates, DecimalMarks, FOLD_IDS, MarketConfig, Policy, Stamps, check, keys, mistyped,
    set_key, walk_forward::MAX_FOLDS,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Ids of the members of an instrument begin at a number that follows from its name, times this: all folds fit between two of
/// them.
pub const MARKET_IDS: u64 = MAX_FOLDS as u64 * FOLD_IDS;
/// Numbers that names give: ids stay below 2^53, which every reader of JSON holds exactly.
const NUMBERS: u64 = (1 << 53) / MARKET_IDS - 1;
/// Longest name.
const LONGEST: usize = 64;
/// What a run's folder holds beside the instruments' folders.
const TAKEN: [&str; 12] = [
    "checkpoints",
    "config",
    "figures",
    "finished",
    "ledger",
    "lock",
    "metrics",
    "report",
    "run",
    "selection",
    "setting",
    "tensorboard",
];

/// One of several instruments. A key that is left out is as `data` has it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct MarketData {
    /// Its name, which is that of its folder in the run and which all random draws of its members follow from: letters,
    /// digits, `-`, `_` and `.`. Where empty it is made of `instrument`, of `symbol`, or of
    /// the first file's name.
    pub name: String,
    /// Its files of bars, in order of time.
    pub files: Vec<String>,
    /// The instrument, as `data.instrument`.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub instrument: String,
    /// As `data.time_zone`.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub time_zone: String,
    /// As `data.stamps`.
    #[serde(skip_serializing_if = "is_default")]
    pub stamps: Stamps,
    /// As `data.date_order`.
    #[serde(skip_serializing_if = "is_default")]
    pub date_order: Dates,
    /// As `data.bar_seconds`.
    #[serde(skip_serializing_if = "is_default")]
    pub bar_seconds: i64,
    /// As `data.symbol`.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub symbol: String,
    /// As `data.columns`.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub columns: String,
    /// As `data.delimiter`.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub delimiter: String,
    /// As `data.decimal`.
    #[serde(skip_serializing_if = "is_default")]
    pub decimal: DecimalMarks,
    /// As `data.widen_ranges`; true where either is.
    #[serde(skip_serializing_if = "is_default")]
    pub widen_ranges: bool,
    /// Keys of `market` that are this instrument's own, such as `{leverage = 2, taker_fee_bp = 10}`; the others are as
    /// `market` has them.
    #[serde(skip_serializing_if = "toml::Table::is_empty")]
    #[schemars(with = "MarketConfig")]
    pub market: toml::Table,
}

fn is_default<T: Default + PartialEq>(x: &T) -> bool {
    *x == T::default()
}

impl MarketData {
    /// The name, or what it is made of.
    fn own_name(&self) -> String {
        if !self.name.is_empty() {
            return self.name.clone();
        }
        let file = |path: &str| {
            let name = path.rsplit(['/', '\\']).next().unwrap_or(path);
            name.split('.').find(|part| !part.is_empty()).unwrap_or_default().to_owned()
        };
        let (instrument, symbol) = (self.instrument.trim(), self.symbol.trim());
        let made = match (instrument, symbol) {
            ("", "") => file(self.files.first().map_or("", String::as_str)),
            ("", symbol) => symbol.to_owned(),
            (instrument, _) if instrument.ends_with(".toml") => file(instrument),
            (instrument, _) => instrument.to_owned(),
        };
        let plain = |c: char| {
            if c.is_ascii_alphanumeric() || "-_.".contains(c) { c.to_ascii_lowercase() } else { '-' }
        };
        made.chars().take(LONGEST).map(plain).collect::<String>().trim_start_matches(['.', '-']).to_owned()
    }

    /// What stands before the ids of its members: FNV-1a of the name (Fowler, Noll, Vo), 1 to [`NUMBERS`].
    fn number(&self) -> u64 {
        let hash = self
            .name
            .bytes()
            .fold(0xCBF2_9CE4_8422_2325_u64, |h, b| (h ^ u64::from(b)).wrapping_mul(0x0000_0100_0000_01B3));
        1 + hash % NUMBERS
    }

    /// Its place in messages: `data.markets[1] (nq, nq.csv)`.
    fn place(&self, index: usize) -> String {
        let file = self.files.first().map(|f| format!(", {f}")).unwrap_or_default();
        format!("data.markets[{index}] ({}{file})", self.name)
    }
}

impl DataConfig {
    /// Keys that say how files are read and are set.
    pub fn reading(&self) -> Vec<&'static str> {
        [
            ("data.instrument", !self.instrument.trim().is_empty()),
            ("data.time_zone", !self.time_zone.is_empty()),
            ("data.stamps", self.stamps != Stamps::default()),
            ("data.date_order", self.date_order != Dates::default()),
            ("data.bar_seconds", self.bar_seconds != 0),
            ("data.symbol", !self.symbol.is_empty()),
            ("data.columns", !self.columns.is_empty()),
            ("data.delimiter", !self.delimiter.is_empty()),
            ("data.decimal", self.decimal != DecimalMarks::default()),
            ("data.widen_ranges", self.widen_ranges),
        ]
        .into_iter()
        .filter_map(|(key, set)| set.then_some(key))
        .collect()
    }

    /// How the bars of an instrument are read: its own keys over these, where there are several.
    pub fn of_market(&self, market: usize) -> DataConfig {
        let Some(own) = self.markets.get(market) else { return self.clone() };
        let mut d = DataConfig { files: own.files.clone(), markets: Vec::new(), ..self.clone() };
        for (to, from) in [
            (&mut d.instrument, &own.instrument),
            (&mut d.time_zone, &own.time_zone),
            (&mut d.symbol, &own.symbol),
            (&mut d.columns, &own.columns),
            (&mut d.delimiter, &own.delimiter),
        ] {
            if !from.is_empty() {
                to.clone_from(from);
            }
        }
        if own.stamps != Stamps::default() {
            d.stamps = own.stamps;
        }
        if own.date_order != Dates::default() {
            d.date_order = own.date_order;
        }
        if own.decimal != DecimalMarks::default() {
            d.decimal = own.decimal;
        }
        if own.bar_seconds != 0 {
            d.bar_seconds = own.bar_seconds;
        }
        d.widen_ranges |= own.widen_ranges;
        d
    }
}

impl Config {
    /// Whether instruments are listed, each with a name and a folder of its own. One may be.
    pub fn lists_markets(&self) -> bool {
        !self.data.markets.is_empty()
    }

    /// Instruments; one where none are listed.
    pub fn markets(&self) -> usize {
        self.data.markets.len().max(1)
    }

    /// Name of an instrument, where they are listed.
    pub fn market_name(&self, market: usize) -> Option<&str> {
        self.data.markets.get(market).map(|m| m.name.as_str())
    }

    /// The place of an instrument in messages, where they are listed.
    pub fn market_place(&self, market: usize) -> Option<String> {
        self.data.markets.get(market).map(|m| m.place(market))
    }

    /// The same configuration with one instrument of those that are listed, whose members keep their ids, and with its own
    /// account.
    #[must_use]
    pub fn of_market(&self, market: usize) -> Config {
        let mut own = self.clone();
        own.data.markets = self.data.markets.get(market).cloned().into_iter().collect();
        // What can't be is refused when a configuration is resolved.
        if let Ok(account) = self.account_of(market) {
            own.market = account;
        }
        own
    }

    /// The account of an instrument: its own keys over those of all; what is wrong with them.
    fn account_of(&self, market: usize) -> Result<MarketConfig, String> {
        let Some(own) = self.data.markets.get(market).filter(|m| !m.market.is_empty()) else {
            return Ok(self.market.clone());
        };
        let all = toml::Table::try_from(&self.market).map_err(|e| e.to_string())?;
        let mut root = toml::Table::from_iter([(ACCOUNT.to_owned(), toml::Value::Table(all))]);
        for (key, value) in &own.market {
            set_key(&mut root, &format!("{ACCOUNT}.{key}"), value.clone())?;
        }
        let merged = root.remove(ACCOUNT).unwrap_or(toml::Value::Boolean(false));
        merged.try_into().map_err(|e: toml::de::Error| e.to_string().trim().replace('\n', " "))
    }

    /// What the ids of an instrument's members begin at: 0 where all instruments have the same.
    pub(super) fn market_base(&self, market: usize) -> u64 {
        if self.shares_policy() {
            return 0;
        }
        self.data.markets.get(market).map_or(0, |m| m.number() * MARKET_IDS)
    }

    /// A member's number beside its fold and its instrument.
    pub fn number_of(&self, id: u64) -> u64 {
        let id = if self.lists_markets() { id % MARKET_IDS } else { id };
        if self.walks() { id % FOLD_IDS } else { id }
    }
}

/// Sets a key of one instrument, which goes by its name: `xbt.market.leverage` behind [`LIST`].
pub(super) fn set(root: &mut toml::Table, key: &str, value: toml::Value) -> Result<(), String> {
    let all = format!("{LIST}{key}");
    let data = root.get_mut("data").and_then(toml::Value::as_table_mut);
    let list = data.and_then(|d| d.get_mut("markets")).and_then(toml::Value::as_array_mut);
    let Some(list) = list.filter(|list| !list.is_empty()) else {
        return Err(format!(
            "there is no key '{all}': no instruments are listed; list them as data.markets, a table [[data.markets]] each"
        ));
    };
    let name_of = |market: &toml::Value| {
        market.clone().try_into().map(|m: MarketData| m.own_name()).unwrap_or_default()
    };
    let names: Vec<String> = list.iter().map(name_of).collect();
    let rest_of = |name: &String| key.strip_prefix(name.as_str())?.strip_prefix('.').map(str::to_owned);
    let found =
        names.iter().enumerate().filter_map(|(at, name)| Some((name.len(), at, rest_of(name)?))).max();
    let Some((_, at, rest)) = found else {
        let known = names.join(", ");
        return Err(format!(
            "there is no key '{all}': name one of the instruments {known}, as data.markets.NAME.KEY"
        ));
    };
    let Some(own) = list.get_mut(at).and_then(toml::Value::as_table_mut) else { return Ok(()) };
    match rest.split_once('.') {
        None if rest == ACCOUNT && !value.is_table() => {
            Err(format!("{all} is a group of keys: set one of them, as {all}.leverage"))
        }
        None => {
            own.insert(rest, value);
            Ok(())
        }
        Some((ACCOUNT, inside)) if !inside.contains('.') => {
            let account = own.entry(ACCOUNT).or_insert_with(|| toml::Value::Table(toml::Table::new()));
            if let Some(account) = account.as_table_mut() {
                account.insert(inside.to_owned(), value);
            }
            Ok(())
        }
        Some(_) => Err(format!("there is no key '{all}': an instrument has {}", KEYS.join(", "))),
    }
}

/// Keys of the listed instruments that don't exist, before serde meets them: it would not say in which instrument.
pub(super) fn check_keys(table: &toml::Table) -> Result<(), String> {
    let list = table.get("data").and_then(|d| d.get("markets")).and_then(toml::Value::as_array);
    for (index, market) in list.into_iter().flatten().enumerate() {
        let Some(own) = market.as_table() else {
            return Err(format!(
                "data.markets[{index}] is {market}: it must be a table of keys, such as {{files = [\"a.csv\"]}}"
            ));
        };
        for key in own.keys() {
            if !KEYS.contains(&key.as_str()) {
                let near =
                    keys::nearest_of(KEYS, key).map(|k| format!("did you mean {k}? ")).unwrap_or_default();
                let all = KEYS.join(", ");
                return Err(format!(
                    "data.markets[{index}]: there is no key '{key}': {near}an instrument has {all}"
                ));
            }
        }
        if let Some(value) = own.get(ACCOUNT).filter(|value| !value.is_table()) {
            return Err(format!(
                "data.markets[{index}]: market is {value}: it must be a table of keys, such as {{leverage = 2}}"
            ));
        }
        own.clone()
            .try_into::<MarketData>()
            .map_err(|e| format!("data.markets[{index}]: {}", mistyped(&e)))?;
    }
    Ok(())
}

/// What options that set a key of one instrument begin with.
pub(super) const LIST: &str = "data.markets.";
/// The key of an instrument's own account.
const ACCOUNT: &str = "market";
/// Keys of an instrument.
const KEYS: [&str; 13] = [
    "name",
    "files",
    "instrument",
    "time_zone",
    "stamps",
    "date_order",
    "bar_seconds",
    "symbol",
    "columns",
    "delimiter",
    "decimal",
    "widen_ranges",
    ACCOUNT,
];

/// Gives a name to every instrument without one.
pub(super) fn fill_names(c: &mut Config) {
    c.data.markets.iter_mut().for_each(|m| m.name = m.own_name());
}

/// What is wrong with the instruments of a configuration.
pub(super) fn check(c: &Config) -> Result<(), String> {
    let d = &c.data;
    if d.markets.is_empty() {
        return match d.policy {
            Policy::Own => Ok(()),
            Policy::Shared => {
                Err("data.policy is shared, and no instruments are listed: list them as data.markets".into())
            }
        };
    }
    if c.shares_policy() && c.learn.envs < d.markets.len() {
        return Err(format!(
            "learn.envs is {}: a policy that {} instruments share needs an environment for each, so at least {1}",
            c.learn.envs,
            d.markets.len()
        ));
    }
    if !d.files.is_empty() {
        return Err(
            "data.files and data.markets both name files: leave data.files out, each instrument has its own"
                .into(),
        );
    }
    let mut names: BTreeMap<String, usize> = BTreeMap::new();
    let mut numbers: BTreeMap<u64, usize> = BTreeMap::new();
    for (index, market) in d.markets.iter().enumerate() {
        let at = format!("data.markets[{index}]");
        if market.files.is_empty() {
            return Err(format!("{at}.files is empty: name the instrument's files of bars"));
        }
        check_name(&market.name).map_err(|what| format!("{at}.name: {what}"))?;
        let name = market.name.to_ascii_lowercase();
        if let Some(first) = names.insert(name, index) {
            return Err(format!(
                "{at}.name is {}, as is data.markets[{first}]'s: give one of them another name",
                market.name
            ));
        }
        if let Some(first) = numbers.insert(market.number(), index) {
            return Err(format!(
                "{at}.name: {} and {} give members the same ids: give one of them another name",
                d.markets[first].name, market.name
            ));
        }
        let mut own = c.clone();
        own.data = d.of_market(index);
        own.market = c.account_of(index).map_err(|what| format!("{at}: {what}"))?;
        check::ranges(&own).map_err(|what| format!("{at}: {what}"))?;
    }
    if let Some(id) = c.members.iter().find(|id| **id >= FOLD_IDS) {
        return Err(format!("members has the id {id}: with data.markets ids must be below {FOLD_IDS}"));
    }
    Ok(())
}

fn check_name(name: &str) -> Result<(), String> {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
    if name.is_empty() {
        return Err("it can't be made of the instrument or the file: give one".into());
    }
    if name.len() > LONGEST || !name.chars().all(plain) || name.starts_with(['.', '-']) || name.ends_with('.')
    {
        return Err(format!(
            "'{name}' can't be a folder's name: use up to {LONGEST} letters, digits, '-', '_' and '.', a letter or digit first"
        ));
    }
    let stem = name.to_ascii_lowercase();
    let stem = stem.split('.').next().unwrap_or_default();
    if TAKEN.contains(&stem) || stem.starts_with("fold_") {
        return Err(format!("'{name}' could be taken for the run's own files: use another name"));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::Cost;
    use super::*;

    fn of(text: &str) -> Result<Config, String> {
        Config::resolve(Some(("a.toml", text)), None, &[]).map_err(|e| e.to_string())
    }

    const TWO: &str = "population = 2\n[data]\ntime_zone = 'UTC'\nbar_seconds = 3600\n[[data.markets]]\nfiles = ['x/eur_1h.csv.gz']\n\
                       [[data.markets]]\nname = 'xbt'\nfiles = ['b.csv', 'c.csv']\ninstrument = 'BTC/USD'\nbar_seconds = 60\n";

    #[test]
    fn every_key_is_known() {
        let schema = keys::schema(super::super::Size::Small);
        let own = &schema["properties"]["data"]["properties"]["markets"]["items"]["properties"];
        let mut known = KEYS;
        known.sort_unstable();
        assert!(own.as_object().unwrap().keys().map(String::as_str).eq(known));
    }

    #[test]
    fn names_are_given_or_made_and_come_back() {
        let c = of(TWO).unwrap();
        let names = |c: &Config| c.data.markets.iter().map(|m| m.name.clone()).collect::<Vec<_>>();
        assert_eq!(names(&c), ["eur_1h", "xbt"]);
        let again = of(&c.to_toml().unwrap()).unwrap();
        assert_eq!(c, again);
        for (keys, name) in [
            ("files = ['a.csv']\ninstrument = 'PERP:BTC/USDT'", "perp-btc-usdt"),
            ("files = ['a.csv']\ninstrument = 'mine/my gold.toml'", "my-gold"),
            ("files = ['C:\\bars\\.NVDA 1m.csv']", "nvda-1m"),
            ("files = ['panel.csv']\nsymbol = 'EURUSD'", "eurusd"),
        ] {
            assert_eq!(names(&of(&format!("[[data.markets]]\n{keys}")).unwrap()), [name]);
        }
        // As one option of the command line.
        let set = ["data.markets=[{files=['a.csv']}, {files=['b.csv'], name='other'}]".to_owned()];
        assert_eq!(names(&Config::resolve(None, None, &set).unwrap()), ["a", "other"]);
    }

    #[test]
    fn each_is_read_by_its_own_keys_and_else_by_those_of_all() {
        let c = of(TWO).unwrap();
        let [eur, xbt] = [0, 1].map(|m| c.data.of_market(m));
        assert_eq!((eur.files.len(), eur.instrument.as_str(), eur.bar_seconds), (1, "", 3600));
        assert_eq!((xbt.files.len(), xbt.instrument.as_str(), xbt.bar_seconds), (2, "BTC/USD", 60));
        assert!(eur.time_zone == "UTC" && xbt.time_zone == "UTC" && xbt.markets.is_empty());
        let plain = of("[data]\nfiles = ['a.csv']").unwrap();
        assert_eq!(plain.data.of_market(0), plain.data);
    }

    /// Each has its own account, by the file or by an option that names it; what it leaves out is as all have it.
    #[test]
    fn each_may_have_an_account_of_its_own() {
        let text = format!(
            "{TWO}market = {{leverage = 2, taker_fee_bp = 7}}\n[market]\nband_bp = 100\nmaker_fee_bp = -0.5\n"
        );
        let resolve = |set: &[&str]| {
            let set: Vec<String> = set.iter().map(|s| (*s).to_owned()).collect();
            Config::resolve(Some(("a.toml", &text)), None, &set).map_err(|e| e.to_string())
        };
        let c =
            resolve(&["data.markets.eur_1h.market.start_cash=5000", "data.markets.xbt.market.leverage=1.5"])
                .unwrap();
        let [eur, xbt] = [0, 1].map(|m| c.of_market(m).market);
        assert_eq!(
            (eur.leverage, eur.start_cash, eur.band_bp, eur.taker_fee_bp),
            (1.0, 5000.0, 100, Cost::Own)
        );
        assert_eq!(
            (xbt.leverage, xbt.start_cash, xbt.band_bp, xbt.taker_fee_bp),
            (1.5, 0.0, 100, Cost::Bp(7.0))
        );
        assert_eq!((eur.maker_fee_bp, xbt.maker_fee_bp), (Cost::Bp(-0.5), Cost::Bp(-0.5)));
        assert_eq!(
            (c.market.leverage, c.of_market(1).of_market(0).market),
            (1.0, xbt),
            "narrowed once or twice"
        );
        assert_eq!(c, of(&c.to_toml().unwrap()).unwrap());
        // Any other key of an instrument too.
        let c =
            resolve(&["data.markets.xbt.symbol=XBTUSD", "data.markets.xbt.market.taker_fee_bp=own"]).unwrap();
        assert_eq!(
            (c.data.markets[1].symbol.as_str(), c.of_market(1).market.taker_fee_bp),
            ("XBTUSD", Cost::Own)
        );
        for (set, words) in [
            (
                "data.markets.gold.market.leverage=2",
                "name one of the instruments eur_1h, xbt, as data.markets.NAME.KEY",
            ),
            (
                "data.markets.xbt.market.leverag=2",
                "data.markets[1]: there is no key 'market.leverag': did you mean market.leverage?",
            ),
            ("data.markets.xbt.leverage=2", "data.markets[1]: there is no key 'leverage'"),
            (
                "data.markets.xbt.market.leverage=2000",
                "data.markets[1]: market.leverage is 2000: it must be 0, or 0.01 to",
            ),
            (
                "data.markets.xbt.market.leverage=high",
                "data.markets[1]: market.leverage is \"high\": it must be a number",
            ),
            ("data.markets.xbt.market.taker_fee_bp=true", "it must be a number, or \"own\""),
            (
                "data.markets.xbt.market.taker_fee_bp=mine",
                "market.taker_fee_bp is \"mine\": it must be a number, or \"own\"",
            ),
            (
                "data.markets.xbt.market.half_spread_bp=-1",
                "data.markets[1]: market.half_spread_bp is -1: it must be 0 to 1000",
            ),
            ("data.markets.xbt.market=3", "is a group of keys"),
        ] {
            let said = resolve(&[set]).unwrap_err();
            assert!(said.starts_with(&format!("--set {set}: ")) && said.contains(words), "{set}: {said}");
        }
        let none = Config::resolve(None, None, &["data.markets.xbt.market.leverage=2".into()])
            .unwrap_err()
            .to_string();
        assert!(none.contains("no instruments are listed"), "{none}");
        let error = of("[[data.markets]]\nfiles = ['a.csv']\nmarket = 3").unwrap_err();
        assert!(
            error.contains("a.toml, line 3: data.markets[0]: market is 3: it must be a table"),
            "{error}"
        );
    }

    /// Ids go by names: whoever else is there, and in which order, changes none.
    #[test]
    fn ids_follow_from_names() {
        let c = of(TWO).unwrap();
        let ids = c.member_ids();
        assert_eq!(ids.len(), 4);
        assert_eq!(ids.iter().map(|id| c.number_of(*id)).collect::<Vec<_>>(), [0, 1, 0, 1]);
        let mut turned = c.clone();
        turned.data.markets.reverse();
        assert_eq!(turned.member_ids(), [ids[2], ids[3], ids[0], ids[1]]);
        assert_eq!(c.of_market(1).member_ids(), ids[2..]);
        // Fixed for all time: a run of today is gone on with tomorrow.
        assert_eq!(ids[2], 4_168_092 * MARKET_IDS);
        assert!(ids.iter().all(|id| *id < 1 << 53 && *id >= MARKET_IDS));
        let mut walk = c;
        let w = &mut walk.data.walk_forward;
        (w.folds, w.validation_days, w.test_days) = (2, 1, 1);
        let ids = walk.of_market(1).member_ids();
        assert_eq!(
            ids.iter().map(|id| (walk.fold_of(*id), walk.number_of(*id))).collect::<Vec<_>>(),
            [(0, 0), (0, 1), (1, 0), (1, 1)]
        );
    }

    #[test]
    fn what_is_wrong_is_named_with_its_line() {
        let market =
            |keys: &str| format!("[data]\n[[data.markets]]\nfiles = ['a.csv']\n[[data.markets]]\n{keys}\n");
        for (keys, words) in [
            (
                "fils = ['b.csv']",
                "a.toml, line 5: data.markets[1]: there is no key 'fils': did you mean files?",
            ),
            ("name = 'b'", "a.toml, line 4: data.markets[1].files is empty"),
            ("files = ['x/a.csv']", "line 4: data.markets[1].name is a, as is data.markets[0]'s"),
            ("files = ['b.csv']\nname = 'A'", "line 6: data.markets[1].name is A, as is data.markets[0]'s"),
            (
                "files = ['b.csv']\nname = 'a/b'",
                "line 6: data.markets[1].name: 'a/b' can't be a folder's name",
            ),
            ("files = ['b.csv']\nname = '..'", "can't be a folder's name"),
            ("files = ['b.csv']\nname = 'fold_1'", "could be taken for the run's own files"),
            ("files = ['b.csv']\nname = 'Lock'", "could be taken for the run's own files"),
            ("files = ['b.csv']\nbar_seconds = -1", "line 6: data.markets[1]: data.bar_seconds is -1"),
            ("files = ['b.csv']\nstamps = 'x'", "line 6: data.markets[1]: stamps: unknown variant `x`"),
            ("name = 'b'\nfiles = 'b.csv'", "line 6: data.markets[1]: files: "),
            (
                "files = ['b.csv']\nmarket = {\n  leverage = 2000\n}",
                "line 7: data.markets[1]: market.leverage is 2000: it must be",
            ),
            (
                "files = ['b.csv']\n[data.markets.market]\nstop = 2",
                "line 7: data.markets[1]: there is no key 'market.stop'",
            ),
        ] {
            let error = of(&market(keys)).unwrap_err();
            assert!(error.contains(words), "{keys}: {error}");
        }
        let error = of("[data]\nfiles = ['a.csv']\n[[data.markets]]\nfiles = ['b.csv']").unwrap_err();
        assert!(error.contains("data.files and data.markets"), "{error}");
        let error = of("[data]\nmarkets = ['a.csv']").unwrap_err();
        assert!(error.contains("data.markets[0] is \"a.csv\": it must be a table"), "{error}");
        let error =
            of("population = 1\nmembers = [1000000]\n[[data.markets]]\nfiles = ['b.csv']").unwrap_err();
        assert!(error.contains("members has the id 1000000"), "{error}");
    }
}
