use std::path::PathBuf;

use super::*;
use crate::synth::Synth;

/// A directory of this test's own, removed at the end.
struct Scratch(PathBuf);

impl Scratch {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("foxhunt-ledger-{name}-{}", std::process::id()));
        let _ = fs::remove_dir_all(&path);
        Self(path)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn small() -> Ledger {
    Synth { bars: 400, members: 2, ..Synth::default() }.ledger()
}

#[test]
fn a_ledger_comes_back_as_it_was() {
    let scratch = Scratch::new("round");
    let mut ledger = small();
    ledger.header.members[1].reward_unit = 0.1 + 0.2;
    ledger.header.seed = u64::MAX;
    ledger.bars[5].equity = i64::MIN;
    ledger.bars[5].bar = u32::MAX;
    ledger.fills[0].lots = i32::MIN;
    ledger.write(&scratch.0).unwrap();
    assert_eq!(Ledger::read(&scratch.0).unwrap(), ledger);
    let files: Vec<_> = fs::read_dir(&scratch.0).unwrap().map(|f| f.unwrap().file_name()).collect();
    assert_eq!(files.len(), 2, "no temporary file stays: {files:?}");
}

#[test]
fn an_empty_ledger_comes_back() {
    let scratch = Scratch::new("empty");
    let ledger = Ledger { bars: Vec::new(), fills: Vec::new(), ..small() };
    ledger.write(&scratch.0).unwrap();
    assert_eq!(Ledger::read(&scratch.0).unwrap(), ledger);
}

#[test]
fn equal_ledgers_give_equal_bytes() {
    let (one, two) = (Scratch::new("one"), Scratch::new("two"));
    small().write(&one.0).unwrap();
    small().write(&two.0).unwrap();
    // Over an older ledger, too.
    small().write(&two.0).unwrap();
    for file in [BARS_FILE, FILLS_FILE] {
        assert_eq!(fs::read(one.0.join(file)).unwrap(), fs::read(two.0.join(file)).unwrap());
    }
}

#[test]
fn row_groups_are_joined() {
    let row = small().bars[3];
    let rows: Vec<BarRow> = (0..GROUP_ROWS as u32 + 10).map(|bar| BarRow { bar, ..row }).collect();
    let bytes = encode(&rows, &[]).unwrap();
    let decoded = decode::<BarRow>(Path::new("x"), bytes).unwrap();
    assert!(decoded.rows == rows);
}

/// Fills of programs that did not know of quoted spreads; fewer columns than those are no fills.
#[test]
fn fills_without_the_quoted_spread_are_read() {
    let fills: Vec<FillRow> = small().fills.iter().map(|f| FillRow { quoted_x4: 7, ..*f }).collect();
    let columns = FillRow::columns();
    let earlier = |count: usize| {
        decode::<FillRow>(Path::new("x"), encode_columns(&fills, &columns[..count], &[]).unwrap())
    };
    assert!(earlier(columns.len()).unwrap().rows == fills);
    assert!(earlier(columns.len() - 1).unwrap().rows == small().fills);
    let error = earlier(columns.len() - 2).err().unwrap().to_string();
    assert!(error.contains("its columns are not those of the table of fills"), "{error}");
}

#[test]
fn files_of_two_ledgers_do_not_mix() {
    let (one, two) = (Scratch::new("mix1"), Scratch::new("mix2"));
    small().write(&one.0).unwrap();
    Synth { seed: 3, bars: 400, members: 2, ..Synth::default() }.ledger().write(&two.0).unwrap();
    fs::copy(two.0.join(FILLS_FILE), one.0.join(FILLS_FILE)).unwrap();
    let error = Ledger::read(&one.0).unwrap_err().to_string();
    assert!(error.ends_with("it belongs to another fills.parquet than the one beside it"), "{error}");
}

#[test]
fn damage_is_an_error() {
    let scratch = Scratch::new("damage");
    assert!(matches!(Ledger::read(&scratch.0), Err(LedgerError::Io { .. })));
    small().write(&scratch.0).unwrap();
    let path = scratch.0.join(BARS_FILE);
    let sound = fs::read(&path).unwrap();
    for length in [0, 3, sound.len() / 2, sound.len() - 1] {
        fs::write(&path, &sound[..length]).unwrap();
        assert!(matches!(Ledger::read(&scratch.0), Err(LedgerError::Parquet { .. })), "{length}");
    }
    // The other table in its place.
    fs::copy(scratch.0.join(FILLS_FILE), &path).unwrap();
    let error = Ledger::read(&scratch.0).unwrap_err().to_string();
    assert!(error.ends_with("its columns are not those of the table of bars in format 2"), "{error}");
}

#[test]
fn an_unknown_header_is_an_error() {
    let scratch = Scratch::new("header");
    let mut ledger = small();
    ledger.header.format = 1;
    ledger.write(&scratch.0).unwrap();
    let error = Ledger::read(&scratch.0).unwrap_err().to_string();
    let told = "its format is 1, this program reads 2; backtest the run again with this program, or read the ledger with the one \
                that wrote it";
    assert!(error.ends_with(told), "{error}");
}
