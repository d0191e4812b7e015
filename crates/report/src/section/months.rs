//! Returns by calendar month.

use std::collections::BTreeMap;

use foxhunt_metrics::month_returns;
use maud::{Markup, html};

use crate::calendar::MONTHS;
use crate::format::percent;
use crate::view::Accounts;

/// Years down, months across, for the shown member; none under two months or if equity reached zero.
pub(crate) fn months(agent: &Accounts) -> Option<Markup> {
    let by_month = returns(agent)?;
    let years: BTreeMap<i64, [Option<f64>; 12]> =
        by_month.iter().fold(BTreeMap::new(), |mut years, (&(year, month), &r)| {
            let of_year = years.entry(year).or_insert([None; 12]);
            if let Some(slot) = of_year.get_mut(usize::from(month).wrapping_sub(1)) {
                *slot = Some(r);
            }
            years
        });
    let largest = by_month.values().fold(0.0f64, |largest, r| largest.max(r.abs())).max(1e-9);
    Some(html! {
        section id=[agent.id("months")] {
            h2 { "Returns by month" }
            p.caption { (agent.shown().label) ", by the month of the session; the first and last may be partial" }
            div.scroll {
                table.months {
                    thead { tr { th { "" } @for month in MONTHS { th.number { (month) } } th.number { "year" } } }
                    tbody {
                        @for (year, of_year) in &years {
                            tr {
                                th scope="row" { (year) }
                                @for r in of_year { (cell(*r, largest)) }
                                td.number { b { (percent(of_year.iter().flatten().fold(1.0, |w, r| w * (1.0 + r)) - 1.0, 1)) } }
                            }
                        }
                    }
                }
            }
        }
    })
}

/// Shaded in four steps of each sign: a class, so that both colour schemes and print may differ.
fn cell(r: Option<f64>, largest: f64) -> Markup {
    let Some(r) = r else { return html! { td {} } };
    let step = (r.abs() / largest * 4.0).ceil().clamp(0.0, 4.0) as u8;
    let sign = if r < 0.0 { "down" } else { "up" };
    html! { td.number.{ (sign) "-" (step) } { (percent(r, 1)) } }
}

fn returns(agent: &Accounts) -> Option<BTreeMap<(i64, u8), f64>> {
    let months = month_returns(&agent.shown().series).ok()?;
    (months.len() >= 2).then(|| months.iter().map(|m| ((m.year, m.month), m.value)).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::view::View;
    use foxhunt_ledger::synth::Synth;

    #[test]
    fn months_compound_to_the_total() {
        let ledger = Synth { bars: 2_000, members: 1, ..Synth::default() }.ledger();
        let view = View::new(&ledger).unwrap();
        let months = returns(&view).unwrap();
        // 2,000 hours of 120 a week, from 2 January 2017, end on 27 April.
        assert_eq!(months.keys().copied().collect::<Vec<_>>(), [(2017, 1), (2017, 2), (2017, 3), (2017, 4)]);
        let total = months.values().fold(1.0, |wealth, r| wealth * (1.0 + r)) - 1.0;
        let exact = view.figures("total_return")[0].value().unwrap();
        assert!((total - exact).abs() < 1e-12);
    }

    #[test]
    fn a_week_has_no_months() {
        let ledger = Synth { bars: 100, members: 1, ..Synth::default() }.ledger();
        assert!(months(&View::new(&ledger).unwrap()).is_none());
    }
}
