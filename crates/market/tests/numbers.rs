//! What must not be lost over ten thousand bars of trading, held against F64: cash, equity, the average entry, rewards
//! (`bf16.md` section 3). In BF16 equity would be off by 10 to 41 %, the average entry by 83 bp.
#![allow(clippy::unwrap_used, reason = "tests")]

mod common;

use common::{Dice, Member, Rig, builds};
use foxhunt_market::{Bar, FillKind, FillRow, MAX_FILLS, RuleBook, Rules, new_account, reference};

const STEPS: usize = 10_000;
const TAKER_E7: i32 = 50;
const MAKER_E7: i32 = 20;

fn rules() -> Rules {
    RuleBook {
        highest_price: 30_000_000,
        taker_fee_e7: TAKER_E7,
        maker_fee_e7: MAKER_E7,
        min_half_spread: 1,
        max_leverage_e4: 10_000,
        band_bp: 0,
        financing_long_e7: 0,
        financing_short_e7: 0,
        start_cash: 10_000_000_000_000,
        ruin_e4: 100,
        ..RuleBook::default()
    }
    .row()
    .unwrap()
}

/// A walk from 63,412.55 in units of 0.01, a price that BF16 would take for 63,488; 20 bp a bar.
fn bars() -> Vec<Bar> {
    let mut dice = Dice::new(11);
    let mut price = 6_341_255_i64;
    (0..=STEPS)
        .map(|_| {
            let open = price;
            price = (price + price * dice.within(-350, 350) / 100_000).max(1_000_000);
            let (high, low) =
                (open.max(price) + dice.within(0, 2_000), open.min(price) - dice.within(0, 2_000));
            let prices = [open, high, low, price].map(|p| p as i32);
            Bar {
                bid: prices,
                ask: prices,
                volume: 1_000_000_000,
                mean_volume: 1_000_000_000,
                sigma: 12_000,
                atr: 20_000,
                gap_seconds: 0,
                bar_seconds: 3_600,
            }
        })
        .collect()
}

/// The account in F64, from fills alone.
struct Shadow {
    cash: f64,
    cost: f64,
    position: f64,
}

impl Shadow {
    fn fill(&mut self, fill: &FillRow, tv: f64) {
        let (lots, price) = (f64::from(fill.lots), f64::from(fill.price));
        let rate = if fill.kind == FillKind::Maker as u8 { MAKER_E7 } else { TAKER_E7 };
        self.cash -= lots.abs() * price * tv * f64::from(rate) / 1e7;
        if fill.opens == 1 {
            self.cost += lots * price;
        } else {
            let leaving = -lots / self.position * self.cost;
            self.cash += (-lots * price - leaving) * tv;
            self.cost -= leaving;
        }
        self.position += lots;
    }

    fn equity(&self, mark: i32, tv: f64) -> f64 {
        self.cash + (self.position * f64::from(mark) - self.cost) * tv
    }
}

#[test]
fn ten_thousand_bars_agree_with_f64() {
    let (rules, bars) = (rules(), bars());
    for build in builds() {
        let rig = Rig::new(build, &[Member { rules, bars: bars.clone() }], 1, STEPS);
        rig.set_accounts(&[new_account(&rules)]);
        let mut dice = Dice::new(29);
        for _ in 0..STEPS {
            rig.set_actions(&[[dice.within(0, 8) as u8, dice.within(0, 2) as u8, dice.within(0, 2) as u8]]);
            rig.step();
        }
        let start = rules.start_cash;
        let tv = rules.tv as f64;
        let mut shadow = Shadow { cash: start as f64, cost: 0.0, position: 0.0 };
        let (mut fills, mut flat, mut rewards, mut gross) = (0, 0, 0_i64, 0_i64);
        let (mut entry_off, mut equity_off) = (0.0_f64, 0.0_f64);
        let rows = rig.rows();
        for (t, (row, legs)) in rows.iter().zip(rig.fills().chunks(MAX_FILLS)).enumerate() {
            assert_eq!(row.bar as usize, t + 1);
            for fill in &legs[..usize::from(row.fills)] {
                shadow.fill(fill, tv);
                fills += 1;
            }
            assert_eq!(f64::from(row.position), shadow.position);
            let mark = reference::mark(&bars[t + 1]);
            // Profits of trades, costs and what is open are the change of equity, to the unit.
            assert_eq!(row.cash, start + row.realised - row.fees - row.financing);
            let open = i64::from(row.position) * i64::from(mark) - row.basis;
            assert_eq!(row.equity - start, row.realised - row.fees + open * rules.tv);
            equity_off = equity_off.max((row.equity as f64 / shadow.equity(mark, tv) - 1.0).abs());
            if row.position == 0 {
                assert_eq!(row.basis, 0, "a flat position costs nothing");
                flat += 1;
            } else {
                entry_off = entry_off.max((row.basis as f64 / shadow.cost - 1.0).abs());
            }
            rewards += i64::from(row.reward_q20);
            gross += i64::from(row.reward_q20).abs();
        }
        assert!(fills > 2_000 && flat > 100, "{fills} fills, flat at {flat} closes");
        // 0.01 bp of the price; 1e-5 of equity.
        assert!(entry_off < 1e-6, "{build:?}: average entry off by {entry_off:e}");
        assert!(equity_off < 1e-5, "{build:?}: equity off by {equity_off:e}");
        // Rewards, each rounded to 2^-20, against the logarithm of the whole.
        let want = (rows[STEPS - 1].equity as f64 / start as f64).ln();
        let off = (rewards as f64 / f64::from(1 << 20) - want).abs();
        assert!(off <= 1e-4 * gross as f64 / f64::from(1 << 20), "{build:?}: summed rewards off by {off:e}");
    }
}
