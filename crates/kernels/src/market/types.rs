//! Mirrors of the structs of `market.cuh` and `record.cuh`, byte for byte.
//!
//! Prices are `i32` in price units, quantities `i32` lots (short < 0), money `i64`, rates `i32` in 1e-7, unless a name
//! ends in another unit.

use bytemuck::{Pod, Zeroable};

/// Most legs of one decision and its close-out: two at the open, one more and an exit (or exit, open, add, exit); one at the
/// session's last close or at the end of a backtest.
pub const MAX_FILLS: usize = 5;
/// Number of choices of each branch: exposure, order type, urgency.
pub const BRANCH_ACTIONS: [usize; 3] = [9, 3, 3];

/// One row of the bar table. On trade bars `ask` repeats `bid`. `sigma`, `atr` and `mean_volume` are known at the bar's
/// close; `volume` is what a trader may not know before it.
#[repr(C, align(16))]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Pod, Zeroable)]
pub struct Bar {
    /// Bid open, high, low, close; the only prices of trade bars.
    pub bid: [i32; 4],
    /// Ask open, high, low, close.
    pub ask: [i32; 4],
    /// Traded lots.
    pub volume: i64,
    /// Mean volume in lots, at least 1.
    pub mean_volume: i64,
    /// Volatility of one bar in units, at least 1.
    pub sigma: i32,
    /// ATR24 in units, at least 1.
    pub atr: i32,
    /// Seconds from the previous bar's close to this one's open; above 0 is a time gap.
    pub gap_seconds: u32,
    /// Seconds from open to close, and [`SESSION_END`].
    pub bar_seconds: u32,
}

/// Of [`Bar::bar_seconds`]: positions are closed at this bar's close, the last of a session.
pub const SESSION_END: u32 = 1 << 31;

impl Bar {
    /// Seconds from open to close.
    pub fn seconds(&self) -> u32 {
        self.bar_seconds & !SESSION_END
    }

    /// Whether positions are closed at this bar's close.
    pub fn ends_session(&self) -> bool {
        self.bar_seconds & SESSION_END != 0
    }
}

/// Every number that an instrument and a configuration set, one row per member.
#[repr(C, align(16))]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Pod, Zeroable)]
pub struct Rules {
    /// Money of one unit times one lot.
    pub tv: i64,
    /// Cash at the start.
    pub start_cash: i64,
    /// Equity at or below which an episode is terminated.
    pub ruin_equity: i64,
    /// Units of a tick.
    pub tick: i32,
    /// No fill is dearer: an overflow guard.
    pub max_price: i32,
    /// Largest target in lots; beyond it targets are clamped and counted.
    pub max_position: i32,
    /// 1 where bars have a bid and an ask side.
    pub quotes: i32,
    /// Fee of taking, of notional.
    pub taker_fee_e7: i32,
    /// Fee of making, of notional; negative is a rebate.
    pub maker_fee_e7: i32,
    /// Least half-spread in units.
    pub min_half_spread: i32,
    /// Half-spread as a rate of the close.
    pub half_spread_e7: i32,
    /// Half-spread as a share of ATR24.
    pub atr_spread_e7: i32,
    /// Factor on the half-spread in the first bar after a time gap.
    pub gap_spread_factor: i32,
    /// Y of the square-root impact, 1e-2.
    pub impact_e2: i32,
    /// Largest share of a bar's volume, 1e-4.
    pub cap_e4: i32,
    /// Penalty of a liquidation, of notional.
    pub penalty_e7: i32,
    /// Initial margin, of notional.
    pub initial_e7: i32,
    /// Maintenance margin, of notional.
    pub maintenance_e7: i32,
    /// Notional over equity at exposure 1, 1e-4.
    pub leverage_e4: i32,
    /// Orders smaller than this share of the position are dropped, 1e-4.
    pub band_bp: i32,
    /// Financing of a long, a year.
    pub financing_long_e7: i32,
    /// Financing of a short, a year.
    pub financing_short_e7: i32,
    /// 0: financing on the whole notional. 1: a long pays on what it borrows, a short on the whole.
    pub financing_borrowed: i32,
    /// Stop distance in ATRs, 1e-4; 0 is no stop.
    pub stop_e4: i32,
    /// 1: whatever type is chosen, a market order is sent. 0: the type that is chosen.
    pub market_orders: i32,
}

/// State of one account between decisions. Equity is derived at a mark, never stored.
#[repr(C, align(16))]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Pod, Zeroable)]
pub struct Account {
    /// Start plus realised less fees and financing: margin accounting, buying moves no cash.
    pub cash: i64,
    /// Sum of signed price times lots in units; 0 when flat.
    pub basis: i64,
    /// Gain of what was closed, before costs.
    pub realised: i64,
    /// Fees and liquidation penalties.
    pub fees: i64,
    /// Financing.
    pub financing: i64,
    /// Highest equity at a close.
    pub peak: i64,
    /// Lots held.
    pub position: i32,
    /// Distance of the stop from the average entry in units; 0 is no stop.
    pub stop_distance: i32,
    /// Closes since the position left flat or flipped.
    pub bars: u32,
    /// Filled part of the last decision's order, 1/255; 0 without an order.
    pub fill_share: u8,
    /// An [`OrderEnd`] as a byte: how it ended.
    pub order_end: u8,
    /// An [`Exit`] as a byte: what closed the position in the last bar.
    pub exit: u8,
    /// Zero.
    pub reserved: u8,
    /// Legs booked.
    pub legs: u32,
    /// Stops that fired.
    pub stops: u32,
    /// Liquidations.
    pub liquidations: u32,
    /// Targets that were clamped.
    pub clamped: u32,
}

/// How an order ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum OrderEnd {
    /// The target was already held.
    None = 0,
    /// Every lot filled.
    Filled = 1,
    /// Cut by the share of the bar's volume.
    PartVolume = 2,
    /// Cut by the initial margin.
    PartMargin = 3,
    /// Too small to send.
    Band = 4,
    /// A maker limit that the bar did not trade through.
    LimitNotReached = 5,
    /// An IOC whose price would have been beyond its limit.
    IocBeyondLimit = 6,
    /// A maker order that would have crossed at the open after a time gap.
    RejectedGap = 7,
    /// No volume to fill against.
    NoVolume = 8,
    /// The stop cancelled the rest.
    CancelledByStop = 9,
    /// The liquidation cancelled the rest.
    CancelledByLiquidation = 10,
}

impl OrderEnd {
    /// All, in the order of their numbers.
    pub const ALL: [OrderEnd; 11] = [
        OrderEnd::None,
        OrderEnd::Filled,
        OrderEnd::PartVolume,
        OrderEnd::PartMargin,
        OrderEnd::Band,
        OrderEnd::LimitNotReached,
        OrderEnd::IocBeyondLimit,
        OrderEnd::RejectedGap,
        OrderEnd::NoVolume,
        OrderEnd::CancelledByStop,
        OrderEnd::CancelledByLiquidation,
    ];
}

/// What closed a position against its will.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Exit {
    /// Nothing.
    None = 0,
    /// The stop.
    Stop = 1,
    /// Liquidation.
    Liquidation = 2,
}

/// Which rule filled a leg.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum FillKind {
    /// A market order at the open.
    Open = 1,
    /// A market order at the mean of the bar.
    Mean = 2,
    /// A maker order at its limit.
    Maker = 3,
    /// An IOC order at the open.
    Ioc = 4,
    /// A stop that the bar opened at or beyond.
    StopAtOpen = 5,
    /// A stop met within the bar.
    StopInBar = 6,
    /// A liquidation level that the bar opened at or beyond.
    LiquidationAtOpen = 7,
    /// A liquidation level met within the bar.
    LiquidationInBar = 8,
    /// The end of a backtest.
    End = 9,
    /// The last close of a session.
    Session = 10,
}

impl FillKind {
    /// All, in the order of their numbers, which begin at 1.
    pub const ALL: [FillKind; 10] = [
        FillKind::Open,
        FillKind::Mean,
        FillKind::Maker,
        FillKind::Ioc,
        FillKind::StopAtOpen,
        FillKind::StopInBar,
        FillKind::LiquidationAtOpen,
        FillKind::LiquidationInBar,
        FillKind::End,
        FillKind::Session,
    ];
}

/// One leg of one fill. Price less reference is `half_spread` plus impact for a buyer, rounded against the trader.
#[repr(C, align(16))]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Pod, Zeroable)]
pub struct FillRow {
    /// Four times the reference price (open, mean of the bar, limit, level) in units.
    pub reference4: i64,
    /// Fee in money, without the penalty.
    pub fee: i64,
    /// Penalty of a liquidation in money.
    pub penalty: i64,
    /// Signed lots.
    pub lots: i32,
    /// Price in units.
    pub price: i32,
    /// Close (mid) at which the decision was made, units.
    pub close: i32,
    /// Half-spread paid, units.
    pub half_spread: i32,
    /// Four times the impact paid, units.
    pub impact4: i32,
    /// A [`FillKind`] as a byte.
    pub kind: u8,
    /// 1 for a leg that opens, 0 for one that closes.
    pub opens: u8,
    /// Zero.
    pub reserved: [u8; 2],
}

/// One line of a ledger: the account at the close of bar `bar`, and the decision that led there.
#[repr(C, align(16))]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Pod, Zeroable)]
pub struct LedgerRow {
    /// Equity at the close that was decided at.
    pub before: i64,
    /// Equity at the close.
    pub equity: i64,
    /// Equity at `worst`: after what fills before the adverse move, with the bar's financing. Of a flip within the bar the
    /// lower of both positions' equities.
    pub worst_equity: i64,
    /// Cash.
    pub cash: i64,
    /// Sum of signed price times lots.
    pub basis: i64,
    /// Realised gain so far.
    pub realised: i64,
    /// Fees so far.
    pub fees: i64,
    /// Financing so far.
    pub financing: i64,
    /// Lots held.
    pub position: i32,
    /// Lots wanted.
    pub target: i32,
    /// Lots sent, signed.
    pub order: i32,
    /// Lots of the order that filled, unsigned.
    pub filled: i32,
    /// Log return of equity, 2^-20.
    pub reward_q20: i32,
    /// Distance of the stop, units.
    pub stop_distance: i32,
    /// The worst price that the position met: the bar's low or high on the side that it would trade at, the price of a
    /// stop or liquidation within the bar, or the close if nothing was held.
    pub worst: i32,
    /// Row of the bar table that this is the close of.
    pub bar: u32,
    /// Closes since the position was opened.
    pub bars: u32,
    /// Exposure, order type, urgency.
    pub action: [u8; 3],
    /// Bits of [`flag`].
    pub flags: u8,
    /// An [`OrderEnd`] as a byte.
    pub order_end: u8,
    /// An [`Exit`] as a byte.
    pub exit: u8,
    /// Legs written to the fills of this row.
    pub fills: u8,
    /// Zero.
    pub reserved: [u8; 5],
}

/// Bits of a step's flags.
pub mod flag {
    /// Ruin, or equity at a hundredth or less: no bootstrap.
    pub const TERMINATED: u8 = 1;
    /// End of the window or of the episode's length: bootstrap from the true final observation.
    pub const TRUNCATED: u8 = 2;
    /// The reward is ln 0.01.
    pub const REWARD_FLOOR: u8 = 4;
    /// The scaled reward did not fit its fixed point.
    pub const REWARD_SATURATED: u8 = 8;
    /// A stop closed the position.
    pub const STOPPED: u8 = 16;
    /// The position was liquidated.
    pub const LIQUIDATED: u8 = 32;
    /// A ledger row that was written.
    pub const RECORDED: u8 = 128;
}
