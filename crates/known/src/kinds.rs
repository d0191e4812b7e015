//! The markets that there are.

use crate::{
    Chain, Move, State,
    chain::{ONE_E9, moved},
};

/// Price at which chains without prices of their own begin, and the middle level of the one that has; units. So many that a
/// unit is 1e-8 of it: what rounding a price or a half-spread to whole units changes is far below a basis point.
pub(crate) const BASE_PRICE: i32 = 100_000_000;
/// One basis point of a rate in 1e-7.
const BP_E7: i32 = 1_000;
/// One basis point of a ratio in 1e-9.
const BP_E9: i64 = 100_000;

/// A market with a known answer, by name.
#[derive(Clone, Copy, Debug)]
pub struct Kind {
    /// Its name.
    pub name: &'static str,
    /// What it is, in a sentence.
    pub about: &'static str,
    /// Half of its spread, 1e-7 of the price.
    pub half_spread_e7: i32,
    /// Largest median regret at which [`crate::KnownMarket::quick`] counts as having learned it: about twice the worst median
    /// that was measured, of three members in F32 on a CPU, on seeds 2, 3 and 4. Mean reversion 2.9, 2.8 and 5.8 %, regimes
    /// 0.3, 0.1 and 0.1 %, drift 3.5, 4.2 and 1.0 %; the bound of regimes leaves room for a schedule of ten epochs, which gave
    /// 1.2, 1.4 and 0.8 %. The schedule, and before it the first market's spread, were chosen by regrets on seed 1. Single
    /// members are further out: of the 27, the worst had 15.9 %, on regimes.
    pub bound: f64,
    chain: fn() -> Chain,
}

impl Kind {
    /// Its chain.
    pub fn chain(&self) -> Chain {
        (self.chain)()
    }
}

/// All markets with a known answer.
///
/// Moves are fractions of a basis point, for the physics has no scale but that of spread to move, and an account should not
/// outgrow what its agent has seen: its growth since the start is an input, and over a test window of 8,192 bars the optimal
/// policy earns about a tenth. Tried first with moves fifteen to twenty times as large, it earned 1.6 to 2.3 nats, which no
/// training episode of 512 bars comes near; two members each (10 epochs, batch 256, discount 0.9) then had regrets of 52 and
/// 56 % on regimes and 17 and 24 % on drift. With small moves and half the batch these were 1 and 16 %, and 17 and 26 %: it
/// helped on regimes (and on mean reversion: 59 and 96 % to 19 and 33 %) and not on drift. That growth is the reason is likely, and was not tested by itself.
pub fn markets() -> &'static [Kind] {
    const ALL: &[Kind] = &[
        Kind {
            name: "mean-reversion",
            about: "A price on nine levels 1 bp apart that is pulled to the middle one (Ehrenfest), level seen; half a spread \
                    of 0.35 bp, so that at the middle what is held is best kept.",
            half_spread_e7: 35 * BP_E7 / 100,
            bound: 0.12,
            chain: mean_reversion,
        },
        Kind {
            name: "regimes",
            about: "Steps of 0.25 bp, 80 % of them up in one regime and down in the other, regime seen; one bar in 40 \
                    switches. Half a spread of 0.15 bp.",
            half_spread_e7: 15 * BP_E7 / 100,
            bound: 0.03,
            chain: regimes,
        },
        Kind {
            name: "drift",
            about: "An AR(1) drift on nine levels (Tauchen), coefficient 0.9, standard deviation 0.15 bp a bar, seen; noise \
                    of 0.25 bp either way. Half a spread of 0.15 bp.",
            half_spread_e7: 15 * BP_E7 / 100,
            bound: 0.09,
            chain: drift,
        },
    ];
    ALL
}

/// Ehrenfest's urn: from level k of -K..=K up with probability (1 - k/K) / 2, else down. The stationary distribution of k + K
/// is binomial (2K, 1/2), and the expected next level is k (1 - 1/K).
fn mean_reversion() -> Chain {
    const LEVELS: i64 = 4;
    const STEP_E9: i64 = BP_E9;
    let mut prices = vec![BASE_PRICE];
    for _ in 0..LEVELS {
        // Downwards by division, upwards by multiplication: the same step in logarithms.
        let up = moved(prices[prices.len() - 1], ONE_E9 + STEP_E9);
        prices.push(up);
    }
    for _ in 0..LEVELS {
        let below = i64::from(prices[0]) * ONE_E9;
        prices.insert(0, ((below + (ONE_E9 + STEP_E9) / 2) / (ONE_E9 + STEP_E9)) as i32);
    }
    let state = |i: usize| {
        let k = i as f64 - LEVELS as f64;
        let up = (1.0 - k / LEVELS as f64) / 2.0;
        let to = |probability: f64, j: usize| {
            let ratio_e9 = (i64::from(prices[j]) * ONE_E9 + i64::from(prices[i]) / 2) / i64::from(prices[i]);
            Move { probability, ratio_e9, next: vec![(j, 1.0)] }
        };
        let mut moves = Vec::new();
        if up > 0.0 {
            moves.push(to(up, i + 1));
        }
        if up < 1.0 {
            moves.push(to(1.0 - up, i - 1));
        }
        State { features: vec![k as f32], moves }
    };
    let states = (0..prices.len()).map(state).collect();
    Chain { names: vec!["level".into()], states, prices: Some(prices) }
}

/// Two regimes, down and up, each with its own odds of the next step.
fn regimes() -> Chain {
    const STEP_E9: i64 = BP_E9 / 4;
    const ODDS: f64 = 0.8;
    const STAY: f64 = 1.0 - 1.0 / 40.0;
    let state = |me: usize| {
        let next = vec![(me, STAY), (1 - me, 1.0 - STAY)];
        let up = if me == 1 { ODDS } else { 1.0 - ODDS };
        // Down by division: the two regimes are mirror images in logarithms.
        let down = (ONE_E9 * ONE_E9 + (ONE_E9 + STEP_E9) / 2) / (ONE_E9 + STEP_E9);
        let moves = vec![
            Move { probability: up, ratio_e9: ONE_E9 + STEP_E9, next: next.clone() },
            Move { probability: 1.0 - up, ratio_e9: down, next },
        ];
        State { features: vec![me as f32], moves }
    };
    Chain { names: vec!["regime".into()], states: vec![state(0), state(1)], prices: None }
}

/// Drift s' = 0.9 s + e on nine levels, and returns of s plus or minus a quarter of a basis point with
/// equal odds.
///
/// Tauchen, "Finite state Markov-chain approximations to univariate and vector autoregressions", Economics Letters 20
/// (1986): levels equally spaced over +-2.5 standard deviations of s; the probability of a level is that of s' within half
/// a spacing of it, the outermost levels taking what lies beyond.
fn drift() -> Chain {
    const LEVELS: usize = 9;
    const RHO: f64 = 0.9;
    const SD_E9: f64 = 0.15 * BP_E9 as f64;
    const WIDTH: f64 = 2.5;
    const NOISE_E9: i64 = BP_E9 / 4;
    let spacing = 2.0 * WIDTH * SD_E9 / (LEVELS - 1) as f64;
    let level = |i: usize| i as f64 * spacing - WIDTH * SD_E9;
    let innovation = SD_E9 * (1.0 - RHO * RHO).sqrt();
    let state = |i: usize| {
        let below = |edge: f64| normal((edge - RHO * level(i)) / innovation);
        let next: Vec<(usize, f64)> = (0..LEVELS)
            .map(|j| {
                let low = if j == 0 { 0.0 } else { below(level(j) - spacing / 2.0) };
                let high = if j + 1 == LEVELS { 1.0 } else { below(level(j) + spacing / 2.0) };
                (j, high - low)
            })
            .collect();
        let moves = [NOISE_E9, -NOISE_E9]
            .map(|noise| Move {
                probability: 0.5,
                ratio_e9: ONE_E9 + level(i).round() as i64 + noise,
                next: next.clone(),
            })
            .into();
        State { features: vec![(level(i) / BP_E9 as f64) as f32], moves }
    };
    Chain { names: vec!["drift".into()], states: (0..LEVELS).map(state).collect(), prices: None }
}

/// The normal distribution function, by the series of Marsaglia, "Evaluating the normal distribution", Journal of Statistical
/// Software 11 (2004), to 1e-15 within 7 standard deviations, and 0 or 1 beyond.
fn normal(x: f64) -> f64 {
    if x.abs() > 7.0 {
        return if x < 0.0 { 0.0 } else { 1.0 };
    }
    let (mut term, mut sum, mut k) = (x, x, 1.0);
    while term.abs() > 1e-17 {
        k += 2.0;
        term *= x * x / k;
        sum += term;
    }
    0.5 + sum * (-x * x / 2.0 - 0.5 * (2.0 * std::f64::consts::PI).ln()).exp()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_chain_is_one() {
        for kind in markets() {
            let chain = kind.chain();
            for state in &chain.states {
                assert_eq!(state.features.len(), chain.names.len());
                let sum: f64 = state.moves.iter().map(|m| m.probability).sum();
                assert!((sum - 1.0).abs() < 1e-12, "{}: {sum}", kind.name);
                for m in &state.moves {
                    let sum: f64 = m.next.iter().map(|n| n.1).sum();
                    assert!(
                        (sum - 1.0).abs() < 1e-12 && m.next.iter().all(|n| n.1 >= 0.0),
                        "{}: {sum}",
                        kind.name
                    );
                }
            }
        }
    }

    /// The moments that Tauchen's chain is made to have, and those of Ehrenfest's.
    #[test]
    fn chains_have_their_moments() {
        let moments = |chain: &Chain| {
            let pi = chain.stationary();
            let x = |z: usize| f64::from(chain.states[z].features[0]);
            let mean: f64 = pi.iter().enumerate().map(|(z, p)| p * x(z)).sum();
            let variance: f64 = pi.iter().enumerate().map(|(z, p)| p * (x(z) - mean).powi(2)).sum();
            let lagged: f64 = pi
                .iter()
                .zip(&chain.states)
                .enumerate()
                .flat_map(|(z, (p, s))| s.moves.iter().map(move |m| (z, p * m.probability, m)))
                .flat_map(|(z, p, m)| m.next.iter().map(move |(to, q)| (z, *to, p * q)))
                .map(|(z, to, p)| p * (x(z) - mean) * (x(to) - mean))
                .sum();
            (mean, variance.sqrt(), lagged / variance)
        };
        let (mean, sd, correlation) = moments(&mean_reversion());
        assert!(mean.abs() < 1e-9 && (sd - 2.0_f64.sqrt()).abs() < 1e-9 && (correlation - 0.75).abs() < 1e-9);
        let (mean, sd, correlation) = moments(&drift());
        assert!(
            mean.abs() < 1e-6 && (sd - 0.15).abs() < 0.0075 && (correlation - 0.9).abs() < 0.02,
            "{sd} {correlation}"
        );
        let (mean, sd, correlation) = moments(&regimes());
        assert!((mean - 0.5).abs() < 1e-9 && (sd - 0.5).abs() < 1e-9 && (correlation - 0.95).abs() < 1e-9);
    }

    #[test]
    fn the_normal_distribution_has_its_quantiles() {
        for (x, p) in [(0.0, 0.5), (1.0, 0.841_344_746_068_543), (-1.959_963_984_540_054, 0.025), (-8.0, 0.0)]
        {
            assert!((normal(x) - p).abs() < 1e-14, "{x}: {}", normal(x));
        }
    }
}
