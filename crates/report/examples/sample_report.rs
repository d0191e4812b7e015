//! Writes a report of a made-up ledger, to look at, over so many hourly bars (6,240 are a year), and the ledger itself if a
//! directory is given: `cargo run -p foxhunt-report --example sample_report -- FILE [BARS] [DIRECTORY]`.

use std::path::Path;

use foxhunt_ledger::synth::Synth;
use foxhunt_report::{EpochPoint, LearningCurve, PartLine, ReportInput, StressLine, write_report};

const CONFIG: &str = "[market]\ninstrument = \"EUR/USD\"\nmax_leverage = 2.0\n\n[train]\nepochs = 50\nseed = 7\n\n\
                      [network]\nhead = \"c51\"\natoms = 51\n";

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let path = std::env::args().nth(1).ok_or("usage: sample_report FILE [BARS] [DIRECTORY]")?;
    let bars = std::env::args().nth(2).map_or(Ok(6_240), |bars| bars.parse::<u32>())?;
    let agent = Synth { bars, ..Synth::default() }.ledger();
    let hold = Synth { bars, members: 1, buy_and_hold: true, ..Synth::default() }.ledger();
    let mut random = Synth { bars, members: 4, max_leverage_e4: 12_000, ..Synth::default() }.ledger();
    random.header.baseline = Some("random timing".into());
    let stress = [("costs_1", "costs × 1", true), ("delay_1", "one bar of delay", false)].map(
        |(key, label, again)| StressLine {
            key: key.into(),
            label: label.into(),
            again,
            ledger: Ok(agent.clone()),
        },
    );
    let curve = |member: u32| LearningCurve {
        member,
        points: (0..50).map(|epoch| point(epoch, f64::from(member))).collect(),
    };
    let curves: Vec<LearningCurve> = (0..3).map(curve).collect();
    let input = ReportInput {
        ledger: &agent,
        chosen: None,
        baselines: &[hold, random],
        stress: &stress,
        curves: &curves,
        folds: &folds(),
        config_toml: CONFIG,
    };
    write_report(Path::new(&path), &input)?;
    if let Some(directory) = std::env::args().nth(3) {
        agent.write(Path::new(&directory))?;
    }
    Ok(())
}

/// A calm one, a ruined one and a dear one: the widest figures that a row has to hold.
fn folds() -> Vec<PartLine> {
    let calm = Synth { bars: 2_000, members: 64, ..Synth::default() };
    let wild = Synth { max_leverage_e4: 300_000, volatility_bp: 60.0, stop_sd: 0.0, ..calm };
    let dear = Synth { seed: 5, max_leverage_e4: 50_000, ..calm };
    let window = |year: i64, years: i64| {
        let start = 1_104_537_600 + (year * 365 + year / 4) * 86_400;
        [start, start + years * 365 * 86_400].map(|s| s * 1_000_000_000)
    };
    let line = |(k, of): (usize, Synth)| {
        let year = k as i64;
        PartLine {
            train: Some(window(year, 5)),
            validation: Some(window(year + 5, 1)),
            test: window(year + 6, 1),
            chosen: format!("member {} after epoch {}", 57 - k, 24 + k),
            page: "#folds".into(),
            ledger: of.ledger(),
            member: k as u32,
        }
    };
    [calm, wild, dear].into_iter().enumerate().map(line).collect()
}

/// A curve that looks like training.
fn point(epoch: u32, member: f64) -> EpochPoint {
    let t = f64::from(epoch);
    let wiggle = (t * (1.3 + 0.4 * member)).sin() + 0.6 * (t * (2.9 - 0.5 * member)).cos();
    EpochPoint {
        epoch,
        loss: 0.55 + 2.4 * (-t / 9.0).exp() + 0.05 * wiggle,
        episode_return: 0.03 * (1.0 - (-t / 14.0).exp()) - 0.012 + 0.003 * wiggle + 0.002 * member,
        epsilon: (1.0 - t / 30.0).max(0.05),
        temperature: None,
        edge_share: 0.0,
    }
}
