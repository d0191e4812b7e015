//! `taught.json` of a run: what its members have from the bars that they were trained on, so that they act on others where those
//! are gone or have grown.

use super::{place, source::load_own_bars};
use crate::Failure;
use foxhunt_checkpoint::{Unsealed, seal, unseal};
use foxhunt_train::{Config, Market, Taught};
use serde::{Deserialize, Serialize};
use std::path::Path;

const TAUGHT: &str = "taught.json";

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Saved {
    markets: Vec<One>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct One {
    /// Of the instrument, where several are listed.
    name: Option<String>,
    taught: Taught,
}

/// Writes it, of `markets` as training has them: the folds of one instrument after another, of which the last counts.
pub(crate) fn write(run: &Path, config: &Config, markets: &[Market]) -> Result<(), Failure> {
    let last = markets.chunks(config.folds()).filter_map(<[Market]>::last);
    let one = |(number, market): (usize, &Market)| One {
        name: config.market_name(number).map(str::to_owned),
        taught: market.taught(),
    };
    let saved = Saved { markets: last.enumerate().map(one).collect() };
    place::write_whole(&run.join(TAUGHT), seal(&serde_json::to_string_pretty(&saved)?).as_bytes())
}

/// Writes it where there is none: a run that was stopped before, or that an earlier version began.
pub(crate) fn write_missing(run: &Path, config: &Config, markets: &[Market]) -> Result<(), Failure> {
    if run.join(TAUGHT).exists() { Ok(()) } else { write(run, config, markets) }
}

/// What the members of a run with one instrument were taught, or of one that was narrowed to it; made of the run's own bars where
/// an earlier version wrote the run.
pub(crate) fn read(run: &Path, config: &Config) -> Result<Taught, Failure> {
    let path = run.join(TAUGHT);
    if !path.exists() {
        return Ok(Market::prepare(load_own_bars(run, config)?, config)?.taught());
    }
    let damaged = |e: &dyn std::fmt::Display| {
        Failure::Unusable(format!(
            "{} is damaged ({e}): restore it from a copy, or remove it and leave the run's own data where they were",
            path.display()
        ))
    };
    let text = match unseal(&place::read(&path)?) {
        Unsealed::Whole(text) => text,
        Unsealed::Plain(_) | Unsealed::Damaged => return Err(damaged(&"it is not as it was written")),
    };
    let saved: Saved =
        serde_json::from_str(&text).map_err(|e| damaged(&foxhunt_core::plain_words(&e.to_string())))?;
    let own = saved.markets.into_iter().find(|one| one.name.as_deref() == config.market_name(0));
    own.map(|one| one.taught).ok_or_else(|| damaged(&"the instrument is not in it"))
}
