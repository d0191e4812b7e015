//! What a deserialiser says of a value, in words that are no names of types of Rust.

/// What may stand for a value of each kind, in the words of TOML and JSON.
const KINDS: [(&str, &str); 19] = [
    ("u8", "a whole number from 0 to 255"),
    ("u16", "a whole number from 0 to 65535"),
    ("u32", "a whole number from 0 to 4294967295"),
    ("u64", "a whole number, 0 or more"),
    ("u128", "a whole number, 0 or more"),
    ("usize", "a whole number, 0 or more"),
    ("i8", "a whole number from -128 to 127"),
    ("i16", "a whole number from -32768 to 32767"),
    ("i32", "a whole number from -2147483648 to 2147483647"),
    ("i64", "a whole number of at most 18 digits"),
    ("i128", "a whole number"),
    ("isize", "a whole number of at most 18 digits"),
    ("f32", "a number"),
    ("f64", "a number"),
    ("a string", "text in quotes"),
    ("string", "text in quotes"),
    ("a boolean", "true or false"),
    ("a sequence", "a list"),
    ("a map", "a table"),
];

/// A message of a deserialiser, such as "invalid type: floating point `1.5`, expected usize", for people who know the file and not
/// the program: "invalid type: number `1.5`, expected a whole number, 0 or more".
pub fn plain_words(message: &str) -> String {
    const EXPECTED: &str = "expected ";
    // The value itself is quoted; what is said of it stands before and after.
    let mut said = message.to_owned();
    for (from, to) in [
        ("floating point `", "number `"),
        ("` as i128", "`"),
        ("` as u128", "`"),
        ("invalid type: sequence", "invalid type: list"),
        ("invalid type: map", "invalid type: table"),
    ] {
        said = said.replace(from, to);
    }
    let Some((found, kind)) = said.rsplit_once(EXPECTED) else { return said };
    let ends = |c: char| !(c.is_alphanumeric() || c == '_' || c == ' ');
    let (name, rest) = kind.split_at(kind.find(ends).unwrap_or(kind.len()));
    // "u64 at line 1 column 5" is what JSON's says.
    let (name, place) = name.find(" at line ").map_or((name, ""), |at| name.split_at(at));
    let words = match KINDS.iter().find(|(of, _)| *of == name) {
        Some((_, words)) => words,
        None if name.starts_with("struct ") || name.starts_with("internally tagged enum ") => "a table",
        None if name.starts_with("enum ") => "one of its names, in quotes",
        None if name.starts_with("tuple ") || name.starts_with("an array of ") => "a list",
        None => return said,
    };
    format!("{found}{EXPECTED}{words}{place}{rest}")
}

#[cfg(test)]
mod tests {
    use super::plain_words;

    #[test]
    fn types_become_what_may_be_written() {
        for (said, plain) in [
            (
                "invalid type: floating point `1.5`, expected usize",
                "invalid type: number `1.5`, expected a whole number, 0 or more",
            ),
            (
                "invalid value: integer `-1`, expected u32\nin `learn.envs`\n",
                "invalid value: integer `-1`, expected a whole number from 0 to 4294967295\nin `learn.envs`\n",
            ),
            (
                "invalid type: integer `9` as i128, expected i64",
                "invalid type: integer `9`, expected a whole number of at most 18 digits",
            ),
            ("invalid type: string \"u64\", expected f64", "invalid type: string \"u64\", expected a number"),
            (
                "invalid type: map, expected a sequence at line 1 column 5",
                "invalid type: table, expected a list at line 1 column 5",
            ),
            (
                "invalid type: integer `1`, expected struct Session",
                "invalid type: integer `1`, expected a table",
            ),
            (
                "unknown variant `x`, expected one of `auto`, `open`",
                "unknown variant `x`, expected one of `auto`, `open`",
            ),
            ("missing field `lot`", "missing field `lot`"),
        ] {
            assert_eq!(plain_words(said), plain);
        }
    }
}
