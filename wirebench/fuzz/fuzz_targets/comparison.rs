//! A comparison out of an artifact: held to be possible and shown, or refused.
#![no_main]

use libfuzzer_sys::fuzz_target;
use wirebench::github::admit::{Of, admit};
use wirebench::github::strict;
use wirebench::record::comparison::Comparison;
use wirebench::report::comparison::{markdown, terminal};

/// The commits of the comparison that the corpus begins with.
const OF: Of = Of {
    head: "1111111111111111111111111111111111111111",
    base: "0000000000000000000000000000000000000000",
};

fuzz_target!(|bytes: &[u8]| {
    if let Ok(value) = strict::parse(bytes)
        && let Ok(comparison) = admit(value, &OF)
    {
        let _ = (markdown::render(&comparison), terminal::render(&comparison, Some(80)));
    }
    // One from this machine is shown as it is.
    if let Ok(comparison) = serde_json::from_slice::<Comparison>(bytes) {
        let _ = (markdown::render(&comparison), terminal::render(&comparison, None));
    }
});
