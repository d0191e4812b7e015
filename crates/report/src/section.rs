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

use foxhunt_metrics::Undefined;
use maud::{Markup, html};

/// Collects why figures of a table are undefined, for the notes below it; paper has no tooltips.
#[derive(Default)]
pub(crate) struct Notes(Vec<String>);

impl Notes {
    /// `undefined` with the reason as tooltip and as a numbered note.
    pub(crate) fn undefined(&mut self, reason: Undefined) -> Markup {
        let text = reason.to_string();
        let number = match self.0.iter().position(|note| *note == text) {
            Some(at) => at + 1,
            None => {
                self.0.push(text.clone());
                self.0.len()
            }
        };
        html! { span.undefined title=(text) { "undefined" sup { (number) } } }
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
