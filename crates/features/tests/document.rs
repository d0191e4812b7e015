//! The page of features, and the file that holds their values.

use foxhunt_features::{FeatureSet, document, write_parquet};

/// `foxhunt features --list > docs/features.md` writes it anew.
#[test]
fn the_page_is_what_the_program_prints() {
    assert_eq!(document(), include_str!("../../../docs/features.md"));
}

#[test]
fn a_file_of_features_is_the_same_bytes_again() {
    let bars = foxhunt_data::sample().slice(0..700);
    let columns = FeatureSet::full().columns(&bars).unwrap();
    let bytes = write_parquet("f.parquet", &bars, &columns, Vec::new()).unwrap();
    assert_eq!(&bytes[..4], b"PAR1");
    assert_eq!(bytes, write_parquet("g.parquet", &bars, &columns, Vec::new()).unwrap());
}
