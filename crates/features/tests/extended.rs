//! Features beyond the standard set against TA-Lib's and pandas' values on the embedded sample
//! (`scripts/golden/extended_features.py` writes them).

use foxhunt_features::FeatureSet;

const GOLDEN: &str = include_str!("golden/extended_eurusd_1h_2017.csv");

#[test]
fn features_equal_talib_and_pandas() {
    let mut lines = GOLDEN.lines();
    let names: Vec<&str> = lines.next().unwrap().split(',').skip(1).collect();
    let columns = FeatureSet::of_names(&names).unwrap().columns(&foxhunt_data::sample()).unwrap();
    let mut compared = 0;
    for line in lines {
        let (row, cells) = line.split_once(',').unwrap();
        let row: usize = row.parse().unwrap();
        for (column, cell) in columns.iter().zip(cells.split(',')) {
            let name = &column.name;
            assert_eq!(cell.is_empty(), row < column.warmup, "{name}, row {row}");
            if let Ok(theirs) = cell.parse::<f64>() {
                let ours = f64::from(column.values[row]);
                // Single precision; and pandas' running sums of powers lose digits that ours, taken afresh, do not.
                let bound = if name.starts_with("kurt") || name.starts_with("skew") { 1e-5 } else { 1e-6 };
                assert!(
                    (ours - theirs).abs() <= bound * (theirs.abs() + 0.01),
                    "{name}, row {row}: {ours} and {theirs}"
                );
                compared += 1;
            }
        }
    }
    assert_eq!((names.len(), compared), (45, 3408));
}
