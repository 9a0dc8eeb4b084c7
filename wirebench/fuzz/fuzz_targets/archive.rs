//! The artifact that a pull request's run leaves: a zip with one file, or refused.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| wirebench_fuzz::archive(bytes));
