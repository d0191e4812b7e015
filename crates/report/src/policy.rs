//! The page's content security policy: its own style, at most its own script, nothing from anywhere.

use sha2::{Digest, Sha256};

/// The policy of a page with these scripts' text, or with none.
pub(crate) fn policy(script: Option<&str>) -> String {
    let allowed = script.map(|text| format!("; script-src 'sha256-{}'", base64(&Sha256::digest(text))));
    format!("default-src 'none'; style-src 'unsafe-inline'{}", allowed.unwrap_or_default())
}

/// Base64 with padding (RFC 4648).
fn base64(bytes: &[u8]) -> String {
    const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut out = String::new();
    for chunk in bytes.chunks(3) {
        let word = (0..3).fold(0usize, |word, k| word << 8 | usize::from(chunk.get(k).copied().unwrap_or(0)));
        for k in 0..4 {
            let sign = ALPHABET[word >> (18 - 6 * k) & 63];
            out.push(if k <= chunk.len() { sign.into() } else { '=' });
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    /// RFC 4648 section 10, and a hash as `openssl dgst -sha256 -binary | base64` gives it.
    #[test]
    fn known_values() {
        for (text, code) in [("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foobar", "Zm9vYmFy")]
        {
            assert_eq!(base64(text.as_bytes()), code);
        }
        assert!(policy(Some("abc")).ends_with("'sha256-ungWv48Bz+pBQUDeXa4iI7ADYaOWF3qctBD/YfIAFa0='"));
        assert!(!policy(None).contains("script"));
    }
}
