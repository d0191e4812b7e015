//! What a file of bars that this program wrote is checked by when it is read: Parquet itself guards none of its values.

use sha2::{Digest as _, Sha256};

/// Key of the digest in the file's metadata.
pub(crate) const DIGEST_KEY: &str = "foxhunt.digest";

/// SHA-256 of the text that tells about the bars, of the names of their columns, and of their values row by row as the file holds them.
pub(crate) struct BarDigest(Sha256);

impl BarDigest {
    /// Of the bars that `about` tells of.
    pub(crate) fn new(about: &str) -> Self {
        let mut digest = BarDigest(Sha256::new());
        digest.words(about);
        digest
    }

    /// The next column: its name, and whether it holds moments in ns UTC.
    pub(crate) fn column(&mut self, name: &str, moments: bool) {
        self.words(name);
        self.0.update([u8::from(moments)]);
    }

    fn words(&mut self, text: &str) {
        self.0.update((text.len() as u64).to_le_bytes());
        self.0.update(text);
    }

    /// The next value is a whole number.
    pub(crate) fn whole(&mut self, value: i64) {
        self.value(b'i', value.to_le_bytes());
    }

    /// The next value is a double, or missing.
    pub(crate) fn double(&mut self, value: Option<f64>) {
        match value {
            Some(value) => self.value(b'd', value.to_bits().to_le_bytes()),
            None => self.value(b'n', [0; 8]),
        }
    }

    /// The next value is of a kind that is never written.
    pub(crate) fn other(&mut self) {
        self.value(b'?', [0; 8]);
    }

    fn value(&mut self, kind: u8, bytes: [u8; 8]) {
        let mut all = [kind; 9];
        all[1..].copy_from_slice(&bytes);
        self.0.update(all);
    }

    /// In lower-case hexadecimal.
    pub(crate) fn text(self) -> String {
        crate::open::hex(&self.0.finalize())
    }
}
