//! Checks a comparison against its row: found, missed, false or unclear, and whether the right function is blamed.
//! Pure.

use crate::truth::Case;
use crate::truth::record::{Blame, Carrier, Expect, Finding, Outcome};
use wirebench_declare::percent::Percent;
use wirebench_present::report::comparison::reasons;
use wirebench_record::comparison::{ComparedMetric, ComparedSeries, Comparison, FunctionChange, Verdict};
use wirebench_record::counts::Source;
use wirebench_record::metric::Metric;

/// The most functions that are kept.
const KEPT: usize = 5;

/// The outcome of a case, from its comparison; `seconds` is the time it took.
#[must_use]
pub fn judge(case: Case, comparison: Result<&Comparison, String>, seconds: f64) -> Outcome {
    let row = case.row;
    let mut outcome = Outcome {
        row: row.name.clone(),
        number: case.number,
        about: row.about.clone(),
        kind: row.kind.clone(),
        code: row.code.clone(),
        expect: row.expect,
        smallest_percent: row.smallest.map(Percent::percent),
        function: row.function.clone(),
        finding: Finding::Error,
        same_program: false,
        verdict: None,
        carrier: None,
        blame: None,
        functions: Vec::new(),
        session: 0,
        reason: String::new(),
        seconds,
    };
    let comparison = match comparison {
        Ok(comparison) if comparison.series.is_empty() => {
            outcome.reason = "the comparison has no series".into();
            return outcome;
        }
        Ok(comparison) => comparison,
        Err(reason) => {
            outcome.reason = reason;
            return outcome;
        }
    };
    outcome.verdict = Some(comparison.verdict);
    outcome.same_program = comparison.series.iter().all(|series| series.same_program);
    match row.expect {
        Expect::Same => null(comparison, &mut outcome),
        Expect::Invalid => invalid(row.reason.as_deref().unwrap_or_default(), comparison, &mut outcome),
        Expect::Regressed | Expect::Informative | Expect::Improved => change(case, comparison, &mut outcome),
    }
    outcome
}

/// Every metric of every series.
fn metrics(comparison: &Comparison) -> impl Iterator<Item = (&ComparedSeries, &ComparedMetric)> {
    let series = comparison.series.iter();
    series.flat_map(|series| series.metrics.iter().map(move |metric| (series, metric)))
}

fn carrier((series, metric): (&ComparedSeries, &ComparedMetric)) -> Carrier {
    Carrier {
        series: series.id.clone(),
        metric: metric.metric,
        verdict: metric.verdict,
        effect_percent: metric.effect_percent,
    }
}

fn null(comparison: &Comparison, outcome: &mut Outcome) {
    outcome.finding = match comparison.verdict {
        Verdict::Unchanged => Finding::Right,
        Verdict::Inconclusive => Finding::Unclear,
        Verdict::Regressed | Verdict::Improved | Verdict::Invalid | Verdict::NotJudged => Finding::False,
    };
    if outcome.finding == Finding::Right {
        return;
    }
    let wanted = comparison.verdict;
    let gating = metrics(comparison).find(|(_, metric)| metric.primary && metric.verdict == wanted);
    outcome.carrier = gating.map(carrier);
    outcome.reason = reason_of(wanted, comparison);
}

/// The reason of the first gating metric with this verdict, or else of the first series.
fn reason_of(verdict: Verdict, comparison: &Comparison) -> String {
    let mut gating = metrics(comparison).filter(|(_, metric)| metric.primary && metric.verdict == verdict);
    let mut series = comparison.series.iter().filter(|one| one.verdict == Some(verdict));
    let reason = gating.next().map(|(_, metric)| reasons::metric(&metric.reason));
    reason
        .or_else(|| series.find_map(|one| one.reason.as_ref()).map(reasons::series))
        .unwrap_or_else(|| "the comparison does not say why".into())
}

fn invalid(reason: &str, comparison: &Comparison, outcome: &mut Outcome) {
    let mut given = comparison.series.iter().filter_map(|one| one.reason.as_ref());
    let gives_reason = given.any(|one| reasons::series(one).contains(reason));
    (outcome.finding, outcome.reason) = match comparison.verdict {
        Verdict::Invalid if gives_reason => (Finding::Right, String::new()),
        Verdict::Invalid => (Finding::Missed, format!("invalid, but no reason says {reason:?}")),
        Verdict::Improved => (Finding::False, "called the opposite of what it is".into()),
        Verdict::Regressed => (Finding::Right, String::new()),
        Verdict::Unchanged => (Finding::Missed, "called unchanged".into()),
        Verdict::Inconclusive | Verdict::NotJudged => (Finding::Unclear, "the comparison cannot tell".into()),
    };
}

fn change(case: Case, comparison: &Comparison, outcome: &mut Outcome) {
    let row = case.row;
    let wanted = match row.expect {
        Expect::Improved => Verdict::Improved,
        Expect::Same | Expect::Regressed | Expect::Informative | Expect::Invalid => Verdict::Regressed,
    };
    let opposite = match wanted {
        Verdict::Improved => Verdict::Regressed,
        _ => Verdict::Improved,
    };
    let size = |metric: &ComparedMetric| metric.effect_percent.map_or(f64::INFINITY, f64::abs);
    let largest = |is_wanted: &dyn Fn(&ComparedMetric) -> bool| {
        metrics(comparison)
            .filter(|(_, metric)| row.metrics.contains(&metric.metric) && is_wanted(metric))
            .max_by(|(_, one), (_, other)| size(one).total_cmp(&size(other)))
    };
    let gates = row.expect != Expect::Informative;
    let carrying = largest(&|metric| metric.verdict == wanted && (metric.primary || !gates));
    outcome.carrier = carrying
        .or_else(|| largest(&|metric| metric.effect_percent.is_some()))
        .map(carrier);
    let verdict = comparison.verdict;
    (outcome.finding, outcome.reason) = if carrying.is_some() && (verdict == wanted || !gates) {
        (Finding::Right, String::new())
    } else if verdict == opposite {
        (Finding::False, "called the opposite of what it is".into())
    } else if verdict == wanted {
        let names: Vec<&str> = row.metrics.iter().map(|metric| metric.name()).collect();
        let reason = format!("reported, but not because of {}", names.join(", "));
        (Finding::Missed, reason)
    } else if verdict == Verdict::Unchanged {
        (Finding::Missed, "called unchanged".into())
    } else {
        (Finding::Unclear, reason_of(verdict, comparison))
    };
    if outcome.finding == Finding::Right {
        blame(row.function.as_deref(), &row.metrics, comparison, outcome);
    }
}

/// Looks for the row's function in the function list of the first of its metrics that has one, or else among the functions whose
/// work was counted by a runtime.
fn blame(function: Option<&str>, metrics: &[Metric], comparison: &Comparison, outcome: &mut Outcome) {
    let Some(function) = function else { return };
    let series = || comparison.series.iter();
    let of = |metric: &Metric| -> Vec<String> {
        let all = series().flat_map(|one| &one.functions);
        all.filter(|one| one.metric == *metric).map(named).collect()
    };
    let counted = metrics.iter().map(of).find(|list| !list.is_empty());
    let list = counted.unwrap_or_else(|| {
        let all = series()
            .filter_map(|one| one.work.as_ref())
            .flat_map(|work| &work.functions);
        all.map(|one| placed(&one.function, one.source.as_ref())).collect()
    });
    let place = list.iter().position(|name| name.contains(function));
    outcome.blame = Some(match place {
        Some(0) => Blame::First,
        Some(_) => Blame::Named,
        None => Blame::Wrong,
    });
    outcome.functions = list.into_iter().take(KEPT).collect();
}

/// The name of a function with its place, because callbacks have no name.
fn placed(function: &str, source: Option<&Source>) -> String {
    let place = source.map(|source| {
        let file = source.file.rsplit('/').next().unwrap_or_default();
        format!(" at {file}:{}", source.line)
    });
    format!("{function}{}", place.unwrap_or_default())
}

/// The name of a listed change: the function, sampled ones with their place, or a system call and the function that makes it.
fn named(change: &FunctionChange) -> String {
    match &change.caller {
        Some(caller) => format!("{} by {caller}", change.function),
        None if change.metric == Metric::ServerCpu => placed(&change.function, change.source.as_ref()),
        None => change.function.clone(),
    }
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;
    use std::time::Duration;

    use super::*;
    use crate::truth::Row;
    use crate::truth::row::Candidate;
    use wirebench_declare::span::Span;
    use wirebench_record::comparison::{FunctionWorkChange, WorkChange, WorkKind};
    use wirebench_testing::golden;

    fn row(expect: Expect, metrics: &[Metric], function: Option<&str>) -> Row {
        Row {
            name: "x".into(),
            about: "a change".into(),
            kind: "x".into(),
            code: "Rust HTTP".into(),
            project: PathBuf::from("."),
            server: "http".into(),
            scenarios: vec!["*".into()],
            drivers: vec!["*".into()],
            budget: Span(Duration::from_secs(1)),
            expect,
            metrics: metrics.to_vec(),
            smallest: (expect != Expect::Same).then(|| "1%".parse().unwrap()),
            function: function.map(str::to_owned),
            reason: None,
            repeat: 1,
            long_build: false,
            patch: None,
            busy: 0,
            baseline: Vec::new(),
            candidate: Candidate::default(),
        }
    }

    fn judged(row: &Row, comparison: &Comparison) -> Outcome {
        judge(Case { row, number: 1 }, Ok(comparison), 1.0)
    }

    #[test]
    fn a_change_is_found_when_one_of_its_metrics_carries_the_verdict() {
        let regressed = golden("regressed");
        let found = judged(&row(Expect::Regressed, &[Metric::ServerCpu], None), &regressed);
        assert_eq!(
            (found.finding, found.verdict),
            (Finding::Right, Some(Verdict::Regressed))
        );
        let carrier = found.carrier.unwrap();
        assert_eq!(carrier.metric, Metric::ServerCpu);
        assert!(carrier.effect_percent.unwrap() > 1.0 && found.reason.is_empty());
        let other = judged(&row(Expect::Regressed, &[Metric::PeakRss], None), &regressed);
        assert_eq!(other.finding, Finding::Missed);
        assert_eq!(other.reason, "reported, but not because of peak_rss");
    }

    #[test]
    fn a_change_is_missed_unclear_or_false() {
        let cpu = row(Expect::Regressed, &[Metric::ServerCpu], None);
        for (name, finding) in [
            ("unchanged", Finding::Missed),
            ("improved", Finding::False),
            ("inconclusive", Finding::Unclear),
            ("invalid", Finding::Unclear),
        ] {
            let found = judged(&cpu, &golden(name));
            assert_eq!(found.finding, finding, "{name}");
            assert!(!found.reason.is_empty(), "{name}");
        }
        let improved = row(Expect::Improved, &[Metric::ServerCpu], None);
        assert_eq!(judged(&improved, &golden("improved")).finding, Finding::Right);
        assert_eq!(judged(&improved, &golden("regressed")).finding, Finding::False);
    }

    #[test]
    fn an_informative_worsening_is_found_only_by_a_row_that_says_so() {
        let mut comparison = golden("unchanged");
        let metric = &mut comparison.series[0].metrics;
        let informative = metric.iter_mut().find(|metric| !metric.primary).unwrap();
        informative.verdict = Verdict::Regressed;
        let metrics = [informative.metric];
        assert_eq!(
            judged(&row(Expect::Informative, &metrics, None), &comparison).finding,
            Finding::Right
        );
        assert_eq!(
            judged(&row(Expect::Regressed, &metrics, None), &comparison).finding,
            Finding::Missed
        );
    }

    #[test]
    fn an_invalid_comparison_is_right_only_with_the_rows_reason() {
        let comparison = golden("invalid");
        let told = comparison.series.iter().find_map(|one| one.reason.as_ref()).unwrap();
        let told = reasons::series(told);
        let with = |reason: &str| {
            let mut row = row(Expect::Invalid, &[], None);
            row.reason = Some(reason.to_owned());
            row
        };
        assert_eq!(judged(&with(&told), &comparison).finding, Finding::Right);
        let other = judged(&with("another reason"), &comparison);
        assert_eq!(other.finding, Finding::Missed);
        assert!(other.reason.contains("another reason"));
        assert_eq!(judged(&with(&told), &golden("unchanged")).finding, Finding::Missed);
        assert_eq!(judged(&with(&told), &golden("improved")).finding, Finding::False);
    }

    #[test]
    fn a_null_is_right_unclear_or_false() {
        let null = row(Expect::Same, &[], None);
        for (name, finding) in [
            ("unchanged", Finding::Right),
            ("regressed", Finding::False),
            ("improved", Finding::False),
            ("invalid", Finding::False),
            ("inconclusive", Finding::Unclear),
        ] {
            let found = judged(&null, &golden(name));
            assert_eq!(found.finding, finding, "{name}");
            assert_eq!(found.reason.is_empty(), finding == Finding::Right, "{name}");
            assert!(!found.same_program);
        }
        let mut same = golden("unchanged");
        for series in &mut same.series {
            series.same_program = true;
        }
        assert!(judged(&null, &same).same_program);
    }

    #[test]
    fn the_function_to_blame_is_first_named_or_wrong() {
        let comparison = golden("counted-regressed");
        let instructions = |function: &str| {
            let row = row(Expect::Regressed, &[Metric::Instructions], Some(function));
            judged(&row, &comparison)
        };
        let list: Vec<String> = (comparison.series.iter())
            .flat_map(|series| &series.functions)
            .filter(|one| one.metric == Metric::Instructions)
            .map(|one| one.function.clone())
            .collect();
        let first = instructions(&list[0]);
        assert_eq!(
            (first.blame, first.functions.first()),
            (Some(Blame::First), Some(&list[0]))
        );
        assert_eq!(instructions("no_such_function").blame, Some(Blame::Wrong));
        let other = list.iter().find(|name| !list[0].contains(*name)).unwrap();
        assert_eq!(instructions(other).blame, Some(Blame::Named));
        assert_eq!(
            judged(&row(Expect::Regressed, &[Metric::Instructions], None), &comparison).blame,
            None
        );
    }

    #[test]
    fn where_no_cost_is_known_the_functions_that_do_more_are_looked_at() {
        let mut comparison = golden("regressed");
        let row = row(
            Expect::Regressed,
            &[Metric::ServerCpu],
            Some("(anonymous) at http.js:9"),
        );
        let change = |line| FunctionWorkChange {
            function: "(anonymous)".into(),
            source: Some(Source::at("src/http.js", line)),
            baseline: 0.0,
            candidate: 1.0,
            kind: WorkKind::Changed,
        };
        for (lines, blame) in [
            (vec![9], Blame::First),
            (vec![15, 9], Blame::Named),
            (vec![15], Blame::Wrong),
        ] {
            comparison.series[0].work = Some(WorkChange {
                unit: "block".into(),
                functions: lines.iter().copied().map(change).collect(),
            });
            let found = judged(&row, &comparison);
            assert_eq!((found.blame, found.functions.len()), (Some(blame), lines.len()));
        }
        let sampled = FunctionChange {
            metric: Metric::ServerCpu,
            function: "(anonymous)".into(),
            baseline: 1.0,
            candidate: 2.0,
            share_percent: 10.0,
            own_code: true,
            caller: None,
            source: Some(Source::at("src/http.js", 9)),
        };
        comparison.series[0].functions = vec![sampled];
        assert_eq!(
            judged(&row, &comparison).blame,
            Some(Blame::First),
            "samples tell a cost"
        );
    }

    #[test]
    fn a_system_call_is_blamed_on_the_function_that_makes_it() {
        let mut comparison = golden("counted-regressed");
        let functions = &mut comparison
            .series
            .iter_mut()
            .find(|one| !one.functions.is_empty())
            .unwrap()
            .functions;
        functions.truncate(1);
        (functions[0].metric, functions[0].function) = (Metric::Syscalls, "write".into());
        functions[0].caller = Some("http_server::current_weather".into());
        for metric in comparison.series.iter_mut().flat_map(|one| &mut one.metrics) {
            if metric.metric == Metric::Instructions {
                metric.metric = Metric::Syscalls;
            }
        }
        let found = judged(
            &row(Expect::Regressed, &[Metric::Syscalls], Some("current_weather")),
            &comparison,
        );
        assert_eq!(found.blame, Some(Blame::First));
        assert_eq!(found.functions, ["write by http_server::current_weather"]);
    }

    #[test]
    fn without_a_comparison_there_is_an_error_with_its_reason() {
        let row = row(Expect::Same, &[], None);
        let found = judge(Case { row: &row, number: 1 }, Err("the build failed".into()), 2.0);
        assert_eq!(
            (found.finding, found.reason.as_str(), found.verdict),
            (Finding::Error, "the build failed", None)
        );
    }
}
