//! Lines, cells and numbers.

use foxhunt_data::{DecimalMark, Repairs, presets};

use super::{A, B, C, HEAD, assert_bars, plain, read, refusal, with};

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
