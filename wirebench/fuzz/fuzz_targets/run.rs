//! A stored run, of any age and from anywhere: shown as text, as Markdown and as a page, and judged.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| wirebench_fuzz::run(bytes));
