//! Small markets, and environments on every build of the kernels.
#![allow(dead_code, unreachable_pub, clippy::unwrap_used, reason = "shared by several test binaries")]

use foxhunt_core::{Bf16, DType, rng::member_seed};
use foxhunt_device::{Command, Device, Isa, Program};
use foxhunt_env::{Buffer, Environments, MemberSpec, Shape, Tables, exploration};
use foxhunt_kernels::TREE;
use foxhunt_market::{BarColumns, BarTable, RuleBook, Rules, SESSION_END};

/// Columns of the test feature tables.
pub const FEATURES: usize = 11;

/// Every host build that this machine can run, of one storage type.
pub fn builds(dtype: DType) -> Vec<(DType, Isa)> {
    let mut out = vec![(dtype, Isa::Base)];
    #[cfg(target_arch = "x86_64")]
    if is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma") {
        out.extend([(dtype, Isa::V3), (dtype, Isa::Reversed)]);
    }
    #[cfg(not(target_arch = "x86_64"))]
    out.push((dtype, Isa::Reversed));
    out
}

/// xorshift64*.
pub struct Dice(u64);

impl Dice {
    pub fn new(seed: u64) -> Self {
        Dice(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    pub fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }

    /// In `low..=high`.
    pub fn within(&mut self, low: i64, high: i64) -> i64 {
        low + ((u128::from(self.next()) * (high - low + 1) as u128) >> 64) as i64
    }

    pub fn action(&mut self) -> [u8; 3] {
        [self.within(0, 8) as u8, self.within(0, 2) as u8, self.within(0, 2) as u8]
    }
}

/// A random walk of `rows` hourly bars around 10,000, with a weekend now and then.
pub fn random_market(seed: u64, rows: usize) -> BarTable {
    let mut dice = Dice::new(seed);
    let mut price = 10_000_i64;
    let mut sides: [Vec<i32>; 4] = Default::default();
    let mut gap = Vec::new();
    for row in 0..rows {
        let open = (price + dice.within(-20, 20)).max(100);
        let close = (open + dice.within(-80, 80)).max(100);
        let high = open.max(close) + dice.within(0, 60);
        let low = (open.min(close) - dice.within(0, 60)).max(1);
        for (side, p) in sides.iter_mut().zip([open, high, low, close]) {
            side.push(p as i32);
        }
        gap.push(if row % 50 == 49 { 172_800 } else { 0 });
        price = close;
    }
    let constant = |x: i32| vec![x; rows];
    let volume: Vec<i64> = (0..rows).map(|_| dice.within(0, 20_000)).collect();
    let volatility: Vec<u32> = (0..rows).map(|_| dice.within(2_000_000, 9_000_000) as u32).collect();
    // Sessions of 24 bars, whose last closes what is held.
    let end = |row: u32| if row % 24 == 23 { SESSION_END } else { 0 };
    let bar_seconds: Vec<u32> = (0..rows as u32).map(|row| 3_600 | end(row)).collect();
    let session: Vec<u32> = (0..rows as u32).map(|r| 86_400 - 3_600 * (r % 24)).collect();
    BarTable::from_columns(&BarColumns {
        bid: [&sides[0], &sides[1], &sides[2], &sides[3]],
        ask: None,
        volume: &volume,
        mean_volume: &vec![10_000; rows],
        sigma: &constant(40),
        atr: &constant(100),
        gap_seconds: &gap,
        bar_seconds: &bar_seconds,
        slow_volatility_e9: &volatility,
        session_seconds: &session,
    })
    .unwrap()
}

/// Features that name their row and column: `row + column / 16`, exact in BF16 for small rows.
pub fn naming_features(rows: usize) -> Vec<f32> {
    naming(rows, FEATURES)
}

/// The same of any number of columns.
pub fn naming(rows: usize, columns: usize) -> Vec<f32> {
    (0..rows * columns).map(|i| (i / columns % 16) as f32 + (i % columns) as f32 / 16.0).collect()
}

pub fn rules() -> Rules {
    RuleBook { max_leverage_e4: 30_000, stop_atr_e4: 20_000, ruin_e4: 9_700, ..RuleBook::default() }
        .row()
        .unwrap()
}

pub const SHAPE: Shape = Shape { envs: 33, lookback: 3, state: 64, ring_rows: 40, batch: 65 };

/// One table of `rows` bars, and members with windows of it.
pub fn world(rows: usize, ids: &[u64]) -> (Tables, Vec<MemberSpec>) {
    world_of(rows, ids, FEATURES)
}

/// The same of any number of features.
pub fn world_of(rows: usize, ids: &[u64], columns: usize) -> (Tables, Vec<MemberSpec>) {
    let mut tables = Tables::new(columns);
    // A table that nobody trades comes first: bases must not be zero.
    let other = tables.add_bars(&random_market(77, 10));
    tables.add_features(other, &naming(10, columns)).unwrap();
    let table = tables.add_bars(&random_market(5, rows));
    let features = tables.add_features(table, &naming(rows, columns)).unwrap();
    let members = ids
        .iter()
        .map(|&id| MemberSpec {
            seed: member_seed(42, id),
            features,
            window: (id as usize % 3) * 5..rows - (id as usize % 2) * 7,
            volatility_floor_e9: 3_000_000,
            rules: rules(),
            episode_bars: 20,
            discount: 0.99,
            n_step: 3,
            exploration: exploration(1.0, 0.01, 100),
        })
        .collect();
    (tables, members)
}

/// Environments on one build, with one program per command.
pub struct Run {
    pub env: Environments,
    pub dtype: DType,
    device: Device,
    programs: [Program; 5],
}

impl Run {
    pub fn new(build: (DType, Isa), shape: Shape, tables: &Tables, members: &[MemberSpec]) -> Run {
        Self::spread(build, shape, tables, members, 1)
    }

    /// Members whose environments are spread over so many markets.
    pub fn spread(
        (dtype, isa): (DType, Isa),
        shape: Shape,
        tables: &Tables,
        specs: &[MemberSpec],
        markets: usize,
    ) -> Run {
        let device = Device::cpu_with(isa);
        let env = Environments::spread(&device, dtype, shape, tables, specs, markets).unwrap();
        let compile = |commands: Vec<Command>| Program::compile(&device, &TREE, commands).unwrap();
        let programs = [
            compile(vec![env.reset().unwrap()]),
            compile(vec![env.observe().unwrap()]),
            compile(vec![env.step().unwrap()]),
            compile(env.gather_uniform().unwrap().to_vec()),
            compile(vec![env.gather().unwrap()]),
        ];
        Run { env, dtype, device, programs }
    }

    pub fn reset(&self) {
        self.programs[0].run(1).unwrap();
    }

    pub fn observe(&self) -> Vec<f32> {
        self.programs[1].run(1).unwrap();
        self.reals(Buffer::Observation)
    }

    pub fn step(&self, actions: &[[u8; 3]]) {
        self.env.write(Buffer::Actions, actions).unwrap();
        self.programs[2].run(1).unwrap();
    }

    /// The rows that were drawn, and gathered.
    pub fn gather_uniform(&self) -> Vec<u32> {
        self.programs[3].run(1).unwrap();
        self.env.read(Buffer::Indices).unwrap()
    }

    pub fn gather(&self, indices: &[u32]) {
        self.env.write(Buffer::Indices, indices).unwrap();
        self.programs[4].run(1).unwrap();
    }

    pub fn run(&self, command: Command) {
        Program::compile(&self.device, &TREE, vec![command]).unwrap().run(1).unwrap();
    }

    /// A real buffer, widened exactly.
    pub fn reals(&self, buffer: Buffer) -> Vec<f32> {
        match self.dtype {
            DType::F32 => self.env.read(buffer).unwrap(),
            DType::Bf16 => {
                let bits: Vec<u16> = self.env.read(buffer).unwrap();
                bits.into_iter().map(|b| Bf16::from_bits(b).to_f32()).collect()
            }
        }
    }

    /// s and s' of every member's batch, members one after another.
    pub fn states(&self) -> [Vec<f32>; 2] {
        let all = self.reals(Buffer::States);
        let half = all.len() / self.env.members() / 2;
        [0, 1].map(|which| all.chunks(half).skip(which).step_by(2).flatten().copied().collect())
    }
}
