//! The foxhunt command line.

fn main() {}
