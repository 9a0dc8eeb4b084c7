//! The files of a project: the first byte says which one the rest is; a good one goes on to the series it makes.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| wirebench_fuzz::declarations(bytes));
