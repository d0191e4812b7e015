//! A plan on a device: one arena, every program compiled.

use super::{Memory, Plan, PlanError, Tensor};
use foxhunt_core::{Bf16, DType};
use foxhunt_device::{Arena, Device, Program};
use foxhunt_kernels::{Element, TREE, View};
use std::{collections::BTreeMap, sync::Arc};

const GUARD: u8 = 0xa5;

/// How a plan is compiled.
#[derive(Clone, Copy, Debug, Default)]
pub struct Options {
    /// Bytes kept free after every buffer and watched by [`Runtime::check_guards`]: for tests.
    pub guard_bytes: usize,
}

/// What operations see when they are turned into commands.
pub struct Lowering {
    pub(super) views: Vec<View>,
    pub(super) dtype: DType,
    pub(super) members: usize,
}

impl Lowering {
    /// The buffer of a tensor.
    pub fn view(&self, t: Tensor) -> &View {
        &self.views[t.0 as usize]
    }

    /// Storage type.
    pub fn dtype(&self) -> DType {
        self.dtype
    }

    /// Population members.
    pub fn members(&self) -> usize {
        self.members
    }
}

/// A compiled plan.
pub struct Runtime {
    programs: BTreeMap<String, Program>,
    lowering: Lowering,
    guards: Vec<(usize, usize, String)>,
    memory: Memory,
    // After the programs, which point into them.
    arena: Arena,
    externals: Vec<Arc<Arena>>,
}

impl Plan {
    /// Lays out every buffer, writes the tables of the nets, and compiles every program.
    ///
    /// # Errors
    /// Memory, launchers that refuse their buffers, the device's compiler.
    pub fn compile(&self, device: &Device, options: Options) -> Result<Runtime, PlanError> {
        self.check_consumed()?;
        let layout = self.layout(options);
        let arena = device.allocate(layout.bytes)?;
        for (first, last, _) in &layout.guards {
            arena.fill(*first, last - first, GUARD)?;
        }
        let lowering = self.lowering(&layout, arena.addr());
        let mut programs = BTreeMap::new();
        for (i, name) in self.programs.iter().enumerate() {
            let commands = self.commands(i, &lowering)?;
            if !commands.is_empty() {
                programs.insert(name.clone(), Program::compile(device, &TREE, commands)?);
            }
        }
        let mut externals: Vec<Arc<Arena>> = Vec::new();
        for (_, owner) in &self.externals {
            if !externals.iter().any(|a| Arc::ptr_eq(a, owner)) {
                externals.push(owner.clone());
            }
        }
        let memory = self.memory_of(&layout);
        let runtime = Runtime { programs, lowering, guards: layout.guards, memory, arena, externals };
        for net in &self.nets {
            runtime.write_raw(net.ids, &net.pack_ids())?;
        }
        Ok(runtime)
    }
}

impl Runtime {
    /// The program called `name`.
    ///
    /// # Errors
    /// [`PlanError::Unknown`].
    pub fn program(&self, name: &str) -> Result<&Program, PlanError> {
        self.programs.get(name).ok_or_else(|| PlanError::Unknown { what: "program", name: name.to_owned() })
    }

    /// Runs a program `times` times.
    ///
    /// # Errors
    /// The device's.
    pub fn run(&self, program: &str, times: u32) -> Result<(), PlanError> {
        Ok(self.program(program)?.run(times)?)
    }

    /// The device.
    pub fn device(&self) -> &Device {
        self.arena.device()
    }

    /// What was chosen for each matrix product of each program, a line each, for a run's record. Nothing on a CPU, where there is
    /// nothing to choose.
    pub fn gemm_record(&self) -> Vec<String> {
        let of = |(name, program): (&String, &Program)| {
            program.gemm_record().into_iter().map(|line| format!("{name}: {line}")).collect::<Vec<_>>()
        };
        self.programs.iter().flat_map(of).collect()
    }

    /// Bytes of the plan's own arena.
    pub fn bytes(&self) -> usize {
        self.arena.bytes()
    }

    /// What the bytes of that arena are for.
    pub fn memory(&self) -> &Memory {
        &self.memory
    }

    /// The buffer of a tensor.
    pub fn view(&self, t: Tensor) -> &View {
        self.lowering.view(t)
    }

    /// The arena that a buffer lies in, and the offset of a member's part there.
    fn place(&self, v: &View, member: usize) -> (&Arena, usize) {
        let holds = |a: &&Arc<Arena>| (a.addr()..a.addr() + a.bytes() as u64).contains(&v.addr);
        let arena = self.externals.iter().find(holds).map_or(&self.arena, |a| a);
        (arena, (v.addr - arena.addr()) as usize + member * v.member_stride * v.element.bytes())
    }

    /// Writes a real tensor from `[members, rows, cols]` values (members 1 where shared), rounded to nearest.
    /// Padding stays as it is.
    ///
    /// # Errors
    /// A tensor of integers, a wrong number of values, or the device's.
    pub fn write(&self, t: Tensor, values: &[f32]) -> Result<(), PlanError> {
        let v = self.view(t);
        self.check_len(v, values.len())?;
        match v.element {
            Element::Real(DType::Bf16) => {
                let bits: Vec<u16> = values.iter().map(|x| Bf16::from_f32(*x).to_bits()).collect();
                self.write_elements(v, &bits)
            }
            Element::Real(DType::F32) => self.write_elements(v, values),
            _ => Err(not_real(v)),
        }
    }

    /// Reads a real tensor as `[members, rows, cols]`.
    ///
    /// # Errors
    /// A tensor of integers, or the device's.
    pub fn read(&self, t: Tensor) -> Result<Vec<f32>, PlanError> {
        let v = self.view(t);
        match v.element {
            Element::Real(DType::Bf16) => {
                let bits = self.read_elements::<u16>(v)?;
                Ok(bits.into_iter().map(|b| Bf16::from_bits(b).to_f32()).collect())
            }
            Element::Real(DType::F32) => self.read_elements::<f32>(v),
            _ => Err(not_real(v)),
        }
    }

    /// Writes values to the pair of `high` and `low`: high to nearest, low the remainder to nearest. Without `low` as
    /// [`Runtime::write`].
    ///
    /// # Errors
    /// A wrong number of values, a pair that is not BF16, or the device's.
    pub fn write_pair(&self, high: Tensor, low: Option<Tensor>, values: &[f32]) -> Result<(), PlanError> {
        let Some(low) = low else { return self.write(high, values) };
        let (highs, lows): (Vec<u16>, Vec<u16>) =
            values.iter().map(|x| Bf16::split(*x)).map(|(high, low)| (high.to_bits(), low.to_bits())).unzip();
        self.write_raw(high, &highs)?;
        self.write_raw(low, &lows)
    }

    /// Reads the values of the pair of `high` and `low`, as [`Runtime::read`] does those of `high` alone.
    ///
    /// # Errors
    /// The device's.
    pub fn read_pair(&self, high: Tensor, low: Option<Tensor>) -> Result<Vec<f32>, PlanError> {
        let mut values = self.read(high)?;
        if let Some(low) = low {
            for (x, low) in values.iter_mut().zip(self.read(low)?) {
                *x += low;
            }
        }
        Ok(values)
    }

    /// Writes a tensor's elements as they are, `[members, rows, cols]`.
    ///
    /// # Errors
    /// A wrong number or size of elements, or the device's.
    pub fn write_raw<E: bytemuck::NoUninit>(&self, t: Tensor, values: &[E]) -> Result<(), PlanError> {
        let v = self.view(t);
        self.check_size::<E>(v)?;
        self.check_len(v, values.len())?;
        self.write_elements(v, values)
    }

    /// Reads a tensor's elements as they are, `[members, rows, cols]`.
    ///
    /// # Errors
    /// A wrong size of elements, or the device's.
    pub fn read_raw<E: bytemuck::AnyBitPattern + bytemuck::NoUninit>(
        &self,
        t: Tensor,
    ) -> Result<Vec<E>, PlanError> {
        let v = self.view(t);
        self.check_size::<E>(v)?;
        self.read_elements(v)
    }

    /// The bytes of a tensor's elements, `[members, rows, cols]`, whatever they are.
    ///
    /// # Errors
    /// The device's.
    pub fn read_bytes(&self, t: Tensor) -> Result<Vec<u8>, PlanError> {
        self.read_elements(self.view(t))
    }

    /// Writes the bytes of a tensor's elements, `[members, rows, cols]`, whatever they are. Padding stays as it is.
    ///
    /// # Errors
    /// A wrong number of bytes, or the device's.
    pub fn write_bytes(&self, t: Tensor, bytes: &[u8]) -> Result<(), PlanError> {
        let v = self.view(t);
        check_bytes(v, bytes.len())?;
        self.write_elements(v, bytes)
    }

    /// As [`Runtime::read_bytes`], of one member: `[rows, cols]`.
    ///
    /// # Errors
    /// No such member, or the device's.
    pub fn read_member_bytes(&self, t: Tensor, member: usize) -> Result<Vec<u8>, PlanError> {
        self.read_elements(&member_view(self.view(t), member)?)
    }

    /// As [`Runtime::write_bytes`], of one member: `[rows, cols]`.
    ///
    /// # Errors
    /// No such member, a wrong number of bytes, or the device's.
    pub fn write_member_bytes(&self, t: Tensor, member: usize, bytes: &[u8]) -> Result<(), PlanError> {
        let v = member_view(self.view(t), member)?;
        check_bytes(&v, bytes.len())?;
        self.write_elements(&v, bytes)
    }

    fn check_len(&self, v: &View, got: usize) -> Result<(), PlanError> {
        let expected = v.members * v.rows * v.cols;
        if got == expected {
            return Ok(());
        }
        Err(PlanError::Values { tensor: v.name.clone(), expected, got })
    }

    fn check_size<E>(&self, v: &View) -> Result<(), PlanError> {
        if size_of::<E>() == v.element.bytes() {
            return Ok(());
        }
        Err(PlanError::Shape {
            op: "transfer",
            what: format!("{} has elements of {} bytes, not {}", v.name, v.element.bytes(), size_of::<E>()),
        })
    }

    /// `E` is the view's element, or the bytes of it.
    fn write_elements<E: bytemuck::NoUninit>(&self, v: &View, values: &[E]) -> Result<(), PlanError> {
        let units = v.element.bytes() / size_of::<E>();
        let per_member = v.rows * v.cols;
        if per_member == 0 {
            return Ok(());
        }
        if v.ld == v.cols && (v.members == 1 || v.member_stride == per_member) {
            let (arena, at) = self.place(v, 0);
            return Ok(arena.write(at, values)?);
        }
        for (member, part) in values.chunks(per_member * units).enumerate() {
            let (arena, start) = self.place(v, member);
            if v.ld == v.cols {
                arena.write(start, part)?;
                continue;
            }
            // Whole padded rows in one copy: what the padding holds is kept.
            let mut rows = arena.read::<u8>(start, span(v) * v.element.bytes())?;
            for (row, data) in part.chunks(v.cols * units).enumerate() {
                let at = row * v.ld * v.element.bytes();
                let data: &[u8] = bytemuck::cast_slice(data);
                rows[at..at + data.len()].copy_from_slice(data);
            }
            arena.write(start, &rows)?;
        }
        Ok(())
    }

    /// `E` is the view's element, or the bytes of it.
    fn read_elements<E: bytemuck::AnyBitPattern + bytemuck::NoUninit>(
        &self,
        v: &View,
    ) -> Result<Vec<E>, PlanError> {
        let units = v.element.bytes() / size_of::<E>();
        let mut out = Vec::with_capacity(v.members * v.rows * v.cols * units);
        if v.rows * v.cols == 0 {
            return Ok(out);
        }
        for member in 0..v.members {
            let (arena, at) = self.place(v, member);
            let rows = arena.read::<E>(at, span(v) * units)?;
            if v.ld == v.cols {
                out.extend_from_slice(&rows);
                continue;
            }
            for row in rows.chunks(v.ld * units) {
                out.extend_from_slice(&row[..v.cols * units]);
            }
        }
        Ok(out)
    }

    /// Sets every byte of a tensor's own memory, padding too: poison before a run that must write all of it.
    ///
    /// # Errors
    /// The device's.
    pub fn fill(&self, t: Tensor, byte: u8) -> Result<(), PlanError> {
        let region = self.view(t).region();
        let (arena, at) = self.place(self.view(t), 0);
        Ok(arena.fill(at, region.bytes, byte)?)
    }

    /// Checks that nothing wrote between the buffers.
    ///
    /// # Errors
    /// [`PlanError::Guard`], or the device's.
    pub fn check_guards(&self) -> Result<(), PlanError> {
        for (first, last, tensor) in &self.guards {
            if self.arena.read::<u8>(*first, last - first)?.iter().any(|b| *b != GUARD) {
                return Err(PlanError::Guard { tensor: tensor.clone() });
            }
        }
        Ok(())
    }
}

fn not_real(v: &View) -> PlanError {
    PlanError::Shape { op: "transfer", what: format!("{} holds {:?} and no real numbers", v.name, v.element) }
}

/// Elements from the first of a member's part to its last, padding between rows included.
fn span(v: &View) -> usize {
    (v.rows - 1) * v.ld + v.cols
}

/// The part of one member, as a view of its own.
fn member_view(v: &View, member: usize) -> Result<View, PlanError> {
    if member >= v.members {
        return Err(PlanError::Unknown { what: "member", name: member.to_string() });
    }
    let addr = v.addr + (member * v.member_stride * v.element.bytes()) as u64;
    Ok(View { addr, members: 1, ..v.clone() })
}

fn check_bytes(v: &View, got: usize) -> Result<(), PlanError> {
    let expected = v.members * v.rows * v.cols * v.element.bytes();
    if got == expected {
        return Ok(());
    }
    Err(PlanError::Values { tensor: format!("{} (in bytes)", v.name), expected, got })
}
