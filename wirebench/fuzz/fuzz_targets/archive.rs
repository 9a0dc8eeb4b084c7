//! The artifact that a pull request's run leaves: a zip with one file, or refused.
#![no_main]

use libfuzzer_sys::fuzz_target;
use wirebench::github::archive::only_file;

fuzz_target!(|bytes: &[u8]| {
    let _ = only_file(bytes, "comparison.json");
});
