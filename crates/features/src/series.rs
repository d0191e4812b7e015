//! The series that features are computed from: bars as F64 columns.

use foxhunt_data::{Bars, LocalTime, SessionClock};

use crate::error::FeatureError;

/// Columns of one instrument's bars, T rows each. Prices are mids in price units: features use ratios of them only, so
/// the unit cancels.
#[derive(Clone, Debug)]
pub struct Series {
    /// First mid of each bar.
    pub open: Vec<f64>,
    /// Mid of the highs.
    pub high: Vec<f64>,
    /// Mid of the lows.
    pub low: Vec<f64>,
    /// Last mid of each bar.
    pub close: Vec<f64>,
    /// Change of the logarithm of the close; 0 in the first row.
    pub log_return: Vec<f64>,
    /// Volume in lots, or `None` where the file has none (an assumed volume is no information).
    pub volume: Option<Vec<f64>>,
    /// Seconds between the previous close and this open.
    pub gap_seconds: Vec<f64>,
    /// Seconds from open to close.
    pub bar_seconds: Vec<f64>,
    /// Market's clock at the close.
    pub local: Vec<LocalTime>,
    /// Where each bar stands on the clock of sessions.
    pub clock: Vec<SessionClock>,
    /// Seconds of the regular session.
    pub session_seconds: f64,
    /// Ask less bid at the close in price units, or `None` on trade bars.
    pub spread: Option<Vec<f64>>,
}

impl Series {
    /// Takes the columns from bars.
    ///
    /// # Errors
    /// [`FeatureError::Data`] if the instrument's session zone is unknown.
    pub fn from_bars(bars: &Bars) -> Result<Self, FeatureError> {
        let mids = bars.mids();
        let wide = |column: &[i32]| column.iter().map(|&p| f64::from(p)).collect::<Vec<f64>>();
        let close = wide(&mids.close);
        let mut log_return = vec![0.0; close.len()];
        for t in 1..close.len() {
            // The logarithm of the ratio, not the difference of logarithms: small returns keep their digits.
            log_return[t] = (close[t] / close[t - 1]).ln();
        }
        Ok(Self {
            open: wide(&mids.open),
            high: wide(&mids.high),
            low: wide(&mids.low),
            close,
            log_return,
            volume: bars.has_volume.then(|| bars.volume_lots.iter().map(|&v| v as f64).collect()),
            gap_seconds: (0..bars.len()).map(|i| bars.gap_seconds(i) as f64).collect(),
            bar_seconds: (0..bars.len()).map(|i| bars.bar_seconds(i) as f64).collect(),
            local: bars.close_local()?,
            clock: bars.session_clock()?,
            session_seconds: f64::from(bars.instrument.session.length_s.max(1)),
            spread: bars
                .is_quote()
                .then(|| (0..bars.len()).map(|i| bars.spread_units(i).map_or(0.0, f64::from)).collect()),
        })
    }

    /// Number of bars, T.
    pub fn len(&self) -> usize {
        self.close.len()
    }

    /// Whether there is no bar.
    pub fn is_empty(&self) -> bool {
        self.close.is_empty()
    }
}
