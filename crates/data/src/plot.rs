//! One self-contained page that shows a file's bars: what was understood, prices, volume, gaps and jumps.

use std::fmt::Write as _;

use crate::{bars::Bars, inspect::Inspection, moment::show_moment};

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
    let mut page = String::from(
        "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\"><title>bars</title><style>\
         body{font:14px system-ui,sans-serif;margin:2em;max-width:1100px;color:#222;background:#fff}\
         svg{width:100%;height:auto}text{font-size:11px;fill:#666}.range{stroke:#9db8d6}.close{stroke:#1f4e8c;fill:none}\
         .lots{fill:#b7b7b7}.gap{fill:#f3e3c3}.jump{stroke:#c0392b;stroke-dasharray:3 3}.axis{stroke:#ccc}</style>",
    );
    // Writing to a string cannot fail.
    let _ = write!(page, "<h1>{}</h1>", escaped(&inspection.instrument));
    page.push_str(&picture(bars, inspection));
    let _ = write!(
        page,
        "<p>Blue: close, and low to high. Grey: volume. Shaded: the {SHADED_GAPS} longest gaps. Red: jumps that look like \
         splits.</p><pre>{}</pre></html>",
        escaped(&inspection.to_string())
    );
    page
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

fn picture(bars: &Bars, inspection: &Inspection) -> String {
    let (first, last) = inspection.span_ns;
    let span = (i128::from(last) - i128::from(first)).max(1);
    let column = |ns: i64| ((i128::from(ns) - i128::from(first)) * (WIDTH as i128 - 1) / span) as usize;
    let mut buckets: Vec<Option<Bucket>> = vec![None; WIDTH];
    for i in 0..bars.len() {
        let lots = i128::from(bars.volume_lots[i]);
        let bar = Bucket { low: bars.mid_low(i), high: bars.mid_high(i), close: bars.mid_close(i), lots };
        let bucket = &mut buckets[column(bars.open_ns[i]).min(WIDTH - 1)];
        *bucket = Some(bucket.map_or(bar, |b| Bucket {
            low: b.low.min(bar.low),
            high: b.high.max(bar.high),
            close: bar.close,
            lots: b.lots + bar.lots,
        }));
    }
    let filled = || buckets.iter().enumerate().filter_map(|(x, b)| b.map(|b| (LEFT + x as f64, b)));
    let low = filled().map(|(_, b)| b.low).min().unwrap_or(0);
    let high = filled().map(|(_, b)| b.high).max().unwrap_or(1).max(low + 1);
    let most = filled().map(|(_, b)| b.lots).max().unwrap_or(1).max(1);
    let y = |price: i32| TOP + PRICE_HEIGHT * f64::from(high - price) / f64::from(high - low);
    let bottom = TOP + PRICE_HEIGHT + 10.0 + VOLUME_HEIGHT;
    let (width, height) = (LEFT + WIDTH as f64 + 10.0, bottom + 25.0);
    let mut svg = format!(
        "<svg viewBox=\"0 0 {width} {height}\" role=\"img\" aria-label=\"prices and volume over time\">"
    );
    let mut gaps: Vec<usize> = (1..bars.len()).filter(|&i| bars.gap_seconds(i) > 0).collect();
    gaps.sort_by_key(|&i| std::cmp::Reverse(bars.gap_seconds(i)));
    for &i in gaps.iter().take(SHADED_GAPS) {
        let (from, to) = (column(bars.close_ns[i - 1]) as f64, column(bars.open_ns[i]) as f64);
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
        let _ = write!(svg, "<rect class=\"lots\" x=\"{x}\" y=\"{top:.1}\" width=\"1\" height=\"{h:.1}\"/>");
    }
    let _ = write!(svg, "<path class=\"range\" d=\"{range}\"/><path class=\"close\" d=\"{close}\"/>");
    for jump in &inspection.split_like {
        let x = LEFT + column(jump.open_ns) as f64;
        let _ = write!(
            svg,
            "<path class=\"jump\" d=\"M{x} {TOP}V{bottom}\"/><text x=\"{x}\" y=\"{}\">{}</text>",
            TOP + 10.0,
            jump.ratio()
        );
    }
    for price in [high, low + (high - low) / 2, low] {
        let text = bars.instrument.price(price).normalize();
        let _ = write!(
            svg,
            "<path class=\"axis\" d=\"M{LEFT} {0:.1}h{WIDTH}\"/><text x=\"2\" y=\"{1:.1}\">{text}</text>",
            y(price),
            y(price) + 4.0
        );
    }
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
