//! argv
fn main() {}
