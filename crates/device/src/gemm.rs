use crate::{DeviceError, Region};
use foxhunt_core::DType;

/// A matrix in memory, row-major, one per member.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Operand {
    /// The buffer.
    pub region: Region,
    /// Elements from one row to the next; a multiple of 8 (16 bytes of BF16), or tensor cores fall to slow paths.
    pub ld: usize,
    /// Elements from one member's matrix to the next; 0 where all share one.
    pub stride: usize,
    /// Whether the product takes its transpose.
    pub transposed: bool,
}

/// `C[m, n] = alpha * op(A)[m, k] · op(B)[k, n]` for each member: products of BF16 (or F32) in F32 accumulators,
/// rounded to nearest once at the store. No split of K in narrow partial sums, no TF32.
#[derive(Clone, Debug, PartialEq)]
pub struct Gemm {
    /// What it is for, `s1.forward`.
    pub name: String,
    /// Storage type of A, B and C.
    pub dtype: DType,
    /// Population members.
    pub members: usize,
    /// Rows of C.
    pub m: usize,
    /// Columns of C.
    pub n: usize,
    /// Inner dimension.
    pub k: usize,
    /// Factor, a host value: frozen into a captured graph.
    pub alpha: f32,
    /// Left operand.
    pub a: Operand,
    /// Right operand.
    pub b: Operand,
    /// Result.
    pub c: Operand,
}

impl Gemm {
    /// Checks that the operands hold what the shape says.
    ///
    /// # Errors
    /// [`DeviceError::Gemm`] naming the operand.
    pub fn check(&self) -> Result<(), DeviceError> {
        let wrong = |what: String| Err(DeviceError::Gemm { name: self.name.clone(), what });
        if self.m == 0 || self.n == 0 || self.k == 0 || self.members == 0 {
            return wrong(format!(
                "empty product {}x{}x{} of {} members",
                self.m, self.n, self.k, self.members
            ));
        }
        if self.c.transposed {
            return wrong("the result can't be transposed".into());
        }
        for (x, label, rows, cols) in
            [(&self.a, "A", self.m, self.k), (&self.b, "B", self.k, self.n), (&self.c, "C", self.m, self.n)]
        {
            let (rows, cols) = if x.transposed { (cols, rows) } else { (rows, cols) };
            if x.ld < cols {
                return wrong(format!("{label} ({}) has {cols} columns but ld {}", x.region.name, x.ld));
            }
            let elements = (self.members - 1) * x.stride + (rows - 1) * x.ld + cols;
            if elements * self.dtype.bytes() > x.region.bytes {
                return wrong(format!(
                    "{label} ({}) holds {} bytes, the product reads {elements} elements",
                    x.region.name, x.region.bytes
                ));
            }
        }
        if self.members > 1 && self.c.stride == 0 {
            return wrong("members would overwrite one another's result".into());
        }
        Ok(())
    }
}
