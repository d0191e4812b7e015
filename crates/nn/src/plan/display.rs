use super::{Place, Plan};
use foxhunt_kernels::Element;
use std::fmt;

fn element(e: Element) -> String {
    match e {
        Element::Real(d) => d.to_string(),
        Element::Struct(n) => format!("struct{n}"),
        other => format!("{other:?}").to_lowercase(),
    }
}

impl fmt::Display for Plan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "plan {}, {} member{}",
            self.dtype,
            self.members,
            if self.members == 1 { "" } else { "s" }
        )?;
        writeln!(f, "tensors")?;
        for t in &self.tensors {
            write!(f, "  {:<22} {:<9} [{}, {}]", t.name, element(t.element), t.rows, t.cols)?;
            if t.ld != t.cols {
                write!(f, " ld {}", t.ld)?;
            }
            match t.place {
                Place::Own => {}
                Place::Inside { of, offset } => write!(f, " in {} at {offset}", self.info(of).name)?,
                Place::External(_) => write!(f, " external")?,
            }
            if t.shared {
                write!(f, " shared")?;
            }
            writeln!(f)?;
        }
        for (i, program) in self.programs.iter().enumerate() {
            let mut steps = self.steps.iter().filter(|s| s.program == i).peekable();
            if steps.peek().is_none() {
                continue;
            }
            writeln!(f, "program {program}")?;
            for step in steps {
                let names = |ts: Vec<super::Tensor>| {
                    ts.iter().map(|t| self.info(*t).name.clone()).collect::<Vec<_>>().join(", ")
                };
                let op = &step.op;
                write!(f, "  {:<20} {} -> {}", op.name(), names(op.reads()), names(op.writes()))?;
                let attributes = op.attributes();
                if !attributes.is_empty() {
                    write!(f, "  ({attributes})")?;
                }
                writeln!(f)?;
            }
        }
        Ok(())
    }
}
