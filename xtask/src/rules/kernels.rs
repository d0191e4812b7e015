//! The rules on numbers that the kernel tree keeps, read off its tokens.

use super::{
    Fault, Source,
    token::{Kind, Token, after_close, tokens},
    tree::Tree,
};
use std::collections::{BTreeMap, BTreeSet};

/// How a file opens that is for one kind of GPU alone and has no host build.
const GPU_ONLY: &str = "// gpu:";
/// The header of target differences: the only one that may name what belongs to a target.
const PLATFORM: &str = "base/platform.cuh";
/// Headers whose business is to round: they alone may store F32 bits.
const ROUNDING: [&str; 2] = [PLATFORM, "base/rng.cuh"];
/// F64 for a fused multiply-add on a CPU without the instruction: whatever names this type there.
const EXACT_FMA: (&str, &str) = (PLATFORM, "D2");

/// Functions of the C library and of CUDA, without the `f` that some end in: other bits on every target.
const LIBRARY: [&str; 46] = [
    "abs",
    "acos",
    "asin",
    "atan",
    "atan2",
    "cbrt",
    "ceil",
    "cos",
    "cosh",
    "erf",
    "erfc",
    "exp",
    "exp10",
    "exp2",
    "expm1",
    "fabs",
    "fdim",
    "fdivide",
    "floor",
    "fma",
    "fmax",
    "fmin",
    "fmod",
    "hypot",
    "ldexp",
    "lgamma",
    "log",
    "log10",
    "log1p",
    "log2",
    "lrint",
    "nearbyint",
    "norm",
    "pow",
    "powi",
    "rcbrt",
    "rhypot",
    "rint",
    "round",
    "rsqrt",
    "sin",
    "sincos",
    "sinh",
    "sqrt",
    "tan",
    "tanh",
];
/// Names of the compiler that `base/` may use: each gives the same bits on both targets, or is no arithmetic.
const COMPILER: [&str; 43] = [
    "__AVX2__",
    "__CUDACC__",
    "__CUDA_ARCH__",
    "__FMA__",
    "__SSE2__",
    "__VA_ARGS__",
    "__attribute__",
    "__device__",
    "__global__",
    "__grid_constant__",
    "__launch_bounds__",
    "__forceinline__",
    "__noinline__",
    "__shared__",
    "__restrict__",
    "__int128",
    "__builtin_bit_cast",
    "__builtin_memcpy",
    "__builtin_clzll",
    "__builtin_shuffle",
    "__builtin_convertvector",
    "__builtin_sqrtf",
    "__builtin_fmaf",
    "__builtin_ia32_sqrtps",
    "__builtin_ia32_sqrtps256",
    "__builtin_ia32_cvtps2pd",
    "__builtin_ia32_cvtpd2ps",
    "__builtin_ia32_movmskps",
    "__builtin_ia32_movmskps256",
    "__byte_perm",
    "__fmaf_rn",
    "__fsqrt_rn",
    "__umul64hi",
    "__clzll",
    "__is_empty",
    "__atomic_fetch_add",
    "__atomic_fetch_or",
    "__ATOMIC_RELAXED",
    "__ATOMIC_ACQ_REL",
    "__align__",
    "__syncwarp",
    "__syncthreads",
    "__shfl_xor_sync",
];
/// What the base headers of one kind of GPU may use beside these.
const GPU_COMPILER: [&str; 3] = ["__ballot_sync", "__cvta_generic_to_shared", "__cvta_shared_to_generic"];
/// What kernels of one kind of GPU may use: they have no teams, since a warp is what their machinery is about.
const GPU_NAMES: [&str; 7] = [
    "threadIdx",
    "blockIdx",
    "__syncthreads",
    "__syncwarp",
    "__shfl_sync",
    "__shfl_xor_sync",
    "__cluster_dims__",
];
/// A thread's place in the grid: kernels know teams and items only, so that launch shapes change no bit.
const PLACES: [&str; 5] = ["threadIdx", "blockIdx", "blockDim", "gridDim", "warpSize"];
/// Types of floats in assembly.
const PTX_FLOATS: [&str; 7] = ["f16", "f16x2", "bf16", "bf16x2", "f32", "f64", "tf32"];
/// Ways to see a float as an integer, or memory as another type.
const PUNS: [&str; 8] = [
    "bits",
    "from_bits",
    "bit_cast",
    "reinterpret_cast",
    "memcpy",
    "union",
    "__float_as_uint",
    "__float_as_int",
];
/// Words that a file may use against the rule, with the reason.
const EXCEPTIONS: [(&str, &str, &str); 2] = [
    ("market/integer.cuh", "__int128", "both compilers have it, and money needs products of 128 bits"),
    (
        "market/reward.cuh",
        "bits",
        "rounds to the nearest integer: what is kept is a count, not a float's bits",
    ),
];

/// Every breach of the rules in `sources`, whose names are paths below `cu/`.
pub(crate) fn check(sources: &[Source]) -> Vec<Fault> {
    let tree = Tree::new(sources);
    let mut faults = Vec::new();
    let mut names: BTreeMap<&str, &str> = BTreeMap::new();
    let gpu_only = |s: &&Source| s.text.starts_with(GPU_ONLY);
    let gpu_headers: BTreeSet<&str> = sources.iter().filter(gpu_only).map(|s| file_name(&s.path)).collect();
    for source in sources {
        if let Some(other) = names.insert(file_name(&source.path), &source.path) {
            let rule = format!("{other} has the same name: NVRTC finds headers by name alone");
            faults.push(Fault { path: source.path.clone(), line: 1, rule });
        }
        let tokens = tokens(&source.text);
        let gpu_only = gpu_only(&source);
        let mut file = File { source, tokens: &tokens, tree: &tree, gpu_only, faults: Vec::new() };
        file.includes(&gpu_headers);
        file.check();
        faults.append(&mut file.faults);
    }
    faults.sort_by(|a, b| (&a.path, a.line).cmp(&(&b.path, b.line)));
    faults.dedup();
    faults
}

struct File<'a> {
    source: &'a Source,
    tokens: &'a [Token<'a>],
    tree: &'a Tree<'a>,
    gpu_only: bool,
    faults: Vec<Fault>,
}

fn file_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

impl File<'_> {
    fn fault(&mut self, line: usize, rule: impl Into<String>) {
        self.faults.push(Fault { path: self.source.path.clone(), line, rule: rule.into() });
    }

    fn excepted(&self, word: &str) -> bool {
        EXCEPTIONS.iter().any(|(path, excepted, _)| *path == self.source.path && *excepted == word)
    }

    fn in_base(&self) -> bool {
        self.source.path.starts_with("base/")
    }

    fn is_at(&self, i: usize, text: &str) -> bool {
        self.tokens.get(i).is_some_and(|t| t.is(text))
    }

    /// The first position from `i` on that is no qualifier.
    fn unqualified(&self, mut i: usize) -> usize {
        while ["const", "volatile", "__restrict__"].iter().any(|q| self.is_at(i, q)) {
            i += 1;
        }
        i
    }

    fn check(&mut self) {
        if !self.source.text.trim_start().starts_with("//") {
            self.fault(1, "a file opens with a comment: formula, shapes, what is added or overwritten");
        }
        self.doubles();
        self.argument_structs();
        if !ROUNDING.contains(&self.source.path.as_str()) {
            self.stored_bits();
        }
        if !self.in_base() {
            self.casts();
        }
        for (i, t) in self.tokens.iter().enumerate() {
            match t.kind {
                Kind::Word => {
                    self.wide_pointer(i);
                    self.names(i);
                    self.atomics(i);
                }
                Kind::Directive => self.conditional(i),
                _ => {}
            }
        }
    }

    /// `float*`, `const VF *`, `F8 (*p)[4]`, `float x[8]` as a parameter, `Members<float>`, `decltype(x)*`.
    fn wide_pointer(&mut self, i: usize) {
        let t = self.tokens[i];
        if t.is("decltype") && self.is_at(i + 1, "(") {
            if self.is_at(self.unqualified(after_close(self.tokens, i + 1)), "*") {
                self.fault(t.line, "a pointer to a deduced type could be wide: name the type");
            }
            return;
        }
        if t.is("f32") && !self.in_base() {
            return self.fault(t.line, "f32 is wide storage: a kernel stores `real`");
        }
        let arguments = self.is_at(i + 1, "<").then(|| after_close(self.tokens, i + 1));
        if let Some(end) = arguments
            && self.tree.pointers.contains(t.text)
        {
            let wide = self.tokens[i + 1..end].iter().find(|a| a.is_word() && self.tree.is_wide(a.text));
            if let Some(wide) = wide {
                let rule =
                    format!("{}<{}> points to wide numbers in memory: storage is `real`", t.text, wide.text);
                self.fault(t.line, rule);
            }
        }
        if !self.tree.is_wide(t.text) {
            return;
        }
        let next = self.unqualified(arguments.unwrap_or(i + 1));
        let to_array = self.is_at(next, "(") && self.is_at(next + 1, "*");
        if self.is_at(next, "*") || to_array {
            return self.fault(t.line, format!("a pointer to {}: wide numbers stay on chip", t.text));
        }
        let opens = i > 0 && ["(", ",", "const"].iter().any(|m| self.is_at(i - 1, m));
        if opens
            && self.tokens.get(next).is_some_and(Token::is_word)
            && self.is_at(next + 1, "[")
            && self.in_list(i)
        {
            self.fault(t.line, format!("a parameter that is an array of {} is a pointer", t.text));
        }
    }

    /// Casts that show memory as another type behind a name: `(u32&)y`, `*(u32*)&y`, and `(T*)p`, where a template's `T` may be wide.
    fn casts(&mut self) {
        let tokens = self.tokens;
        let words = tokens.windows(2).filter(|w| w[0].is("class") || w[0].is("typename"));
        let parameters: BTreeSet<&str> = words.map(|w| w[1].text).collect();
        for (i, t) in tokens.iter().enumerate().filter(|(_, t)| t.is("(")) {
            let name = self.unqualified(i + 1);
            let Some(of) = tokens.get(name).filter(|t| t.is_word()) else { continue };
            let end = if self.is_at(name + 1, "<") { after_close(tokens, name + 1) } else { name + 1 };
            let mark = self.unqualified(end);
            let close = (mark..).find(|k| !["*", "&", "&&", "const"].iter().any(|m| self.is_at(*k, m)));
            let Some(close) = close.filter(|k| *k > mark && self.is_at(*k, ")")) else { continue };
            // What follows a cast is what is cast; parameters without a name are followed by a body, an end or a qualifier.
            let next = tokens.get(close + 1);
            let casts = next.is_some_and(|n| {
                n.is("(")
                    || n.is("*")
                    || n.is("&")
                    || n.is_word() && !["const", "noexcept", "volatile"].contains(&n.text)
            });
            let rule = match () {
                () if !casts => continue,
                () if self.is_at(mark, "&") || self.is_at(mark, "&&") => {
                    "a cast to a reference shows a number's bits as another type"
                }
                () if next.is_some_and(|n| n.is("&")) => {
                    "a cast of an address shows a number's bits as another type"
                }
                () if parameters.contains(of.text) => {
                    "a pointer to a template's type could be wide: name the type"
                }
                () => continue,
            };
            self.fault(t.line, rule);
        }
    }

    /// Whether the innermost bracket open before `i` is a parenthesis.
    fn in_list(&self, i: usize) -> bool {
        let mut depth = 0;
        for t in self.tokens[..i].iter().rev() {
            match t.text {
                ")" | "}" | "]" => depth += 1,
                "(" | "{" | "[" if depth > 0 => depth -= 1,
                "(" => return true,
                "{" | "[" => return false,
                ";" if depth == 0 => return false,
                _ => {}
            }
        }
        false
    }

    /// `double`, and numbers without the `f` that makes them F32.
    fn doubles(&mut self) {
        let (file, name) = EXACT_FMA;
        let mut start = 0;
        let mut depth = 0_i32;
        for i in 0..self.tokens.len() {
            let t = self.tokens[i];
            depth += i32::from(t.is("{")) - i32::from(t.is("}"));
            let ends = depth == 0 && (t.is(";") || t.is("}")) || i + 1 == self.tokens.len();
            if !ends {
                continue;
            }
            let item = start..i + 1;
            start = i + 1;
            if self.source.path == file && self.tokens[item.clone()].iter().any(|t| t.is(name)) {
                continue;
            }
            for j in item {
                let t = self.tokens[j];
                if t.is("double") || t.is("double2") {
                    self.fault(t.line, "F64: kernels compute in F32");
                } else if t.kind == Kind::Number && is_double(t.text) {
                    self.fault(t.line, format!("{} is an F64 number: write {}f", t.text, t.text));
                }
            }
        }
    }

    /// Arrays and vectors of F32 in what a kernel takes; single host scalars may be there.
    fn argument_structs(&mut self) {
        let tree = self.tree;
        for name in &tree.arguments {
            let Some(s) = tree.structs.get(name) else { continue };
            let here = self.tokens.iter().any(|t| t.line == s.line && t.is(name));
            for f in s.fields.iter().filter(|_| here) {
                let array = f.array.is_some() && f.ty.iter().any(|t| tree.wide.contains(t));
                let vector = f.ty.iter().any(|t| tree.wide.contains(t) && tree.is_wide_block(t));
                let held = f.ty.iter().find(|t| tree.structs.contains_key(*t) && tree.is_wide_block(t));
                if array || vector || held.is_some_and(|t| !tree.arguments.contains(t)) {
                    let rule =
                        format!("{}.{}: an argument struct holds no array of wide numbers", s.name, f.name);
                    self.fault(f.line, rule);
                }
            }
        }
    }

    /// The library's functions, the compiler's names, the grid, assembly.
    fn names(&mut self, i: usize) {
        let t = self.tokens[i];
        let stem = t.text.strip_suffix('f').unwrap_or(t.text);
        let member = i > 0 && ["->", "."].iter().any(|m| self.is_at(i - 1, m));
        let called = self.is_at(i + 1, "(") && !member;
        if called && (LIBRARY.contains(&t.text) || LIBRARY.contains(&stem)) {
            self.fault(t.line, format!("{} differs between targets: math.cuh has what is allowed", t.text));
        }
        let known = self.in_base() && COMPILER.contains(&t.text)
            || self.in_base() && self.gpu_only && GPU_COMPILER.contains(&t.text)
            || self.gpu_only && GPU_NAMES.contains(&t.text)
            || self.excepted(t.text);
        if t.text.starts_with("__") && !known {
            let rule = format!("{} belongs to one compiler: base/ has what is allowed", t.text);
            self.fault(t.line, rule);
        }
        if PLACES.contains(&t.text) && !self.in_base() && !known {
            self.fault(t.line, format!("{}: a kernel knows its team and its items alone", t.text));
        }
        if t.is("asm") {
            if self.source.path != PLATFORM && !(self.in_base() && self.gpu_only) {
                self.fault(t.line, "assembly belongs to platform.cuh and to base headers of one kind of GPU");
            }
            self.assembly(i);
        }
    }

    /// What assembly could do behind the back of the other rules: store wide numbers, add floats in any order.
    fn assembly(&mut self, i: usize) {
        let Some(open) = (i..i + 3).find(|n| self.is_at(*n, "(")) else { return };
        let line = self.tokens[i].line;
        let texts = self.tokens[open..after_close(self.tokens, open)].iter().filter(|t| t.kind == Kind::Text);
        for text in texts {
            let words = text.text.split(|c: char| !c.is_alphanumeric() && !['.', ':', '_'].contains(&c));
            for word in words.filter(|w| w.contains('.')) {
                if let Some(rule) = assembly_fault(word) {
                    self.fault(line, format!("{word}: {rule}"));
                }
            }
        }
    }

    /// `#include`: nothing from outside the tree, and nothing of one kind of GPU where there is a host build.
    fn includes(&mut self, gpu_headers: &BTreeSet<&str>) {
        let tokens = self.tokens;
        for (i, t) in tokens.iter().enumerate() {
            if t.kind != Kind::Directive || t.text != "include" {
                continue;
            }
            let name = tokens.get(i + 1).map_or("", |t| t.text.trim_matches('"'));
            if !name.ends_with(".cuh") {
                self.fault(t.line, "the tree stands alone: no header of the system or of CUDA");
            }
            if gpu_headers.contains(name) && !self.gpu_only {
                self.fault(t.line, format!("{name} is for one kind of GPU; this file has a host build"));
            }
        }
    }

    /// Atomics are platform.cuh's, on integers alone: a sum of floats depends on its order.
    fn atomics(&mut self, i: usize) {
        let t = self.tokens[i];
        let Some(rest) = t.text.strip_prefix("atomic") else { return };
        if rest.starts_with(char::is_uppercase) && self.source.path != PLATFORM {
            self.fault(t.line, format!("{} is CUDA's: platform.cuh has atomics on integers", t.text));
        }
        if self.is_at(i + 1, "(") {
            let list = &self.tokens[i + 1..after_close(self.tokens, i + 1)];
            if list.iter().any(|a| a.is_word() && self.tree.is_wide(a.text)) {
                self.fault(t.line, format!("{} on floats: a sum would depend on its order", t.text));
            }
        }
    }

    /// `#if` outside base/, but for `#ifndef BOUND`, `#define BOUND n`, `#endif`.
    fn conditional(&mut self, i: usize) {
        let t = self.tokens[i];
        if self.in_base() || !["if", "ifdef", "ifndef", "elif", "else"].contains(&t.text) {
            return;
        }
        let name = self.tokens.get(i + 1).map_or("", |t| t.text);
        let is = |n: usize, kind: Kind, text: &str| {
            self.tokens.get(i + n).is_some_and(|t| t.kind == kind && t.text == text)
        };
        let bound = t.text == "ifndef"
            && is(2, Kind::Directive, "define")
            && is(3, Kind::Word, name)
            && self.tokens.get(i + 4).is_some_and(|t| t.kind == Kind::Number)
            && is(5, Kind::Directive, "endif");
        if !bound {
            self.fault(t.line, format!("#{}: differences between targets belong to base/", t.text));
        }
    }

    /// Outside base/ no float is seen as an integer; within, none is stored as one but where numbers are rounded.
    fn stored_bits(&mut self) {
        for i in 0..self.tokens.len() {
            let t = self.tokens[i];
            if !PUNS.contains(&t.text) || self.excepted(t.text) {
                continue;
            }
            let used = t.is("union") || self.is_at(i + 1, "(") || self.is_at(i + 1, "<");
            if used && !self.in_base() {
                self.fault(
                    t.line,
                    format!("{}: F32 bits as an integer, outside the headers that round", t.text),
                );
            } else if used && self.is_stored(i) {
                self.fault(t.line, "F32 bits stored as an integer, outside the headers that round");
            }
        }
    }

    /// Whether the statement around `i` assigns to memory: `p[k] = …`, `*p = …`, `p->x = …`.
    fn is_stored(&self, i: usize) -> bool {
        let edge = |t: &Token<'_>| t.is(";") || t.is("{") || t.is("}");
        let start = self.tokens[..i].iter().rposition(edge).map_or(0, |n| n + 1);
        let statement = &self.tokens[start..i];
        let Some(assign) = statement.iter().position(|t| ["=", "|=", "^=", "+="].iter().any(|m| t.is(m)))
        else {
            return false;
        };
        let to = &statement[..assign];
        to.first().is_some_and(|t| t.is("*")) || to.iter().any(|t| t.is("[") || t.is("->"))
    }
}

/// What an instruction does that no kernel may.
fn assembly_fault(instruction: &str) -> Option<&'static str> {
    let parts: Vec<&str> = instruction.split('.').collect();
    let has = |part: &str| parts.iter().any(|p| p.split("::").next() == Some(part));
    let floats = parts.iter().any(|p| PTX_FLOATS.contains(p));
    match parts[0] {
        _ if has("f64") => Some("kernels compute in F32"),
        "st" if !has("shared") => Some("memory is written as `real` or integers, in C++ or by a tensor copy"),
        // What is written comes first: `shared.global` is a copy from memory.
        "cp" if has("global") && has("shared") && !has("tensor") && !reads_global(&parts) => {
            Some("a copy of plain bytes to memory could be of wide numbers: tensor copies are of `real`")
        }
        "red" | "atom" | "multimem" if floats => Some("a sum of floats would depend on its order"),
        "red" | "atom" | "multimem" if !has("shared") => Some("platform.cuh has atomics on integers"),
        "cp" if has("reduce") => Some("a sum of floats would depend on its order"),
        _ => None,
    }
}

/// Whether a copy's second place is memory.
fn reads_global(parts: &[&str]) -> bool {
    let at = |place: &str| parts.iter().position(|p| p.split("::").next() == Some(place));
    at("shared") < at("global")
}

fn is_double(number: &str) -> bool {
    let hex = number.starts_with("0x") || number.starts_with("0X");
    !hex && number.contains(['.', 'e', 'E']) && !number.ends_with(['f', 'F'])
}
