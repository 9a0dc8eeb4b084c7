//! Recorded comparisons that unit tests of several rooms read.

use wirebench_record::comparison::Comparison;

/// The comparison `wirebench/cli/tests/golden/comparison/NAME.json`.
///
/// # Panics
/// When there is no such file, or it is not a comparison.
#[must_use]
pub fn golden(name: &str) -> Comparison {
    let file = format!(
        "{}/../cli/tests/golden/comparison/{name}.json",
        env!("CARGO_MANIFEST_DIR")
    );
    let text = std::fs::read(&file).unwrap_or_else(|error| panic!("{file}: {error}"));
    serde_json::from_slice(&text).unwrap_or_else(|error| panic!("{file}: {error}"))
}
