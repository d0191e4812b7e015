//! The environments that train, and beside them the kernel that writes fills: the same decision through both.

use super::{ENVS, EPISODE, Plant, Played};
use crate::{VerifyError, dice::throw};
use foxhunt_core::{DType, rng::member_seed};
use foxhunt_device::{Command, Device, Program};
use foxhunt_env::{Buffer, Env, Environments, MemberSpec, OwnBuffers, Shape, Transition};
use foxhunt_kernels::{
    Element, TREE,
    market::{MarketStep, Span, market_step},
};
use foxhunt_market::{Account, CashFlowBook, FillRow, LedgerRow, MAX_FILLS, flag, reference};
use foxhunt_nn::PlanError;
use foxhunt_train::{Config, Market, member_spec};

/// The second desk's buffers, in the order of their places.
const BUFFERS: usize = 5;

pub(super) struct Desk<'a> {
    market: &'a Market,
    tv: i64,
    env: Environments,
    train: Program,
    twin: Program,
    buffers: OwnBuffers<BUFFERS>,
    books: Vec<Option<CashFlowBook>>,
}

impl<'a> Desk<'a> {
    pub(super) fn new(
        device: &Device,
        dtype: DType,
        config: &Config,
        market: &'a Market,
    ) -> Result<Self, VerifyError> {
        let (tables, features) = market.tables()?;
        let spec = member_spec(config, market, features, market.splits.train.clone(), 0)?;
        let rules = market.rules.row()?;
        let spec = MemberSpec { episode_bars: EPISODE, n_step: 1, ..spec };
        let shape = Shape {
            envs: ENVS,
            lookback: config.network.lookback,
            state: config.network.inputs,
            ring_rows: 1,
            batch: 1,
        };
        let env = Environments::new(device, dtype, shape, &tables, &[spec])?;
        let compile = |commands| Program::compile(device, &TREE, commands);
        let train = compile(vec![env.step()?])?;
        let reset = compile(vec![env.reset()?])?;
        reset.run(1)?;
        device.synchronize()?;

        let shapes = [
            (Element::of::<Account>(), ENVS, 1),
            (Element::U32, ENVS, 1),
            (Element::of::<Span>(), 1, 1),
            (Element::of::<LedgerRow>(), 1, ENVS),
            (Element::of::<FillRow>(), 1, ENVS * MAX_FILLS),
        ];
        let buffers = OwnBuffers::new(device, "desk", shapes).map_err(PlanError::from)?;
        let [accounts, cursor, span, rows, fills] = buffers.views();
        let x = MarketStep {
            accounts,
            cursor,
            span,
            rows,
            fills,
            rules: env.view(Buffer::Rules),
            bars: env.view(Buffer::Bars),
            actions: env.view(Buffer::Actions),
        };
        let twin = compile(vec![Command::Launch(market_step(dtype, 1, &x).map_err(PlanError::from)?)])?;
        buffers.write(2, &[Span { begin: 0, end: market.bars.len() as u32 }])?;
        let books = vec![None; ENVS];
        Ok(Desk { market, tv: rules.tv, env, train, twin, buffers, books })
    }

    /// One random decision of every environment, through both kernels, into the books.
    pub(super) fn step(
        &mut self,
        seed: u64,
        step: u64,
        plant: &Plant<'_>,
        out: &mut Played,
    ) -> Result<(), VerifyError> {
        let key = member_seed(seed, 0);
        let actions: Vec<[u8; 3]> = (0..ENVS as u32).map(|e| throw(key, step, e)).collect();
        self.env.write(Buffer::Actions, &actions)?;
        let before: Vec<Env> = self.env.read(Buffer::Envs)?;
        self.buffers.write(0, &before.iter().map(|s| s.account).collect::<Vec<_>>())?;
        self.buffers.write(1, &before.iter().map(|s| s.bar).collect::<Vec<_>>())?;
        self.train.run(1)?;
        self.twin.run(1)?;
        let after: Vec<Env> = self.env.read(Buffer::Envs)?;
        let ring: Vec<Transition> = self.env.read(Buffer::Ring)?;
        let accounts: Vec<Account> = self.buffers.read(0, ENVS)?;
        let mut rows: Vec<LedgerRow> = self.buffers.read(3, ENVS)?;
        let mut fills: Vec<FillRow> = self.buffers.read(4, ENVS * MAX_FILLS)?;
        for e in 0..ENVS {
            let (row, legs) = (&mut rows[e], &mut fills[e * MAX_FILLS..][..MAX_FILLS]);
            (plant.row)(row, legs);
            let mut kept = ring[e];
            (plant.equity)(&mut kept.after.equity);
            let mark = reference::mark(&self.market.table.bars[row.bar as usize]);
            let at = |what: String| format!("environment {e}, decision {step}: {what}");

            let book = self.books[e].get_or_insert_with(|| CashFlowBook::open(&before[e].account, self.tv));
            if let Err(error) = book.enter(row, legs, mark) {
                out.note("the cash-flow book", || at(error.to_string()));
            }
            let pairs = [
                ("equity", kept.after.equity, row.equity),
                ("position", kept.after.position.into(), row.position.into()),
                ("reward", kept.reward_q20.into(), row.reward_q20.into()),
                ("bar", i64::from(kept.bar) + 1, row.bar.into()),
            ];
            for (what, in_replay, in_row) in pairs {
                if in_replay != in_row {
                    let said = format!("{what} {in_replay}, in the row {in_row}");
                    out.note("replay", || at(said));
                }
            }
            let ended = kept.flags & (flag::TERMINATED | flag::TRUNCATED) != 0;
            if ended {
                self.books[e] = None;
                out.episodes += 1;
            } else if after[e].account != accounts[e] {
                out.note("the environment's account", || {
                    at("is not the one that the row was written of".into())
                });
            }
            out.decisions += 1;
            out.fills += usize::from(row.fills);
        }
        Ok(())
    }
}
