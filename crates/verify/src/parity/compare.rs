//! The first byte of a buffer that differs, by what it means.

use foxhunt_kernels::View;

/// Where two copies of a buffer first differ.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Place {
    pub(super) member: usize,
    pub(super) row: usize,
    pub(super) column: usize,
    /// Which byte of the element, and what it is on either side.
    byte: (usize, u8, u8),
}

impl Place {
    /// In bytes of the whole region of `view`, or of a stretch that begins at its byte `from`.
    pub(super) fn first(view: &View, from: usize, here: &[u8], there: &[u8]) -> Option<Place> {
        if here == there {
            return None;
        }
        let at = here.iter().zip(there).position(|(a, b)| a != b)?;
        let size = view.element.bytes();
        let (element, byte) = ((from + at) / size, (from + at) % size);
        let stride = view.member_stride.max(view.rows * view.ld).max(1);
        let (member, inside) = (element / stride, element % stride);
        Some(Place {
            member,
            row: inside / view.ld,
            column: inside % view.ld,
            byte: (byte, here[at], there[at]),
        })
    }

    /// The byte in words.
    pub(super) fn byte(&self) -> String {
        let (at, here, there) = self.byte;
        format!("byte {at} is {here:#04x} here and {there:#04x} on the reference")
    }
}

/// What a line says of what it counts.
pub(super) fn verdict(found: &[String]) -> &'static str {
    if found.is_empty() { "equal" } else { "compared" }
}

/// A number with commas.
pub(super) fn grouped(n: usize) -> String {
    let digits = n.to_string();
    let mut out = String::new();
    for (i, d) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            out.push(',');
        }
        out.push(d);
    }
    out
}
