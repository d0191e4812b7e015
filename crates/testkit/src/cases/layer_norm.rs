use crate::{
    Case, Matrix,
    layer::{Input, LayerCase},
};
use foxhunt_nn::op::LayerNorm;

pub(super) fn layer_norm(x: &Matrix, gain: &Matrix, bias: &Matrix, eps: f64) -> Matrix {
    let n = x.cols as f64;
    Matrix::from_fn(x.rows, x.cols, |r, c| {
        let mean = x.row(r).iter().sum::<f64>() / n;
        let var = x.row(r).iter().map(|v| (v - mean).powi(2)).sum::<f64>() / n;
        (x.at(r, c) - mean) / (var + eps).sqrt() * gain.at(0, c) + bias.at(0, c)
    })
}

pub(super) fn cases() -> Vec<Box<dyn Case>> {
    vec![Box::new(LayerCase {
        name: "layer_norm",
        sizes: &[&[1, 8], &[3, 33], &[70, 64], &[130, 300]],
        exact: true,
        inputs: |s| {
            vec![
                Input::new("x", s[0], s[1]).scaled(1.5).around(0.3),
                Input::new("gain", 1, s[1]).scaled(0.2).around(1.0),
                Input::new("bias", 1, s[1]).scaled(0.2),
            ]
        },
        build: |plan, _, x| LayerNorm::push(plan, "y", x[0], (x[1], x[2]), 1e-5),
        reference: |_, x| layer_norm(&x[0], &x[1], &x[2], f64::from(1e-5_f32)),
        kinks: false,
        tolerance: [1e-5, 1e-2],
    })]
}
