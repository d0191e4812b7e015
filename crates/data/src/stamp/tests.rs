use super::*;

fn detect<'a>(column: impl Iterator<Item = &'a str>) -> Verdict {
    let mut sniffer = Sniffer::default();
    column.for_each(|text| sniffer.look(text));
    sniffer.verdict(None)
}

fn ns(text: &str, zone: &str) -> Result<i64, String> {
    let zone = crate::instrument::zone(zone).unwrap();
    match detect(std::iter::once(text)) {
        Verdict::Known(format) => parse(text, format, &zone, Before::default()).map(|p| p.0),
        Verdict::Unclear { .. } => Err("unclear".into()),
        Verdict::Wrong(why) => Err(why),
    }
}

#[test]
fn formats_of_the_wild_agree_on_one_moment() {
    let moment = 1_483_308_000_000_000_000; // 2017-01-01 22:00:00 UTC
    for text in [
        "2017-01-01 22:00:00",
        "2017-01-01T22:00",
        "2017-01-01T22:00:00Z",
        "2017-01-01 22:00:00+00:00",
        "2017-01-01T17:00:00.000-0500",
        "2017.01.01 22:00",
        "2017/1/1 22:00:00",
        "01.01.2017 22:00:00.000",
        "01.01.2017 23:00:00.000 GMT+0100",
        "20170101 220000",
        "20170101220000",
        "1483308000",
        "1483308000.0",
        "1483308000000",
        "1483308000000000",
        "1483308000000000000",
        " 1483308000 ",
        "1-Jan-17 22:00",
        "01 January 2017, 10:00:00 PM",
        "Jan 1, 2017 10:00 pm",
        "2017-JAN-01 22:00",
    ] {
        assert_eq!(ns(text, "UTC"), Ok(moment), "{text}");
    }
    assert_eq!(ns("2017-01-01 17:00:00", "America/New_York"), Ok(moment));
    assert_eq!(ns("1950-01-03", "UTC"), Ok(-630_979_200_000_000_000));
    assert_eq!(ns("3-Jan-50", "UTC"), Ok(2_524_780_800_000_000_000)); // 2050, as POSIX reads it
    assert_eq!(ns("2020-01-01 12:30 AM", "UTC"), ns("2020-01-01 00:30", "UTC"));
    assert_eq!(ns("1483308000.123456789", "UTC"), Ok(moment + 123_456_789));
}

#[test]
fn what_is_no_stamp_is_refused() {
    for text in [
        "",
        "NaN",
        "1.05",
        "2017-13-01",
        "2017-02-29",
        "2017-01-01 24:00",
        "2017-01-01 22:00 Mars",
        "2017-01-01 13:00 PM",
        "3-Jam-22",
        "31-Feb-2022",
        "1-2-3",
    ] {
        assert!(ns(text, "UTC").is_err(), "{text}");
    }
    assert!(!looks_like_stamp("122.0"));
    assert!(
        is_time_of_day("12:00", false) && !is_time_of_day("1200", false) && is_time_of_day("120000", true)
    );
    for (text, words) in [
        ("43831.5", "spreadsheets count"),
        ("1.6094E+12", "lost digits"),
        ("########", "too narrow"),
        ("01/02/03", "two digits"),
    ] {
        assert!(ns(text, "UTC").unwrap_err().contains(words), "{text}");
    }
    assert_eq!(date_in_name("a/20140505_quote.csv"), Some([2014, 5, 5]));
    assert_eq!(date_in_name("a_99999999.csv"), None);
}

#[test]
fn day_and_month_are_told_apart_by_the_column_or_refused() {
    let order = |column: &[&str]| match detect(column.iter().copied()) {
        Verdict::Known(StampFormat::Calendar { order, .. }) => Ok(order),
        other => Err(format!("{other:?}")),
    };
    assert_eq!(order(&["1/2/1990", "1/13/1990"]), Ok(DateOrder::MonthFirst));
    assert_eq!(order(&["1/2/1990", "13/2/1990"]), Ok(DateOrder::DayFirst));
    assert_eq!(order(&["01.02.2017", "02.02.2017"]), Ok(DateOrder::DayFirst));
    assert!(order(&["1/2/1990", "1/3/1990"]).unwrap_err().contains("Unclear"));
    assert!(order(&["13/2/1990", "2/13/1990"]).is_err());
    let steps = |column: &[&'static str]| order_by_steps(column.iter().copied(), false);
    assert_eq!(steps(&["11/5/2019 9:30", "11/5/2019 9:31", "11/6/2019 9:30"]), Some(DateOrder::MonthFirst));
    assert_eq!(steps(&["5/11/2019 9:30", "5/11/2019 9:31", "6/11/2019 9:30"]), Some(DateOrder::DayFirst));
    assert_eq!(steps(&["1/2/2020 00:00", "1/2/2020 01:00"]), None);
}

#[test]
fn clock_changes_neither_repeat_nor_invent_an_hour() {
    let zone = crate::instrument::zone("America/New_York").unwrap();
    let format = StampFormat::Calendar { order: DateOrder::YearFirst, zoned: false };
    let at = |text, stamp_ns, descending| parse(text, format, &zone, Before { stamp_ns, descending });
    let (first, fold) = at("2023-11-05 01:30", None, false).unwrap();
    let (second, _) = at("2023-11-05 01:30", Some(first), false).unwrap();
    assert!(fold && second - first == 3_600_000_000_000);
    // Newest first: the later one comes first.
    let (three, _) = at("2023-11-05 03:30", None, true).unwrap();
    assert_eq!(at("2023-11-05 01:30", Some(three), true), Ok((second, true)));
    assert_eq!(at("2023-11-05 01:30", Some(second), true), Ok((first, true)));
    assert!(at("2023-03-12 02:30", None, false).unwrap_err().contains("skips"));
}
