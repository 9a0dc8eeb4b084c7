//! Allocations wasted: small pieces of memory, taken and given back.

use std::hint::black_box;

/// What one allocation asks for, bytes.
const SIZE_BYTES: usize = 64;

/// Allocates that many times, and frees each piece before the next is taken.
pub(super) fn allocate_and_free(times: u32) {
    for _ in 0..times {
        drop(black_box(Vec::<u8>::with_capacity(SIZE_BYTES)));
    }
}
