//! The parts of the page, in its order.

mod costs;
mod distribution;
mod drawdowns;
mod facts;
mod folds;
mod intervals;
mod legend;
mod months;
mod rolling;
mod stress;
mod summary;
mod trades;
mod training;

pub(crate) use costs::costs;
pub(crate) use distribution::distribution;
pub(crate) use drawdowns::{WORST, drawdowns};
pub(crate) use facts::{assumptions, config, facts};
pub(crate) use folds::{COLUMNS, SMALL, WINDOWS, cell, chosen, folds, windows};
pub(crate) use intervals::intervals;
pub(crate) use legend::legend;
pub(crate) use months::months;
pub(crate) use rolling::rolling;
pub(crate) use stress::{stress, table as stress_table};
pub(crate) use summary::{brief, headline, summary};
pub(crate) use trades::trades;
pub(crate) use training::training;

use foxhunt_metrics::{Metric, Undefined};
use maud::{Markup, html};

/// Collects why figures of a table are undefined, for the notes below it; paper has no tooltips.
#[derive(Default)]
pub(crate) struct Notes(Vec<String>);

impl Notes {
    /// `undefined` with the reason as tooltip and as a numbered note.
    pub(crate) fn undefined(&mut self, reason: Undefined) -> Markup {
        let text = reason.to_string();
        let number = self.number(&text);
        html! { span.undefined title=(text) { "undefined" sup { (number) } } }
    }

    /// Of how many of the figures a mean is, where some are undefined: whoever was ruined early has no growth per year, and the
    /// mean of the rest flatters.
    pub(crate) fn partial(&mut self, figures: &[Metric]) -> Markup {
        let defined = figures.iter().filter(|figure| figure.value().is_some()).count();
        let undefined = figures.iter().find_map(|figure| match figure {
            Metric::Undefined(reason) => Some(reason),
            Metric::Value(_) => None,
        });
        let Some(reason) = undefined.filter(|_| defined > 0) else { return html! {} };
        let text = format!("undefined of the others: {reason}");
        let number = self.number(&text);
        html! { br; span.quiet.range title=(text) { "only " (defined) " of " (figures.len()) sup { (number) } } }
    }

    /// The number of a note, which is the same for the same words.
    fn number(&mut self, text: &str) -> usize {
        self.0.iter().position(|note| note == text).unwrap_or_else(|| {
            self.0.push(text.to_owned());
            self.0.len() - 1
        }) + 1
    }

    pub(crate) fn list(&self) -> Markup {
        html! {
            @if !self.0.is_empty() {
                p.notes {
                    @for (k, note) in self.0.iter().enumerate() {
                        sup { (k + 1) } " " (note) ". "
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mean_of_fewer_says_so() {
        let mut notes = Notes::default();
        let (value, none) = (Metric::Value(1.0), Metric::Undefined(Undefined::NoTrades));
        assert_eq!(notes.partial(&[value, value]).into_string(), "");
        assert_eq!(notes.partial(&[none, none]).into_string(), "");
        let said = notes.partial(&[none, value, none]).into_string();
        assert!(said.contains("only 1 of 3<sup>1</sup>"), "{said}");
        assert!(notes.list().into_string().contains("undefined of the others: nothing was traded"));
    }

    #[test]
    fn a_reason_is_noted_once() {
        let mut notes = Notes::default();
        let first = notes.undefined(Undefined::NoTrades).into_string();
        notes.undefined(Undefined::NoVariation);
        assert_eq!(notes.undefined(Undefined::NoTrades).into_string(), first);
        assert_eq!(
            first,
            "<span class=\"undefined\" title=\"nothing was traded\">undefined<sup>1</sup></span>"
        );
        assert_eq!(
            notes.list().into_string(),
            "<p class=\"notes\"><sup>1</sup> nothing was traded. <sup>2</sup> all returns are equal. </p>"
        );
    }
}
