//! System calls wasted: the cheapest that always enters the kernel.

use std::hint::black_box;

use rustix::process::getppid;

/// Asks the kernel that many times for the parent process.
pub(super) fn ask_for_parent(times: u32) {
    for _ in 0..times {
        black_box(getppid());
    }
}
