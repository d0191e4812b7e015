use crate::{Command, Gemm, Operand, Region};

/// What one command of a program declares: the buffers that it reads and writes, and the operations of its matrix product
/// where it is one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Traffic {
    /// The kernel, or what the product is for.
    pub command: String,
    /// Buffers read. Of a product, the elements of its operands. Of a kernel, the whole stretch from the first member's part
    /// to the end of the last one's: whatever lies between them, and all of a table that it picks rows of.
    pub reads: Vec<Region>,
    /// Buffers written, likewise.
    pub writes: Vec<Region>,
    /// Multiplications and additions of a product of the library, all members. Those of a kernel are not declared: 0.
    pub product_operations: u64,
}

impl Traffic {
    pub(crate) fn of(command: &Command) -> Self {
        match command {
            Command::Launch(l) => Traffic {
                command: l.kernel.name.to_owned(),
                reads: l.reads.clone(),
                writes: l.writes.clone(),
                product_operations: 0,
            },
            Command::Gemm(g) => Traffic {
                command: g.name.clone(),
                reads: vec![elements(g, &g.a, g.m * g.k), elements(g, &g.b, g.k * g.n)],
                writes: vec![elements(g, &g.c, g.m * g.n)],
                product_operations: 2 * (g.members * g.m * g.n * g.k) as u64,
            },
        }
    }
}

/// The buffer of an operand with `count` elements of each member that has its own.
fn elements(g: &Gemm, x: &Operand, count: usize) -> Region {
    let members = if x.stride == 0 { 1 } else { g.members };
    Region { bytes: members * count * g.dtype.bytes(), ..x.region.clone() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use foxhunt_core::DType;

    /// A member's operands lie apart; what lies between them is not the product's, and what all share is read once.
    #[test]
    fn a_product_declares_its_elements() {
        let operand = |name: &str, stride| Operand {
            region: Region { name: name.into(), addr: 256, bytes: 1 << 20 },
            ld: 64,
            stride,
            transposed: false,
        };
        let gemm = Gemm {
            name: "layer.forward".into(),
            dtype: DType::Bf16,
            members: 3,
            m: 5,
            n: 7,
            k: 11,
            alpha: 1.0,
            a: operand("x", 0),
            b: operand("w", 4096),
            c: operand("y", 4096),
        };
        let t = Traffic::of(&Command::Gemm(gemm));
        let bytes = |all: &[Region]| all.iter().map(|r| (r.name.clone(), r.bytes)).collect::<Vec<_>>();
        assert_eq!(bytes(&t.reads), [("x".into(), 5 * 11 * 2), ("w".into(), 3 * 11 * 7 * 2)]);
        assert_eq!(bytes(&t.writes), [("y".into(), 3 * 5 * 7 * 2)]);
        assert_eq!((t.command.as_str(), t.product_operations), ("layer.forward", 2 * 3 * 5 * 7 * 11));
    }
}
