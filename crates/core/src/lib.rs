//! Numbers that every part shares: BF16, dtypes, the counter-based random generator.
