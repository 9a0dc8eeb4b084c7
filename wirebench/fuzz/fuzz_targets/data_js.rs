//! The history that github-action-benchmark keeps, as it is imported.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| wirebench_fuzz::data_js(text));
