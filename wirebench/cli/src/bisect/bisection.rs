//! Compares one commit after the other with the good one, and words the result.

use std::collections::BTreeMap;

use super::search::{Found, search};
use crate::outcome::Outcome;
use wirebench_declare::count::PREFIX;
use wirebench_present::report::comparison::cells::effect;
use wirebench_present::report::comparison::reasons;
use wirebench_present::report::comparison::verdict::word;
use wirebench_present::report::format::plain;
use wirebench_record::comparison::{ComparedMetric, Comparison, Verdict};
use wirebench_record::metric::Metric;
use wirebench_record::run::short_commit;

/// The metric that a bisection follows.
pub(super) struct BisectedMetric<'a> {
    pub(super) series: &'a str,
    pub(super) metric: Metric,
}

impl<'a> BisectedMetric<'a> {
    /// One metric of a series; without a metric, server CPU, or the instructions of a counted series.
    pub(super) fn new(series: &'a str, metric: Option<Metric>) -> Self {
        let counted = series.starts_with(PREFIX);
        let default = if counted {
            Metric::Instructions
        } else {
            Metric::ServerCpu
        };
        Self {
            series,
            metric: metric.unwrap_or(default),
        }
    }
}

/// The result of a bisection: the text for stdout, and the exit code.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct BisectResult {
    pub(super) outcome: Outcome,
    pub(super) text: String,
}

/// Searches `commits`, oldest first, comparing each tested commit with the good one; prints every step on stderr.
pub(super) fn bisect(
    good: &str,
    commits: &[String],
    bisected: &BisectedMetric,
    mut compare: impl FnMut(&str) -> anyhow::Result<Comparison>,
) -> anyhow::Result<BisectResult> {
    let mut seen = BTreeMap::new();
    let what = format!("{} {}", bisected.series, bisected.metric.label());
    let found = search(commits.len(), |place| {
        let (step, commit) = (seen.len() + 1, short_commit(&commits[place]));
        let of = format!("commit {} of {}", place + 1, commits.len());
        log::info!("step {step}: {commit} ({of}) beside {}", short_commit(good));
        let (verdict, why) = judged(&compare(&commits[place])?, bisected.series, bisected.metric);
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
            BisectResult {
                outcome: Outcome::Failed,
                text: format!(
                    "{bad} is not shown to be worse than {}: {what} is {word}\n",
                    short_commit(good)
                ),
            }
        }
        Found::Among { first, last } if first == last => BisectResult {
            outcome: Outcome::Done,
            text: format!("{} brought it: {what} {}\n", commits[last], seen[&last]),
        },
        Found::Among { first, last } => {
            log::info!(
                "all but the last of them cannot be judged; more time (--budget) or a quieter machine may tell them apart"
            );
            let count = last - first + 1;
            BisectResult {
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::flags::metric::metric;
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
        assert_eq!(BisectedMetric::new(counted, None).metric, Metric::Instructions);
        assert_eq!(BisectedMetric::new("weather@http@hey", None).metric, Metric::ServerCpu);
        assert_eq!(
            BisectedMetric::new(counted, Some(Metric::Syscalls)).metric,
            Metric::Syscalls
        );
    }

    /// Searches six commits, named by digits: some give a golden comparison, the others are unchanged.
    fn bisect_result(told: &[(&str, &str)]) -> BisectResult {
        let bisected = BisectedMetric::new("weather-fixed-count@http@hey", None);
        let commits: Vec<String> = (1..=6).map(|digit| digit.to_string().repeat(40)).collect();
        let compare = |commit: &str| {
            let known = told.iter().find(|(digit, _)| commit.starts_with(digit));
            Ok(golden(known.map_or("unchanged", |(_, name)| name)))
        };
        bisect(&"0".repeat(40), &commits, &bisected, compare).unwrap()
    }

    #[test]
    fn the_answer_names_the_commit_with_size_and_interval() {
        let answer = bisect_result(&[("4", "regressed"), ("5", "regressed"), ("6", "regressed")]);
        let expected = "4444444444444444444444444444444444444444 brought it: weather-fixed-count@http@hey server CPU \
                        per request +11.8 % (+9.9 to +13.6 %)\n";
        assert_eq!((answer.outcome, answer.text.as_str()), (Outcome::Done, expected));
    }

    #[test]
    fn commits_that_cannot_be_judged_are_all_named() {
        let answer = bisect_result(&[
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
        let answer = bisect_result(&[]);
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
