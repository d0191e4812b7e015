//! A drawing: SVG elements with CSS classes instead of colours.

use std::fmt::Write as _;

use maud::PreEscaped;

/// Pixels of a drawing.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Size {
    /// Width.
    pub width: f64,
    /// Height.
    pub height: f64,
    /// True for the drawing that narrow pages show.
    pub narrow: bool,
}

/// Which end of a text its position is.
#[derive(Clone, Copy, Debug)]
pub enum Anchor {
    /// Its start.
    Start,
    /// Its middle.
    Middle,
    /// Its end.
    End,
}

/// An SVG under construction.
pub struct Svg {
    size: Size,
    body: String,
    tag: String,
    over_time: String,
}

impl Svg {
    /// An empty drawing.
    pub fn new(size: Size) -> Self {
        Self { size, body: String::new(), tag: String::new(), over_time: String::new() }
    }

    /// The finished element; `label` says what it shows to those who cannot see it.
    pub fn finish(self, label: &str) -> PreEscaped<String> {
        let Size { width, height, narrow } = self.size;
        let class = if narrow { "narrow" } else { "wide" };
        PreEscaped(format!(
            "<svg class=\"chart {class}\" viewBox=\"0 0 {width} {height}\" role=\"img\" aria-label=\"{}\"{}>{}</svg>",
            escape(label),
            self.over_time,
            self.body
        ))
    }

    /// Says which line of the chart's values the next path shows, and how: `line`, `fill` to zero, `step`, `long`, `short`,
    /// `band`, `up` or `down`.
    pub(crate) fn tag(&mut self, series: usize, kind: &str) {
        self.tag = format!(" data-s=\"{series}\" data-k=\"{kind}\"");
    }

    /// Tells the page's script where the panels are; the drawing needs no script.
    pub(crate) fn over_time(&mut self, geometry: String) {
        self.over_time = format!(" data-panels=\"{geometry}\"");
    }

    /// A straight line.
    pub fn line(&mut self, class: &str, (x1, y1): (f64, f64), (x2, y2): (f64, f64)) {
        self.push(format_args!(
            "<line class=\"{class}\" x1=\"{x1:.1}\" y1=\"{y1:.1}\" x2=\"{x2:.1}\" y2=\"{y2:.1}\"/>"
        ));
    }

    /// A rectangle from its top left corner; `title`, where it is not empty, is what pointing at it shows.
    pub fn rect(&mut self, class: &str, (x, y): (f64, f64), (width, height): (f64, f64), title: &str) {
        let title = titled(title);
        self.push(format_args!(
            "<rect class=\"{class}\" x=\"{x:.1}\" y=\"{y:.1}\" width=\"{width:.1}\" height=\"{height:.1}\">{title}</rect>"
        ));
    }

    /// Text whose baseline is at a position.
    pub fn text(&mut self, class: &str, (x, y): (f64, f64), anchor: Anchor, text: &str) {
        let anchor = match anchor {
            Anchor::Start => "start",
            Anchor::Middle => "middle",
            Anchor::End => "end",
        };
        self.push(format_args!(
            "<text class=\"{class}\" x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"{anchor}\">{}</text>",
            escape(text)
        ));
    }

    /// Text that ends at a position, squeezed into `room` pixels where it is wider.
    pub fn fitted(&mut self, class: &str, (x, y): (f64, f64), text: &str, room: f64) {
        if text_width(text) <= room {
            return self.text(class, (x, y), Anchor::End, text);
        }
        self.push(format_args!(
            "<text class=\"{class}\" x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"end\" textLength=\"{room:.1}\" \
             lengthAdjust=\"spacingAndGlyphs\">{}</text>",
            escape(text)
        ));
    }

    /// An open line through points.
    pub fn path(&mut self, class: &str, points: &[(f64, f64)]) {
        let tag = std::mem::take(&mut self.tag);
        if !points.is_empty() {
            let d = move_through(points);
            self.push(format_args!("<path class=\"{class}\"{tag} d=\"{d}\"/>"));
        }
    }

    /// The filled area within points.
    pub fn area(&mut self, class: &str, points: &[(f64, f64)]) {
        let tag = std::mem::take(&mut self.tag);
        if !points.is_empty() {
            let d = move_through(points);
            self.push(format_args!("<path class=\"{class}\"{tag} d=\"{d}Z\"/>"));
        }
    }

    /// A filled circle; `title` as in [`Svg::rect`].
    pub fn circle(&mut self, class: &str, (x, y): (f64, f64), radius: f64, title: &str) {
        let title = titled(title);
        self.push(format_args!(
            "<circle class=\"{class}\" cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"{radius:.1}\">{title}</circle>"
        ));
    }

    /// Small triangles, up or down, with their tips at the points: one path for all of them.
    pub fn triangles(&mut self, class: &str, tips: &[(f64, f64)], up: bool, side: f64) {
        let mut d = String::new();
        let down = if up { side } else { -side };
        for (x, y) in tips {
            let half = side * 0.6;
            let _ = write!(d, "M{x:.1} {y:.1}l{half:.1} {down:.1}h{:.1}z", -2.0 * half);
        }
        let tag = std::mem::take(&mut self.tag);
        if !d.is_empty() {
            self.push(format_args!("<path class=\"{class}\"{tag} d=\"{d}\"/>"));
        }
    }

    fn push(&mut self, element: std::fmt::Arguments<'_>) {
        // Writing to a String cannot fail.
        let _ = self.body.write_fmt(element);
    }
}

/// About how wide a text of an axis is, pixels; of a wide font, since the reader's is not known.
pub(crate) fn text_width(text: &str) -> f64 {
    let width = |character: char| match character {
        '.' | ',' | ' ' | '\u{202f}' => 4.0,
        '+' | '−' => 10.2,
        '%' | 'M' => 11.6,
        _ => 7.7,
    };
    text.chars().map(width).sum()
}

fn titled(title: &str) -> String {
    if title.is_empty() { String::new() } else { format!("<title>{}</title>", escape(title)) }
}

fn move_through(points: &[(f64, f64)]) -> String {
    let mut d = String::with_capacity(points.len() * 12);
    let mut last = String::new();
    for (k, (x, y)) in points.iter().enumerate() {
        let here = format!("{x:.1} {y:.1}");
        // Neighbours on the same tenth of a pixel need no second mention.
        if here != last {
            d.push(if k == 0 { 'M' } else { 'L' });
            d.push_str(&here);
        }
        last = here;
    }
    d
}

/// Text made safe for SVG and attributes.
pub(crate) fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            other => out.push(other),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elements() {
        let mut svg = Svg::new(Size { width: 100.0, height: 50.0, narrow: true });
        svg.path("a", &[(0.0, 1.0), (0.01, 1.04), (2.0, 3.0)]);
        svg.text("t", (1.0, 2.0), Anchor::End, "<b>&\"");
        svg.triangles("up", &[(5.0, 6.0)], true, 5.0);
        assert_eq!(
            svg.finish("it's").into_string(),
            "<svg class=\"chart narrow\" viewBox=\"0 0 100 50\" role=\"img\" aria-label=\"it&#39;s\">\
             <path class=\"a\" d=\"M0.0 1.0L2.0 3.0\"/>\
             <text class=\"t\" x=\"1.0\" y=\"2.0\" text-anchor=\"end\">&lt;b&gt;&amp;&quot;</text>\
             <path class=\"up\" d=\"M5.0 6.0l3.0 5.0h-6.0z\"/></svg>"
        );
    }
}
