//! Random rules, bars and actions.

use super::{Dice, Member};
use foxhunt_market::{Account, Bar, FinancingBase, OrderTypes, RuleBook, Rules, SESSION_END, new_account};

/// Rules drawn wide: every switch both ways, rates of either sign, leverage from 0.5 to 500.
pub fn random_rules(dice: &mut Dice, highest: i32) -> Rules {
    loop {
        // Now and then sums that need 128 bits; mostly such that positions are not bound by volume alone.
        let largest = if dice.chance(4) { 100_000_000_000_000_000 } else { 1_000_000_000 };
        let mut draw = |low: i64, high: i64| dice.within(low, high) as i32;
        let book = RuleBook {
            tv: [1, 10, 100, 2_500, 5_000][draw(0, 4) as usize],
            tick: [1, 2, 5, 10][draw(0, 3) as usize],
            quotes: draw(0, 1) == 1,
            highest_price: highest,
            taker_fee_e7: draw(0, 30_000),
            maker_fee_e7: draw(-2_000, 20_000),
            min_half_spread: draw(0, 20),
            half_spread_e7: draw(0, 5_000),
            atr_spread_e7: draw(0, 400_000),
            gap_spread_factor: draw(1, 8),
            impact_e2: draw(0, 120),
            participation_cap_e4: draw(0, 3_000),
            liquidation_penalty_e7: draw(0, 100_000),
            band_bp: draw(0, 1_500),
            financing_long_e7: draw(-200_000, 2_000_000),
            financing_short_e7: draw(-200_000, 2_000_000),
            financing_base: [FinancingBase::WholeNotional, FinancingBase::BorrowedPart][draw(0, 1) as usize],
            stop_atr_e4: [0, 5_000, 20_000][draw(0, 2) as usize],
            ruin_e4: draw(100, 6_000),
            max_leverage_e4: dice.magnitude(5_000, 5_000_000) as i32,
            start_cash: dice.magnitude(100_000, largest),
            orders: if dice.chance(4) { OrderTypes::Market } else { OrderTypes::All },
            ..RuleBook::default()
        };
        if let Ok(row) = book.row() {
            return row;
        }
    }
}

/// A jumpy price path with gaps, empty bars and bars without a range.
pub fn random_bars(dice: &mut Dice, count: usize, quotes: bool, highest: i32) -> Vec<Bar> {
    let mut price = dice.within(i64::from(highest) / 10, i64::from(highest) * 9 / 10);
    let sigma = (price / dice.magnitude(20, 2_000)).max(1);
    let volume = dice.magnitude(1, 10_000_000);
    let mut out = Vec::new();
    for _ in 0..count {
        let jump = dice.chance(12);
        let move_by = |dice: &mut Dice, most: i64| dice.within(-most, most);
        let open = (price + move_by(dice, if jump { 8 * sigma } else { sigma / 8 }))
            .clamp(1, i64::from(highest) / 2 * 2);
        let close = (open + move_by(dice, 2 * sigma)).clamp(1, i64::from(highest));
        let reach = if dice.chance(10) { 0 } else { 2 * sigma };
        let high = (open.max(close) + dice.within(0, reach)).min(i64::from(highest)).max(open);
        let low = (open.min(close) - dice.within(0, reach)).max(1);
        let bid = [open, high, low, close].map(|p| p as i32);
        let spread = if quotes { dice.within(0, sigma / 4 + 2) as i32 } else { 0 };
        out.push(Bar {
            bid,
            ask: bid.map(|p| p + spread),
            volume: if dice.chance(15) { 0 } else { dice.magnitude(1, 4 * volume) },
            mean_volume: volume,
            sigma: sigma as i32,
            atr: (sigma * 2) as i32,
            gap_seconds: if jump { dice.magnitude(1, 1_000_000) as u32 } else { 0 },
            // In every other stretch sessions of seven bars, whose last closes what is held.
            bar_seconds: 3_600 | if highest % 2 == 0 && out.len() % 7 == 3 { SESSION_END } else { 0 },
        });
        price = close;
    }
    out
}

pub struct Play {
    pub members: Vec<Member>,
    pub envs: usize,
    pub accounts: Vec<Account>,
    pub actions: Vec<Vec<[u8; 3]>>,
}

pub fn play(seed: u64, members: usize, envs: usize, bars: usize) -> Play {
    let mut dice = Dice::new(seed);
    let members: Vec<Member> = (0..members)
        .map(|_| {
            let highest = dice.magnitude(100, 4_000_000) as i32;
            let rules = random_rules(&mut dice, highest);
            Member { rules, bars: random_bars(&mut dice, bars, rules.quotes == 1, highest) }
        })
        .collect();
    let accounts = members.iter().flat_map(|m| std::iter::repeat_n(new_account(&m.rules), envs)).collect();
    let mut action = || [dice.within(0, 8) as u8, dice.within(0, 2) as u8, dice.within(0, 2) as u8];
    let actions = (1..bars).map(|_| (0..members.len() * envs).map(|_| action()).collect()).collect();
    Play { members, envs, accounts, actions }
}
