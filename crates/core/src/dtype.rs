use std::{fmt, str::FromStr};

/// How real numbers are stored in device memory. Arithmetic is in F32 either way.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum DType {
    /// bfloat16: the default on a GPU of compute capability 8.0 or newer.
    Bf16,
    /// IEEE single precision: the default on a CPU, and the baseline that BF16 is measured against.
    F32,
}

impl DType {
    /// Both, in the order of tables.
    pub const ALL: [DType; 2] = [DType::Bf16, DType::F32];

    /// Bytes of one element.
    pub const fn bytes(self) -> usize {
        match self {
            DType::Bf16 => 2,
            DType::F32 => 4,
        }
    }

    /// The name used in symbols, file names and options.
    pub const fn name(self) -> &'static str {
        match self {
            DType::Bf16 => "bf16",
            DType::F32 => "f32",
        }
    }
}

impl fmt::Display for DType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for DType {
    type Err = String;

    fn from_str(s: &str) -> Result<Self, String> {
        match s {
            "bf16" => Ok(DType::Bf16),
            "f32" => Ok(DType::F32),
            _ => Err(format!("unknown dtype '{s}': use bf16 or f32")),
        }
    }
}
