//! A ledger made ready to show: reconciled, with the series and figures of each member.

use foxhunt_ledger::{BarRow, FillRow, Ledger, MemberAttribution, ReconcileError, reconcile};
use foxhunt_metrics::{Metric, Named, Series, summary};

use crate::format::Units;

/// One member.
pub(crate) struct MemberView {
    pub(crate) label: String,
    pub(crate) series: Series,
    pub(crate) lines: MemberAttribution,
    pub(crate) summary: Vec<Named>,
}

/// One ledger.
pub(crate) struct View<'a> {
    pub(crate) ledger: &'a Ledger,
    pub(crate) units: Units,
    pub(crate) name: String,
    pub(crate) members: Vec<MemberView>,
    /// The member whose details are shown: the middle one by final equity, so neither the luckiest nor the worst.
    pub(crate) shown: usize,
}

impl<'a> View<'a> {
    pub(crate) fn new(ledger: &'a Ledger) -> Result<Self, ReconcileError> {
        let attribution = reconcile(ledger)?;
        let members: Vec<MemberView> = attribution
            .members
            .iter()
            .zip(&ledger.header.members)
            .map(|(lines, info)| {
                let series = Series::new(ledger, lines);
                let summary = summary(&series);
                MemberView { label: info.label.clone(), series, lines: *lines, summary }
            })
            .collect();
        let mut order: Vec<usize> = (0..members.len()).collect();
        order.sort_by_key(|&k| (members[k].lines.end, k));
        let shown = order.get((members.len().max(1) - 1) / 2).copied().unwrap_or(0);
        let name = ledger.header.baseline.clone().unwrap_or_else(|| "agent".into());
        Ok(Self { ledger, units: Units::new(&ledger.header), name, members, shown })
    }

    /// The shown member. A ledger without members does not reconcile, so there is one.
    pub(crate) fn shown(&self) -> &MemberView {
        &self.members[self.shown]
    }

    pub(crate) fn shown_bars(&self) -> &'a [BarRow] {
        self.ledger.bars_of(self.shown().lines.member)
    }

    pub(crate) fn shown_fills(&self) -> &'a [FillRow] {
        self.ledger.fills_of(self.shown().lines.member)
    }

    /// A figure of every member.
    pub(crate) fn figures(&self, key: &str) -> Vec<Metric> {
        self.members
            .iter()
            .filter_map(|member| member.summary.iter().find(|named| named.key == key))
            .map(|named| named.metric)
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use foxhunt_ledger::synth::Synth;

    #[test]
    fn the_middle_member_is_shown() {
        let ledger = Synth { bars: 600, members: 4, ..Synth::default() }.ledger();
        let view = View::new(&ledger).unwrap();
        let mut ends: Vec<i64> = view.members.iter().map(|member| member.lines.end).collect();
        ends.sort_unstable();
        assert_eq!(view.shown().lines.end, ends[1]);
        assert_eq!(view.figures("total_return").len(), 4);
        assert!(view.shown_bars().iter().all(|row| row.member == view.shown().lines.member));
    }
}
