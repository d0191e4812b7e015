//! JSON that carries the hash of its own text, so that a changed byte is told as damage and not taken for another value.

use crate::digest::Digest;

const KEY: &str = ",\n  \"sha256\": \"";
const END: &str = "\"\n}";

/// What is known of a text of JSON that may be sealed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unsealed {
    /// It is as it was written; here without its seal.
    Whole(String),
    /// It is not as it was written.
    Damaged,
    /// It has no seal: an earlier version wrote it.
    Plain(String),
}

/// An object of JSON with the SHA-256 of its text as its last key.
pub fn seal(object: &str) -> String {
    let body = object.trim_end();
    let body = body.strip_suffix('}').unwrap_or(body).trim_end();
    format!("{body}{KEY}{}{END}\n", Digest::of(body.as_bytes()).mark().sha256)
}

/// Looks at the seal of an object of JSON.
pub fn unseal(text: &str) -> Unsealed {
    let Some((body, seal)) = text.rsplit_once(KEY) else { return Unsealed::Plain(text.to_owned()) };
    let hash = Digest::of(body.as_bytes()).mark().sha256;
    if seal.strip_suffix('\n').and_then(|s| s.strip_suffix(END)) == Some(&hash) {
        Unsealed::Whole(format!("{body}\n}}"))
    } else {
        Unsealed::Damaged
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_changed_bit_is_told() {
        let plain = "{\n  \"a\": 1.5,\n  \"b\": [\n    2\n  ]\n}";
        for object in [plain, "{\"a\":1}"] {
            let sealed = seal(object);
            let value = |text: &str| serde_json::from_str::<serde_json::Value>(text).unwrap();
            let Unsealed::Whole(again) = unseal(&sealed) else { unreachable!("{sealed}") };
            assert_eq!(value(&again), value(object));
            assert_eq!(unseal(object), Unsealed::Plain(object.to_owned()));
            for at in 0..sealed.len() {
                for bit in 0..7 {
                    let mut bytes = sealed.clone().into_bytes();
                    bytes[at] ^= 1 << bit;
                    let changed = String::from_utf8(bytes).unwrap();
                    // A change in the seal's own key makes it a key like any other, which no object has.
                    let told = match unseal(&changed) {
                        Unsealed::Whole(_) => false,
                        Unsealed::Damaged => true,
                        Unsealed::Plain(text) => {
                            at + KEY.len() + 64 + END.len() + 1 >= sealed.len() && text == changed
                        }
                    };
                    assert!(told, "bit {bit} of byte {at}");
                }
            }
        }
    }
}
