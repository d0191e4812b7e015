//! Small files made here: every refusal names file, line, field and text; every repair is counted.

use std::io::Write as _;

use foxhunt_data::{
    Bars, DataError, DateOrder, Decimal, LoadOptions, RangePolicy, StampSide, load, load_bytes, presets,
};

#[allow(unreachable_pub, dead_code, clippy::panic, reason = "the fuzzer's own library")]
#[path = "../../../fuzz/check.rs"]
mod check;

fn with(text: &str, options: &LoadOptions) -> Result<Bars, DataError> {
    let mut options = options.clone();
    options.instrument.get_or_insert_with(presets::eurusd);
    let loaded = load_bytes("a.csv", text.as_bytes().to_vec(), &options);
    check::alike("a.csv", text.as_bytes().to_vec(), &options, &loaded);
    loaded
}

fn read(text: &str) -> Result<Bars, DataError> {
    with(text, &LoadOptions::default())
}

fn message(text: &str) -> String {
    read(text).err().map(|e| e.to_string()).unwrap_or_default()
}

const HEAD: &str = "time,open,high,low,close,volume\n";
const ROW: &str = "2020-01-01 00:00,1.1,1.2,1.0,1.15,5000\n";

#[test]
fn cells_are_named() {
    for (row, expected) in [
        (
            "2020-01-01 01:00,1.1,,1.0,1.15,5000",
            "a.csv, line 3, field high: \"\" is an empty cell; mend the cell or remove the row; \
             missing prices are never filled in",
        ),
        (
            "2020-01-01 01:00,NaN,1.2,1.0,1.15,5000",
            "a.csv, line 3, field open: \"NaN\" is not a number; mend the cell or remove the row; \
             missing prices are never filled in",
        ),
        (
            "2020-01-01 01:00,1.1,1.2,0,1.15,5000",
            "a.csv, line 3, field low: \"0\" is not above zero; mend the price or remove the row",
        ),
        (
            "2020-01-01 01:00,1.1,1.2,1.0,-1.15,5000",
            "a.csv, line 3, field close: \"-1.15\" is not above zero; mend the price or remove the row",
        ),
        (
            "2020-01-01 01:00,1.1,0.9,1.0,1.15,5000",
            "a.csv, line 3, field high: \"0.9\" is below the low 1.0; check the order of the columns \
             (a header names them, --columns says it), or mend the row",
        ),
        (
            "2020-01-01 01:00,1.3,1.2,1.0,1.15,5000",
            "a.csv, line 3, field open: \"1.3\" is outside the bar's low 1.0 to high 1.2; check the order of \
             the columns, mend the row, or widen ranges with --widen-ranges",
        ),
        (
            "2020-01-01 01:00,1.1,1.2,1.0,1.15,-1",
            "a.csv, line 3, field volume: \"-1\" is below zero; mend the volume or remove the row",
        ),
        (
            "2020-01-01 01:00,1.1,1.2,1.0,1.15,many",
            "a.csv, line 3, field volume: \"many\" is not a number; mend the cell, or leave it empty: then none was traded",
        ),
        (
            "2020-01-01 00:00,1.1,1.2,1.0,1.15,1",
            "a.csv, line 3, field timestamp: \"2020-01-01T00:00:00Z\" is the same moment as line 2, with other prices \
             or volume; remove one of the two rows, or name the symbol's column where there are several",
        ),
        (
            "2020-01-99 00:00,1.1,1.2,1.0,1.15,1",
            "a.csv, line 3, field timestamp: \"2020-01-99 00:00\" is no day of the calendar; \
             mend the stamp or remove the row",
        ),
        (
            "2020-01-01 01:00,1.1,1.2",
            "a.csv, line 3: has 3 columns, and the first line has 6; make every row as wide as the first, \
             and remove lines that are no bars",
        ),
        (
            "2020-01-01 01:00,99999999,1.2,1.0,1.15,1",
            "a.csv, line 3, field open: \"99999999\" does not fit 32 bits in units of 0.000005; \
             give an instrument with a coarser price_unit",
        ),
    ] {
        assert_eq!(message(&format!("{HEAD}{ROW}{row}\n")), expected);
    }
}

/// One damaged cell says nothing of the others: it is told where it stands, though formats are told from all rows.
#[test]
fn one_bad_cell_is_told_in_its_own_line() {
    let file = |separator: &str, bad: &str, row: i64| {
        let stamp = |i: i64| match i {
            i if i == row => bad.to_owned(),
            i => format!("{0:02}{separator}{1:02}{separator}2017", 1 + i % 28, 1 + i / 28),
        };
        let rows: String = (0..100).map(|i| format!("{},1.10{i:02},1.2,1.0,1.15,5000\n", stamp(i))).collect();
        message(&format!("{HEAD}{rows}"))
    };
    for separator in [".", "/"] {
        for row in [1, 50] {
            let bad = format!("99{separator}99{separator}2017");
            let says = format!(
                "a.csv, line {}, field timestamp: \"{bad}\" is no day of the calendar; mend the stamp or remove the row",
                row + 2
            );
            assert_eq!(file(separator, &bad, row), says);
        }
    }
    // Where no row tells day from month, one that is no date does not hide what steps tell.
    let short: String = (1..12).map(|d| format!("{d}/1/2017,1.1,1.2,1.0,1.15,5000\n")).collect();
    let text = format!("{HEAD}{short}99/99/2017,1.1,1.2,1.0,1.15,5000\n");
    assert!(
        message(&text).contains("line 13, field timestamp: \"99/99/2017\" is no day"),
        "{}",
        message(&text)
    );
    // Both orders are there: the first row that does not fit those before it.
    let mixed = file("/", "01/31/2017", 60);
    assert!(
        mixed.starts_with("a.csv, line 62, field timestamp: \"01/31/2017\" is of another order than"),
        "{mixed}"
    );
    // One decimal comma among points.
    let rows: String = (0..50)
        .map(|i| {
            let open = if i == 30 { "\"1,1025\"".to_owned() } else { format!("1.10{i:02}") };
            format!("2020-01-{:02} {:02}:00,{open},1.2,1.0,1.15,5000\n", 1 + i / 24, i % 24)
        })
        .collect();
    let comma = message(&format!("{HEAD}{rows}"));
    assert!(
        comma.starts_with(
            "a.csv, line 32, field open: \"1,1025\" is not a number; write decimals with a point"
        ),
        "{comma}"
    );
}

#[test]
fn line_numbers_hold_with_crlf_and_blank_lines() {
    let text = format!("{HEAD}{ROW}\n\n2020-01-01 01:00,1.1,x,1.0,1.15,1\n");
    assert!(message(&text).contains("line 5, field high: \"x\""), "{}", message(&text));
    let crlf = text.replace('\n', "\r\n");
    assert!(message(&crlf).contains("line 5, field high: \"x\""), "{}", message(&crlf));
}

#[test]
fn files_are_named() {
    let missing = load("no/such/file.csv", &LoadOptions::default()).unwrap_err().to_string();
    assert!(missing.starts_with("no/such/file.csv: cannot be read"), "{missing}");
    assert_eq!(message(""), "a.csv: is empty; give a file with bars");
    assert_eq!(message(HEAD), "a.csv: has a header and no rows; give a file with bars");
    assert!(message(&format!("{HEAD}{ROW}")).contains("single row, which tells no bar length"));
    assert!(message("{\"ohlcv\": []}").contains("has no rows of bars"));
    assert!(message("PAR1....").contains("cannot be read as Parquet"));
    assert!(message("DBN\u{3}....").contains("no sound Databento"));
    for (bytes, words) in [
        ("BZh91AY", "a bzip2 stream"),
        ("<!DOCTYPE html>", "a web page"),
        ("SQLite format 3\0", "a SQLite database"),
        ("a,b\0c", "is not text"),
    ] {
        assert!(message(bytes).contains(words), "{bytes}");
    }
    assert!(
        load_bytes(
            "a.csv",
            vec![0x1f, 0x8b, 1, 2],
            &LoadOptions { instrument: Some(presets::eurusd()), ..LoadOptions::default() }
        )
        .unwrap_err()
        .to_string()
        .contains("gzip stream is damaged")
    );
    let unnamed = load_bytes("prices.csv", format!("{HEAD}{ROW}").into(), &LoadOptions::default())
        .unwrap_err()
        .to_string();
    assert!(
        unnamed
            .contains("tells no known instrument; give an instrument (--instrument): a pair such as EUR/USD"),
        "{unnamed}"
    );
}

#[test]
fn one_file_in_many_dresses_gives_the_same_bars() {
    let plain = format!("{HEAD}{ROW}2020-01-01 01:00,1.15,1.25,1.1,1.2,6000\n");
    let expected = read(&plain).unwrap();
    assert_eq!((expected.len(), expected.volume_lots.as_slice()), (2, &[5, 6][..]));
    let headless: String = plain.lines().skip(1).map(|l| format!("{l}\n")).collect();
    let quoted = plain.replace("1.15,1.25", "\"1.15\",1.25");
    let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    packed.write_all(plain.as_bytes()).unwrap();
    let newest_first: String = [HEAD, "2020-01-01 01:00,1.15,1.25,1.1,1.2,6000\n", ROW].concat();
    for bytes in [
        plain.replace('\n', "\r\n").into_bytes(),
        plain.replace(',', ";").into_bytes(),
        plain.replace(',', "\t").into_bytes(),
        format!("\u{feff}{plain}").into_bytes(),
        plain.trim_end().as_bytes().to_vec(),
        plain.replace("2020-01-01 ", "01.01.2020 ").into_bytes(),
        plain
            .replace("2020-01-01 00:00", "1577836800")
            .replace("2020-01-01 01:00", "1577840400")
            .into_bytes(),
        plain.replace(",1.2,6000", ",1.2,6E+3").into_bytes(),
        headless.into_bytes(),
        quoted.into_bytes(),
        packed.finish().unwrap(),
        newest_first.into_bytes(),
    ] {
        let name = String::from_utf8_lossy(&bytes).into_owned();
        let options = LoadOptions { instrument: Some(presets::eurusd()), ..LoadOptions::default() };
        let bars = load_bytes("a.csv", bytes, &options).unwrap();
        assert_eq!(
            (&bars.open_ns, &bars.close_ns, &bars.bid, &bars.volume_lots),
            (&expected.open_ns, &expected.close_ns, &expected.bid, &expected.volume_lots),
            "{name}"
        );
    }
}

#[test]
fn options_say_what_a_file_does_not() {
    let ambiguous = format!("{HEAD}1/2/2020 00:00,1.1,1.2,1.0,1.15,1\n1/2/2020 01:00,1.1,1.2,1.0,1.15,1\n");
    assert!(message(&ambiguous).contains(
        "may be day-first or month-first: no row tells; say it with --date-order (data.date_order)"
    ));
    let day_first = LoadOptions { date_order: Some(DateOrder::DayFirst), ..LoadOptions::default() };
    assert_eq!(with(&ambiguous, &day_first).unwrap().open_ns[0], 1_580_515_200_000_000_000); // 1 February
    let closes = LoadOptions { stamp_side: Some(StampSide::Close), ..LoadOptions::default() };
    let text = format!("{HEAD}{ROW}2020-01-01 01:00,1.15,1.25,1.1,1.2,6000\n");
    assert_eq!(with(&text, &closes).unwrap().close_ns[0], 1_577_836_800_000_000_000);
    let bar = LoadOptions { bar_seconds: Some(1_800), ..LoadOptions::default() };
    let bars = with(&text, &bar).unwrap();
    assert_eq!((bars.bar_seconds(0), bars.gap_seconds(1)), (1_800, 1_800));
    let wide = LoadOptions { range_policy: RangePolicy::Widen, ..LoadOptions::default() };
    let bars = with(&format!("{HEAD}{ROW}2020-01-01 01:00,1.3,1.25,1.1,1.05,6000\n"), &wide).unwrap();
    assert_eq!(
        (bars.bid.high[1], bars.bid.low[1], bars.source.repairs.ranges_widened),
        (260_000, 210_000, 1)
    );
    let panel = "date,symbol,open,high,low,close\n\
                 2020-01-01,EURUSD,1.1,1.2,1.0,1.1\n2020-01-02,EURUSD,1.1,1.2,1.0,1.1\n\
                 2020-01-01,GBPUSD,1.3,1.4,1.2,1.3\n2020-01-02,GBPUSD,1.3,1.4,1.2,1.3\n";
    let other = LoadOptions { instrument: Some(presets::xbtusd()), ..LoadOptions::default() };
    let several = with(panel, &other).unwrap_err().to_string();
    assert!(several.contains("line 4, field symbol: \"GBPUSD\" holds several symbols"), "{several}");
    assert!(several.contains("say which symbol to load with --symbol: EURUSD, GBPUSD"), "{several}");
    // The instrument's own name among the symbols is a choice.
    assert_eq!(read(panel).unwrap().bid.open, [220_000, 220_000]);
    let pound = LoadOptions { symbol: Some("GBPUSD".into()), ..LoadOptions::default() };
    let loaded = load_bytes("panel.csv", panel.into(), &pound);
    check::alike("panel.csv", panel.into(), &pound, &loaded);
    let bars = loaded.unwrap();
    assert_eq!((bars.instrument.name.as_str(), bars.bid.open[0], bars.len()), ("GBP/USD", 260_000, 2));
}

const QUOTES: &str = "time,bid_open,bid_high,bid_low,bid_close,ask_open,ask_high,ask_low,ask_close\n";

#[test]
fn crossed_quotes_are_refused_and_odd_mids_refine_the_grid() {
    let row = |hour: u32, ask: &str| {
        format!("2020-01-01 0{hour}:00,100.1,100.3,100,100.2,100.2,100.4,100.1,{ask}\n")
    };
    let options = LoadOptions { instrument: Some(presets::xbtusd()), ..LoadOptions::default() };
    let crossed = with(&format!("{QUOTES}{}{}", row(0, "100.3"), row(1, "100.15")), &options);
    assert!(crossed.unwrap_err().to_string().contains("field ask_close: \"100.15\" is below the bid 100.2"));
    // On a tick of 0.1 a unit of 0.01 holds every mid.
    let bars = with(&format!("{QUOTES}{}{}", row(0, "100.3"), row(1, "100.3")), &options).unwrap();
    assert_eq!((bars.mid_close(0), bars.source.repairs.grid_refined), (10_025, false));
    // A quote of 100.31 against 100.20 has its mid at 100.255: the unit becomes 0.005.
    let bars = with(&format!("{QUOTES}{}{}", row(0, "100.31"), row(1, "100.3")), &options).unwrap();
    assert!(bars.source.repairs.grid_refined);
    assert_eq!((bars.mid_close(0), bars.instrument.price_unit), (20_051, Decimal::new(5, 3)));
    assert_eq!((bars.instrument.tick_units, bars.instrument.tv), (20, 5));
    // A unit as large as the tick is refined whatever the prices.
    let mut coarse = presets::us_equity("X");
    (coarse.price_unit, coarse.tick_units, coarse.tv) = (Decimal::new(1, 1), 1, 100_000);
    let options = LoadOptions { instrument: Some(coarse), ..LoadOptions::default() };
    let bars = with(&format!("{QUOTES}{}{}", row(0, "100.4"), row(1, "100.4")), &options).unwrap();
    assert_eq!((bars.instrument.price_unit, bars.instrument.tick_units), (Decimal::new(5, 2), 2));
}

#[test]
fn positions_that_do_not_fit_are_refused() {
    let mut instrument = presets::eurusd();
    instrument.start_cash = Decimal::from(50_000_000_000_i64); // 5e10 x 30 / (1.0 x 1,000) = 1.5e9 lots
    instrument.money_exponent = 6;
    let options = LoadOptions { instrument: Some(instrument), ..LoadOptions::default() };
    let text = format!("{HEAD}{ROW}2020-01-01 01:00,1.15,1.25,1.1,1.2,6000\n");
    // 5e10 in micro-units does fit i64 (5e16).
    let refusal = with(&text, &options).unwrap_err().to_string();
    assert!(refusal.contains("line 2, field low: \"1.000000\""), "{refusal}");
    assert!(refusal.contains("buy 1500000000 lots; four times that does not fit 32 bits"), "{refusal}");
}

#[test]
fn synthetic_opens_are_noticed_and_mended_after_gaps_only() {
    let mut text = String::from("time,open,high,low,close,volume\n");
    for i in 0..200_i64 {
        let hour = if i < 100 { i } else { i + 48 }; // one gap of two days
        let stamp = 1_577_836_800 + hour * 3_600;
        // The open is the close before: 1.0 + (i mod 10) / 1000.
        let price = |k: i64| format!("1.00{}", k.rem_euclid(10));
        text += &format!("{stamp},{},1.1,0.9,{},1000\n", price(i), price(i + 1));
    }
    let bars = read(&text).unwrap();
    assert!(bars.source.synthetic_opens);
    assert_eq!((bars.source.opens_at_previous_close, bars.source.repairs.opens_replaced), (199, 1));
    assert_eq!((bars.gap_seconds(100), bars.bid.open[100]), (172_800, bars.bid.close[100]));
    assert_eq!(bars.bid.open[101], bars.bid.close[100]);
    assert_eq!(bars.slice(100..1_000).len(), 100);
}

#[test]
fn a_time_zone_is_known_whether_stamps_need_it_or_not() {
    for stamp in ["2020-01-01 01:00", "1577840400"] {
        let text = format!("{HEAD}{},1.1,1.2,1.0,1.15,5000\n", stamp);
        let options = |zone: &str| LoadOptions {
            time_zone: Some(zone.into()),
            bar_seconds: Some(3_600),
            ..LoadOptions::default()
        };
        assert!(with(&text, &options("Europe/Berlin")).is_ok(), "{stamp}");
        let refusal = with(&text, &options("Mars")).unwrap_err().to_string();
        assert_eq!(
            refusal,
            "a.csv: cannot be read in time zone \"Mars\"; use an IANA name such as America/New_York"
        );
    }
}
