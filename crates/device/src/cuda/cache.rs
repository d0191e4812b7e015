//! Compiled kernels on disk. An entry is named by the hash of all that went into it and begins with the hash of what
//! follows, so that a torn or damaged file is compiled anew.

use sha2::{Digest, Sha256};
use std::{
    env, fs,
    path::PathBuf,
    sync::atomic::{AtomicU64, Ordering},
};

const MAGIC: &[u8] = b"foxhunt cubin 1\n";

/// A folder of cubins.
#[derive(Clone, Debug)]
pub(crate) struct Cache {
    pub(crate) folder: PathBuf,
}

impl Cache {
    /// `FOXHUNT_CACHE`, or the user's cache folder; nothing where there is neither.
    pub(crate) fn of_user() -> Option<Self> {
        let set = |name: &str| env::var_os(name).filter(|v| !v.is_empty()).map(PathBuf::from);
        let folder = set("FOXHUNT_CACHE")
            .or_else(|| set("XDG_CACHE_HOME").filter(|p| p.is_absolute()).map(|p| p.join("foxhunt")))
            .or_else(|| set("HOME").map(|p| p.join(".cache/foxhunt")))?;
        Some(Cache { folder: folder.join("cubin") })
    }

    /// The entry, if it is whole.
    pub(crate) fn read(&self, name: &str) -> Option<Vec<u8>> {
        let bytes = fs::read(self.folder.join(name)).ok()?;
        let (sum, cubin) = bytes.strip_prefix(MAGIC)?.split_at_checked(32)?;
        (!cubin.is_empty() && Sha256::digest(cubin).as_slice() == sum).then(|| cubin.to_vec())
    }

    /// Writes an entry by rename, so that no reader sees half of it.
    pub(crate) fn write(&self, name: &str, cubin: &[u8]) -> std::io::Result<()> {
        static COUNT: AtomicU64 = AtomicU64::new(0);
        fs::create_dir_all(&self.folder)?;
        let serial = COUNT.fetch_add(1, Ordering::Relaxed);
        let temporary = self.folder.join(format!(".{name}.{}.{serial}", std::process::id()));
        let bytes = [MAGIC, Sha256::digest(cubin).as_slice(), cubin].concat();
        let done = fs::write(&temporary, bytes).and_then(|()| fs::rename(&temporary, self.folder.join(name)));
        if done.is_err() {
            // What is left of a full disk; that it can't be removed either adds nothing.
            let _ = fs::remove_file(&temporary);
        }
        done
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_damaged_entry_is_no_entry() {
        let folder = env::temp_dir().join(format!("foxhunt-cache-{}", std::process::id()));
        let cache = Cache { folder: folder.clone() };
        assert_eq!(cache.read("a"), None);
        cache.write("a", b"code").unwrap();
        assert_eq!(cache.read("a").as_deref(), Some(&b"code"[..]));
        let whole = fs::read(folder.join("a")).unwrap();
        for damage in [&whole[..whole.len() - 1], &whole[..20], b"", b"\x7fELF"] {
            fs::write(folder.join("a"), damage).unwrap();
            assert_eq!(cache.read("a"), None);
        }
        cache.write("a", b"again").unwrap();
        assert_eq!(cache.read("a").as_deref(), Some(&b"again"[..]));
        assert_eq!(fs::read_dir(&folder).unwrap().count(), 1, "no temporary file is left");
        fs::remove_dir_all(&folder).unwrap();
    }
}
