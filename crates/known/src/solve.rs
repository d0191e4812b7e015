//! Value iteration over state and exposure.

use crate::{
    Chain, KnownError,
    grid::Grid,
    physics::{ACTIONS, Effects, action},
};
use foxhunt_market::RuleBook;

/// Largest change of a value at which iteration stops, as a log return; the values' distance from the fixed point is at most
/// `gamma / (1 - gamma)` times that.
const TOLERANCE: f64 = 1e-12;

/// The policy that maximises the expected discounted sum of log returns of equity, up to the grid's interpolation.
#[derive(Clone, Debug)]
pub struct Policy {
    grid: Grid,
    gamma: f64,
    /// `[states, nodes, ACTIONS]`.
    q: Vec<f64>,
    /// `[states, nodes]`.
    value: Vec<f64>,
    /// Iterations that it took.
    pub iterations: usize,
}

impl Policy {
    /// Solves for a chain under `rules` with the discount `gamma` on a grid of `per_quarter` (a multiple of 4) steps to a
    /// quarter of exposure: 8 gives 69 exposures, 16 gives 137.
    ///
    /// ```text
    /// Q(z, w, a) = sum_m p(m | z) ( r(z, w, a, m) + gamma sum_z' p(z' | z, m) V(z', w'(z, w, a, m)) )
    /// V(z, w)    = max_a Q(z, w, a)
    /// ```
    ///
    /// z is the chain's state, w the exposure held (position times price over equity), m a move of the price; r = log of
    /// equity after over before and w' come from the market's kernel, at an equity at which whole lots are 1e-8 of a position.
    /// V is linear between the grid's exposures. Without fees, impact and caps the physics doesn't depend on the size of the
    /// account, nor on that of the price but for rounding, so that (z, w) is the whole state: on a path, half-spreads round up
    /// to whole units, a 1,500th part of the smallest one at the base price, and positions to whole lots, 1e-6 of them.
    ///
    /// What the grid costs is measured: twice and half as many exposures change the mean value of each market by less than
    /// 0.01 % (`tests/solution.rs`).
    ///
    /// # Errors
    /// A discount outside 0 to 1, a grid that does not hold the quarters, rules that can't be kept, the device.
    pub fn solve(
        market: &'static str,
        chain: &Chain,
        rules: &RuleBook,
        gamma: f64,
        per_quarter: usize,
    ) -> Result<Self, KnownError> {
        let unfit = |what| KnownError::Unfit { market, what };
        if !(0.0..1.0).contains(&gamma) {
            return Err(unfit(format!("a discount of {gamma}: it must be at least 0 and below 1")));
        }
        let grid = Grid::new(per_quarter)
            .ok_or_else(|| unfit(format!("{per_quarter} steps to a quarter: it must be a multiple of 4")))?;
        let effects = Effects::new(chain, rules, &grid)?;
        let (states, nodes) = (chain.states.len(), grid.nodes());
        let mut policy = Policy {
            grid,
            gamma,
            q: vec![0.0; states * nodes * ACTIONS],
            value: vec![0.0; states * nodes],
            iterations: 0,
        };
        loop {
            let change = policy.sweep(chain, &effects);
            policy.iterations += 1;
            if change < TOLERANCE {
                return Ok(policy);
            }
        }
    }

    fn sweep(&mut self, chain: &Chain, effects: &Effects) -> f64 {
        let nodes = self.grid.nodes();
        self.q.fill(0.0);
        for (z, state) in chain.states.iter().enumerate() {
            let q = &mut self.q[z * nodes * ACTIONS..][..nodes * ACTIONS];
            for (m, way) in state.moves.iter().enumerate() {
                let mut after = vec![0.0; nodes];
                for (to, p) in &way.next {
                    let value = &self.value[to * nodes..][..nodes];
                    after.iter_mut().zip(value).for_each(|(a, v)| *a += self.gamma * p * v);
                }
                for (q, effect) in q.iter_mut().zip(effects.of(z, m)) {
                    let (node, weight) = self.grid.place(effect.exposure);
                    let value = after[node] + weight * (after[node + 1] - after[node]);
                    *q += way.probability * (effect.reward + value);
                }
            }
        }
        let mut change = 0.0_f64;
        for (value, q) in self.value.iter_mut().zip(self.q.chunks(ACTIONS)) {
            let best = q.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            change = change.max((best - *value).abs());
            *value = best;
        }
        change
    }

    /// The action in state `z` at exposure `w`: the best by values interpolated between the grid's exposures; of equals the
    /// first, so the lower exposure and urgency.
    pub fn action(&self, z: usize, w: f64) -> [u8; 3] {
        let (node, weight) = self.grid.place(w);
        let row = |node: usize| &self.q[(z * self.grid.nodes() + node) * ACTIONS..][..ACTIONS];
        let (low, high) = (row(node), row(node + 1));
        let value = |a: usize| low[a] + weight * (high[a] - low[a]);
        action((1..ACTIONS).fold(0, |best, a| if value(a) > value(best) { a } else { best }))
    }

    /// Expected discounted sum of log returns from state `z` at exposure `w`, under this policy.
    pub fn value(&self, z: usize, w: f64) -> f64 {
        let (node, weight) = self.grid.place(w);
        let row = &self.value[z * self.grid.nodes()..][..self.grid.nodes()];
        row[node] + weight * (row[node + 1] - row[node])
    }

    /// [`Policy::value`] of a flat account, averaged over the chain's stationary distribution.
    pub fn mean_value(&self, chain: &Chain) -> f64 {
        let flat = self.grid.exposure(self.grid.flat());
        chain.stationary().iter().enumerate().map(|(z, p)| p * self.value(z, flat)).sum()
    }

    /// The discount that it was solved for.
    pub fn gamma(&self) -> f64 {
        self.gamma
    }
}
