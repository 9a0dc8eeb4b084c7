//! The table that `strace -c` writes of a server.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| wirebench_fuzz::strace(bytes));
