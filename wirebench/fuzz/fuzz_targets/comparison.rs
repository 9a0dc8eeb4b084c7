//! A comparison out of an artifact: held to be possible and shown, or refused.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| wirebench_fuzz::comparison(bytes));
