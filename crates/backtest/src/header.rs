//! The header of a backtest's ledger: everything that does not change from bar to bar.

use crate::TestWindow;
use foxhunt_data::{Bars, Basis, SourceInfo, StampSide};
use foxhunt_ledger::{DataSource, FORMAT, LedgerHeader, MemberInfo, Rates, Stamps, Window};
use foxhunt_market::RuleBook;
use foxhunt_train::Market;

/// How the run ends, beside the rules of the market.
const CLOSE_OUT: &str = "The backtest ends at the last close, or at the close where the account is ruined; what is then \
                         held is closed at that close with half-spread, impact and fee.";

/// Prices far from those around them that are named.
const SHOWN_PRICES: usize = 5;

/// Who ran, and how often was tried.
pub(crate) struct Run<'a> {
    pub(crate) members: &'a [MemberInfo],
    pub(crate) baseline: Option<String>,
    pub(crate) seed: u64,
    pub(crate) trials: u32,
}

pub(crate) fn header(market: &Market, rules: &RuleBook, window: &TestWindow, run: Run<'_>) -> LedgerHeader {
    let bars = &market.bars;
    let mut assumptions = rules.assumptions();
    assumptions.push(CLOSE_OUT.into());
    assumptions.extend(stated(bars));
    assumptions.extend(far_prices(bars));
    let of_stretch = [market.too_thin(window.rows.clone()), market.in_sample(window.rows.clone())];
    assumptions.extend(of_stretch.into_iter().flatten().map(|words| format!("Of this stretch {words}.")));
    LedgerHeader {
        format: FORMAT,
        program: format!("foxhunt {}", env!("CARGO_PKG_VERSION")),
        instrument: rules.instrument.clone(),
        quote_currency: rules.quote_currency.clone(),
        price_unit: rules.price_unit.clone(),
        lot: rules.lot.clone(),
        money_exponent: rules.money_exponent,
        tv: rules.tv,
        start_cash: rules.start_cash,
        max_leverage_e4: rules.max_leverage_e4,
        rates: Rates {
            taker_e7: rules.taker_fee_e7,
            maker_e7: rules.maker_fee_e7,
            liquidation_e7: rules.liquidation_penalty_e7,
            financing_long_e7: rules.financing_long_e7,
            financing_short_e7: rules.financing_short_e7,
        },
        assumptions,
        data: source(&bars.source),
        seed: run.seed,
        window: Window {
            name: window.name.clone(),
            start_ns: bars.close_ns[window.rows.start],
            end_ns: bars.close_ns[window.rows.end - 1],
        },
        members: run.members.to_vec(),
        baseline: run.baseline,
        trials: run.trials,
    }
}

/// Whose word it is that the file's own columns were known in time.
fn stated(bars: &Bars) -> Option<String> {
    let names: Vec<&str> = bars.extra.iter().map(|c| c.name.as_str()).collect();
    (!names.is_empty()).then(|| {
        format!(
            "The agent sees columns of the file beside its bars: {}. That each value was known at its bar's close is the \
             statement of whoever made the file, which nothing here can check; where there is no value, the last one before \
             holds.",
            names.join(", ")
        )
    })
}

/// Prices that may be wrong, and are traded as they stand.
fn far_prices(bars: &Bars) -> impl Iterator<Item = String> {
    let splits = jumps(bars, true).map(|all| {
        format!(
            "Jumps that look like splits are taken as they stand in the data: {all}. Where the prices are not adjusted for one, \
             results at that bar are wrong."
        )
    });
    let far = jumps(bars, false).map(|all| {
        format!(
            "Prices far from those around them are taken as they stand in the data: {all}. Where one of them is an error, fills \
             and results at that bar are wrong."
        )
    });
    splits.into_iter().chain(far)
}

/// The first jumps that are like splits, or that are not; none where there is none.
fn jumps(bars: &Bars, splits: bool) -> Option<String> {
    // The file's name is said beside; a path would make the ledger depend on where the file lay.
    let own = bars.source.jumps.iter().filter(|jump| jump.is_split() == splits);
    let all: Vec<String> = own.map(|jump| format!("{} in line {}", jump.label(), jump.line)).collect();
    let (shown, more) = all.split_at(all.len().min(SHOWN_PRICES));
    let more = if more.is_empty() { String::new() } else { format!(", and {} more", more.len()) };
    (!all.is_empty()).then(|| format!("{}{more}", shown.join(", ")))
}

fn source(source: &SourceInfo) -> DataSource {
    // The file's name alone: a ledger must not depend on where the file lay.
    let name = source.path.rsplit(['/', '\\']).next().unwrap_or(&source.path).to_owned();
    DataSource {
        name,
        sha256: source.sha256.clone(),
        stamps: match source.stamp_side {
            StampSide::Open => Stamps::Open,
            StampSide::Close => Stamps::Close,
        },
        stamps_inferred: matches!(source.stamp_side_basis, Basis::Inferred | Basis::Assumed),
    }
}
