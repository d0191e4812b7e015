//! One account through the test windows of several folds.

use crate::{FLAT, Strategy, TestWindow};
use foxhunt_ledger::{Ledger, MemberInfo};
use std::ops::Range;

/// The decisions of one member over a stretch of bars.
#[derive(Clone, Debug)]
pub struct Stretch<'a> {
    /// Rows of the bar table, as of the window that the member was backtested on.
    pub rows: Range<usize>,
    /// Its backtest.
    pub ledger: &'a Ledger,
    /// Index of the member in that ledger.
    pub member: u32,
}

/// The decisions of stretches, one after another, as one account's over `window`. At the last close of a stretch, where its
/// member decides nothing, the last target stays if the next stretch begins at the next bar; in between stretches, and where a
/// member was ruined, the account is flat.
pub fn stitched(window: &TestWindow, name: &str, seed: u64, stretches: &[Stretch<'_>]) -> Strategy {
    let mut actions = vec![FLAT; window.decisions()];
    for (k, s) in stretches.iter().enumerate() {
        let made = s.ledger.bars_of(s.member).iter().skip(1);
        let mut last = FLAT;
        let mut row = s.rows.start;
        for bar in made {
            last = [bar.action.exposure, bar.action.order_type, bar.action.urgency];
            put(&mut actions, window, row, last);
            row += 1;
        }
        let whole = row + 1 == s.rows.end;
        if whole && stretches.get(k + 1).is_some_and(|next| next.rows.start == s.rows.end) {
            put(&mut actions, window, row, last);
        }
    }
    let member = MemberInfo { id: 0, label: name.to_owned(), seed, reward_unit: 1.0 };
    Strategy { baseline: None, members: vec![member], seed, actions: vec![actions] }
}

fn put(actions: &mut [[u8; 3]], window: &TestWindow, row: usize, action: [u8; 3]) {
    if let Some(slot) = row.checked_sub(window.rows.start).and_then(|at| actions.get_mut(at)) {
        *slot = action;
    }
}
