//! The kernel tree `cu/` and its typed, checked launchers. Allocates nothing.
//!
//! A launcher takes [`View`]s of buffers, checks their elements, shapes, alignment and owners, and returns a
//! [`foxhunt_device::Launch`] that a program can run. Its file has the name of the `.cu` file.

pub mod env;
pub mod fused;
pub mod layer;
pub mod loss;
pub mod market;
pub mod optim;
pub mod replay;
pub mod test;
mod tree;
mod view;

pub use tree::TREE;
pub use view::{Element, View};

use foxhunt_core::DType;
use foxhunt_device::{Kernel, Launch};

/// A launcher refused its buffers.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("kernel {kernel}: {what}")]
pub struct KernelError {
    /// Which kernel.
    pub kernel: &'static str,
    /// What doesn't fit.
    pub what: String,
}

/// A launch of `teams` teams per member. Elements, shapes and alignment of its buffers have been checked by the caller; that no two
/// members write the same one is checked here.
pub(crate) fn launch<T: bytemuck::NoUninit>(
    kernel: &'static Kernel,
    dtype: DType,
    (teams, members): (usize, usize),
    args: &T,
    reads: &[&View],
    writes: &[&View],
) -> Result<Launch, KernelError> {
    let check = view::Check::new(kernel.name, members);
    writes.iter().try_for_each(|v| check.owned(v))?;
    let number = |n: usize, of: &str| {
        u32::try_from(n)
            .map_err(|_| KernelError { kernel: kernel.name, what: format!("{n} {of} are too many") })
    };
    Ok(Launch {
        kernel,
        dtype,
        defines: Vec::new(),
        maps: Vec::new(),
        beside: false,
        args: bytemuck::bytes_of(args).to_vec(),
        teams: number(teams, "teams")?,
        members: number(members, "members")?,
        reads: reads.iter().map(|v| v.region()).collect(),
        writes: writes.iter().map(|v| v.region()).collect(),
        early: Vec::new(),
    })
}

#[cfg(test)]
mod tests {
    use crate::{Element, View, layer, optim};
    use foxhunt_core::DType;

    const F32: DType = DType::F32;

    fn view(name: &str, element: Element, rows: usize, cols: usize) -> View {
        let (members, ld) = (3, cols.next_multiple_of(8));
        View { name: name.into(), addr: 4096, element, rows, cols, ld, members, member_stride: rows * ld }
    }

    fn real(name: &str, rows: usize, cols: usize) -> View {
        view(name, Element::Real(F32), rows, cols)
    }

    #[test]
    fn what_members_write_is_not_shared() {
        let (x, row) = (real("x", 4, 8), real("row", 1, 8));
        let (image, norm) = (real("g", 2, optim::IMAGE_COLUMNS), view("norm", Element::U64, 1, 2));
        let share = |v: &View| View { members: 1, member_stride: 0, ..v.clone() };
        // Members overlap where the next begins before the last row of the one before ends.
        let overlap = |v: &View| View { member_stride: v.rows * v.ld - 8, ..v.clone() };
        for change in [share, overlap] {
            let (y, sums, norms) = (change(&x), change(&row), change(&norm));
            let told = [
                layer::bias_forward(F32, 3, (&x, &row, &y), true),
                layer::column_sum(F32, 3, &x, &sums),
                layer::softmax_forward(F32, 3, false, &x, &y),
                layer::activate(F32, 3, layer::Activation::Tanh, &x, &y),
                layer::sum(F32, 3, &[&x, &x], &y),
                optim::gradient_norm(F32, 3, &image, &norms),
            ]
            .map(|launch| launch.map(drop).unwrap_err().to_string());
            for error in told {
                assert!(error.ends_with("is written by 3 members but shared"), "{error}");
            }
        }
        // One member alone, and what is read, may be.
        layer::softmax_forward(F32, 1, false, &share(&x), &share(&x)).unwrap();
        layer::bias_forward(F32, 3, (&share(&x), &share(&row), &x), true).unwrap();
    }

    #[test]
    fn a_layer_norm_reads_no_row_that_its_input_has_not() {
        let (x, y, row) = (real("x", 4, 8), real("y", 5, 8), real("row", 1, 8));
        let norm = layer::LayerNorm { x: &x, gain: &row, eps: 1e-5 };
        let error = layer::layer_norm_forward(F32, 3, &norm, (&row, &y)).unwrap_err().to_string();
        assert!(error.ends_with("x has 4 rows, fewer than 5"), "{error}");
        // A gradient may cover the first rows alone.
        let part = real("d", 3, 8);
        layer::layer_norm_backward(F32, 3, &norm, (&part, &part), (&row, &row)).unwrap();
    }
}
