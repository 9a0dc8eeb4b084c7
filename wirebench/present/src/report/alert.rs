//! An issue that lists what is worse on the default branch: one section for each push, with commits, series, sizes and the
//! command that measures it again.

use std::collections::BTreeSet;

use askama::Template;

use crate::report::escape::{code, prose};
use crate::report::format::{change, plural};
use crate::report::table::{Table, number, text};
use crate::report::trend::{headline, open_regressions};
use wirebench_history::follow::RUNS_SOURCE;
use wirebench_record::metric::Metric;
use wirebench_record::run::short_commit;
use wirebench_record::trend::{Group, GroupedStep};

/// The most pushes that an issue lists.
const PUSHES: usize = 20;
/// The most series of a push that are listed.
const SERIES: usize = 20;

/// The most series in the command that accepts a worsening: a command of one line.
const ACCEPTED: usize = 10;

/// The title: how many regressions are open, and how many figures they made worse.
pub fn title(open: &[&Group]) -> String {
    let worse: BTreeSet<_> = (open.iter())
        .flat_map(|group| still_worse(group).map(|step| (&group.source, &step.series, step.metric)))
        .collect();
    let figures = plural(worse.len(), "figure");
    format!(
        "{} on the default branch, {figures} worse",
        open_regressions(open.len())
    )
}

/// The text of an issue.
#[derive(Template)]
#[template(path = "alert.md")]
struct Body<'a> {
    open: &'a [&'a Group],
    marker: &'a str,
}

/// The body, which begins with `marker`.
pub fn body(open: &[&Group], marker: &str) -> String {
    let body = Body { open, marker };
    body.render().expect("the template only writes into a string")
}

/// What a closed issue says.
pub fn nothing(marker: &str) -> String {
    format!("{marker}\nNothing is worse any more: every step was taken back by a later one, or accepted.\n")
}

/// The first series that a push made worse.
fn table(group: &Group) -> String {
    let rows = still_worse(group).take(SERIES).map(|step| {
        let metric = step.metric.map_or("value", Metric::label).to_owned();
        [code(&step.series), metric, change(step.change_percent)]
    });
    Table::new([text("series"), text("metric"), number("change")], rows).markdown()
}

fn still_worse(group: &Group) -> impl Iterator<Item = &GroupedStep> {
    group.steps.iter().filter(|step| step.open)
}

/// The commands that compare the commits on both sides of a step, and that find the one between them, by its largest series.
fn again(group: &Group) -> Option<String> {
    // An imported series has no scenario.
    let step = still_worse(group).find(|step| step.metric.is_some())?;
    let (scenario, _) = step.series.split_once('@')?;
    let is_hash = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_hexdigit());
    let [before, after] = [&group.last_before.commit, &group.first_after.commit].map(|commit| short_commit(commit));
    (is_hash(before) && is_hash(after) && scenario.chars().all(is_plain)).then(|| {
        format!(
            "wirebench run --baseline {before} --candidate {after} --scenario '{scenario}'\n\
             git bisect start {after} {before} && git bisect run wirebench run --baseline {before} --scenario '{scenario}' --bisect"
        )
    })
}

/// Whether a shell and a glob read a character as it is: a name with others gets no command.
fn is_plain(c: char) -> bool {
    c.is_ascii_alphanumeric() || " @._/:+-".contains(c)
}

/// The command that accepts the worsenings of a push, for the series that got worse.
fn accept(group: &Group) -> Option<String> {
    let commit = short_commit(&group.first_after.commit);
    let series: BTreeSet<&str> = (still_worse(group).map(|step| step.series.as_str()))
        .filter(|series| series.chars().all(is_plain))
        .take(ACCEPTED)
        .collect();
    let accepted = || still_worse(group).filter(|step| series.contains(step.series.as_str()));
    let most = accepted().map(|step| step.change_percent.abs()).fold(0.0, f64::max);
    let is_writable = commit.bytes().all(|byte| byte.is_ascii_hexdigit()) && most > 0.0 && most < 830.0;
    let names = series.iter().copied().collect::<Vec<_>>().join(",");
    let glob = if series.len() == 1 {
        names
    } else {
        format!("{{{names}}}")
    };
    let metrics: BTreeSet<Option<Metric>> = accepted().map(|step| step.metric).collect();
    let metric = match metrics.first() {
        Some(Some(metric)) if metrics.len() == 1 => format!(" --metric {}", metric.name()),
        _ => String::new(),
    };
    is_writable.then(|| {
        format!(
            "wirebench accept --series '{glob}'{metric} --at-most {:.0}% --commit {commit} --reason '…'",
            (most * 1.2).ceil()
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use wirebench_record::trend::{Direction, Push};

    fn group(series: &str, steps: usize) -> Group {
        let push = |commit: &str| Push {
            run: None,
            commit: commit.repeat(40),
            at: Some("2026-11-21T00:00:00Z".into()),
            message: None,
            author: None,
        };
        let step = |number: usize| GroupedStep {
            series: format!("{series}-{number}@http@hey"),
            metric: Some(Metric::ServerCpu),
            change_percent: 10.0,
            direction: Direction::Worse,
            alert: true,
            open: true,
        };
        Group {
            source: "runs".into(),
            last_before: push("a"),
            first_after: push("b"),
            stepped: steps,
            measured: steps,
            worse: steps,
            alert: true,
            open: true,
            recent: true,
            steps: (0..steps).map(step).collect(),
        }
    }

    #[test]
    fn an_issue_names_commits_series_sizes_and_commands() {
        let (one, many) = (group("one", 1), group("many", 40));
        let body = body(&[&one, &many], "<!-- m -->");
        assert!(body.starts_with("<!-- m -->\n"));
        for needed in [
            "| `one-0@http@hey` | server CPU per request | +10.0 % |",
            "After `aaaaaaaaaaaa` up to `bbbbbbbbbbbb`",
            "\nwirebench run --baseline aaaaaaaaaaaa --candidate bbbbbbbbbbbb --scenario 'one-0'\n",
            "\ngit bisect start bbbbbbbbbbbb aaaaaaaaaaaa && git bisect run wirebench run --baseline aaaaaaaaaaaa --scenario 'one-0' --bisect\n",
            "wirebench accept --series 'one-0@http@hey' --metric server_cpu --at-most 12% --commit bbbbbbbbbbbb",
            "wirebench accept --series '{many-0@http@hey,many-1@http@hey,",
            "20 more.",
        ] {
            assert!(body.contains(needed), "no {needed} in\n{body}");
        }
        assert!(body.len() < 60_000);
        assert_eq!(
            title(&[&one]),
            "1 open regression on the default branch, 1 figure worse"
        );
    }

    #[test]
    fn an_issue_is_short_however_much_is_worse() {
        let all: Vec<Group> = (0..50)
            .map(|_| group("some-rather-long-name-of-a-scenario", 40))
            .collect();
        let body = body(&all.iter().collect::<Vec<_>>(), "<!-- m -->");
        assert!(
            body.len() < 65_000 && body.contains("30 earlier pushes are left out"),
            "{}",
            body.len()
        );
    }
}
