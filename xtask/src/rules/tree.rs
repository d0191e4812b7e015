//! What the rules need to know of the whole kernel tree before they look at one file: which names are wide, which
//! templates hold pointers, which structs kernels take as arguments.

use super::{
    Source,
    structs::{Struct, cpp_structs},
    token::{Kind, Token, after_close, tokens},
};
use std::collections::{BTreeMap, BTreeSet};

/// Numbers wider than storage: the language's, and those that CUDA brings.
const WIDE: [&str; 8] = ["float", "double", "float1", "float2", "float3", "float4", "double2", "half2"];

/// What defines a kernel: portable, or of one kind of GPU; and those that themselves wait for the launch ahead.
pub(crate) const KERNEL_MACROS: [&str; 4] = ["KERNEL", "GPU_KERNEL", "EARLY_KERNEL", "EARLY_GPU_KERNEL"];

pub(crate) struct Tree<'a> {
    /// The numbers themselves and their other names: `float`, `VF`.
    pub(crate) wide: BTreeSet<&'a str>,
    /// Structs that hold a wide number, at any depth: `F8`, `HeadShared`.
    pub(crate) wide_structs: BTreeSet<&'a str>,
    /// Templates with a pointer to their parameter: `Members`.
    pub(crate) pointers: BTreeSet<&'a str>,
    /// Structs that a kernel takes, and those that they hold.
    pub(crate) arguments: BTreeSet<&'a str>,
    pub(crate) structs: BTreeMap<&'a str, Struct<'a>>,
}

impl<'a> Tree<'a> {
    pub(crate) fn new(sources: &'a [Source]) -> Self {
        let mut tree = Tree {
            wide: WIDE.into(),
            wide_structs: BTreeSet::new(),
            pointers: ["Members"].into(),
            arguments: BTreeSet::new(),
            structs: BTreeMap::new(),
        };
        let all: Vec<Vec<Token<'a>>> = sources.iter().map(|s| tokens(&s.text)).collect();
        for file in &all {
            tree.structs.extend(cpp_structs(file).into_iter().map(|s| (s.name, s)));
            tree.arguments.extend(argument_structs(file));
        }
        // Names may stand for names that are seen later: until nothing changes.
        loop {
            let before = tree.size();
            all.iter().for_each(|file| tree.add_aliases(file));
            tree.add_structs();
            if tree.size() == before {
                return tree;
            }
        }
    }

    fn size(&self) -> usize {
        self.wide.len() + self.wide_structs.len() + self.pointers.len() + self.arguments.len()
    }

    /// Whether `name` is a wide number or holds one.
    pub(crate) fn is_wide(&self, name: &str) -> bool {
        self.wide.contains(name) || self.wide_structs.contains(name)
    }

    /// Whether `name` is more than one wide number: a vector, an array, or a struct that holds such.
    pub(crate) fn is_wide_block(&self, name: &str) -> bool {
        if self.wide.contains(name) {
            return name != "float" && name != "double";
        }
        self.structs.get(name).is_some_and(|s| {
            s.fields.iter().any(|f| {
                f.ty.iter().any(|t| *t != name && self.is_wide_block(t))
                    || f.array.is_some() && f.ty.iter().any(|t| self.wide.contains(t))
            })
        })
    }

    /// `typedef float VF …;`, `using V = float;`, `#define V float`.
    fn add_aliases(&mut self, file: &[Token<'a>]) {
        for (i, t) in file.iter().enumerate() {
            let [name, body @ ..] = &file[i + 1..] else { continue };
            if t.kind != Kind::Directive || !t.is("define") {
                continue;
            }
            // A type is words alone; what has parentheses is a macro of arguments, or a number.
            let body: Vec<_> =
                body.iter().take_while(|b| b.line == name.line && b.kind != Kind::Directive).collect();
            if body.iter().all(|b| b.is_word()) && body.iter().any(|b| self.wide.contains(b.text)) {
                self.wide.insert(name.text);
            }
        }
        for (i, t) in file.iter().enumerate().filter(|(_, t)| t.is("typedef") || t.is("using")) {
            let statement: Vec<_> = file[i + 1..].iter().take_while(|t| !t.is(";")).collect();
            if !statement.iter().any(|t| t.is_word() && self.wide.contains(t.text)) {
                continue;
            }
            let name = if t.is("using") {
                statement.first()
            } else {
                let attribute = statement.iter().position(|t| t.is("__attribute__"));
                statement[..attribute.unwrap_or(statement.len())].last()
            };
            self.wide.extend(name.filter(|t| t.is_word()).map(|t| t.text));
        }
    }

    fn add_structs(&mut self) {
        for s in self.structs.values() {
            for f in &s.fields {
                let any = |what: &dyn Fn(&str) -> bool| f.ty.iter().any(|t| what(t));
                if !f.pointer && any(&|t| self.is_wide(t)) && !any(&|t| self.pointers.contains(t)) {
                    self.wide_structs.insert(s.name);
                }
                let of_parameter = any(&|t| s.params.contains(&t));
                if of_parameter && (f.pointer || any(&|t| self.pointers.contains(t))) {
                    self.pointers.insert(s.name);
                }
                if self.arguments.contains(s.name) {
                    self.arguments.extend(f.ty.iter().filter(|t| self.structs.contains_key(*t)));
                }
            }
        }
        for pointer in &self.pointers {
            self.arguments.remove(pointer);
        }
    }
}

/// The second argument of every `KERNEL(name, Args, …)` and what else defines one.
fn argument_structs<'a>(file: &[Token<'a>]) -> Vec<&'a str> {
    let mut out = Vec::new();
    for (i, t) in file.iter().enumerate() {
        let opens_line = i == 0 || file[i - 1].kind != Kind::Directive;
        if KERNEL_MACROS.iter().any(|m| t.is(m)) && opens_line && file.get(i + 1).is_some_and(|t| t.is("(")) {
            let inside = &file[i + 2..after_close(file, i + 1)];
            out.extend(inside.get(2).map(|t| t.text));
        }
    }
    out
}
