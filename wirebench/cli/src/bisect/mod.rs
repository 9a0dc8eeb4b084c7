//! `wirebench bisect`: which commit brought a worsening, by comparing commits with the rule that judges a pull request.

mod search;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use anyhow::Context as _;

use crate::metric::metric;
use crate::{Outcome, UsageError, results, stored};
use search::{Found, search};
use wirebench_declare::Project;
use wirebench_declare::count::PREFIX;
use wirebench_declare::span::Span;
use wirebench_engine::git;
use wirebench_present::report::comparison::reasons;
use wirebench_present::report::comparison::words::{effect, word};
use wirebench_present::report::format::plain;
use wirebench_record::comparison::{ComparedMetric, Comparison, Verdict};
use wirebench_record::metric::Metric;
use wirebench_record::run::short_commit;

#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  wirebench bisect v1 main --series weather-fixed-count@http@hey
  wirebench bisect 1a2b3c4 HEAD --series weather-fixed-count@http@hey --metric throughput --budget 5m
  wirebench bisect v1 main --series count-weather@http@hey --metric allocations
Every step measures GOOD beside a commit; its run is kept under results/bisect/. Exit code 1 when BAD is not worse.")]
pub(super) struct Args {
    /// A revision before the worsening.
    good: String,
    /// A later revision that has it; only first parents between the two are searched.
    bad: String,
    /// The series to follow, scenario@server@driver.
    #[arg(long, value_name = "ID")]
    series: String,
    /// The metric to follow; without it, server_cpu, or instructions of a counted series.
    #[arg(long, value_parser = metric, value_name = "NAME")]
    metric: Option<Metric>,
    /// Profile of every step; without it, the default profile of wirebench.toml.
    #[arg(long, value_name = "NAME")]
    profile: Option<String>,
    /// Wall time for measuring in every step, such as 5m; without it, `compare.budget` of wirebench.toml.
    #[arg(long, value_name = "TIME")]
    budget: Option<Span>,
}

pub(super) fn execute(project: &Project, args: &Args) -> anyhow::Result<Outcome> {
    let root = &project.root;
    let resolve = |revision: &str| {
        git::resolve(root, revision).map_err(|why| UsageError(format!("{revision:?} is no revision: {why}")))
    };
    let (good, bad) = (resolve(&args.good)?, resolve(&args.bad)?);
    let commits = git::first_parents(root, &good, &bad)?;
    if commits.last() != Some(&bad) {
        let message = format!("{} does not come after {} along first parents", args.bad, args.good);
        return Err(UsageError(message).into());
    }
    let scope = Scope::new(root, args)?;
    let answer = walk(&good, &commits, args, |commit| scope.compare_revisions(&good, commit))?;
    print!("{}", answer.text);
    Ok(answer.outcome)
}

impl Args {
    /// The metric to follow.
    fn followed(&self) -> Metric {
        let counted = self.series.starts_with(PREFIX);
        let otherwise = if counted {
            Metric::Instructions
        } else {
            Metric::ServerCpu
        };
        self.metric.unwrap_or(otherwise)
    }
}

/// What was found, for stdout.
#[derive(Debug, PartialEq, Eq)]
struct Answer {
    outcome: Outcome,
    text: String,
}

/// Searches `commits`, oldest first, comparing each tested commit with the good one; prints every step on stderr.
fn walk(
    good: &str,
    commits: &[String],
    args: &Args,
    mut compare: impl FnMut(&str) -> anyhow::Result<Comparison>,
) -> anyhow::Result<Answer> {
    let mut seen = BTreeMap::new();
    let what = format!("{} {}", args.series, args.followed().label());
    let found = search(commits.len(), |place| {
        let (step, commit) = (seen.len() + 1, short_commit(&commits[place]));
        let of = format!("commit {} of {}", place + 1, commits.len());
        log::info!("step {step}: {commit} ({of}) beside {}", short_commit(good));
        let (verdict, why) = judged(&compare(&commits[place])?, &args.series, args.followed());
        log::info!("step {step}: {commit} is {}: {why}", word(verdict.into()));
        seen.insert(place, why);
        anyhow::Ok(verdict)
    })?;
    Ok(match found {
        Found::NotWorse(verdict) => {
            let (bad, word) = (
                commits.last().map_or(good, |last| short_commit(last)),
                word(verdict.into()),
            );
            Answer {
                outcome: Outcome::Failed,
                text: format!(
                    "{bad} is not shown to be worse than {}: {what} is {word}\n",
                    short_commit(good)
                ),
            }
        }
        Found::Among { first, last } if first == last => Answer {
            outcome: Outcome::Done,
            text: format!("{} brought it: {what} {}\n", commits[last], seen[&last]),
        },
        Found::Among { first, last } => {
            log::info!(
                "all but the last of them cannot be judged; more time (--budget) or a quieter machine may tell them apart"
            );
            let count = last - first + 1;
            Answer {
                outcome: Outcome::Done,
                text: format!(
                    "one of {count} commits brought it: {what} {}\n{}\n",
                    seen[&last],
                    commits[first..=last].join("\n")
                ),
            }
        }
    })
}

/// The verdict of a comparison on one metric of one series, with size and interval or with the reason.
fn judged(comparison: &Comparison, series: &str, metric: Metric) -> (Verdict, String) {
    let Some(found) = comparison.series.iter().find(|one| one.id == series) else {
        return (Verdict::Invalid, "the series is not in the comparison".into());
    };
    let reason = || {
        plain(
            &found
                .reason
                .as_ref()
                .map_or_else(|| "it could not be compared".into(), reasons::series),
        )
    };
    if found.verdict == Some(Verdict::Invalid) || !comparison.paired {
        return (Verdict::Invalid, reason());
    }
    if found.same_program {
        return (Verdict::Unchanged, "the same program".into());
    }
    let of_it = |one: &&ComparedMetric| one.metric == metric;
    match found.metrics.iter().find(of_it) {
        Some(one) if one.effect_percent.is_some() => (one.verdict, effect(one)),
        Some(one) => (one.verdict, plain(&reasons::metric(&one.reason))),
        None => (Verdict::Invalid, reason()),
    }
}

/// What every step measures, and where its run is stored.
struct Scope {
    root: PathBuf,
    flags: Vec<String>,
}

impl Scope {
    fn new(root: &Path, args: &Args) -> anyhow::Result<Self> {
        let parts: Vec<&str> = args.series.split('@').collect();
        let [scenario, server, driver] = parts[..] else {
            let message = format!(
                "--series {}: expected scenario@server@driver; see: wirebench list",
                args.series
            );
            return Err(UsageError(message).into());
        };
        let mut flags = Vec::new();
        for (flag, name) in [("--scenario", scenario), ("--server", server), ("--driver", driver)] {
            flags.extend([flag.to_owned(), globset::escape(name)]);
        }
        flags.extend(
            args.profile
                .iter()
                .flat_map(|name| ["--profile".to_owned(), name.clone()]),
        );
        flags.extend(
            args.budget
                .iter()
                .flat_map(|time| ["--budget".to_owned(), time.as_flag()]),
        );
        Ok(Self {
            root: root.to_path_buf(),
            flags,
        })
    }

    /// Measures two commits in one run, in a separate process, and reads its comparison.
    fn compare_revisions(&self, good: &str, commit: &str) -> anyhow::Result<Comparison> {
        let out = results(&self.root)
            .join("bisect")
            .join(format!("{}-{}", short_commit(good), short_commit(commit)));
        let program = std::env::current_exe().context("this program cannot find itself")?;
        let status = wirebench_spawn::command(program)
            .arg("--root")
            .arg(&self.root)
            .args(["run", "--baseline", good, "--candidate", commit])
            .args(&self.flags)
            .arg("--out")
            .arg(&out)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .status()
            .context("a step cannot be started")?;
        // Runs are named by their start time: the last one is this step's.
        let runs = std::fs::read_dir(&out).into_iter().flatten().flatten();
        let newest = runs
            .map(|entry| entry.path().join(stored::FILE))
            .filter(|file| file.is_file())
            .max();
        let file = newest.with_context(|| format!("{}: the step left no comparison ({status})", out.display()))?;
        stored::read(&file)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use wirebench_testing::golden;

    #[test]
    fn the_verdict_is_that_of_the_metric_asked_for() {
        let series = "weather-fixed-count@http@hey";
        let of = |name, metric| judged(&golden(name), series, metric);
        assert_eq!(
            of("regressed", Metric::ServerCpu),
            (Verdict::Regressed, "+11.8 % (+9.9 to +13.6 %)".into())
        );
        assert_eq!(of("regressed", Metric::PeakRss).0, Verdict::Unchanged);
        assert_eq!(
            of("accepted", Metric::ServerCpu).0,
            Verdict::Regressed,
            "accepted or not, it came from somewhere"
        );
        assert_eq!(of("unpaired", Metric::ServerCpu).0, Verdict::Invalid);
        assert_eq!(
            judged(&golden("invalid"), "weather-fixed-count@grpc@ghz", Metric::ServerCpu).0,
            Verdict::Invalid
        );
        assert_eq!(
            judged(&golden("mixed"), "weather-burst@http@hey", Metric::ServerCpu).0,
            Verdict::Invalid
        );
        assert_eq!(
            judged(&golden("regressed"), "a@b@c", Metric::ServerCpu).0,
            Verdict::Invalid
        );
    }

    #[test]
    fn a_counted_series_is_followed_by_its_instructions_unless_another_count_is_named() {
        let counted = "count-weather@http@hey";
        let found = judged(&golden("counted-regressed"), counted, Metric::Instructions);
        assert_eq!(found, (Verdict::Regressed, "+1.0 % (+0.9 to +1.2 %)".into()));
        let found = judged(&golden("counted-regressed"), counted, Metric::Allocations);
        assert_eq!(found.0, Verdict::Improved);
        assert_eq!(
            judged(&golden("counted-refused"), counted, Metric::Instructions).0,
            Verdict::Invalid
        );
        let args = |series: &str, metric| Args {
            good: "g".into(),
            bad: "b".into(),
            series: series.into(),
            metric,
            profile: None,
            budget: None,
        };
        assert_eq!(args(counted, None).followed(), Metric::Instructions);
        assert_eq!(args("weather@http@hey", None).followed(), Metric::ServerCpu);
        assert_eq!(args(counted, Some(Metric::Syscalls)).followed(), Metric::Syscalls);
    }

    /// Searches six commits, named by digits: some give a golden comparison, the others are unchanged.
    fn walked(told: &[(&str, &str)]) -> Answer {
        let args = Args {
            good: "g".into(),
            bad: "6".into(),
            series: "weather-fixed-count@http@hey".into(),
            metric: None,
            profile: None,
            budget: None,
        };
        let commits: Vec<String> = (1..=6).map(|digit| digit.to_string().repeat(40)).collect();
        let compare = |commit: &str| {
            let known = told.iter().find(|(digit, _)| commit.starts_with(digit));
            Ok(golden(known.map_or("unchanged", |(_, name)| name)))
        };
        walk(&"0".repeat(40), &commits, &args, compare).unwrap()
    }

    #[test]
    fn the_answer_names_the_commit_with_size_and_interval() {
        let answer = walked(&[("4", "regressed"), ("5", "regressed"), ("6", "regressed")]);
        let expected = "4444444444444444444444444444444444444444 brought it: weather-fixed-count@http@hey server CPU \
                        per request +11.8 % (+9.9 to +13.6 %)\n";
        assert_eq!((answer.outcome, answer.text.as_str()), (Outcome::Done, expected));
    }

    #[test]
    fn commits_that_cannot_be_judged_are_all_named() {
        let answer = walked(&[
            ("3", "unpaired"),
            ("4", "unpaired"),
            ("5", "regressed"),
            ("6", "regressed"),
        ]);
        assert!(
            answer.text.starts_with("one of 3 commits brought it"),
            "{}",
            answer.text
        );
        let named: Vec<&str> = answer.text.lines().skip(1).map(|line| &line[..1]).collect();
        assert_eq!(named, ["3", "4", "5"]);
    }

    #[test]
    fn what_is_not_worse_is_not_searched() {
        let answer = walked(&[]);
        assert_eq!(answer.outcome, Outcome::Failed);
        assert!(
            answer
                .text
                .contains("666666666666 is not shown to be worse than 000000000000"),
            "{}",
            answer.text
        );
    }

    #[test]
    fn metrics_are_named_as_in_every_file() {
        assert_eq!(metric("latency_p50"), Ok(Metric::LatencyP50));
        assert_eq!(metric("wire_bytes_sent"), Ok(Metric::WireBytesSent));
        assert!(metric("cpu").unwrap_err().contains("server_cpu"));
    }
}
