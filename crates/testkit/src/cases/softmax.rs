use crate::{
    Case, Matrix,
    layer::{Input, LayerCase},
};
use foxhunt_nn::op::Softmax;

const SIZES: &[&[usize]] = &[&[1, 1], &[5, 51], &[33, 9], &[17, 300]];

fn log_softmax(x: &Matrix) -> Matrix {
    Matrix::from_fn(x.rows, x.cols, |r, c| {
        let top = x.row(r).iter().fold(f64::NEG_INFINITY, |a, b| a.max(*b));
        x.at(r, c) - top - x.row(r).iter().map(|v| (v - top).exp()).sum::<f64>().ln()
    })
}

pub(super) fn cases() -> Vec<Box<dyn Case>> {
    let inputs = |s: &[usize]| vec![Input::new("x", s[0], s[1]).scaled(2.0)];
    vec![
        Box::new(LayerCase {
            name: "softmax",
            sizes: SIZES,
            exact: true,
            inputs,
            build: |plan, _, x| Ok(Softmax::push(plan, "y", false, x[0])),
            reference: |_, x| log_softmax(&x[0]).map(f64::exp),
            kinks: false,
            tolerance: [2e-6, 8e-3],
        }),
        Box::new(LayerCase {
            name: "log_softmax",
            sizes: SIZES,
            exact: true,
            inputs,
            build: |plan, _, x| Ok(Softmax::push(plan, "y", true, x[0])),
            reference: |_, x| log_softmax(&x[0]),
            kinks: false,
            // The backward pass takes exp of a log-probability that was rounded.
            tolerance: [2e-6, 2e-2],
        }),
    ]
}
