use serde::Serialize;

/// Several timings of the same work, microseconds.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Timing {
    /// Median time.
    pub us: f64,
    /// Fastest and slowest.
    pub us_range: (f64, f64),
    /// How many there were.
    pub repetitions: usize,
}

impl Timing {
    /// Of these times; of none, zeros.
    pub fn of(mut us: Vec<f64>) -> Self {
        us.sort_by(f64::total_cmp);
        let at = |i: usize| us.get(i).copied().unwrap_or(0.0);
        Timing {
            us: at(us.len() / 2),
            us_range: (at(0), at(us.len().saturating_sub(1))),
            repetitions: us.len(),
        }
    }

    /// `fastest..slowest`, as tables have it.
    pub fn range(&self) -> String {
        format!("{:.1}..{:.1}", self.us_range.0, self.us_range.1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_is_reported() {
        let t = Timing::of(vec![9.0, 1.0, 3.0]);
        assert_eq!((t.us, t.us_range, t.repetitions), (3.0, (1.0, 9.0), 3));
        assert_eq!(Timing::of(Vec::new()).us, 0.0);
    }
}
