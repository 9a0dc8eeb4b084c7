//! Lines of a pull request's diff that made something cost more: a function's line, where the diff has it.

use std::collections::BTreeSet;

use serde::Deserialize;

use crate::api::{Api, ApiError};
use wirebench_record::comparison::{ComparedMetric, Comparison, FunctionChange, Verdict};

/// Notes on one pull request, at most.
pub const MOST: usize = 5;

/// An annotation on a line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Note {
    /// The file, as the API names it.
    pub path: String,
    /// The line, from 1, of the file as the pull request leaves it.
    pub line: u32,
    /// Plain text.
    pub message: String,
}

/// A file of a pull request, as the API lists it.
#[derive(Debug, Clone, Deserialize)]
pub struct Changed {
    /// Relative to the repository's root.
    pub filename: String,
    /// Its hunks; null where it is too long or no text.
    pub patch: Option<String>,
}

/// The files that a pull request changes.
///
/// # Errors
/// When the API does not say.
pub fn files(api: &Api, pull: u64) -> Result<Vec<Changed>, ApiError> {
    api.list(&format!("/pulls/{pull}/files"), None)
}

/// The files that notes could be about.
pub fn sources(comparison: &Comparison) -> BTreeSet<&str> {
    let sources = worse(comparison).filter_map(|(_, change)| change.source.as_ref());
    sources.map(|source| source.file.as_str()).collect()
}

/// The notes, the largest changes first: only on lines that the hunks of `files` hold; `message` makes the text out of the
/// series' id and the change.
pub fn notes(
    comparison: &Comparison,
    files: &[Changed],
    message: impl Fn(&str, &FunctionChange) -> String,
) -> Vec<Note> {
    let mut all: Vec<(&str, &FunctionChange)> = worse(comparison).collect();
    all.sort_by(|one, other| other.1.share_percent.total_cmp(&one.1.share_percent));
    let mut notes: Vec<Note> = Vec::new();
    for (series, change) in all {
        let Some((path, line)) = place(change, files) else {
            continue;
        };
        if notes.len() < MOST && !notes.iter().any(|note| (note.path.as_str(), note.line) == (path, line)) {
            let (path, message) = (path.to_owned(), message(series, change));
            notes.push(Note { path, line, message });
        }
    }
    notes
}

/// Functions that cost more, of counts that gate and regressed and are not meant to.
fn worse(comparison: &Comparison) -> impl Iterator<Item = (&str, &FunctionChange)> {
    comparison.series.iter().flat_map(|series| {
        let regressed = |change: &&FunctionChange| {
            let gates = |metric: &ComparedMetric| {
                let counts = metric.primary && metric.accepted.is_none() && metric.verdict == Verdict::Regressed;
                counts && metric.metric == change.metric
            };
            change.source.is_some() && change.candidate > change.baseline && series.metrics.iter().any(gates)
        };
        let worse = series.functions.iter().filter(regressed);
        worse.map(|change| (series.id.as_str(), change))
    })
}

fn place<'a>(change: &FunctionChange, files: &'a [Changed]) -> Option<(&'a str, u32)> {
    let source = change.source.as_ref()?;
    let file = files.iter().find(|file| file.filename == source.file)?;
    Some((&file.filename, nearest(file.patch.as_deref()?, source.line)?))
}

/// The added line nearest to a line, in the hunk that contains it; `None` if no hunk does, or the hunk adds no line.
fn nearest(patch: &str, wanted: u32) -> Option<u32> {
    // git writes the names of the files before the first hunk, the API does not.
    let is_head = |line: &&str| !line.starts_with("@@");
    let mut line = None;
    let (mut added, mut holds) = (Vec::new(), false);
    for text in patch.lines().skip_while(is_head).chain(["@@"]) {
        if text.starts_with("@@") {
            if holds {
                return added.into_iter().min_by_key(|added: &u32| added.abs_diff(wanted));
            }
            line = start(text);
            (added, holds) = (Vec::new(), false);
            continue;
        }
        let at = line?;
        match text.as_bytes().first() {
            Some(b'-' | b'\\') => continue,
            Some(b'+') => added.push(at),
            _ => {}
        }
        holds |= at == wanted;
        line = at.checked_add(1);
    }
    None
}

/// The first line of a hunk in the new file: `@@ -1,7 +1,9 @@`.
fn start(head: &str) -> Option<u32> {
    let new = head.split(' ').find_map(|part| part.strip_prefix('+'))?;
    new.split(',').next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::{any, proptest};

    use super::*;
    use wirebench_record::counts::Source;
    use wirebench_testing::golden;

    const PATCH: &str =
        "@@ -1,4 +1,5 @@ fn main() {\n a\n-b\n+B\n+C\n c\n\\ No newline at end of file\n@@ -40,2 +41,3 @@\n x\n+y\n z";

    #[test]
    fn a_note_is_on_an_added_line_of_the_hunk_that_holds_the_function() {
        let found = [1, 2, 3, 4, 41, 42, 43].map(|line| nearest(PATCH, line));
        assert_eq!(
            found,
            [Some(2), Some(2), Some(3), Some(3), Some(42), Some(42), Some(42)]
        );
        assert_eq!([5, 20, 40, 44, 0, u32::MAX].map(|line| nearest(PATCH, line)), [None; 6]);
        let of_git = format!("diff --git a/src/a.rs b/src/a.rs\n--- a/src/a.rs\n+++ b/src/a.rs\n{PATCH}");
        assert_eq!(nearest(&of_git, 43), Some(42));
        assert_eq!(nearest("@@ -1,2 +1,1 @@\n a\n-b", 1), None, "nothing is added there");
        assert_eq!(nearest("Binary files differ", 1), None);
    }

    fn at(file: &str, line: u32) -> Comparison {
        let mut comparison = golden("counted-regressed");
        comparison.series[0].functions[0].source = Some(Source {
            file: file.into(),
            line,
        });
        comparison
    }

    fn changed(filename: &str) -> Vec<Changed> {
        vec![Changed {
            filename: filename.into(),
            patch: Some(PATCH.into()),
        }]
    }

    #[test]
    fn only_lines_that_the_api_knows_and_metrics_that_gate_make_notes() {
        let name = |_: &str, change: &FunctionChange| change.function.clone();
        let found = notes(&at("src/a.rs", 3), &changed("src/a.rs"), name);
        assert_eq!(found.len(), 1);
        assert_eq!((found[0].path.as_str(), found[0].line), ("src/a.rs", 3));
        assert!(notes(&at("src/a.rs", 3), &changed("src/b.rs"), name).is_empty());
        assert!(notes(&at("src/a.rs", 30), &changed("src/a.rs"), name).is_empty());
        let mut informs = at("src/a.rs", 3);
        informs.series[0]
            .metrics
            .iter_mut()
            .for_each(|metric| metric.primary = false);
        let mut meant = at("src/a.rs", 3);
        meant.series[0]
            .metrics
            .iter_mut()
            .for_each(|metric| metric.accepted = Some("yes".into()));
        let mut less = at("src/a.rs", 3);
        less.series[0].functions[0].baseline = 1e6;
        for none in [informs, meant, less] {
            assert!(sources(&none).is_empty());
        }
    }

    #[test]
    fn there_are_at_most_five_notes_one_a_line() {
        let mut comparison = at("src/a.rs", 1);
        let one = comparison.series[0].functions[0].clone();
        let long: String = (1..=20).map(|line| format!("\n+{line}")).collect();
        let files = [Changed {
            filename: "src/a.rs".into(),
            patch: Some(format!("@@ -0,0 +1,20 @@{long}")),
        }];
        comparison.series[0].functions = (0..40)
            .map(|i| FunctionChange {
                share_percent: f64::from(i),
                source: Some(Source {
                    file: "src/a.rs".into(),
                    line: i / 2 + 1,
                }),
                ..one.clone()
            })
            .collect();
        let lines: Vec<u32> = notes(&comparison, &files, |_, _| String::new())
            .iter()
            .map(|note| note.line)
            .collect();
        assert_eq!(lines, [20, 19, 18, 17, 16]);
    }

    proptest! {
        #[test]
        fn no_patch_makes_it_panic(patch in "(@@|\\+|-|\\\\| |[0-9]|,|\n){0,60}", line in any::<u32>()) {
            nearest(&patch, line);
        }
    }
}
