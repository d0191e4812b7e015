//! One member's weights as a file, by logical part: what a weight *is*, not where it lies in an image.
//!
//! A part of a matrix is `[rows, cols]`; a part of a parameter that does not decay (a bias or a gain) is flat, `[n]`.
//! Which member it was is not in the file, so a population may be thinned or reordered without a byte changing.
//!
//! What is written is version 1: exactly one tensor per part. Of pairs that is the high word, all that a policy reads, so
//! that a file in BF16 is half of one in F32; the low word is of use to training alone, and is in the state of the run.
//! Version 2 is read, and no longer written: earlier programs kept pairs in it, beside every part, which is then the high
//! word, the low word under the part's name and the suffix [`LOW`], of the same shape.
//!
//! | into / from | BF16 | BF16, version 2 | F32 |
//! |---|---|---|---|
//! | plain BF16 | exact | the high word | to nearest |
//! | pairs | high word exact, low word 0 | exact | high word to nearest, remainder to nearest |
//! | F32 | exact | the sum | exact |

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
/// What is written.
const VERSION: u64 = 1;
/// What earlier programs wrote pairs as.
const PAIRED: u64 = 2;
/// Suffix of the low word of a pair: `w_s1.lo`.
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
}

/// A part in the storage of a plan: its bytes, and those of its low words where the plan has them.
struct Stored {
    bytes: Vec<u8>,
    low: Vec<u8>,
}

/// The table at the head of this file. `low` are the file's low words, `paired` says whether the plan has any.
fn convert(high: &NamedTensor, low: Option<&NamedTensor>, dtype: DType, paired: bool) -> Stored {
    let to_bf16 = |x: Bf16| x.to_bits().to_le_bytes();
    let (bytes, stored_low) = match (high.dtype, dtype) {
        (DType::F32, DType::F32) => (high.bytes.clone(), None),
        (DType::Bf16, DType::F32) => {
            let zeros = std::iter::repeat(0.0);
            let lows: Box<dyn Iterator<Item = f32>> = match low {
                Some(low) => Box::new(low.values().into_iter()),
                None => Box::new(zeros),
            };
            // A low word of 0 leaves the high word's bits: -0 + 0 would be 0.
            let sum = |(high, low): (f32, f32)| if low == 0.0 { high } else { high + low };
            (high.values().into_iter().zip(lows).flat_map(|pair| sum(pair).to_le_bytes()).collect(), None)
        }
        (DType::Bf16, DType::Bf16) => (high.bytes.clone(), low.map(|low| low.bytes.clone())),
        (DType::F32, DType::Bf16) if paired => {
            let pairs: Vec<(Bf16, Bf16)> = high.values().into_iter().map(Bf16::split).collect();
            let lows = pairs.iter().flat_map(|pair| to_bf16(pair.1)).collect();
            (pairs.iter().flat_map(|pair| to_bf16(pair.0)).collect(), Some(lows))
        }
        (DType::F32, DType::Bf16) => {
            (high.values().into_iter().flat_map(|x| to_bf16(Bf16::from_f32(x))).collect(), None)
        }
    };
    let low = stored_low.unwrap_or_else(|| vec![0; bytes.len()]);
    Stored { bytes, low }
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
    /// Whether every part has low words beside it.
    paired: bool,
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

/// Writes one member's weights to a file, whole or not at all; of pairs the high words.
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
    format::write(out, path, (KIND, VERSION, &[]), entries, |_, (param, part)| {
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
    read(path, Reader::open(path, KIND, PAIRED)?)
}

/// The same of the bytes of a file that has been read.
pub(crate) fn from_bytes(path: &Path, bytes: Vec<u8>) -> Result<NamedTensors> {
    read(path, Reader::of_bytes(path, bytes, KIND, PAIRED)?)
}

fn read(path: &Path, mut reader: Reader) -> Result<NamedTensors> {
    let paired = reader.about("version").and_then(serde_json::Value::as_u64) == Some(PAIRED);
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
    Ok(NamedTensors { source: path.to_owned(), paired, tensors })
}

/// Writes weights into one member of a plan, converting them to its storage (the table at the head of this file);
/// padding and other images stay as they are (a run that starts from weights copies them to its target too).
///
/// # Errors
/// Tensors that are not exactly those of the net, in which case nothing is written; or the device's.
pub fn apply(runtime: &Runtime, net: &Net, member: usize, weights: &NamedTensors) -> Result<()> {
    let path = weights.source();
    let dtype = storage(runtime, net, path)?;
    let mut image = runtime.read_member_bytes(net.weight, member)?;
    let mut low_image = net.low.map(|low| runtime.read_member_bytes(low.weight, member)).transpose()?;
    for (param, part) in parts(net) {
        let (name, expected) = (&param.spec.parts[part].name, shape(param, part));
        let high = tensor(weights, name, &expected)?;
        let low = if weights.paired { Some(low_words(weights, name, &expected, high)?) } else { None };
        let stored = convert(high, low, dtype, low_image.is_some());
        let row = param.spec.cols * dtype.bytes();
        let place = |image: &mut [u8], bytes: &[u8]| {
            for (at, data) in param.part_elements(part).zip(bytes.chunks_exact(row)) {
                let at = at * dtype.bytes();
                image[at..at + row].copy_from_slice(data);
            }
        };
        place(&mut image, &stored.bytes);
        if let Some(low_image) = &mut low_image {
            place(low_image, &stored.low);
        }
    }
    refuse_unknown(net, weights)?;
    runtime.write_member_bytes(net.weight, member, &image)?;
    if let (Some(low), Some(low_image)) = (net.low, low_image) {
        runtime.write_member_bytes(low.weight, member, &low_image)?;
    }
    Ok(())
}

/// The tensor of this name, if it has this shape.
fn tensor<'a>(weights: &'a NamedTensors, name: &str, expected: &[usize]) -> Result<&'a NamedTensor> {
    let wrong =
        |found: String| CheckpointError::tensor(weights.source(), name, format!("{expected:?}"), found);
    let tensor = weights.get(name).ok_or_else(|| wrong("no tensor of this name".into()))?;
    let whole = tensor.bytes.len() == expected.iter().product::<usize>() * tensor.dtype.bytes();
    if tensor.shape == expected && whole { Ok(tensor) } else { Err(wrong(format!("{:?}", tensor.shape))) }
}

/// The low words of a part, which are BF16 as its high words are.
fn low_words<'a>(
    weights: &'a NamedTensors,
    name: &str,
    expected: &[usize],
    high: &NamedTensor,
) -> Result<&'a NamedTensor> {
    let name = format!("{name}{LOW}");
    let low = tensor(weights, &name, expected)?;
    if (high.dtype, low.dtype) == (DType::Bf16, DType::Bf16) {
        return Ok(low);
    }
    let found = format!("{} beside {}", low.dtype, high.dtype);
    Err(CheckpointError::tensor(weights.source(), &name, "a pair of bf16 words", found))
}

fn refuse_unknown(net: &Net, weights: &NamedTensors) -> Result<()> {
    let known = |name: &str| parts(net).any(|(param, part)| param.spec.parts[part].name == name);
    let low = |name: &str| name.strip_suffix(LOW).is_some_and(known);
    let expects = |name: &str| known(name) || weights.paired && low(name);
    let Some((name, tensor)) = weights.iter().find(|(name, _)| !expects(name)) else { return Ok(()) };
    let found = if low(name) {
        format!("the low words of pairs, in a file of version {VERSION}")
    } else {
        format!("an unknown tensor {:?}", tensor.shape)
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
