//! Which column is what, and whose bars they are.

use std::fmt::Write as _;

use super::{A, B, C, HEAD, read, refusal, with};
use foxhunt_data::{LoadOptions, inspect};

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
    assert!(refusal(&panel).contains("say which symbol to load with --symbol: A, B"), "{}", refusal(&panel));
    assert_eq!(with(&panel, |o| o.symbol = Some("B".into())).unwrap().len(), 2);
    let none = with(&panel, |o| o.symbol = Some("C".into())).unwrap_err().to_string();
    assert!(none.contains("no row") && none.contains("\"C\""), "{none}");
}

#[test]
fn columns_beside_the_bars() {
    let head = HEAD.replace("volume", "volume,Mood,rate,note");
    let rows = |cells: [&str; 3]| {
        let row = |(bar, cells): (&str, &str)| format!("{},{cells}\n", bar.trim_end());
        format!("{head}{}", [A, B, C].into_iter().zip(cells).map(row).collect::<String>())
    };
    let read = |cells: [&str; 3], names: &[&str]| {
        with(&rows(cells), |o| o.extra = names.iter().map(|n| (*n).to_owned()).collect())
    };
    let bars = read([",-1e-30,x", "0.5,,y", "nan,3,z"], &["mood", "rate"]).unwrap();
    let values: Vec<_> = bars.extra.iter().map(|c| (c.name.as_str(), c.first, c.values.clone())).collect();
    assert_eq!(values, [("mood", 1, vec![0.0, 0.5, 0.5]), ("rate", 0, vec![-1e-30, -1e-30, 3.0])]);
    assert_eq!(
        (bars.source.repairs.values_held, bars.source.columns_unused.as_slice()),
        (2, &["note".to_owned()][..])
    );
    let told = inspect(&bars).to_string();
    for words in
        ["feature     mood: 0.5 to 0.5, from row 1", "feature=rate", "2 values of feature columns missing"]
    {
        assert!(told.contains(words), "no {words} in\n{told}");
    }
    let whole = ["1,1,1", "2,2,2", "3,3,3"];
    for (cells, names, words) in [
        (
            whole,
            &["moods"][..],
            "a.csv, line 1: has no column \"moods\", which --feature-columns (features.columns) names; beside its bars it has Mood, rate, note",
        ),
        (
            whole,
            &["close"],
            "has \"close\", which --feature-columns (features.columns) names, as a part of its bars",
        ),
        (
            ["1,1,x", "2,2,x", "3,3,x"],
            &["note"],
            "a.csv, line 2, field note: \"x\" is not a number; mend the cell, or leave it empty",
        ),
        (["1,1,1", "2,inf,2", "3,3,3"], &["rate"], "a.csv, line 3, field rate: \"inf\" is not a number"),
        (["1,1,1", "2,1e39,2", "3,3,3"], &["rate"], "field rate: \"1e39\" is too large to be held"),
        (["1,1,1", "2,#REF!,2", "3,3,3"], &["rate"], "a spreadsheet's sign of an error"),
        ([",1,", ",2,", ",3,"], &["mood"], "has no value at all in its column \"mood\""),
    ] {
        let said = read(cells, names).unwrap_err().to_string();
        assert!(said.contains(words), "{said}");
    }
    // Rows that differ in such a column alone are not one row twice.
    let twice = format!("{}{},9,9,9\n", rows(whole), C.trim_end());
    assert_eq!(
        with(&twice, |o| o.extra = vec!["note".into()])
            .unwrap_err()
            .to_string()
            .matches("extra columns")
            .count(),
        1
    );
    let double = rows(whole).replacen("rate", "mood", 1);
    assert!(
        with(&double, |o| o.extra = vec!["mood".into()]).is_ok(),
        "one is Mood, and the other is meant to the letter"
    );
    let said = with(&double, |o| o.extra = vec!["MOOD".into()]).unwrap_err().to_string();
    assert!(said.contains("two columns named \"MOOD\""), "{said}");
    // Without a header, by number.
    let trades = |o: &mut LoadOptions| o.extra = vec!["#7".into()];
    let bars =
        with("1577836800,1.1,1.2,1.0,1.15,5000,31\n1577840400,1.15,1.25,1.1,1.2,6000,32\n", trades).unwrap();
    assert_eq!((bars.extra[0].values.as_slice(), bars.source.columns_unused.len()), (&[31.0, 32.0][..], 0));
}
