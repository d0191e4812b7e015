//! Runs the market kernels on the CPU device, every build of them.
#![allow(
    dead_code,
    unreachable_pub,
    clippy::unwrap_used,
    reason = "shared by several test binaries, none of which uses all of it"
)]

pub mod random;

use foxhunt_core::DType;
use foxhunt_device::{ARENA_ALIGN, Arena, Command, Device, Isa, Program};
use foxhunt_kernels::{
    Element, TREE, View,
    market::{ENDED, MarketStep, Span, market_close, market_step},
};
use foxhunt_market::{Account, Bar, CashFlowBook, FillRow, LedgerRow, MAX_FILLS, Rules, reference};

pub const UNIT: reference::Unit = reference::Unit { volatility_e9: 1_000_000, gain_q32: 0 };

/// Every host build that this machine can run.
pub fn builds() -> Vec<(DType, Isa)> {
    let mut out = Vec::new();
    for dtype in DType::ALL {
        out.push((dtype, Isa::Base));
        #[cfg(target_arch = "x86_64")]
        if is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma") {
            out.extend([(dtype, Isa::V3), (dtype, Isa::Reversed)]);
        }
        #[cfg(not(target_arch = "x86_64"))]
        out.push((dtype, Isa::Reversed));
    }
    out
}

/// One member: its rules and its stretch of bars.
#[derive(Clone)]
pub struct Member {
    pub rules: Rules,
    pub bars: Vec<Bar>,
}

/// Buffers and programs of `members` times `envs` accounts.
pub struct Rig {
    arena: Arena,
    offsets: [usize; 8],
    step: Program,
    close: Program,
    pub members: usize,
    pub envs: usize,
    pub capacity: usize,
}

impl Rig {
    pub fn new((dtype, isa): (DType, Isa), members: &[Member], envs: usize, capacity: usize) -> Rig {
        let device = Device::cpu_with(isa);
        let (p, t) = (members.len(), members[0].bars.len());
        let shapes = [
            (Element::of::<Account>(), envs, 1),
            (Element::U32, envs, 1),
            (Element::of::<Rules>(), 1, 1),
            (Element::of::<Span>(), 1, 1),
            (Element::of::<Bar>(), t, 1),
            (Element::U8, envs, 3),
            (Element::of::<LedgerRow>(), capacity, envs),
            (Element::of::<FillRow>(), capacity, envs * MAX_FILLS),
        ];
        let mut bytes = 0;
        let offsets = shapes.map(|(element, rows, cols)| {
            let at = bytes;
            bytes += (element.bytes() * rows * cols * p).next_multiple_of(ARENA_ALIGN);
            at
        });
        let arena = device.allocate(bytes).unwrap();
        let mut views = Vec::new();
        for (i, (element, rows, cols)) in shapes.into_iter().enumerate() {
            views.push(View {
                name: format!("buffer {i}"),
                addr: arena.addr() + offsets[i] as u64,
                element,
                rows,
                cols,
                ld: cols,
                members: p,
                member_stride: rows * cols,
            });
        }
        let [accounts, cursor, rules, span, bars, actions, rows, fills] = &views[..] else { unreachable!() };
        let x = MarketStep { accounts, cursor, rules, span, bars, actions, rows, fills };
        let compile = |launch| Program::compile(&device, &TREE, vec![Command::Launch(launch)]).unwrap();
        let step = compile(market_step(dtype, p, &x).unwrap());
        let close = compile(market_close(dtype, p, &x).unwrap());
        let rig = Rig { arena, offsets, step, close, members: p, envs, capacity };
        rig.arena.write(offsets[2], &members.iter().map(|m| m.rules).collect::<Vec<_>>()).unwrap();
        let spans = vec![Span { begin: 0, end: t as u32 }; p];
        rig.arena.write(offsets[3], &spans).unwrap();
        let all: Vec<Bar> = members.iter().flat_map(|m| m.bars.iter().copied()).collect();
        rig.arena.write(offsets[4], &all).unwrap();
        rig
    }

    pub fn set_accounts(&self, accounts: &[Account]) {
        assert_eq!(accounts.len(), self.members * self.envs);
        self.arena.write(self.offsets[0], accounts).unwrap();
    }

    pub fn accounts(&self) -> Vec<Account> {
        self.arena.read(self.offsets[0], self.members * self.envs).unwrap()
    }

    pub fn set_cursors(&self, cursors: &[u32]) {
        self.arena.write(self.offsets[1], cursors).unwrap();
    }

    pub fn cursors(&self) -> Vec<u32> {
        self.arena.read(self.offsets[1], self.members * self.envs).unwrap()
    }

    pub fn set_actions(&self, actions: &[[u8; 3]]) {
        assert_eq!(actions.len(), self.members * self.envs);
        self.arena.write(self.offsets[5], actions).unwrap();
    }

    pub fn step(&self) {
        self.step.run(1).unwrap();
    }

    pub fn close(&self) {
        self.close.run(1).unwrap();
    }

    /// `[P, capacity, E]`.
    pub fn rows(&self) -> Vec<LedgerRow> {
        self.arena.read(self.offsets[6], self.members * self.capacity * self.envs).unwrap()
    }

    /// `[P, capacity, E, 5]`.
    pub fn fills(&self) -> Vec<FillRow> {
        self.arena.read(self.offsets[7], self.members * self.capacity * self.envs * MAX_FILLS).unwrap()
    }
}

/// What one decision did.
#[derive(Clone, Debug, PartialEq)]
pub struct Done {
    pub account: Account,
    pub row: LedgerRow,
    pub fills: Vec<FillRow>,
}

/// One decision through every build of the kernel; checks that all agree with one another, with the reference and with the
/// cash-flow book, and returns what they say.
pub fn decide(rules: &Rules, account: &Account, seen: &Bar, bar: &Bar, action: [u8; 3]) -> Done {
    let mut out: Option<Done> = None;
    for build in builds() {
        let member = Member { rules: *rules, bars: vec![*seen, *bar] };
        let rig = Rig::new(build, &[member], 1, 1);
        rig.set_accounts(&[*account]);
        rig.set_actions(&[action]);
        rig.step();
        let row = rig.rows()[0];
        let fills = rig.fills()[..usize::from(row.fills)].to_vec();
        let done = Done { account: rig.accounts()[0], row, fills };
        if let Some(first) = &out {
            assert_eq!(first, &done, "{build:?} differs");
        } else {
            check(rules, account, seen, bar, action, &done);
        }
        out = Some(done);
    }
    out.unwrap()
}

/// Holds a decision against the reference and the cash-flow book.
pub fn check(rules: &Rules, account: &Account, seen: &Bar, bar: &Bar, action: [u8; 3], done: &Done) {
    let said = reference::step(rules, account, seen, bar, action, UNIT);
    assert_eq!(done.fills, said.fills);
    let row = LedgerRow { bar: 0, flags: done.row.flags & !foxhunt_market::flag::TRUNCATED, ..done.row };
    assert_eq!(row, said.row);
    assert_eq!(done.account, said.account);
    CashFlowBook::open(account, rules.tv).enter(&done.row, &done.fills, reference::mark(bar)).unwrap();
}

pub fn ended(cursor: u32) -> bool {
    cursor & ENDED != 0
}

/// xorshift64*: numbers for tests.
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

    /// In `low..=high`, every magnitude alike.
    pub fn magnitude(&mut self, low: i64, high: i64) -> i64 {
        let (a, b) = ((low as f64).ln(), (high as f64).ln());
        let x = a + (b - a) * (self.next() >> 11) as f64 / (1_u64 << 53) as f64;
        (x.exp() as i64).clamp(low, high)
    }

    pub fn chance(&mut self, one_in: u64) -> bool {
        self.next() >> 33 < (1 << 31) / one_in
    }
}
