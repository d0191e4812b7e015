//! What people who work on foxhunt do often.

fn main() {}
