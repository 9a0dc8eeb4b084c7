//! The history that github-action-benchmark keeps, as it is imported.
#![no_main]

use libfuzzer_sys::fuzz_target;
use wirebench::history::import::parse;

fuzz_target!(|text: &str| {
    if let Ok(imported) = parse(text) {
        serde_json::to_string(&imported).expect("what was imported can be stored");
    }
});
