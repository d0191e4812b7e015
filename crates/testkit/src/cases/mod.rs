//! The cases, one file per family of operations.

mod boltzmann;
mod column;
mod dqn_mean;
mod elementwise;
mod graphs;
mod layer_norm;
mod linear;
mod maths;
mod optimiser;
mod schedule;
mod softmax;
mod value_head;

use crate::Case;

/// Every case.
pub fn cases() -> Vec<Box<dyn Case>> {
    let mut all: Vec<Box<dyn Case>> = Vec::new();
    all.extend(elementwise::cases());
    all.extend(softmax::cases());
    all.extend(layer_norm::cases());
    all.extend(maths::cases());
    all.extend(linear::cases());
    all.extend(value_head::cases());
    all.extend(optimiser::cases());
    all.extend(boltzmann::cases());
    all.extend(schedule::cases());
    all.extend(column::cases());
    all.extend(dqn_mean::cases());
    all.extend(graphs::cases());
    all
}
