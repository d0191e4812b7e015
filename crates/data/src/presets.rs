//! Instruments of five markets with costs that a private trader meets. Each number has its source, or is said to be an assumption.
//! Sources are price lists and rules as they were published, in 2024 where nothing else is said; they change, and differ by broker.
//!
//! A preset is a starting point: every field can be overridden from a TOML file.
//!
//! Of all presets alike: a half-spread of 0.02 of ATR24 where that is more, and six times the half-spread after a time gap, are rules of
//! the fill model, chosen on EUR/USD's quotes (whose spread's correlation with range was measured at 0.04). Liquidation penalties and
//! starting cash are assumptions: a round sum whose positions fit the units.

use rust_decimal::Decimal;

use crate::instrument::{FinancingBase, Instrument, Session};

/// EUR/USD spot as an FX broker quotes it: see [`fx`].
pub fn eurusd() -> Instrument {
    fx("EUR", "USD")
}

/// A currency pair. Price unit half of a tenth of a pip, tick a tenth of a pip, lot 1,000 of the base currency.
///
/// - Fees 0.2 bp each side (200 e-7), maker and taker alike: Interactive Brokers' first tier of spot currencies, without its minimum
///   of 2 dollars an order.
/// - Half-spread at least 0.2 pip, 0.2 bp of price. Assumption: raw quotes of a major pair in its active hours. Quotes of a file take
///   its place.
/// - Financing 2.5 % (long) and 1 % (short) a year on the whole notional. Assumption: a broker's mark-up plus a rate difference, which
///   was between 0 and 5 % in either direction; no side earns, so that carry cannot be farmed with a constant.
/// - Leverage 30 between euro, dollar, yen, pound, Canadian dollar and franc, 20 for other pairs: the limits for private clients in the
///   European Union (ESMA, since 2018). Liquidation penalty 0.1 %: an assumption.
/// - Volume without a file's: 1,000,000 lots (1 billion of the base currency) an hour. Assumption: about a twentieth of EUR/USD's spot
///   turnover by the BIS's survey of 2022 (2.1 trillion dollars a day in all pairs, 23 % of it in this one).
/// - The session begins at 17:00 in New York, the market's convention for its day.
pub fn fx(base: &str, quote: &str) -> Instrument {
    // A yen is about a hundredth of other currencies: prices in yen have two digits fewer, so that a pip is 0.01, and prices
    // of a yen two digits more.
    let (price_unit, money_exponent, tv, start_cash) = match (base, quote) {
        (_, "JPY") => (Decimal::new(5, 4), 6, 500_000, Decimal::from(10_000_000)),
        ("JPY", _) => (Decimal::new(5, 8), 6, 50, Decimal::from(100_000)),
        _ => (Decimal::new(5, 6), 6, 5_000, Decimal::from(100_000)),
    };
    Instrument {
        name: format!("{base}/{quote}"),
        quote_currency: quote.to_owned(),
        price_unit,
        tick_units: 2,
        lot: Decimal::from(1_000),
        money_exponent,
        tv,
        taker_fee_e7: 200,
        maker_fee_e7: 200,
        min_half_spread_units: 4,
        half_spread_e7: 200,
        atr_spread_e7: 200_000,
        gap_spread_factor: 6,
        financing_long_e7: 250_000,
        financing_short_e7: 100_000,
        financing_base: FinancingBase::WholeNotional,
        max_leverage_e4: if [base, quote].iter().all(|c| MAJORS.contains(c)) { 300_000 } else { 200_000 },
        liquidation_penalty_e7: 10_000,
        preset_volume_lots_per_hour: 1_000_000,
        start_cash,
        stamp_time_zone: "UTC".into(),
        session: Session {
            time_zone: "America/New_York".into(),
            day_start_s: 61_200,
            length_s: 86_400,
            flat_by_close: false,
        },
    }
}

/// XBT/USD on a spot exchange: see [`bitcoin`].
pub fn xbtusd() -> Instrument {
    bitcoin("XBT", "USD")
}

/// Bitcoin on a spot exchange. Price unit 0.01, tick 0.1, lot 0.0001 bitcoin.
///
/// - Fees 26 bp taking (26,000 e-7) and 16 bp making (16,000 e-7): Kraken's lowest tier up to 2023.
/// - Half-spread at least half a tick (5 units) and 1 bp of price (1,000 e-7). Assumption: the book is one tick wide in calm hours of
///   recent years, far wider in thin ones.
/// - Financing 43.8 % a year on what is borrowed; a short borrows all. Assumption: 0.02 % for each 4 hours, between the 0.01 % (bitcoin)
///   and 0.025 % (dollars) that Kraken names as rollover fees, which move.
/// - Leverage 2: the European limit for private clients on cryptocurrencies (ESMA, of contracts for difference), and modest for spot
///   margin. Liquidation penalty 0.5 %: an assumption.
/// - Volume without a file's: 1,000,000 lots (100 bitcoin) an hour. Assumption, below the mean of one large exchange.
pub fn bitcoin(symbol: &str, quote: &str) -> Instrument {
    Instrument {
        name: format!("{symbol}/{quote}"),
        quote_currency: quote.to_owned(),
        price_unit: Decimal::new(1, 2),
        tick_units: 10,
        lot: Decimal::new(1, 4),
        money_exponent: 6,
        tv: 1,
        taker_fee_e7: 26_000,
        maker_fee_e7: 16_000,
        min_half_spread_units: 5,
        half_spread_e7: 1_000,
        atr_spread_e7: 200_000,
        gap_spread_factor: 6,
        financing_long_e7: 4_380_000,
        financing_short_e7: 4_380_000,
        financing_base: FinancingBase::BorrowedPart,
        max_leverage_e4: 20_000,
        liquidation_penalty_e7: 50_000,
        preset_volume_lots_per_hour: 1_000_000,
        start_cash: Decimal::from(100_000),
        stamp_time_zone: "UTC".into(),
        session: Session { time_zone: "UTC".into(), day_start_s: 0, length_s: 86_400, flat_by_close: false },
    }
}

/// A perpetual on bitcoin, margined in its quote currency, such as BTC/USDT. Price unit 0.01, tick 0.1, lot 0.001 bitcoin.
///
/// - Fees 5 bp taking (5,000 e-7) and 2 bp making (2,000 e-7): Binance's lowest tier of futures margined in dollars.
/// - Half-spread at least half a tick (5 units) and 0.2 bp of price (200 e-7). Assumption: deeper than spot.
/// - Financing 10.95 % a year of a long's whole notional, which is funding at 0.01 % for each 8 hours, the fixed interest part of
///   Binance's formula; a short, which
///   would receive that, pays and gets nothing, so that funding cannot be farmed with a constant. Real funding moves: a backtest
///   that lives from it needs its history, which bars don't hold.
/// - Leverage 5, of the 20 to 125 that exchanges offer, and liquidation penalty 0.5 %: assumptions.
/// - Volume without a file's: 1,000,000 lots (1,000 bitcoin) an hour. Assumption, below that of a large exchange.
pub fn bitcoin_perpetual(symbol: &str, quote: &str) -> Instrument {
    Instrument {
        name: format!("{symbol}/{quote} perpetual"),
        lot: Decimal::new(1, 3),
        tv: 10,
        taker_fee_e7: 5_000,
        maker_fee_e7: 2_000,
        half_spread_e7: 200,
        financing_long_e7: 1_095_000,
        financing_short_e7: 0,
        financing_base: FinancingBase::WholeNotional,
        max_leverage_e4: 50_000,
        ..bitcoin(symbol, quote)
    }
}

/// What one contract of a future of the CME group is: multiplier in dollars a point and tick in points, as the exchange specifies them;
/// fee a side in 1e-7 of its notional, contracts that trade in an hour.
struct Contract {
    symbol: &'static str,
    multiplier: i64,
    tick: Decimal,
    fee_e7: i32,
    contracts_per_hour: i64,
}

const CONTRACTS: [Contract; 6] = [
    Contract { symbol: "ES", multiplier: 50, tick: cents(25), fee_e7: 90, contracts_per_hour: 50_000 },
    Contract { symbol: "MES", multiplier: 5, tick: cents(25), fee_e7: 250, contracts_per_hour: 30_000 },
    Contract { symbol: "NQ", multiplier: 20, tick: cents(25), fee_e7: 60, contracts_per_hour: 20_000 },
    Contract { symbol: "MNQ", multiplier: 2, tick: cents(25), fee_e7: 180, contracts_per_hour: 30_000 },
    Contract { symbol: "CL", multiplier: 1_000, tick: cents(1), fee_e7: 320, contracts_per_hour: 10_000 },
    Contract { symbol: "GC", multiplier: 100, tick: cents(10), fee_e7: 110, contracts_per_hour: 8_000 },
];

const fn cents(n: u32) -> Decimal {
    Decimal::from_parts(n, 0, 0, false, 2)
}

/// Symbols that [`future`] knows.
pub fn futures() -> Vec<&'static str> {
    CONTRACTS.iter().map(|c| c.symbol).collect()
}

/// A future of the CME group, or none that is known. Price unit half a tick, lot one contract: `lot` is its multiplier, what a
/// point is worth in dollars (ES 50, NQ 20, CL 1,000 barrels, GC 100 ounces).
///
/// - Fees of Interactive Brokers (0.85 dollars a side, 0.25 for micros), the exchange and the NFA together: about 2.25 dollars for ES and
///   NQ, 2.40 for CL and GC, 0.62 for MES and MNQ; over notionals of 2024, with the index at about 5,000 (ES) and 18,000 (NQ), oil at 75
///   and gold at 2,200 dollars. The exchange's part was not looked up in its own list.
/// - Half-spread half a tick (one unit), or 0.02 of ATR24 where that is more. Assumption: these books are one tick wide in their hours.
/// - Contracts that trade in an hour: assumptions, below the mean of the front month.
/// - No financing: carry is in a future's price. Rolling is the file's affair; prices of a series that was adjusted by
///   differences make notionals, and with them fees and leverage, wrong.
/// - Leverage 10: an assumption, about half of what an exchange's overnight margin allows. Liquidation penalty 0.1 %: an assumption.
/// - Stamps without a zone are read as Chicago wall time; the session is 17:00 to 16:00 there, as Globex has it.
pub fn future(symbol: &str) -> Option<Instrument> {
    let c = CONTRACTS.iter().find(|c| c.symbol == symbol)?;
    let price_unit = (c.tick * Decimal::new(5, 1)).normalize();
    let lot = Decimal::from(c.multiplier);
    let tv = i64::try_from((price_unit * lot * Decimal::from(1_000_000)).trunc()).ok()?;
    Some(Instrument {
        name: symbol.to_owned(),
        quote_currency: "USD".into(),
        price_unit,
        tick_units: 2,
        lot,
        money_exponent: 6,
        tv,
        taker_fee_e7: c.fee_e7,
        maker_fee_e7: c.fee_e7,
        min_half_spread_units: 1,
        half_spread_e7: 0,
        atr_spread_e7: 200_000,
        gap_spread_factor: 6,
        financing_long_e7: 0,
        financing_short_e7: 0,
        financing_base: FinancingBase::WholeNotional,
        max_leverage_e4: 100_000,
        liquidation_penalty_e7: 10_000,
        preset_volume_lots_per_hour: c.contracts_per_hour,
        start_cash: Decimal::from(1_000_000),
        stamp_time_zone: "America/Chicago".into(),
        session: Session {
            time_zone: "America/Chicago".into(),
            day_start_s: 61_200,
            length_s: 82_800,
            flat_by_close: false,
        },
    })
}

/// The preset of a name: a pair such as `EUR/USD` or `BTC/USD`, `US:` and a share, `PERP:` and a pair of bitcoin, `CME:` and a
/// future; or what would be right.
///
/// # Errors
/// A name that no preset has, with those that have one.
pub fn named(name: &str) -> Result<Instrument, String> {
    let upper = name.to_ascii_uppercase();
    if let Some(symbol) = upper.strip_prefix("US:") {
        let is_symbol = |c: char| c.is_ascii_alphanumeric() || ".-^/".contains(c);
        return match symbol {
            "" => Err(format!("'{name}' names no share: write its symbol, as US:NVDA")),
            s if !s.chars().all(is_symbol) => {
                Err(format!("'{name}' is no symbol of a US share: write letters and digits, as US:NVDA"))
            }
            s => Ok(us_equity(s)),
        };
    }
    if let Some(symbol) = upper.strip_prefix("CME:") {
        return future(symbol).ok_or_else(|| {
            format!(
                "'{name}' is not known: name one of CME:{}, or a TOML file of its numbers",
                futures().join(", CME:")
            )
        });
    }
    if let Some(pair) = upper.strip_prefix("PERP:") {
        let split = pair.split_once('/');
        return match split.filter(|(base, quote)| BITCOIN.contains(base) && BITCOIN_QUOTES.contains(quote)) {
            Some((base, quote)) => Ok(bitcoin_perpetual(base, quote)),
            None => Err(format!(
                "'{name}' is not known: name a perpetual as PERP:BTC/USDT, or a TOML file of its numbers"
            )),
        };
    }
    guess(name).ok_or_else(|| {
        format!(
            "'{name}' is not known: name a pair such as EUR/USD or BTC/USD, a perpetual as PERP:BTC/USDT, a US equity as \
             US:NVDA, a future as CME:ES, or a TOML file of its numbers"
        )
    })
}

/// A US share or fund. Price unit 0.0001, tick 0.01, lot one share.
///
/// - Fees 1 bp each side (1,000 e-7): half a cent a share, Interactive Brokers' fixed price, on a 50-dollar share; no rebate for making.
/// - Half-spread at least half a cent (50 units), half of the tick of Regulation NMS, and 0.5 bp of price (500 e-7). Assumption: a liquid
///   large company.
/// - Financing 6.5 % a year on what a long borrows, 3 % on a short's whole notional (easy to borrow): assumptions.
/// - Leverage 2: overnight margin under Regulation T. Liquidation penalty 0.1 %: an assumption.
/// - Volume without a file's: 100,000 shares an hour. Assumption: a small company's, so that nothing is filled too easily.
/// - Stamps without a zone are read as New York wall time; the session is 09:30 to 16:00 there, the exchanges' regular hours.
pub fn us_equity(symbol: &str) -> Instrument {
    Instrument {
        name: symbol.to_owned(),
        quote_currency: "USD".into(),
        price_unit: Decimal::new(1, 4),
        tick_units: 100,
        lot: Decimal::ONE,
        money_exponent: 6,
        tv: 100,
        taker_fee_e7: 1_000,
        maker_fee_e7: 1_000,
        min_half_spread_units: 50,
        half_spread_e7: 500,
        atr_spread_e7: 200_000,
        gap_spread_factor: 6,
        financing_long_e7: 650_000,
        financing_short_e7: 300_000,
        financing_base: FinancingBase::BorrowedPart,
        max_leverage_e4: 20_000,
        liquidation_penalty_e7: 10_000,
        preset_volume_lots_per_hour: 100_000,
        start_cash: Decimal::from(100_000),
        stamp_time_zone: "America/New_York".into(),
        session: Session {
            time_zone: "America/New_York".into(),
            day_start_s: 34_200,
            length_s: 23_400,
            flat_by_close: false,
        },
    }
}

/// Currencies that are major ones by ESMA's rules.
const MAJORS: [&str; 6] = ["EUR", "USD", "JPY", "GBP", "CAD", "CHF"];
/// Currencies whose pairs [`guess`] recognises.
const CURRENCIES: [&str; 10] = ["EUR", "USD", "GBP", "JPY", "CHF", "AUD", "NZD", "CAD", "SEK", "NOK"];
/// US symbols that [`guess`] recognises; any other needs an instrument to be given.
const US_SYMBOLS: [&str; 10] = ["NVDA", "AAPL", "SPY", "QQQ", "MSFT", "TSLA", "AMZN", "GOOG", "META", "ORCL"];
/// Spellings of bitcoin, and what it is quoted in on exchanges.
const BITCOIN: [&str; 2] = ["XBT", "BTC"];
const BITCOIN_QUOTES: [&str; 5] = ["USD", "USDT", "USDC", "BUSD", "EUR"];

/// Guesses the instrument from a file's name or a symbol (`xbtusd_kraken_1h.csv.gz`, `EUR/USD`), or `None`.
///
/// The name is split at everything that is not a letter; the first part that is known decides.
pub fn guess(name: &str) -> Option<Instrument> {
    let upper = name.to_ascii_uppercase();
    let parts: Vec<&str> =
        upper.split(|c: char| !c.is_ascii_alphabetic()).filter(|p| !p.is_empty()).collect();
    let joined = parts.windows(2).map(|pair| (pair[0], pair[1]));
    let split = parts.iter().filter(|p| p.len() > 3).map(|p| p.split_at(3));
    for (base, quote) in split.chain(joined) {
        if BITCOIN.contains(&base) && BITCOIN_QUOTES.contains(&quote) {
            return Some(bitcoin(base, quote));
        }
        if base != quote && CURRENCIES.contains(&base) && CURRENCIES.contains(&quote) {
            return Some(fx(base, quote));
        }
    }
    parts.into_iter().find(|p| US_SYMBOLS.contains(p)).map(us_equity)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn presets_are_valid_and_have_the_units_of_the_rule_book() {
        for instrument in [eurusd(), fx("USD", "JPY"), fx("JPY", "USD"), xbtusd(), us_equity("NVDA")] {
            instrument.validate().unwrap();
        }
        let (e, x, n) = (eurusd(), xbtusd(), us_equity("NVDA"));
        assert_eq!((e.price_unit, e.tick_units, e.lot), (Decimal::new(5, 6), 2, Decimal::from(1_000)));
        assert_eq!((x.price_unit, x.tick_units, x.lot), (Decimal::new(1, 2), 10, Decimal::new(1, 4)));
        assert_eq!((n.price_unit, n.tick_units, n.lot), (Decimal::new(1, 4), 100, Decimal::ONE));
        assert_eq!((e.tv, x.tv, n.tv), (5_000, 1, 100));
        let leverage =
            [("USD", "JPY"), ("AUD", "USD"), ("EUR", "SEK")].map(|(b, q)| fx(b, q).max_leverage_e4);
        assert_eq!(leverage, [300_000, 200_000, 200_000]);
    }

    #[test]
    fn futures_count_points_by_their_multiplier_and_perpetuals_are_finer_spot() {
        for symbol in futures() {
            future(symbol).unwrap().validate().unwrap();
        }
        // A tick of ES is 12.50 dollars a contract, of CL 10, of GC 10, of MNQ 0.50.
        let tick = |symbol| {
            let i = future(symbol).unwrap();
            i.tv * i64::from(i.tick_units)
        };
        assert_eq!(["ES", "CL", "GC", "MNQ"].map(tick), [12_500_000, 10_000_000, 10_000_000, 500_000]);
        let perpetual = bitcoin_perpetual("BTC", "USDT");
        perpetual.validate().unwrap();
        assert_eq!((perpetual.tv, perpetual.financing_base), (10, FinancingBase::WholeNotional));
        assert!(future("XX").is_none());
    }

    #[test]
    fn presets_go_by_name() {
        let name = |text| named(text).map(|i| i.name);
        assert_eq!(name("CME:ES").as_deref(), Ok("ES"));
        assert_eq!(name("PERP:BTC/USDT").as_deref(), Ok("BTC/USDT perpetual"));
        assert_eq!(name("US:ES").as_deref(), Ok("ES"));
        for any in ["us:es", "CME:es", "cme:ES"] {
            assert_eq!(name(any).as_deref(), Ok("ES"), "{any}");
        }
        assert_eq!(name("perp:btc/usdt").as_deref(), Ok("BTC/USDT perpetual"));
        for none in ["US:", "US: NVDA", "US:a\nb"] {
            assert!(named(none).is_err_and(|e| e.contains("as US:NVDA")), "{none}");
        }
        assert_eq!(name("EUR/USD").as_deref(), Ok("EUR/USD"));
        for (wrong, right) in
            [("CME:XX", "CME:ES, CME:MES"), ("PERP:EUR/USD", "PERP:BTC/USDT"), ("gold", "CME:ES")]
        {
            let error = named(wrong).unwrap_err();
            assert!(error.contains(wrong) && error.contains(right) && error.contains("TOML"), "{error}");
        }
    }

    #[test]
    fn names_are_guessed() {
        let name = |text| guess(text).map(|i| i.name);
        assert_eq!(name("eurusd_1h_bidask_2007_2018.csv.gz").as_deref(), Some("EUR/USD"));
        assert_eq!(name("xbtusd_kraken_1h_2013_2023.csv.gz").as_deref(), Some("XBT/USD"));
        assert_eq!(name("BTCUSDT-1m.csv").as_deref(), Some("BTC/USDT"));
        assert_eq!(name("USD/JPY").as_deref(), Some("USD/JPY"));
        assert_eq!(name("nvda_1m_202301.csv.gz").as_deref(), Some("NVDA"));
        assert_eq!(name("prices.csv"), None);
    }
}
