//! Who trains on what: the members of each instrument and fold, or of all instruments together.

use super::Config;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Who learns of several instruments.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Policy {
    /// Each instrument has members of its own.
    #[default]
    Own,
    /// All instruments have the same members: the environments of each are spread over them in equal shares.
    Shared,
}

/// Members that train on the same markets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Group {
    /// Ids of the members.
    pub ids: Vec<u64>,
    /// Their instrument, by its number; nothing where all instruments are theirs.
    pub market: Option<usize>,
    /// Their fold.
    pub fold: usize,
    /// Their markets, by their place among those of [`Market::all`](crate::Market::all).
    pub markets: Vec<usize>,
}

impl Config {
    /// Whether the instruments that are listed have the same members.
    pub fn shares_policy(&self) -> bool {
        self.lists_markets() && self.data.policy == Policy::Shared
    }

    /// All members, by what they train on, in their order: instrument after instrument, fold after fold, or fold after fold
    /// where instruments share a policy.
    pub fn groups(&self) -> Vec<Group> {
        let (markets, folds) = (self.markets(), self.folds());
        if self.shares_policy() {
            let of_fold = |fold| (0..markets).map(|market| market * folds + fold).collect();
            let group =
                |fold| Group { ids: self.ids_of(0, fold), market: None, fold, markets: of_fold(fold) };
            return (0..folds).map(group).collect();
        }
        let all = (0..markets).flat_map(|market| (0..folds).map(move |fold| (market, fold)));
        all.map(|(market, fold)| Group {
            ids: self.ids_of(market, fold),
            market: Some(market),
            fold,
            markets: vec![market * folds + fold],
        })
        .collect()
    }

    /// Name of the instrument of a member, by its place; nothing where none are listed or all are its.
    pub fn market_of_member(&self, member: usize) -> Option<&str> {
        let group = self.groups().into_iter().nth(member / self.population)?;
        self.market_name(group.market?)
    }

    /// Id of each member, in the order of [`Config::groups`].
    pub fn member_ids(&self) -> Vec<u64> {
        self.groups().into_iter().flat_map(|group| group.ids).collect()
    }
}
