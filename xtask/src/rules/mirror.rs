//! Structs that the host fills and a kernel reads exist twice: `#[repr(C)]` in Rust, plain in C++. Their sizes are
//! compared at every launch; here are the names, order and types of their fields, where two of equal size may have
//! been swapped or one forgotten.

use super::{
    Fault, Source,
    structs::{Field, Struct, cpp_structs, rust_structs},
    token::{Token, tokens},
    tree::KERNEL_MACROS,
};
use std::collections::BTreeMap;

/// Rust names of structs that C++ calls otherwise.
const RENAMED: [(&str, &str); 3] =
    [("HeadArgsShape", "Head"), ("MemberPtr", "Members"), ("MapSlot", "TensorMap")];
/// Rust names of fields that C++ calls otherwise: an address in Rust is a pointer in C++.
const RENAMED_FIELDS: [(&str, &str, &str); 1] = [("MemberPtr", "addr", "base")];
/// Fields that are signed in Rust and unsigned in C++: sums of integer atomics, in two's complement.
const SIGNED: [(&str, &str); 1] = [("Tally", "return_q20")];
/// A Rust field of this name, `[MemberPtr; N]`, stands for the next N `Members` of C++: their order is the launcher's.
const UNNAMED: &str = "buffers";
/// C++ structs without a mirror of their own, that stand for a longer one: `column.cu` reads the step and the seed.
const HEADS: [(&str, &str); 2] = [("OptimiserStateHead", "OptimiserState"), ("HyperHead", "Hyper")];

/// Structs that differ, and arguments of kernels that have no launcher's struct.
pub(crate) fn check(cpp: &[Source], rust: &[Source]) -> Vec<Fault> {
    let cpp_tokens: Vec<_> = cpp.iter().map(|s| tokens(&s.text)).collect();
    let rust_tokens: Vec<_> = rust.iter().map(|s| tokens(&s.text)).collect();
    let mut there: BTreeMap<&str, Vec<(&Source, Struct<'_>)>> = BTreeMap::new();
    for (source, tokens) in cpp.iter().zip(&cpp_tokens) {
        for s in cpp_structs(tokens) {
            there.entry(s.name).or_default().push((source, s));
        }
    }
    let constants = constants(cpp_tokens.iter().chain(&rust_tokens));
    let mut faults = Vec::new();
    let mut mirrored = Vec::new();
    for (source, tokens) in rust.iter().zip(&rust_tokens) {
        for s in rust_structs(tokens) {
            let name = RENAMED.iter().find(|(r, _)| *r == s.name).map_or(s.name, |(_, c)| c);
            let fault = |rule: String| Fault { path: source.path.clone(), line: s.line, rule };
            let Some(all) = there.get(name) else {
                faults.push(fault(format!("{} has no struct of that name in the kernel tree", s.name)));
                continue;
            };
            // Two kernel files may use one name for different structs: the launcher's own file counts.
            let own: Vec<_> = all.iter().filter(|(file, _)| stem(&file.path) == stem(&source.path)).collect();
            let meant = if own.is_empty() { all.iter().collect() } else { own };
            for (file, c) in meant {
                mirrored.push((file.path.as_str(), c.name));
                if let Err(rule) = same(&s, c, &constants) {
                    faults.push(fault(format!("{} and {}:{} differ: {rule}", s.name, file.path, c.line)));
                }
            }
        }
    }
    for (source, tokens) in cpp.iter().zip(&cpp_tokens) {
        for (name, line) in argument_structs(tokens) {
            let defined =
                |(path, s): &(&str, &str)| *s == name && (*path == source.path || path.ends_with(".cuh"));
            if !mirrored.iter().any(defined) {
                let rule =
                    format!("{name}, a kernel's arguments, has no #[repr(C)] struct of that name in Rust");
                faults.push(Fault { path: source.path.clone(), line, rule });
            }
        }
    }
    for (head, whole) in HEADS {
        let bytes = |name| there.get(name).and_then(|all| size(&all[0].1, &constants));
        if there.contains_key(head) && bytes(head) != bytes(whole) {
            let (source, s) = &there[head][0];
            let rule = format!("{head} is {:?} bytes, {whole} {:?}", bytes(head), bytes(whole));
            faults.push(Fault { path: source.path.clone(), line: s.line, rule });
        }
    }
    faults
}

fn stem(path: &str) -> &str {
    let name = path.rsplit('/').next().unwrap_or(path);
    name.split('.').next().unwrap_or(name)
}

fn argument_structs<'a>(file: &[Token<'a>]) -> Vec<(&'a str, usize)> {
    file.windows(5)
        .filter(|w| KERNEL_MACROS.iter().any(|m| w[0].is(m)))
        .filter(|w| w[1].is("(") && w[3].is(",") && w[2].is_word())
        .filter(|w| !w[2].is("name"))
        .map(|w| (w[4].text, w[4].line))
        .collect()
}

/// `NAME = 8` of either language; `const NAME: usize = 8` too.
fn constants<'a>(files: impl Iterator<Item = &'a Vec<Token<'a>>>) -> BTreeMap<&'a str, &'a str> {
    let mut out = BTreeMap::new();
    for file in files {
        for w in file.windows(5) {
            let number = |t: &Token<'a>| t.text.starts_with(|c: char| c.is_ascii_digit()).then_some(t.text);
            if w[0].is_word() && w[1].is("=") {
                out.extend(number(&w[2]).map(|n| (w[0].text, n)));
            } else if w[0].is_word() && w[1].is(":") && w[3].is("=") {
                out.extend(number(&w[4]).map(|n| (w[0].text, n)));
            }
        }
    }
    out
}

type Constants<'a> = BTreeMap<&'a str, &'a str>;

fn count<'a>(f: &Field<'a>, constants: &Constants<'a>) -> Option<&'a str> {
    f.array.map(|n| constants.get(n).copied().unwrap_or(n))
}

/// One name for a type of either language.
fn type_of<'a>(f: &Field<'a>) -> &'a str {
    match f.ty.first().copied().unwrap_or("") {
        _ if f.pointer => "u64",
        "Members" | "MemberPtr" => "Members",
        "float" => "f32",
        other => RENAMED.iter().find(|(r, _)| *r == other).map_or(other, |(_, c)| c),
    }
}

fn same<'a>(rust: &Struct<'a>, cpp: &Struct<'a>, constants: &Constants<'a>) -> Result<(), String> {
    let mut theirs = cpp.fields.iter().peekable();
    for a in &rust.fields {
        if a.name == UNNAMED && type_of(a) == "Members" {
            let n = count(a, constants).and_then(|n| n.parse().ok()).unwrap_or(0);
            let found =
                (0..n).filter(|_| theirs.next_if(|b| type_of(b) == "Members" && b.array.is_none()).is_some());
            let found = found.count();
            if found != n {
                return Err(format!("{n} buffers, {found} there"));
            }
            continue;
        }
        let Some(b) = theirs.next() else { return Err(format!("there is no {} there", a.name)) };
        let renamed = RENAMED_FIELDS.contains(&(rust.name, a.name, b.name));
        if a.name != b.name && !renamed {
            return Err(format!("{} is {} there", a.name, b.name));
        }
        let (here, there) = ((type_of(a), count(a, constants)), (type_of(b), count(b, constants)));
        let signed = SIGNED.contains(&(rust.name, a.name)) && (here.0, there.0) == ("i64", "u64");
        if here != there && !signed {
            let print = |(ty, n): (&str, Option<&str>)| n.map_or(ty.to_owned(), |n| format!("{ty}[{n}]"));
            return Err(format!("{} is {}, {} there", a.name, print(here), print(there)));
        }
    }
    theirs.next().map_or(Ok(()), |b| Err(format!("{} is missing here", b.name)))
}

/// Bytes of a struct of plain numbers.
fn size<'a>(s: &Struct<'a>, constants: &Constants<'a>) -> Option<usize> {
    s.fields
        .iter()
        .map(|f| {
            let one = match type_of(f) {
                "u8" => 1,
                "u16" => 2,
                "u32" | "i32" | "f32" => 4,
                "u64" | "i64" => 8,
                _ => return None,
            };
            Some(one * count(f, constants).map_or(Some(1), |n| n.parse().ok())?)
        })
        .sum()
}
