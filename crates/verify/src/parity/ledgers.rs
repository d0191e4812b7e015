//! Rows and fills of backtests, to the bit.

use super::{
    Compared,
    compare::{Place, grouped, verdict},
    worlds::World,
};
use crate::{VerifyError, dice::throws};
use foxhunt_core::DType;
use foxhunt_device::{ARENA_ALIGN, Arena, Device, Program};
use foxhunt_env::{Environments, LedgerViews, MemberSpec, Tables};
use foxhunt_kernels::{Element, TREE, View};
use foxhunt_market::{FillRow, LedgerRow, MAX_FILLS, OrderEnd, flag};

/// Decisions of a backtest of many accounts; one of recorded actions goes over all bars.
const SHORT: usize = 500;

/// What tests plant: a change to what the checked device wrote.
pub(super) type Plant<'a> = &'a dyn Fn(&mut [LedgerRow], &mut [FillRow]);

/// Who acts in a backtest.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Actor {
    /// A list of actions per member, as in every backtest of a strategy.
    Recorded,
    /// Philox on the device, another action for every environment.
    Random,
}

pub(super) fn compare(device: &Device, reference: &Device, dtype: DType) -> Result<Compared, VerifyError> {
    compare_with(device, reference, dtype, &|_, _| {})
}

#[derive(Default)]
struct Sum {
    rows: usize,
    fills: usize,
    cut: usize,
    stopped: usize,
    liquidated: usize,
    found: Vec<String>,
}

pub(super) fn compare_with(
    device: &Device,
    reference: &Device,
    dtype: DType,
    plant: Plant<'_>,
) -> Result<Compared, VerifyError> {
    let mut sum = Sum::default();
    for world in World::all()? {
        let splits = &world.market.splits;
        let all = splits.train.start..splits.test.end;
        let short = all.start..all.start + SHORT;
        for (actor, members, envs, window) in [(Actor::Recorded, 4, 1, all), (Actor::Random, 2, 33, short)] {
            let (tables, specs) = world.members(members, window.clone())?;
            let decisions = window.len();
            let backtest = Backtest { world: &world, actor, envs, decisions, tables: &tables, specs: &specs };
            let run = |device| backtest.run(device, dtype);
            let (mut here, there) = (run(device)?, run(reference)?);
            plant(&mut here.rows, &mut here.fills);
            let found = [
                difference(&there.views.rows, "rows", &here.rows, &there.rows),
                difference(&there.views.fills, "fills", &here.fills, &there.fills),
            ];
            sum.found.extend(found.into_iter().flatten().map(|f| format!("{}: {f}", world.name)));
            sum.count(&there.rows);
        }
    }
    let Sum { rows, fills, cut, stopped, liquidated, mut found } = sum;
    let met = [("a fill", fills), ("an order that its bar's volume cut", cut), ("a stop", stopped)];
    let met = met.into_iter().chain([("a liquidation", liquidated)]);
    found.extend(met.filter(|(_, n)| *n == 0).map(|(what, _)| format!("the backtests never met {what}")));
    let said = format!(
        "{} rows, {} fills {}; {} orders cut by volume, {} stops, {} liquidations",
        grouped(rows),
        grouped(fills),
        verdict(&found),
        grouped(cut),
        grouped(stopped),
        grouped(liquidated)
    );
    Ok(Compared { said, found })
}

impl Sum {
    fn count(&mut self, rows: &[LedgerRow]) {
        for row in rows.iter().filter(|r| r.flags & flag::RECORDED != 0) {
            self.rows += 1;
            self.fills += usize::from(row.fills);
            self.cut += usize::from(row.order_end == OrderEnd::PartVolume as u8);
            self.stopped += usize::from(row.flags & flag::STOPPED != 0);
            self.liquidated += usize::from(row.flags & flag::LIQUIDATED != 0);
        }
    }
}

/// What one device wrote.
struct Written {
    views: LedgerViews,
    rows: Vec<LedgerRow>,
    fills: Vec<FillRow>,
}

/// A backtest as both devices run it.
struct Backtest<'a> {
    world: &'a World,
    actor: Actor,
    envs: usize,
    decisions: usize,
    tables: &'a Tables,
    specs: &'a [MemberSpec],
}

impl Backtest<'_> {
    fn run(&self, device: &Device, dtype: DType) -> Result<Written, VerifyError> {
        let &Backtest { world, actor, envs, decisions, tables, specs } = self;
        let members = specs.len();
        let env = Environments::new(device, dtype, world.shape(envs, 8, 1), tables, specs)?;
        let recorded: Vec<[u8; 3]> = specs.iter().flat_map(|s| throws(s.seed, decisions)).collect();
        let mut memory = Memory::default();
        let rows = memory.add("rows", Element::of::<LedgerRow>(), members, decisions, envs);
        let fills = memory.add("fills", Element::of::<FillRow>(), members, decisions, envs * MAX_FILLS);
        let actions = memory.add("actions", Element::U8, members, decisions, 3);
        let greedy = memory.add("greedy", Element::U8, members, envs, 3);
        let arena = device.allocate(memory.bytes)?;
        let [rows, fills, actions, greedy] =
            [rows, fills, actions, greedy].map(|v| View { addr: arena.addr() + v.addr, ..v });
        arena.write((actions.addr - arena.addr()) as usize, &recorded)?;
        let views = LedgerViews { rows, fills };
        let act = match actor {
            Actor::Recorded => env.act_recorded(&actions)?,
            Actor::Random => env.act_greedy(&greedy)?,
        };
        let compile = |commands| Program::compile(device, &TREE, commands);
        let begin = compile(vec![env.backtest_begin(&views)?])?;
        let step = compile(vec![act, env.backtest_step(&views)?])?;
        let close = compile(vec![env.backtest_close(&views)?])?;
        begin.run(1)?;
        step.run(decisions as u32)?;
        close.run(1)?;
        let read = |v: &View| ((v.addr - arena.addr()) as usize, v.members * v.rows * v.cols);
        let ((at, rows), (at_fills, fills)) = (read(&views.rows), read(&views.fills));
        let rows = arena.read(at, rows)?;
        let fills = arena.read(at_fills, fills)?;
        drop((begin, step, close));
        drop::<Arena>(arena);
        Ok(Written { views, rows, fills })
    }
}

/// Places buffers one after another.
#[derive(Default)]
struct Memory {
    bytes: usize,
}

impl Memory {
    /// A buffer of `members` matrices, its address counted from the arena's start.
    fn add(&mut self, name: &str, element: Element, members: usize, rows: usize, cols: usize) -> View {
        let addr = self.bytes as u64;
        self.bytes += (members * rows * cols * element.bytes()).next_multiple_of(ARENA_ALIGN);
        let member_stride = if members == 1 { 0 } else { rows * cols };
        View { name: name.into(), addr, element, rows, cols, ld: cols, members, member_stride }
    }
}

fn difference<T: bytemuck::Pod>(view: &View, name: &str, here: &[T], there: &[T]) -> Option<String> {
    let p = Place::first(view, 0, bytemuck::cast_slice(here), bytemuck::cast_slice(there))?;
    let Place { member, row, column, .. } = p;
    Some(format!("{name}, member {member}, decision {row}, column {column}: {}", p.byte()))
}
