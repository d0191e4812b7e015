//! Operations of a plan, one file each: what it reads and writes, how it becomes commands, its backward pass.

mod activation;
mod adamw;
mod bias;
mod column;
mod dqn;
mod dqn_foreign;
mod foreign;
mod gradient_norm;
mod layer_norm;
mod linear;
mod softmax;
mod sum;
mod value_head;

pub use activation::Activate;
pub use adamw::Optimise;
pub use bias::Bias;
pub use column::{ColumnReplay, ColumnTensors};
pub use dqn::{FusedAct, FusedStep, FusedTensors};
pub(crate) use dqn_foreign::push_fused_foreign;
pub(crate) use foreign::Foreign;
pub use layer_norm::LayerNorm;
pub use linear::{Block, Linear};
pub use softmax::Softmax;
pub use sum::Sum;
pub use value_head::{HeadNets, HeadSamples, ValueHeadAct, ValueHeadLoss};

use crate::{Gradients, Lowering, MemoryPurpose, Plan, PlanError, Tensor};
use foxhunt_device::Command;

/// An operation of a plan.
pub trait Operation {
    /// What it is called when a plan is printed.
    fn name(&self) -> &'static str;

    /// Tensors that it reads.
    fn reads(&self) -> Vec<Tensor>;

    /// Tensors that it writes.
    fn writes(&self) -> Vec<Tensor>;

    /// A tensor that it overwrites in place, though it reads it: nothing else may read it.
    fn consumes(&self) -> Option<Tensor> {
        None
    }

    /// Its parameters, when a plan is printed.
    fn attributes(&self) -> String {
        String::new()
    }

    /// The commands that run it.
    ///
    /// # Errors
    /// Launchers that refuse their buffers.
    fn lower(&self, cx: &Lowering) -> Result<Vec<Command>, PlanError>;

    /// Adds the operations of its backward pass to the plan and its contributions to the gradients of what it reads.
    /// An operation through which nothing flows back keeps this.
    ///
    /// # Errors
    /// Gradients whose shapes don't fit.
    fn backward(&self, plan: &mut Plan, gradients: &mut Gradients) -> Result<(), PlanError> {
        let _ = (plan, gradients);
        Ok(())
    }
}

fn shape_error<T>(op: &'static str, what: impl Into<String>) -> Result<T, PlanError> {
    Err(PlanError::Shape { op, what: what.into() })
}

/// The gradient tensor of `x`, with `rows` rows and the layout of `x`.
fn gradient_of(plan: &mut Plan, x: Tensor, rows: usize) -> Tensor {
    let info = plan.info(x);
    let (name, cols, ld) = (format!("d.{}", info.name), info.cols, info.ld);
    let purpose = match info.purpose {
        MemoryPurpose::Weights => MemoryPurpose::Gradients,
        _ => MemoryPurpose::Activations,
    };
    let d = plan.real_buffer(&name, rows, cols);
    plan.set_ld(d, ld);
    plan.with_purpose(d, purpose)
}

/// Runs of rows that a column sum over `rows` rows is split into: a function of the rows alone, since it decides the
/// order of addition.
fn column_parts(rows: usize) -> usize {
    rows.div_ceil(256).clamp(1, 64)
}
