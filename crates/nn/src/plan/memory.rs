//! What device memory is for. A tensor's purpose is set where the tensor is made, so that nothing has to guess it from
//! a name.

use super::{Place, Plan, layout::Layout};
use foxhunt_device::ARENA_ALIGN;
use foxhunt_kernels::Element;
use serde::{Serialize, Serializer, ser::SerializeMap};
use std::{fmt, ops::AddAssign};

/// What a buffer is for. The padding of a buffer's rows counts as the buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum MemoryPurpose {
    /// Parameters that are trained, both words of pairs.
    Weights,
    /// Their EMA targets, both words of pairs.
    Targets,
    /// First and second moments of the optimiser.
    Moments,
    /// Gradients of parameters. Those of activations are [`MemoryPurpose::Activations`].
    Gradients,
    /// What flows through the network in one step: its inputs, results of operations and their gradients, losses.
    Activations,
    /// Transitions that batches are drawn from: stored states, actions, outcomes, or the records that states are
    /// rebuilt from.
    Replay,
    /// Tables that all members read and nobody writes: bars and features of a market.
    Data,
    /// Integers beside all these: accounts, rules, counters, hyperparameters, and a batch's rows, actions and outcomes.
    Integers,
    /// Scratch within an operation: partial sums, and what the matrix library asks for.
    Workspace,
    /// Bytes between buffers, so that each begins at a multiple of [`ARENA_ALIGN`].
    Alignment,
}

impl MemoryPurpose {
    /// All, in the order of tables.
    pub const ALL: [MemoryPurpose; 10] = [
        MemoryPurpose::Weights,
        MemoryPurpose::Targets,
        MemoryPurpose::Moments,
        MemoryPurpose::Gradients,
        MemoryPurpose::Activations,
        MemoryPurpose::Replay,
        MemoryPurpose::Data,
        MemoryPurpose::Integers,
        MemoryPurpose::Workspace,
        MemoryPurpose::Alignment,
    ];

    /// Name in tables.
    pub const fn name(self) -> &'static str {
        match self {
            MemoryPurpose::Weights => "weights",
            MemoryPurpose::Targets => "targets",
            MemoryPurpose::Moments => "moments",
            MemoryPurpose::Gradients => "gradients",
            MemoryPurpose::Activations => "activations",
            MemoryPurpose::Replay => "replay",
            MemoryPurpose::Data => "market data",
            MemoryPurpose::Integers => "integer columns",
            MemoryPurpose::Workspace => "workspace",
            MemoryPurpose::Alignment => "alignment",
        }
    }
}

/// Bytes of one purpose, by what they hold.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct MemoryBytes {
    /// Numbers of the plan's storage type, BF16 or F32.
    pub real: u64,
    /// Integers, alone or as the fields of structs.
    pub integer: u64,
    /// Neither: between buffers, and the matrix library's.
    pub untyped: u64,
}

impl MemoryBytes {
    /// All of them.
    pub const fn total(self) -> u64 {
        self.real + self.integer + self.untyped
    }
}

impl AddAssign for MemoryBytes {
    fn add_assign(&mut self, other: Self) {
        self.real += other.real;
        self.integer += other.integer;
        self.untyped += other.untyped;
    }
}

/// Device memory by purpose. As JSON an object: each purpose's [`MemoryBytes`], and `total`, the sum of all.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Memory {
    parts: [MemoryBytes; MemoryPurpose::ALL.len()],
}

impl Memory {
    /// Counts a buffer.
    pub fn add(&mut self, purpose: MemoryPurpose, element: Element, bytes: usize) {
        let part = &mut self.parts[purpose as usize];
        match element {
            Element::Real(_) => part.real += bytes as u64,
            _ => part.integer += bytes as u64,
        }
    }

    /// Counts memory that holds no elements of anyone's.
    pub fn add_untyped(&mut self, purpose: MemoryPurpose, bytes: usize) {
        self.parts[purpose as usize].untyped += bytes as u64;
    }

    /// Counts all of another's.
    pub fn merge(&mut self, other: &Memory) {
        self.parts.iter_mut().zip(other.parts).for_each(|(part, more)| *part += more);
    }

    /// Bytes of one purpose.
    pub fn of(&self, purpose: MemoryPurpose) -> MemoryBytes {
        self.parts[purpose as usize]
    }

    /// Every purpose, in the order of tables.
    pub fn parts(&self) -> impl Iterator<Item = (MemoryPurpose, MemoryBytes)> + '_ {
        MemoryPurpose::ALL.into_iter().zip(self.parts)
    }

    /// The sum of all purposes.
    pub fn sum(&self) -> MemoryBytes {
        let mut sum = MemoryBytes::default();
        self.parts.iter().for_each(|part| sum += *part);
        sum
    }

    /// Bytes of all purposes.
    pub fn total(&self) -> u64 {
        self.sum().total()
    }
}

impl Serialize for Memory {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.parts.len() + 1))?;
        for (purpose, bytes) in self.parts() {
            map.serialize_entry(&purpose, &bytes)?;
        }
        map.serialize_entry("total", &self.total())?;
        map.end()
    }
}

/// A table, in bytes: a line per purpose, and the sum.
impl fmt::Display for Memory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "{:<16}{:>14}{:>14}{:>14}{:>14}{:>10}",
            "bytes", "bf16 or f32", "integers", "untyped", "all", "MiB"
        )?;
        let sum = [("sum", self.sum())];
        for (name, b) in self.parts().map(|(purpose, bytes)| (purpose.name(), bytes)).chain(sum) {
            let mib = b.total() as f64 / f64::from(1 << 20);
            writeln!(
                f,
                "{name:<16}{:>14}{:>14}{:>14}{:>14}{mib:>10.1}",
                b.real,
                b.integer,
                b.untyped,
                b.total()
            )?;
        }
        Ok(())
    }
}

impl Plan {
    /// What [`Plan::compile`] will allocate. Buffers of other owners are theirs to count.
    pub fn memory(&self) -> Memory {
        self.memory_of(&self.layout(super::Options::default()))
    }

    pub(super) fn memory_of(&self, layout: &Layout) -> Memory {
        let mut memory = Memory::default();
        let mut used = 0;
        for (i, t) in self.tensors.iter().enumerate() {
            if t.place == Place::Own {
                let bytes = self.own_bytes(i);
                memory.add(t.purpose, t.element, bytes);
                used += bytes;
            }
        }
        // As an arena rounds its size.
        let arena = layout.bytes.max(1).next_multiple_of(ARENA_ALIGN);
        memory.add_untyped(MemoryPurpose::Alignment, arena - used);
        memory
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Init, Options, ParamSpec, op::Linear};
    use foxhunt_core::DType;
    use foxhunt_device::Device;

    #[test]
    fn numbers_are_places_in_the_list() {
        for (i, purpose) in MemoryPurpose::ALL.into_iter().enumerate() {
            assert_eq!(purpose as usize, i);
        }
    }

    /// F32 bits in a tensor of integers would be other numbers.
    #[test]
    fn integers_are_not_written_as_reals() {
        let mut plan = Plan::new(DType::F32, 2);
        let (counts, x) = (plan.buffer("counts", Element::U32, 1, 3), plan.real_buffer("x", 1, 3));
        let runtime = plan.compile(&Device::cpu(), Options::default()).unwrap();
        runtime.write(x, &[1.0; 6]).unwrap();
        let told = [runtime.write(counts, &[1.0; 6]).err(), runtime.read(counts).err()];
        for error in told.map(|e| e.unwrap().to_string()) {
            assert_eq!(error, "transfer: counts holds U32 and no real numbers");
        }
        assert!(runtime.gemm_record().is_empty(), "on a CPU there is nothing to choose");
    }

    /// Two members; every byte of the arena is in one line, and the lines are those of the shapes.
    #[test]
    fn purposes_sum_to_the_arena() {
        for (dtype, size) in [(DType::Bf16, 2), (DType::F32, 4)] {
            let mut plan = Plan::new(dtype, 2);
            let net = plan.net("n", vec![ParamSpec::matrix("w", 40, 16, Init::Constant(0.0))]);
            let x = plan.real_buffer("x", 3, 16);
            let y = Linear::push(&mut plan, "y", x, net.params[0].weight).unwrap();
            let dy = plan.real_buffer("dy", 3, 40);
            plan.backward(&[(y, dy)]).unwrap();
            plan.buffer("counts", Element::U64, 1, 3);
            plan.table("bars", Element::I32, 5, 1);
            let device = Device::cpu();
            let before = device.memory().unwrap().allocated;
            for guard_bytes in [0, 64] {
                let runtime = plan.compile(&device, Options { guard_bytes }).unwrap();
                let memory = runtime.memory();
                assert_eq!(memory.total(), runtime.bytes() as u64);
                assert_eq!(device.memory().unwrap().allocated - before, runtime.bytes());
                assert_eq!(memory == &plan.memory(), guard_bytes == 0, "guards are counted");
                let image = 2 * 2048 * size;
                let real = |p| (memory.of(p).real, memory.of(p).integer);
                assert_eq!(real(MemoryPurpose::Weights), (image, 0));
                assert_eq!(real(MemoryPurpose::Targets), (image, 0));
                assert_eq!(real(MemoryPurpose::Moments), (2 * image, 0));
                assert_eq!(real(MemoryPurpose::Gradients), (image, 0), "dw lies in the image");
                // x, and y and dy of 40 columns 64 apart; x is no parameter and has no gradient.
                assert_eq!(real(MemoryPurpose::Activations), (2 * 3 * (16 + 64 + 64) * size, 0));
                assert_eq!(real(MemoryPurpose::Data), (0, 20));
                // 3 counters a member, 8 bytes for each of the image's 256 packs.
                assert_eq!(real(MemoryPurpose::Integers), (0, 2 * 24 + 256 * 8));
                assert!(memory.of(MemoryPurpose::Alignment).untyped > 0);
            }
        }
    }
}
