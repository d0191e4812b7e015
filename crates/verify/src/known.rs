//! Does an agent find the optimal policy where it is known?

use crate::VerifyError;
use foxhunt_backtest::{Backtest, TestWindow, foresight};
use foxhunt_core::DType;
use foxhunt_device::Device;
use foxhunt_known::{KnownMarket, Learned, Lengths, log_return};
use std::fmt;

/// What was measured on one market.
#[derive(Clone, Debug)]
pub struct KnownReport {
    /// Name of the market.
    pub market: String,
    /// What it is.
    pub about: &'static str,
    /// Epochs of the training.
    pub epochs: u32,
    /// Log return of the optimal policy on the test window.
    pub optimum: f64,
    /// Log return of perfect foresight there, which no agent can have.
    pub foresight: f64,
    /// What the members came to.
    pub learned: Learned,
    /// Largest median regret that passes.
    pub bound: f64,
}

impl KnownReport {
    /// Whether the median member's regret is within the bound.
    pub fn passed(&self) -> bool {
        self.learned.median() <= self.bound
    }
}

/// Trains members on the known market of this name by its own quick configuration, for `epochs` epochs if given, and holds
/// them against the optimal policy on its test window.
///
/// # Errors
/// A name that no market has, or the device.
pub fn known(
    device: &Device,
    dtype: DType,
    market: &str,
    seed: u64,
    epochs: Option<u32>,
) -> Result<KnownReport, VerifyError> {
    let known = KnownMarket::new(market, seed, Lengths::default())?;
    let mut config = known.quick(seed);
    config.epochs = epochs.unwrap_or(config.epochs).max(1);
    let optimum = known.optimum(&config)?;
    let learned = known.learn(device, dtype, &config, &optimum)?;
    let window = TestWindow::test(&known.market);
    let ahead = foresight(&known.market, &window)?;
    let backtest = Backtest::new(device, dtype, &config, &known.market, window)?;
    Ok(KnownReport {
        market: known.kind().name.to_owned(),
        about: known.kind().about,
        epochs: config.epochs,
        optimum: optimum.log_return,
        foresight: log_return(&backtest.strategy(&ahead)?, 0),
        learned,
        bound: known.kind().bound,
    })
}

impl fmt::Display for KnownReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let percent = |x: &f64| format!("{:+.2} %", 100.0 * x);
        let all = |x: &[f64]| x.iter().map(percent).collect::<Vec<_>>().join("  ");
        let l = &self.learned;
        writeln!(f, "{}: {}", self.market, self.about)?;
        writeln!(f, "  optimal policy     {:.5} log return on the test window", self.optimum)?;
        writeln!(f, "  perfect foresight  {:.5}", self.foresight)?;
        writeln!(f, "  regret             {}", all(&l.regrets))?;
        let chosen: Vec<String> = l.chosen.iter().map(ToString::to_string).collect();
        writeln!(f, "    epochs chosen    {} of {}", chosen.join("  "), self.epochs)?;
        writeln!(
            f,
            "    median           {}, at most {} wanted: {}",
            percent(&l.median()),
            percent(&self.bound),
            if self.passed() { "passed" } else { "FAILED" }
        )?;
        write!(f, "  training took {:.0} s", l.training_seconds)
    }
}
