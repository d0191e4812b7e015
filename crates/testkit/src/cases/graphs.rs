//! Whole graphs: what single operations can't show is how gradients meet.

use super::layer_norm::layer_norm;
use crate::{
    Case,
    layer::{Input, LayerCase},
};
use foxhunt_kernels::layer::Activation;
use foxhunt_nn::op::{Activate, Bias, LayerNorm, Linear, Sum};

const STEPS: usize = 5;

pub(super) fn cases() -> Vec<Box<dyn Case>> {
    vec![
        // h_t = tanh(x_t U^T + h_{t-1} W^T), five steps, U and W shared: their gradients are sums over time.
        Box::new(LayerCase {
            name: "graph.recurrence",
            sizes: &[&[3, 8, 16], &[33, 13, 40]],
            exact: false,
            inputs: |s| {
                let mut inputs: Vec<Input> =
                    ["x1", "x2", "x3", "x4", "x5"].map(|n| Input::new(n, s[0], s[1])).into();
                inputs.push(Input::new("u", s[2], s[1]).scaled(0.5 / (s[1] as f64).sqrt()));
                inputs.push(Input::new("w", s[2], s[2]).scaled(0.8 / (s[2] as f64).sqrt()));
                inputs
            },
            build: |plan, _, x| {
                let (u, w) = (x[STEPS], x[STEPS + 1]);
                let z = Linear::push(plan, "z1", x[0], u)?;
                let mut h = Activate::push(plan, "h1", Activation::Tanh, z);
                for t in 1..STEPS {
                    let a = Linear::push(plan, "a", x[t], u)?;
                    let b = Linear::push(plan, "b", h, w)?;
                    let z = Sum::push(plan, "z", &[a, b])?;
                    h = Activate::push(plan, "h", Activation::Tanh, z);
                }
                Ok(h)
            },
            reference: |_, x| {
                let (u, w) = (&x[STEPS], &x[STEPS + 1]);
                let mut h = x[0].times_transposed(u).map(f64::tanh);
                for xt in &x[1..STEPS] {
                    h = xt.times_transposed(u).plus(&h.times_transposed(w)).map(f64::tanh);
                }
                h
            },
            kinks: false,
            tolerance: [1e-5, 3e-2],
        }),
        // h = x + tanh(LN(x) W^T + b);  y = h V^T + LN(h): x has two consumers, h three (a residual, a product, a norm).
        Box::new(LayerCase {
            name: "graph.residual_norm",
            sizes: &[&[5, 24], &[66, 48]],
            exact: false,
            inputs: |s| {
                let (rows, n) = (s[0], s[1]);
                let w = 1.0 / (n as f64).sqrt();
                vec![
                    Input::new("x", rows, n),
                    Input::new("gain", 1, n).scaled(0.2).around(1.0),
                    Input::new("bias", 1, n).scaled(0.2),
                    Input::new("w", n, n).scaled(w),
                    Input::new("b", 1, n),
                    Input::new("v", n, n).scaled(w),
                ]
            },
            build: |plan, _, i| {
                let [x, gain, bias, w, b, v] = i[..] else { unreachable!("six inputs") };
                let norm = LayerNorm::push(plan, "norm", x, (gain, bias), 1e-5)?;
                let z = Linear::push(plan, "z", norm, w)?;
                let z = Bias::push(plan, "z.bias", z, b, false)?;
                let z = Activate::push(plan, "branch", Activation::Tanh, z);
                let h = Sum::push(plan, "h", &[x, z])?;
                let product = Linear::push(plan, "product", h, v)?;
                let norm = LayerNorm::push(plan, "norm2", h, (gain, bias), 1e-5)?;
                Sum::push(plan, "y", &[product, norm, h])
            },
            reference: |_, i| {
                let [x, gain, bias, w, b, v] = i else { unreachable!("six inputs") };
                let eps = f64::from(1e-5_f32);
                let z = layer_norm(x, gain, bias, eps).times_transposed(w).plus(b).map(f64::tanh);
                let h = x.plus(&z);
                h.times_transposed(v).plus(&layer_norm(&h, gain, bias, eps)).plus(&h)
            },
            kinks: false,
            tolerance: [2e-5, 3e-2],
        }),
    ]
}
