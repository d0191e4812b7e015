//! Windows by date: which rows they are, and that nothing but the bars before a row decides its features.
#![allow(clippy::unwrap_used, reason = "tests")]

mod common;

use common::{tiny, waves};
use foxhunt_data::{Bars, show_moment};
use foxhunt_features::Splits;
use foxhunt_train::{Config, Market};

/// Windows that begin at rows of `bars`, the last ending with row 1,800.
fn dated(bars: &Bars) -> Config {
    let mut config = tiny();
    let at = |row: usize| show_moment(bars.open_ns[row]);
    let d = &mut config.data;
    (d.train_from, d.validation_from, d.test_from, d.test_to) = (at(700), at(1_400), at(1_600), at(1_800));
    config
}

#[test]
fn dates_decide_the_windows() {
    let bars = waves(2_000);
    let config = dated(&bars);
    let market = Market::prepare(bars.clone(), &config).unwrap();
    assert_eq!(market.splits, Splits { train: 700..1_400, validation: 1_400..1_600, test: 1_600..1_800 });
    assert_eq!(market.normaliser.train_rows, 700..1_400);

    // Bars before the training window warm features up: what the network sees in its first row is what the bars before
    // gave, not what the same bars give from a standing start.
    let alone = Market::prepare(bars.slice(700..2_000), &tiny()).unwrap();
    assert_eq!((market.features.warmup_rows, alone.features.warmup_rows), (168, 168));
    assert!(
        market.features.values[700 * market.features.cols..][..market.features.cols]
            .iter()
            .any(|x| *x != 0.0)
    );
    assert!(alone.features.values[..alone.features.cols].iter().all(|x| *x == 0.0));

    // Bars that are not those that were trained on are tested whole, wherever the dates lie.
    let unseen = Market::prepare_unseen(bars.slice(0..600), &config, &market.taught(), 2).unwrap();
    assert_eq!((&unseen.splits.test, &unseen.normaliser), (&(168..600), &market.normaliser));

    // Rows 700 to 1,600 are those of training and validation. Tested again they are told, whatever file they come from, and bars
    // of another instrument are not.
    assert_eq!((unseen.in_sample(168..600), market.in_sample(1_600..1_800)), (None, None));
    let again = Market::prepare_unseen(bars.slice(500..2_000), &config, &market.taught(), 2).unwrap();
    let words = again.in_sample(again.splits.test.clone()).unwrap();
    assert_eq!(again.splits.test, 168..1_500);
    assert!(words.starts_with("900 of 1332 bars lie in the time that the members were trained"), "{words}");
    assert_eq!(again.in_sample(1_100..1_500), None);
    let mut other = bars.slice(500..2_000);
    other.instrument.name = "another".into();
    assert_eq!(Market::prepare_unseen(other, &config, &market.taught(), 2).unwrap().taught_ns, None);
}

/// What comes after the training window changes neither the normaliser nor anything before it; what comes before it does
/// not enter the normaliser either, further than features look back.
#[test]
fn nothing_later_leaks_and_the_normaliser_knows_the_training_window_alone() {
    let bars = waves(2_000);
    let config = dated(&bars);
    let before = Market::prepare(bars.clone(), &config).unwrap();
    let changed = |rows: std::ops::Range<usize>| {
        let mut bars = bars.clone();
        for i in rows {
            for side in [&mut bars.bid.open, &mut bars.bid.high, &mut bars.bid.low, &mut bars.bid.close] {
                side[i] += side[i] / 50 + i32::try_from(i % 7).unwrap() * 300;
            }
        }
        // The last change must leave a bar that is one.
        for i in 0..bars.len() {
            let (open, close) = (bars.bid.open[i], bars.bid.close[i]);
            (bars.bid.high[i], bars.bid.low[i]) = (open.max(close), open.min(close));
        }
        Market::prepare(bars, &config).unwrap()
    };
    let later = changed(1_400..2_000);
    assert_eq!(later.normaliser, before.normaliser);
    assert_eq!(later.volatility_floor_e9, before.volatility_floor_e9);
    let cols = before.features.cols;
    assert_eq!(later.features.values[..1_400 * cols], before.features.values[..1_400 * cols]);
    assert_ne!(later.features.values[1_400 * cols..], before.features.values[1_400 * cols..]);
    // The longest look back is less than 500 rows.
    assert_eq!(changed(0..200).normaliser, before.normaliser);
    assert_ne!(changed(900..1_000).normaliser, before.normaliser);
}

#[test]
fn a_date_outside_the_data_is_named_with_what_the_file_covers() {
    let bars = waves(2_000);
    let (first, last) = (show_moment(bars.open_ns[0]), show_moment(bars.close_ns[1_999]));
    for (key, date) in [("train_from", "2013-01-01"), ("test_to", "2031-01-01")] {
        let mut config = dated(&bars);
        let slot = if key == "train_from" { &mut config.data.train_from } else { &mut config.data.test_to };
        *slot = date.to_owned();
        let error = Market::prepare(bars.clone(), &config).unwrap_err().to_string();
        for word in [&format!("data.{key}: {date}"), "waves (made by a test)", &first, &last] {
            assert!(error.contains(word), "{error}, without {word}");
        }
    }
    let mut short = dated(&bars);
    short.data.validation_from = show_moment(bars.open_ns[1_590]);
    let error = Market::prepare(bars, &short).unwrap_err().to_string();
    assert!(error.contains("the validation window has 10 rows") && error.contains("dates"), "{error}");
}

/// Shares that leave a window too short: the message says which would do, and they do.
#[test]
fn shares_that_would_do_are_named() {
    let bars = waves(7_000);
    let mut config = tiny();
    (config.data.train_share, config.data.validation_share) = (0.9, 0.09);
    let refused = |rows: usize, config: &Config| {
        Market::prepare(bars.slice(0..rows), config).map(|_| ()).map_err(|e| e.to_string())
    };
    let few = refused(300, &config).unwrap_err();
    assert!(few.contains("waves (made by a test): has 300 bars"), "{few}");
    let (_, rest) = few.split_once("need at least ").unwrap();
    let more: usize = rest.split(' ').next().unwrap().parse().unwrap();
    assert_eq!(more, 168 + 3 * 64 - 300);
    // A file that ends within the warm-up lacks the rest of that, too.
    let none = refused(94, &config).unwrap_err();
    assert!(none.contains("need at least 266 more bars, and with"), "{none}");
    let (_, rest) = none.split_once("data.validation_share=0.09 ").unwrap();
    let enough = 94 + rest.split(' ').next().unwrap().parse::<usize>().unwrap();
    assert!(refused(enough, &config).is_ok() && refused(enough - 1, &config).is_err(), "{none}");
    for rows in [300 + more, 361, 400, 700, 800, 1_000] {
        let said = refused(rows, &config).unwrap_err();
        let share = |key: &str| {
            let (_, rest) = said.split_once(&format!("data.{key}=")).unwrap();
            rest.split([' ', ',']).next().unwrap().parse().unwrap()
        };
        let mut better = config.clone();
        better.data.train_share = share("train_share");
        better.data.validation_share = share("validation_share");
        assert_eq!(refused(rows, &better), Ok(()), "{rows}: {said}");
    }
}

/// Bars on which a feature of the set hardly moves are trained on without it; by name it is refused.
#[test]
fn features_that_hardly_move_are_left_out_of_a_set_and_refused_by_name() {
    let mut bars = waves(2_000);
    let week = 7 * 86_400_000_000_000;
    for t in 0..bars.len() {
        bars.open_ns[t] = bars.open_ns[0] + week * t as i64;
        bars.close_ns[t] = bars.open_ns[t] + week;
    }
    let market = Market::prepare(bars.clone(), &tiny()).unwrap();
    let still: Vec<&str> = market.normaliser.still().map(|(name, _)| name).collect();
    assert!(still.contains(&"week_sin") && !still.contains(&"return_1"), "{still:?}");
    let column = market.features.names.iter().position(|name| name == "week_sin").unwrap();
    assert!(market.features.values.chunks(market.features.cols).all(|row| row[column] == 0.0));
    let mut named = tiny();
    named.features.names = vec!["return_1".into(), "week_sin".into()];
    for refused in
        [Market::prepare(bars.clone(), &named).map(|_| ()), Market::folds(bars, &named).map(|_| ())]
    {
        let error = refused.unwrap_err().to_string();
        for word in ["waves (made by a test): ", "features.names names week_sin", "leave it out"] {
            assert!(error.contains(word), "'{word}' is not in: {error}");
        }
    }
}

/// Where a tenth of most bars' volume is under one lot, that is counted and said.
#[test]
fn bars_too_thin_to_trade_are_counted() {
    let mut bars = waves(1_000);
    bars.has_volume = true;
    bars.volume_lots[900..].fill(9);
    bars.volume_lots[990..].fill(10);
    let market = Market::prepare(bars, &tiny()).unwrap();
    assert_eq!([market.bars_too_thin(880..1_000), market.bars_too_thin(990..1_000)], [90, 0]);
    assert_eq!(market.too_thin(800..950), None);
    let words = market.too_thin(880..1_000).unwrap();
    assert!(words.starts_with("90 of 120 bars have too little volume to trade: 10 %"), "{words}");
}
