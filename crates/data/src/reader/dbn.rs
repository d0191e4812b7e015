//! Databento binary encoding: the bars of one of its `ohlcv` schemas. Its stamps are opens, its prices exact in 1e-9.

use std::io::{BufReader, Read};

use dbn::{
    OhlcvMsg, Schema, SymbolIndex, TsSymbolMap, UNDEF_PRICE,
    decode::{DbnMetadata, DecodeRecordRef, dbn::Decoder},
};
use rust_decimal::Decimal;

use super::{
    guard::guarded,
    row::{Facts, Row, Rows},
};
use crate::{error::DataError, open::Origin, source::StampSide};

const PRICE_DECIMALS: u32 = 9;

/// Records as rows.
pub(crate) struct Dbn {
    decoder: Decoder<BufReader<Box<dyn Read>>>,
    symbols: TsSymbolMap,
    origin: Origin,
    record: u64,
}

/// Reads the metadata; refuses what holds no bars.
pub(crate) fn open(reader: Box<dyn Read>, origin: Origin) -> Result<(Dbn, Facts), DataError> {
    let reader = BufReader::with_capacity(1 << 16, reader);
    let decoder = guarded(|| Decoder::new(reader).map_err(|e| e.to_string()));
    let decoder = decoder.map_err(|e| damaged(&origin, 0, &e))?;
    let metadata = decoder.metadata();
    let seconds = match metadata.schema {
        Some(Schema::Ohlcv1S) => 1,
        Some(Schema::Ohlcv1M) => 60,
        Some(Schema::Ohlcv1H) => 3_600,
        Some(Schema::Ohlcv1D) => 86_400,
        other => {
            let schema = other.map_or("mixed".to_owned(), |s| s.to_string());
            let problem = format!("holds Databento records of schema {schema}, not bars");
            return Err(DataError::file(&origin.path, problem, "ask for schema ohlcv-1s, -1m, -1h or -1d"));
        }
    };
    let mut names = Row::default();
    for name in ["ts_event", "open", "high", "low", "close", "volume", "symbol"] {
        names.push(name);
    }
    let facts = Facts {
        format: format!("Databento DBN version {}, {}", metadata.version, metadata.dataset),
        names: Some(names),
        stamp_side: Some(StampSide::Open),
        bar_seconds: Some(seconds),
        ..Facts::default()
    };
    // Without a mapping the instrument's number stands for its symbol.
    let symbols = metadata.symbol_map().unwrap_or_default();
    Ok((Dbn { decoder, symbols, origin, record: 0 }, facts))
}

fn damaged(origin: &Origin, record: u64, e: &str) -> DataError {
    let problem = format!("is no sound Databento record ({e})");
    DataError::line(&origin.path, record, problem, "fetch the file again")
}

impl Rows for Dbn {
    fn next(&mut self, row: &mut Row) -> Result<bool, DataError> {
        self.record += 1;
        let decoder = &mut self.decoder;
        // The crate panics at some records of another version that are shorter than they should be.
        let record = guarded(|| decoder.decode_record_ref().map_err(|e| e.to_string()));
        let record = record.map_err(|e| damaged(&self.origin, self.record, &e))?;
        let Some(record) = record else { return Ok(false) };
        let refuse = |problem, fix| DataError::line(&self.origin.path, self.record, problem, fix);
        // So does the next step at a bar.
        if record.has::<OhlcvMsg>() && record.header().record_size() < size_of::<OhlcvMsg>() {
            return Err(refuse("is a record that is cut short", "fetch the file again"));
        }
        let Some(bar) = record.get::<OhlcvMsg>() else {
            return Err(refuse("is a record of another kind than bars", "ask for one schema of bars"));
        };
        row.start(self.record);
        row.push_fmt(format_args!("{}", bar.hd.ts_event));
        for price in [bar.open, bar.high, bar.low, bar.close] {
            match price {
                UNDEF_PRICE => row.push(""),
                price => row.push_fmt(format_args!("{}", Decimal::new(price, PRICE_DECIMALS).normalize())),
            }
        }
        row.push_fmt(format_args!("{}", bar.volume));
        match self.symbols.get_for_rec(bar) {
            Some(symbol) => row.push(symbol),
            None => row.push_fmt(format_args!("{}", bar.hd.instrument_id)),
        }
        Ok(true)
    }
}
