//! Every file of bars in the shared data folder: read right, by a table of numbers, or refused with file, line, field and what
//! to do. The numbers equal an independent reading of the files by a script, but for those of
//! DBN files, which are this program's own.
#![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]

use std::{
    collections::BTreeSet,
    path::{Path, PathBuf},
};

use foxhunt_data::{Bars, DataError, LoadOptions, Ohlc, RangePolicy, presets};

#[allow(unreachable_pub, dead_code, clippy::panic, reason = "the fuzzer's own library")]
#[path = "../../../fuzz/check.rs"]
mod check;

/// `file, options, rows, first open, last close (s), sum of prices, sum of volumes (lots)`.
const TABLE: &str = include_str!("known.tsv");

/// Files that are refused, the options, and what the message says.
const REFUSED: [(&str, &str, &[&str]); 17] = [
    (
        "ohlcv/fx_panel_1d_bidask.csv.gz",
        "us",
        &["field symbol", "several symbols", "EURGBP, EURUSD, GBPUSD, NZDUSD"],
    ),
    (
        "ohlcv/vix_1d_1990_2026.csv.gz",
        "us",
        &["line 535, field open", "outside the bar's low", "widen ranges"],
    ),
    ("ohlcv/btc_1m_20201018.json.gz", "", &["tells no known instrument", "give an instrument"]),
    ("messy/binance_btcusdt_trades_20201116.csv", "", &["line 1", "holds trades", "make bars of the trades"]),
    ("messy/bitstamp_trades_2011.csv.gz", "us", &["line 1", "holds trades", "make bars of the trades"]),
    ("messy/mtgox_trades_20130101.csv", "us", &["line 1", "holds trades", "make bars of the trades"]),
    (
        "messy/mt4_btc_mixed_example.csv",
        "us",
        &["mixes bar lengths", "give --bar-seconds (data.bar_seconds)"],
    ),
    ("messy/quandl_gold_missing_cells.csv", "us", &["line 1", "has no column open", "--columns time="]),
    (
        "messy/quandl_gold_missing_cells.csv",
        "us gold",
        &["mixes bar lengths", "give --bar-seconds (data.bar_seconds)"],
    ),
    (
        "messy/binance_btcusdt_1d_2019_volume_second.csv",
        "",
        &["line 1, field high", "below the low", "order of the columns"],
    ),
    (
        "messy/barchart_jpyusd_1d.csv",
        "us",
        &["line 2, field open", "1 bp away from the grid", "finer price_unit"],
    ),
    (
        "messy/bitstamp_30m_empty_adjclose.csv",
        "us adjusted",
        &["field close", "is an empty cell", "never filled in"],
    ),
    ("lob/bitstamp_btcusd_orders_20150501.csv.gz", "", &["line 1", "holds trades"]),
    ("lob/binance_usdm_btcusdt_l10.csv.gz", "", &["line 1", "has no column"]),
    ("lob/binance_usdm_btcusdt_20240808.jsonl.gz", "", &["line 1"]),
    ("lob/dbn/test_data.trades.v3.dbn.zst", "us", &["schema trades, not bars", "ohlcv-1s"]),
    ("lob/dbn/test_data.ohlcv-1d.dbn", "us", &["has no rows"]),
];

fn root() -> Option<PathBuf> {
    let root = std::env::var_os("FOXHUNT_SHARED_DATA").map_or_else(
        || PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data"),
        PathBuf::from,
    );
    if root.join("messy").exists() {
        return Some(root);
    }
    println!("skipped: no folder of shared data; set FOXHUNT_SHARED_DATA");
    None
}

fn options(words: &str) -> LoadOptions {
    let mut options = LoadOptions::default();
    for word in words.split(' ').filter(|w| !w.is_empty() && *w != "-") {
        match word {
            "us" => options.instrument = Some(presets::us_equity("OTHER")),
            "btc" => options.instrument = Some(presets::bitcoin("BTC", "USD")),
            "nzd" => options.instrument = Some(presets::fx("NZD", "USD")),
            "utc" => options.time_zone = Some("UTC".into()),
            "widen" => options.range_policy = RangePolicy::Widen,
            "adjusted" => options.columns = "close=Adj Close".parse().unwrap(),
            "gold" => options.columns = "time=Date,close=USD".parse().unwrap(),
            "week" => options.bar_seconds = Some(7 * 86_400),
            "volume-second" => {
                options.columns = "time=#1,volume=#2,open=#3,high=#4,low=#5,close=#6".parse().unwrap()
            }
            symbol => options.symbol = Some(symbol.to_owned()),
        }
    }
    options
}

/// Sum over rows i from 1 of i times (open + 3 high + 5 low + 7 close), modulo 2^64.
fn sum(side: &Ohlc) -> u64 {
    let row = |i: usize| {
        let [o, h, l, c] = [side.open[i], side.high[i], side.low[i], side.close[i]].map(|p| p as u64);
        (i as u64 + 1).wrapping_mul(o + 3 * h + 5 * l + 7 * c)
    };
    (0..side.open.len()).fold(0, |a, i| a.wrapping_add(row(i)))
}

/// Loads a file, which gives the same bars, or the same refusal, one after the other.
fn load(path: &Path, options: &LoadOptions) -> Result<Bars, DataError> {
    let loaded = foxhunt_data::load(path, options);
    check::alike(&path.display().to_string(), std::fs::read(path).unwrap(), options, &loaded);
    loaded
}

fn row(file: &str, words: &str, bars: &Bars) -> String {
    let volume: i128 =
        if bars.has_volume { bars.volume_lots.iter().map(|&v| i128::from(v)).sum() } else { -1 };
    let ask = bars.ask.as_ref().map_or(0, sum);
    format!(
        "{file}\t{words}\t{}\t{}\t{}\t{}\t{ask}\t{volume}",
        bars.len(),
        bars.open_ns[0] / 1_000_000_000,
        bars.close_ns[bars.len() - 1] / 1_000_000_000,
        sum(&bars.bid),
    )
}

/// What [`Bars`] promises, for every row.
fn assert_sound(bars: &Bars, name: &str) {
    for i in 0..bars.len() {
        assert!(bars.open_ns[i] < bars.close_ns[i], "{name} row {i}");
        assert!(i == 0 || bars.close_ns[i - 1] <= bars.open_ns[i], "{name} row {i}");
        for side in [Some(&bars.bid), bars.ask.as_ref()].into_iter().flatten() {
            let (open, high, low, close) = (side.open[i], side.high[i], side.low[i], side.close[i]);
            assert!(low > 0 && low <= open.min(close) && high >= open.max(close), "{name} row {i}");
        }
        assert!(bars.volume_lots[i] >= 0, "{name} row {i}");
    }
}

#[test]
fn files_of_the_table_are_read_as_it_says() {
    let Some(root) = root() else { return };
    let mut wrong = Vec::new();
    for line in TABLE.lines().skip(1) {
        let mut cells = line.split('\t');
        let (file, words) = (cells.next().unwrap(), cells.next().unwrap());
        match load(&root.join(file), &options(words)) {
            Ok(bars) => {
                assert_sound(&bars, file);
                let found = row(file, words, &bars);
                if found != line {
                    wrong.push(found);
                }
            }
            Err(e) => wrong.push(format!("{file}\t{words}\t{e}")),
        }
    }
    assert!(wrong.is_empty(), "not as in the table:\n{}", wrong.join("\n"));
}

#[test]
fn files_that_are_no_bars_are_refused_with_what_to_do() {
    let Some(root) = root() else { return };
    for (file, words, expected) in REFUSED {
        let message = match load(&root.join(file), &options(words)) {
            Ok(bars) => format!("loaded {} bars", bars.len()),
            Err(e @ (DataError::File { .. } | DataError::Line { .. } | DataError::Cell { .. })) => {
                e.to_string()
            }
            Err(e) => format!("another kind of error: {e}"),
        };
        assert!(message.contains(file), "{file} {words}: {message}");
        for words in expected {
            assert!(message.contains(words), "{file}: no {words:?} in {message}");
        }
    }
}

#[test]
fn no_file_is_forgotten() {
    let Some(root) = root() else { return };
    let known: BTreeSet<&str> = TABLE
        .lines()
        .skip(1)
        .filter_map(|l| l.split('\t').next())
        .chain(REFUSED.map(|(file, ..)| file))
        .collect();
    for folder in ["ohlcv", "messy"] {
        for entry in std::fs::read_dir(root.join(folder)).unwrap() {
            let name = format!("{folder}/{}", entry.unwrap().file_name().to_string_lossy());
            assert!(known.contains(name.as_str()), "{name} is in neither table");
        }
    }
}
