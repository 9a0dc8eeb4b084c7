//! What a driver's filter writes: the common shape, or an error.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| wirebench_fuzz::shape(bytes));
