//! Words, numbers, texts and marks of C++ and Rust sources, with their lines. Comments are left out; what a
//! preprocessor line holds follows its directive, so that macro bodies are seen too.

/// What a token is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// An identifier or keyword.
    Word,
    /// A number with its suffix.
    Number,
    /// A string or character, quotes included.
    Text,
    /// Punctuation: one character, or two where they are one operator.
    Mark,
    /// The word after a `#` that opens a line: `include`, `ifndef`.
    Directive,
}

/// A token of a source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Token<'a> {
    pub(crate) kind: Kind,
    pub(crate) text: &'a str,
    /// From 1.
    pub(crate) line: usize,
}

impl Token<'_> {
    pub(crate) fn is(&self, text: &str) -> bool {
        self.text == text && self.kind != Kind::Text
    }

    pub(crate) fn is_word(&self) -> bool {
        self.kind == Kind::Word
    }
}

/// Operators of two characters. `>>` is not among them: it closes two lists of template arguments as well.
const PAIRS: [&str; 16] =
    ["->", "::", "&&", "||", "==", "!=", "<=", ">=", "+=", "-=", "*=", "/=", "|=", "^=", "++", "--"];

/// All tokens of `text`.
pub(crate) fn tokens(text: &str) -> Vec<Token<'_>> {
    let mut scanner = Scanner { text, at: 0, line: 1, fresh: true, out: Vec::new() };
    while scanner.at < text.len() {
        scanner.step();
    }
    scanner.out
}

struct Scanner<'a> {
    text: &'a str,
    at: usize,
    line: usize,
    /// Nothing but space since the last line began.
    fresh: bool,
    out: Vec<Token<'a>>,
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

impl<'a> Scanner<'a> {
    fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    fn push(&mut self, kind: Kind, len: usize) {
        let text = &self.text[self.at..self.at + len];
        self.out.push(Token { kind, text, line: self.line });
        self.line += text.matches('\n').count();
        self.at += len;
        self.fresh = false;
    }

    fn skip(&mut self, len: usize) {
        self.line += self.rest()[..len].matches('\n').count();
        self.at += len;
    }

    fn step(&mut self) {
        let rest = self.rest();
        let c = rest.chars().next().unwrap_or(' ');
        match c {
            '\n' => {
                self.skip(1);
                self.fresh = true;
            }
            _ if c.is_whitespace() => self.skip(c.len_utf8()),
            '\\' if rest.starts_with("\\\n") => self.skip(2),
            '/' if rest.starts_with("//") => self.skip(rest.find('\n').unwrap_or(rest.len())),
            '/' if rest.starts_with("/*") => self.skip(rest.find("*/").map_or(rest.len(), |n| n + 2)),
            '#' if self.fresh && !rest.starts_with("#[") && !rest.starts_with("#!") => {
                self.skip(1);
                self.skip(self.rest().len() - self.rest().trim_start_matches([' ', '\t']).len());
                let len = self.rest().find(|c| !is_word(c)).unwrap_or(self.rest().len());
                self.push(Kind::Directive, len);
            }
            '"' => self.push(Kind::Text, quoted(rest, '"')),
            '\'' => self.quote(),
            'r' if raw_text(rest).is_some() => self.push(Kind::Text, raw_text(rest).unwrap_or(1)),
            _ if c.is_ascii_digit() => self.push(Kind::Number, number(rest)),
            _ if is_word(c) => {
                let len = rest.find(|c| !is_word(c)).unwrap_or(rest.len());
                self.push(Kind::Word, len);
            }
            _ => {
                let pair = PAIRS.iter().any(|p| rest.starts_with(p));
                self.push(Kind::Mark, if pair { 2 } else { c.len_utf8() });
            }
        }
    }

    /// A character, or the mark before a Rust lifetime.
    fn quote(&mut self) {
        let inside = &self.rest()[1..];
        let one = inside.chars().next().map_or(0, char::len_utf8);
        if inside.starts_with('\\') || inside[one..].starts_with('\'') {
            self.push(Kind::Text, quoted(self.rest(), '\''));
        } else {
            self.push(Kind::Mark, 1);
        }
    }
}

/// Length of a text in quotes.
fn quoted(text: &str, quote: char) -> usize {
    let mut escaped = false;
    for (i, c) in text.char_indices().skip(1) {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            _ if c == quote => return i + 1,
            _ => {}
        }
    }
    text.len()
}

/// Length of a raw string of Rust, if `text` begins with one.
fn raw_text(text: &str) -> Option<usize> {
    let hashes = text[1..].bytes().take_while(|b| *b == b'#').count();
    let body = text[1 + hashes..].strip_prefix('"')?;
    let end = format!("\"{}", "#".repeat(hashes));
    Some(body.find(&end).map_or(text.len(), |n| 2 + hashes + n + end.len()))
}

fn number(text: &str) -> usize {
    let hex = text.starts_with("0x") || text.starts_with("0X");
    let mut previous = ' ';
    for (i, c) in text.char_indices() {
        let sign = matches!(c, '+' | '-') && matches!(previous, 'e' | 'E') && !hex;
        // `0..n` is a range of Rust.
        let point = c == '.' && !text[i + 1..].starts_with('.') && previous != '.';
        if !is_word(c) && !sign && !point {
            return i;
        }
        previous = c;
    }
    text.len()
}

/// Position after the bracket that closes the one at `open`; the end where none does.
pub(crate) fn after_close(tokens: &[Token<'_>], open: usize) -> usize {
    let (left, right) = match tokens[open].text {
        "(" => ("(", ")"),
        "[" => ("[", "]"),
        "<" => ("<", ">"),
        _ => ("{", "}"),
    };
    let mut depth = 0;
    for (i, t) in tokens.iter().enumerate().skip(open) {
        if t.is(left) {
            depth += 1;
        } else if t.is(right) {
            depth -= 1;
            if depth == 0 {
                return i + 1;
            }
        }
    }
    tokens.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(text: &str) -> Vec<&str> {
        tokens(text).iter().map(|t| t.text).collect()
    }

    #[test]
    fn comments_texts_and_numbers_are_whole() {
        assert_eq!(
            texts("a->b /* float* */ = 1.5e-3f; // double\n\"float*\" 'x' 0x1Fu"),
            ["a", "->", "b", "=", "1.5e-3f", ";", "\"float*\"", "'x'", "0x1Fu"]
        );
        assert_eq!(texts("0..n 'a r#\"x \" y\"#"), ["0", ".", ".", "n", "'", "a", "r#\"x \" y\"#"]);
        assert_eq!(texts("Members<Pair<u32>>"), ["Members", "<", "Pair", "<", "u32", ">", ">"]);
    }

    #[test]
    fn lines_and_directives_are_those_of_the_file() {
        let all = tokens("// a\n#define X(a) \\\n  (a)\n  #  ifndef Y\n#[repr(C)]\n\"\n\"\nz");
        let directives: Vec<_> =
            all.iter().filter(|t| t.kind == Kind::Directive).map(|t| (t.text, t.line)).collect();
        assert_eq!(directives, [("define", 2), ("ifndef", 4)]);
        assert!(all.iter().any(|t| t.is("#") && t.line == 5));
        assert_eq!(all.last().map(|t| (t.text, t.line)), Some(("z", 8)));
    }
}
