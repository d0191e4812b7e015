//! The run: a plan with a program for one bar, replayed once per bar.

use crate::{
    BacktestError, Ends, TestWindow,
    convert::{self, Facts},
    header::{Run, header},
    window::first_seen,
};
use foxhunt_core::{DType, rng::member_seed};
use foxhunt_device::{Command, Device};
use foxhunt_env::{Buffer, Env, EnvError, Environments, LedgerViews, MemberSpec, Shape, exploration};
use foxhunt_kernels::{
    Element,
    fused::{ACTING_BLOCKS, DqnKernels},
    market::LedgerRow,
};
use foxhunt_ledger::{Ledger, MemberInfo};
use foxhunt_market::{Bar, FillRow, MAX_FILLS, RuleBook, Rules};
use foxhunt_nn::{Net, Options, Plan, PlanError, Runtime, Tensor, net::BranchingQ};
use foxhunt_train::{Config, Market, fused_kernels, in_plan, member_spec, network};
use std::{cell::Cell, rc::Rc, sync::Arc};

/// A stretch of a market, its rules, and where it is run.
#[derive(Clone, Debug)]
pub struct Backtest<'a> {
    pub(crate) device: &'a Device,
    pub(crate) dtype: DType,
    pub(crate) config: &'a Config,
    pub(crate) market: &'a Market,
    pub(crate) window: TestWindow,
    pub(crate) rules: RuleBook,
    pub(crate) trials: u32,
    spread: Option<Spread>,
}

/// Bars with a multiple of the spread that the file quotes.
#[derive(Clone, Debug)]
struct Spread {
    factor: i32,
    bars: Arc<[Bar]>,
}

/// A plan that is being built: the environments, and the buffers of the ledger.
pub(crate) struct Bench {
    pub(crate) env: Rc<Environments>,
    pub(crate) plan: Plan,
    pub(crate) envs: Tensor,
    pub(crate) actions: Tensor,
    rows: Tensor,
    fills: Tensor,
}

/// A bench whose programs are compiled.
pub(crate) struct Compiled {
    pub(crate) env: Rc<Environments>,
    plan: Plan,
    pub(crate) runtime: Runtime,
    rows: Tensor,
    fills: Tensor,
    /// Factor on the quoted spread of the bars that the device has now.
    spread: Cell<i32>,
}

/// A backtest of networks, compiled once for these members and run with weights as often as wanted.
pub struct Agents<'a> {
    backtest: Backtest<'a>,
    compiled: Compiled,
    net: Net,
    members: Vec<MemberInfo>,
}

impl Agents<'_> {
    /// What is compiled: programs `begin` (once), `step` (once per decision of the window) and `close` (once), for whoever
    /// times them.
    pub fn runtime(&self) -> &Runtime {
        &self.compiled.runtime
    }

    /// The plan that it was compiled from.
    pub fn plan(&self) -> &Plan {
        &self.compiled.plan
    }

    /// The environments, one per member.
    pub fn environments(&self) -> &Environments {
        &self.compiled.env
    }

    /// The stretch that is traded.
    pub fn window(&self) -> &TestWindow {
        &self.backtest.window
    }

    /// The network, whose weights are to be filled.
    pub fn net(&self) -> &Net {
        &self.net
    }

    /// A run from the window's first bar: what [`Backtest::agents`] gives.
    ///
    /// # Errors
    /// As [`Backtest::agents`].
    pub fn run(
        &self,
        fill: impl FnOnce(&Runtime, &Net) -> Result<(), Box<dyn std::error::Error + Send + Sync>>,
    ) -> Result<Ledger, BacktestError> {
        fill(&self.compiled.runtime, &self.net).map_err(BacktestError::Weights)?;
        self.run_by(&self.backtest)
    }

    /// A run of the weights that are there, by the rules and spread of `by`, which is of the same stretch: costs times a factor,
    /// more equity. Rules and bars are data of the device, so that nothing is compiled anew.
    ///
    /// # Errors
    /// Rules that the device can't hold, and the device's.
    pub fn run_by(&self, by: &Backtest<'_>) -> Result<Ledger, BacktestError> {
        let Backtest { config, trials, .. } = self.backtest;
        self.trade_by(by)?;
        let run = Run { members: &self.members, baseline: None, seed: config.seed, trials };
        by.play(&self.compiled, run)
    }

    /// Gives all members the rules and the bars of `by`, whatever they had.
    fn trade_by(&self, by: &Backtest<'_>) -> Result<Rules, BacktestError> {
        let row = by.rules.row()?;
        self.compiled.env.write(Buffer::Rules, &vec![row; self.members.len()])?;
        if self.compiled.spread.get() != by.spread_factor() {
            self.compiled.env.write(Buffer::Bars, by.bars())?;
            self.compiled.spread.set(by.spread_factor());
        }
        Ok(row)
    }

    /// As [`Agents::run`], of which only what each member ends with is read: a ledger takes longer to bring and to make than
    /// a GPU takes for the run.
    ///
    /// # Errors
    /// As [`Backtest::agents`].
    pub fn ends(
        &self,
        fill: impl FnOnce(&Runtime, &Net) -> Result<(), Box<dyn std::error::Error + Send + Sync>>,
    ) -> Result<Vec<Ends>, BacktestError> {
        fill(&self.compiled.runtime, &self.net).map_err(BacktestError::Weights)?;
        let rules = self.trade_by(&self.backtest)?;
        let states = self.backtest.through(&self.compiled)?;
        // All are flat: equity is cash.
        Ok(states.iter().map(|s| Ends { first: rules.start_cash, last: s.account.cash }).collect())
    }

    /// The same from images, as [`Backtest::agents_of_images`].
    ///
    /// # Errors
    /// As [`Backtest::agents`].
    pub fn ends_of_images(&self, images: &[f32]) -> Result<Vec<Ends>, BacktestError> {
        self.ends(|runtime, net| Ok(runtime.write(net.weight, images)?))
    }

    /// A run from images, as [`Backtest::agents_of_images`].
    ///
    /// # Errors
    /// As [`Backtest::agents`].
    pub fn run_images(&self, images: &[f32]) -> Result<Ledger, BacktestError> {
        self.run(|runtime, net| Ok(runtime.write(net.weight, images)?))
    }
}

impl<'a> Backtest<'a> {
    /// A backtest of `window` by the rules of `market`. `config` must be the one that the members were trained by: it says
    /// what their networks see.
    ///
    /// # Errors
    /// A window without decisions, or without features.
    pub fn new(
        device: &'a Device,
        dtype: DType,
        config: &'a Config,
        market: &'a Market,
        window: TestWindow,
    ) -> Result<Self, BacktestError> {
        window.check(market, config.network.lookback)?;
        Ok(Self::over(device, dtype, config, market, window))
    }

    /// By the market's own rules and spread, of a window that was checked.
    fn over(
        device: &'a Device,
        dtype: DType,
        config: &'a Config,
        market: &'a Market,
        window: TestWindow,
    ) -> Self {
        Backtest {
            device,
            dtype,
            config,
            market,
            window,
            rules: market.rules.clone(),
            trials: 1,
            spread: None,
        }
    }

    /// The same with all costs times `factor`: those of the rules, and the spread that the bars quote.
    ///
    /// # Errors
    /// Rules that can't be kept, or quotes that leave the range of prices.
    pub fn with_costs(self, factor: i32) -> Result<Self, BacktestError> {
        let rules = self.rules.with_costs(factor);
        rules.validate()?;
        self.with_rules(rules).with_spread(factor)
    }

    /// The same with `factor` times the spread that the bars of its market quote.
    fn with_spread(mut self, factor: i32) -> Result<Self, BacktestError> {
        self.spread = if self.rules.quotes && factor != 1 {
            let bars = self.market.table.bars_with_spread(factor, self.rules.max_price())?;
            Some(Spread { factor, bars: bars.into() })
        } else {
            None
        };
        Ok(self)
    }

    /// The same by the rules and with the spread of `other`, which may be of another stretch.
    ///
    /// # Errors
    /// As [`Backtest::with_costs`].
    pub fn under(self, other: &Backtest<'_>) -> Result<Self, BacktestError> {
        self.with_rules(other.rules.clone()).with_spread(other.spread_factor())
    }

    /// What the quoted spread is multiplied by.
    fn spread_factor(&self) -> i32 {
        self.spread.as_ref().map_or(1, |spread| spread.factor)
    }

    /// The bars that are traded: the market's, or those with another spread.
    fn bars(&self) -> &[Bar] {
        self.spread.as_ref().map_or(&self.market.table.bars, |spread| &spread.bars)
    }

    /// The close of the market's last bar, for [`Backtest::next`]: that bar alone must have its features.
    ///
    /// # Errors
    /// A last bar that lacks features.
    pub fn now(
        device: &'a Device,
        dtype: DType,
        config: &'a Config,
        market: &'a Market,
    ) -> Result<Self, BacktestError> {
        let window = TestWindow::now(market);
        let first = first_seen(market, config.network.lookback);
        if window.decisions() > 0 && first < window.rows.end {
            return Ok(Self::over(device, dtype, config, market, window));
        }
        let std::ops::Range { start, end } = window.rows;
        let problem = format!("the first row with all features in sight is {first}");
        Err(BacktestError::Window { name: window.name, start, end, problem })
    }

    /// The same with other rules: a fee, more equity. The spread that bars quote is no rule: [`Backtest::with_costs`].
    #[must_use]
    pub fn with_rules(mut self, rules: RuleBook) -> Self {
        self.rules = rules;
        self
    }

    /// The same after `trials` configurations were tried, which the ledger says.
    #[must_use]
    pub fn with_trials(mut self, trials: u32) -> Self {
        self.trials = trials;
        self
    }

    /// The same over the first `decisions` of its window.
    pub(crate) fn first(mut self, decisions: usize) -> Self {
        let rows = &mut self.window.rows;
        rows.end = rows.end.min(rows.start + decisions.max(1) + 1);
        self
    }

    /// The stretch.
    pub fn window(&self) -> &TestWindow {
        &self.window
    }

    /// The market.
    pub fn market(&self) -> &'a Market {
        self.market
    }

    /// The rules.
    pub fn rules(&self) -> &RuleBook {
        &self.rules
    }

    /// The greedy policy of members with the ids `ids`. `fill` puts their weights, in this order, into the plan's
    /// [`Net::weight`]; the target is not read.
    ///
    /// # Errors
    /// Weights that don't fit, or the device.
    pub fn agents(
        &self,
        ids: &[u64],
        fill: impl FnOnce(&Runtime, &Net) -> Result<(), Box<dyn std::error::Error + Send + Sync>>,
    ) -> Result<Ledger, BacktestError> {
        self.compile(ids)?.run(fill)
    }

    /// What [`Backtest::agents`] runs, compiled once to be run with many weights.
    ///
    /// # Errors
    /// The device's.
    pub fn compile(&self, ids: &[u64]) -> Result<Agents<'a>, BacktestError> {
        let mut bench = self.bench(ids)?;
        let (net, (), _) = self.acting(&mut bench, |net, plan, x| {
            let greedy =
                if fused_kernels(self.config, self.device, self.dtype, net) == Some(DqnKernels::Hopper) {
                    net.act_fused(plan, "act", x, ACTING_BLOCKS)?
                } else {
                    net.act(plan, "act", x)?.1
                };
            Ok(((), greedy))
        })?;
        let members = ids.iter().map(|&id| self.member_info(id)).collect();
        Ok(Agents { backtest: self.clone(), compiled: self.lower(bench)?, net, members })
    }

    /// Begins the program `step` with what a greedy member sees and does. Its net; what `act` makes of an observation beside the
    /// greedy actions, and these.
    pub(crate) fn acting<T>(
        &self,
        bench: &mut Bench,
        act: impl FnOnce(&BranchingQ, &mut Plan, Tensor) -> Result<(T, Tensor), PlanError>,
    ) -> Result<(Net, T, Tensor), BacktestError> {
        let net = BranchingQ::new(&mut bench.plan, network(self.config));
        let env = bench.env.clone();
        let observation = bench.plan.external(env.view(Buffer::Observation), env.arena());
        bench.plan.program("step");
        let observe = env.observe()?;
        let (envs, actions) = (bench.envs, bench.actions);
        bench.plan.run_foreign("env.observe", &[envs], &[observation], move |_| Ok(vec![observe.clone()]));
        let (beside, greedy) = act(&net, &mut bench.plan, observation)?;
        bench.plan.run_foreign("env.act", &[envs, greedy], &[actions], move |cx| {
            env.act_greedy(cx.view(greedy)).map(|c| vec![c]).map_err(in_plan)
        });
        Ok((net.net, beside, greedy))
    }

    /// The same from images in F32, `[members, tiles, 2048]` as [`Runtime::read`] gives a trainer's [`Net::weight`].
    ///
    /// # Errors
    /// As [`Backtest::agents`].
    pub fn agents_of_images(&self, ids: &[u64], images: &[f32]) -> Result<Ledger, BacktestError> {
        self.agents(ids, |runtime, net| Ok(runtime.write(net.weight, images)?))
    }

    fn member_info(&self, id: u64) -> MemberInfo {
        let seed = member_seed(self.config.seed, id);
        let number = self.config.number_of(id);
        let label = if self.config.walks() {
            format!("fold {} member {number}", self.config.fold_of(id))
        } else {
            format!("member {number}")
        };
        MemberInfo { id, label, seed, reward_unit: 1.0 }
    }

    /// Environments and a plan with the ledger's buffers.
    pub(crate) fn bench(&self, ids: &[u64]) -> Result<Bench, BacktestError> {
        let (tables, features) = self.market.tables()?;
        let rules = self.rules.row()?;
        let specs = ids
            .iter()
            .map(|&id| {
                let rows = self.window.rows.clone();
                let spec = member_spec(self.config, self.market, features, rows, id)?;
                // Greedy; and nothing is replayed, so one row of it is enough.
                Ok(MemberSpec { rules, n_step: 1, exploration: exploration(0.0, 0.0, 0), ..spec })
            })
            .collect::<Result<Vec<MemberSpec>, BacktestError>>()?;
        let shape = Shape {
            envs: 1,
            lookback: self.config.network.lookback,
            state: self.config.network.inputs,
            ring_rows: 1,
            batch: 1,
        };
        if specs.is_empty() {
            return Err(BacktestError::Members { members: 0, given: 0 });
        }
        let env = Rc::new(Environments::new(self.device, self.dtype, shape, &tables, &specs)?);
        if self.spread.is_some() {
            env.write(Buffer::Bars, self.bars())?;
        }
        let mut plan = Plan::new(self.dtype, ids.len());
        let [envs, actions] =
            [Buffer::Envs, Buffer::Actions].map(|b| plan.external(env.view(b), env.arena()));
        let decisions = self.window.decisions();
        let rows = plan.buffer("ledger.rows", Element::of::<LedgerRow>(), decisions, 1);
        let fills = plan.buffer("ledger.fills", Element::of::<FillRow>(), decisions, MAX_FILLS);
        Ok(Bench { env, plan, envs, actions, rows, fills })
    }

    /// Completes the programs and compiles them. The program `step` already writes the actions.
    pub(crate) fn lower(&self, bench: Bench) -> Result<Compiled, BacktestError> {
        let Bench { env, mut plan, envs, actions, rows, fills } = bench;
        let mut add = |program: &str, name: &'static str, make: Make| {
            let env = env.clone();
            plan.program(program);
            plan.run_foreign(name, &[envs, actions], &[envs, rows, fills], move |cx| {
                let views = LedgerViews { rows: cx.view(rows).clone(), fills: cx.view(fills).clone() };
                make(&env, &views).map(|c| vec![c]).map_err(in_plan)
            });
        };
        add("step", "env.backtest", Environments::backtest_step);
        add("begin", "env.backtest_begin", Environments::backtest_begin);
        add("close", "env.backtest_close", Environments::backtest_close);
        let runtime = plan.compile(self.device, Options::default())?;
        Ok(Compiled { env, plan, runtime, rows, fills, spread: Cell::new(self.spread_factor()) })
    }

    /// Runs what is compiled from the window's first bar, and reads the ledger.
    pub(crate) fn play(&self, compiled: &Compiled, run: Run<'_>) -> Result<Ledger, BacktestError> {
        let states = self.through(compiled)?;
        self.ledger_of(compiled, &states, run)
    }

    /// Runs what is compiled from the window's first bar to its end: the state of each member then.
    fn through(&self, compiled: &Compiled) -> Result<Vec<Env>, BacktestError> {
        compiled.runtime.run("begin", 1)?;
        compiled.runtime.run("step", self.window.decisions() as u32)?;
        self.end(compiled)
    }

    fn end(&self, compiled: &Compiled) -> Result<Vec<Env>, BacktestError> {
        compiled.runtime.run("close", 1)?;
        self.device.synchronize()?;
        Ok(compiled.env.read::<Env>(Buffer::Envs)?)
    }

    /// Ends a run, and reads the ledger.
    pub(crate) fn close(&self, compiled: &Compiled, run: Run<'_>) -> Result<Ledger, BacktestError> {
        let states = self.end(compiled)?;
        self.ledger_of(compiled, &states, run)
    }

    fn ledger_of(&self, compiled: &Compiled, states: &[Env], run: Run<'_>) -> Result<Ledger, BacktestError> {
        let Compiled { runtime, rows, fills, .. } = compiled;
        self.ledger(states, &runtime.read_raw(*rows)?, &runtime.read_raw(*fills)?, run)
    }

    fn ledger(
        &self,
        states: &[Env],
        rows: &[LedgerRow],
        legs: &[FillRow],
        run: Run<'_>,
    ) -> Result<Ledger, BacktestError> {
        let bars = &self.market.bars;
        let first = self.window.rows.start;
        let rules = self.rules.row()?;
        let facts =
            Facts { bars: self.bars(), close_ns: &bars.close_ns, days: &bars.session_days()?, rules: &rules };
        let decisions = self.window.decisions();
        let mut header = header(self.market, &self.rules, &self.window, run);
        header.assumptions.extend(self.rules.quoted_spread_assumption(self.spread_factor()));
        let mut ledger = Ledger { header, bars: Vec::new(), fills: Vec::new() };
        for (member, state) in states.iter().enumerate() {
            // Rows beyond the bar where the account stopped were not written.
            let written = (state.bar as usize).saturating_sub(first);
            let start = member * decisions;
            let rows = &rows[start..start + written];
            let legs_of = |k: usize| {
                let at = (start + k) * MAX_FILLS;
                at..at + usize::from(rows[k].fills).min(MAX_FILLS)
            };
            let (bars, fills) = convert::member(&facts, member as u32, first, rows, legs, legs_of)?;
            ledger.bars.extend(bars);
            ledger.fills.extend(fills);
        }
        Ok(ledger)
    }
}

/// A command of the environments that takes the ledger.
type Make = fn(&Environments, &LedgerViews) -> Result<Command, EnvError>;
