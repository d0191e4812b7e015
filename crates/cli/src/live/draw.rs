//! The live view as a picture of its board.

use super::board::{Board, Curve};
use crate::commands::bytes;
use ratatui::{
    Frame,
    layout::{Constraint, Layout, Rect},
    style::{Color, Style, Stylize},
    symbols::Marker,
    text::Line,
    widgets::{Axis, Block, Chart, Dataset, Gauge, GraphType, Paragraph},
};
use std::time::Duration;

/// Below this there is room for lines only.
const CHARTS_FROM: (u16, u16) = (50, 16);

/// From this width on charts stand beside one another.
const BESIDE_FROM: u16 = 96;

/// Draws the board, `elapsed` after training began and `now` after the last epoch ended.
pub(super) fn draw(frame: &mut Frame<'_>, board: &Board, elapsed: Duration, now: Duration) {
    let area = frame.area();
    let lines = lines(board, elapsed, now);
    if (area.width, area.height) < CHARTS_FROM || area.height < CHARTS_FROM.1 {
        let mut lines = lines;
        lines.insert(1, format!("epoch {} of {}", board.done, board.epochs));
        // The figures, since there are no charts.
        let last = |name: &str, curve: &Curve| Some(format!("{name} {}", number(curve.last()?.1.mean)));
        lines.extend(last("loss", &board.loss));
        lines.extend(last("return", &board.gained));
        lines.extend(last("validation", &board.validation));
        lines.push(keys(board));
        return frame.render_widget(Paragraph::new(text(lines)), area);
    }
    let [head, gauge, body, foot] = Layout::vertical([
        Constraint::Length(lines.len() as u16),
        Constraint::Length(1),
        Constraint::Min(0),
        Constraint::Length(1),
    ])
    .areas(area);
    frame.render_widget(Paragraph::new(text(lines)), head);
    let share = board.done as f64 / board.epochs.max(1) as f64;
    let label = format!("epoch {} of {}", board.done, board.epochs);
    frame.render_widget(Gauge::default().ratio(share.clamp(0.0, 1.0)).label(label).cyan(), gauge);
    let thirds = [Constraint::Ratio(1, 3); 3];
    let parts: [Rect; 3] = if area.width >= BESIDE_FROM {
        Layout::horizontal(thirds).areas(body)
    } else {
        Layout::vertical(thirds).areas(body)
    };
    chart(frame, parts[0], "loss", &board.loss, Color::Yellow, board.epochs);
    chart(frame, parts[1], "episode return", &board.gained, Color::Green, board.epochs);
    chart(frame, parts[2], "validation return", &board.validation, Color::Cyan, board.epochs);
    frame.render_widget(Paragraph::new(keys(board)).dim(), foot);
}

fn text(lines: Vec<String>) -> Vec<Line<'static>> {
    lines.into_iter().map(Line::from).collect()
}

fn lines(b: &Board, elapsed: Duration, now: Duration) -> Vec<String> {
    let rate = b.rate(elapsed).map_or_else(|| "-".into(), |r| format!("{:.0} k", r / 1e3));
    let left = b.left(elapsed, now).map_or_else(|| "-".into(), clock);
    let members = if b.members == 1 { "1 member".to_owned() } else { format!("{} members", b.members) };
    vec![
        format!("{}  {}", b.run, b.data),
        format!("{}  {members}  {} on the device", b.device, bytes(b.memory)),
        format!("{rate} steps/s  {} gone  {left} left", clock(elapsed)),
    ]
}

fn keys(board: &Board) -> String {
    if board.stopping {
        "stopping after this epoch, with a save; Ctrl-C again stops at once".into()
    } else {
        let band = if board.members > 1 { "   lines: mean of the members, least and most" } else { "" };
        format!("q plain progress bar   Ctrl-C save and stop{band}")
    }
}

/// `1:02:03`, or `2:03` below an hour.
fn clock(d: Duration) -> String {
    let s = d.as_secs();
    let (h, m, s) = (s / 3600, s / 60 % 60, s % 60);
    if h > 0 { format!("{h}:{m:02}:{s:02}") } else { format!("{m}:{s:02}") }
}

fn number(x: f64) -> String {
    if x != 0.0 && (x.abs() < 1e-3 || x.abs() >= 1e5) { format!("{x:.2e}") } else { format!("{x:.4}") }
}

fn chart(frame: &mut Frame<'_>, area: Rect, title: &str, curve: &Curve, color: Color, epochs: u64) {
    let points = |of: &dyn Fn(&super::board::Band) -> f64| -> Vec<(f64, f64)> {
        curve.iter().map(|(x, band)| (*x, of(band))).collect()
    };
    let (mean, low, high) = (points(&|b| b.mean), points(&|b| b.low), points(&|b| b.high));
    let Some((_, last)) = curve.last() else {
        let block = Block::bordered().title(format!("{title}: nothing yet"));
        return frame.render_widget(block, area);
    };
    let title = format!("{title}: {}", number(last.mean));
    let y = |pick: fn(f64, f64) -> f64, of: &[(f64, f64)], from: f64| of.iter().map(|p| p.1).fold(from, pick);
    let (bottom, top) = (y(f64::min, &low, f64::INFINITY), y(f64::max, &high, f64::NEG_INFINITY));
    // A flat curve needs room too.
    let room = ((top - bottom) * 0.05).max(top.abs().max(1e-9) * 1e-3);
    let bounds = [bottom - room, top + room];
    let set = |data, marker| Dataset::default().data(data).marker(marker).graph_type(GraphType::Line);
    let mut sets = Vec::new();
    if low != high {
        sets.push(set(&low, Marker::Braille).style(Style::new().fg(color).dim()));
        sets.push(set(&high, Marker::Braille).style(Style::new().fg(color).dim()));
    }
    // One point makes no line.
    let kind = if mean.len() > 1 { GraphType::Line } else { GraphType::Scatter };
    sets.push(set(&mean, Marker::Dot).graph_type(kind).style(Style::new().fg(color)));
    let x = Axis::default().bounds([1.0, epochs.max(2) as f64]).labels(["1".to_owned(), epochs.to_string()]);
    let y = Axis::default().bounds(bounds).labels(bounds.map(number));
    let block = Block::bordered().title(title);
    frame.render_widget(Chart::new(sets).x_axis(x).y_axis(y).block(block).legend_position(None), area);
}

#[cfg(test)]
mod tests {
    use super::{super::board::Band, *};
    use ratatui::{Terminal, backend::TestBackend};

    fn board(members: usize) -> Board {
        let curve = |f: &dyn Fn(f64) -> f64| -> Curve {
            (1..=12)
                .map(|e| (f64::from(e), f(f64::from(e))))
                .map(|(e, y)| (e, Band { mean: y, low: y - 0.2, high: y + 0.1 }))
                .collect()
        };
        Board {
            run: "runs/first".into(),
            device: "CPU, 2 threads, f32".into(),
            data: "eurusd.csv, 6225 bars".into(),
            members,
            memory: 15_200_000,
            steps: 65_536,
            epochs: 30,
            done: 12,
            first: 0,
            loss: curve(&|e| 4.0 / e),
            gained: curve(&|e| 0.02 * e - 0.1),
            validation: Vec::new(),
            stopping: false,
        }
    }

    fn drawn(width: u16, height: u16, board: &Board) -> String {
        let mut terminal = Terminal::new(TestBackend::new(width, height)).unwrap();
        let seconds = Duration::from_secs;
        terminal.draw(|frame| draw(frame, board, seconds(24), seconds(1))).unwrap();
        terminal.backend().to_string()
    }

    #[test]
    fn wide_tall_and_narrow() {
        let mut all = format!("{}\n{}", drawn(110, 18, &board(4)), drawn(60, 30, &board(1)));
        let mut stopping = board(2);
        stopping.stopping = true;
        stopping.validation = vec![(12.0, Band { mean: -0.5, low: -0.5, high: -0.5 })];
        all.push_str(&format!("\n{}", drawn(40, 9, &stopping)));
        insta::assert_snapshot!("live", all);
    }

    /// No size and no numbers make it panic.
    #[test]
    fn whatever_the_size() {
        let mut odd = board(3);
        odd.epochs = 0;
        odd.loss = vec![(1.0, Band { mean: 0.0, low: 0.0, high: 0.0 })];
        odd.gained = vec![(1.0, Band { mean: 1e300, low: -1e300, high: 1e300 })];
        for width in [1, 2, 10, 49, 50, 95, 96, 300] {
            for height in [1, 2, 5, 15, 16, 60] {
                for board in [&odd, &Board::default()] {
                    drawn(width, height, board);
                }
            }
        }
    }

    #[test]
    fn clocks() {
        let clock = |s| clock(Duration::from_secs(s));
        assert_eq!((clock(5), clock(61), clock(3_723)), ("0:05".into(), "1:01".into(), "1:02:03".into()));
    }
}
