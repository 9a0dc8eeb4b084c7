//! The lines of a file that a change added or altered, from git diff.

use std::collections::BTreeMap;
use std::ops::Range;
use std::path::{Path, PathBuf};

use wirebench_engine::git;
use wirebench_record::comparison::Comparison;
use wirebench_record::counts::Source;

/// The lines that differ between the two commits of a comparison; each file is diffed when it is first needed.
#[derive(Debug)]
pub(super) struct Changed<'a> {
    top: PathBuf,
    between: [&'a str; 2],
    known: BTreeMap<String, Vec<Range<u32>>>,
}

impl<'a> Changed<'a> {
    /// `None` if a side has no commit, or the project is in no repository.
    pub(super) fn between(comparison: &'a Comparison, root: &Path) -> Option<Self> {
        let commit = |side: &'a wirebench_record::comparison::Side| {
            let commit = side.revision.commit.as_deref()?;
            commit.bytes().all(|byte| byte.is_ascii_hexdigit()).then_some(commit)
        };
        Some(Self {
            top: git::top(root)?,
            between: [commit(&comparison.baseline)?, commit(&comparison.candidate)?],
            known: BTreeMap::new(),
        })
    }

    /// True if the change added or altered this line.
    pub(super) fn holds(&mut self, source: &Source) -> bool {
        let Self { top, between, known } = self;
        let lines = known.entry(source.file.clone()).or_insert_with(|| {
            let [baseline, candidate] = *between;
            let patch = git::patch(top, baseline, candidate, &source.file);
            patch.lines().filter_map(added).collect()
        });
        lines.iter().any(|range| range.contains(&source.line))
    }
}

/// The line range on the new side of a hunk header, such as `@@ -1,2 +3,4 @@`; `None` if the hunk only removes lines.
fn added(line: &str) -> Option<Range<u32>> {
    let (_, rest) = line.strip_prefix("@@ -")?.split_once(" +")?;
    let (place, _) = rest.split_once(" @@")?;
    let (first, count) = place.split_once(',').unwrap_or((place, "1"));
    let (first, count): (u32, u32) = (first.parse().ok()?, count.parse().ok()?);
    (count > 0).then(|| first..first.saturating_add(count))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hunks_say_which_lines_are_new() {
        assert_eq!(added("@@ -1,2 +3,4 @@ fn x() {"), Some(3..7));
        assert_eq!(added("@@ -7 +9 @@"), Some(9..10));
        assert_eq!(added("@@ -7,2 +6,0 @@"), None);
        for other in [
            "+@@ -7 +9 @@",
            "+++ b/x",
            "@@ x",
            "@@ -1 +a @@",
            "@@ -1,1 +4294967295,9 @",
        ] {
            assert_eq!(added(other), None, "{other}");
        }
    }
}
