//! Comments as people read them, held against committed files.

use std::fs;
use std::path::PathBuf;

use serde_json::Value;
use wirebench_github::admit::{ComparedCommits, admit};
use wirebench_github::strict;
use wirebench_present::report::comparison::comment::{About, render};

use crate::github::scene::{BASE, HEAD, comparison};

#[test]
fn every_comment_reads_as_it_was_reviewed() {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/golden/comment");
    let about = About {
        marker: "<!-- wirebench: .github/workflows/bench.yml -->",
        head: HEAD,
        run: 500,
        page: "https://github.com/octo/weather/actions/runs/500",
    };
    let mut other = Vec::new();
    for name in ["regressed", "inconclusive", "unchanged", "counted-regressed"] {
        let value: Value = comparison(name);
        let admitted = admit(value, &ComparedCommits { head: HEAD, base: BASE }).unwrap();
        let (file, written) = (folder.join(format!("{name}.md")), render(&admitted, &about));
        if std::env::var_os("WIREBENCH_WRITE_GOLDEN").is_some() {
            fs::create_dir_all(&folder).unwrap();
            fs::write(&file, &written).unwrap();
        }
        if fs::read_to_string(&file).unwrap_or_default() != written {
            other.push(format!("{}:\n{written}", file.display()));
        }
    }
    assert!(
        other.is_empty(),
        "not as committed; look at it, then write it anew with: WIREBENCH_WRITE_GOLDEN=1 cargo test -p wirebench golden\n{}",
        other.join("\n")
    );
}

#[test]
fn the_comment_that_newcomers_are_shown_is_a_real_one() {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    let golden = fs::read_to_string(root.join("tests/golden/comment/regressed.md")).unwrap();
    let shown = golden.lines().skip(1).take_while(|line| !line.starts_with("<details>"));
    let quoted: Vec<String> = shown.map(|line| format!("> {line}").trim_end().to_owned()).collect();
    let quoted = quoted.join("\n");
    let page = fs::read_to_string(root.join("../../docs/ADOPTING.md")).unwrap();
    assert!(
        page.contains(quoted.trim_end_matches(['>', '\n'])),
        "docs/ADOPTING.md should show:\n{quoted}"
    );
}

/// Holds what the first stage wrote against what the second one admits: it must not refuse its own.
pub(crate) fn assert_admitted(comparison: &Value) {
    // A pull request's baseline is a commit; that of a simulated run is none.
    let mut comparison = comparison.clone();
    if comparison["baseline"]["revision"]["commit"].is_null() {
        comparison["baseline"]["revision"]["commit"] = BASE.into();
    }
    let given = strict::parse(comparison.to_string().as_bytes()).unwrap();
    let admitted = admit(given, &ComparedCommits { head: HEAD, base: BASE });
    let admitted = admitted.unwrap_or_else(|why| panic!("{why}: {comparison:#}"));
    assert_eq!(serde_json::to_value(admitted.verdict).unwrap(), comparison["verdict"]);
}
