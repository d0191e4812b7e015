//! Bar length and stamp side, from running statistics of the steps between stamps.

use std::collections::HashMap;

use crate::{
    error::DataError,
    source::{Basis, StampSide},
};

pub(super) const SECOND: i64 = 1_000_000_000;
const HALF_HOUR: i64 = 1_800 * SECOND;
/// A pause this long between stamps ends a session, when the side of stamps is inferred.
const SESSION_BREAK: i64 = 4 * 3_600 * SECOND;
/// Different steps that are told apart: files of one bar length have few, and memory must end somewhere.
const MAX_STEPS: usize = 1 << 20;

/// What to do where stamps tell no bar length.
const GIVE: &str = "give --bar-seconds (data.bar_seconds)";

/// Counts of the steps between stamps in order of time. What is held does not grow with the rows.
pub(super) struct Steps {
    /// The bar length that is given, in seconds.
    given: Option<i64>,
    /// How often each step occurs, without the last run of equal ones.
    counts: HashMap<i64, u64>,
    /// The latest step, and how often it has followed itself.
    run: (i64, u64),
    all: u64,
    too_many: bool,
    /// Steps below and above the given length.
    shorter: u64,
    longer: u64,
    /// Pauses that end a session.
    breaks: u64,
    /// Breaks that would be those of closes, and of opens, by the bar length (a divisor of half an hour) that they would be so for.
    of_closes: HashMap<i64, u64>,
    of_opens: HashMap<i64, u64>,
}

/// What the steps say.
pub(super) struct Times {
    /// Nominal bar length.
    pub(super) bar_ns: i64,
    pub(super) side: StampSide,
    pub(super) basis: Basis,
    /// Steps shorter than a bar: bars that are cut so that they do not overlap a neighbour.
    pub(super) shorter: u64,
    /// Steps longer than a bar: gaps.
    pub(super) longer: u64,
}

impl Steps {
    /// Bars are `given` seconds long, if that is known.
    pub(super) fn new(given: Option<i64>) -> Self {
        Self {
            given,
            counts: HashMap::new(),
            run: (0, 0),
            all: 0,
            too_many: false,
            shorter: 0,
            longer: 0,
            breaks: 0,
            of_closes: HashMap::new(),
            of_opens: HashMap::new(),
        }
    }

    /// Takes the step from one stamp to the next, ns.
    pub(super) fn push(&mut self, last: i64, first: i64) {
        let step = first.saturating_sub(last);
        self.all += 1;
        if let Some(seconds) = self.given {
            let bar = seconds.saturating_mul(SECOND);
            self.shorter += u64::from(step < bar);
            self.longer += u64::from(step > bar);
        }
        if step == self.run.0 {
            self.run.1 += 1;
        } else {
            self.end_run();
            self.run = (step, 1);
        }
        if step >= SESSION_BREAK {
            self.breaks += 1;
            let (end, start) = (last.rem_euclid(HALF_HOUR), first.rem_euclid(HALF_HOUR));
            let mut fits = |counts: fn(&mut Self) -> &mut HashMap<i64, u64>, bar: i64| {
                if bar > 0 && bar < HALF_HOUR && HALF_HOUR % bar == 0 {
                    *counts(self).entry(bar).or_default() += 1;
                }
            };
            if end == 0 {
                fits(|s| &mut s.of_closes, start);
            }
            if start == 0 {
                fits(|s| &mut s.of_opens, HALF_HOUR - end);
            }
        }
    }

    fn end_run(&mut self) {
        let (step, count) = self.run;
        if count == 0 {
            return;
        }
        if self.counts.len() < MAX_STEPS || self.counts.contains_key(&step) {
            *self.counts.entry(step).or_default() += count;
        } else {
            self.too_many = true;
        }
    }

    /// Bar length, the side of stamps (`known`, or inferred), and how many steps are not of that length.
    pub(super) fn settle(
        mut self,
        path: &str,
        known: Option<(StampSide, Basis)>,
    ) -> Result<Times, DataError> {
        self.end_run();
        let (bar_ns, shorter, longer) = self.bar_length(path)?;
        let (side, basis) = match (known, self.infer_side(bar_ns)) {
            (Some(known), _) => known,
            (None, Some(side)) => (side, Basis::Inferred),
            (None, None) => (StampSide::Open, Basis::Assumed),
        };
        Ok(Times { bar_ns, side, basis, shorter, longer })
    }

    /// The most common step (the shorter of two equally common), unless given; and how many are shorter and longer.
    fn bar_length(&self, path: &str) -> Result<(i64, u64, u64), DataError> {
        let refuse = |problem: String, fix: &str| Err(DataError::file(path, problem, fix));
        if let Some(seconds) = self.given {
            if !(1..=366 * 86_400).contains(&seconds) {
                let problem = format!("cannot have bars of {seconds} s");
                return refuse(problem, "give --bar-seconds (data.bar_seconds) from 1 to a year");
            }
            // Some are: sessions that end early, a clock that was put forward.
            if self.shorter * 2 > self.all {
                let problem = format!(
                    "has no bars of {seconds} s, which --bar-seconds (data.bar_seconds) says: {} of {} steps between stamps are \
                     shorter{}",
                    self.shorter,
                    self.all,
                    self.most_common()
                        .map(|(step, _)| format!(", most of them {} s", step / SECOND))
                        .unwrap_or_default()
                );
                return refuse(problem, "leave it out, or give bars of that length");
            }
            return Ok((seconds * SECOND, self.shorter, self.longer));
        }
        if self.too_many {
            let problem =
                format!("has more than {MAX_STEPS} different steps between stamps, which tell no bar length");
            return refuse(problem, GIVE);
        }
        let Some((bar, _)) = self.most_common() else {
            return refuse("has a single row, which tells no bar length".into(), GIVE);
        };
        let sum = |of: &dyn Fn(i64) -> bool| -> u64 {
            self.counts.iter().filter(|(step, _)| of(**step)).map(|(_, count)| count).sum()
        };
        let (shorter, longer) = (sum(&|step| step < bar), sum(&|step| step > bar));
        if shorter * 100 > self.all + 1 {
            let problem = format!(
                "mixes bar lengths: the most common step is {} s and {shorter} of {} steps are shorter",
                bar / SECOND,
                self.all
            );
            return refuse(
                problem,
                "divide the file by bar length, or give --bar-seconds (data.bar_seconds)",
            );
        }
        Ok((bar, shorter, longer))
    }

    /// The most common step, the shorter of two equally common, and how often it occurs.
    fn most_common(&self) -> Option<(i64, u64)> {
        let most = self.counts.iter().max_by_key(|(step, count)| (**count, std::cmp::Reverse(**step)));
        most.map(|(step, count)| (*step, *count))
    }

    /// Tells opens from closes by where sessions begin and end.
    ///
    /// Sessions begin and end at full or half hours. With bars shorter than that, stamps are closes if most sessions begin one
    /// bar after such a moment and end on one, and opens if most begin on one and end one bar before. `None` if neither.
    fn infer_side(&self, bar_ns: i64) -> Option<StampSide> {
        let most = |counts: &HashMap<i64, u64>| counts.get(&bar_ns).is_some_and(|n| n * 2 > self.breaks);
        if most(&self.of_closes) {
            Some(StampSide::Close)
        } else if most(&self.of_opens) {
            Some(StampSide::Open)
        } else {
            None
        }
    }
}
