use super::middle_member;
use crate::{Backtest, Exposures, FLAT, Strategy};
use foxhunt_core::rng::member_seed;
use foxhunt_ledger::{Ledger, MemberInfo};

/// Draws, each a member of the baseline: their spread is its interval.
pub const DRAWS: u64 = 20;

pub(super) const WORDS: &str = "The actions are those of the agent's middle member at other times: in 20 draws the list is \
                                turned round by a random part of the window, so that turnover and sizes are matched and only \
                                the timing is not.";

/// Turnover-matched random: the actions of `agent` (its middle member) at other times.
///
/// Each of 20 draws turns the agent's list of actions round by a random number of bars, at least a tenth of the window and at
/// most nine tenths. Wishes, order types, how long each is held and how often it changes are then the agent's, to the last
/// order but for the one seam; what is taken away is when. An agent that does no better than these has no timing. Draws share
/// the window's path, so that their spread is that of luck in timing and of nothing else. Seeded by the ledger's seed.
///
/// The window of `backtest` should be what the agent's middle member lived of it ([`super::baselines`] sees to that): beyond its ruin
/// there is nothing to be matched to, and these draws would hold nothing for most of their time.
///
/// Fills decide how much is traded, so that turnover is equal only nearly: it stands in the report beside the agent's.
pub fn random_timing(backtest: &Backtest<'_>, agent: &Ledger) -> Strategy {
    let decisions = backtest.window().decisions();
    let rows = agent.bars_of(middle_member(agent)).iter().skip(1);
    let mut actions: Vec<[u8; 3]> =
        rows.map(|r| [r.action.exposure, r.action.order_type, r.action.urgency]).collect();
    // Beyond where the agent was ruined it had no more wishes.
    actions.resize(decisions, FLAT);
    let seed = agent.header.seed;
    Strategy {
        baseline: Some(NAME.into()),
        members: members(seed),
        seed,
        actions: (0..DRAWS).map(|draw| turned(&actions, member_seed(seed ^ KEY, draw))).collect(),
    }
}

/// The same of the first so many targets that were given, for the ledger's actions show only the nearest of nine levels.
pub(crate) fn random_timing_of(given: &Exposures, seed: u64, decisions: usize) -> Exposures {
    let targets = given.targets.first().map_or(&[][..], Vec::as_slice);
    let targets = &targets[..decisions.min(targets.len())];
    Exposures {
        name: NAME.into(),
        words: WORDS.replace("actions are those of the agent's middle member", "targets are the given ones"),
        members: members(seed),
        targets: (0..DRAWS).map(|draw| turned(targets, member_seed(seed ^ KEY, draw))).collect(),
    }
}

fn members(seed: u64) -> Vec<MemberInfo> {
    let member = |id| MemberInfo {
        id,
        label: format!("draw {id}"),
        seed: member_seed(seed ^ KEY, id),
        reward_unit: 1.0,
    };
    (0..DRAWS).map(member).collect()
}

const NAME: &str = "random timing";

/// Keeps the draws apart from the members' own.
const KEY: u64 = 0x7469_6d69_6e67;

/// The list turned round by a number of places that `word` draws.
fn turned<T: Copy>(actions: &[T], word: u64) -> Vec<T> {
    let n = actions.len();
    let least = n / 10;
    let room = n - 2 * least;
    let by = least + ((u128::from(word) * room as u128) >> 64) as usize;
    let mut out = actions.to_vec();
    if n > 0 {
        out.rotate_left(by % n);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_actions_in_the_same_order_elsewhere() {
        let actions: Vec<[u8; 3]> = (0..100).map(|k| [(k % 9) as u8, (k / 40) as u8, 0]).collect();
        let mut starts = std::collections::BTreeSet::new();
        for draw in 0..DRAWS {
            let x = turned(&actions, member_seed(7, draw));
            let by = (0..100).find(|by| (0..100).all(|k| x[k] == actions[(k + by) % 100])).unwrap();
            assert!((10..90).contains(&by), "{by}");
            starts.insert(by);
        }
        assert!(starts.len() > 12, "{starts:?}");
        assert_eq!(turned(&actions, 5), turned(&actions, 5));
        assert!(turned::<u8>(&[], 9).is_empty());
        assert_eq!(turned(&actions, u64::MAX)[0], actions[89], "at most nine tenths");
    }
}
