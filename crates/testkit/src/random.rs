use foxhunt_core::rng::philox;

/// A stream of numbers for test inputs: a function of its seed, printed with every failure.
#[derive(Clone, Debug)]
pub struct Random {
    seed: u64,
    next: u64,
}

impl Random {
    /// The stream of `seed`.
    pub fn new(seed: u64) -> Self {
        Random { seed, next: 0 }
    }

    /// 64 random bits.
    pub fn bits(&mut self) -> u64 {
        let counter = [self.next as u32, (self.next >> 32) as u32, 0x7e57, 0];
        self.next += 1;
        let [a, b, ..] = philox(counter, [self.seed as u32, (self.seed >> 32) as u32]);
        u64::from(a) << 32 | u64::from(b)
    }

    /// Uniform in [0, 1).
    pub fn unit(&mut self) -> f64 {
        (self.bits() >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// Below `n`.
    pub fn below(&mut self, n: usize) -> usize {
        (self.unit() * n as f64) as usize
    }

    /// Standard normal (Box and Muller 1958).
    pub fn normal(&mut self) -> f64 {
        let (u, v) = (1.0 - self.unit(), self.unit());
        (-2.0 * u.ln()).sqrt() * (std::f64::consts::TAU * v).cos()
    }

    /// A value that breaks careless arithmetic, now and then: tiny, subnormal, huge, infinite, NaN, or any bits.
    pub fn wild(&mut self) -> f32 {
        let x = self.normal() as f32;
        match self.below(24) {
            0 => x * 1e-19,
            1 => x * 1e-39,
            2 => x * 1e18,
            3 => x * 2e38,
            4 => f32::from_bits(self.bits() as u32),
            5 => [f32::NAN, f32::INFINITY, f32::NEG_INFINITY, -0.0][self.below(4)],
            _ => x,
        }
    }
}
