//! Rows held in columns, which become those of [`Bars`] in place.

use super::{Finisher, GridRow, Intake, Settled, Sink, Survey, Understood};
use crate::{
    bars::{Bar, Bars, Ohlc},
    error::DataError,
    extra::ExtraColumn,
    load::LoadOptions,
};

/// Rows as they come, one vector for each column.
#[derive(Default)]
pub(crate) struct Columns {
    bar_seconds: Option<i64>,
    lines: Vec<u64>,
    stamps: Vec<i64>,
    bid: Ohlc,
    ask: Option<Ohlc>,
    lots: Vec<i64>,
    /// Bits of the values of each extra column.
    extra: Vec<Vec<u64>>,
}

impl Sink for Columns {
    fn begin(&mut self, bar_seconds: Option<i64>) {
        *self = Self { bar_seconds, ..Self::default() };
    }

    fn take(&mut self, row: &GridRow) -> Result<(), DataError> {
        self.lines.push(row.line);
        self.stamps.push(row.stamp_ns);
        self.bid.push(row.bid);
        if let Some(ask) = row.ask {
            self.ask.get_or_insert_default().push(ask);
        }
        self.lots.extend(row.lots);
        self.extra.resize(row.extra.len(), Vec::new());
        self.extra.iter_mut().zip(&row.extra).for_each(|(column, bits)| column.push(*bits));
        Ok(())
    }
}

impl Columns {
    /// The bars of these rows.
    ///
    /// # Errors
    /// The first promise of [`Bars`] that they break.
    pub(crate) fn into_bars(
        mut self,
        intake: Intake,
        understood: Understood,
        options: &LoadOptions,
        sha256: String,
    ) -> Result<Bars, DataError> {
        if intake.is_disordered() {
            let mut order: Vec<usize> = (0..self.stamps.len()).collect();
            order.sort_by_key(|&i| self.stamps[i]);
            self.reorder(&order);
        }
        let mut survey = Survey::new(&intake.path);
        survey.begin(self.bar_seconds);
        for i in 0..self.stamps.len() {
            survey.take(&self.row(i))?;
        }
        let settled = survey.settle(intake, understood, options, sha256)?;
        Ok(self.finish(settled))
    }

    fn row(&self, i: usize) -> GridRow {
        GridRow {
            line: self.lines[i],
            stamp_ns: self.stamps[i],
            bid: self.bid.row(i),
            ask: self.ask.as_ref().map(|ask| ask.row(i)),
            lots: self.lots.get(i).copied(),
            extra: self.extra.iter().map(|column| column[i]).collect(),
        }
    }

    /// Puts the rows in this order.
    fn reorder(&mut self, order: &[usize]) {
        fn pick<T: Copy>(column: &mut Vec<T>, order: &[usize]) {
            if !column.is_empty() {
                *column = order.iter().map(|&i| column[i]).collect();
            }
        }
        pick(&mut self.stamps, order);
        pick(&mut self.lines, order);
        pick(&mut self.lots, order);
        self.extra.iter_mut().for_each(|column| pick(column, order));
        for side in [Some(&mut self.bid), self.ask.as_mut()].into_iter().flatten() {
            side.columns().into_iter().for_each(|column| pick(column, order));
        }
    }

    /// Every bar takes the place of a row that has been read.
    fn finish(mut self, settled: Settled) -> Bars {
        let rows = settled.heading.rows;
        let (mut open_ns, mut close_ns) = (Vec::with_capacity(rows), Vec::with_capacity(rows));
        self.lots.resize(self.stamps.len(), 0);
        let mut put = |columns: &mut Self, bar: Bar| {
            let at = open_ns.len();
            open_ns.push(bar.open_ns);
            close_ns.push(bar.close_ns);
            columns.bid.set(at, bar.bid);
            if let (Some(side), Some(prices)) = (&mut columns.ask, bar.ask) {
                side.set(at, prices);
            }
            columns.lots[at] = bar.volume_lots;
            columns.extra.iter_mut().zip(&bar.extra).for_each(|(column, value)| column[at] = value.to_bits());
        };
        let mut finisher = Finisher::new(&settled);
        for i in 0..self.stamps.len() {
            if let Some(bar) = finisher.push(&self.row(i)) {
                put(&mut self, bar);
            }
        }
        if let Some(bar) = finisher.last() {
            put(&mut self, bar);
        }
        for side in [Some(&mut self.bid), self.ask.as_mut()].into_iter().flatten() {
            side.columns().into_iter().for_each(|column| column.truncate(rows));
        }
        self.lots.truncate(rows);
        let extra = settled.heading.extra.iter().zip(&self.extra).map(|(name, column)| {
            ExtraColumn::new(name, column[..rows].iter().map(|bits| f64::from_bits(*bits)).collect())
        });
        let extra = extra.collect();
        Bars {
            instrument: settled.heading.instrument,
            open_ns,
            close_ns,
            bid: self.bid,
            ask: self.ask,
            volume_lots: self.lots,
            has_volume: settled.heading.has_volume,
            extra,
            source: settled.heading.source,
        }
    }
}
