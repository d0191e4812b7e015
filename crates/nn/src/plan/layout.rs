//! Where every buffer of a plan lies in its arena, and the commands of its programs at given addresses.

use super::{Lowering, Options, Place, Plan, PlanError};
use foxhunt_device::{ARENA_ALIGN, Command};
use foxhunt_kernels::{Element, View};

/// Offsets in bytes, distances between members in elements.
pub(super) struct Layout {
    offsets: Vec<usize>,
    strides: Vec<usize>,
    /// First and last byte of each guard, and the buffer before it.
    pub(super) guards: Vec<(usize, usize, String)>,
    /// Bytes of the arena.
    pub(super) bytes: usize,
}

impl Plan {
    pub(super) fn layout(&self, options: Options) -> Layout {
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
            strides[i] = self.member_stride(i);
            offsets[i] = end;
            let used = end + self.own_bytes(i);
            end = (used + options.guard_bytes).next_multiple_of(ARENA_ALIGN);
            if options.guard_bytes > 0 {
                guards.push((used, end, t.name.clone()));
            }
        }
        Layout { offsets, strides, guards, bytes: end }
    }

    /// Elements from one member's part of a tensor to the next.
    fn member_stride(&self, t: usize) -> usize {
        let t = &self.tensors[t];
        match t.element {
            Element::Real(_) => (t.rows * t.ld).next_multiple_of(8),
            _ => t.rows * t.ld,
        }
    }

    /// Bytes of a tensor that has its own stretch of the arena, all members.
    pub(super) fn own_bytes(&self, t: usize) -> usize {
        let info = &self.tensors[t];
        let members = if info.shared { 1 } else { self.members };
        self.member_stride(t) * members * info.element.bytes()
    }

    /// The tensor whose memory `t` lies in, itself or another, and how many elements in.
    pub(super) fn owner(&self, t: usize) -> (usize, usize) {
        let (mut owner, mut skip) = (t, 0);
        while let Place::Inside { of, offset } = self.tensors[owner].place {
            skip += offset;
            owner = of.0 as usize;
        }
        (owner, skip)
    }

    /// Every tensor's buffer in an arena at `base`.
    pub(super) fn lowering(&self, layout: &Layout, base: u64) -> Lowering {
        let views = self
            .tensors
            .iter()
            .enumerate()
            .map(|(i, t)| {
                let (owner, skip) = self.owner(i);
                let (start, member_stride) = match self.tensors[owner].place {
                    Place::External(e) => (self.externals[e].0.addr, self.externals[e].0.member_stride),
                    _ => (
                        base + layout.offsets[owner] as u64,
                        if t.shared { 0 } else { layout.strides[owner] },
                    ),
                };
                View {
                    name: t.name.clone(),
                    addr: start + (skip * t.element.bytes()) as u64,
                    element: t.element,
                    rows: t.rows,
                    cols: t.cols,
                    ld: t.ld,
                    members: if t.shared { 1 } else { self.members },
                    member_stride,
                }
            })
            .collect();
        Lowering { views, dtype: self.dtype, members: self.members }
    }

    /// The commands of program `program`, in order.
    pub(super) fn commands(&self, program: usize, lowering: &Lowering) -> Result<Vec<Command>, PlanError> {
        let mut commands = Vec::new();
        for step in self.steps.iter().filter(|s| s.program == program) {
            commands.extend(step.op.lower(lowering)?);
        }
        Ok(commands)
    }

    /// No tensor that an operation overwrites in place is read by another.
    pub(super) fn check_consumed(&self) -> Result<(), PlanError> {
        for (i, step) in self.steps.iter().enumerate() {
            let Some(x) = step.op.consumes() else { continue };
            let reader = self.steps.iter().enumerate().find(|(j, s)| *j != i && s.op.reads().contains(&x));
            if let Some((_, reader)) = reader {
                let (by, name) = (step.op.name(), &self.info(x).name);
                let what = format!("{name} is overwritten by {by} and read by {}", reader.op.name());
                return Err(PlanError::Shape { op: by, what });
            }
        }
        Ok(())
    }
}
