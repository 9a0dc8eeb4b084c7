//! Instructions wasted: a loop of a known number of them.

use std::hint::black_box;

/// Instructions of one round of the loop, as the compiler makes it for x86-64: count down, store, load, compare, jump.
/// Without optimisation it calls [`black_box`], and checks that `rounds` does not fall below zero.
const INSTRUCTIONS_A_ROUND: u64 = if cfg!(debug_assertions) { 16 } else { 5 };

/// Executes `instructions` instructions, rounded down to whole rounds, and about five more around the loop.
///
/// That holds on x86-64; elsewhere a round is a few instructions of another number. A loop that computes
/// something would be unrolled, and then a round has no fixed number of instructions: this one only counts.
pub(super) fn count_down(instructions: u64) {
    let mut rounds = instructions / INSTRUCTIONS_A_ROUND;
    while rounds > 0 {
        rounds = black_box(rounds - 1);
    }
}
