//! Matrix products by cuBLASLt, with algorithms that depend on the shape alone.
//!
//! No algorithm splits K, so a result is one sum in one order whatever the number of members. Which one is taken comes
//! from the library's heuristic, asked once per shape and always for two members: asked for one, it offers hardly
//! anything without split K and its first choice is 10 times slower (measured on an H200). Nothing is timed.

use super::{CudaDevice, CudaMemory, Faults, lock};
use crate::{DeviceError, Gemm, Operand};
use cudarc::cublaslt::sys::{
    self, cublasComputeType_t, cublasLtMatmulAlgo_t, cublasLtMatmulAlgoConfigAttributes_t as Config,
    cublasLtMatmulDescAttributes_t, cublasLtMatmulHeuristicResult_t,
    cublasLtMatmulPreferenceAttributes_t as Preference, cublasLtMatrixLayoutAttribute_t, cublasStatus_t,
    cudaDataType_t,
};
use foxhunt_core::DType;
use std::{
    collections::HashMap,
    ffi::c_void,
    fmt, ptr,
    sync::{Arc, Mutex, atomic::Ordering},
};

const WORKSPACE_BYTES: usize = 32 << 20;
/// Alignment that algorithms may count on, in bytes: what the plan keeps to for every matrix. More would make the
/// choice hang on where a buffer happens to lie.
const ALIGNMENT: u32 = 16;
/// `cublasLtReductionScheme_t`: none, and the mask of all. The heuristic is asked with the first; where it then knows
/// nothing, its unrestricted answers are tried with split K taken out of them.
const NO_REDUCTION: u32 = 0;
const ANY_REDUCTION: u32 = 7;
/// `cublasOperation_t`, which cudarc binds only with the whole of cuBLAS.
const OP_N: i32 = 0;
const OP_T: i32 = 1;
/// Algorithms asked for.
const CANDIDATES: usize = 32;

/// The library, the table of algorithms and the workspace of the device's stream.
pub(super) struct Blas {
    handle: sys::cublasLtHandle_t,
    table: Mutex<HashMap<Shape, Arc<Vec<cublasLtMatmulAlgo_t>>>>,
    workspace: Mutex<Option<CudaMemory>>,
    faults: Faults,
}

/// All that the choice of an algorithm may depend on.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Shape {
    dtype: DType,
    tf32: bool,
    m: usize,
    n: usize,
    k: usize,
    transposed: (bool, bool),
    ld: (usize, usize, usize),
    align: (u32, u32, u32),
}

/// A product, ready to be queued.
pub(super) struct Product {
    gemm: Gemm,
    operation: Operation,
    algorithm: cublasLtMatmulAlgo_t,
    workspace: u64,
    /// What was chosen, for the run's record.
    pub(super) record: String,
}

/// Descriptors of one product at some number of members.
struct Operation {
    desc: Desc,
    a: Layout,
    b: Layout,
    c: Layout,
}

struct Desc(sys::cublasLtMatmulDesc_t, Faults);
struct Layout(sys::cublasLtMatrixLayout_t, Faults);
struct Preferences(sys::cublasLtMatmulPreference_t, Faults);

impl Drop for Desc {
    fn drop(&mut self) {
        // SAFETY: created by the library, destroyed once.
        note(&self.1, unsafe { sys::cublasLtMatmulDescDestroy(self.0) });
    }
}

impl Drop for Layout {
    fn drop(&mut self) {
        // SAFETY: created by the library, destroyed once.
        note(&self.1, unsafe { sys::cublasLtMatrixLayoutDestroy(self.0) });
    }
}

impl Drop for Preferences {
    fn drop(&mut self) {
        // SAFETY: created by the library, destroyed once.
        note(&self.1, unsafe { sys::cublasLtMatmulPreferenceDestroy(self.0) });
    }
}

fn note(faults: &Faults, status: cublasStatus_t) {
    if status != cublasStatus_t::CUBLAS_STATUS_SUCCESS {
        faults.record(format!("destroying a descriptor of cuBLASLt: {status:?}"));
    }
}

/// A status of the library as an error, with the call and the product.
fn status(doing: &str, name: &str, status: cublasStatus_t) -> Result<(), DeviceError> {
    match status {
        cublasStatus_t::CUBLAS_STATUS_SUCCESS => Ok(()),
        other => Err(DeviceError::Gemm { name: name.to_owned(), what: format!("{doing}: {other:?}") }),
    }
}

/// Version of the library, `13.0.2`.
pub(super) fn version() -> String {
    // SAFETY: the library is loaded (`load_libraries`).
    let v = unsafe { sys::cublasLtGetVersion() };
    format!("{}.{}.{}", v / 10_000, v / 100 % 100, v % 100)
}

impl Blas {
    pub(super) fn new(faults: &Faults) -> Self {
        Blas {
            handle: ptr::null_mut(),
            table: Mutex::default(),
            workspace: Mutex::default(),
            faults: faults.clone(),
        }
    }

    /// Creates the library's handle, context current.
    pub(super) fn open(&mut self) -> Result<(), DeviceError> {
        // SAFETY: the library is loaded; destroyed in `close`.
        status("cublasLtCreate", "cuBLASLt", unsafe { sys::cublasLtCreate(&mut self.handle) })
    }

    /// Gives everything back, context current.
    pub(super) fn close(&mut self) {
        if !self.handle.is_null() {
            // SAFETY: created in `open`, destroyed once; the stream is idle.
            let destroyed = unsafe { sys::cublasLtDestroy(self.handle) };
            if destroyed != cublasStatus_t::CUBLAS_STATUS_SUCCESS {
                self.faults.record(format!("destroying cuBLASLt's handle: {destroyed:?}"));
            }
            self.handle = ptr::null_mut();
        }
    }
}

impl CudaDevice {
    /// Chooses the algorithm of `gemm` and makes its descriptors.
    pub(super) fn product(&self, gemm: Gemm) -> Result<Product, DeviceError> {
        gemm.check()?;
        self.bind()?;
        let tf32 = gemm.dtype == DType::F32 && self.tf32.load(Ordering::Relaxed);
        let shape = Shape::of(&gemm, tf32);
        let candidates = self.candidates(&gemm, &shape)?;
        let operation = self.operation(&gemm, tf32, gemm.members, true)?;
        let (chosen, algorithm) = candidates
            .iter()
            .enumerate()
            .find(|(_, algorithm)| self.accepts(&operation, algorithm))
            .ok_or_else(|| DeviceError::Gemm {
                name: gemm.name.clone(),
                what: format!(
                    "none of {} algorithms takes {} members of {shape}",
                    candidates.len(),
                    gemm.members
                ),
            })?;
        let record = format!(
            "{}: {shape}, {} members, cuBLASLt {} {}{}",
            gemm.name,
            gemm.members,
            self.info.cublaslt,
            describe(algorithm),
            // Anything but the first could make a choice depend on the number of members, so it is told.
            if chosen == 0 { String::new() } else { format!(" (choice {chosen} of {})", candidates.len()) }
        );
        let workspace = self.workspace()?;
        Ok(Product { algorithm: *algorithm, gemm, operation, workspace, record })
    }

    pub(super) fn queue_product(&self, product: &Product) -> Result<(), DeviceError> {
        let g = &product.gemm;
        let (alpha, beta) = (g.alpha, 0_f32);
        let at = |x: &Operand| x.region.addr as usize as *mut c_void;
        // Row-major C = A B is column-major C' = B' A': the operands change places.
        // SAFETY: descriptors and handle are live, `Gemm::check` held the shape against the buffers, and the scalars
        // are read before the call returns (pointer mode host).
        let queued = unsafe {
            sys::cublasLtMatmul(
                self.blas.handle,
                product.operation.desc.0,
                (&raw const alpha).cast(),
                at(&g.b),
                product.operation.b.0,
                at(&g.a),
                product.operation.a.0,
                (&raw const beta).cast(),
                at(&g.c),
                product.operation.c.0,
                at(&g.c),
                product.operation.c.0,
                &product.algorithm,
                product.workspace as usize as *mut c_void,
                WORKSPACE_BYTES,
                self.stream.cast(),
            )
        };
        status(&format!("cublasLtMatmul, {}", product.record), &g.name, queued)
    }

    /// Algorithms for the shape without split K, best first, from the table or the heuristic.
    fn candidates(&self, gemm: &Gemm, shape: &Shape) -> Result<Arc<Vec<cublasLtMatmulAlgo_t>>, DeviceError> {
        if let Some(known) = lock(&self.blas.table).get(shape) {
            return Ok(known.clone());
        }
        let (one, two) =
            (self.operation(gemm, shape.tf32, 1, false)?, self.operation(gemm, shape.tf32, 2, false)?);
        let mut told = Vec::new();
        for reduction in [NO_REDUCTION, ANY_REDUCTION] {
            let offered = self.ask(&gemm.name, shape, &two, reduction)?;
            told.push(offered.len());
            let algorithms: Vec<_> = offered
                .into_iter()
                .filter_map(|mut algorithm| {
                    let whole = ensure(&mut algorithm, Config::CUBLASLT_ALGO_CONFIG_SPLITK_NUM, 1)
                        && ensure(
                            &mut algorithm,
                            Config::CUBLASLT_ALGO_CONFIG_REDUCTION_SCHEME,
                            NO_REDUCTION,
                        )
                        && self.accepts(&one, &algorithm)
                        && self.accepts(&two, &algorithm);
                    whole.then_some(algorithm)
                })
                .collect();
            if !algorithms.is_empty() {
                let algorithms = Arc::new(algorithms);
                // Another thread may have been here first: its answer is the same, a function of the shape.
                lock(&self.blas.table).insert(shape.clone(), algorithms.clone());
                return Ok(algorithms);
            }
        }
        Err(DeviceError::Gemm {
            name: gemm.name.clone(),
            what: format!("{shape}: of {told:?} algorithms that cuBLASLt offers none works without split K"),
        })
    }

    /// What the heuristic offers for two members, best first.
    fn ask(
        &self,
        name: &str,
        shape: &Shape,
        two: &Operation,
        reduction: u32,
    ) -> Result<Vec<cublasLtMatmulAlgo_t>, DeviceError> {
        let preferences = self.preferences(name, shape, reduction)?;
        // SAFETY: plain data, for which zero is a value.
        let mut results: [cublasLtMatmulHeuristicResult_t; CANDIDATES] = unsafe { std::mem::zeroed() };
        let mut count = 0;
        // SAFETY: live descriptors; the array has as many elements as are asked for.
        let asked = unsafe {
            sys::cublasLtMatmulAlgoGetHeuristic(
                self.blas.handle,
                two.desc.0,
                two.b.0,
                two.a.0,
                two.c.0,
                two.c.0,
                preferences.0,
                CANDIDATES as i32,
                results.as_mut_ptr(),
                &mut count,
            )
        };
        if asked == cublasStatus_t::CUBLAS_STATUS_NOT_SUPPORTED {
            return Ok(Vec::new());
        }
        status(&format!("algorithms for {shape}"), name, asked)?;
        Ok(results
            .iter()
            .take(count.max(0) as usize)
            .filter(|r| r.state == cublasStatus_t::CUBLAS_STATUS_SUCCESS)
            .map(|r| r.algo)
            .collect())
    }

    /// Whether `algorithm` runs this operation within the workspace.
    fn accepts(&self, op: &Operation, algorithm: &cublasLtMatmulAlgo_t) -> bool {
        // SAFETY: plain data, for which zero is a value.
        let mut result: cublasLtMatmulHeuristicResult_t = unsafe { std::mem::zeroed() };
        // SAFETY: live descriptors and handle.
        let status = unsafe {
            sys::cublasLtMatmulAlgoCheck(
                self.blas.handle,
                op.desc.0,
                op.b.0,
                op.a.0,
                op.c.0,
                op.c.0,
                algorithm,
                &mut result,
            )
        };
        status == cublasStatus_t::CUBLAS_STATUS_SUCCESS && result.workspaceSize <= WORKSPACE_BYTES
    }

    /// Descriptors for `members` members, with the plan's strides or, for questions about the shape alone, dense ones.
    fn operation(
        &self,
        g: &Gemm,
        tf32: bool,
        members: usize,
        strides: bool,
    ) -> Result<Operation, DeviceError> {
        let (faults, name) = (&self.faults, g.name.as_str());
        let compute = match tf32 {
            false => cublasComputeType_t::CUBLAS_COMPUTE_32F,
            true => cublasComputeType_t::CUBLAS_COMPUTE_32F_FAST_TF32,
        };
        let mut desc = Desc(ptr::null_mut(), faults.clone());
        // SAFETY: the library writes a new descriptor; `desc` destroys it.
        let made = unsafe { sys::cublasLtMatmulDescCreate(&mut desc.0, compute, cudaDataType_t::CUDA_R_32F) };
        status("cublasLtMatmulDescCreate", name, made)?;
        use cublasLtMatmulDescAttributes_t::{CUBLASLT_MATMUL_DESC_TRANSA, CUBLASLT_MATMUL_DESC_TRANSB};
        for (attribute, x) in [(CUBLASLT_MATMUL_DESC_TRANSA, &g.b), (CUBLASLT_MATMUL_DESC_TRANSB, &g.a)] {
            let op = if x.transposed { OP_T } else { OP_N };
            // SAFETY: a live descriptor; the attribute has the size of the value.
            let set = unsafe {
                sys::cublasLtMatmulDescSetAttribute(
                    desc.0,
                    attribute,
                    (&raw const op).cast(),
                    size_of_val(&op),
                )
            };
            status("cublasLtMatmulDescSetAttribute", name, set)?;
        }
        let layout = |x: &Operand, rows: usize, cols: usize| {
            let (rows, cols) = if x.transposed { (cols, rows) } else { (rows, cols) };
            let stride = if strides { x.stride } else { rows * x.ld };
            Layout::new(faults, name, g.dtype, (rows, cols, x.ld), (members, stride))
        };
        Ok(Operation {
            a: layout(&g.a, g.m, g.k)?,
            b: layout(&g.b, g.k, g.n)?,
            c: layout(&g.c, g.m, g.n)?,
            desc,
        })
    }

    fn preferences(&self, name: &str, shape: &Shape, reduction: u32) -> Result<Preferences, DeviceError> {
        let mut p = Preferences(ptr::null_mut(), self.faults.clone());
        // SAFETY: the library writes a new preference; `p` destroys it.
        status("cublasLtMatmulPreferenceCreate", name, unsafe {
            sys::cublasLtMatmulPreferenceCreate(&mut p.0)
        })?;
        let set = |attribute: Preference, value: *const c_void, bytes: usize| {
            // SAFETY: a live preference; `value` is of the attribute's size.
            let set = unsafe { sys::cublasLtMatmulPreferenceSetAttribute(p.0, attribute, value, bytes) };
            status(&format!("{attribute:?}"), name, set)
        };
        let workspace: u64 = WORKSPACE_BYTES as u64;
        set(Preference::CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, (&raw const workspace).cast(), 8)?;
        set(Preference::CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK, (&raw const reduction).cast(), 4)?;
        let (a, b, c) = shape.align;
        for (attribute, align) in [
            (Preference::CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, b),
            (Preference::CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES, a),
            (Preference::CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES, c),
            (Preference::CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES, c),
        ] {
            set(attribute, (&raw const align).cast(), 4)?;
        }
        Ok(p)
    }

    /// The stream's workspace, allocated at the first product and so before any capture that needs it.
    fn workspace(&self) -> Result<u64, DeviceError> {
        let mut workspace = lock(&self.blas.workspace);
        if let Some(memory) = &*workspace {
            return Ok(memory.addr);
        }
        let memory = self.allocate(WORKSPACE_BYTES)?;
        Ok(workspace.insert(memory).addr)
    }

    /// Bytes of the workspace, once a product has asked for it.
    pub(crate) fn workspace_bytes(&self) -> usize {
        lock(&self.blas.workspace).as_ref().map_or(0, |_| WORKSPACE_BYTES)
    }

    /// Gives the workspace back, context current and stream idle.
    pub(super) fn free_workspace(&self) {
        if let Some(memory) = lock(&self.blas.workspace).take() {
            self.free(&memory);
        }
    }
}

impl Layout {
    /// A row-major matrix as the library's column-major one: rows and columns change places.
    fn new(
        faults: &Faults,
        name: &str,
        dtype: DType,
        (rows, cols, ld): (usize, usize, usize),
        (members, stride): (usize, usize),
    ) -> Result<Self, DeviceError> {
        let dtype = match dtype {
            DType::Bf16 => cudaDataType_t::CUDA_R_16BF,
            DType::F32 => cudaDataType_t::CUDA_R_32F,
        };
        let mut layout = Layout(ptr::null_mut(), faults.clone());
        // SAFETY: the library writes a new layout; `layout` destroys it.
        let made = unsafe {
            sys::cublasLtMatrixLayoutCreate(&mut layout.0, dtype, cols as u64, rows as u64, ld as i64)
        };
        status(&format!("layout {rows}x{cols}, ld {ld}"), name, made)?;
        use cublasLtMatrixLayoutAttribute_t::{
            CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET,
        };
        let (count, offset) = (members as i32, stride as i64);
        // SAFETY: a live layout; the attribute is an int32.
        status("batch count", name, unsafe {
            sys::cublasLtMatrixLayoutSetAttribute(
                layout.0,
                CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT,
                (&raw const count).cast(),
                4,
            )
        })?;
        // SAFETY: a live layout; the attribute is an int64, in elements.
        status("batch stride", name, unsafe {
            sys::cublasLtMatrixLayoutSetAttribute(
                layout.0,
                CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET,
                (&raw const offset).cast(),
                8,
            )
        })?;
        Ok(layout)
    }
}

impl Shape {
    fn of(g: &Gemm, tf32: bool) -> Self {
        let align = |x: &Operand| {
            let bytes = g.dtype.bytes() as u64;
            let offsets = x.region.addr | (x.ld as u64 * bytes) | (x.stride as u64 * bytes);
            1_u32 << offsets.trailing_zeros().min(ALIGNMENT.trailing_zeros())
        };
        Shape {
            dtype: g.dtype,
            tf32,
            m: g.m,
            n: g.n,
            k: g.k,
            transposed: (g.a.transposed, g.b.transposed),
            ld: (g.a.ld, g.b.ld, g.c.ld),
            align: (align(&g.a), align(&g.b), align(&g.c)),
        }
    }
}

impl fmt::Display for Shape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let t = |transposed: bool| if transposed { 't' } else { 'n' };
        let tf32 = if self.tf32 { " tf32" } else { "" };
        write!(
            f,
            "{}{tf32} {}{} m {} n {} k {} ld {}/{}/{}",
            self.dtype,
            t(self.transposed.0),
            t(self.transposed.1),
            self.m,
            self.n,
            self.k,
            self.ld.0,
            self.ld.1,
            self.ld.2
        )?;
        if self.align != (ALIGNMENT, ALIGNMENT, ALIGNMENT) {
            write!(f, " aligned to {}/{}/{} bytes", self.align.0, self.align.1, self.align.2)?;
        }
        Ok(())
    }
}

/// Gives a 32-bit property of an algorithm this value; false where that can't be.
fn ensure(algorithm: &mut cublasLtMatmulAlgo_t, property: Config, value: u32) -> bool {
    let holds = |algorithm: &_| get(algorithm, property, size_of::<u32>()) == Some(u64::from(value));
    if holds(algorithm) {
        return true;
    }
    // SAFETY: a live algorithm; these properties are 32 bits wide.
    let set = unsafe {
        sys::cublasLtMatmulAlgoConfigSetAttribute(
            algorithm,
            property,
            (&raw const value).cast(),
            size_of::<u32>(),
        )
    };
    set == cublasStatus_t::CUBLAS_STATUS_SUCCESS && holds(algorithm)
}

/// A property of an algorithm, `bytes` wide.
fn get(algorithm: &cublasLtMatmulAlgo_t, property: Config, bytes: usize) -> Option<u64> {
    let (mut value, mut written) = (0_u64, 0);
    // SAFETY: a live algorithm; the buffer holds up to 8 bytes, little-endian, and `bytes` is at most that.
    let got = unsafe {
        sys::cublasLtMatmulAlgoConfigGetAttribute(
            algorithm,
            property,
            (&raw mut value).cast(),
            bytes,
            &mut written,
        )
    };
    (got == cublasStatus_t::CUBLAS_STATUS_SUCCESS && written <= 8).then_some(value)
}

/// All of an algorithm that can be named.
fn describe(algorithm: &cublasLtMatmulAlgo_t) -> String {
    [
        ("algo", Config::CUBLASLT_ALGO_CONFIG_ID, 4),
        ("tile", Config::CUBLASLT_ALGO_CONFIG_TILE_ID, 4),
        ("stages", Config::CUBLASLT_ALGO_CONFIG_STAGES_ID, 4),
        ("split_k", Config::CUBLASLT_ALGO_CONFIG_SPLITK_NUM, 4),
        ("reduction", Config::CUBLASLT_ALGO_CONFIG_REDUCTION_SCHEME, 4),
        ("swizzle", Config::CUBLASLT_ALGO_CONFIG_CTA_SWIZZLING, 4),
        ("custom", Config::CUBLASLT_ALGO_CONFIG_CUSTOM_OPTION, 4),
        ("inner", Config::CUBLASLT_ALGO_CONFIG_INNER_SHAPE_ID, 2),
        ("cluster", Config::CUBLASLT_ALGO_CONFIG_CLUSTER_SHAPE_ID, 2),
    ]
    .iter()
    .map(|&(label, property, bytes)| match get(algorithm, property, bytes) {
        Some(value) => format!("{label} {value}"),
        None => format!("{label} ?"),
    })
    .collect::<Vec<_>>()
    .join(" ")
}
