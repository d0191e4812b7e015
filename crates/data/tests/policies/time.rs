//! Rows and their moments.

use std::fmt::Write as _;

use foxhunt_data::{Basis, LoadOptions, StampSide, inspect, presets};

use super::{A, B, C, HEAD, assert_bars, plain, read, refusal, with};

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
    assert!(
        asked.contains("line 2, field timestamp")
            && asked.contains("say it with --date-order (data.date_order)"),
        "{asked}"
    );
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
fn lengths_that_mix() {
    let mut text = String::from(HEAD);
    for i in 0..40_i64 {
        let stamp = 1_577_836_800 + if i < 30 { i * 86_400 } else { 40 * 86_400 + i * 60 };
        let _ = writeln!(text, "{stamp},1.1,1.2,1.0,1.1,1");
    }
    let message = refusal(&text);
    assert!(message.contains("most common step is 86400 s and 9 of 39 steps are shorter"), "{message}");
    assert!(
        message.contains("divide the file by bar length, or give --bar-seconds (data.bar_seconds)"),
        "{message}"
    );
    assert_eq!(with(&text, |o| o.bar_seconds = Some(60)).unwrap().len(), 40);
    // A length that most bars have not is a mistake.
    let week = with(&text, |o| o.bar_seconds = Some(7 * 86_400)).unwrap_err().to_string();
    for words in
        ["no bars of 604800 s", "--bar-seconds", "38 of 39 steps", "most of them 86400 s", "leave it out"]
    {
        assert!(week.contains(words), "no {words} in {week}");
    }
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
        look.source.jumps.iter().map(|j| (j.row, j.label())).collect::<Vec<_>>(),
        [(100, "2:1".to_owned())]
    );
    // It is said, and the bars stay as they are.
    assert!(look.to_string().contains(
        "splits      one jump looks like an unadjusted split: 2:1 at 2020-04-10T00:00:00Z (line 102)"
    ));
    assert!(foxhunt_data::plot(&bars, &look).contains("class=\"jump\""));
    assert!(bars.bid.close[100] * 2 - bars.bid.close[99] < 2_000);
}

#[test]
fn prices_far_from_those_around_them() {
    let row = |i: i64, [o, h, l, c]: [f64; 4]| {
        format!("{},{o:.3},{h:.3},{l:.3},{c:.3},1000\n", 1_577_836_800 + i * 3_600)
    };
    let around = |i: i64| 1.06 + (i % 7) as f64 / 1_000.0;
    let usual = |i: i64| [around(i); 4];
    // The fiftieth bar, in line 52, has a high of 9.9; from the hundredth on the unit is another.
    let text: String = (0..200)
        .map(|i| match i {
            50 => row(i, [around(i), 9.9, around(i), around(i)]),
            100.. => row(i, usual(i).map(|p| p * 1_000.0)),
            _ => row(i, usual(i)),
        })
        .collect();
    let bars = read(&format!("{HEAD}{text}"));
    let told = bars.source.far_prices().unwrap();
    assert_eq!(
        told,
        "2 prices are far from those around them: high x 9.33 at 2020-01-03T02:00:00Z (line 52), close x 1001 at \
         2020-01-05T04:00:00Z (line 102)"
    );
    let look = inspect(&bars).to_string();
    assert!(look.contains("far prices  2 prices are far from those around them: high x 9.33"), "{look}");
    assert!(look.contains("splits      no jump looks like one"), "{look}");
    // They stay as they are.
    assert_eq!((bars.bid.high[50], bars.bid.close[100] / bars.bid.close[93]), (1_980_000, 1_000));
    let quiet: String = (0..200).map(|i| row(i, usual(i))).collect();
    let bars = read(&format!("{HEAD}{quiet}"));
    assert_eq!(bars.source.far_prices(), None);
    // One file after another: the unit changes between them, and the line is the second file's.
    let later: String = (200..300).map(|i| row(i, usual(i).map(|p| p * 1_000.0))).collect();
    let both = bars.append(read(&format!("{HEAD}{later}"))).unwrap();
    let jumps: Vec<_> = both.source.jumps.iter().map(|j| (j.row, j.line, j.label())).collect();
    assert_eq!(jumps, [(200, 2, "close x 1001".to_owned())]);
}
