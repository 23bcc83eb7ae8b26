//! A program that does nothing, to measure what any process costs.

fn main() {}
