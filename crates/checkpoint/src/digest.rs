//! Size and SHA-256 of bytes that pass by.

use crate::{CheckpointError, Result};
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};
use std::{fs::File, io::Read, path::Path};

/// What a marker says of a file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct FileMark {
    /// Size.
    pub(crate) bytes: u64,
    /// In lower-case hexadecimal.
    pub(crate) sha256: String,
}

/// Counts and hashes.
#[derive(Clone, Default)]
pub(crate) struct Digest {
    bytes: u64,
    hash: Sha256,
}

impl Digest {
    pub(crate) fn add(&mut self, data: &[u8]) {
        self.bytes += data.len() as u64;
        self.hash.update(data);
    }

    pub(crate) fn bytes(&self) -> u64 {
        self.bytes
    }

    pub(crate) fn mark(&self) -> FileMark {
        let hash = self.hash.clone().finalize();
        FileMark { bytes: self.bytes, sha256: hash.iter().map(|b| format!("{b:02x}")).collect() }
    }

    pub(crate) fn of(data: &[u8]) -> Self {
        let mut digest = Self::default();
        digest.add(data);
        digest
    }

    /// Of the first `bytes` bytes of a file, fewer where the file is shorter.
    pub(crate) fn of_file(path: &Path, bytes: u64) -> Result<Self> {
        let failed = |e| CheckpointError::io("read", path, e);
        let mut file = File::open(path).map_err(failed)?.take(bytes);
        let mut digest = Self::default();
        let mut buffer = vec![0; 1 << 18];
        loop {
            match file.read(&mut buffer).map_err(failed)? {
                0 => return Ok(digest),
                n => digest.add(&buffer[..n]),
            }
        }
    }
}
