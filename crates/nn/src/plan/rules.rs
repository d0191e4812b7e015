//! The rules on numbers that a plan keeps, read off its tensors and commands (ARCHITECTURE.md, "Conventions"): in a
//! BF16 plan no buffer is wide and no command converts; every command stays in the buffers that it names.

use super::{Lowering, Options, Place, Plan, PlanError};
use foxhunt_core::DType;
use foxhunt_device::{Command, Region};
use foxhunt_kernels::Element;
use std::collections::BTreeSet;

/// Where the arena is taken to be: addresses are compared, not used.
const BASE: u64 = 1 << 32;

/// A rule that a plan breaks.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PlanFault {
    /// A real buffer that is not of the plan's storage type.
    #[error("{tensor} stores {stored} in a plan of {plan}")]
    Wide {
        /// Which tensor.
        tensor: String,
        /// What it stores.
        stored: DType,
        /// What the plan stores.
        plan: DType,
    },
    /// A command whose real buffers differ in storage type, among themselves or from the command's own.
    #[error("{command} of program {program} converts: {what}")]
    Conversion {
        /// Which program.
        program: String,
        /// Which kernel or product.
        command: String,
        /// What it reads and writes.
        what: String,
    },
    /// A command that names memory beyond every buffer of the plan.
    #[error("{command} of program {program} goes beyond its buffers: {what}")]
    Outside {
        /// Which program.
        program: String,
        /// Which kernel or product.
        command: String,
        /// Which memory.
        what: String,
    },
}

impl Plan {
    /// Every rule that the plan breaks; needs no device.
    ///
    /// # Errors
    /// Launchers that refuse their buffers.
    pub fn faults(&self) -> Result<Vec<PlanFault>, PlanError> {
        let mut faults = Vec::new();
        for t in &self.tensors {
            if let Element::Real(stored) = t.element
                && stored != self.dtype
            {
                faults.push(PlanFault::Wide { tensor: t.name.clone(), stored, plan: self.dtype });
            }
        }
        let lowering = self.lowering(&self.layout(Options::default()), BASE);
        for (i, program) in self.programs.iter().enumerate() {
            for command in self.commands(i, &lowering)? {
                self.check_command(program, &command, &lowering, &mut faults);
            }
        }
        Ok(faults)
    }

    fn check_command(
        &self,
        program: &str,
        command: &Command,
        lowering: &Lowering,
        faults: &mut Vec<PlanFault>,
    ) {
        let (name, own, regions): (String, DType, Vec<&Region>) = match command {
            Command::Launch(l) => {
                (l.kernel.name.to_owned(), l.dtype, l.reads.iter().chain(&l.writes).collect())
            }
            Command::Gemm(g) => {
                (format!("the product {}", g.name), g.dtype, vec![&g.a.region, &g.b.region, &g.c.region])
            }
        };
        let (program, command) = (program.to_owned(), name);
        let mut stored = BTreeSet::from([own]);
        for region in &regions {
            match self.stored_in(region, lowering) {
                Some(Element::Real(dtype)) => {
                    stored.insert(dtype);
                }
                Some(_) => {}
                None => {
                    let what = format!("{} ({} bytes at {:#x})", region.name, region.bytes, region.addr);
                    let (program, command) = (program.clone(), command.clone());
                    faults.push(PlanFault::Outside { program, command, what });
                }
            }
        }
        if stored.len() > 1 {
            let names: Vec<&str> = regions.iter().map(|r| r.name.as_str()).collect();
            let what = format!("{} in bf16 and f32", names.join(", "));
            faults.push(PlanFault::Conversion { program, command, what });
        }
    }

    /// What the buffer that holds `region` stores.
    fn stored_in(&self, region: &Region, lowering: &Lowering) -> Option<Element> {
        let end = region.addr + region.bytes as u64;
        self.tensors.iter().zip(&lowering.views).find_map(|(t, view)| {
            let whole = view.region();
            let inside = whole.addr <= region.addr && end <= whole.addr + whole.bytes as u64;
            (t.place == Place::Own && inside).then_some(t.element)
        })
    }

    /// Tensors that program `program` reads before it writes them, by the names of those that own their memory: what
    /// the host, or the run before, must have put there.
    ///
    /// # Errors
    /// [`PlanError::Unknown`].
    pub fn inputs(&self, program: &str) -> Result<Vec<&str>, PlanError> {
        let Some(program) = self.programs.iter().position(|p| p == program) else {
            return Err(PlanError::Unknown { what: "program", name: program.to_owned() });
        };
        let (mut written, mut inputs) = (BTreeSet::new(), BTreeSet::new());
        for step in self.steps.iter().filter(|s| s.program == program) {
            let owners = |ts: Vec<super::Tensor>| ts.into_iter().map(|t| self.owner(t.0 as usize).0);
            inputs.extend(owners(step.op.reads()).filter(|t| !written.contains(t)));
            written.extend(owners(step.op.writes()));
        }
        Ok(inputs.into_iter().map(|t| self.tensors[t].name.as_str()).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        Tensor,
        op::{Operation, Softmax},
    };
    use foxhunt_device::Launch;
    use foxhunt_kernels::TREE;

    /// A launch that says what it reads and writes, whatever the launcher of its kernel would have said.
    struct Planted {
        x: Tensor,
        y: Tensor,
        dtype: DType,
        beyond: usize,
    }

    impl Operation for Planted {
        fn name(&self) -> &'static str {
            "planted"
        }

        fn reads(&self) -> Vec<Tensor> {
            vec![self.x]
        }

        fn writes(&self) -> Vec<Tensor> {
            vec![self.y]
        }

        fn lower(&self, cx: &Lowering) -> Result<Vec<Command>, PlanError> {
            let mut written = cx.view(self.y).region();
            written.bytes += self.beyond;
            Ok(vec![Command::Launch(Launch {
                kernel: TREE.kernels[0],
                dtype: self.dtype,
                defines: Vec::new(),
                maps: Vec::new(),
                beside: false,
                args: Vec::new(),
                teams: 1,
                members: 1,
                reads: vec![cx.view(self.x).region()],
                writes: vec![written],
                early: Vec::new(),
            })])
        }
    }

    fn messages(plan: &Plan) -> Vec<String> {
        plan.faults().unwrap().iter().map(PlanFault::to_string).collect()
    }

    #[test]
    fn a_plan_of_one_storage_type_has_no_fault() {
        for dtype in DType::ALL {
            let mut plan = Plan::new(dtype, 3);
            let x = plan.real_buffer("x", 5, 33);
            let y = Softmax::push(&mut plan, "y", false, x);
            let beyond = 0;
            plan.run(Planted { x, y, dtype, beyond });
            assert_eq!(plan.faults().unwrap(), []);
            assert_eq!(plan.inputs("main").unwrap(), ["x"]);
            assert!(plan.inputs("other").is_err());
        }
    }

    #[test]
    fn a_wide_tensor_is_found() {
        let mut plan = Plan::new(DType::Bf16, 1);
        plan.buffer("counts", Element::U32, 1, 8);
        plan.buffer("moments", Element::Real(DType::F32), 1, 8);
        assert_eq!(messages(&plan), ["moments stores f32 in a plan of bf16"]);
    }

    #[test]
    fn a_conversion_is_found() {
        let mut plan = Plan::new(DType::Bf16, 1);
        let x = plan.real_buffer("x", 1, 8);
        let y = plan.buffer("y", Element::Real(DType::F32), 1, 8);
        plan.run(Planted { x, y, dtype: DType::Bf16, beyond: 0 });
        let found = messages(&plan);
        assert_eq!(found.len(), 2, "{found:?}");
        assert!(found[1].ends_with("of program main converts: x, y in bf16 and f32"), "{found:?}");
        // A kernel's F32 build on BF16 buffers is one too.
        let mut plan = Plan::new(DType::Bf16, 1);
        let (x, y) = (plan.real_buffer("x", 1, 8), plan.real_buffer("y", 1, 8));
        plan.run(Planted { x, y, dtype: DType::F32, beyond: 0 });
        assert!(matches!(plan.faults().unwrap()[..], [PlanFault::Conversion { .. }]));
    }

    #[test]
    fn memory_beyond_a_buffer_is_found() {
        let mut plan = Plan::new(DType::Bf16, 2);
        let (x, y) = (plan.real_buffer("x", 1, 8), plan.real_buffer("y", 3, 8));
        plan.run(Planted { x, y, dtype: DType::Bf16, beyond: 2 });
        let found = messages(&plan);
        assert!(found.len() == 1 && found[0].contains("goes beyond its buffers: y (98 bytes"), "{found:?}");
    }
}
