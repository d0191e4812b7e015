//! The policies of `docs/data.md`, a test for each row of its table; the page names these tests, and the last one here sees to it
//! that it does.
#![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]

use std::fmt::Write as _;

use foxhunt_data::{
    Bars, Basis, DataError, DecimalMark, LoadOptions, Repairs, StampSide, inspect, load_bytes, presets,
};

fn with(text: &str, change: impl FnOnce(&mut LoadOptions)) -> Result<Bars, DataError> {
    let mut options = LoadOptions { instrument: Some(presets::eurusd()), ..LoadOptions::default() };
    change(&mut options);
    load_bytes("a.csv", text.as_bytes().to_vec(), &options)
}

fn read(text: &str) -> Bars {
    with(text, |_| {}).unwrap_or_else(|e| panic!("{e}\n{text}"))
}

fn refusal(text: &str) -> String {
    with(text, |_| {}).map_or_else(|e| e.to_string(), |bars| format!("read {} bars", bars.len()))
}

const HEAD: &str = "time,open,high,low,close,volume\n";
const A: &str = "2020-01-01 00:00,1.1,1.2,1.0,1.15,5000\n";
const B: &str = "2020-01-01 01:00,1.15,1.25,1.1,1.2,6000\n";
const C: &str = "2020-01-01 02:00,1.2,1.25,1.1,1.1,7000\n";

/// The three rows as they are, for comparison.
fn plain() -> Bars {
    read(&format!("{HEAD}{A}{B}{C}"))
}

fn assert_bars(bars: &Bars, expected: &Bars) {
    assert_eq!((&bars.open_ns, &bars.close_ns), (&expected.open_ns, &expected.close_ns));
    assert_eq!((&bars.bid, &bars.volume_lots), (&expected.bid, &expected.volume_lots));
}

#[test]
fn words_before_the_table() {
    let bars = read(&format!("https://www.example.com\nBTC, hourly\n\n{HEAD}{A}{B}{C}"));
    assert_bars(&bars, &plain());
    assert_eq!(bars.source.repairs.lines_skipped, 2);
    let commented = read(&format!("# {HEAD}{A}{B}{C}"));
    assert_bars(&commented, &plain());
    assert_bars(&read(&format!("sep=;\n{HEAD}{A}{B}{C}").replace(',', ";")), &plain());
}

#[test]
fn words_after_the_table() {
    let bars = read(&format!("{HEAD}{A}{B}{C}\"Downloaded on Monday, by me\"\n"));
    assert_bars(&bars, &plain());
    assert_eq!(bars.source.repairs.lines_skipped, 1);
    // A bar that lost cells is no word, at the end or not.
    let cut = format!("{HEAD}{A}{B}2020-01-01 02:00,1.2,1.25\n");
    assert!(refusal(&cut).contains("line 4: has 3 columns, and the first line has 6"), "{}", refusal(&cut));
    // And what stands between bars is not passed over.
    let between = format!("{HEAD}{A}a note\n{B}{C}");
    assert!(refusal(&between).contains("line 3: has 1 columns"), "{}", refusal(&between));
}

#[test]
fn headers_that_repeat() {
    let bars = read(&format!("{HEAD}{A}{B}{HEAD}{C}"));
    assert_bars(&bars, &plain());
    assert_eq!(bars.source.repairs.lines_skipped, 1);
}

#[test]
fn a_delimiter_at_the_end_of_rows() {
    let rows: String = [A, B, C].map(|r| r.replace('\n', ",\n")).concat();
    assert_bars(&read(&format!("{HEAD}{rows}")), &plain());
    assert_bars(&read(&rows), &plain());
}

#[test]
fn quotation_marks_that_do_not_close() {
    let text = format!("{HEAD}{A}2020-01-01 01:00,\"1.15,1.25,1.1,1.2,6000\n{C}");
    assert!(refusal(&text).contains("line 3: opens a quotation mark"), "{}", refusal(&text));
}

#[test]
fn delimiters_and_blanks() {
    let all = format!("{HEAD}{A}{B}{C}");
    for delimiter in ["\t", ";", "|"] {
        assert_bars(&read(&all.replace(',', delimiter)), &plain());
    }
    assert_bars(&read(&format!("{A}{B}{C}").replace(',', "   ").replace("5000\n", "5000  \n")), &{
        let mut expected = plain();
        // Date and clock apart and no header: MetaTrader's layout, whose last column counts ticks.
        expected.volume_lots = vec![1_000_000; 3];
        expected
    });
    let told = with(&all.replace(',', "|"), |o| o.delimiter = foxhunt_data::delimiter("comma"));
    assert!(told.unwrap_err().to_string().contains("line 1"));
}

#[test]
fn thousands_apart_and_signs_of_currency() {
    let text = "Date,Price,Open,High,Low,Vol.,Change %\n\
                \"Jan 2, 2020\",\"1,115.0\",\"$1,110.0\",\"1,120.0\",\"1,100.0\",5.5K,0.1%\n\
                \"Jan 3, 2020\",\"1,120.0\",\"$1,115.0\",\"1,125.0\",\"1,110.0\",1.2M,0.1%\n";
    let bars = with(text, |o| o.instrument = Some(presets::us_equity("X"))).unwrap();
    assert_eq!((bars.bid.close[0], bars.bid.open[1]), (11_150_000, 11_150_000));
    assert_eq!(bars.volume_lots, [5_500, 1_200_000]);
    assert_eq!(bars.source.repairs.numbers_cleaned, 10);
    assert_eq!(bars.source.columns[1], "open=Open");
    // Groups of other than three digits are no thousands.
    let wrong = text.replace("\"1,115.0\"", "\"11,15.0\"");
    let message = with(&wrong, |o| o.instrument = Some(presets::us_equity("X"))).unwrap_err().to_string();
    assert!(message.contains("line 2, field close: \"11,15.0\" is not a number"), "{message}");
}

#[test]
fn decimal_commas() {
    let text = format!("{HEAD}{A}{B}{C}").replace(',', ";").replace('.', ",");
    let bars = read(&text);
    assert_bars(&bars, &plain());
    assert!(bars.source.format.contains("decimal commas") && bars.source.repairs.numbers_cleaned == 0);
    // 1,085 may be either: it is asked.
    let unclear = "time;open;high;low;close\n2020-01-01 00:00;1,085;1,085;1,085;1,085\n2020-01-01 01:00;1,085;1,085;1,085;1,085\n";
    assert!(
        refusal(unclear).contains("say whether decimals have a point or a comma"),
        "{}",
        refusal(unclear)
    );
    let told = with(unclear, |o| o.decimal = Some(DecimalMark::Comma)).unwrap();
    assert_eq!(told.bid.open[0], 217_000);
    let told = with(unclear, |o| o.decimal = Some(DecimalMark::Point)).unwrap();
    assert_eq!(told.bid.open[0], 217_000_000);
}

#[test]
fn spreadsheet_damage() {
    for (cell, words) in
        [("#REF!", "spreadsheet's sign of an error"), ("########", "spreadsheet's sign of an error")]
    {
        let text = format!("{HEAD}{A}{}{C}", B.replace("1.25", cell));
        assert!(
            refusal(&text).contains(&format!("line 3, field high: \"{cell}\" is a {words}")),
            "{}",
            refusal(&text)
        );
    }
    for (stamp, words) in [
        ("43831.04", "number of a day, as spreadsheets count"),
        ("1.58E+12", "has lost digits in a spreadsheet"),
        ("########", "column was too narrow"),
    ] {
        let text = format!("{HEAD}{}", A.replace("2020-01-01 00:00", stamp).repeat(2));
        assert!(refusal(&text).contains(words), "{}", refusal(&text));
        let later = format!("{HEAD}{A}{}", B.replace("2020-01-01 01:00", stamp));
        assert!(refusal(&later).contains("line 3, field timestamp"), "{}", refusal(&later));
    }
}

#[test]
fn rows_without_prices() {
    for empty in [
        "2020-01-01 01:00,,,,,0\n",
        "2020-01-01 01:00,NaN,NaN,NaN,NaN,\n",
        "2020-01-01 01:00,null,null,null,null,null\n",
    ] {
        let bars = read(&format!("{HEAD}{A}{empty}{C}2020-01-01 03:00,1.1,1.1,1.1,1.1,5000\n"));
        assert_eq!((bars.len(), bars.source.repairs.rows_without_prices), (3, 1));
        // Nothing is filled in: the hour is a gap.
        assert_eq!(bars.gap_seconds(1), 3_600);
    }
    // One price missing is damage.
    let text = format!("{HEAD}{A}{}{C}", B.replace("1.25", "NaN"));
    assert!(refusal(&text).contains("line 3, field high: \"NaN\" is not a number"), "{}", refusal(&text));
}

#[test]
fn volumes_that_are_missing() {
    let bars = read(&format!("{HEAD}{A}{}{C}", B.replace("6000", "")));
    assert_eq!((bars.volume_lots.as_slice(), bars.source.repairs.volumes_missing), (&[5, 0, 7][..], 1));
    let none =
        format!("{HEAD}{A}{B}{C}").replace(",5000", ",-").replace(",6000", ",-").replace(",7000", ",-");
    let bars = read(&none);
    assert_eq!((bars.has_volume, bars.source.repairs), (false, Repairs::default()));
    let zeros = format!("{HEAD}{A}{B}{C}").replace("5000", "0").replace("6000", "0").replace("7000", "0");
    assert!(!read(&zeros).has_volume);
    let small = read(&format!("{HEAD}{A}{}{C}", B.replace("6000", "999")));
    assert_eq!((small.volume_lots[1], small.source.repairs.volumes_below_lot), (0, 1));
    let text = format!("{HEAD}{A}{}{C}", B.replace("6000", "-1"));
    assert!(refusal(&text).contains("line 3, field volume: \"-1\" is below zero"));
}

#[test]
fn rows_out_of_order() {
    let bars = read(&format!("{HEAD}{B}{C}{A}"));
    assert_bars(&bars, &plain());
    assert_eq!((bars.source.repairs.steps_back, bars.source.repairs.reversed), (1, false));
    let bars = read(&format!("{HEAD}{C}{B}{A}"));
    assert_bars(&bars, &plain());
    assert_eq!((bars.source.repairs.steps_back, bars.source.repairs.reversed), (0, true));
}

#[test]
fn rows_that_repeat() {
    let bars = read(&format!("{HEAD}{A}{B}{B}{C}"));
    assert_bars(&bars, &plain());
    assert_eq!(bars.source.repairs.duplicates_dropped, 1);
    // In a file that is newest first, and one that is out of order.
    assert_eq!(read(&format!("{HEAD}{C}{B}{B}{A}")).source.repairs.duplicates_dropped, 1);
    assert_eq!(read(&format!("{HEAD}{A}{C}{B}{C}")).source.repairs.duplicates_dropped, 1);
    let text = format!("{HEAD}{A}{B}{C}{}", B.replace("1.25", "1.26"));
    assert!(refusal(&text).contains("line 5, field timestamp"), "{}", refusal(&text));
    assert!(
        refusal(&text).contains("same moment as line 3, with other prices or volume"),
        "{}",
        refusal(&text)
    );
}

#[test]
fn two_columns_of_time() {
    let text = "Unix,Date,Symbol,Open,High,Low,Close,Volume EUR,Volume USD\n\
                1577836800,2020-01-01 05:00,EUR/USD,1.1,1.2,1.0,1.15,5000,1\n\
                1577840400,2020-01-01 06:00,EUR/USD,1.15,1.25,1.1,1.2,6000,1\n\
                1577844000,2020-01-01 07:00,EUR/USD,1.2,1.25,1.1,1.1,7000,1\n";
    let bars = read(text);
    assert_bars(&bars, &plain());
    assert_eq!(bars.source.columns_unused, ["Date", "Volume USD"]);
    // The other, if it is said.
    let told = with(text, |o| o.columns = "time=Date".parse().unwrap()).unwrap();
    assert_eq!(told.open_ns[0] - bars.open_ns[0], 5 * 3_600_000_000_000);
    let closes = read("close time,open,high,low,close\n2020-01-01 01:00,1,1,1,1\n2020-01-01 02:00,1,1,1,1\n");
    assert_eq!((closes.source.stamp_side, closes.source.stamp_side_basis), (StampSide::Close, Basis::InFile));
    let clock = read("Date,Time,Open,High,Low,Close\n20200101,000000,1,1,1,1\n20200101,010000,1,1,1,1\n");
    assert_eq!(clock.open_ns, plain().open_ns[..2]);
}

#[test]
fn day_and_month() {
    let rows = |dates: [&str; 3]| {
        let row = |d: &str| format!("{d},1.1,1.2,1.0,1.1,1\n");
        format!("{HEAD}{}", dates.map(row).concat())
    };
    // A number above 12 tells; so does it that tomorrow is no month away.
    assert!(
        read(&rows(["11/5/2019", "11/6/2019", "11/13/2019"])).source.stamp_format.contains("month-first")
    );
    let inferred = read(&rows(["11/5/2019 9:30", "11/5/2019 9:31", "11/6/2019 9:30"]));
    assert!(inferred.source.stamp_format.contains("month-first") && inferred.source.notes.len() == 1);
    assert!(inspect(&inferred).to_string().contains("note        the order of dates"));
    let asked = refusal(&rows(["1/2/2019 9:30", "1/2/2019 9:31", "1/2/2019 9:32"]));
    assert!(asked.contains("line 2, field timestamp") && asked.contains("say date_order"), "{asked}");
    assert!(refusal(&rows(["1/2/19", "1/3/19", "1/4/19"])).contains("year of two digits"));
    let named = read(&rows(["3-Jan-22", "4-Jan-22", "5-Jan-22"]));
    assert_eq!(named.open_ns[0], 1_641_168_000_000_000_000);
}

#[test]
fn clock_changes() {
    let rows = |stamps: &[&str]| {
        let rows: String =
            stamps.iter().enumerate().map(|(i, s)| format!("{s},1.1,1.2,1.0,1.{},1000\n", 10 + i)).collect();
        format!("{HEAD}{rows}")
    };
    let zone = |o: &mut LoadOptions| o.time_zone = Some("America/New_York".into());
    // In autumn 01:00 comes twice; hours stay an hour.
    let autumn = ["2023-11-05 00:00", "2023-11-05 01:00", "2023-11-05 01:00", "2023-11-05 02:00"];
    let bars = with(&rows(&autumn), zone).unwrap();
    assert!(bars.open_ns.windows(2).all(|w| w[1] - w[0] == 3_600_000_000_000));
    assert_eq!(bars.source.repairs.wall_times_repeated, 2);
    // The same, newest first: the row that came first in time has the same hour.
    let newest: Vec<&str> = autumn.iter().rev().copied().collect();
    let reversed = with(&rows(&newest), zone).unwrap();
    assert_eq!(reversed.open_ns, bars.open_ns);
    // In spring there is no 02:30: the zone is another.
    let spring = with(&rows(&["2023-03-12 01:30", "2023-03-12 02:30"]), zone).unwrap_err().to_string();
    assert!(spring.contains("line 3, field timestamp") && spring.contains("zone skips"), "{spring}");
}

#[test]
fn names_of_the_header_that_say_utc() {
    let text = "timestamp_utc,open,high,low,close\n2020-01-01 00:00,1,1,1,1\n2020-01-01 01:00,1,1,1,1\n";
    let bars = with(text, |o| o.instrument = Some(presets::us_equity("X"))).unwrap();
    assert_eq!((bars.open_ns[0], bars.source.time_zone_basis), (plain().open_ns[0], Basis::InFile));
}

#[test]
fn columns_that_are_said() {
    let text = "d,a,b,c,x\n2020-01-01,1.1,1.2,1.0,1.15\n2020-01-02,1.15,1.25,1.1,1.2\n";
    assert!(refusal(text).contains("line 1: has no column for the time"), "{}", refusal(text));
    let map = "time=d,open=a,high=b,low=c,close=x";
    let bars = with(text, |o| o.columns = map.parse().unwrap()).unwrap();
    assert_eq!(bars.bid.close, [230_000, 240_000]);
    let by_number = with(text, |o| o.columns = "time=#1,open=#2,high=#3,low=#4,close=#5".parse().unwrap());
    assert_eq!(by_number.unwrap().bid, bars.bid);
    // A close alone is a bar without range, if it is said to be one.
    let closes = with(text, |o| o.columns = "time=d,close=x".parse().unwrap()).unwrap();
    assert_eq!((closes.bid.open[1], closes.bid.low[1]), (240_000, 240_000));
    let wrong = with(text, |o| o.columns = "time=d,open=#9".parse().unwrap()).unwrap_err().to_string();
    assert!(wrong.contains("has 5 columns and no column #9"), "{wrong}");
}

#[test]
fn columns_in_an_unusual_order() {
    let mut text = String::new();
    for i in 0..30 {
        let _ = writeln!(text, "{},5000,1.1,1.2,1.0,1.15", 1_577_836_800 + i * 60);
    }
    let bars = read(&text);
    assert_eq!((bars.bid.high[0], bars.volume_lots[0]), (240_000, 5));
    assert!(bars.source.notes[0].contains("volume, open, high"));
}

#[test]
fn trades_and_several_symbols() {
    assert!(refusal("1577836800,1.1,5000\n1577836801,1.1,5000\n").contains("line 1: holds trades"));
    assert!(refusal("time,price,amount\n1577836800,1.1,5000\n").contains("make bars of the trades first"));
    let panel = format!("symbol,{HEAD}A,{A}A,{B}B,{A}B,{B}");
    assert!(refusal(&panel).contains("say which symbol to load: A, B"), "{}", refusal(&panel));
    assert_eq!(with(&panel, |o| o.symbol = Some("B".into())).unwrap().len(), 2);
    let none = with(&panel, |o| o.symbol = Some("C".into())).unwrap_err().to_string();
    assert!(none.contains("no row") && none.contains("\"C\""), "{none}");
}

#[test]
fn lengths_that_mix() {
    let mut text = String::from(HEAD);
    for i in 0..40_i64 {
        let stamp = 1_577_836_800 + if i < 30 { i * 86_400 } else { 40 * 86_400 + i * 60 };
        let _ = writeln!(text, "{stamp},1.1,1.2,1.0,1.1,1");
    }
    let message = refusal(&text);
    assert!(message.contains("most common step is 86400 s and 9 of 39 steps are shorter"), "{message}");
    assert!(message.contains("divide the file by bar length, or give bar_seconds"), "{message}");
    assert_eq!(with(&text, |o| o.bar_seconds = Some(60)).unwrap().len(), 40);
}

#[test]
fn jumps_like_splits() {
    let mut text = String::from(HEAD);
    for i in 0..200_i64 {
        let price = if i < 100 { 1.1 } else { 0.55 } + (i % 7) as f64 / 1_000.0;
        let _ =
            writeln!(text, "{},{price:.3},{price:.3},{price:.3},{price:.3},1000", 1_577_836_800 + i * 86_400);
    }
    let bars = read(&text);
    let look = inspect(&bars);
    assert_eq!(
        look.split_like.iter().map(|j| (j.row, j.ratio())).collect::<Vec<_>>(),
        [(100, "2:1".to_owned())]
    );
    // It is said, and the bars stay as they are.
    assert!(
        look.to_string()
            .contains("splits      1 jumps look like unadjusted ones: 2:1 at 2020-04-10T00:00:00Z")
    );
    assert!(foxhunt_data::plot(&bars, &look).contains("class=\"jump\""));
    assert!(bars.bid.close[100] * 2 - bars.bid.close[99] < 2_000);
}

#[test]
fn every_policy_stands_in_the_documentation() {
    let page = include_str!("../../../docs/data.md");
    let tests = include_str!("policies.rs");
    for name in tests.split("#[test]\nfn ").skip(1).filter_map(|t| t.split('(').next()) {
        if name != "every_policy_stands_in_the_documentation" {
            assert!(page.contains(&format!("`{name}`")), "docs/data.md does not name {name}");
        }
    }
    let here = |name: &str| {
        [tests, include_str!("refusals.rs"), include_str!("formats.rs")]
            .iter()
            .any(|t| t.contains(&format!("fn {name}(")))
    };
    let rows = page.lines().filter(|l| l.starts_with("| ") && l.matches('|').count() >= 5);
    let named: Vec<&str> = rows.skip(1).filter_map(|l| l.rsplit('`').nth(1)).collect();
    assert!(named.len() > 20, "{named:?}");
    for name in named {
        assert!(here(name), "no test {name}");
    }
}
