use crate::{
    Case,
    layer::{Input, LayerCase},
};
use foxhunt_kernels::layer::Activation;
use foxhunt_nn::op::{Activate, Bias, Sum};

const SIZES: &[&[usize]] = &[&[1, 1], &[7, 33], &[65, 64], &[300, 130]];

pub(super) fn cases() -> Vec<Box<dyn Case>> {
    let matrix = |s: &[usize]| vec![Input::new("x", s[0], s[1])];
    vec![
        Box::new(LayerCase {
            name: "relu",
            sizes: SIZES,
            exact: true,
            inputs: matrix,
            build: |plan, _, x| Ok(Activate::push(plan, "y", Activation::Relu, x[0])),
            reference: |_, x| x[0].map(|v| v.max(0.0)),
            kinks: true,
            tolerance: [1e-6, 4e-3],
        }),
        Box::new(LayerCase {
            name: "tanh",
            sizes: SIZES,
            exact: true,
            inputs: matrix,
            build: |plan, _, x| Ok(Activate::push(plan, "y", Activation::Tanh, x[0])),
            reference: |_, x| x[0].map(f64::tanh),
            kinks: false,
            // 1 - y^2 from a rounded y: near y = 1 half an ulp of y is several per cent of it.
            tolerance: [2e-6, 3e-2],
        }),
        Box::new(LayerCase {
            name: "sum",
            sizes: SIZES,
            exact: true,
            inputs: |s| ["a", "b", "c"].map(|n| Input::new(n, s[0], s[1])).into(),
            build: |plan, _, x| Sum::push(plan, "y", x),
            reference: |_, x| x[0].plus(&x[1]).plus(&x[2]),
            kinks: false,
            tolerance: [1e-6, 4e-3],
        }),
        Box::new(LayerCase {
            name: "bias",
            sizes: SIZES,
            exact: true,
            inputs: bias_inputs,
            build: |plan, _, x| Bias::push(plan, "y", x[0], x[1], false),
            reference: |_, x| x[0].plus(&x[1]),
            kinks: false,
            // Partial column sums are stored once more.
            tolerance: [2e-6, 6e-3],
        }),
        Box::new(LayerCase {
            name: "bias_relu",
            sizes: &[&[1, 1], &[7, 33], &[65, 64], &[300, 130], &[1030, 70]],
            exact: true,
            inputs: bias_inputs,
            build: |plan, _, x| Bias::push(plan, "y", x[0], x[1], true),
            reference: |_, x| x[0].plus(&x[1]).map(|v| v.max(0.0)),
            kinks: true,
            tolerance: [2e-6, 6e-3],
        }),
    ]
}

fn bias_inputs(s: &[usize]) -> Vec<Input> {
    vec![Input::new("x", s[0], s[1]), Input::new("b", 1, s[1])]
}
