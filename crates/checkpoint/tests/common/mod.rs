//! A small branching Q-network, with padding of every kind, for the tests of this crate.

#![allow(dead_code, reason = "each test uses a part")]

use foxhunt_core::{DType, Storage, Weights, rng::member_seed};
use foxhunt_device::Device;
use foxhunt_kernels::loss::HeadShape;
use foxhunt_nn::{
    Net, Options, Plan, Runtime,
    net::{BranchingQ, BranchingQConfig},
};
use std::collections::BTreeMap;

/// What the format says each part is, from the sizes of [`network`].
pub(crate) fn expected_shapes() -> BTreeMap<&'static str, Vec<usize>> {
    BTreeMap::from([
        ("w_s1", vec![24, 5]),
        ("b_s1", vec![24]),
        ("w_s2", vec![40, 24]),
        ("b_s2", vec![40]),
        ("w_v1", vec![32, 40]),
        ("b_v1", vec![32]),
        ("w_v2", vec![11, 32]),
        ("b_v2", vec![11]),
        ("w_a1", vec![32, 40]),
        ("b_a1", vec![32]),
        ("w_a2", vec![33, 32]),
        ("b_a2", vec![33]),
        ("w_b11", vec![32, 40]),
        ("b_b11", vec![32]),
        ("w_b12", vec![22, 32]),
        ("b_b12", vec![22]),
    ])
}

pub(crate) fn network(plan: &mut Plan) -> Net {
    let config = BranchingQConfig {
        inputs: 5,
        trunk: [24, 40],
        stream: 32,
        head: HeadShape { actions: vec![3, 2], atoms: 11, v_min: -1.0, v_max: 1.0 },
        trunk_gradient_scale: 1.0,
        mixture: false,
    };
    BranchingQ::new(plan, config).net
}

/// Members `ids`, each with its own initial weights, and `padding` in every image element that is none.
pub(crate) fn population(dtype: DType, ids: &[u64], padding: f32) -> (Runtime, Net) {
    stored(dtype, Weights::Plain, ids, padding)
}

/// The same in plain weights or pairs.
pub(crate) fn stored(dtype: DType, weights: Weights, ids: &[u64], padding: f32) -> (Runtime, Net) {
    let mut plan = Plan::new(dtype, ids.len());
    plan.set_storage(Storage { weights, ..Storage::default() });
    let net = network(&mut plan);
    let runtime = plan.compile(&Device::cpu(), Options::default()).unwrap();
    let mut images = Vec::new();
    for id in ids {
        let logical = net.initial_image(member_seed(7, *id));
        let mut image = vec![padding; logical.len()];
        for at in logical_elements(&net) {
            image[at] = logical[at];
        }
        images.extend(image);
    }
    runtime.write_pair(net.weight, net.low.map(|low| low.weight), &images).unwrap();
    (runtime, net)
}

/// Image elements that mean something.
pub(crate) fn logical_elements(net: &Net) -> Vec<usize> {
    let mut all = Vec::new();
    for p in &net.params {
        for part in 0..p.spec.parts.len() {
            all.extend(p.part_elements(part).flat_map(|at| at..at + p.spec.cols));
        }
    }
    all
}

/// SplitMix64, so that a failure replays.
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) % n.max(1) as u64) as usize
    }
}
