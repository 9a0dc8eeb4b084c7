//! Traces → series with their metrics, each with its page, its files' names and how it stands; and the pushes of a source.

use std::collections::HashSet;

use jiff::Timestamp;

use crate::site::names::{Pages, word};
use crate::site::shown::name;
use wirebench_history::commits_from;
use wirebench_history::follow::{FollowedHistory, RUNS_SOURCE, SourceTimeline, TraceValues};
use wirebench_history::standing::{Standing, TraceStanding, standing_since};
use wirebench_record::history::Released;
use wirebench_record::metric::Metric;
use wirebench_record::run::short_commit;
use wirebench_record::site::{ColumnHead, PUSHES, PUSHES_A_FILE, Pushes, Release, Timeline};
use wirebench_record::trend::{Basis, Group, Push, Trace};

/// A source with all its series.
#[derive(Debug)]
pub(super) struct Source<'a> {
    pub(super) line: &'a SourceTimeline,
    pub(super) timeline: Timeline,
    /// The push that the newest one is compared with: a release, or one with a name such as `30 pushes ago`.
    pub(super) mark: Release,
    /// How many regressions are open, as the history counts them.
    pub(super) open: usize,
    /// How many of them began before the mark.
    pub(super) open_before_mark: usize,
    pub(super) series: Vec<Series<'a>>,
}

impl<'a> Source<'a> {
    /// Every metric of every series.
    pub(super) fn metrics(&self) -> impl Iterator<Item = &Drawn<'a>> {
        self.series.iter().flat_map(|series| &series.metrics)
    }

    /// How many metrics have this standing.
    pub(super) fn count(&self, standing: Standing) -> usize {
        self.metrics().filter(|drawn| drawn.stands.standing == standing).count()
    }

    /// How many metrics are compared: all but those with too few values and those that are no longer measured.
    pub(super) fn compared(&self) -> usize {
        self.metrics().count() - self.count(Standing::Few) - self.count(Standing::Stopped)
    }
}

/// A series with its metrics.
#[derive(Debug)]
pub(super) struct Series<'a> {
    /// `scenario@server@driver`, or the imported benchmark's name.
    pub(super) name: &'a str,
    /// The name of its page, without folder and ending.
    pub(super) page: String,
    pub(super) metrics: Vec<Drawn<'a>>,
}

/// A metric of a series.
#[derive(Debug)]
pub(super) struct Drawn<'a> {
    pub(super) trace: &'a Trace,
    pub(super) values: &'a TraceValues,
    /// The name of its series' page, without folder and ending.
    page: String,
    /// The name of its files, without folder and ending.
    pub(super) column: String,
    /// The word that chooses it in the page's address.
    pub(super) word: &'static str,
    pub(super) label: &'a str,
    pub(super) stands: TraceStanding,
    /// The reference that ratios are to: a release or a commit.
    pub(super) reference: Option<String>,
}

impl Drawn<'_> {
    /// Its page, from the site's root.
    pub(super) fn href(&self) -> String {
        format!("series/{}.html?metric={}", self.page, self.word)
    }

    /// The server, which decides the colour; of an imported benchmark its name.
    pub(super) fn server(&self) -> &str {
        let series = &self.trace.series;
        let server = self.trace.metric.and_then(|_| series.split('@').nth(1));
        server.unwrap_or(series)
    }

    /// Its entry in the manifest.
    pub(super) fn head(&self, source: &Source) -> ColumnHead {
        ColumnHead {
            column: self.column.clone(),
            page: self.page.clone(),
            series: self.trace.series.clone(),
            server: self.server().to_owned(),
            label: self.label.to_owned(),
            timeline: source.timeline.id.clone(),
            points: self.trace.points,
        }
    }
}

/// Every source, in the history's order.
pub(super) fn gather<'a>(followed: &'a FollowedHistory, releases: &[Released]) -> Vec<Source<'a>> {
    let mut pages = Pages::default();
    let mut sources: Vec<Source> = followed
        .timelines
        .iter()
        .map(|line| {
            let timeline = timeline(line, releases);
            let mark = mark(&timeline, &line.pushes);
            let groups = followed.trend.groups.iter();
            let open = || (groups.clone()).filter(|group| group.open && group.source == line.source);
            let is_before_mark = |group: &Group| {
                let mut before = line.pushes.iter().take(mark.at + 1);
                before.any(|push| push.commit == group.first_after.commit)
            };
            Source {
                open: open().count(),
                open_before_mark: open().filter(|group| is_before_mark(group)).count(),
                line,
                timeline,
                mark,
                series: Vec::new(),
            }
        })
        .collect();
    for (trace, values) in followed.trend.traces.iter().zip(&followed.values) {
        let source = &mut sources[values.timeline];
        if source.series.last().is_none_or(|series| series.name != trace.series) {
            source.series.push(Series {
                name: &trace.series,
                page: pages.name(&trace.source, &trace.series),
                metrics: Vec::new(),
            });
        }
        let mark = source.mark.at;
        let reference = reference(source.line, trace, releases);
        let Some(series) = source.series.last_mut() else {
            continue;
        };
        let name = trace.metric.map_or("value", Metric::name);
        series.metrics.push(Drawn {
            trace,
            values,
            page: series.page.clone(),
            column: format!("{}.{}", series.page, word(name)),
            word: name,
            label: label(trace),
            stands: standing_since(trace, values, mark),
            reference,
        });
    }
    sources
}

/// What is drawn, in words.
fn label(trace: &Trace) -> &str {
    match trace.metric {
        Some(metric) => metric.label(),
        None if trace.unit.is_empty() => "value",
        None => &trace.unit,
    }
}

/// The reference of the newest ratios: a release's name, else a commit.
fn reference(line: &SourceTimeline, trace: &Trace, releases: &[Released]) -> Option<String> {
    if trace.basis == Basis::Value || line.source != RUNS_SOURCE {
        return None;
    }
    let newest = line.runs.iter().rev().find_map(|run| run.reference.as_deref())?;
    let named = releases
        .iter()
        .find(|release| release.commit.len() >= 7 && newest.starts_with(&release.commit));
    Some(named.map_or_else(|| short_commit(newest).to_owned(), |release| release.name.clone()))
}

// The pushes of a source → the files that say which commit a place is.

/// Without a newer release, the newest push is compared with the one so many pushes ago. All runs of a commit are one push.
const AGO: usize = 30;

/// The timeline of a line.
pub(super) fn timeline(line: &SourceTimeline, releases: &[Released]) -> Timeline {
    let (name, releases) = match line.source.as_str() {
        RUNS_SOURCE => ("This repository".to_owned(), released(&line.pushes, releases)),
        imported => (imported.replacen("imported/", "", 1), Vec::new()),
    };
    Timeline {
        id: word(&line.source),
        name,
        repository: line.repository.clone(),
        pushes: line.pushes.len(),
        releases,
    }
}

/// The releases among the pushes. A commit that was measured several times is released at its first run.
fn released(pushes: &[Push], releases: &[Released]) -> Vec<Release> {
    let release = |release: &Released| {
        let named = |push: &Push| release.commit.len() >= 7 && push.commit.starts_with(&release.commit);
        let (at, name) = (pushes.iter().position(named)?, release.name.clone());
        Some(Release { at, name })
    };
    let mut found: Vec<Release> = releases.iter().filter_map(release).collect();
    found.sort_by_key(|release| release.at);
    found
}

/// What the newest push is set against: the newest release before it, else 30 pushes ago, else the first push.
pub(super) fn mark(timeline: &Timeline, pushes: &[Push]) -> Release {
    let commits = commits_from(pushes);
    let newest = timeline.pushes.saturating_sub(1);
    let release = timeline.releases.iter().rev().find(|release| release.at < newest);
    match release {
        Some(release) => release.clone(),
        None if commits.first().is_some_and(|all| *all > AGO + 1) => Release {
            at: commits.iter().rposition(|count| *count > AGO).unwrap_or(0),
            name: format!("{AGO} pushes ago"),
        },
        None => Release {
            at: 0,
            name: "the first push".into(),
        },
    }
}

/// The files of a line, in order. `with_page` are the ids of runs that have a page.
pub(super) fn pushes(line: &SourceTimeline, with_page: &HashSet<&str>) -> Vec<Pushes> {
    let provisional: HashSet<usize> = line.provisional.iter().copied().collect();
    let parts = line.pushes.chunks(PUSHES_A_FILE).enumerate();
    let file = |(number, part): (usize, &[Push])| {
        let from = number * PUSHES_A_FILE;
        Pushes {
            schema: PUSHES.into(),
            from,
            commits: part.iter().map(|push| short_commit(&push.commit).to_owned()).collect(),
            at: part.iter().map(seconds).collect(),
            messages: messages(part),
            runs: part
                .iter()
                .map(|push| push.run.clone().filter(|id| with_page.contains(id.as_str())))
                .collect(),
            provisional: (from..from + part.len())
                .filter(|place| provisional.contains(place))
                .collect(),
        }
    };
    parts.map(file).collect()
}

/// Message and author of each push; empty when none has a message.
fn messages(pushes: &[Push]) -> Vec<Option<String>> {
    let one = |push: &Push| {
        let message = push.message.as_deref()?;
        let author = push
            .author
            .as_deref()
            .map_or_else(String::new, |author| format!(" · {author}"));
        Some(name(&format!("{message}{author}")))
    };
    let all: Vec<Option<String>> = pushes.iter().map(one).collect();
    if all.iter().any(Option::is_some) {
        all
    } else {
        Vec::new()
    }
}

/// When a push was made, s since 1970.
pub(super) fn seconds(push: &Push) -> Option<i64> {
    let time: Timestamp = push.at.as_deref()?.parse().ok()?;
    Some(time.as_second())
}

/// The day of a push, as it was written: `2026-11-21`.
pub(super) fn day(push: &Push) -> &str {
    push.at.as_deref().and_then(|time| time.get(..10)).unwrap_or("no date")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(count: usize) -> SourceTimeline {
        let push = |place: usize| Push {
            run: Some(format!("run-{place}")),
            commit: format!("{place:040x}"),
            at: Some("2026-11-21T05:00:00Z".into()),
            message: None,
            author: None,
        };
        SourceTimeline {
            source: RUNS_SOURCE.into(),
            repository: None,
            pushes: (0..count).map(push).collect(),
            runs: Vec::new(),
            provisional: vec![count - 1],
            failed: Vec::new(),
        }
    }

    fn released_at(count: usize, at: usize) -> Release {
        let releases = [Released {
            commit: format!("{at:040x}"),
            name: "v1".into(),
        }];
        let line = line(count);
        mark(&timeline(&line, &releases), &line.pushes)
    }

    #[test]
    fn the_newest_release_before_the_newest_push_is_the_mark() {
        assert_eq!(
            (released_at(100, 20).at, released_at(100, 20).name.as_str()),
            (20, "v1")
        );
        assert_eq!(released_at(100, 99).name, "30 pushes ago");
        assert_eq!(released_at(10, 500).at, 0);
    }

    #[test]
    fn a_commit_that_is_measured_again_is_one_push() {
        let mut line = line(100);
        let commit = line.pushes[90].commit.clone();
        line.pushes[91..]
            .iter_mut()
            .for_each(|push| push.commit.clone_from(&commit));
        assert_eq!(mark(&timeline(&line, &[]), &line.pushes).at, 60);
    }

    #[test]
    fn pushes_are_written_by_the_thousand() {
        let files = pushes(&line(2_500), &HashSet::from(["run-2001"]));
        assert_eq!(
            files.iter().map(|file| file.commits.len()).collect::<Vec<_>>(),
            [1000, 1000, 500]
        );
        assert_eq!(files[2].runs[1].as_deref(), Some("run-2001"));
        assert_eq!(files[2].runs.iter().flatten().count(), 1);
        assert_eq!(files[2].provisional, [2_499]);
        assert_eq!(files[0].at[0], Some(1_795_237_200));
    }
}
