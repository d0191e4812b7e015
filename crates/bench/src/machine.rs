//! `bench machine`: what the machine does at its best, which every other workload is a share of.

use crate::{BenchError, Outcome, Timing};
use foxhunt_core::DType;
use foxhunt_device::{Arena, Command, Device, Gemm, Operand, Program};
use foxhunt_kernels::{Element, TREE, View, layer};
use serde::Serialize;

/// Columns of the matrix that is copied.
const COPY_COLUMNS: usize = 4096;

/// Sizes of the measurement.
#[derive(Clone, Copy, Debug)]
pub struct MachineBench {
    /// Bytes of the buffer that is copied: much more than caches hold.
    pub copy_bytes: usize,
    /// Rows, columns and inner dimension of the product.
    pub matrix: usize,
    /// Runs of one timing.
    pub runs: u32,
    /// Timings; the median is reported.
    pub repetitions: u32,
}

/// What the machine does at its best in one storage type.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Machine {
    /// Bytes read and written by a copy, 1e9 a second.
    pub copy_gb_per_s: f64,
    /// Operations of the library's product, 1e12 a second.
    pub matrix_tflop_per_s: f64,
}

/// A measurement of the machine.
#[derive(Clone, Debug, Serialize)]
pub struct MachineResult {
    /// Storage type.
    pub dtype: String,
    /// Bytes of the buffer that was copied.
    pub copy_bytes: usize,
    /// Time of a copy.
    pub copy: Timing,
    /// Rows, columns and inner dimension of the product.
    pub matrix: usize,
    /// Time of a product.
    pub product: Timing,
    /// The rates.
    #[serde(flatten)]
    pub machine: Machine,
}

impl MachineBench {
    /// Sizes that take a fraction of a second on `device`.
    pub fn of(device: &Device) -> Self {
        if device.is_cuda() {
            MachineBench { copy_bytes: 1 << 30, matrix: 8192, runs: 5, repetitions: 9 }
        } else {
            MachineBench { copy_bytes: 1 << 28, matrix: 1024, runs: 1, repetitions: 5 }
        }
    }

    /// Measures `device` in `dtype`, with TF32 in products of F32 where the device was told so.
    ///
    /// # Errors
    /// The device's.
    pub fn run(&self, device: &Device, dtype: DType) -> Result<MachineResult, BenchError> {
        let (copy, copy_bytes) = self.copy(device, dtype)?;
        let product = self.product(device, dtype)?;
        let per_us = |amount: f64, t: &Timing| if t.us > 0.0 { amount / t.us } else { 0.0 };
        let operations = 2.0 * (self.matrix as f64).powi(3);
        Ok(MachineResult {
            dtype: dtype.to_string(),
            copy_bytes,
            copy,
            matrix: self.matrix,
            product,
            machine: Machine {
                copy_gb_per_s: per_us(2.0 * copy_bytes as f64, &copy) / 1e3,
                matrix_tflop_per_s: per_us(operations, &product) / 1e6,
            },
        })
    }

    /// A copy by the kernel `sum` with one summand.
    fn copy(&self, device: &Device, dtype: DType) -> Result<(Timing, usize), BenchError> {
        let rows = (self.copy_bytes / (COPY_COLUMNS * dtype.bytes())).max(1);
        let bytes = rows * COPY_COLUMNS * dtype.bytes();
        let arena = device.allocate(2 * bytes)?;
        let view = |name: &str, at: usize| View {
            name: name.into(),
            addr: arena.addr() + at as u64,
            element: Element::Real(dtype),
            rows,
            cols: COPY_COLUMNS,
            ld: COPY_COLUMNS,
            members: 1,
            member_stride: rows * COPY_COLUMNS,
        };
        let (x, y) = (view("x", 0), view("y", bytes));
        let launch = layer::sum(dtype, 1, &[&x], &y).map_err(foxhunt_nn::PlanError::from)?;
        let timing = self.time(device, Command::Launch(launch))?;
        Ok((timing, bytes))
    }

    /// A square product by the library.
    fn product(&self, device: &Device, dtype: DType) -> Result<Timing, BenchError> {
        let n = self.matrix;
        let bytes = n * n * dtype.bytes();
        let arena: Arena = device.allocate(3 * bytes)?;
        // Zeros would be multiplied at less power, and so faster, than numbers are.
        fill(&arena, 2 * n * n, dtype)?;
        let operand = |name: &str, i: usize, transposed: bool| Operand {
            region: foxhunt_device::Region {
                name: name.into(),
                addr: arena.addr() + (i * bytes) as u64,
                bytes,
            },
            ld: n,
            stride: n * n,
            transposed,
        };
        let gemm = Gemm {
            name: "machine.product".into(),
            dtype,
            members: 1,
            m: n,
            n,
            k: n,
            alpha: 1.0,
            a: operand("a", 0, false),
            b: operand("b", 1, true),
            c: operand("c", 2, false),
        };
        self.time(device, Command::Gemm(gemm))
    }

    fn time(&self, device: &Device, command: Command) -> Result<Timing, BenchError> {
        let program = Program::compile(device, &TREE, vec![command])?;
        program.run(1)?;
        Ok(Timing::of(program.time_us(self.runs, self.repetitions)?))
    }
}

/// Writes `count` numbers in -1 to 1 that repeat nothing a product could profit from.
fn fill(arena: &Arena, count: usize, dtype: DType) -> Result<(), BenchError> {
    let values = (0..count as u32).map(|i| {
        let h = (i ^ (i >> 15)).wrapping_mul(2_246_822_519);
        (f64::from(h ^ (h >> 13)) / f64::from(1_u32 << 31) - 1.0) as f32
    });
    match dtype {
        DType::F32 => arena.write(0, &values.collect::<Vec<f32>>())?,
        DType::Bf16 => {
            let bits = values.map(|x| foxhunt_core::Bf16::from_f32(x).to_bits());
            arena.write(0, &bits.collect::<Vec<u16>>())?;
        }
    }
    Ok(())
}

impl Outcome for MachineResult {
    const WORKLOAD: &'static str = "machine";

    fn columns() -> Vec<(&'static str, usize)> {
        vec![("dtype", 5), ("copy MiB", 9), ("GB/s", 8), ("product", 8), ("TFLOP/s", 9)]
    }

    fn cells(&self) -> Vec<String> {
        vec![
            self.dtype.clone(),
            format!("{}", self.copy_bytes >> 20),
            format!("{:.1}", self.machine.copy_gb_per_s),
            format!("{}^3", self.matrix),
            format!("{:.3}", self.machine.matrix_tflop_per_s),
        ]
    }
}
