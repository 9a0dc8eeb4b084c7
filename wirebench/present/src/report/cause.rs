//! What moved at one push or in one pull request, in one sentence: a cause is told once, however many metrics it moved.

use std::collections::BTreeSet;

use crate::report::comparison::words::{Inert, change, size};
use wirebench_record::metric::Metric;
use wirebench_record::trend::{Direction, Group};

/// Servers that are named; of more, only how many they are.
const NAMED: usize = 3;
/// Nothing larger is written, percent: a record may hold any number.
const LARGEST: f64 = 1e12;
/// From here on a factor is easier to read than a percentage.
const FACTOR_FROM: f64 = 99.95;

/// A metric of a series that moved.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Moved<'a> {
    /// `scenario@server@driver`, or the name of an imported benchmark.
    pub series: &'a str,
    /// The metric; none of an imported benchmark.
    pub metric: Option<Metric>,
    /// By how much, percent.
    pub percent: f64,
    /// Which way.
    pub direction: Direction,
}

/// Everything that moved in a group.
#[must_use]
pub fn moved(group: &Group) -> Vec<Moved<'_>> {
    let step = |step| {
        let step: &wirebench_record::trend::GroupedStep = step;
        Moved {
            series: &step.series,
            metric: step.metric,
            percent: step.change_percent,
            direction: step.direction,
        }
    };
    group.steps.iter().map(step).collect()
}

/// Who moved, which way, by how much and in how many places: `http worse by 2.8 to 7.3 % (10 metrics, 3 series)`. May hold
/// names of the record, to be made inert by whoever shows it; empty when nothing moved.
#[must_use]
pub fn sentence(moved: &[Moved]) -> String {
    told(moved, str::to_owned)
}

/// The same with every name made inert by `name`.
#[must_use]
pub fn told(moved: &[Moved], name: Inert) -> String {
    if moved.is_empty() {
        return String::new();
    }
    let parts = [
        (Direction::Worse, "worse"),
        (Direction::Better, "better"),
        (Direction::Unknown, "changed"),
    ];
    let parts = parts.into_iter().filter_map(|(direction, word)| {
        let those: Vec<&Moved> = moved.iter().filter(|one| one.direction == direction).collect();
        part(word, &those)
    });
    format!("{} {}", servers(moved, name), parts.collect::<Vec<_>>().join(", "))
}

/// The servers that the series are of, or the benchmarks.
fn servers(moved: &[Moved], inert: Inert) -> String {
    let server = |one: &Moved| one.metric.and_then(|_| one.series.split('@').nth(1).map(str::to_owned));
    let mut names: Vec<String> = Vec::new();
    for one in moved {
        let name = inert(&server(one).unwrap_or_else(|| one.series.to_owned()));
        if !names.contains(&name) {
            names.push(name);
        }
    }
    let many = names.len();
    match names.pop() {
        _ if many > NAMED && moved.iter().all(|one| one.metric.is_none()) => format!("{many} benchmarks"),
        _ if many > NAMED => format!("{many} servers"),
        Some(last) if many > 1 => format!("{} and {last}", names.join(", ")),
        Some(only) => only,
        None => String::new(),
    }
}

/// `worse by 2.8 to 7.3 % (10 metrics, 3 series)`, `server peak RSS worse by 8.8 %`; none when nothing moved this way.
fn part(word: &str, those: &[&Moved]) -> Option<String> {
    let series: BTreeSet<&str> = those.iter().map(|one| one.series).collect();
    let metrics: BTreeSet<Option<Metric>> = those.iter().map(|one| one.metric).collect();
    let one = those.first()?;
    let reach = reach(those);
    let what = match one.metric {
        Some(metric) if metrics.len() == 1 => format!("{} {word} by {reach}", metric.label()),
        _ => format!("{word} by {reach}"),
    };
    Some(match (those.len(), series.len()) {
        (1, _) => what,
        (_, series) if metrics.len() == 1 => format!("{what} ({series} series)"),
        (all, series) => format!("{what} ({all} metrics, {series} series)"),
    })
}

/// The smallest and the largest of the changes, without their signs: throughput that falls and CPU time that rises are both
/// worse.
fn reach(those: &[&Moved]) -> String {
    let sizes = || {
        those
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
    fn both_ways_are_told_and_servers_are_named_while_they_are_few() {
        let rss = Some(Metric::PeakRss);
        let all = [
            one("load@http@hey", rss, 8.8),
            one("load@grpc@ghz", rss, 9.1),
            one("load@http@hey", Some(Metric::LatencyP99), -7.4),
        ];
        assert_eq!(
            sentence(&all),
            "http and grpc server peak RSS worse by 8.8 to 9.1 % (2 series), latency p99 better by 7.4 %"
        );
        let names: Vec<String> = (0..5).map(|server| format!("load@s{server}@hey")).collect();
        let many: Vec<Moved> = names.iter().map(|name| one(name, rss, 5.0)).collect();
        assert!(sentence(&many).starts_with("5 servers "), "{}", sentence(&many));
        let names: Vec<String> = (0..5).map(|bench| format!("parse {bench}")).collect();
        let many: Vec<Moved> = names.iter().map(|name| one(name, None, 250.0)).collect();
        assert_eq!(sentence(&many), "5 benchmarks worse by × 3.5 (5 series)");
    }

    proptest! {
        #[test]
        fn no_number_makes_a_long_sentence(sizes in prop::collection::vec(any::<f64>(), 1..40)) {
            let all: Vec<Moved> = sizes.iter().map(|size| one("a@b@c", Some(Metric::ServerCpu), *size)).collect();
            prop_assert!(sentence(&all).len() < 800, "{}", sentence(&all));
        }
    }
}
