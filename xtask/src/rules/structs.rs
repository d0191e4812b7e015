//! Structs of the kernel tree and the `#[repr(C)]` structs of Rust, as names, fields and types.

use super::token::{Kind, Token, after_close};

/// A field.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Field<'a> {
    pub(crate) name: &'a str,
    /// The words and marks of its type, without `const`.
    pub(crate) ty: Vec<&'a str>,
    pub(crate) pointer: bool,
    /// What stands between the brackets of an array.
    pub(crate) array: Option<&'a str>,
    pub(crate) line: usize,
}

/// A struct.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Struct<'a> {
    pub(crate) name: &'a str,
    /// Parameters of its template.
    pub(crate) params: Vec<&'a str>,
    pub(crate) fields: Vec<Field<'a>>,
    pub(crate) line: usize,
}

/// The structs with a name of a C++ source. Methods, static members and nested types are left out.
pub(crate) fn cpp_structs<'a>(tokens: &[Token<'a>]) -> Vec<Struct<'a>> {
    let mut out = Vec::new();
    for (i, t) in tokens.iter().enumerate() {
        if !(t.is("struct") && t.is_word()) {
            continue;
        }
        let mut at = i + 1;
        if tokens.get(at).is_some_and(|t| t.is("alignas")) {
            at = after_close(tokens, at + 1);
        }
        let (Some(name), Some(open)) = (tokens.get(at), tokens.get(at + 1)) else { continue };
        if !name.is_word() || !open.is("{") {
            continue;
        }
        let body = &tokens[at + 2..after_close(tokens, at + 1) - 1];
        out.push(Struct {
            name: name.text,
            params: template_params(&tokens[..i]),
            fields: cpp_fields(body),
            line: name.line,
        });
    }
    out
}

/// Type parameters of the `template<…>` that ends where `before` ends.
fn template_params<'a>(before: &[Token<'a>]) -> Vec<&'a str> {
    if !before.last().is_some_and(|t| t.is(">")) {
        return Vec::new();
    }
    let Some(start) = before.iter().rposition(|t| t.is("template")) else { return Vec::new() };
    before[start..]
        .windows(2)
        .filter(|w| w[0].is("class") || w[0].is("typename"))
        .map(|w| w[1].text)
        .collect()
}

fn cpp_fields<'a>(body: &[Token<'a>]) -> Vec<Field<'a>> {
    let mut out = Vec::new();
    let mut i = 0;
    while i < body.len() {
        let end = i + body[i..].iter().position(|t| t.is(";") || t.is("{")).unwrap_or(body.len() - i);
        let statement = &body[i..end];
        if body.get(end).is_some_and(|t| t.is("{")) {
            i = after_close(body, end); // a method or a nested struct
            continue;
        }
        i = end + 1;
        let ignored = ["static", "static_assert", "typedef", "using", "template", "friend", "("];
        if !statement.iter().any(|t| ignored.iter().any(|w| t.is(w))) {
            declarators(statement, &mut out);
        }
    }
    out
}

/// `const T<X> *a, b[4]` as fields.
fn declarators<'a>(statement: &[Token<'a>], out: &mut Vec<Field<'a>>) {
    let words: Vec<Token<'a>> =
        statement.iter().filter(|t| t.kind != Kind::Directive && !t.is("const")).copied().collect();
    let Some(first) = words.first() else { return };
    let mut at = 1;
    if words.get(1).is_some_and(|t| t.is("<")) {
        at = after_close(&words, 1);
    }
    let ty: Vec<&str> = words[..at].iter().map(|t| t.text).collect();
    while at < words.len() {
        let mut pointer = false;
        while at < words.len() && !words[at].is_word() {
            pointer |= words[at].is("*");
            at += 1;
        }
        let Some(name) = words.get(at) else { return };
        let array = words.get(at + 1).filter(|t| t.is("[")).and_then(|_| words.get(at + 2));
        out.push(Field {
            name: name.text,
            ty: ty.clone(),
            pointer,
            array: array.map(|t| t.text),
            line: first.line,
        });
        at += 1;
        while at < words.len() && !words[at].is(",") {
            at += 1;
        }
    }
}

/// The `#[repr(C)]` structs of a Rust source.
pub(crate) fn rust_structs<'a>(tokens: &[Token<'a>]) -> Vec<Struct<'a>> {
    let mut out = Vec::new();
    for (i, w) in tokens.windows(5).enumerate() {
        // `repr(C)` and `repr(C, align(64))`.
        let opens = ["[", "repr", "(", "C"].iter().zip(w).all(|(want, t)| t.is(want));
        if !opens || !(w[4].is(")") || w[4].is(",")) {
            continue;
        }
        // Other attributes may follow, an enum may be what is meant.
        let mut at = after_close(tokens, i);
        while tokens.get(at).is_some_and(|t| t.is("#")) {
            at = after_close(tokens, at + 1);
        }
        while tokens.get(at).is_some_and(|t| !t.is("struct") && !t.is("enum") && !t.is("union")) {
            at += 1;
        }
        if !tokens.get(at).is_some_and(|t| t.is("struct")) || !tokens.get(at + 2).is_some_and(|t| t.is("{")) {
            continue;
        }
        let body = &tokens[at + 3..after_close(tokens, at + 2) - 1];
        let name = tokens[at + 1];
        out.push(Struct { name: name.text, params: Vec::new(), fields: rust_fields(body), line: name.line });
    }
    out
}

fn rust_fields<'a>(body: &[Token<'a>]) -> Vec<Field<'a>> {
    let mut out = Vec::new();
    let mut at = 0;
    while at < body.len() {
        let Some(colon) = body[at..].iter().position(|t| t.is(":")).map(|n| at + n) else { break };
        let name = body[colon - 1];
        let mut end = colon + 1;
        while end < body.len() && !body[end].is(",") {
            end = if body[end].is("[") { after_close(body, end) } else { end + 1 };
        }
        let ty = &body[colon + 1..end];
        let is_array = ty.first().is_some_and(|t| t.is("["));
        let words: Vec<&str> = ty
            .iter()
            .filter(|t| t.is_word())
            .map(|t| t.text)
            .take(if is_array { 1 } else { usize::MAX })
            .collect();
        let array = ty.iter().position(|t| t.is(";")).and_then(|n| ty.get(n + 1)).map(|t| t.text);
        out.push(Field { name: name.text, ty: words, pointer: false, array, line: name.line });
        at = end + 1;
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::token::tokens;

    #[test]
    fn both_languages_give_the_same_fields() {
        let cpp = tokens(
            "template<class T> struct alignas(16) Pair { T* base; i64 stride; };\n\
             struct Args {\n  Members<const real> x[8], y; static int f(int a) { return a; } i32 n, ld; float eps; };",
        );
        let cpp = cpp_structs(&cpp);
        assert_eq!(cpp[0].params, ["T"]);
        assert!(cpp[0].fields[0].pointer && !cpp[0].fields[1].pointer);
        let rust = tokens(
            "#[repr(C)]\n#[derive(Clone, Copy)]\npub struct Args {\n    /// Doc: x.\n    pub x: [MemberPtr; 8],\n    \
             y: MemberPtr,\n    n: i32, ld: i32,\n    eps: f32,\n}\n#[repr(C)] enum E { A }",
        );
        let rust = rust_structs(&rust);
        assert_eq!(rust.len(), 1);
        let names = |s: &Struct<'_>| s.fields.iter().map(|f| f.name.to_owned()).collect::<Vec<_>>();
        assert_eq!(names(&cpp[1]), ["x", "y", "n", "ld", "eps"]);
        assert_eq!(names(&rust[0]), names(&cpp[1]));
        assert_eq!((cpp[1].fields[0].array, rust[0].fields[0].array), (Some("8"), Some("8")));
        assert_eq!(cpp[1].fields[0].ty, ["Members", "<", "real", ">"]);
        assert_eq!(rust[0].fields[0].ty, ["MemberPtr"]);
        assert_eq!((cpp[1].line, rust[0].fields[4].line), (2, 8));
    }
}
