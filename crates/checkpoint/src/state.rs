//! Tensors of a plan as raw bytes, and a JSON value of the host's: what a run needs to go on bit for bit.
//!
//! A tensor is stored under its name in the plan as `[members, rows, cols]`, without padding; a struct's bytes are a
//! fourth dimension. The host's value is in the file's metadata. Numbers in it come back exactly; what JSON can't say
//! (NaN, infinities) must be stored as bits.

use crate::{
    CheckpointError, Result,
    disk::{Disk, FileWriter, parent},
    format::{self, Entry, Reader},
};
use foxhunt_core::DType;
use foxhunt_kernels::{Element, View};
use foxhunt_nn::{Runtime, Tensor};
use safetensors::Dtype;
use serde_json::Value;
use std::path::Path;

const KIND: &str = "state";
const VERSION: u64 = 1;
const HOST: &str = "host";

/// Writes tensors and the host's value to a file, whole or not at all.
///
/// # Errors
/// A tensor twice, the device's, or the disk's.
pub fn save_state(path: &Path, runtime: &Runtime, tensors: &[Tensor], host: &Value) -> Result<()> {
    let mut disk = Disk::default();
    disk.write_file(path, |out| write(out, path, runtime, tensors, host))?;
    disk.sync_dir(parent(path))
}

pub(crate) fn write(
    out: &mut FileWriter<'_>,
    path: &Path,
    runtime: &Runtime,
    tensors: &[Tensor],
    host: &Value,
) -> Result<()> {
    let entries = tensors.iter().map(|t| (entry(runtime.view(*t)), *t)).collect();
    format::write(out, path, (KIND, VERSION, &[(HOST, host.clone())]), entries, |_, t| {
        Ok(runtime.read_bytes(*t)?)
    })
}

/// Reads back exactly these tensors and returns the host's value. Nothing is written to the plan unless the file
/// holds all of them, and no other, in the same shape and storage type.
///
/// # Errors
/// A file that can't be read, is damaged or of another version, or holds other tensors; the device's, which may leave
/// some tensors written.
pub fn load_state(path: &Path, runtime: &Runtime, tensors: &[Tensor]) -> Result<Value> {
    let mut reader = Reader::open(path, KIND, VERSION)?;
    let found = reader.entries();
    let wanted: Vec<Entry> = tensors.iter().map(|t| entry(runtime.view(*t))).collect();
    for want in &wanted {
        match found.iter().find(|f| f.name == want.name) {
            Some(f) if f == want => {}
            other => {
                let other = other.map_or("no tensor of this name".to_owned(), Entry::shown);
                return Err(CheckpointError::tensor(path, &want.name, want.shown(), other));
            }
        }
    }
    if let Some(f) = found.iter().find(|f| wanted.iter().all(|want| want.name != f.name)) {
        return Err(CheckpointError::tensor(path, &f.name, "only the tensors of this run", f.shown()));
    }
    let host = host_of(&reader);
    for (want, t) in wanted.iter().zip(tensors) {
        runtime.write_bytes(*t, &reader.read(&want.name)?)?;
    }
    Ok(host)
}

/// The host's value alone, for what must be known before there is a plan.
///
/// # Errors
/// A file that can't be read, is damaged or of another version.
pub fn read_host(path: &Path) -> Result<Value> {
    Ok(host_of(&Reader::open(path, KIND, VERSION)?))
}

fn host_of(reader: &Reader) -> Value {
    reader.about(HOST).cloned().unwrap_or(Value::Null)
}

fn entry(view: &View) -> Entry {
    let mut shape = vec![view.members, view.rows, view.cols];
    let dtype = match view.element {
        Element::Real(DType::Bf16) => Dtype::BF16,
        Element::Real(DType::F32) => Dtype::F32,
        Element::U8 => Dtype::U8,
        Element::I32 => Dtype::I32,
        Element::U32 => Dtype::U32,
        Element::I64 => Dtype::I64,
        Element::U64 => Dtype::U64,
        Element::Struct(bytes) => {
            shape.push(bytes as usize);
            Dtype::U8
        }
    };
    Entry { name: view.name.clone(), dtype, shape }
}
