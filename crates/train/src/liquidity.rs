//! Where bars have too little volume to trade.

use crate::Market;
use std::ops::Range;

impl Market {
    /// How many of `rows` give an order nothing: the share of a bar's volume that an order may take is under one lot.
    pub fn bars_too_thin(&self, rows: Range<usize>) -> usize {
        let cap = i64::from(self.rules.participation_cap_e4);
        let bars = self.table.bars.get(rows).unwrap_or_default();
        bars.iter().filter(|bar| bar.volume.saturating_mul(cap) < 10_000).count()
    }

    /// In words, where that is most of `rows`; nothing elsewhere.
    pub fn too_thin(&self, rows: Range<usize>) -> Option<String> {
        let (thin, all) = (self.bars_too_thin(rows.clone()), rows.len());
        (2 * thin > all).then(|| {
            format!(
                "{thin} of {all} bars have too little volume to trade: {} % of it, an order's share, is under one lot of {}",
                f64::from(self.rules.participation_cap_e4) / 100.0,
                self.rules.lot
            )
        })
    }
}
