//! Markets that share a policy.

use crate::{Config, Market, TrainError};
use foxhunt_features::Splits;
use std::ops::Range;

/// Refuses markets of one policy where a bar of one is learnt from, or chosen by, that ends after the window of another that is
/// still to be decided in has begun: markets move together, so that the policy would know what was to come.
pub(crate) fn check_windows(config: &Config, markets: &[&Market]) -> Result<(), TrainError> {
    type Window = fn(&Splits) -> &Range<usize>;
    let pairs: [(&str, Window, &str, Window); 2] = [
        ("train", |s| &s.train, "validation", |s| &s.validation),
        ("validation", |s| &s.validation, "test", |s| &s.test),
    ];
    let named = |(m, market): (usize, &&Market), row: usize| {
        (market.bars.close_ns[row], config.market_name(m).unwrap_or_default().to_owned())
    };
    for (earlier, before, later, after) in pairs {
        let last = markets.iter().enumerate().map(|m| named(m, before(&m.1.splits).end - 1)).max();
        let first = markets.iter().enumerate().map(|m| named(m, after(&m.1.splits).start)).min();
        if let (Some((end, one)), Some((begin, other))) = (last, first)
            && end > begin
        {
            let [end, begin] = [end, begin].map(foxhunt_data::show_moment);
            let by = if config.walks() { "data.test_to" } else { "data.validation_from and data.test_from" };
            return Err(TrainError::Config {
                place: "data.policy".into(),
                what: format!(
                    "the {earlier} window of {one} lasts until {end}, and the {later} window of {other} begins at {begin}: a \
                     shared policy would know of the future; divide all instruments at the same dates, with {by}"
                ),
            });
        }
    }
    Ok(())
}
