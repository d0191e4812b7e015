//! Exposures at equal distances, and functions of them by linear interpolation.

/// Largest exposure of a grid, either way: a seventeenth part more than leverage 1, so that a position that the price has
/// moved is still inside.
const REACH: f64 = 1.0625;

/// Equally spaced exposures from -17/16 to +17/16, 0 and all quarters among them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Grid {
    per_quarter: usize,
}

impl Grid {
    /// `per_quarter` steps to a quarter of exposure, a multiple of 4.
    pub(crate) fn new(per_quarter: usize) -> Option<Self> {
        (per_quarter > 0 && per_quarter.is_multiple_of(4)).then_some(Grid { per_quarter })
    }

    fn half(&self) -> usize {
        self.per_quarter * 17 / 4
    }

    /// How many there are.
    pub(crate) fn nodes(&self) -> usize {
        2 * self.half() + 1
    }

    pub(crate) fn exposure(&self, node: usize) -> f64 {
        (node as f64 - self.half() as f64) / (4 * self.per_quarter) as f64
    }

    /// The node that is flat.
    pub(crate) fn flat(&self) -> usize {
        self.half()
    }

    /// The node at or below an exposure, and the weight of the next one. Beyond the ends: the ends.
    pub(crate) fn place(&self, exposure: f64) -> (usize, f64) {
        let x = (exposure.clamp(-REACH, REACH) + REACH) * (4 * self.per_quarter) as f64;
        let node = (x as usize).min(self.nodes() - 2);
        (node, x - node as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_between_their_nodes() {
        let grid = Grid::new(8).unwrap();
        assert_eq!((grid.nodes(), grid.exposure(0), grid.exposure(grid.flat())), (69, -1.0625, 0.0));
        for x in [-1.0625, -1.0, -0.333, 0.0, 0.25, 0.9999, 1.0625] {
            let (node, weight) = grid.place(x);
            let back = (1.0 - weight) * grid.exposure(node) + weight * grid.exposure(node + 1);
            assert!((back - x).abs() < 1e-12 && (0.0..=1.0).contains(&weight), "{x}: {back}");
        }
        assert_eq!(grid.place(9.0), (67, 1.0));
        assert!(Grid::new(6).is_none());
    }
}
