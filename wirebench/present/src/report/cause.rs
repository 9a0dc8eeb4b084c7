//! The metrics that moved at one push or in one pull request, in one sentence, however many they are.

use std::collections::BTreeSet;

use crate::distinct;
use crate::report::escape::Escape;
use crate::report::format::{FACTOR_FROM, change, size};
use wirebench_record::metric::Metric;
use wirebench_record::trend::{Direction, Group};

/// The most servers that are named; of more, only the number is given.
const NAMED: usize = 3;
/// The largest change that is written, percent: a record may hold any number.
const LARGEST: f64 = 1e12;

/// A metric of a series that moved.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Moved<'a> {
    /// `scenario@server@driver`, or the name of an imported benchmark.
    pub series: &'a str,
    /// The metric; `None` for an imported benchmark.
    pub metric: Option<Metric>,
    /// The change, percent.
    pub percent: f64,
    /// Whether it is better or worse.
    pub direction: Direction,
}

/// All metrics that moved in a group.
pub(crate) fn moved(group: &Group) -> Vec<Moved<'_>> {
    let steps = group.steps.iter();
    steps
        .map(|step| Moved {
            series: &step.series,
            metric: step.metric,
            percent: step.change_percent,
            direction: step.direction,
        })
        .collect()
}

/// The servers that moved, in which direction, by how much and in how many series: `http worse by 2.8 to 7.3 % (10 metrics, 3
/// series)`. The names are not escaped. Empty if nothing moved.
pub fn sentence(moved: &[Moved]) -> String {
    sentence_escaped(moved, Escape::new(str::to_owned, str::to_owned))
}

/// The same with escaped names.
pub(super) fn sentence_escaped(moved: &[Moved], escape: Escape) -> String {
    if moved.is_empty() {
        return String::new();
    }
    let parts = [
        (Direction::Worse, "worse"),
        (Direction::Better, "better"),
        (Direction::Unknown, "changed"),
    ];
    let parts = parts.into_iter().filter_map(|(direction, word)| {
        let moved: Vec<&Moved> = moved.iter().filter(|one| one.direction == direction).collect();
        part(word, &moved)
    });
    format!("{} {}", servers(moved, escape), parts.collect::<Vec<_>>().join(", "))
}

/// What got worse, as the answer to "is anything worse?": `http is 2.8 to 7.4 % slower since #170`. Empty if nothing got worse.
pub fn answer(moved: &[Moved], since: &str) -> String {
    let worse: Vec<Moved> = moved
        .iter()
        .copied()
        .filter(|one| one.direction == Direction::Worse)
        .collect();
    if worse.is_empty() {
        return String::new();
    }
    let names = servers(&worse, Escape::new(str::to_owned, str::to_owned));
    let verb = if names.contains(" and ") || names.ends_with("servers") || names.ends_with("benchmarks") {
        "are"
    } else {
        "is"
    };
    let range = range(&worse.iter().collect::<Vec<_>>());
    // Sizes and counts of calls make nothing slower by themselves.
    let is_slower = |one: &Moved| {
        matches!(
            one.metric,
            Some(
                Metric::ServerCpu | Metric::Throughput | Metric::LatencyP50 | Metric::LatencyP99 | Metric::Instructions
            )
        )
    };
    let labels = distinct(worse.iter().filter_map(|one| Some(one.metric?.label().to_owned())));
    let (what, verb, word) = match labels.len() {
        _ if worse.iter().any(is_slower) => (String::new(), verb, "slower"),
        0 => (String::new(), verb, "worse"),
        // Start-up instructions are, program size is.
        1 if !labels[0].split(' ').any(|word| word.ends_with('s')) => (format!("{} of ", labels[0]), "is", "larger"),
        1..=NAMED => (format!("{} of ", joined(&labels)), "are", "larger"),
        more => (format!("{more} sizes and counts of "), "are", "larger"),
    };
    if range.contains('×') {
        return format!("{what}{names} {verb} {word} by {range} since {since}");
    }
    format!("{what}{names} {verb} {range} {word} since {since}")
}

/// The servers of the series, or the benchmarks.
fn servers(moved: &[Moved], escape: Escape) -> String {
    let server = |one: &Moved| one.metric.and_then(|_| one.series.split('@').nth(1).map(str::to_owned));
    let names = moved
        .iter()
        .map(|one| escape.name(&server(one).unwrap_or_else(|| one.series.to_owned())));
    let names = distinct(names);
    let many = names.len();
    match many {
        0..=NAMED => joined(&names),
        _ if moved.iter().all(|one| one.metric.is_none()) => format!("{many} benchmarks"),
        _ => format!("{many} servers"),
    }
}

/// `a`, `a and b`, `a, b and c`.
fn joined(names: &[String]) -> String {
    match names {
        [before @ .., last] if !before.is_empty() => format!("{} and {last}", before.join(", ")),
        _ => names.concat(),
    }
}

/// `worse by 2.8 to 7.3 % (10 metrics, 3 series)`, `server peak memory worse by 8.8 %`; `None` if nothing moved in this direction.
fn part(word: &str, moved: &[&Moved]) -> Option<String> {
    let series: BTreeSet<&str> = moved.iter().map(|one| one.series).collect();
    let metrics: BTreeSet<Option<Metric>> = moved.iter().map(|one| one.metric).collect();
    let one = moved.first()?;
    let range = range(moved);
    let what = match one.metric {
        Some(metric) if metrics.len() == 1 => format!("{} {word} by {range}", metric.label()),
        _ => format!("{word} by {range}"),
    };
    Some(match (moved.len(), series.len()) {
        (1, _) => what,
        (_, series) if metrics.len() == 1 => format!("{what} ({series} series)"),
        (all, series) => format!("{what} ({all} metrics, {series} series)"),
    })
}

/// The smallest and the largest of the changes, without their signs: throughput that falls and CPU time that rises are both
/// worse.
fn range(moved: &[&Moved]) -> String {
    let sizes = || {
        moved
            .iter()
            .map(|one| one.percent.abs().min(LARGEST))
            .filter(|size| size.is_finite())
    };
    let (low, high) = (sizes().fold(f64::INFINITY, f64::min), sizes().fold(0.0, f64::max));
    let low = low.min(high);
    let text = |percent: f64| {
        if percent >= FACTOR_FROM {
            change(percent)
        } else {
            size(percent)
        }
    };
    let (from, to) = (text(low), text(high));
    if from == to {
        to
    } else if high >= FACTOR_FROM {
        format!("{from} to {to}")
    } else {
        format!("{} to {to}", from.trim_end_matches(" %"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::{any, prop, prop_assert, proptest};

    fn one(series: &str, metric: Option<Metric>, percent: f64) -> Moved<'_> {
        let worse = match metric {
            Some(Metric::Throughput) => percent < 0.0,
            _ => percent > 0.0,
        };
        Moved {
            series,
            metric,
            percent,
            direction: if worse { Direction::Worse } else { Direction::Better },
        }
    }

    #[test]
    fn many_metrics_of_one_server_are_one_sentence() {
        let all = [
            one("count@http@hey", Some(Metric::Instructions), 2.8),
            one("load@http@hey", Some(Metric::Throughput), -6.3),
            one("load@http@hey", Some(Metric::ServerCpu), 7.26),
        ];
        assert_eq!(sentence(&all), "http worse by 2.8 to 7.3 % (3 metrics, 2 series)");
        assert_eq!(sentence(&all[..1]), "http instructions per request worse by 2.8 %");
        assert_eq!(sentence(&[]), "");
    }

    #[test]
    fn both_directions_are_reported_and_a_few_servers_are_named() {
        let rss = Some(Metric::PeakRss);
        let all = [
            one("load@http@hey", rss, 8.8),
            one("load@grpc@ghz", rss, 9.1),
            one("load@http@hey", Some(Metric::LatencyP99), -7.4),
        ];
        assert_eq!(
            sentence(&all),
            "http and grpc server peak memory worse by 8.8 to 9.1 % (2 series), latency p99 better by 7.4 %"
        );
        let names: Vec<String> = (0..5).map(|server| format!("load@s{server}@hey")).collect();
        let many: Vec<Moved> = names.iter().map(|name| one(name, rss, 5.0)).collect();
        assert!(sentence(&many).starts_with("5 servers "), "{}", sentence(&many));
        let names: Vec<String> = (0..5).map(|bench| format!("parse {bench}")).collect();
        let many: Vec<Moved> = names.iter().map(|name| one(name, None, 250.0)).collect();
        assert_eq!(sentence(&many), "5 benchmarks worse by × 3.5 (5 series)");
    }

    #[test]
    fn an_answer_says_who_is_slower_and_since_when() {
        let all = [
            one("count@http@hey", Some(Metric::Instructions), 2.8),
            one("load@http@hey", Some(Metric::Throughput), -6.3),
            one("load@grpc@hey", Some(Metric::ServerCpu), -6.3),
        ];
        assert_eq!(answer(&all, "#170"), "http is 2.8 to 6.3 % slower since #170");
        let rss = [
            one("a@http@hey", Some(Metric::PeakRss), 8.8),
            one("a@grpc@ghz", Some(Metric::PeakRss), 9.1),
        ];
        assert_eq!(
            answer(&rss, "4d57dfc8"),
            "server peak memory of http and grpc is 8.8 to 9.1 % larger since 4d57dfc8"
        );
        let sizes = [
            one("count@http@hey", Some(Metric::BinaryBytes), 70.0),
            one("count@grpc@ghz", Some(Metric::BinaryBytes), 68.0),
            one("count@http@hey", Some(Metric::StartUpInstructions), 17.0),
        ];
        assert_eq!(
            answer(&sizes, "#9"),
            "program size and start-up instructions of http and grpc are 17.0 to 70.0 % larger since #9"
        );
        assert_eq!(
            answer(&sizes[2..], "#9"),
            "start-up instructions of http are 17.0 % larger since #9"
        );
        assert_eq!(
            answer(&[one("parse", None, 460.0)], "#3"),
            "parse is worse by × 5.6 since #3"
        );
        assert_eq!(answer(&all[2..], "#1"), "");
    }

    proptest! {
        #[test]
        fn no_number_makes_a_long_sentence(sizes in prop::collection::vec(any::<f64>(), 1..40)) {
            let all: Vec<Moved> = sizes.iter().map(|size| one("a@b@c", Some(Metric::ServerCpu), *size)).collect();
            prop_assert!(sentence(&all).len() < 800, "{}", sentence(&all));
        }
    }
}
