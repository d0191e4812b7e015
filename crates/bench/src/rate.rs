use crate::{Machine, Work};
use serde::Serialize;

/// How fast work was done, and which share that is of what the machine did in `bench machine`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Rate {
    /// What was done in one go.
    #[serde(flatten)]
    pub work: Work,
    /// Bytes over time, 1e9 a second.
    pub gb_per_s: f64,
    /// Operations over time, 1e12 a second.
    pub tflop_per_s: f64,
    /// Share of the machine's copy bandwidth; none where it was not measured.
    pub bandwidth_share: Option<f64>,
    /// Share of the rate of the library's largest product; none where it was not measured.
    pub matrix_share: Option<f64>,
}

impl Rate {
    /// Of `work` done in `us` microseconds.
    pub fn new(work: Work, us: f64, machine: Option<&Machine>) -> Self {
        let per = |x: u64, unit: f64| if us > 0.0 { x as f64 / us * 1e6 / unit } else { 0.0 };
        let (gb_per_s, tflop_per_s) = (per(work.bytes, 1e9), per(work.operations, 1e12));
        let share = |rate: f64, of: Option<f64>| of.filter(|x| *x > 0.0).map(|x| rate / x);
        Rate {
            work,
            gb_per_s,
            tflop_per_s,
            bandwidth_share: share(gb_per_s, machine.map(|m| m.copy_gb_per_s)),
            matrix_share: share(tflop_per_s, machine.map(|m| m.matrix_tflop_per_s)),
        }
    }

    /// Titles and widths of [`Rate::cells`].
    pub(crate) const COLUMNS: [(&'static str, usize); 4] =
        [("GB/s", 8), ("of copy", 8), ("TFLOP/s", 9), ("of GEMM", 8)];

    /// Bandwidth, its share, rate of operations, its share.
    pub(crate) fn cells(&self) -> [String; 4] {
        let share = |x: Option<f64>| x.map_or("-".into(), |x| format!("{:.1} %", 100.0 * x));
        [
            format!("{:.1}", self.gb_per_s),
            share(self.bandwidth_share),
            format!("{:.3}", self.tflop_per_s),
            share(self.matrix_share),
        ]
    }
}
