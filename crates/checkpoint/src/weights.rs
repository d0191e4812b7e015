//! One member's weights as a file, by logical part: what a weight *is*, not where it lies in an image.
//!
//! A part of a matrix is `[rows, cols]`; a part of a parameter that does not decay (a bias or a gain) is flat, `[n]`.
//! Which member it was is not in the file, so a population may be thinned or reordered without a byte changing.
//!
//! Version 1 holds exactly one tensor per part. A parameter that owns a low word besides (a BF16 pair) will add a
//! second tensor under the part's name and the suffix [`LOW`], of the same shape, and raise the version; until then
//! [`apply`] refuses such a tensor as it refuses every other that it doesn't know.

use crate::{
    CheckpointError, Result,
    disk::{Disk, parent},
    format::{self, Entry, Reader},
};
use foxhunt_core::{Bf16, DType};
use foxhunt_kernels::Element;
use foxhunt_nn::{Net, NetParam, Runtime};
use safetensors::Dtype;
use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

const KIND: &str = "weights";
/// Suffix reserved for the low word of a pair: `w_s1.lo`.
const LOW: &str = ".lo";

/// A tensor of a file of weights.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NamedTensor {
    /// How its numbers are stored.
    pub dtype: DType,
    /// `[rows, cols]`, or `[n]`.
    pub shape: Vec<usize>,
    /// Little-endian, row by row.
    pub bytes: Vec<u8>,
}

impl NamedTensor {
    /// Its numbers, exactly.
    pub fn values(&self) -> Vec<f32> {
        match self.dtype {
            DType::Bf16 => words(&self.bytes).map(|w: [u8; 2]| from_bf16(w)).collect(),
            DType::F32 => words(&self.bytes).map(f32::from_le_bytes).collect(),
        }
    }

    /// Its bytes in another storage type: BF16 to F32 exactly, F32 to BF16 rounded to nearest.
    fn bytes_as(&self, dtype: DType) -> Vec<u8> {
        match (self.dtype, dtype) {
            (DType::Bf16, DType::F32) => {
                words(&self.bytes).flat_map(|w: [u8; 2]| from_bf16(w).to_le_bytes()).collect()
            }
            (DType::F32, DType::Bf16) => words(&self.bytes)
                .flat_map(|w| Bf16::from_f32(f32::from_le_bytes(w)).to_bits().to_le_bytes())
                .collect(),
            _ => self.bytes.clone(),
        }
    }
}

fn words<const N: usize>(bytes: &[u8]) -> impl Iterator<Item = [u8; N]> + '_ {
    bytes.as_chunks().0.iter().copied()
}

fn from_bf16(word: [u8; 2]) -> f32 {
    Bf16::from_bits(u16::from_le_bytes(word)).to_f32()
}

/// The tensors of a file of weights, by name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NamedTensors {
    source: PathBuf,
    tensors: BTreeMap<String, NamedTensor>,
}

impl NamedTensors {
    /// The file they came from, for messages.
    pub fn source(&self) -> &Path {
        &self.source
    }

    /// The tensor called `name`.
    pub fn get(&self, name: &str) -> Option<&NamedTensor> {
        self.tensors.get(name)
    }

    /// All, by name.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &NamedTensor)> {
        self.tensors.iter().map(|(name, t)| (name.as_str(), t))
    }
}

/// Writes one member's weights to a file, whole or not at all.
///
/// # Errors
/// The device's, or the disk's.
pub fn save_weights(runtime: &Runtime, net: &Net, member: usize, path: &Path) -> Result<()> {
    let mut disk = Disk::default();
    disk.write_file(path, |out| write(out, path, runtime, net, member))?;
    disk.sync_dir(parent(path))
}

pub(crate) fn write(
    out: &mut crate::disk::FileWriter<'_>,
    path: &Path,
    runtime: &Runtime,
    net: &Net,
    member: usize,
) -> Result<()> {
    let dtype = storage(runtime, net, path)?;
    let image = runtime.read_member_bytes(net.weight, member)?;
    let dtype_in_file = match dtype {
        DType::Bf16 => Dtype::BF16,
        DType::F32 => Dtype::F32,
    };
    let entries = parts(net)
        .map(|(param, part)| {
            let name = param.spec.parts[part].name.clone();
            (Entry { name, dtype: dtype_in_file, shape: shape(param, part) }, (param, part))
        })
        .collect();
    format::write(out, path, (KIND, &[]), entries, |_, (param, part)| {
        let row = param.spec.cols * dtype.bytes();
        let starts = param.part_elements(*part).map(|at| at * dtype.bytes());
        Ok(starts.flat_map(|at| &image[at..at + row]).copied().collect())
    })
}

/// Reads a file of weights. What the tensors are for is checked by [`apply`].
///
/// # Errors
/// A file that can't be read, is damaged, or is of another kind or version; a tensor that is neither BF16 nor F32.
pub fn load_weights(path: &Path) -> Result<NamedTensors> {
    let mut reader = Reader::open(path, KIND)?;
    let mut tensors = BTreeMap::new();
    for entry in reader.entries() {
        let dtype = match entry.dtype {
            Dtype::BF16 => DType::Bf16,
            Dtype::F32 => DType::F32,
            _ => return Err(CheckpointError::tensor(path, &entry.name, "BF16 or F32", entry.shown())),
        };
        let bytes = reader.read(&entry.name)?;
        tensors.insert(entry.name, NamedTensor { dtype, shape: entry.shape, bytes });
    }
    Ok(NamedTensors { source: path.to_owned(), tensors })
}

/// Writes weights into one member of a plan, converting them to its storage type; padding and other images stay as
/// they are (a run that starts from weights copies them to its target too).
///
/// # Errors
/// Tensors that are not exactly those of the net, in which case nothing is written; or the device's.
pub fn apply(runtime: &Runtime, net: &Net, member: usize, weights: &NamedTensors) -> Result<()> {
    let path = weights.source();
    let dtype = storage(runtime, net, path)?;
    let mut image = runtime.read_member_bytes(net.weight, member)?;
    for (param, part) in parts(net) {
        let (name, expected) = (&param.spec.parts[part].name, shape(param, part));
        let Some(tensor) = weights.get(name) else {
            return Err(CheckpointError::tensor(
                path,
                name,
                format!("{expected:?}"),
                "no tensor of this name",
            ));
        };
        let whole = tensor.bytes.len() == expected.iter().product::<usize>() * tensor.dtype.bytes();
        if tensor.shape != expected || !whole {
            return Err(CheckpointError::tensor(
                path,
                name,
                format!("{expected:?}"),
                format!("{:?}", tensor.shape),
            ));
        }
        let row = param.spec.cols * dtype.bytes();
        let bytes = tensor.bytes_as(dtype);
        for (at, data) in param.part_elements(part).zip(bytes.chunks_exact(row)) {
            let at = at * dtype.bytes();
            image[at..at + row].copy_from_slice(data);
        }
    }
    refuse_unknown(net, weights)?;
    Ok(runtime.write_member_bytes(net.weight, member, &image)?)
}

fn refuse_unknown(net: &Net, weights: &NamedTensors) -> Result<()> {
    let known = |name: &str| parts(net).any(|(param, part)| param.spec.parts[part].name == name);
    let Some((name, tensor)) = weights.iter().find(|(name, _)| !known(name)) else { return Ok(()) };
    let found = match name.strip_suffix(LOW) {
        Some(high) if known(high) => "the low words of pairs, which this foxhunt does not read".to_owned(),
        _ => format!("an unknown tensor {:?}", tensor.shape),
    };
    let expected = format!("only the parts of net {}", net.name);
    Err(CheckpointError::tensor(weights.source(), name, expected, found))
}

fn parts(net: &Net) -> impl Iterator<Item = (&NetParam, usize)> {
    net.params.iter().flat_map(|p| (0..p.spec.parts.len()).map(move |part| (p, part)))
}

fn shape(param: &NetParam, part: usize) -> Vec<usize> {
    let (rows, cols) = (param.spec.parts[part].rows, param.spec.cols);
    if param.spec.decays { vec![rows, cols] } else { vec![rows * cols] }
}

fn storage(runtime: &Runtime, net: &Net, path: &Path) -> Result<DType> {
    match runtime.view(net.weight).element {
        Element::Real(dtype) => Ok(dtype),
        other => {
            Err(CheckpointError::tensor(path, &net.name, "weights in BF16 or F32", format!("{other:?}")))
        }
    }
}
