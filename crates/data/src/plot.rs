//! One self-contained page that shows a file's bars: what was understood, prices, volume, gaps and jumps.

use std::fmt::Write as _;

use crate::{
    bars::{Bar, Bars, seconds_up},
    heading::Heading,
    inspection::Inspection,
    moment::show_moment,
};

const WIDTH: usize = 1_000;
const PRICE_HEIGHT: f64 = 320.0;
const VOLUME_HEIGHT: f64 = 90.0;
const LEFT: f64 = 70.0;
const TOP: f64 = 10.0;
/// Gaps that are shaded: the longest.
const SHADED_GAPS: usize = 40;

/// Bars that share a column of the picture.
#[derive(Clone, Copy)]
struct Bucket {
    low: i32,
    high: i32,
    close: i32,
    lots: i128,
}

/// The page as HTML; prices over time, each column of it from the lowest low to the highest high.
pub fn plot(bars: &Bars, inspection: &Inspection) -> String {
    let mut picture = Picture::new(&bars.heading());
    (0..bars.len()).for_each(|i| picture.push(&bars.bar(i)));
    picture.page(inspection)
}

/// What is drawn of bars, taken as they go by: a bucket for each column of the picture, and the longest gaps.
pub struct Picture {
    heading: Heading,
    buckets: Vec<Option<Bucket>>,
    before_ns: Option<i64>,
    /// Length in seconds, end of the bar before and begin of the bar after; the longest first, and of equal ones the first.
    gaps: Vec<(i64, i64, i64)>,
}

impl Picture {
    /// Of the bars that `heading` is of.
    pub fn new(heading: &Heading) -> Self {
        Self { heading: heading.clone(), buckets: vec![None; WIDTH], before_ns: None, gaps: Vec::new() }
    }

    /// Takes the next bar.
    pub fn push(&mut self, bar: &Bar) {
        let [_, high, low, close] = bar.mids();
        let one = Bucket { low, high, close, lots: i128::from(bar.volume_lots) };
        let column = self.column(bar.open_ns).min(WIDTH - 1);
        let bucket = &mut self.buckets[column];
        *bucket = Some(bucket.map_or(one, |b| Bucket {
            low: b.low.min(low),
            high: b.high.max(high),
            close,
            lots: b.lots + one.lots,
        }));
        if let Some(before_ns) = self.before_ns.replace(bar.close_ns) {
            let seconds = seconds_up(before_ns, bar.open_ns);
            let at = self.gaps.partition_point(|gap| gap.0 >= seconds);
            if seconds > 0 && at < SHADED_GAPS {
                self.gaps.insert(at, (seconds, before_ns, bar.open_ns));
                self.gaps.truncate(SHADED_GAPS);
            }
        }
    }

    /// The column of a moment.
    fn column(&self, ns: i64) -> usize {
        let (first, last) = self.heading.span_ns;
        let span = (i128::from(last) - i128::from(first)).max(1);
        ((i128::from(ns) - i128::from(first)) * (WIDTH as i128 - 1) / span) as usize
    }

    /// The page as HTML, with what is said of the bars.
    pub fn page(&self, inspection: &Inspection) -> String {
        page(&self.svg(inspection), inspection)
    }

    fn svg(&self, inspection: &Inspection) -> String {
        let filled = || self.buckets.iter().enumerate().filter_map(|(x, b)| b.map(|b| (LEFT + x as f64, b)));
        let low = filled().map(|(_, b)| b.low).min().unwrap_or(0);
        let high = filled().map(|(_, b)| b.high).max().unwrap_or(1).max(low + 1);
        let most = filled().map(|(_, b)| b.lots).max().unwrap_or(1).max(1);
        let y = |price: i32| TOP + PRICE_HEIGHT * f64::from(high - price) / f64::from(high - low);
        let bottom = TOP + PRICE_HEIGHT + 10.0 + VOLUME_HEIGHT;
        let (width, height) = (LEFT + WIDTH as f64 + 10.0, bottom + 25.0);
        let mut svg = format!(
            "<svg viewBox=\"0 0 {width} {height}\" role=\"img\" aria-label=\"prices and volume over time\">"
        );
        for &(_, from_ns, to_ns) in &self.gaps {
            let (from, to) = (self.column(from_ns) as f64, self.column(to_ns) as f64);
            let _ = write!(
                svg,
                "<rect class=\"gap\" x=\"{}\" y=\"{TOP}\" width=\"{}\" height=\"{}\"/>",
                LEFT + from,
                (to - from).max(0.5),
                bottom - TOP
            );
        }
        let (mut range, mut close) = (String::new(), String::new());
        for (x, b) in filled() {
            let _ = write!(range, "M{x} {:.1}V{:.1}", y(b.high), y(b.low) + 0.5);
            let _ = write!(close, "{}{x} {:.1}", if close.is_empty() { "M" } else { "L" }, y(b.close));
            let h = VOLUME_HEIGHT * b.lots as f64 / most as f64;
            let top = bottom - h;
            let _ =
                write!(svg, "<rect class=\"lots\" x=\"{x}\" y=\"{top:.1}\" width=\"1\" height=\"{h:.1}\"/>");
        }
        let _ = write!(svg, "<path class=\"range\" d=\"{range}\"/><path class=\"close\" d=\"{close}\"/>");
        for jump in &inspection.source.jumps {
            let x = LEFT + self.column(jump.open_ns) as f64;
            let _ = write!(
                svg,
                "<path class=\"jump\" d=\"M{x} {TOP}V{bottom}\"/><text x=\"{x}\" y=\"{}\">{}</text>",
                TOP + 10.0,
                jump.label()
            );
        }
        for price in [high, low + (high - low) / 2, low] {
            let text = self.heading.instrument.price(price).normalize();
            let _ = write!(
                svg,
                "<path class=\"axis\" d=\"M{LEFT} {0:.1}h{WIDTH}\"/><text x=\"2\" y=\"{1:.1}\">{text}</text>",
                y(price),
                y(price) + 4.0
            );
        }
        let (first, last) = self.heading.span_ns;
        for (x, ns, anchor) in [(LEFT, first, "start"), (LEFT + WIDTH as f64, last, "end")] {
            let _ = write!(
                svg,
                "<text x=\"{x}\" y=\"{}\" text-anchor=\"{anchor}\">{}</text>",
                bottom + 16.0,
                show_moment(ns)
            );
        }
        svg.push_str("</svg>");
        svg
    }
}

// What is too wide for a phone scrolls within the page.
const STYLE: &str = ":root{color-scheme:light dark;--page:#fff;--ink:#222;--quiet:#5b626b;--range:#9db8d6;--close:#1f4e8c;\
    --lots:#b7b7b7;--gap:#f3e3c3;--jump:#c0392b;--axis:#ccc}\
    @media (prefers-color-scheme:dark){:root{--page:#16191d;--ink:#e6e9ec;--quiet:#a3abb4;--range:#3c5a80;--close:#8ab4f0;\
    --lots:#5b626b;--gap:#3d3320;--jump:#f08566;--axis:#3a4048}}\
    body{font:14px system-ui,sans-serif;margin:2em auto;padding:0 16px;max-width:1100px;color:var(--ink);background:var(--page)}\
    .scroll{overflow-x:auto}svg{display:block;width:100%;min-width:640px;height:auto}text{font-size:11px;fill:var(--quiet)}\
    .range{stroke:var(--range)}.close{stroke:var(--close);fill:none}.lots{fill:var(--lots)}.gap{fill:var(--gap)}\
    .jump{stroke:var(--jump);stroke-dasharray:3 3}.axis{stroke:var(--axis)}";

fn page(picture: &str, inspection: &Inspection) -> String {
    let name = escaped(&inspection.instrument);
    let mut page = format!(
        "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\">\
         <meta name=\"viewport\" content=\"width=device-width,initial-scale=1\"><title>{name}</title><style>{STYLE}</style>\
         <h1>{name}</h1><div class=\"scroll\">"
    );
    page.push_str(picture);
    // Writing to a string cannot fail.
    let _ = write!(
        page,
        "</div><p>Blue: close, and low to high. Grey: volume. Shaded: the {SHADED_GAPS} longest gaps. Red: jumps that look like \
         splits, and prices far from those around them.</p><pre class=\"scroll\">{}</pre></html>",
        escaped(&inspection.to_string())
    );
    page
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{inspect, sample};

    #[test]
    fn the_page_holds_all_that_is_said_and_loads_nothing() {
        let mut bars = sample();
        bars.instrument.name = "<EUR> & USD".into();
        let page = plot(&bars, &inspect(&bars));
        assert!(page.contains("&lt;EUR&gt; &amp; USD") && !page.contains("<EUR>"));
        assert_eq!(page.matches("class=\"gap\"").count(), SHADED_GAPS);
        assert!(page.contains("6225 of 6225") && page.contains("2017-01-01T22:00:00Z"));
        // No address, no script: nothing is fetched.
        assert!(!page.contains("http") && !page.contains("<script") && !page.contains("NaN"));
        // The picture reaches from the lowest to the highest price.
        let (low, high) = inspect(&bars).price_range;
        assert!(page.contains(&format!(">{low}<")) && page.contains(&format!(">{high}<")));
        let one = bars.slice(0..1);
        assert!(!plot(&one, &inspect(&one)).contains("NaN"));
    }
}
