//! What a driver's filter writes: the common shape, or an error.
#![no_main]

use libfuzzer_sys::fuzz_target;
use wirebench::normalise::Shape;

fuzz_target!(|bytes: &[u8]| {
    let _ = serde_json::from_slice::<Shape>(bytes);
});
