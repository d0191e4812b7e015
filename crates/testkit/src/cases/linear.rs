use crate::{
    Case, Matrix,
    layer::{Input, LayerCase},
};
use foxhunt_nn::op::{Block, Linear};

pub(super) fn cases() -> Vec<Box<dyn Case>> {
    vec![
        Box::new(LayerCase {
            name: "linear",
            sizes: &[&[1, 1, 1], &[5, 3, 7], &[33, 65, 13], &[300, 64, 128], &[64, 130, 51]],
            exact: false,
            inputs: |s| vec![Input::new("x", s[0], s[1]), Input::new("w", s[2], s[1])],
            build: |plan, _, x| Linear::push(plan, "y", x[0], x[1]),
            reference: |_, x| x[0].times_transposed(&x[1]),
            kinks: false,
            tolerance: [5e-6, 4e-3],
        }),
        Box::new(LayerCase {
            name: "linear_blocks",
            sizes: &[&[5, 16], &[70, 32]],
            exact: false,
            inputs: |s| vec![Input::new("x", s[0], 3 * s[1]), Input::new("w", 48, s[1])],
            build: |plan, s, x| Linear::push_blocks(plan, "y", x[0], x[1], blocks(s[1]), 1.0),
            reference: |s, x| {
                let full = blocks(s[1]);
                Matrix::from_fn(s[0], 48, |r, c| {
                    let block = full.iter().find(|b| (b.y_first..b.y_first + b.width).contains(&c));
                    let first = block.map_or(0, |b| b.x_first);
                    (0..s[1]).map(|k| x[0].at(r, first + k) * x[1].at(c, k)).sum()
                })
            },
            kinks: false,
            tolerance: [5e-6, 4e-3],
        }),
    ]
}

/// Three streams of different widths, each with its own columns of x.
fn blocks(hidden: usize) -> Vec<Block> {
    [(0, 0, 8), (1, 8, 24), (2, 32, 16)]
        .map(|(stream, y_first, width)| Block { x_first: stream * hidden, y_first, width })
        .into()
}
