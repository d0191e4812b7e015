//! Is what can be learned learned, and nothing that can't?

use crate::VerifyError;
use foxhunt_backtest::{Backtest, TestWindow, buy_and_hold, foresight};
use foxhunt_core::{
    DType,
    rng::{Purpose, below, draw, member_seed},
};
use foxhunt_data::Bars;
use foxhunt_device::Device;
use foxhunt_ledger::{Ledger, reconcile};
use foxhunt_metrics::{Bootstrap, Interval, Metric, Series, Spread, Undefined, over_members, over_time};
use foxhunt_train::{Config, Market, Size, Trainer};
use std::{fmt, time::Instant};

/// Members that are trained.
const MEMBERS: usize = 4;
/// Least share of the perfect-foresight profit that the median member must make.
const SHARE: f64 = 0.5;
/// Name of the column that holds the answer.
const COLUMN: &str = "next_return";

/// What one training came to on the held-out bars.
#[derive(Clone, Debug, PartialEq)]
pub struct Trained {
    /// Total return of each member after costs.
    pub returns: Vec<f64>,
    /// Trades of each member.
    pub fills: Vec<usize>,
    /// 95 % interval over time (stationary block bootstrap) of the mean of the members' mean returns per bar.
    pub over_time: Interval,
    /// Student's 95 % interval over members of the total return.
    pub over_members: Spread,
    /// Mean of the members' mean returns per bar.
    pub mean_bar_return: f64,
}

/// What was measured.
#[derive(Clone, Debug, PartialEq)]
pub struct LearnReport {
    /// Instrument.
    pub instrument: String,
    /// Epochs of each training.
    pub epochs: u32,
    /// Held-out bars.
    pub bars: usize,
    /// Total return of perfect foresight after costs.
    pub foresight: f64,
    /// Total return of buy and hold after costs.
    pub hold: f64,
    /// Members that see the next bar's return.
    pub told: Trained,
    /// Members that see it shuffled in time.
    pub shuffled: Trained,
    /// Seconds that training took, both times.
    pub training_seconds: f64,
}

impl LearnReport {
    /// Median return of the members that were told, as a share of perfect foresight's.
    pub fn share(&self) -> f64 {
        median(&self.told.returns) / self.foresight
    }

    /// Whether those who were told made at least half of what foresight makes.
    pub fn learned(&self) -> bool {
        self.foresight > 0.0 && self.share() >= SHARE
    }

    /// Whether those who were told noise earned nothing that could not be chance: the interval over time of their mean
    /// return in excess of staying flat does not lie above 0.
    pub fn honest(&self) -> bool {
        self.shuffled.over_time.low <= 0.0
    }

    /// Whether both hold.
    pub fn passed(&self) -> bool {
        self.learned() && self.honest()
    }
}

/// The configuration that the check trains by: data, account and seed of `config`, a network and a schedule that suit a task
/// whose answer is one bar away. `features` is F, the answer's column included.
///
/// Measured on the embedded sample in F32 on a CPU, seeds 1 to 6: the median member made 83 to 91 % of what perfect foresight
/// makes, and the members that were told noise earned -0.11 to +0.04 bp a bar, no interval above 0. A longer horizon learns
/// the same more slowly: 41 % after 4 epochs with the default gamma of 0.99 and three-step returns.
pub fn learn_config(config: &Config, features: usize) -> Config {
    let mut c = Config::of(Size::Small);
    (c.seed, c.data, c.market) = (config.seed, config.data.clone(), config.market.clone());
    c.population = MEMBERS;
    c.epochs = 8;
    c.network.lookback = 1;
    c.network.inputs = (features + foxhunt_env::ACCOUNT_FEATURES).next_multiple_of(64);
    // With so short a horizon scaled rewards are returns in volatilities: five are enough, and finer atoms tell costs.
    c.network.v_max = 5.0;
    let l = &mut c.learn;
    (l.gamma, l.n_step) = (0.3, 1);
    (l.learning_rate, l.tau) = (1e-3, 0.05);
    l.explore_epochs = 3.0;
    c
}

/// Trains members that are told the next bar's return, and members that are told it shuffled in time; tests both on all
/// bars after the training window, beside perfect foresight.
///
/// The answer is a feature that exists here and nowhere else. Excess is over staying flat, so over 0: a market that only
/// rises, or features that hold an edge, can put what the second kind earns above 0 too, and are then the first thing to
/// look at.
///
/// # Errors
/// Bars too few, or the device.
pub fn learn(device: &Device, dtype: DType, config: &Config, bars: Bars) -> Result<LearnReport, VerifyError> {
    let lesson = Lesson::new(device, dtype, config, bars)?;
    let start = Instant::now();
    let (told, shuffled) = (lesson.taught(&lesson.answers()?)?, lesson.taught(&lesson.noise()?)?);
    let training_seconds = start.elapsed().as_secs_f64();
    Ok(LearnReport { training_seconds, ..lesson.report(told, shuffled)? })
}

/// What both kinds of members are trained and tested on.
struct Lesson<'a> {
    device: &'a Device,
    dtype: DType,
    config: Config,
    /// The market without the answer.
    plain: Market,
    /// The bars that they are tested on.
    window: TestWindow,
}

impl<'a> Lesson<'a> {
    fn new(device: &'a Device, dtype: DType, config: &Config, bars: Bars) -> Result<Self, VerifyError> {
        let plain = Market::prepare(bars, &learn_config(config, 1))?;
        let config = learn_config(config, plain.features.cols + 1);
        let held_out = plain.splits.validation.start..plain.splits.test.end;
        let window = TestWindow { name: "held out".into(), rows: held_out };
        Ok(Self { device, dtype, config, plain, window })
    }

    /// The market with the next bar's return as one more feature.
    fn answers(&self) -> Result<Market, VerifyError> {
        Ok(self.plain.with_column(COLUMN, next_returns(&self.plain))?)
    }

    /// The market with the same returns shuffled in time.
    fn noise(&self) -> Result<Market, VerifyError> {
        let noise = shuffle(next_returns(&self.plain), self.plain.features.warmup_rows, self.config.seed);
        Ok(self.plain.with_column(COLUMN, noise)?)
    }

    /// What members came to who were told the answer and who were told noise, beside what could be had.
    fn report(&self, told: Trained, shuffled: Trained) -> Result<LearnReport, VerifyError> {
        let Self { device, dtype, config, plain, window } = self;
        let run = |strategy| -> Result<f64, VerifyError> {
            let backtest = Backtest::new(device, *dtype, config, plain, window.clone())?;
            Ok(series(&backtest.strategy(&strategy)?, "a strategy")?.first().map_or(0.0, total))
        };
        Ok(LearnReport {
            instrument: plain.rules.instrument.clone(),
            epochs: config.epochs,
            bars: window.rows.len(),
            foresight: run(foresight(plain, window)?)?,
            hold: run(buy_and_hold(window))?,
            told,
            shuffled,
            training_seconds: 0.0,
        })
    }

    /// Trains members on a market and tests them.
    fn taught(&self, market: &Market) -> Result<Trained, VerifyError> {
        let Self { device, dtype, config, window, .. } = self;
        let images = train(device, *dtype, config, market)?;
        let backtest = Backtest::new(device, *dtype, config, market, window.clone())?;
        let ids: Vec<u64> = (0..config.population as u64).collect();
        trained(&backtest.agents_of_images(&ids, &images)?)
    }
}

/// The log return of the bar after each; 0 after the last.
fn next_returns(market: &Market) -> Vec<f32> {
    let bars = &market.bars;
    let of = |t: usize| (bars.mid_close2(t + 1) as f64 / bars.mid_close2(t) as f64).ln() as f32;
    (0..bars.len()).map(|t| if t + 1 < bars.len() { of(t) } else { 0.0 }).collect()
}

/// The values past the warm-up in another order (Fisher and Yates), from the seed.
fn shuffle(mut values: Vec<f32>, warmup_rows: usize, seed: u64) -> Vec<f32> {
    let key = member_seed(seed, u64::MAX);
    let part = &mut values[warmup_rows..];
    for i in (1..part.len()).rev() {
        let word = draw(key, 0, 0, Purpose::Sample, i as u32)[0];
        part.swap(i, below(word, i as u32 + 1) as usize);
    }
    values
}

/// Images of the members' weights after all epochs.
fn train(device: &Device, dtype: DType, config: &Config, market: &Market) -> Result<Vec<f32>, VerifyError> {
    let mut trainer = Trainer::new(device, dtype, config, market)?;
    for _ in 0..config.epochs {
        trainer.epoch()?;
    }
    Ok(trainer.runtime().read(trainer.net().weight)?)
}

fn series(ledger: &Ledger, which: &str) -> Result<Vec<Series>, VerifyError> {
    let lines = reconcile(ledger).map_err(|source| VerifyError::Reconcile { which: which.into(), source })?;
    Ok(lines.members.iter().map(|m| Series::new(ledger, m)).collect())
}

fn total(series: &Series) -> f64 {
    let start = series.equity.first().copied().unwrap_or(1);
    series.gain() as f64 / start as f64
}

fn trained(ledger: &Ledger) -> Result<Trained, VerifyError> {
    let all = series(ledger, "the agents")?;
    let longest = all.iter().map(|s| s.equity.len()).max().unwrap_or(1);
    // A ruined account earns nothing more.
    let returns: Vec<f64> = (1..longest)
        .map(|k| {
            let of = |s: &Series| match (s.equity.get(k - 1), s.equity.get(k)) {
                (Some(&a), Some(&b)) if a > 0 => (b - a) as f64 / a as f64,
                _ => 0.0,
            };
            all.iter().map(of).sum::<f64>() / all.len() as f64
        })
        .collect();
    let mean = |x: &[f64]| x.iter().sum::<f64>() / x.len().max(1) as f64;
    let undefined = |what| move |reason: Undefined| VerifyError::Undefined { what, reason };
    let figures: Vec<Metric> = all.iter().map(|s| Metric::Value(total(s))).collect();
    Ok(Trained {
        returns: all.iter().map(total).collect(),
        fills: all.iter().map(|s| s.fills).collect(),
        over_time: over_time(&returns, |x| Metric::Value(mean(x)), &Bootstrap::default())
            .map_err(undefined("the interval over time"))?,
        over_members: over_members(&figures).map_err(undefined("the interval over members"))?,
        mean_bar_return: mean(&returns),
    })
}

fn median(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let middle = sorted.len() / 2;
    match sorted.get(middle) {
        Some(&high) if sorted.len().is_multiple_of(2) => (sorted[middle - 1] + high) / 2.0,
        Some(&high) => high,
        None => 0.0,
    }
}

impl fmt::Display for LearnReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let percent = |x: f64| format!("{:+.2} %", 100.0 * x);
        let all = |x: &[f64]| x.iter().map(|r| percent(*r)).collect::<Vec<_>>().join("  ");
        let bp = |x: f64| format!("{:+.3}", 1e4 * x);
        writeln!(
            f,
            "{}: {} members, {} epochs each, {} held-out bars",
            self.instrument,
            self.told.returns.len(),
            self.epochs,
            self.bars
        )?;
        writeln!(f, "  perfect foresight      {}", percent(self.foresight))?;
        writeln!(f, "  buy and hold           {}", percent(self.hold))?;
        writeln!(f, "  told the next bar      {}", all(&self.told.returns))?;
        writeln!(
            f,
            "    median               {:.1} % of foresight, at least {:.0} % wanted: {}",
            100.0 * self.share(),
            100.0 * SHARE,
            verdict(self.learned())
        )?;
        writeln!(f, "  told it shuffled       {}", all(&self.shuffled.returns))?;
        let fills: Vec<String> = self.shuffled.fills.iter().map(ToString::to_string).collect();
        writeln!(f, "    fills                {}", fills.join("  "))?;
        let t = &self.shuffled;
        writeln!(
            f,
            "    mean over flat       {} bp a bar, 95 % over time {} to {}, not above 0 wanted: {}",
            bp(t.mean_bar_return),
            bp(t.over_time.low),
            bp(t.over_time.high),
            verdict(self.honest())
        )?;
        writeln!(
            f,
            "    total, over members  {} to {} (95 %)",
            percent(t.over_members.low),
            percent(t.over_members.high)
        )?;
        write!(f, "  training took {:.0} s", self.training_seconds)
    }
}

fn verdict(ok: bool) -> &'static str {
    if ok { "passed" } else { "FAILED" }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shuffle_keeps_every_value_and_the_warm_up() {
        let values: Vec<f32> = (0..500).map(|x| x as f32).collect();
        let mut other = shuffle(values.clone(), 100, 7);
        assert_eq!(other[..100], values[..100]);
        let moved = other.iter().zip(&values).skip(100).filter(|(a, b)| a != b).count();
        assert!(moved > 380, "{moved}");
        assert_ne!(other, shuffle(values.clone(), 100, 8));
        other.sort_by(f32::total_cmp);
        assert_eq!(other, values);
    }

    #[test]
    fn medians() {
        assert_eq!((median(&[3.0, 1.0, 2.0]), median(&[4.0, 1.0, 2.0, 3.0]), median(&[])), (2.0, 2.5, 0.0));
    }

    fn sample_lesson(device: &Device) -> Lesson<'_> {
        Lesson::new(device, DType::F32, &Config::of(Size::Small), foxhunt_data::sample()).unwrap()
    }

    #[test]
    fn the_answer_is_learned_and_noise_is_not() {
        let config = Config::of(Size::Small);
        let report = learn(&Device::cpu(), DType::F32, &config, foxhunt_data::sample()).unwrap();
        assert!(report.passed(), "{report}");
    }

    /// A fault: the market's features come a bar late, so that what was the answer is over when it is seen.
    #[test]
    fn a_market_whose_features_come_late_teaches_nothing() {
        let device = Device::cpu();
        let lesson = sample_lesson(&device);
        let mut late = lesson.answers().unwrap();
        let row = late.features.cols;
        let rows = late.features.values.len() / row;
        late.features.values.copy_within(0..(rows - 1) * row, row);
        let told = lesson.taught(&late).unwrap();
        let report = lesson.report(told.clone(), told).unwrap();
        assert!(!report.learned() && report.honest() && report.to_string().contains("FAILED"), "{report}");
    }

    /// A fault: an ordinary feature of the market knows the next bar.
    #[test]
    fn a_market_that_leaks_is_found_by_those_who_were_told_noise() {
        let device = Device::cpu();
        let lesson = sample_lesson(&device);
        let (mut leaky, answers) = (lesson.noise().unwrap(), lesson.answers().unwrap());
        let row = leaky.features.cols;
        for (to, from) in leaky.features.values.chunks_mut(row).zip(answers.features.values.chunks(row)) {
            to[0] = from[row - 1];
        }
        let told = lesson.taught(&leaky).unwrap();
        let report = lesson.report(told.clone(), told).unwrap();
        assert!(!report.honest() && !report.passed(), "{report}");
    }
}
