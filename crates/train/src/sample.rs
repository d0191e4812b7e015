//! Whether what is called a test is one.

use crate::Market;
use std::ops::Range;

impl Market {
    /// How many of `rows` the agent was trained or chosen on, in words; nothing where it has seen none of them.
    pub fn in_sample(&self, rows: Range<usize>) -> Option<String> {
        let taught = self.taught_ns.as_ref()?;
        let closes = self.bars.close_ns.get(rows).unwrap_or_default();
        let seen = closes.iter().filter(|close| taught.contains(close)).count();
        (seen > 0).then(|| {
            format!(
                "{seen} of {} bars lie in the time that the members were trained and chosen on ({} to {}): what they earn there \
                 is no test of them",
                closes.len(),
                foxhunt_data::show_moment(*taught.start()),
                foxhunt_data::show_moment(*taught.end())
            )
        })
    }
}
