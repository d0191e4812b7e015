//! Which column is what, and whose bars they are.

use std::fmt::Write as _;

use super::{A, B, HEAD, read, refusal, with};

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
