//! Lines of a pull request's diff that made something cost more: a function's line, where the diff has it.

use std::ops::Range;

use serde::Deserialize;

use crate::api::{Api, ApiError};
use wirebench_record::counts::Source;

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

/// The notes on `causes`, places of functions and what to say there, in order: only on lines that the hunks of `files` add.
pub fn notes<'a>(causes: impl IntoIterator<Item = (&'a Source, String)>, files: &[Changed]) -> Vec<Note> {
    let mut notes: Vec<Note> = Vec::new();
    for (source, message) in causes {
        let Some(line) = line(source, files) else {
            continue;
        };
        if notes.len() < MOST && !notes.iter().any(|note| (&note.path, note.line) == (&source.file, line)) {
            let path = source.file.clone();
            notes.push(Note { path, line, message });
        }
    }
    notes
}

/// The line of a function that a pull request adds: its first such, where it is known where the function ends, or else the
/// nearest to the known line.
fn line(source: &Source, files: &[Changed]) -> Option<u32> {
    let file = files.iter().find(|file| file.filename == source.file)?;
    let hunks = hunks(file.patch.as_deref()?);
    if let Some(last) = source.last_line {
        let mut added = hunks.iter().flat_map(|hunk| &hunk.added).copied();
        return added.find(|added| (source.line..=last).contains(added));
    }
    let hunk = hunks.iter().find(|hunk| hunk.lines.contains(&source.line))?;
    let added = hunk.added.iter().copied();
    added.min_by_key(|added| added.abs_diff(source.line))
}

/// A hunk, in lines of the new file.
struct Hunk {
    lines: Range<u32>,
    added: Vec<u32>,
}

/// The hunks of a patch, in order.
fn hunks(patch: &str) -> Vec<Hunk> {
    let mut hunks: Vec<Hunk> = Vec::new();
    // git writes the names of the files before the first hunk, the API does not.
    for text in patch.lines().skip_while(|line| !line.starts_with("@@")) {
        if let Some(head) = text.strip_prefix("@@") {
            let Some(start) = start(head) else { break };
            hunks.push(Hunk {
                lines: start..start,
                added: Vec::new(),
            });
            continue;
        }
        let Some(hunk) = hunks.last_mut() else { break };
        match text.as_bytes().first() {
            Some(b'-' | b'\\') => continue,
            Some(b'+') => hunk.added.push(hunk.lines.end),
            _ => {}
        }
        hunk.lines.end = hunk.lines.end.saturating_add(1);
    }
    hunks
}

/// The first line of a hunk in the new file: ` -1,7 +1,9 @@`.
fn start(head: &str) -> Option<u32> {
    let new = head.split(' ').find_map(|part| part.strip_prefix('+'))?;
    new.split(',').next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::{any, proptest};

    use super::*;

    const PATCH: &str =
        "@@ -1,4 +1,5 @@ fn main() {\n a\n-b\n+B\n+C\n c\n\\ No newline at end of file\n@@ -40,2 +41,3 @@\n x\n+y\n z";

    /// Where the notes on functions stand that begin at these lines of `src/a.rs` and end at those, if that is known.
    fn noted(patch: &str, functions: &[(u32, Option<u32>)]) -> Vec<u32> {
        let file = |filename: &str| Changed {
            filename: filename.into(),
            patch: Some(patch.into()),
        };
        let sources: Vec<Source> = functions
            .iter()
            .map(|(line, last_line)| Source {
                file: "src/a.rs".into(),
                line: *line,
                last_line: *last_line,
            })
            .collect();
        let causes = || sources.iter().map(|source| (source, "dearer".to_owned()));
        assert!(notes(causes(), &[file("src/b.rs")]).is_empty());
        let notes = notes(causes(), &[file("src/b.rs"), file("src/a.rs")]);
        let is_there = |note: &Note| note.path == "src/a.rs" && note.message == "dearer";
        assert!(notes.iter().all(is_there), "{notes:?}");
        notes.iter().map(|note| note.line).collect()
    }

    #[test]
    fn a_note_is_on_an_added_line_of_the_hunk_that_holds_the_function() {
        let nearest = |patch: &str, line| noted(patch, &[(line, None)]).first().copied();
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

    #[test]
    fn where_a_function_ends_its_first_added_line_is_noted_however_far_down() {
        let within = |from, to| noted(PATCH, &[(from, Some(to))]);
        assert_eq!(within(5, 60), [42]);
        assert_eq!(within(1, 60), [2]);
        assert_eq!(within(3, 3), [3]);
        for (from, to) in [(4, 41), (43, 60), (60, 4)] {
            assert!(within(from, to).is_empty(), "{from} to {to}: a neighbour's line");
        }
    }

    #[test]
    fn there_are_at_most_five_notes_one_a_line() {
        let long: String = (1..=20).map(|line| format!("\n+{line}")).collect();
        let functions: Vec<(u32, Option<u32>)> = (0..40).rev().map(|i| (i / 2 + 1, None)).collect();
        let lines = noted(&format!("@@ -0,0 +1,20 @@{long}"), &functions);
        assert_eq!(lines, [20, 19, 18, 17, 16]);
    }

    proptest! {
        #[test]
        fn no_patch_makes_it_panic(patch in "(@@|\\+|-|\\\\| |[0-9]|,|\n){0,60}", line in any::<u32>()) {
            noted(&patch, &[(line, None), (line / 2, Some(line))]);
        }
    }
}
