//! What the current project adds to a site: its public comparisons, and the commits and releases of its own history.

use std::collections::HashMap;
use std::path::Path;

use wirebench_declare::Project;
use wirebench_declare::claims::PublicComparison;
use wirebench_engine::git;
use wirebench_history::follow::{Followed, RUNS};
use wirebench_record::history::{Released, Told};

/// The project's public comparisons; none without a project that has some.
pub(super) fn claims(project: Option<&Path>) -> anyhow::Result<Vec<PublicComparison>> {
    match project.filter(|project| project.join("claims").is_dir()) {
        Some(project) => Ok(Project::read(project)?.claims),
        None => Ok(Vec::new()),
    }
}

/// True if the history may belong to the current project: it has runs, and they were measured.
pub(super) fn own(followed: &Followed) -> bool {
    followed.trend.runs > 0 && followed.facts.synthetic.is_none()
}

/// The history's releases, and the project's version tags.
pub(super) fn releases(followed: &Followed, project: Option<&Path>) -> Vec<Released> {
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

/// Puts message and author to the commits of the history's own runs: what the history says of them, else the repository.
pub(super) fn tell(followed: &mut Followed, project: Option<&Path>) {
    let Some(line) = followed.lines.first().filter(|line| line.source == RUNS) else {
        return;
    };
    let commits: Vec<&str> = line.pushes.iter().map(|push| push.commit.as_str()).collect();
    let asked = project.filter(|_| own(followed) && followed.facts.commits.is_empty());
    let told = asked.map_or_else(
        || followed.facts.commits.clone(),
        |project| git::commit_messages(project, &commits),
    );
    let told: HashMap<String, Told> = told.into_iter().map(|one| (one.commit.clone(), one)).collect();
    let groups = followed.trend.groups.iter_mut().filter(|group| group.source == RUNS);
    let of_groups = groups.flat_map(|group| [&mut group.last_before, &mut group.first_after]);
    let pushes = followed.lines.iter_mut().take(1).flat_map(|line| &mut line.pushes);
    for push in pushes.chain(of_groups) {
        if let Some(one) = told.get(&push.commit) {
            push.message = Some(one.message.clone());
            push.author = Some(one.author.clone());
        }
    }
}

/// Commits of the project after the newest run's.
pub(super) fn untested(followed: &Followed, project: Option<&Path>) -> Option<usize> {
    let newest = followed.lines.first()?.runs.last()?;
    git::commits_since(project.filter(|_| own(followed))?, &newest.commit)
}
