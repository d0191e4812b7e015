//! Launcher of `maths.cu`.

use crate::{Element, KernelError, View, launch, tree, view::Check};
use foxhunt_core::DType;
use foxhunt_device::{Launch, MemberPtr};

const PACKS_PER_TEAM: usize = 256;

/// A function of `math.cuh`, or an operation of `platform.cuh`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(i32)]
pub enum Function {
    /// `exp(x)`.
    Exp = 0,
    /// `log(x)`.
    Log = 1,
    /// `log(1 + x)`.
    Log1p = 2,
    /// `tanh(x)`.
    Tanh = 3,
    /// `1 / (1 + exp(-x))`.
    Sigmoid = 4,
    /// `sin(x)`.
    Sin = 5,
    /// `cos(x)`.
    Cos = 6,
    /// `sqrt(x)`.
    SquareRoot = 7,
    /// `x x' + x''`, rounded once: of element i with elements i + 8 and i + 16, round the end.
    Fused = 8,
    /// `x / x'`.
    Divide = 9,
    /// `1 / sqrt(x)` of normal x > 0.
    InverseSqrt = 10,
    /// `1 / x` of normal x > 0 up to 2^125.
    Reciprocal = 11,
}

impl Function {
    /// All of them.
    pub const ALL: [Function; 12] = [
        Function::Exp,
        Function::Log,
        Function::Log1p,
        Function::Tanh,
        Function::Sigmoid,
        Function::Sin,
        Function::Cos,
        Function::SquareRoot,
        Function::Fused,
        Function::Divide,
        Function::InverseSqrt,
        Function::Reciprocal,
    ];
}

#[repr(C)]
#[derive(Clone, Copy, bytemuck::Pod, bytemuck::Zeroable)]
struct MathsArgs {
    x: MemberPtr,
    y: MemberPtr,
    function: i32,
    packs: i32,
    scalar: i32,
    reserved: i32,
}

/// `y = f(x)`, both `[1, n]` with n whole packs of eight; one value at a time if `scalar`.
///
/// # Errors
/// Buffers that don't fit.
pub fn maths(
    dtype: DType,
    members: usize,
    function: Function,
    scalar: bool,
    (x, y): (&View, &View),
) -> Result<Launch, KernelError> {
    let check = Check::new("maths", members);
    for v in [x, y] {
        check.view(v, Element::Real(dtype), 1, x.cols)?;
        check.that(v.cols.is_multiple_of(8), || format!("{} is not whole packs", v.name))?;
    }
    let packs = x.cols / 8;
    let args = MathsArgs {
        x: x.ptr(),
        y: y.ptr(),
        function: function as i32,
        packs: packs as i32,
        scalar: scalar.into(),
        reserved: 0,
    };
    launch(&tree::MATHS, dtype, (packs.div_ceil(PACKS_PER_TEAM), members), &args, &[x], &[y])
}
