//! The two tables: one row per member and bar, one row per fill.

/// What the agent chose, as indices into the three action branches.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Action {
    /// Exposure 0..=8: full short, in quarters, to full long; 4 is flat.
    pub exposure: u8,
    /// Order type 0..=2: market, maker, IOC.
    pub order_type: u8,
    /// Urgency 0..=2: patient, normal, aggressive.
    pub urgency: u8,
}

impl Action {
    /// Stay flat with a market order; the action of an opening row.
    pub const FLAT: Self = Self { exposure: 4, order_type: 0, urgency: 0 };

    /// Target exposure in quarters of full exposure, −4..=4 (e4 in the market rules).
    pub fn exposure_e4(self) -> i32 {
        i32::from(self.exposure) - 4
    }
}

/// Facts about a bar that are not numbers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct BarFlags {
    /// The episode ended here by ruin. Only on a member's last row.
    pub terminated: bool,
    /// The data ended here. Only on a member's last row.
    pub truncated: bool,
    /// The position was liquidated within this bar.
    pub liquidated: bool,
    /// The position was stopped out within this bar.
    pub stopped: bool,
}

/// How the order that lived in a bar ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum OrderEnd {
    /// The target was already held.
    None,
    /// Every lot filled.
    Filled,
    /// Cut by the share of the bar's volume that an order may take.
    PartVolume,
    /// Cut by the initial margin.
    PartMargin,
    /// Dropped before the market: the change was within the no-trade band.
    DroppedBand,
    /// A limit that the bar did not trade through.
    LimitNotReached,
    /// An IOC whose price would have been beyond its limit.
    IocBeyondLimit,
    /// A maker order that would have crossed at the open after a time gap.
    RejectedGap,
    /// No volume to fill against.
    NoVolume,
    /// The rest was cancelled because the stop was hit.
    CancelledByStop,
    /// The rest was cancelled because the position was liquidated.
    CancelledByLiquidation,
}

/// Which part of an order, or which event, a fill belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Leg {
    /// At the bar's open (market and IOC).
    Open,
    /// At the bar's average price (the slow part of a market order).
    Twap,
    /// At the limit of a maker order.
    Maker,
    /// A stop.
    Stop,
    /// A liquidation.
    Liquidation,
    /// The close-out at a session's last close, or at the end of a backtest.
    CloseOut,
}

/// Why a fill happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FillReason {
    /// The agent's order.
    Order,
    /// The bar opened at or beyond the stop.
    StopAtOpen,
    /// The stop was met within the bar.
    StopInBar,
    /// The bar opened at or beyond the liquidation level.
    LiquidationAtOpen,
    /// The liquidation level was met within the bar.
    LiquidationInBar,
    /// The backtest ended.
    EndOfTest,
    /// The session ended, and nothing is held over its close.
    SessionClose,
}

/// Gives an enumeration one word per variant: for the files and for people.
macro_rules! words {
    ($type:ident { $($variant:ident => $word:literal),+ $(,)? }) => {
        impl $type {
            /// Every variant.
            pub const ALL: &'static [Self] = &[$(Self::$variant),+];

            /// The word in the files.
            pub fn word(self) -> &'static str {
                match self {
                    $(Self::$variant => $word),+
                }
            }

            /// The variant of a word, if there is one.
            pub fn from_word(word: &str) -> Option<Self> {
                Self::ALL.iter().copied().find(|variant| variant.word() == word)
            }
        }
    };
}

words!(OrderEnd {
    None => "none",
    Filled => "filled",
    PartVolume => "part_volume",
    PartMargin => "part_margin",
    DroppedBand => "dropped_band",
    LimitNotReached => "limit_not_reached",
    IocBeyondLimit => "ioc_beyond_limit",
    RejectedGap => "rejected_gap",
    NoVolume => "no_volume",
    CancelledByStop => "cancelled_by_stop",
    CancelledByLiquidation => "cancelled_by_liquidation",
});

words!(Leg {
    Open => "open",
    Twap => "twap",
    Maker => "maker",
    Stop => "stop",
    Liquidation => "liquidation",
    CloseOut => "close_out",
});

words!(FillReason {
    Order => "order",
    StopAtOpen => "stop_at_open",
    StopInBar => "stop_in_bar",
    LiquidationAtOpen => "liquidation_at_open",
    LiquidationInBar => "liquidation_in_bar",
    EndOfTest => "end_of_test",
    SessionClose => "session_close",
});

impl FillReason {
    /// The legs that may carry this reason.
    pub fn allows(self, leg: Leg) -> bool {
        match self {
            Self::Order => matches!(leg, Leg::Open | Leg::Twap | Leg::Maker),
            Self::StopAtOpen | Self::StopInBar => leg == Leg::Stop,
            Self::LiquidationAtOpen | Self::LiquidationInBar => leg == Leg::Liquidation,
            Self::EndOfTest | Self::SessionClose => leg == Leg::CloseOut,
        }
    }

    /// True for a stop or liquidation met between open and close.
    pub fn in_bar(self) -> bool {
        matches!(self, Self::StopInBar | Self::LiquidationInBar)
    }

    /// True for a stop or liquidation that the open was beyond.
    pub fn at_open(self) -> bool {
        matches!(self, Self::StopAtOpen | Self::LiquidationAtOpen)
    }
}

/// One member's account at the close of one bar.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct BarRow {
    /// Index into the header's members.
    pub member: u32,
    /// Index of the bar in the data table; rising within a member.
    pub bar: u32,
    /// Close of the bar, ns UTC.
    pub time_ns: i64,
    /// The trading session that the bar belongs to, as days since 1970-01-01 of the venue's own date. Whoever knows
    /// the calendar fills it in (see [`utc_day`] for markets without sessions), so that daily figures need none.
    pub day: i32,
    /// Close and mark, price units (the mid on quote bars).
    pub close: i32,
    /// The worst price that the position met, price units: the bar's low (long) or high (short) on the side it would
    /// have to trade at; the fill price if a stop or liquidation closed it within the bar; the close if nothing was
    /// held.
    pub worst: i32,
    /// Lots after the bar.
    pub position: i32,
    /// Cash plus unrealised gain at the close, money units.
    pub equity: i64,
    /// Equity at the worst moment, money units: after the fills before the adverse move (at the open, and whatever
    /// added to the position), with the position then held marked at `worst`, after this bar's financing. A flip after
    /// the adverse move lets a second position meet the bar: the lower equity counts, and `worst` is its price.
    /// See [`Book::before_worst`](crate::Book::before_worst).
    pub worst_equity: i64,
    /// Start + realised − fees − financing, money units.
    pub cash: i64,
    /// Cost basis Σ signed price · lots, price units times lots.
    pub basis: i64,
    /// Gains of closed lots since the start, before fees, money units.
    pub realised: i64,
    /// Fees paid since the start, money units (penalties included).
    pub fees: i64,
    /// Financing paid since the start, money units.
    pub financing: i64,
    /// The action whose order lived in this bar: the one chosen at the previous row's close.
    pub action: Action,
    /// The reward of that action in 2^-20, in units of the member's `reward_unit`.
    pub reward_q20: i32,
    /// What else happened.
    pub flags: BarFlags,
    /// How the order ended.
    pub order_end: OrderEnd,
}

/// One fill. Rows are in the order of events within a bar; a flip is two rows, the closing one first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct FillRow {
    /// Index into the header's members.
    pub member: u32,
    /// Index of the bar in the data table.
    pub bar: u32,
    /// Part of the order, or event.
    pub leg: Leg,
    /// Lots, bought positive, sold negative; never 0.
    pub lots: i32,
    /// Price, price units.
    pub price: i32,
    /// Reference price in quarters of a price unit, before spread and impact: 4·O at the open, O+H+L+C for the
    /// average price, 4·level for a stop or liquidation met within the bar, 4·limit for a maker fill, 4·C for the
    /// close-out. In quarters because the average of four prices is not a whole number.
    pub reference_x4: i64,
    /// Close at which the order was decided (C_t), price units: the previous row's close; for the close-out this
    /// bar's.
    pub decision_close: i32,
    /// Half-spread charged, price units; 0 for a maker fill.
    pub half_spread: i32,
    /// Impact charged, quarters of a price unit (a patient order pays a quarter of the impact); 0 for a maker fill.
    pub impact_x4: i32,
    /// Fee of this fill, money units, penalty included; negative is a rebate.
    pub fee: i64,
    /// Why.
    pub reason: FillReason,
    /// How far the reference lies from the mid of bid and ask, quarters of a price unit: the half of a quoted spread that the fill
    /// pays because its reference is the side's own price. 0 where bars have no quotes, of a limit or a level met within the bar,
    /// and of the close-out, whose half-spread it is.
    pub quoted_x4: i32,
}

impl FillRow {
    /// The mid that the reference belongs to, quarters of a price unit.
    pub fn mid_reference_x4(&self) -> i64 {
        let quoted = i64::from(self.quoted_x4);
        if self.lots >= 0 {
            self.reference_x4.saturating_sub(quoted)
        } else {
            self.reference_x4.saturating_add(quoted)
        }
    }

    /// The price that reference, half-spread and impact give, rounded against the trader:
    /// `ceil((ref4 + 4h + i4) / 4)` for a buy, `floor((ref4 − 4h − i4) / 4)` for a sale.
    pub fn price_from_reference(&self) -> i64 {
        let away = 4 * i64::from(self.half_spread) + i64::from(self.impact_x4);
        if self.lots >= 0 {
            -(-self.reference_x4.saturating_add(away)).div_euclid(4)
        } else {
            self.reference_x4.saturating_sub(away).div_euclid(4)
        }
    }
}

/// The UTC calendar day of an instant, for markets that trade around the clock. A close at midnight belongs to the
/// day that it ends.
pub fn utc_day(time_ns: i64) -> i32 {
    const DAY_NS: i64 = 86_400_000_000_000;
    // In range: i64 ns span 292 years either way of 1970.
    (time_ns.saturating_sub(1)).div_euclid(DAY_NS) as i32
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fill(lots: i32, reference_x4: i64, half_spread: i32, impact_x4: i32) -> FillRow {
        FillRow {
            member: 0,
            bar: 1,
            leg: Leg::Open,
            lots,
            price: 0,
            reference_x4,
            decision_close: 0,
            half_spread,
            impact_x4,
            fee: 0,
            reason: FillReason::Order,
            quoted_x4: 0,
        }
    }

    /// Cases 3, 4 and 5 of the market rules (bar X: O 10,020 H 10,090 L 9,985 C 10,050, h 5).
    #[test]
    fn price_follows_from_reference_spread_and_impact() {
        let s = 10_020 + 10_090 + 9_985 + 10_050;
        assert_eq!(fill(100, 4 * 10_020, 5, 8).price_from_reference(), 10_027);
        assert_eq!(fill(51, 4 * 10_020, 5, 8).price_from_reference(), 10_027);
        assert_eq!(fill(50, s, 5, 6).price_from_reference(), 10_043);
        assert_eq!(fill(-100, s, 5, 2).price_from_reference(), 10_030);
    }

    #[test]
    fn midnight_ends_its_day() {
        assert_eq!(utc_day(86_400_000_000_000), 0);
        assert_eq!(utc_day(86_400_000_000_001), 1);
        assert_eq!(utc_day(0), -1);
    }
}
