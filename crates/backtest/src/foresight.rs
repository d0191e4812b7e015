//! Perfect foresight: what could have been earned had every next bar been known.

use crate::{BacktestError, Strategy, TestWindow};
use foxhunt_market::{Bar, Rules};
use foxhunt_train::Market;

/// Levels of exposure, -1 to +1 in quarters.
const LEVELS: usize = 9;
/// Market orders at the open: the only order whose price is known before the bar's path.
const AT_OPEN: [u8; 2] = [0, 2];

/// The actions `[T, 3]` that dynamic programming finds over the nine exposures, with all bars of `window` known.
///
/// From the close of bar t to that of t+1, holding e before the open O and e' from it (both as shares of equity, leverage
/// included):
///
/// ```text
/// gain(e, e') = ln(1 + e (O - C_t) / C_t + e' (C - O) / O - cost(|e' - e|) - |e'| financing)
/// cost(x)     = x (h + i(x)) / C_t + x fee
/// ```
///
/// h is the half-spread of the bar (on quote bars, half the quoted spread), i the impact of a change of that size by an
/// account with its starting cash, fee the taker's rate. The path with the largest sum of gains, the close-out included, is
/// taken. It differs from the market's rules in what it leaves out: whole lots, the band, the share of a bar's volume,
/// drift of the exposure between decisions, growth of the account, stops. What the path really earns is what a
/// [`crate::Backtest::strategy`] of it says. It is not an upper bound: an order at the mean of a bar, or at a limit, may fill
/// better than one at the open.
///
/// # Errors
/// Rules that can't be kept, a window that is not in the market.
pub fn foresight(market: &Market, window: &TestWindow) -> Result<Strategy, BacktestError> {
    window.check(market, 1)?;
    let rules = market.rules.row()?;
    let bars = &market.table.bars[window.rows.clone()];
    Ok(Strategy::scripted("perfect foresight", best_path(&rules, bars)))
}

/// Exposure of a level as a share of equity.
fn share(rules: &Rules, level: usize) -> f64 {
    (level as f64 - 4.0) / 4.0 * f64::from(rules.leverage_e4) / 1e4
}

/// The level without a position.
const FLAT_LEVEL: usize = 4;

/// How a level is best reached: the action, and the level before it.
#[derive(Clone, Copy)]
struct Move {
    taken: usize,
    from: usize,
}

/// The largest value's level; flat where several are equal.
fn best_of(value: &[f64; LEVELS]) -> usize {
    (0..LEVELS).fold(FLAT_LEVEL, |best, l| if value[l] > value[best] { l } else { best })
}

/// Log return of closing a level at the close of `bar`.
fn closing(rules: &Rules, bar: &Bar, level: usize) -> f64 {
    let held = share(rules, level).abs();
    (-held * (market_cost(rules, bar, bar, held) + rate(rules.taker_fee_e7))).ln_1p()
}

fn best_path(rules: &Rules, bars: &[Bar]) -> Vec<[u8; 3]> {
    let mut value = [f64::NEG_INFINITY; LEVELS];
    value[FLAT_LEVEL] = 0.0;
    // For each decision, where each level is best reached from.
    let mut from = Vec::with_capacity(bars.len());
    for pair in bars.windows(2) {
        let step = Step::new(rules, &pair[0], &pair[1]);
        let mut next = [f64::NEG_INFINITY; LEVELS];
        let mut best: [Move; LEVELS] = std::array::from_fn(|to| Move { taken: to, from: FLAT_LEVEL });
        for (to, (value_to, best_to)) in next.iter_mut().zip(&mut best).enumerate() {
            for (at, value_at) in value.iter().enumerate() {
                let total = value_at + step.gain(share(rules, at), share(rules, to));
                if total > *value_to {
                    (*value_to, best_to.from) = (total, at);
                }
            }
        }
        if pair[1].ends_session() {
            // All levels end flat, the best of them for what follows.
            let closed: [f64; LEVELS] =
                std::array::from_fn(|level| next[level] + closing(rules, &pair[1], level));
            let most = best_of(&closed);
            next = [f64::NEG_INFINITY; LEVELS];
            (next[FLAT_LEVEL], best[FLAT_LEVEL]) = (closed[most], best[most]);
        }
        value = next;
        from.push(best);
    }
    if let Some(last) = bars.last().filter(|last| !last.ends_session()) {
        value.iter_mut().enumerate().for_each(|(level, v)| *v += closing(rules, last, level));
    }
    let mut level = best_of(&value);
    let mut path = Vec::with_capacity(from.len());
    for best in from.iter().rev() {
        path.push([best[level].taken as u8, AT_OPEN[0], AT_OPEN[1]]);
        level = best[level].from;
    }
    path.reverse();
    path
}

fn rate(e7: i32) -> f64 {
    f64::from(e7) * 1e-7
}

fn mid(bid: i32, ask: i32) -> f64 {
    (f64::from(bid) + f64::from(ask)) / 2.0
}

/// Half-spread and impact of changing the exposure by `change` of equity, as a share of what is traded.
fn market_cost(rules: &Rules, seen: &Bar, bar: &Bar, change: f64) -> f64 {
    let close = mid(seen.bid[3], seen.ask[3]);
    let half = if rules.quotes == 1 {
        f64::from(bar.ask[0] - bar.bid[0]) / 2.0
    } else {
        let share = (close * rate(rules.half_spread_e7)).max(f64::from(seen.atr) * rate(rules.atr_spread_e7));
        let factor = if bar.gap_seconds > 0 { f64::from(rules.gap_spread_factor) } else { 1.0 };
        share.max(f64::from(rules.min_half_spread)) * factor
    };
    let lots = change * rules.start_cash as f64 / (close * rules.tv as f64);
    let swing = f64::from(rules.impact_e2) * 1e-2 * f64::from(seen.sigma);
    (half + swing * (lots / seen.mean_volume as f64).sqrt()) / close
}

/// One bar between two closes, its prices as returns.
struct Step<'a> {
    rules: &'a Rules,
    seen: &'a Bar,
    bar: &'a Bar,
    to_open: f64,
    to_close: f64,
    years: f64,
}

impl<'a> Step<'a> {
    fn new(rules: &'a Rules, seen: &'a Bar, bar: &'a Bar) -> Self {
        let (before, open) = (mid(seen.bid[3], seen.ask[3]), mid(bar.bid[0], bar.ask[0]));
        let close = mid(bar.bid[3], bar.ask[3]);
        Step {
            rules,
            seen,
            bar,
            to_open: (open - before) / before,
            to_close: (close - open) / open,
            years: (f64::from(bar.gap_seconds) + f64::from(bar.seconds())) / 31_536_000.0,
        }
    }

    fn gain(&self, before: f64, after: f64) -> f64 {
        let change = (after - before).abs();
        let cost =
            change * (market_cost(self.rules, self.seen, self.bar, change) + rate(self.rules.taker_fee_e7));
        let holding = if after < 0.0 {
            -after * rate(self.rules.financing_short_e7)
        } else if self.rules.financing_borrowed == 1 {
            (after - 1.0).max(0.0) * rate(self.rules.financing_long_e7)
        } else {
            after * rate(self.rules.financing_long_e7)
        };
        // A loss of everything is as bad as can be, not undefined.
        (before * self.to_open + after * self.to_close - cost - holding * self.years).max(-0.999_999).ln_1p()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rules() -> Rules {
        foxhunt_market::RuleBook { max_leverage_e4: 10_000, impact_e2: 0, ..Default::default() }
            .row()
            .unwrap()
    }

    /// A bar that opens at the close before and ends at `close`.
    fn bar(open: i32, close: i32) -> Bar {
        let prices = [open, open.max(close), open.min(close), close];
        Bar {
            bid: prices,
            ask: prices,
            volume: 1_000_000,
            mean_volume: 1_000_000,
            sigma: 1,
            atr: 1,
            gap_seconds: 0,
            bar_seconds: 1,
        }
    }

    fn exposures(closes: &[i32]) -> Vec<u8> {
        let bars: Vec<Bar> = (0..closes.len()).map(|k| bar(closes[k.saturating_sub(1)], closes[k])).collect();
        best_path(&rules(), &bars).into_iter().map(|a| a[0]).collect()
    }

    /// h is 5 of 10,000 and the fee 5 bp: a change from flat and back costs 20 bp of its size.
    #[test]
    fn moves_are_taken_that_pay_for_the_way_in_and_out() {
        assert_eq!(exposures(&[10_000, 10_100, 10_000]), [8, 0]);
        assert_eq!(exposures(&[10_000, 10_015, 10_015]), [4, 4], "15 bp do not pay for 20");
        assert_eq!(exposures(&[10_000, 10_100, 10_095, 10_200]), [8, 8, 8], "a dip of 5 bp is held through");
        assert_eq!(exposures(&[10_000, 9_900, 9_910, 9_800]), [0, 0, 0]);
        assert_eq!(exposures(&[10_000]), [0_u8; 0]);
    }

    /// 30 bp over two bars pay for one way in and out, and not for two: nor for a second one in the bar after the session's end.
    #[test]
    fn nothing_is_held_over_a_sessions_end() {
        let closes = [10_000, 10_015, 10_030, 10_045];
        let path = |ends: &[usize]| -> Vec<u8> {
            let mut bars: Vec<Bar> =
                (0..4_usize).map(|k| bar(closes[k.saturating_sub(1)], closes[k])).collect();
            ends.iter().for_each(|&k| bars[k].bar_seconds |= foxhunt_market::SESSION_END);
            best_path(&rules(), &bars).into_iter().map(|a| a[0]).collect()
        };
        assert_eq!(path(&[]), [8, 8, 8]);
        assert_eq!(path(&[2]), [8, 8, 4]);
        assert_eq!(path(&[1, 2, 3]), [4, 4, 4]);
    }
}
