use super::{Operation, gradient_of, shape_error};
use crate::{Gradients, Lowering, Plan, PlanError, Tensor};
use foxhunt_device::{Command, Gemm, Operand};
use foxhunt_kernels::View;

/// One block of a block-diagonal product: `y[:, y_first..] = x[:, x_first..] · w[y_first.., :]ᵀ`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Block {
    /// First column of x that the block reads; it reads as many as w has.
    pub x_first: usize,
    /// First column of y, and first row of w.
    pub y_first: usize,
    /// Columns of y, and rows of w.
    pub width: usize,
}

/// `y = x Wᵀ` with `W [out, in]`, as one product or as blocks that each read their own columns of x.
pub struct Linear {
    x: Tensor,
    w: Tensor,
    y: Tensor,
    blocks: Vec<Block>,
    input_gradient_scale: f32,
}

impl Linear {
    /// `y [rows, out] = x [rows, in] · w [out, in]ᵀ`.
    ///
    /// # Errors
    /// Shapes that don't fit.
    pub fn push(plan: &mut Plan, name: &str, x: Tensor, w: Tensor) -> Result<Tensor, PlanError> {
        Self::push_scaled(plan, name, x, w, 1.0)
    }

    /// As [`Linear::push`], with the gradient that flows back into `x` multiplied by `scale` (rl.md 1: a trunk shared
    /// by D + 1 streams takes 1 / (D + 1)).
    ///
    /// # Errors
    /// Shapes that don't fit.
    pub fn push_scaled(
        plan: &mut Plan,
        name: &str,
        x: Tensor,
        w: Tensor,
        scale: f32,
    ) -> Result<Tensor, PlanError> {
        let block = Block { x_first: 0, y_first: 0, width: plan.info(w).rows };
        let (xc, wc) = (plan.info(x).cols, plan.info(w).cols);
        if xc != wc {
            return shape_error("linear", format!("{name}: x has {xc} columns, w {wc}"));
        }
        Self::push_blocks(plan, name, x, w, vec![block], scale)
    }

    /// A block-diagonal product: streams that each have their own input.
    ///
    /// # Errors
    /// Blocks beyond x or w, or a start that splits a pack of eight.
    pub fn push_blocks(
        plan: &mut Plan,
        name: &str,
        x: Tensor,
        w: Tensor,
        blocks: Vec<Block>,
        input_gradient_scale: f32,
    ) -> Result<Tensor, PlanError> {
        let (x_info, w_info) = (plan.info(x).clone(), plan.info(w).clone());
        for b in &blocks {
            let fits = b.x_first + w_info.cols <= x_info.cols && b.y_first + b.width <= w_info.rows;
            if !fits || b.x_first % 8 != 0 || b.y_first % 8 != 0 {
                return shape_error("linear", format!("{name}: block {b:?} doesn't fit {}", w_info.name));
            }
        }
        let y = plan.result(name, x_info.rows, w_info.rows, &[x, w]);
        plan.run(Linear { x, w, y, blocks, input_gradient_scale });
        Ok(y)
    }
}

pub(super) fn operand(v: &View, transposed: bool) -> Operand {
    Operand { region: v.region_from_here(), ld: v.ld, stride: v.member_stride, transposed }
}

fn product(
    cx: &Lowering,
    name: String,
    alpha: f32,
    a: Operand,
    b: Operand,
    (c, k): (&View, usize),
) -> Command {
    Command::Gemm(Gemm {
        name,
        dtype: cx.dtype(),
        members: cx.members(),
        m: c.rows,
        n: c.cols,
        k,
        alpha,
        a,
        b,
        c: operand(c, false),
    })
}

impl Operation for Linear {
    fn name(&self) -> &'static str {
        "linear"
    }

    fn reads(&self) -> Vec<Tensor> {
        vec![self.x, self.w]
    }

    fn writes(&self) -> Vec<Tensor> {
        vec![self.y]
    }

    fn attributes(&self) -> String {
        if self.blocks.len() == 1 { String::new() } else { format!("{} blocks", self.blocks.len()) }
    }

    fn lower(&self, cx: &Lowering) -> Result<Vec<Command>, PlanError> {
        let (x, w, y) = (cx.view(self.x), cx.view(self.w), cx.view(self.y));
        Ok(self
            .blocks
            .iter()
            .map(|b| {
                let a = operand(&x.slice_cols(b.x_first, w.cols), false);
                let rhs = operand(&w.slice_rows(b.y_first, b.width), true);
                let c = y.slice_cols(b.y_first, b.width);
                product(cx, y.name.clone(), 1.0, a, rhs, (&c, w.cols))
            })
            .collect())
    }

    fn backward(&self, plan: &mut Plan, gradients: &mut Gradients) -> Result<(), PlanError> {
        if let Some(dy) = gradients.of(plan, self.y)? {
            push_linear_backward(
                plan,
                gradients,
                (self.x, self.w, dy),
                &self.blocks,
                self.input_gradient_scale,
            );
        }
        Ok(())
    }
}

/// Adds the gradients of `w`, and of `x` where something flows through it.
pub(super) fn push_linear_backward(
    plan: &mut Plan,
    gradients: &mut Gradients,
    (x, w, dy): (Tensor, Tensor, Tensor),
    blocks: &[Block],
    input_gradient_scale: f32,
) {
    let (rows, w_rows) = (plan.info(dy).rows, plan.info(w).rows);
    let dw = gradient_of(plan, w, w_rows);
    gradients.add(w, dw);
    let dx = plan.info(x).differentiable.then(|| {
        let dx = gradient_of(plan, x, rows);
        gradients.add(x, dx);
        dx
    });
    plan.run(LinearBackward { x, w, dy, dx, dw, blocks: blocks.to_vec(), input_gradient_scale });
}

struct LinearBackward {
    x: Tensor,
    w: Tensor,
    dy: Tensor,
    dx: Option<Tensor>,
    dw: Tensor,
    blocks: Vec<Block>,
    input_gradient_scale: f32,
}

impl Operation for LinearBackward {
    fn name(&self) -> &'static str {
        "linear.backward"
    }

    fn reads(&self) -> Vec<Tensor> {
        vec![self.x, self.w, self.dy]
    }

    fn writes(&self) -> Vec<Tensor> {
        let mut writes = vec![self.dw];
        writes.extend(self.dx);
        writes
    }

    fn attributes(&self) -> String {
        let mut parts = Vec::new();
        if self.blocks.len() > 1 {
            parts.push(format!("{} blocks", self.blocks.len()));
        }
        if self.input_gradient_scale != 1.0 {
            parts.push(format!("input gradient x {}", self.input_gradient_scale));
        }
        parts.join(", ")
    }

    fn lower(&self, cx: &Lowering) -> Result<Vec<Command>, PlanError> {
        let (dy, w, dw) = (cx.view(self.dy), cx.view(self.w), cx.view(self.dw));
        let x = cx.view(self.x).slice_rows(0, dy.rows);
        let mut commands = Vec::new();
        for b in &self.blocks {
            let g = dy.slice_cols(b.y_first, b.width);
            let c = dw.slice_rows(b.y_first, b.width);
            let rhs = operand(&x.slice_cols(b.x_first, w.cols), false);
            commands.push(product(cx, dw.name.clone(), 1.0, operand(&g, true), rhs, (&c, dy.rows)));
        }
        if let Some(dx) = self.dx {
            for b in &self.blocks {
                let g = dy.slice_cols(b.y_first, b.width);
                let c = cx.view(dx).slice_cols(b.x_first, w.cols);
                let rhs = operand(&w.slice_rows(b.y_first, b.width), false);
                let name = cx.view(dx).name.clone();
                commands.push(product(
                    cx,
                    name,
                    self.input_gradient_scale,
                    operand(&g, false),
                    rhs,
                    (&c, b.width),
                ));
            }
        }
        Ok(commands)
    }
}
