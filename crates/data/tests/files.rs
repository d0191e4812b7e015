//! Real files: the embedded sample, and those of the shared data folder where there is one.

use std::path::PathBuf;

use foxhunt_data::{Bars, Basis, LoadOptions, MarketColumns, StampSide, inspect, load, sample};

/// A file of the shared data folder, or `None` with a notice where there is no such folder.
fn shared(name: &str) -> Option<PathBuf> {
    let root = std::env::var_os("FOXHUNT_SHARED_DATA").map_or_else(
        || PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data"),
        PathBuf::from,
    );
    let path = root.join(name);
    if path.exists() {
        return Some(path);
    }
    println!("skipped: no shared data file {name}");
    None
}

fn prices(bars: &Bars, i: usize) -> [i32; 4] {
    [bars.bid.open[i], bars.bid.high[i], bars.bid.low[i], bars.bid.close[i]]
}

/// What [`Bars`] promises, for every row.
fn assert_sound(bars: &Bars) {
    for i in 0..bars.len() {
        assert!(bars.open_ns[i] < bars.close_ns[i], "row {i}");
        assert!(i == 0 || bars.close_ns[i - 1] <= bars.open_ns[i], "row {i}");
        for side in [Some(&bars.bid), bars.ask.as_ref()].into_iter().flatten() {
            let (open, high, low, close) = (side.open[i], side.high[i], side.low[i], side.close[i]);
            assert!(low > 0 && low <= open.min(close) && high >= open.max(close), "row {i}");
        }
        if let Some(ask) = &bars.ask {
            assert!(ask.close[i] >= bars.bid.close[i], "row {i}");
            assert_eq!(i64::from(bars.mid_close(i)) * 2, bars.mid_close2(i), "row {i}");
        }
        assert!(bars.volume_lots[i] >= 0, "row {i}");
    }
    let columns = MarketColumns::from(bars);
    assert!(columns.atr24_units.iter().chain(&columns.sigma_units).all(|&v| v >= 1));
    assert!(columns.mean_volume_lots.iter().all(|&v| v >= 1));
    assert!(columns.bar_seconds.iter().all(|&v| v >= 1));
}

#[test]
fn the_embedded_sample() {
    let bars = sample();
    assert_sound(&bars);
    assert_eq!(bars.len(), 6_225);
    assert_eq!(bars.source.sha256, "28398b7edff9f74860d35a6f3c263f08e15c55264316dc07737d459d8688d7aa");
    assert_eq!(bars.open_ns[0], 1_483_308_000_000_000_000); // 2017-01-01 22:00 UTC
    assert_eq!(bars.close_ns[6_224], 1_514_584_800_000_000_000); // 2017-12-29 22:00 UTC
    // 1.05236,1.05253,1.05221,1.05227,143539993.3 on a grid of 0.000005, in lots of 1,000.
    assert_eq!(prices(&bars, 0), [210_472, 210_506, 210_442, 210_454]);
    assert_eq!(bars.volume_lots[0], 143_539);
    assert_eq!(bars.volume_lots.iter().max(), Some(&163_119_000)); // 1.63119E+11
    assert_eq!((bars.source.stamp_side, bars.source.stamp_side_basis), (StampSide::Open, Basis::Known));
    assert_eq!(bars.source.opens_at_previous_close, 2_032);
    assert_eq!(bars.source.repairs, Default::default());
    let columns = MarketColumns::from(&bars);
    // True ranges of the first two bars are 64 and 400 units; moves 18 (open to close) and 110.
    assert_eq!(columns.atr24_units[..2], [64, 232]);
    assert_eq!(columns.sigma_units[..2], [18, 79]); // sqrt((18^2 + 110^2) / 2) = 78.8
    assert_eq!(columns.mean_volume_lots[..2], [143_539, 198_339]);
    let look = inspect(&bars);
    assert_eq!((look.gaps, look.sessions, look.bars_per_session), (52, 53, 120));
    assert_eq!(look.longest_gap.map(|g| g.seconds), Some(176_400)); // steps of 50 h
    let report = look.to_string();
    for words in
        ["6225 of 6225", "day-first", "most Sun 17:00 to Fri 17:00 America/New_York", "repairs     none"]
    {
        assert!(report.contains(words), "{words} in\n{report}");
    }
}

#[test]
fn kraken_hours_without_header() {
    let Some(path) = shared("ohlcv/xbtusd_kraken_1h_2013_2023.csv.gz") else { return };
    let bars = load(path, &LoadOptions::default()).unwrap();
    assert_sound(&bars);
    assert_eq!(bars.len(), 70_253);
    assert!(bars.source.sha256.starts_with("f498b7abd5bf3745"));
    assert_eq!(bars.open_ns[0], 1_381_093_200_000_000_000);
    assert_eq!(bars.open_ns[70_252], 1_673_082_000_000_000_000);
    assert_eq!(prices(&bars, 70_252), [1_693_540, 1_693_540, 1_693_530, 1_693_530]);
    assert_eq!((bars.volume_lots[0], bars.volume_lots[70_252]), (1_000, 6_735)); // 0.1 and 0.67357695
    assert_eq!(bars.bid.high.iter().max(), Some(&6_899_100)); // 68,991
    assert_eq!(bars.source.columns_unused, ["trades"]);
    assert_eq!(bars.source.repairs.prices_snapped, 55_425);
    let look = inspect(&bars);
    assert_eq!((look.gaps, look.longest_gap.map(|g| g.seconds)), (3_254, Some(205_200 - 3_600)));
    assert!(!bars.source.synthetic_opens);
}

#[test]
fn quote_bars_with_synthetic_opens() {
    let Some(path) = shared("ohlcv/eurusd_1h_bidask_2007_2018.csv.gz") else { return };
    let bars = load(path, &LoadOptions::default()).unwrap();
    assert_sound(&bars);
    assert_eq!(bars.len(), 74_439);
    assert!(bars.is_quote() && !bars.has_volume);
    assert_eq!(bars.open_ns[0], 1_167_685_200_000_000_000); // 2007-01-01 21:00 UTC
    assert_eq!(bars.volume_lots[0], 1_000_000);
    // Close 1.31935 / 1.32035: mid 1.31985.
    assert_eq!((bars.mid_close(0), bars.spread_units(0)), (263_970, Some(200)));
    assert!(bars.source.synthetic_opens);
    assert_eq!(bars.source.opens_at_previous_close, 74_438);
    let gaps: Vec<usize> = (0..bars.len()).filter(|&i| bars.gap_seconds(i) > 0).collect();
    assert_eq!((gaps.len(), bars.source.repairs.opens_replaced), (641, 641));
    let ask = bars.ask.as_ref().unwrap();
    for &i in &gaps {
        assert_eq!((bars.bid.open[i], ask.open[i]), (bars.bid.close[i], ask.close[i]));
    }
    assert_eq!(bars.gap_seconds(gaps[0]) % 3_600, 0);
    assert_eq!(inspect(&bars).spread_units, Some((8, 26, 400)));
    assert!(!bars.source.repairs.grid_refined);
    assert!(inspect(&bars).to_string().contains("opens       synthetic: 100.0 %"));
}

#[test]
fn new_york_minutes_stamped_by_their_end() {
    let Some(path) = shared("ohlcv/nvda_1m_202301.csv.gz") else { return };
    let bars = load(path, &LoadOptions::default()).unwrap();
    assert_sound(&bars);
    assert_eq!(bars.len(), 7_410);
    assert_eq!((bars.source.stamp_side, bars.source.stamp_side_basis), (StampSide::Close, Basis::Inferred));
    // Stamp 2023-01-03 09:31 in New York is the close, 14:31 UTC; the bar opened with the session.
    assert_eq!(bars.close_ns[0], 1_672_756_260_000_000_000);
    assert_eq!(bars.open_ns[0], 1_672_756_200_000_000_000);
    assert_eq!(bars.close_local().unwrap()[0].second, 9 * 3_600 + 31 * 60);
    assert_eq!(bars.close_ns[7_409], 1_675_112_400_000_000_000); // 2023-01-30 21:00 UTC
    // 147.58,147.66,146.90999,147.32501,213689
    assert_eq!(prices(&bars, 0), [1_475_800, 1_476_600, 1_469_100, 1_473_250]);
    assert_eq!(bars.volume_lots[0], 213_689);
    assert_eq!(bars.source.repairs.prices_snapped, 7_618);
    assert_eq!((bars.gap_seconds(389), bars.gap_seconds(390)), (0, 63_000)); // 17 h 30 min overnight
    let look = inspect(&bars);
    assert_eq!((look.gaps, look.sessions, look.bars_per_session), (18, 19, 390));
    assert!(look.to_string().contains("most 09:30 to 16:00 America/New_York"));
    // Read as UTC opens instead, as told.
    let options = LoadOptions {
        time_zone: Some("UTC".into()),
        stamp_side: Some(StampSide::Open),
        ..LoadOptions::default()
    };
    let told = load(shared("ohlcv/nvda_1m_202301.csv.gz").unwrap(), &options).unwrap();
    assert_eq!(told.open_ns[0], 1_672_738_260_000_000_000);
    assert_eq!(told.source.time_zone_basis, Basis::Given);
}

#[test]
fn semicolons_and_compact_stamps() {
    let Some(path) = shared("ohlcv/spy_1m_201103.csv.gz") else { return };
    let options = LoadOptions { time_zone: Some("UTC".into()), ..LoadOptions::default() };
    let bars = load(path, &options).unwrap();
    assert_sound(&bars);
    assert_eq!(bars.len(), 17_577);
    assert_eq!(bars.close_ns[0], 1_298_970_060_000_000_000); // 2011-03-01 09:01 UTC
    assert_eq!(bars.source.stamp_side, StampSide::Close);
    assert_eq!(inspect(&bars).flat_bars, 2_448);
}

#[test]
fn minutes_that_do_not_all_have_a_quote() {
    let Some(path) = shared("ohlcv/eurusd_1m_bidask_201405.csv.gz") else { return };
    let bars = load(path, &LoadOptions::default()).unwrap();
    assert_sound(&bars);
    assert_eq!((bars.len(), inspect(&bars).gaps), (15_366, 389));
    assert!(!bars.source.synthetic_opens);
}
