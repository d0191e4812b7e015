//! From bars to what the device works on: rule book, bar table, normalised features, windows.

use crate::{
    Config, Cost, Orders, Taught, TrainError, shared::check_windows, shares::too_few, still::check_still,
};
use foxhunt_data::{Bars, MarketColumns, Ohlc};
use foxhunt_env::{FeatureId, Tables};
use foxhunt_features::{FeatureSet, FeatureTable, Moments, NormalisedTable, Normaliser, Splits};
use foxhunt_market::{BarColumns, BarTable, FinancingBase, OrderTypes, RuleBook, SESSION_END};
use std::ops::{Range, RangeInclusive};

/// Least rows of each window.
const LEAST_ROWS: usize = 64;
/// Days of the EWMA that sigma of an episode is read from (market.md 6).
const SLOW_DAYS: f64 = 30.0;

/// A market to train and test on.
#[derive(Clone, Debug)]
pub struct Market {
    /// The bars.
    pub bars: Bars,
    /// The rules of the account on them.
    pub rules: RuleBook,
    /// What kernels read.
    pub table: BarTable,
    /// Normalised features, a row per bar.
    pub features: NormalisedTable,
    /// How they were normalised.
    pub normaliser: Normaliser,
    /// Training, validation and test window, in rows.
    pub splits: Splits,
    /// Least volatility of an episode, 1e-9: the 5th percentile of the training window.
    pub volatility_floor_e9: u32,
    /// Bars of a day, counted in the training window and before it.
    pub bars_per_day: f64,
    /// Of bars that others were trained before: the closes (ns) of the same instrument that their training and validation
    /// windows span.
    pub taught_ns: Option<RangeInclusive<i64>>,
}

impl Market {
    /// Computes features, fits the normaliser on the training window, and lays out the tables; of the last fold where there
    /// are folds.
    ///
    /// # Errors
    /// Bars too few for the windows, or numbers that the rules refuse.
    pub fn prepare(bars: Bars, config: &Config) -> Result<Self, TrainError> {
        if !config.walks() {
            return Self::build(bars, config);
        }
        let raw = config.feature_set()?.compute(&bars)?;
        let last = fold_windows(&bars, &raw, config)?
            .pop()
            .ok_or_else(|| wrong_folds(&bars, "there are none".into()))?;
        Self::of_features(bars, &raw, last, config, None)
    }

    /// The market of each fold, which differ in their windows and in whatever is measured on the training window: normaliser,
    /// least volatility, bars of a day. One market where there are no folds.
    ///
    /// # Errors
    /// As [`Market::prepare`]; folds that the bars are too few for.
    pub fn folds(bars: Bars, config: &Config) -> Result<Vec<Self>, TrainError> {
        if !config.walks() {
            return Ok(vec![Self::build(bars, config)?]);
        }
        let raw = config.feature_set()?.compute(&bars)?;
        let windows = fold_windows(&bars, &raw, config)?;
        let fold = |w| {
            let market = Self::of_features(bars.clone(), &raw, w, config, None)?;
            check_still(&market, config)?;
            Ok(market)
        };
        windows.into_iter().map(fold).collect()
    }

    /// The folds of every instrument, one instrument after another: `bars` are those of the instruments that `config` lists, or
    /// of its only one.
    ///
    /// # Errors
    /// As [`Market::folds`], with the instrument; bars of more or fewer instruments.
    pub fn all(bars: Vec<Bars>, config: &Config) -> Result<Vec<Self>, TrainError> {
        if bars.len() != config.markets() {
            return Err(TrainError::Config {
                place: "data.markets".into(),
                what: format!("bars of {} instruments for {}", bars.len(), config.markets()),
            });
        }
        let mut all = Vec::new();
        for (market, bars) in bars.into_iter().enumerate() {
            let own = Self::folds(bars, &config.of_market(market));
            all.extend(own.map_err(|e| e.of_market(config.market_place(market)))?);
        }
        if config.shares_policy() {
            for group in config.groups() {
                check_windows(config, &group.markets.iter().map(|m| &all[*m]).collect::<Vec<_>>())?;
            }
        }
        Ok(all)
    }

    /// Bars that an agent trained on `trained` has not seen: whatever is measured on a training window (normaliser, least
    /// volatility, bars of a day) is that market's. All rows with features in sight are the test window, which needs `least`
    /// of them; the others are empty. What of them the agent has seen after all is [`Market::in_sample`].
    ///
    /// # Errors
    /// [`TrainError::Windows`] for fewer rows, or numbers that the rules refuse.
    pub fn prepare_unseen(
        bars: Bars,
        config: &Config,
        trained: &Taught,
        least: usize,
    ) -> Result<Self, TrainError> {
        let set = config.feature_set()?;
        let raw = set.compute(&bars)?;
        let usable = seen(&raw, config);
        if usable.len() < least {
            let first = first_seen(&raw, &set, config);
            return Err(TrainError::Windows {
                file: bars.source.path.clone(),
                what: format!(
                    "has {} bars, of which {} have all features in sight, and {least} must: features need {first} bars before \
                     that, so give at least {} more earlier ones",
                    bars.len(),
                    usable.len(),
                    (first + least).saturating_sub(bars.len())
                )
                .into(),
            });
        }
        let (start, end) = (usable.start, usable.end);
        let splits = Splits { train: start..start, validation: start..start, test: start..end };
        let market = Self::of_features(bars, &raw, splits, config, Some(trained))?;
        let [first, last] = trained.closes_ns;
        let same = market.bars.instrument.name == trained.instrument.name;
        let taught_ns = same.then_some(first..=last);
        Ok(Market { taught_ns, ..market })
    }

    /// Bars that nobody is trained on and nobody's features are made of, for targets that are given: all of them are the test
    /// window. Bars of a day and the least volatility are of all bars: no policy sees them.
    ///
    /// # Errors
    /// Numbers that the rules refuse.
    pub fn prepare_bare(bars: Bars, config: &Config) -> Result<Self, TrainError> {
        let end = bars.len();
        // One column that says nothing: a network's inputs have a place for features.
        let nothing = FeatureTable {
            names: vec!["none".into()],
            rows: end,
            cols: 1,
            values: vec![0.0; end],
            warmup_rows: 0,
        };
        let whole = Splits { train: 0..end, validation: end..end, test: 0..end };
        let splits = Splits { train: 0..0, ..whole.clone() };
        Ok(Market { splits, ..Self::of_features(bars, &nothing, whole, config, None)? })
    }

    /// As [`Market::prepare`], with windows that are given as rows: what whoever moves bars in time needs, where windows go by
    /// time.
    ///
    /// # Errors
    /// As [`Market::prepare`]; windows that are not among the rows with features.
    pub fn prepare_within(bars: Bars, config: &Config, splits: Splits) -> Result<Self, TrainError> {
        let raw = config.feature_set()?.compute(&bars)?;
        for window in [&splits.train, &splits.validation, &splits.test] {
            raw.check_rows(window)?;
        }
        Self::of_features(bars, &raw, splits, config, None)
    }

    /// A market with features and windows of the caller's own, for markets that are made rather than read. The rules are
    /// those of the bars' instrument and of `config`, as for [`Market::prepare`]; its shares of data are not read. What the
    /// features hold is the caller's affair: nothing checks that they are known at their bars' closes.
    ///
    /// # Errors
    /// As [`Market::prepare`]; features that are not a row per bar, windows that are not among the rows past their warm-up.
    pub fn assemble(
        bars: Bars,
        features: &FeatureTable,
        splits: Splits,
        config: &Config,
    ) -> Result<Self, TrainError> {
        if features.rows != bars.len() {
            return Err(TrainError::Config {
                place: "the features".into(),
                what: format!("{} rows for {} bars", features.rows, bars.len()),
            });
        }
        for window in [&splits.train, &splits.validation, &splits.test] {
            features.check_rows(window)?;
        }
        Self::of_features(bars, features, splits, config, None)
    }

    fn build(bars: Bars, config: &Config) -> Result<Self, TrainError> {
        let set = config.feature_set()?;
        let raw = set.compute(&bars)?;
        let usable = seen(&raw, config);
        let moments =
            config.data.moments_within(&bars).map_err(|(place, what)| TrainError::Config { place, what })?;
        let (train, validation) = (config.data.train_share, config.data.validation_share);
        let splits = match moments {
            Some(at) => Splits::by_time(&bars, usable, at, LEAST_ROWS).map_err(|e| TrainError::Windows {
                file: bars.source.path.clone(),
                what: format!("of its {} bars {e}", bars.len()).into(),
            }),
            None => Splits::by_fraction(usable.clone(), train, validation, LEAST_ROWS)
                .map_err(|e| too_few(&bars, &usable, first_seen(&raw, &set, config), (train, validation), e)),
        };
        let market = Self::of_features(bars, &raw, splits?, config, None)?;
        check_still(&market, config)?;
        Ok(market)
    }

    fn of_features(
        bars: Bars,
        raw: &FeatureTable,
        splits: Splits,
        config: &Config,
        trained: Option<&Taught>,
    ) -> Result<Self, TrainError> {
        let (normaliser, bars_per_day) = match trained {
            Some(m) => (m.normaliser.clone(), m.bars_per_day),
            // Counted over all bars it would tell of the future.
            None => (
                Normaliser::fit(raw, splits.train.clone())?,
                bars.slice(0..splits.train.end).periods_per_year() / 365.0,
            ),
        };
        let features = normaliser.apply(raw)?;
        let table = bar_table(&bars, bars_per_day)?;
        let volatility_floor_e9 = trained
            .map_or_else(|| table.volatility_floor_e9(splits.train.clone()), |m| m.volatility_floor_e9);
        let rules = rule_book(&bars, &table, config)?;
        rules.validate()?;
        let taught_ns = None;
        Ok(Market {
            bars,
            rules,
            table,
            features,
            normaliser,
            splits,
            volatility_floor_e9,
            bars_per_day,
            taught_ns,
        })
    }

    /// The same market with one more feature, a raw value per bar, normalised on the training window like the others. What
    /// the column holds is the caller's affair: nothing checks that it is known at its bar's close.
    ///
    /// # Errors
    /// A column that is not a row per bar, or that can't be normalised.
    pub fn with_column(&self, name: &str, values: Vec<f32>) -> Result<Self, TrainError> {
        let rows = self.features.rows;
        if values.len() != rows {
            let what = format!("has {} values for {rows} bars", values.len());
            return Err(TrainError::Config { place: format!("feature {name}"), what });
        }
        let warmup_rows = self.features.warmup_rows;
        let column = FeatureTable { names: vec![name.to_owned()], rows, cols: 1, values, warmup_rows };
        let own = Normaliser::fit(&column, self.splits.train.clone())?;
        let column = own.apply(&column)?;
        let mut market = self.clone();
        let (features, normaliser) = (&mut market.features, &mut market.normaliser);
        features.values = self
            .features
            .values
            .chunks(self.features.cols)
            .zip(&column.values)
            .flat_map(|(row, x)| row.iter().copied().chain([*x]))
            .collect();
        features.cols += 1;
        features.names.extend(column.names);
        features.clipped.extend(column.clipped);
        normaliser.names.extend(own.names);
        normaliser.mean.extend(own.mean);
        normaliser.sd.extend(own.sd);
        Ok(market)
    }

    /// The device tables of this market alone.
    ///
    /// # Errors
    /// Features that don't fit the bars.
    pub fn tables(&self) -> Result<(Tables, FeatureId), TrainError> {
        let mut tables = Tables::new(self.features.cols);
        let features = self.add_to(&mut tables)?;
        Ok((tables, features))
    }

    /// Adds bars and features to the tables of a run.
    ///
    /// # Errors
    /// Features that don't fit the bars, or the other markets'.
    pub(crate) fn add_to(&self, tables: &mut Tables) -> Result<FeatureId, TrainError> {
        let bars = tables.add_bars(&self.table);
        Ok(tables.add_features(bars, &self.features.values)?)
    }
}

/// Rows with all features in sight.
fn seen(raw: &FeatureTable, config: &Config) -> Range<usize> {
    let mut usable = raw.usable();
    usable.start = (usable.start + config.network.lookback - 1).min(usable.end);
    usable
}

/// The first row that has all features in sight, beyond the last bar where there are fewer; then of features on higher
/// timeframes the least that it can be.
fn first_seen(raw: &FeatureTable, set: &FeatureSet, config: &Config) -> usize {
    raw.warmup_rows.max(set.warmup()) + config.network.lookback - 1
}

/// The windows of every fold.
fn fold_windows(bars: &Bars, raw: &FeatureTable, config: &Config) -> Result<Vec<Splits>, TrainError> {
    let walk = &config.data.walk_forward;
    let usable = seen(raw, config);
    let (from, to) =
        config.data.ends_within(bars).map_err(|(place, what)| TrainError::Config { place, what })?;
    let last = bars.close_ns.last().copied().unwrap_or(0);
    let first = bars.open_ns.get(usable.start).copied().unwrap_or(i64::MAX);
    let moments = walk.moments(from, to.unwrap_or(last));
    let begin =
        |at: &Moments| at.train_from_ns.filter(|_| walk.train_days > 0).unwrap_or(at.validation_from_ns);
    let fit = moments.iter().filter(|at| begin(at) >= first).count();
    let mut windows = Vec::with_capacity(moments.len());
    for (fold, at) in moments.into_iter().enumerate() {
        if begin(&at) < first {
            let [begin, first] = [begin(&at), first].map(foxhunt_data::show_moment);
            let fewer = if fit > 0 { format!("at most {fit} folds, or ") } else { String::new() };
            return Err(wrong_folds(
                bars,
                format!(
                    "fold {fold} would begin at {begin}, before the first bar with all features, {first}: ask for \
                 {fewer}shorter windows"
                ),
            ));
        }
        let splits = fold_rows(bars, usable.clone(), at, config);
        windows.push(splits.map_err(|what| wrong_folds(bars, format!("fold {fold} {what}")))?);
    }
    Ok(windows)
}

/// The windows of a fold after purge and embargo, or what is wrong with them.
fn fold_rows(bars: &Bars, usable: Range<usize>, at: Moments, config: &Config) -> Result<Splits, String> {
    // Each is measured below, when purge and embargo have taken their rows.
    let mut splits = Splits::by_time(bars, usable, at, 0).map_err(|e| format!("has no windows: {e}"))?;
    let (purge, embargo) = (config.purge_bars(), config.data.walk_forward.embargo_bars);
    for window in [&mut splits.train, &mut splits.validation] {
        window.end = window.end.saturating_sub(purge).max(window.start);
    }
    for window in [&mut splits.validation, &mut splits.test] {
        window.start = window.end.min(window.start + embargo);
    }
    for (name, rows, taken) in [
        ("train", &splits.train, purge),
        ("validation", &splits.validation, purge + embargo),
        ("test", &splits.test, embargo),
    ] {
        if rows.len() < LEAST_ROWS {
            return Err(format!(
                "keeps {} bars of its {name} window and needs {LEAST_ROWS}, and purge and embargo take {taken} besides: make \
                 it longer, or data.walk_forward.purge_bars and embargo_bars smaller",
                rows.len()
            ));
        }
    }
    Ok(splits)
}

fn wrong_folds(bars: &Bars, what: String) -> TrainError {
    let place = format!("data.walk_forward on {}", bars.source.path);
    TrainError::Config { place, what }
}

fn sides(o: &Ohlc) -> [&[i32]; 4] {
    [&o.open, &o.high, &o.low, &o.close]
}

fn bar_table(bars: &Bars, bars_per_day: f64) -> Result<BarTable, TrainError> {
    let columns = MarketColumns::from(bars);
    let seconds = |x: &[i32]| -> Vec<u32> { x.iter().map(|s| u32::try_from(*s).unwrap_or(0)).collect() };
    let (gap_seconds, mut bar_seconds) = (seconds(&columns.gap_seconds), seconds(&columns.bar_seconds));
    for (seconds, _) in bar_seconds.iter_mut().zip(bars.session_ends()?).filter(|(_, ends)| *ends) {
        *seconds |= SESSION_END;
    }
    let slow_volatility_e9 = slow_volatility(bars, bars_per_day);
    let session_seconds = session_seconds(bars)?;
    let bid = sides(&bars.bid);
    BarTable::from_columns(&BarColumns {
        bid,
        ask: bars.ask.as_ref().map(sides),
        volume: &bars.volume_lots,
        mean_volume: &columns.mean_volume_lots,
        sigma: &columns.sigma_units,
        atr: &columns.atr24_units,
        gap_seconds: &gap_seconds,
        bar_seconds: &bar_seconds,
        slow_volatility_e9: &slow_volatility_e9,
        session_seconds: &session_seconds,
    })
    .map_err(|source| TrainError::Table { file: bars.source.path.clone(), source })
}

/// EWMA over 30 days of the squared log return of a bar, its root in 1e-9, known at the close.
fn slow_volatility(bars: &Bars, bars_per_day: f64) -> Vec<u32> {
    let weight = 2.0 / (SLOW_DAYS * bars_per_day.max(1.0 / 7.0) + 1.0);
    let mut mean = None;
    let mut previous: Option<f64> = None;
    (0..bars.len())
        .map(|i| {
            let close = bars.mid_close2(i) as f64;
            let square = match previous {
                Some(p) => (close / p).ln().powi(2),
                // The first bar has no previous close: its own range stands in.
                None => (f64::from(bars.mid_high(i)) / f64::from(bars.mid_low(i).max(1))).ln().powi(2),
            };
            previous = Some(close);
            let m = mean.map_or(square, |m: f64| m + weight.min(1.0) * (square - m));
            mean = Some(m);
            (m.sqrt() * 1e9).clamp(1.0, 4e9) as u32
        })
        .collect()
}

/// Seconds from each close to the end of the session that it lies in, or of the next one.
fn session_seconds(bars: &Bars) -> Result<Vec<u32>, TrainError> {
    let session = &bars.instrument.session;
    let end = i64::from(session.day_start_s) + i64::from(session.length_s);
    Ok(bars.close_local()?.iter().map(|t| (end - i64::from(t.second)).rem_euclid(86_400) as u32).collect())
}

/// Units of money that starting cash may be.
const MOST_MONEY: f64 = 9e15;

fn rule_book(bars: &Bars, table: &BarTable, config: &Config) -> Result<RuleBook, TrainError> {
    let i = &bars.instrument;
    let m = &config.market;
    let wrong = |what: String| TrainError::Config { place: "the account".into(), what };
    let e4 = |x: f64| (x * 1e4).round() as i32;
    let start_cash = if m.start_cash > 0.0 {
        let unit = 10_f64.powi(i.money_exponent as i32);
        let money = m.start_cash * unit;
        // Doubles are whole numbers up to there.
        if money > MOST_MONEY {
            let what = format!(
                "market.start_cash is {}: {} counts money in 10^-{}, so that it may be {} at most",
                m.start_cash,
                i.name,
                i.money_exponent,
                MOST_MONEY / unit
            );
            return Err(wrong(what));
        }
        money as i64
    } else {
        i.start_cash_money().ok_or_else(|| wrong(format!("the starting cash of {} does not fit", i.name)))?
    };
    let own = i.max_leverage_e4;
    if e4(m.leverage) > own {
        let (asked, allowed) = (m.leverage, f64::from(own) / 1e4);
        return Err(wrong(format!(
            "market.leverage is {asked}: {} allows {allowed} at most; 0 takes that",
            i.name
        )));
    }
    // Bars with two sides have their spread in them: what would not be charged must not be said.
    let half_spread = m.half_spread_bp;
    if half_spread != Cost::Own && bars.is_quote() {
        return Err(wrong(format!(
            "market.half_spread_bp is given, and {} has a bid and an ask side, which are its spread: leave the key out",
            bars.source.path
        )));
    }
    let spread = |own: i32| if half_spread == Cost::Own { own } else { 0 };
    Ok(RuleBook {
        instrument: i.name.clone(),
        quote_currency: i.quote_currency.clone(),
        price_unit: i.price_unit.to_string(),
        lot: i.lot.to_string(),
        money_exponent: i.money_exponent,
        tv: i.tv,
        tick: i.tick_units,
        quotes: bars.is_quote(),
        volume_from_file: bars.has_volume,
        highest_price: table.highest_price(),
        taker_fee_e7: m.taker_fee_bp.e7_or(i.taker_fee_e7),
        maker_fee_e7: m.maker_fee_bp.e7_or(i.maker_fee_e7),
        min_half_spread: spread(i.min_half_spread_units),
        half_spread_e7: half_spread.e7_or(i.half_spread_e7),
        atr_spread_e7: spread(i.atr_spread_e7),
        gap_spread_factor: i.gap_spread_factor,
        impact_e2: 50,
        participation_cap_e4: e4(m.participation_cap),
        liquidation_penalty_e7: i.liquidation_penalty_e7,
        max_leverage_e4: if m.leverage > 0.0 { e4(m.leverage) } else { own },
        band_bp: m.band_bp,
        financing_long_e7: m.financing_long_bp.e7_or(i.financing_long_e7),
        financing_short_e7: m.financing_short_bp.e7_or(i.financing_short_e7),
        financing_base: match i.financing_base {
            foxhunt_data::FinancingBase::WholeNotional => FinancingBase::WholeNotional,
            foxhunt_data::FinancingBase::BorrowedPart => FinancingBase::BorrowedPart,
        },
        stop_atr_e4: e4(m.stop_atr),
        orders: match m.orders {
            Orders::All => OrderTypes::All,
            Orders::Market => OrderTypes::Market,
        },
        flat_by_close: i.session.flat_by_close,
        start_cash,
        ruin_e4: e4(m.ruin),
    })
}
