//! A market as a finite Markov chain: what moves the price, and paths of it.

use foxhunt_core::rng::{Purpose, draw};

/// Parts of one in a price ratio.
pub(crate) const ONE_E9: i64 = 1_000_000_000;

/// One way that the next bar can go.
#[derive(Clone, Debug, PartialEq)]
pub struct Move {
    /// Its probability, given the state.
    pub probability: f64,
    /// Next close over this close, 1e-9.
    pub ratio_e9: i64,
    /// States after it with their probabilities, given the move; they sum to 1.
    pub next: Vec<(usize, f64)>,
}

/// One state of the chain.
#[derive(Clone, Debug, PartialEq)]
pub struct State {
    /// What an agent sees of it, before normalisation: one value per feature.
    pub features: Vec<f32>,
    /// Ways that the next bar can go; their probabilities sum to 1.
    pub moves: Vec<Move>,
}

/// A Markov chain z with a price move per transition. The state is known at each close; a bar opens at the close before.
#[derive(Clone, Debug, PartialEq)]
pub struct Chain {
    /// Names of the features, F.
    pub names: Vec<String>,
    /// The states.
    pub states: Vec<State>,
    /// The price in each state in units, where price is a function of it; else only moves are.
    pub prices: Option<Vec<i32>>,
}

/// States and closes of a path, one per bar.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Path {
    pub(crate) states: Vec<usize>,
    pub(crate) close: Vec<i32>,
}

impl Chain {
    /// The stationary distribution: the limit of the mean of the first n distributions from state 0, found by power iteration
    /// of the lazy chain (P + 1) / 2, which has the same one and no period.
    pub fn stationary(&self) -> Vec<f64> {
        let n = self.states.len();
        let mut now = vec![1.0 / n as f64; n];
        for _ in 0..100_000 {
            let mut next: Vec<f64> = now.iter().map(|p| p / 2.0).collect();
            for (state, p) in self.states.iter().zip(&now) {
                for m in &state.moves {
                    for (to, q) in &m.next {
                        next[*to] += 0.5 * p * m.probability * q;
                    }
                }
            }
            let change: f64 = next.iter().zip(&now).map(|(a, b)| (a - b).abs()).sum();
            now = next;
            if change < 1e-15 {
                break;
            }
        }
        now
    }

    /// A path of `bars` closes by `key`, from a state of the stationary distribution. Bar t is decided by draw t alone.
    pub(crate) fn path(&self, key: u64, start: i32, bars: usize) -> Path {
        let words = |t: usize| draw(key, t as u64, 0, Purpose::Episode, 0);
        let first = pick(words(0)[0], self.stationary().into_iter());
        let price = |state: usize, moved: i32| self.prices.as_ref().map_or(moved, |p| p[state]);
        let mut path = Path { states: vec![first], close: vec![price(first, start)] };
        let (mut state, mut close) = (first, price(first, start));
        for t in 1..bars {
            let [which, whither, ..] = words(t);
            let moves = &self.states[state].moves;
            let m = &moves[pick(which, moves.iter().map(|m| m.probability))];
            state = m.next[pick(whither, m.next.iter().map(|n| n.1))].0;
            close = price(state, moved(close, m.ratio_e9));
            path.states.push(state);
            path.close.push(close);
        }
        path
    }
}

/// A price after a move, to the nearest unit and at least 1.
pub(crate) fn moved(price: i32, ratio_e9: i64) -> i32 {
    let exact = i128::from(price) * i128::from(ratio_e9) + i128::from(ONE_E9 / 2);
    exact.div_euclid(ONE_E9.into()).clamp(1, i32::MAX.into()) as i32
}

/// The index that 32 random bits choose by these probabilities; the last possible one where they sum to a little less than 1.
fn pick(word: u32, probabilities: impl Iterator<Item = f64>) -> usize {
    let u = (f64::from(word) + 0.5) / 4_294_967_296.0;
    let (mut sum, mut last) = (0.0, 0);
    for (i, p) in probabilities.enumerate() {
        sum += p;
        if p > 0.0 {
            last = i;
        }
        if u < sum {
            return i;
        }
    }
    last
}

#[cfg(test)]
mod tests {
    use super::*;

    fn two_states() -> Chain {
        let state = |stay: f64, me: usize| State {
            features: vec![me as f32],
            moves: vec![Move {
                probability: 1.0,
                ratio_e9: ONE_E9 + 1_000_000,
                next: vec![(me, stay), (1 - me, 1.0 - stay)],
            }],
        };
        Chain { names: vec!["z".into()], states: vec![state(0.9, 0), state(0.7, 1)], prices: None }
    }

    #[test]
    fn the_stationary_distribution_balances() {
        let pi = two_states().stationary();
        assert!((pi[0] - 0.75).abs() < 1e-12 && (pi[1] - 0.25).abs() < 1e-12, "{pi:?}");
    }

    #[test]
    fn a_path_visits_states_as_often_as_it_should_and_begins_alike_whatever_its_length() {
        let chain = two_states();
        let path = chain.path(5, 1_000_000, 200_000);
        let share = path.states.iter().filter(|z| **z == 1).count() as f64 / 200_000.0;
        // A standard deviation is 0.0019: neighbours correlate with 0.6.
        assert!((share - 0.25).abs() < 0.007, "{share}");
        assert_eq!(chain.path(5, 1_000_000, 100).states[..], path.states[..100]);
        assert_ne!(chain.path(6, 1_000_000, 100).states[..], path.states[..100]);
        assert_eq!(path.close[..3], [1_000_000, 1_001_000, 1_002_001]);
    }

    #[test]
    fn words_choose_by_probability() {
        let choose = |word| pick(word, [0.25, 0.5, 0.25, 0.0].into_iter());
        assert_eq!((choose(0), choose(1 << 30), choose(u32::MAX)), (0, 1, 2));
    }
}
