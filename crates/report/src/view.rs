//! A ledger made ready to show: reconciled, with the series and figures of each member.

use foxhunt_ledger::{BarRow, FillRow, Ledger, MemberAttribution, ReconcileError, reconcile};
use foxhunt_metrics::{Metric, Named, Series, over_members, summary};
use std::ops::Deref;

use crate::format::{Units, ruin};
use crate::input::{PartLine, ReportError, ReportInput, StressLine};

/// More members than this are drawn as a band alone.
const LINES_MAX: usize = 8;

/// One member.
pub(crate) struct MemberView {
    pub(crate) label: String,
    pub(crate) series: Series,
    pub(crate) lines: MemberAttribution,
    pub(crate) summary: Vec<Named>,
    /// After how many bars it was ruined; none of a sum of accounts.
    pub(crate) ruined: Option<usize>,
}

/// Accounts over one stretch of time, of one currency: those of a ledger, or sums of several ledgers'.
pub(crate) struct Accounts {
    pub(crate) units: Units,
    pub(crate) name: String,
    pub(crate) members: Vec<MemberView>,
    /// The member whose details are shown.
    pub(crate) shown: usize,
    /// Why that one; empty where nothing is to be said.
    pub(crate) shown_as: &'static str,
    /// Whether these are the details of a member that a reader may pick, beside those that the page shows first.
    pub(crate) beside: bool,
    /// Seed of what is resampled.
    pub(crate) seed: u64,
    /// Configurations that were compared before these were chosen.
    pub(crate) trials: u32,
    /// Rules in words.
    pub(crate) assumptions: Vec<String>,
}

impl Accounts {
    /// The shown member. A ledger without members does not reconcile, so there is one.
    pub(crate) fn shown(&self) -> &MemberView {
        &self.members[self.shown]
    }

    /// Who was ruined, in words; none where nobody was.
    pub(crate) fn ruin(&self) -> Option<String> {
        ruin(self.members.iter().map(|member| member.ruined))
    }

    /// The id of a section; none for details that stand beside those with that id.
    pub(crate) fn id(&self, name: &'static str) -> Option<&'static str> {
        (!self.beside).then_some(name)
    }

    /// The members beside the shown one, where they are few enough to have a line each.
    pub(crate) fn others(&self) -> impl Iterator<Item = &MemberView> {
        let few = self.members.len() <= LINES_MAX;
        self.members
            .iter()
            .enumerate()
            .filter(move |&(k, _)| few && k != self.shown)
            .map(|(_, member)| member)
    }

    /// What these accounts assume and `agent`'s do not: how a baseline decides.
    pub(crate) fn own_words(&self, agent: &Accounts) -> Vec<&str> {
        self.assumptions.iter().filter(|w| !agent.assumptions.contains(w)).map(String::as_str).collect()
    }

    /// What stands for all members: the mean over them where there are several.
    pub(crate) fn central(&self, key: &str) -> Option<Metric> {
        let figures = self.figures(key);
        match over_members(&figures) {
            Ok(spread) => Some(Metric::Value(spread.mean)),
            Err(_) => {
                figures.iter().copied().find(|figure| figure.value().is_some()).or(figures.first().copied())
            }
        }
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

impl AsRef<Accounts> for Accounts {
    fn as_ref(&self) -> &Accounts {
        self
    }
}

/// The middle one by final equity, so neither the luckiest nor the worst.
pub(crate) fn middle(members: &[MemberView]) -> usize {
    let mut order: Vec<usize> = (0..members.len()).collect();
    order.sort_by_key(|&k| (members[k].lines.end, k));
    order.get((members.len().max(1) - 1) / 2).copied().unwrap_or(0)
}

/// Why [`middle`] is shown.
pub(crate) const MIDDLE: &str = "the middle one by final equity";

/// One ledger.
pub(crate) struct View<'a> {
    pub(crate) ledger: &'a Ledger,
    pub(crate) accounts: Accounts,
}

impl Deref for View<'_> {
    type Target = Accounts;

    fn deref(&self) -> &Accounts {
        &self.accounts
    }
}

impl AsRef<Accounts> for View<'_> {
    fn as_ref(&self) -> &Accounts {
        &self.accounts
    }
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
                let ruined = ledger.ruined(lines.member);
                MemberView { label: info.label.clone(), series, lines: *lines, summary, ruined }
            })
            .collect();
        let header = &ledger.header;
        let accounts = Accounts {
            units: Units::new(header),
            name: header.baseline.clone().unwrap_or_else(|| "agent".into()),
            shown: middle(&members),
            shown_as: MIDDLE,
            beside: false,
            members,
            seed: header.seed,
            trials: header.trials,
            assumptions: header.assumptions.clone(),
        };
        Ok(Self { ledger, accounts })
    }

    /// As [`View::new`]; `which` says whose ledger it is, where it contradicts itself.
    pub(crate) fn named(ledger: &'a Ledger, which: &str) -> Result<Self, ReportError> {
        Self::new(ledger).map_err(|source| ReportError::Reconcile { which: which.to_owned(), source })
    }

    pub(crate) fn shown_bars(&self) -> &'a [BarRow] {
        self.ledger.bars_of(self.shown().lines.member)
    }

    pub(crate) fn shown_fills(&self) -> &'a [FillRow] {
        self.ledger.fills_of(self.shown().lines.member)
    }
}

/// A stress line made ready to show.
pub(crate) struct StressView<'a> {
    pub(crate) line: &'a StressLine,
    pub(crate) view: Result<View<'a>, &'a str>,
}

impl<'a> StressView<'a> {
    pub(crate) fn new(line: &'a StressLine) -> Result<Self, ReportError> {
        let view = match &line.ledger {
            Ok(ledger) => Ok(View::named(ledger, &line.label)?),
            Err(problem) => Err(problem.as_str()),
        };
        Ok(StressView { line, view })
    }
}

/// A part of a run made ready to show.
pub(crate) struct PartView<'a> {
    pub(crate) line: &'a PartLine,
    pub(crate) view: View<'a>,
}

impl<'a> PartView<'a> {
    /// `name` is for messages.
    pub(crate) fn new(line: &'a PartLine, name: &str) -> Result<Self, ReportError> {
        Ok(PartView { line, view: View::named(&line.ledger, name)? })
    }

    /// The member that was chosen.
    pub(crate) fn chosen(&self) -> &MemberView {
        self.view.members.get(self.line.member as usize).unwrap_or_else(|| self.view.shown())
    }
}

/// Everything of a report, reconciled.
pub(crate) struct Views<'a> {
    pub(crate) agent: View<'a>,
    pub(crate) baselines: Vec<View<'a>>,
    pub(crate) stress: Vec<StressView<'a>>,
    pub(crate) folds: Vec<PartView<'a>>,
}

impl<'a> Views<'a> {
    /// Renders for another member of the agent's ledger than the one shown.
    pub(crate) fn of_member<T>(&mut self, member: usize, render: impl FnOnce(&Self) -> T) -> T {
        let own = &mut self.agent.accounts;
        let before = (own.shown, own.shown_as, own.beside);
        if member != own.shown {
            (own.shown, own.shown_as, own.beside) = (member, "", true);
        }
        let out = render(self);
        let own = &mut self.agent.accounts;
        (own.shown, own.shown_as, own.beside) = before;
        out
    }

    pub(crate) fn new(input: &ReportInput<'a>) -> Result<Self, ReportError> {
        let view = View::named;
        let baseline =
            |ledger: &'a Ledger| view(ledger, ledger.header.baseline.as_deref().unwrap_or("a baseline"));
        let fold = |(number, line): (usize, &'a PartLine)| PartView::new(line, &format!("fold {number}"));
        Ok(Views {
            agent: view(input.ledger, "the agent")?,
            baselines: input.baselines.iter().map(baseline).collect::<Result<_, _>>()?,
            stress: input.stress.iter().map(StressView::new).collect::<Result<_, ReportError>>()?,
            folds: input.folds.iter().enumerate().map(fold).collect::<Result<_, ReportError>>()?,
        })
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
