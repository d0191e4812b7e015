//! A plan on a device: one arena, every program compiled.

use super::{Place, Plan, PlanError, Tensor};
use foxhunt_core::{Bf16, DType};
use foxhunt_device::{ARENA_ALIGN, Arena, Command, Device, Program};
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
    views: Vec<View>,
    dtype: DType,
    members: usize,
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
        let mut offsets = vec![0; self.tensors.len()];
        let mut strides = vec![0; self.tensors.len()];
        let mut guards = Vec::new();
        let mut end = options.guard_bytes.next_multiple_of(ARENA_ALIGN);
        if options.guard_bytes > 0 {
            guards.push((0, end, "the start of the arena".to_owned()));
        }
        for (i, t) in self.tensors.iter().enumerate() {
            if t.place != Place::Own {
                continue;
            }
            let members = if t.shared { 1 } else { self.members };
            let stride = match t.element {
                Element::Real(_) => (t.rows * t.ld).next_multiple_of(8),
                _ => t.rows * t.ld,
            };
            strides[i] = stride;
            offsets[i] = end;
            let used = end + stride * members * t.element.bytes();
            end = (used + options.guard_bytes).next_multiple_of(ARENA_ALIGN);
            if options.guard_bytes > 0 {
                guards.push((used, end, t.name.clone()));
            }
        }
        let arena = device.allocate(end)?;
        for (first, last, _) in &guards {
            arena.fill(*first, last - first, GUARD)?;
        }
        let views = self
            .tensors
            .iter()
            .enumerate()
            .map(|(i, t)| {
                let (mut owner, mut skip) = (i, 0);
                while let Place::Inside { of, offset } = self.tensors[owner].place {
                    skip += offset;
                    owner = of.0 as usize;
                }
                let (base, member_stride) = match self.tensors[owner].place {
                    Place::External(e) => (self.externals[e].0.addr, self.externals[e].0.member_stride),
                    _ => (arena.addr() + offsets[owner] as u64, if t.shared { 0 } else { strides[owner] }),
                };
                View {
                    name: t.name.clone(),
                    addr: base + (skip * t.element.bytes()) as u64,
                    element: t.element,
                    rows: t.rows,
                    cols: t.cols,
                    ld: t.ld,
                    members: if t.shared { 1 } else { self.members },
                    member_stride,
                }
            })
            .collect();
        let lowering = Lowering { views, dtype: self.dtype, members: self.members };
        let mut programs = BTreeMap::new();
        for (i, name) in self.programs.iter().enumerate() {
            let mut commands: Vec<Command> = Vec::new();
            for step in self.steps.iter().filter(|s| s.program == i) {
                commands.extend(step.op.lower(&lowering)?);
            }
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
        let runtime = Runtime { programs, lowering, guards, arena, externals };
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

    /// Bytes of the plan's own arena.
    pub fn bytes(&self) -> usize {
        self.arena.bytes()
    }

    /// The buffer of a tensor.
    pub fn view(&self, t: Tensor) -> &View {
        self.lowering.view(t)
    }

    /// The arena that a buffer lies in, and the offset of a row there.
    fn place(&self, v: &View, member: usize, row: usize) -> (&Arena, usize) {
        let holds = |a: &&Arc<Arena>| (a.addr()..a.addr() + a.bytes() as u64).contains(&v.addr);
        let arena = self.externals.iter().find(holds).map_or(&self.arena, |a| a);
        (
            arena,
            (v.addr - arena.addr()) as usize + (member * v.member_stride + row * v.ld) * v.element.bytes(),
        )
    }

    /// Writes a real tensor from `[members, rows, cols]` values (members 1 where shared), rounded to nearest.
    /// Padding stays as it is.
    ///
    /// # Errors
    /// A wrong number of values, or the device's.
    pub fn write(&self, t: Tensor, values: &[f32]) -> Result<(), PlanError> {
        let v = self.view(t);
        self.check_len(v, values.len())?;
        match v.element {
            Element::Real(DType::Bf16) => {
                let bits: Vec<u16> = values.iter().map(|x| Bf16::from_f32(*x).to_bits()).collect();
                self.write_elements(v, &bits)
            }
            _ => self.write_elements(v, values),
        }
    }

    /// Reads a real tensor as `[members, rows, cols]`.
    ///
    /// # Errors
    /// The device's.
    pub fn read(&self, t: Tensor) -> Result<Vec<f32>, PlanError> {
        let v = self.view(t);
        match v.element {
            Element::Real(DType::Bf16) => {
                let bits = self.read_elements::<u16>(v)?;
                Ok(bits.into_iter().map(|b| Bf16::from_bits(b).to_f32()).collect())
            }
            _ => self.read_elements::<f32>(v),
        }
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
        let v = self.view(t);
        let mut out = Vec::new();
        for member in 0..v.members {
            for row in 0..v.rows {
                out.extend({
                    let (arena, at) = self.place(v, member, row);
                    arena.read::<u8>(at, v.cols * v.element.bytes())?
                });
            }
        }
        Ok(out)
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

    fn write_elements<E: bytemuck::NoUninit>(&self, v: &View, values: &[E]) -> Result<(), PlanError> {
        let per_member = v.rows * v.cols;
        if v.ld == v.cols && (v.members == 1 || v.member_stride == per_member) {
            let (arena, at) = self.place(v, 0, 0);
            return Ok(arena.write(at, values)?);
        }
        for (member, part) in values.chunks(per_member).enumerate() {
            let (arena, start) = self.place(v, member, 0);
            if v.ld == v.cols {
                arena.write(start, part)?;
                continue;
            }
            // Whole padded rows in one copy: what the padding holds is kept.
            let mut rows = arena.read::<u8>(start, self.span_bytes(v))?;
            for (row, data) in part.chunks(v.cols).enumerate() {
                let at = row * v.ld * v.element.bytes();
                let data: &[u8] = bytemuck::cast_slice(data);
                rows[at..at + data.len()].copy_from_slice(data);
            }
            arena.write(start, &rows)?;
        }
        Ok(())
    }

    fn span_bytes(&self, v: &View) -> usize {
        ((v.rows - 1) * v.ld + v.cols) * v.element.bytes()
    }

    fn read_elements<E: bytemuck::AnyBitPattern + bytemuck::NoUninit>(
        &self,
        v: &View,
    ) -> Result<Vec<E>, PlanError> {
        let mut out = Vec::with_capacity(v.members * v.rows * v.cols);
        for member in 0..v.members {
            let (arena, at) = self.place(v, member, 0);
            let span = arena.read::<E>(at, self.span_bytes(v) / v.element.bytes())?;
            for row in span.chunks(v.ld) {
                out.extend_from_slice(&row[..v.cols]);
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
        let (arena, at) = self.place(self.view(t), 0, 0);
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
