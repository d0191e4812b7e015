//! safetensors, streamed: the header is made and checked by the crate `safetensors`, tensors pass one at a time.
//!
//! Tensors lie in the order that crate gives them: larger elements first, then by name. The metadata is one entry,
//! `foxhunt`, because the crate keeps entries in a hash map, whose order changes from run to run: a JSON object with
//! the kind of file (`weights`, `state`), the version of its layout, and what else the kind needs.

use crate::{CheckpointError, Result, disk::FileWriter};
use safetensors::{Dtype, tensor::Metadata, tensor::TensorInfo};
use serde_json::{Map, Value};
use std::{
    collections::BTreeMap,
    fs::File,
    io::{Cursor, Read, Seek, SeekFrom},
    path::{Path, PathBuf},
};

const KEY: &str = "foxhunt";
/// What the crate `safetensors` accepts at most.
const HEADER_BYTES_MAX: u64 = 100_000_000;

/// What a file says of a tensor before its bytes.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Entry {
    pub(crate) name: String,
    pub(crate) dtype: Dtype,
    pub(crate) shape: Vec<usize>,
}

impl Entry {
    /// As errors show it: `BF16 [128, 64]`.
    pub(crate) fn shown(&self) -> String {
        format!("{} {:?}", self.dtype, self.shape)
    }
}

/// Sorts `tensors` as they lie in the file and writes it; `bytes` gives each tensor's.
pub(crate) fn write<T>(
    out: &mut FileWriter<'_>,
    path: &Path,
    (kind, version, more): (&str, u64, &[(&str, Value)]),
    mut tensors: Vec<(Entry, T)>,
    mut bytes: impl FnMut(&Entry, &T) -> Result<Vec<u8>>,
) -> Result<()> {
    tensors.sort_by(|(a, _), (b, _)| b.dtype.cmp(&a.dtype).then_with(|| a.name.cmp(&b.name)));
    if let Some(pair) = tensors.windows(2).find(|pair| pair[0].0.name == pair[1].0.name) {
        return Err(CheckpointError::tensor(path, &pair[0].0.name, "one tensor of this name", "two"));
    }
    let mut end = 0;
    let mut infos = Vec::with_capacity(tensors.len());
    for (entry, _) in &tensors {
        let start = end;
        end += entry.shape.iter().product::<usize>() * entry.dtype.bitsize() / 8;
        let info = TensorInfo { dtype: entry.dtype, shape: entry.shape.clone(), data_offsets: (start, end) };
        infos.push((entry.name.clone(), info));
    }
    let mut about = Map::new();
    about.insert("kind".into(), kind.into());
    about.insert("version".into(), version.into());
    about.extend(more.iter().map(|(k, v)| ((*k).to_owned(), v.clone())));
    let about = sorted(&Value::Object(about)).to_string();
    let failed = |what: String| CheckpointError::file(path, what, "this is a fault of foxhunt: report it");
    let metadata = Metadata::new(Some([(KEY.to_owned(), about)].into_iter().collect()), infos)
        .map_err(|e| failed(e.to_string()))?;
    let mut header = serde_json::to_vec(&metadata).map_err(|e| failed(e.to_string()))?;
    // Data starts at a multiple of eight, so that every element is aligned where the file is mapped.
    header.resize(header.len().next_multiple_of(8), b' ');
    if header.len() as u64 > HEADER_BYTES_MAX {
        return Err(failed(format!("a header of {} bytes", header.len())));
    }
    out.put(&(header.len() as u64).to_le_bytes())?;
    out.put(&header)?;
    for ((entry, t), (_, info)) in tensors.iter().zip(metadata_order(&metadata)) {
        let data = bytes(entry, t)?;
        let expected = info.data_offsets.1 - info.data_offsets.0;
        if data.len() != expected {
            return Err(failed(format!("tensor {} gave {} bytes, not {expected}", entry.name, data.len())));
        }
        out.put(&data)?;
    }
    Ok(())
}

fn metadata_order(metadata: &Metadata) -> impl Iterator<Item = (String, TensorInfo)> + '_ {
    metadata.offset_keys().into_iter().filter_map(|name| {
        let info = metadata.info(&name)?.clone();
        Some((name, info))
    })
}

/// With the keys of every object in order, whatever order `serde_json` was built to keep.
fn sorted(value: &Value) -> Value {
    match value {
        Value::Object(map) => {
            let map: BTreeMap<&String, &Value> = map.iter().collect();
            Value::Object(map.into_iter().map(|(k, v)| (k.clone(), sorted(v))).collect())
        }
        Value::Array(list) => list.iter().map(sorted).collect(),
        other => other.clone(),
    }
}

/// Where a file's bytes come from.
trait Bytes: Read + Seek {}
impl<T: Read + Seek> Bytes for T {}

/// A file being read: header checked, tensors on demand.
pub(crate) struct Reader {
    path: PathBuf,
    file: Box<dyn Bytes>,
    data_start: u64,
    tensors: BTreeMap<String, TensorInfo>,
    about: Map<String, Value>,
}

impl Reader {
    /// Opens a file of this kind, of a version up to `newest`, and checks that its header and its length belong together.
    pub(crate) fn open(path: &Path, kind: &str, newest: u64) -> Result<Self> {
        let failed = |e| CheckpointError::io("read", path, e);
        let file = File::open(path).map_err(failed)?;
        let size = file.metadata().map_err(failed)?.len();
        Self::of(path, (Box::new(file), size), kind, newest)
    }

    /// The same of bytes that have been read from `path`.
    pub(crate) fn of_bytes(path: &Path, bytes: Vec<u8>, kind: &str, newest: u64) -> Result<Self> {
        let size = bytes.len() as u64;
        Self::of(path, (Box::new(Cursor::new(bytes)), size), kind, newest)
    }

    fn of(path: &Path, (mut file, size): (Box<dyn Bytes>, u64), kind: &str, newest: u64) -> Result<Self> {
        let failed = |e| CheckpointError::io("read", path, e);
        let broken = |what: String| {
            CheckpointError::file(path, what, "restore the file from a copy or use another checkpoint")
        };
        if size < 8 {
            return Err(broken(format!("{size} bytes are no safetensors file")));
        }
        let mut length = [0; 8];
        file.read_exact(&mut length).map_err(failed)?;
        let length = u64::from_le_bytes(length);
        if length > HEADER_BYTES_MAX.min(size - 8) {
            return Err(broken(format!("its header of {length} bytes does not fit into {size} bytes")));
        }
        let mut header = vec![0; length as usize];
        file.read_exact(&mut header).map_err(failed)?;
        let metadata: Metadata = serde_json::from_slice(&header)
            .map_err(|e| broken(format!("its header is no safetensors header: {e}")))?;
        let data_start = 8 + length;
        let expected = (metadata.data_len() as u64).checked_add(data_start);
        if expected != Some(size) {
            let tensors = metadata.data_len();
            return Err(broken(format!(
                "{size} bytes, but its header speaks of {tensors} after byte {data_start}"
            )));
        }
        let about = metadata.metadata().as_ref().and_then(|m| m.get(KEY)).and_then(|text| {
            let Ok(Value::Object(map)) = serde_json::from_str(text) else { return None };
            Some(map)
        });
        let Some(about) = about else {
            return Err(CheckpointError::file(
                path,
                format!("a safetensors file without foxhunt's metadata (entry '{KEY}')"),
                format!("give a file of {kind} that foxhunt wrote"),
            ));
        };
        let found = (about.get("kind").and_then(Value::as_str), about.get("version").and_then(Value::as_u64));
        if found.0 != Some(kind) || !found.1.is_some_and(|v| (1..=newest).contains(&v)) {
            let versions = if newest == 1 { "1".to_owned() } else { format!("1 to {newest}") };
            let name = |v: Option<&Value>| v.map_or("nothing".to_owned(), Value::to_string);
            return Err(CheckpointError::file(
                path,
                format!(
                    "expected kind \"{kind}\" version {versions}, found kind {} version {}",
                    name(about.get("kind")),
                    name(about.get("version"))
                ),
                "use the foxhunt that wrote it, or another file",
            ));
        }
        let tensors = metadata_order(&metadata).collect();
        Ok(Reader { path: path.to_owned(), file, data_start, tensors, about })
    }

    /// What else the metadata says.
    pub(crate) fn about(&self, key: &str) -> Option<&Value> {
        self.about.get(key)
    }

    pub(crate) fn entries(&self) -> Vec<Entry> {
        let entry = |(name, info): (&String, &TensorInfo)| Entry {
            name: name.clone(),
            dtype: info.dtype,
            shape: info.shape.clone(),
        };
        self.tensors.iter().map(entry).collect()
    }

    /// A tensor's bytes.
    pub(crate) fn read(&mut self, name: &str) -> Result<Vec<u8>> {
        let Some(info) = self.tensors.get(name) else {
            return Err(CheckpointError::tensor(&self.path, name, "a tensor", "nothing"));
        };
        let (start, end) = info.data_offsets;
        let mut data = vec![0; end - start];
        self.file
            .seek(SeekFrom::Start(self.data_start + start as u64))
            .and_then(|_| self.file.read_exact(&mut data))
            .map_err(|e| CheckpointError::io("read", &self.path, e))?;
        Ok(data)
    }
}
