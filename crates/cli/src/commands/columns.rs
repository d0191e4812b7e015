//! Text in columns.

use std::fmt::Write as _;

/// Rows of cells, each column as wide as its widest cell; the first `left` columns begin at the left, the others end at the
/// right. Two blanks between columns, none at the end of a line.
pub(crate) fn columns(rows: &[Vec<String>], left: usize) -> String {
    let count = rows.iter().map(Vec::len).max().unwrap_or(0);
    let width = |c: usize| rows.iter().filter_map(|r| r.get(c)).map(|x| length(x)).max().unwrap_or(0);
    let widths: Vec<usize> = (0..count).map(width).collect();
    let mut text = String::new();
    for row in rows {
        let mut line = String::new();
        for (c, cell) in row.iter().enumerate() {
            let gap = if c == 0 { "" } else { "  " };
            let fill = " ".repeat(widths[c] - length(cell));
            // A `String` takes all that is written to it.
            let _ =
                if c < left { write!(line, "{gap}{cell}{fill}") } else { write!(line, "{gap}{fill}{cell}") };
        }
        text.push_str(line.trim_end());
        text.push('\n');
    }
    text
}

/// Columns that a line of cells takes on a terminal. What is printed here is Latin, digits and signs, one column each.
pub(crate) fn length(text: &str) -> usize {
    text.chars().count()
}

/// Bytes as a person reads them.
pub(crate) fn bytes(n: u64) -> String {
    const UNITS: [&str; 5] = ["B", "KiB", "MiB", "GiB", "TiB"];
    let (mut x, mut unit) = (n as f64, 0);
    while x >= 1023.95 && unit + 1 < UNITS.len() {
        x /= 1024.0;
        unit += 1;
    }
    if unit == 0 { format!("{n} B") } else { format!("{x:.1} {}", UNITS[unit]) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_line_up() {
        let rows =
            [vec!["a".into(), "é".into(), "1".into()], vec!["bcd".into(), String::new(), "234".into()]];
        assert_eq!(columns(&rows, 2), "a    é    1\nbcd     234\n");
        assert_eq!(columns(&[vec!["x".into(), String::new()]], 2), "x\n");
        assert_eq!(columns(&[], 1), "");
    }

    #[test]
    fn bytes_are_short() {
        for (n, text) in [
            (0, "0 B"),
            (1023, "1023 B"),
            (1024, "1.0 KiB"),
            (1_048_575, "1.0 MiB"),
            (u64::MAX, "16777216.0 TiB"),
        ] {
            assert_eq!(bytes(n), text);
        }
    }
}
