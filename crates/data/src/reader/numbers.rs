//! Numbers as files write them, exact: points or commas for decimals, thousands apart, signs of currency, K, M and B.

use rust_decimal::{Decimal, prelude::ToPrimitive};

/// What divides whole from broken parts of a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DecimalMark {
    /// 1,234.56
    Point,
    /// 1.234,56
    Comma,
}

/// A number without any decoration, scientific notation included. `None` for anything else.
pub(crate) fn plain(text: &str) -> Option<Decimal> {
    if !text.bytes().all(|b| matches!(b, b'0'..=b'9' | b'.' | b'-' | b'+' | b'e' | b'E')) {
        return None;
    }
    if text.bytes().any(|b| matches!(b, b'e' | b'E')) {
        return Decimal::from_scientific(text).ok();
    }
    text.parse().ok()
}

/// A number in the file's style, and whether it was decorated.
pub(crate) fn number(text: &str, mark: DecimalMark) -> Option<(Decimal, bool)> {
    if mark == DecimalMark::Point
        && let Some(value) = plain(text)
    {
        return Some((value, false));
    }
    let text = text.trim_matches(|c: char| matches!(c, '$' | '€' | '£' | '¥' | '₹' | ' ' | '\u{a0}'));
    let (text, factor) = match text.char_indices().last()? {
        (end, 'K' | 'k') => (&text[..end], 1_000),
        (end, 'M' | 'm') => (&text[..end], 1_000_000),
        (end, 'B' | 'b') => (&text[..end], 1_000_000_000),
        _ => (text, 1),
    };
    let (point, group) = match mark {
        DecimalMark::Point => ('.', ','),
        DecimalMark::Comma => (',', '.'),
    };
    let (whole, fraction) = match text.split_once(point) {
        Some((whole, fraction)) => (whole, Some(fraction)),
        None => (text, None),
    };
    let sign = if whole.starts_with('-') { "-" } else { "" };
    let whole = ungrouped(whole.trim_start_matches(['-', '+']), group)?;
    let joined = match fraction {
        Some(fraction) => format!("{sign}{whole}.{fraction}"),
        None => format!("{sign}{whole}"),
    };
    let value = plain(&joined)?.checked_mul(Decimal::from(factor))?;
    // Decimal commas are the file's style and no decoration.
    let is_plain = factor == 1 && mark == DecimalMark::Comma && joined.len() == text.len();
    Some((value.normalize(), !is_plain))
}

/// A number that is no price, in the file's style, and whether it was decorated: any that F32 holds, for features are F32.
pub(crate) fn float(text: &str, mark: DecimalMark) -> Option<(f64, bool)> {
    let fits = |x: f64| (x as f32).is_finite();
    let is_plain = text.bytes().all(|b| matches!(b, b'0'..=b'9' | b'.' | b'-' | b'+' | b'e' | b'E'));
    let read = match text.parse::<f64>() {
        // Also what is smaller than a decimal's last digit.
        Ok(value) if is_plain && mark == DecimalMark::Point => Some((value, false)),
        _ => number(text, mark).and_then(|(value, decorated)| Some((value.to_f64()?, decorated))),
    };
    read.filter(|(value, _)| fits(*value))
}

/// The digits without thousands separators, which stand before groups of exactly three digits and are all alike.
fn ungrouped(whole: &str, group: char) -> Option<String> {
    let Some(found) =
        whole.chars().find(|c| *c == group || matches!(c, ' ' | '\u{a0}' | '\u{202f}' | '\'' | '’'))
    else {
        return Some(whole.to_owned());
    };
    let mut parts = whole.split(found);
    let first = parts.next()?;
    let digits = |p: &str| p.bytes().all(|b| b.is_ascii_digit());
    let fits =
        (1..=3).contains(&first.len()) && digits(first) && parts.clone().all(|p| p.len() == 3 && digits(p));
    fits.then(|| std::iter::once(first).chain(parts).collect())
}

/// Collects what the numbers of a file say about their style.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Style {
    /// Numbers with a decimal point, and those of them that group no thousands by it.
    point: u64,
    sure_point: u64,
    comma: u64,
    /// `1,085`: a thousand or one and a bit.
    unclear: bool,
}

impl Style {
    pub(crate) fn look(&mut self, text: &str) {
        let (points, commas) = (text.matches('.').count(), text.matches(',').count());
        let group_like = |mark: char| {
            let whole = text.trim_start_matches(|c: char| !c.is_ascii_digit());
            let mut parts = whole.split(mark);
            let first = parts.next().unwrap_or_default();
            (1..=3).contains(&first.len())
                && first != "0"
                && parts.all(|p| p.len() == 3 && p.bytes().all(|b| b.is_ascii_digit()))
        };
        match (points, commas) {
            (0, 0) => {}
            (1, 0) => {
                self.point += 1;
                self.sure_point += u64::from(!group_like('.'));
            }
            (_, 0) => self.comma += u64::from(group_like('.')),
            (0, 1) if group_like(',') => self.unclear = true,
            (0, 1) => self.comma += 1,
            (0, _) => {
                self.point += u64::from(group_like(','));
                self.sure_point += u64::from(group_like(','));
            }
            _ if text.rfind('.') > text.rfind(',') => {
                self.point += 1;
                self.sure_point += 1;
            }
            _ => self.comma += 1,
        }
    }

    /// The style, or `None` where numbers like `1,085` are all there is. A single point may group thousands where others
    /// show decimal commas. Where both are sure the more common one is right, so that a cell that is damaged is refused where it stands.
    pub(crate) fn mark(self) -> Option<DecimalMark> {
        match self {
            Self { comma, sure_point, .. } if comma > 0 && comma >= sure_point => Some(DecimalMark::Comma),
            Self { point: 0, unclear: true, .. } => None,
            _ => Some(DecimalMark::Point),
        }
    }
}

/// Whether a cell says that there is no number. Spreadsheets' error values are not among these: they are damage.
pub(crate) fn is_missing(text: &str) -> bool {
    ["", "-", "nan", "null", "none", "na", "n/a", "<na>", "nil"].iter().any(|m| m.eq_ignore_ascii_case(text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn styles_and_decorations() {
        let read = |text, mark| number(text, mark).map(|(v, d)| (v.to_string(), d));
        let yes = |text: &str, decorated| Some((text.to_owned(), decorated));
        use DecimalMark::{Comma, Point};
        assert_eq!(read("3.60E-05", Point), yes("0.0000360", false));
        assert_eq!(read("1,234.50", Point), yes("1234.5", true));
        assert_eq!(read("$1,234,567", Point), yes("1234567", true));
        assert_eq!(read("89.5K", Point), yes("89500", true));
        assert_eq!(read("1.2B", Point), yes("1200000000", true));
        assert_eq!(read("-1'234.5", Point), yes("-1234.5", true));
        assert_eq!(read("1.234,56", Comma), yes("1234.56", true));
        assert_eq!(read("1,0852", Comma), yes("1.0852", false));
        assert_eq!(read("1 234,5", Comma), yes("1234.5", true));
        for text in
            ["1,23.4", "12,34", "1,2345", ",123", "1,234,56", "########", "#N/A", "1e400", "M", "1.2.3", ""]
        {
            assert_eq!(read(text, Point), None, "{text}");
        }
    }

    #[test]
    fn floats_are_read_beyond_decimals() {
        use DecimalMark::{Comma, Point};
        assert_eq!(float("-1.5e-31", Point), Some((-1.5e-31, false)));
        assert_eq!(float("1,234.5", Point), Some((1_234.5, true)));
        assert_eq!(float("0,25", Comma), Some((0.25, false)));
        for text in ["inf", "NaN", "1e39", "1e999", "up", "", "0,25"] {
            assert_eq!(float(text, Point), None, "{text}");
        }
    }

    #[test]
    fn style_is_told_by_the_column_or_not() {
        let mark = |texts: &[&str]| {
            let mut style = Style::default();
            texts.iter().for_each(|t| style.look(t));
            style.mark()
        };
        assert_eq!(mark(&["100", "1"]), Some(DecimalMark::Point));
        assert_eq!(mark(&["1,085", "1,0852"]), Some(DecimalMark::Comma));
        assert_eq!(mark(&["1.234,5"]), Some(DecimalMark::Comma));
        assert_eq!(mark(&["1,085", "12.5"]), Some(DecimalMark::Point));
        assert_eq!(mark(&["1,085", "1,234,567"]), Some(DecimalMark::Point));
        assert_eq!(mark(&["0,123"]), Some(DecimalMark::Comma));
        assert_eq!(mark(&["1.0852", "1,0852", "1.0853"]), Some(DecimalMark::Point));
        assert_eq!(mark(&["1,0852", "1.0852", "1,0853"]), Some(DecimalMark::Comma));
        assert_eq!(mark(&["1,085"]), None);
    }
}
