//! The made-up market: bars of a random walk with a slow drift and weekends.

use crate::rows::utc_day;

/// SplitMix64, which passes BigCrush and is eight lines long.
pub(super) struct Rng(u64);

impl Rng {
    pub(super) fn new(seed: u64) -> Self {
        Self(seed)
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// In [0, 1).
    pub(super) fn uniform(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// Standard normal, nearly: the sum of twelve uniforms, which needs no libm and so is the same on every machine.
    pub(super) fn normal(&mut self) -> f64 {
        (0..12).map(|_| self.uniform()).sum::<f64>() - 6.0
    }
}

/// One hourly bar.
#[derive(Clone, Copy)]
pub(super) struct Bar {
    pub(super) index: u32,
    pub(super) time_ns: i64,
    pub(super) day: i32,
    pub(super) open: i32,
    pub(super) high: i32,
    pub(super) low: i32,
    pub(super) close: i32,
    pub(super) volume: i64,
    /// Seconds since the previous close, beyond the bar's own hour.
    pub(super) gap_s: i64,
    /// Volatility of a bar, units; known before it.
    pub(super) sigma: i32,
}

pub(super) const HOUR_S: i64 = 3_600;
pub(super) const MEAN_VOLUME: i64 = 4_000;

/// Bars, and for each the drift that the agent may half see, in standard deviations of its own.
pub(super) struct Path {
    pub(super) bars: Vec<Bar>,
    pub(super) drift: Vec<f64>,
}

impl Path {
    /// `bars` traded bars after an opening one, Monday to Friday around the clock from Monday 2 January 2017.
    pub(super) fn new(seed: u64, bars: u32, volatility_bp: f64) -> Self {
        let mut rng = Rng::new(seed);
        let mut path = Self { bars: Vec::new(), drift: Vec::new() };
        let (mut price, mut drift, mut heat) = (210_000.0f64, 0.0f64, 1.0f64);
        let mut previous_time_s = 1_483_315_200 - HOUR_S;
        for index in 0..=bars {
            let week = i64::from(index / 120);
            let time_s = 1_483_315_200 + HOUR_S * (i64::from(index % 120) + 168 * week + 1);
            drift = 0.985 * drift + 0.17 * rng.normal();
            heat = 1.0 + 0.97 * (heat - 1.0) + 0.06 * rng.normal();
            let sigma = price * volatility_bp * 1e-4 * heat.clamp(0.4, 2.5);
            let gap_s = time_s - previous_time_s - HOUR_S;
            let jump = if gap_s > 0 { 0.8 * sigma * rng.normal() } else { 0.02 * sigma * rng.normal() };
            let open = price + jump;
            // Eight steps within the bar give its high and low.
            let (mut now, mut high, mut low) = (open, open, open);
            for _ in 0..8 {
                now += sigma * (rng.normal() + 0.03 * drift) / 8.0f64.sqrt();
                high = high.max(now);
                low = low.min(now);
            }
            path.bars.push(Bar {
                index: 1_000 + index,
                time_ns: time_s * 1_000_000_000,
                day: utc_day(time_s * 1_000_000_000),
                open: open.round() as i32,
                high: high.round() as i32,
                low: low.round() as i32,
                close: now.round() as i32,
                volume: (MEAN_VOLUME as f64 * (0.15 + 1.7 * rng.uniform() * rng.uniform())) as i64,
                gap_s,
                sigma: sigma.round().max(1.0) as i32,
            });
            path.drift.push(drift);
            // Far from any floor: prices stay positive for any seed in use.
            price = now.max(20_000.0);
            previous_time_s = time_s;
        }
        path
    }
}
