//! What each action does to an account, from the market's own kernel.

use crate::{Chain, KnownError, chain::moved, grid::Grid, kinds::BASE_PRICE};
use foxhunt_core::DType;
use foxhunt_device::{Command, Device, Program};
use foxhunt_env::OwnBuffers;
use foxhunt_kernels::{
    Element, TREE,
    market::{MarketStep, Span, market_step},
};
use foxhunt_market::{Account, Bar, FillRow, LedgerRow, MAX_FILLS, RuleBook, Rules};
use foxhunt_nn::PlanError;

/// Actions that differ when only market orders are sent: nine exposures times three urgencies.
pub const ACTIONS: usize = 27;
/// Equity that decisions are computed at, money: 1e8 lots at the base price, so that whole lots are 1e-8 of a position.
const EQUITY: i64 = 10_000_000_000_000_000;

/// Exposure, order type and urgency of action `a` of [`ACTIONS`].
pub(crate) fn action(a: usize) -> [u8; 3] {
    [(a / 3) as u8, 0, (a % 3) as u8]
}

/// What follows an action: the log return of equity, and the exposure held at the next close.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Effect {
    pub(crate) reward: f64,
    pub(crate) exposure: f64,
}

/// Effects of every state, move, exposure of the grid and action.
pub(crate) struct Effects {
    /// `[states][moves of it]`, each `[nodes, ACTIONS]`.
    of: Vec<Vec<Vec<Effect>>>,
}

impl Effects {
    /// Runs the kernel once for every state and move, over all exposures and actions.
    pub(crate) fn new(chain: &Chain, rules: &RuleBook, grid: &Grid) -> Result<Self, KnownError> {
        // At this equity positions are beyond what the account of the path may hold; nothing else of the rules is changed.
        let rules = Rules { max_position: 1 << 30, start_cash: EQUITY, ruin_equity: 0, ..rules.row()? };
        let desk = Desk::new(&rules, grid.nodes() * ACTIONS)?;
        let of = chain.states.iter().enumerate().map(|(z, state)| {
            let price = chain.prices.as_ref().map_or(BASE_PRICE, |p| p[z]);
            state.moves.iter().map(|m| desk.effects(grid, price, moved(price, m.ratio_e9))).collect()
        });
        Ok(Effects { of: of.collect::<Result<_, KnownError>>()? })
    }

    /// Of move `m` in state `z`: `[nodes, ACTIONS]`.
    pub(crate) fn of(&self, z: usize, m: usize) -> &[Effect] {
        &self.of[z][m]
    }
}

/// Places of the kernel's buffers.
const BUFFERS: usize = 8;

/// One member of many accounts and two bars.
struct Desk {
    tv: i64,
    buffers: OwnBuffers<BUFFERS>,
    step: Program,
    accounts: usize,
}

impl Desk {
    fn new(rules: &Rules, accounts: usize) -> Result<Self, KnownError> {
        let device = Device::cpu();
        let shapes = [
            (Element::of::<Account>(), accounts, 1),
            (Element::U32, accounts, 1),
            (Element::of::<Rules>(), 1, 1),
            (Element::of::<Span>(), 1, 1),
            (Element::of::<Bar>(), 2, 1),
            (Element::U8, accounts, 3),
            (Element::of::<LedgerRow>(), 1, accounts),
            (Element::of::<FillRow>(), 1, accounts * MAX_FILLS),
        ];
        let buffers = OwnBuffers::new(&device, "known", shapes).map_err(PlanError::from)?;
        let [own, cursor, rule, span, bars, actions, rows, fills] = buffers.views();
        let x = MarketStep { accounts: own, cursor, rules: rule, span, bars, actions, rows, fills };
        // Physics has no real numbers of the storage type: either gives the same.
        let launch = market_step(DType::F32, 1, &x).map_err(PlanError::from)?;
        let step = Program::compile(&device, &TREE, vec![Command::Launch(launch)])?;
        buffers.write(2, &[*rules])?;
        buffers.write(3, &[Span { begin: 0, end: 2 }])?;
        let all: Vec<[u8; 3]> = (0..accounts).map(|i| action(i % ACTIONS)).collect();
        buffers.write(5, &all)?;
        Ok(Desk { tv: rules.tv, buffers, step, accounts })
    }

    fn effects(&self, grid: &Grid, price: i32, next: i32) -> Result<Vec<Effect>, KnownError> {
        let account = |node: usize| {
            let lots =
                (grid.exposure(node) * EQUITY as f64 / (f64::from(price) * self.tv as f64)).round() as i32;
            Account {
                cash: EQUITY,
                basis: i64::from(lots) * i64::from(price),
                peak: EQUITY,
                position: lots,
                ..Account::default()
            }
        };
        let accounts: Vec<Account> = (0..self.accounts).map(|i| account(i / ACTIONS)).collect();
        self.buffers.write(0, &accounts)?;
        self.buffers.write(1, &vec![0_u32; self.accounts])?;
        self.buffers.write(4, &[bar(price, price), bar(price, next)])?;
        self.step.run(1)?;
        let rows: Vec<LedgerRow> = self.buffers.read(6, self.accounts)?;
        let effect = |row: &LedgerRow| {
            let held = f64::from(row.position) * f64::from(next) * self.tv as f64;
            Effect {
                reward: ((row.equity - row.before) as f64 / row.before as f64).ln_1p(),
                exposure: held / row.equity as f64,
            }
        };
        Ok(rows.iter().map(effect).collect())
    }
}

fn bar(open: i32, close: i32) -> Bar {
    let prices = [open, open.max(close), open.min(close), close];
    Bar {
        bid: prices,
        ask: prices,
        volume: 1 << 40,
        mean_volume: 1 << 40,
        sigma: 1,
        atr: 1,
        gap_seconds: 0,
        bar_seconds: 3_600,
    }
}
