//! The commits that a backfill measures.

use std::collections::HashSet;
use std::path::Path;

use crate::outcome::UsageError;
use crate::separate_run::resolve;
use wirebench_engine::git;

/// The commits of a range OLD..NEW along first parents, oldest first: only those tagged as versions, or every `step`th.
///
/// # Errors
/// When the range is malformed, or has no such commit.
pub(super) fn in_range(root: &Path, range: &str, tags: bool, step: u32) -> anyhow::Result<Vec<String>> {
    let Some((old, new)) = range
        .split_once("..")
        .filter(|(old, new)| !old.is_empty() && !new.is_empty())
    else {
        return Err(UsageError(format!("{range:?}: expected OLD..NEW, two revisions")).into());
    };
    let commits = git::first_parents(root, &resolve(root, old)?, &resolve(root, new)?)?;
    if commits.is_empty() {
        return Err(UsageError(format!("{new} does not come after {old} along first parents")).into());
    }
    if !tags {
        return Ok(every(&commits, usize::try_from(step).unwrap_or(usize::MAX)));
    }
    let tagged: HashSet<String> = git::versions(root).into_iter().map(|(_, commit)| commit).collect();
    let chosen: Vec<String> = commits.into_iter().filter(|commit| tagged.contains(commit)).collect();
    if chosen.is_empty() {
        let message = format!("no commit of {range} has a tag that looks like a version");
        return Err(UsageError(message).into());
    }
    Ok(chosen)
}

/// Every `step`th commit, counted back from the last one.
fn every(commits: &[String], step: usize) -> Vec<String> {
    let mut chosen: Vec<String> = commits.iter().rev().step_by(step).cloned().collect();
    chosen.reverse();
    chosen
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_nth_is_counted_back_from_the_newest() {
        let commits: Vec<String> = (1..=7).map(|number| number.to_string()).collect();
        assert_eq!(every(&commits, 3), ["1", "4", "7"]);
        assert_eq!(every(&commits, 5), ["2", "7"]);
        assert_eq!(every(&commits, 1), commits);
        assert_eq!(every(&commits, 100), ["7"]);
    }
}
