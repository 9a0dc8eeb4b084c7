//! What the current project adds to a site: the commits and releases of its own history.

use std::collections::HashMap;
use std::path::Path;

use wirebench_engine::git;
use wirebench_history::follow::{FollowedHistory, RUNS_SOURCE};
use wirebench_record::history::{CommitInfo, Released};

/// True if the history may belong to the current project: it has runs, and they were measured.
pub(super) fn own(followed: &FollowedHistory) -> bool {
    followed.trend.runs > 0 && followed.facts.synthetic.is_none()
}

/// The history's releases, and the project's version tags.
pub(super) fn releases(followed: &FollowedHistory, project: Option<&Path>) -> Vec<Released> {
    let mut found = followed.facts.releases.clone();
    if let Some(project) = project.filter(|_| own(followed)) {
        found.extend(
            git::versions(project)
                .into_iter()
                .map(|(name, commit)| Released { commit, name }),
        );
    }
    found
}

/// Adds message and author to the commits of the history's own runs: from the history, or else from the repository.
pub(super) fn add_commit_infos(followed: &mut FollowedHistory, project: Option<&Path>) {
    let Some(line) = followed.timelines.first().filter(|line| line.source == RUNS_SOURCE) else {
        return;
    };
    let commits: Vec<&str> = line.pushes.iter().map(|push| push.commit.as_str()).collect();
    let asked = project.filter(|_| own(followed) && followed.facts.commits.is_empty());
    let told = asked.map_or_else(
        || followed.facts.commits.clone(),
        |project| git::commit_messages(project, &commits),
    );
    let told: HashMap<String, CommitInfo> = told.into_iter().map(|one| (one.commit.clone(), one)).collect();
    let groups = followed
        .trend
        .groups
        .iter_mut()
        .filter(|group| group.source == RUNS_SOURCE);
    let of_groups = groups.flat_map(|group| [&mut group.last_before, &mut group.first_after]);
    let pushes = followed.timelines.iter_mut().take(1).flat_map(|line| &mut line.pushes);
    for push in pushes.chain(of_groups) {
        if let Some(one) = told.get(&push.commit) {
            push.message = Some(one.message.clone());
            push.author = Some(one.author.clone());
        }
    }
}

/// Commits of the project after the newest run's.
pub(super) fn commits_not_measured(followed: &FollowedHistory, project: Option<&Path>) -> Option<usize> {
    let newest = followed.timelines.first()?.runs.last()?;
    git::commits_since(project.filter(|_| own(followed))?, &newest.commit)
}
