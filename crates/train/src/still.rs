//! Features of which nothing is seen.

use crate::{Config, Market, TrainError};
use foxhunt_features::MAX_OFF_CENTRE;

/// Refuses features that were asked for by name and of which nothing would be seen; those of a set are left out instead
/// ([`still`](foxhunt_features::Normaliser::still)).
pub(crate) fn check_still(market: &Market, config: &Config) -> Result<(), TrainError> {
    let f = &config.features;
    let named = |name: &str| {
        let own = f.columns.iter().any(|c| c == name);
        let key = if own { "--feature-columns (features.columns)" } else { "features.names" };
        (own || !f.names.is_empty()).then_some(key)
    };
    let mut still = market.normaliser.still();
    let Some((name, mean, key)) = still.find_map(|(name, mean)| Some((name, mean, named(name)?))) else {
        return Ok(());
    };
    Err(TrainError::Windows {
        file: market.bars.source.path.clone(),
        what: format!(
            "{key} names {name}, which is {mean:.4e} all through the training window, or within a {MAX_OFF_CENTRE}th of that: \
             nothing of it would be seen, so leave it out{}",
            if key == "features.names" { "" } else { ", or restate it around 0" }
        )
        .into(),
    })
}
