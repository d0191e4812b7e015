//! Axes: round numbers, and round dates.

use crate::calendar::{DAY_NS, Date, HOUR_NS, clock};

/// Round values at 1, 2 or 5 times a power of ten, at most about `count` of them and never one alone, covering `low..=high` inside.
pub fn round_ticks(low: f64, high: f64, count: usize) -> Vec<f64> {
    let span = high - low;
    if !(span.is_finite() && span > 0.0) || count == 0 {
        return vec![low];
    }
    let ticks = |step: f64| -> Vec<f64> {
        let (first, last) = ((low / step).ceil() as i64, (high / step).floor() as i64);
        (first..=last).take(64).map(|k| k as f64 * step).collect()
    };
    let step = round_step(span / count as f64);
    // One number says nothing of an axis's scale. Half of a round step, and a quarter, are about a round step again.
    let steps = [step, round_step(step * 0.4), round_step(step * 0.2)];
    let found = steps.map(ticks);
    found.iter().find(|ticks| ticks.len() > 1).or(found.last()).cloned().unwrap_or_default()
}

/// Of the round values those that are whole, for what is counted.
pub(crate) fn whole_ticks(low: f64, high: f64, count: usize) -> Vec<f64> {
    let mut ticks = round_ticks(low, high, count);
    ticks.retain(|tick| (tick - tick.round()).abs() < 1e-9);
    ticks
}

/// The smallest of 1, 2, 5 times a power of ten that is no less than `rough`.
fn round_step(rough: f64) -> f64 {
    let power = 10f64.powf(rough.log10().floor());
    let times = [1.0, 2.0, 5.0, 10.0].into_iter().find(|m| m * power >= rough * (1.0 - 1e-9));
    times.unwrap_or(10.0) * power
}

/// Decimals that tell neighbouring ticks apart.
pub fn tick_decimals(ticks: &[f64]) -> usize {
    let step = match ticks {
        [a, b, ..] => (b - a).abs(),
        _ => return 2,
    };
    if step > 0.0 { (-(step.log10() + 1e-9).floor()).clamp(0.0, 8.0) as usize } else { 2 }
}

/// A range with a little room, never empty.
pub fn with_room(low: f64, high: f64) -> (f64, f64) {
    if !(low.is_finite() && high.is_finite()) {
        return (0.0, 1.0);
    }
    let span = high - low;
    let room = if span > 0.0 { span * 0.06 } else { low.abs().max(1.0) * 0.01 };
    (low - room, high + room)
}

/// Instants at the starts of hours, days, months or years, at most `count`, with what to write there.
pub(crate) fn time_ticks(low_ns: i64, high_ns: i64, count: usize) -> Vec<(i64, String)> {
    let count = count.max(1);
    let span = high_ns.saturating_sub(low_ns);
    let fits = |step: i64| span / step <= count as i64;
    for hours in [1, 2, 3, 6, 12] {
        let step = hours * HOUR_NS;
        if fits(step) {
            return multiples(low_ns, high_ns, step, |ns| {
                let date = Date::of_ns(ns);
                if ns.rem_euclid(DAY_NS) == 0 {
                    format!("{} {}", date.day, date.month_name())
                } else {
                    clock(ns)
                }
            });
        }
    }
    for days in [1, 2, 5, 10] {
        if fits(days * DAY_NS) {
            return multiples(low_ns, high_ns, days * DAY_NS, |ns| {
                let date = Date::of_ns(ns);
                format!("{} {}", date.day, date.month_name())
            });
        }
    }
    let months = [1, 2, 3, 6, 12, 24, 60, 120, 240];
    let step = months.into_iter().find(|m| fits(m * 30 * DAY_NS)).unwrap_or(1_200);
    month_starts(low_ns, high_ns, step)
}

fn multiples(low_ns: i64, high_ns: i64, step: i64, label: impl Fn(i64) -> String) -> Vec<(i64, String)> {
    let first = -(-low_ns).div_euclid(step);
    (first..).map(|k| k * step).take_while(|&ns| ns <= high_ns).take(64).map(|ns| (ns, label(ns))).collect()
}

fn month_starts(low_ns: i64, high_ns: i64, step: i64) -> Vec<(i64, String)> {
    let first = Date::of_ns(low_ns);
    let start = (first.year * 12 + i64::from(first.month) - 1).div_euclid(step) * step;
    let mut ticks = Vec::new();
    for k in 0..=64 {
        let month = start + k * step;
        let date = Date { year: month.div_euclid(12), month: (month.rem_euclid(12) + 1) as u8, day: 1 };
        let Some(ns) = date.days().checked_mul(DAY_NS) else { break };
        if ns > high_ns {
            break;
        }
        if ns >= low_ns {
            let january = date.month == 1;
            let label = match (step % 12 == 0, january || ticks.is_empty()) {
                (true, _) => date.year.to_string(),
                (false, true) => format!("{} {}", date.month_name(), date.year),
                (false, false) => date.month_name().to_owned(),
            };
            ticks.push((ns, label));
        }
    }
    ticks
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn round_numbers() {
        assert_eq!(round_ticks(0.0, 10.0, 5), [0.0, 2.0, 4.0, 6.0, 8.0, 10.0]);
        assert_eq!(round_ticks(-0.13, 0.02, 4), [-0.1, -0.05, 0.0]);
        assert_eq!(round_ticks(3.0, 3.0, 4), [3.0]);
        // A step of 100 would leave 0 alone.
        assert_eq!(round_ticks(-82.0, 93.0, 3), [-50.0, 0.0, 50.0]);
        assert_eq!(round_ticks(-19.0, 21.0, 1), [0.0, 20.0]);
        assert_eq!(round_ticks(-9.0, 15.0, 1), [0.0, 10.0]);
        assert_eq!(whole_ticks(1.0, 3.0, 5), [1.0, 2.0, 3.0]);
        assert_eq!(whole_ticks(1.0, 2.0, 5), [1.0, 2.0]);
        assert_eq!(whole_ticks(1.0, 1.0, 5), [1.0]);
        assert_eq!(tick_decimals(&[0.0, 0.05]), 2);
        assert_eq!(tick_decimals(&[0.0, 0.1]), 1);
        assert_eq!(tick_decimals(&[0.0, 200.0]), 0);
        assert_eq!(with_room(5.0, 5.0), (4.95, 5.05));
        assert_eq!(with_room(f64::NAN, 5.0), (0.0, 1.0));
    }

    #[test]
    fn round_dates() {
        let day = |days: i64| days * DAY_NS;
        let labels = |low, high, count| -> Vec<String> {
            time_ticks(low, high, count).into_iter().map(|(_, label)| label).collect()
        };
        // 2 January 2017 to the end of the year.
        let (low, high) = (day(17_168), day(17_531));
        assert_eq!(labels(low, high, 6), ["Mar 2017", "May", "Jul", "Sep", "Nov"]);
        assert_eq!(labels(low, high + day(10), 4), ["Apr 2017", "Jul", "Oct", "Jan 2018"]);
        assert_eq!(
            labels(low, low + day(2), 8),
            ["2 Jan", "06:00", "12:00", "18:00", "3 Jan", "06:00", "12:00", "18:00", "4 Jan"]
        );
        assert_eq!(
            labels(low, low + day(3_650), 10),
            ["2018", "2019", "2020", "2021", "2022", "2023", "2024", "2025", "2026"]
        );
    }
}
