//! Parquet that other programs wrote (`scripts/golden/parquet.py`): the same sixty bars.
#![allow(clippy::unwrap_used, reason = "tests")]

use foxhunt_data::{LoadOptions, load_bytes, presets};

#[test]
fn parquet_of_other_programs_holds_the_same_bars() {
    let options = LoadOptions { instrument: Some(presets::eurusd()), ..LoadOptions::default() };
    for (name, bytes, unused) in [
        ("pandas_pyarrow", include_bytes!("written/pandas_pyarrow.parquet").as_slice(), &[][..]),
        ("pandas_index", include_bytes!("written/pandas_index.parquet"), &[]),
        ("fastparquet", include_bytes!("written/fastparquet.parquet"), &[]),
        ("polars", include_bytes!("written/polars.parquet"), &[]),
        ("duckdb", include_bytes!("written/duckdb.parquet"), &[]),
        ("nested_columns", include_bytes!("written/nested_columns.parquet"), &["tags", "about"]),
    ] {
        let bars = load_bytes(name, bytes.to_vec(), &options).unwrap();
        assert_eq!((bars.len(), bars.bid.close.len()), (60, 60), "{name}");
        for i in 0..60 {
            // Units of 0.000005, as the script has the prices.
            let close = 220_000 + 200 * (7 * i as i32 % 13);
            assert_eq!(bars.bar(i).bid, [close - 200, close + 400, close - 400, close], "{name}, bar {i}");
            // 2020-01-06 00:00 UTC and hours.
            assert_eq!(
                bars.open_ns[i],
                (1_578_268_800 + 3_600 * i as i64) * 1_000_000_000,
                "{name}, bar {i}"
            );
            assert_eq!(bars.volume_lots[i], i as i64 + 1, "{name}, bar {i}");
        }
        assert_eq!(bars.source.columns_unused, unused, "{name}");
    }
}
