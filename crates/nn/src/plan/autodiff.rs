//! Reverse-mode differentiation: the backward pass as further operations of the plan.

use super::{Place, Plan, PlanError, Tensor};
use crate::op::Sum;
use std::collections::HashMap;

/// Contributions to the gradient of each tensor, while the backward pass is being built. A gradient may cover the
/// first rows of its tensor alone: the rest is then constant.
#[derive(Default)]
pub struct Gradients {
    parts: HashMap<Tensor, Vec<Tensor>>,
}

impl Gradients {
    /// Adds a contribution `dx` to the gradient of `x`.
    pub fn add(&mut self, x: Tensor, dx: Tensor) {
        self.parts.entry(x).or_default().push(dx);
    }

    /// The whole gradient of `y`: its one contribution, or their sum in F32, rounded once.
    ///
    /// # Errors
    /// Contributions of different shapes.
    pub fn of(&mut self, plan: &mut Plan, y: Tensor) -> Result<Option<Tensor>, PlanError> {
        let Some(parts) = self.parts.remove(&y) else { return Ok(None) };
        let whole = match parts[..] {
            [one] => one,
            _ => Sum::push(plan, &format!("d.{}.sum", plan.info(y).name.clone()), &parts)?,
        };
        self.parts.insert(y, vec![whole]);
        Ok(Some(whole))
    }
}

impl Plan {
    /// Adds the backward pass of the current program's operations: from the losses among them, and from `seeds`
    /// (pairs of a tensor and its gradient), to the gradient images of all nets.
    ///
    /// # Errors
    /// Gradients whose shapes don't fit.
    pub fn backward(&mut self, seeds: &[(Tensor, Tensor)]) -> Result<(), PlanError> {
        let mut gradients = Gradients::default();
        for (y, dy) in seeds {
            gradients.add(*y, *dy);
        }
        let forward: Vec<_> =
            self.steps.iter().filter(|s| s.program == self.current).map(|s| s.op.clone()).collect();
        for op in forward.iter().rev() {
            if op.reads().iter().any(|t| self.info(*t).differentiable) {
                op.backward(self, &mut gradients)?;
            }
        }
        for net in self.nets.clone() {
            for p in &net.params {
                let Some(mut d) = gradients.of(self, p.weight)? else { continue };
                if self.info(d).place != Place::Own {
                    // It lies elsewhere already: one gradient may be that of several parameters.
                    d = Sum::push(self, &format!("d.{}", p.spec.name), &[d])?;
                }
                let (want, got) = (self.info(p.weight), self.info(d));
                if got.rows > want.rows || (want.cols, want.ld) != (got.cols, got.ld) {
                    return Err(PlanError::Shape {
                        op: "backward",
                        what: format!("the gradient of {} has another layout", want.name),
                    });
                }
                self.place_inside(d, net.gradient, p.offset);
            }
        }
        Ok(())
    }
}
