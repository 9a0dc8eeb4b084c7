//! Comparisons as people read them, held against committed files: another word or number is seen in review.

use std::fs;
use std::path::PathBuf;

use serde_json::Value;
use wirebench_present::report::comparison::{markdown, terminal};
use wirebench_record::comparison::Comparison;

use crate::bench::assert_fits;

fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/golden/comparison")
}

/// The hand-made comparisons: one for every verdict and shape.
fn all() -> Vec<String> {
    let mut names: Vec<String> = fs::read_dir(folder())
        .unwrap()
        .flatten()
        .filter_map(|entry| Some(entry.file_name().to_str()?.strip_suffix(".json")?.to_owned()))
        .collect();
    names.sort();
    assert_eq!(names.len(), 16, "{names:?}");
    names
}

#[test]
fn every_verdict_reads_as_it_was_reviewed() {
    let mut other = Vec::new();
    for name in all() {
        let text = fs::read_to_string(folder().join(format!("{name}.json"))).unwrap();
        let value: Value = serde_json::from_str(&text).unwrap();
        assert_fits("comparison.v2.schema.json", &value);
        let comparison: Comparison = serde_json::from_value(value).unwrap();
        for (ending, written) in [
            ("md", markdown::render(&comparison)),
            ("txt", terminal::render(&comparison, Some(120))),
        ] {
            let file = folder().join(format!("{name}.{ending}"));
            if std::env::var_os("WIREBENCH_WRITE_GOLDEN").is_some() {
                fs::write(&file, &written).unwrap();
            }
            if fs::read_to_string(&file).unwrap_or_default() != written {
                other.push(format!("{}:\n{written}", file.display()));
            }
        }
    }
    assert!(
        other.is_empty(),
        "not as committed; look at it, then write it anew with: WIREBENCH_WRITE_GOLDEN=1 cargo test -p wirebench golden\n{}",
        other.join("\n")
    );
}
