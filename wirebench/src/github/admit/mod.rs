//! A comparison out of an artifact → one that may be shown: names by what names may hold, numbers within sane ranges,
//! verdicts that agree with each other, and no text that somebody else wrote.
//!
//! Forged numbers cannot be told from true ones; they can only be held to be possible, and to be the pull request's own.

mod metric;
mod phrases;

use serde_json::Value;

use crate::github::names;
use crate::github::said::said;
use crate::github::{Refusal, refuse};
use crate::record::comparison::{ComparedSeries, Comparison, FunctionChange, Method, Presence, SCHEMA, Side, Verdict};
use crate::record::counts::Source;
use crate::record::metric::Metric;
use crate::record::run::{Host, ToolVersion, Variant, VariantRevision};

/// Series of one comparison, at most.
pub const SERIES: usize = 500;
/// Functions of one series, at most.
const FUNCTIONS: usize = 60;
/// Programs, and notes, at most.
const FEW: usize = 64;

/// What the API says a comparison is of.
#[derive(Debug, Clone, Copy)]
pub struct Of<'a> {
    /// The commit at the pull request's head, 40 hex digits.
    pub head: &'a str,
    /// The commit it is offered to, likewise.
    pub base: &'a str,
}

/// Admits what [`crate::github::strict::parse`] read.
///
/// # Errors
/// At the first thing that this program would not have written; says where it stands, and repeats nothing of it.
pub fn admit(value: Value, of: &Of) -> Result<Comparison, Refusal> {
    if value.get("schema").and_then(Value::as_str) != Some(SCHEMA) {
        refuse!("the artifact's file is no {SCHEMA}");
    }
    let comparison: Comparison = serde_path_to_error::deserialize(value).map_err(|error| {
        let place = said(&error.path().to_string());
        Refusal::new(format!(
            "the artifact's file is no {SCHEMA}: {place} is not as the schema says"
        ))
    })?;
    checked(comparison, of)
}

/// Admits a comparison.
///
/// # Errors
/// As [`admit`].
pub fn checked(given: Comparison, of: &Of) -> Result<Comparison, Refusal> {
    let Comparison {
        schema,
        verdict,
        baseline,
        candidate,
        paired,
        notes,
        method,
        host,
        tools,
        repeat: _,
        series,
    } = given;
    if schema != SCHEMA {
        refuse!("schema: is not {SCHEMA}");
    }
    if !paired || baseline.run != candidate.run || !names::is_run(&candidate.run) {
        refuse!("paired, baseline.run, candidate.run: both sides are to be of one run with a run's name");
    }
    if series.len() > SERIES || tools.len() > FEW || notes.len() > FEW {
        refuse!("series, tools, notes: more than the {SERIES} or {FEW} that are read");
    }
    let run = candidate.run;
    let series = every_series(series)?;
    let worst = series.iter().filter_map(|series| series.verdict).min();
    if verdict != worst.unwrap_or(Verdict::Unchanged) {
        refuse!("verdict: is not that of the most alarming series");
    }
    Ok(Comparison {
        schema,
        verdict,
        baseline: side(Variant::Baseline, of.base, run.clone()),
        candidate: side(Variant::Candidate, of.head, run),
        paired,
        notes: phrases::notes(&notes),
        method: self::method(method)?,
        host: self::host(host)?,
        tools: tools.into_iter().filter(is_tool).collect(),
        repeat: format!("wirebench run --baseline {} --candidate {}", of.base, of.head),
        series,
    })
}

fn side(variant: Variant, commit: &str, run: String) -> Side {
    let revision = VariantRevision {
        variant,
        commit: Some(commit.to_owned()),
        modified: None,
        name: None,
        committed_at: None,
    };
    Side { run, revision }
}

fn method(method: Method) -> Result<Method, Refusal> {
    let percent = |name: &str, value: f64| {
        let possible = (0.0..=1000.0).contains(&value);
        if possible {
            Ok(value)
        } else {
            Err(Refusal::new(format!("method.{name}: no possible percentage")))
        }
    };
    if method.tests.0 > 100_000 || method.tests.1 > 100_000 {
        refuse!("method.tests: more tests than metrics");
    }
    Ok(Method {
        seed: method.seed,
        false_alarm_at_most_percent: percent("false_alarm_at_most_percent", method.false_alarm_at_most_percent)?,
        detect_percent: percent("detect_percent", method.detect_percent)?,
        inconclusive_above_percent: percent("inconclusive_above_percent", method.inconclusive_above_percent)?,
        tests: method.tests,
        gates: method.gates.map(|_| phrases::GATES.to_owned()),
    })
}

fn host(host: Host) -> Result<Host, Refusal> {
    if !names::is_fingerprint(&host.fingerprint) {
        refuse!("host.fingerprint: is not twelve hex digits");
    }
    if !(1..=65_536).contains(&host.cpu_count) || host.memory_bytes.is_some_and(|bytes| bytes > 1 << 50) {
        refuse!("host.cpu_count, host.memory_bytes: no possible machine");
    }
    let plain = |text: &String| names::is_plain(text);
    Ok(Host {
        cpu_model: host.cpu_model.filter(plain),
        kernel: if plain(&host.kernel) {
            host.kernel
        } else {
            "unknown kernel".into()
        },
        image: host.image.filter(plain),
        ..host
    })
}

fn is_tool(tool: &ToolVersion) -> bool {
    names::is_tool(&tool.name) && names::is_plain(&tool.version)
}

fn every_series(given: Vec<ComparedSeries>) -> Result<Vec<ComparedSeries>, Refusal> {
    let mut all: Vec<ComparedSeries> = Vec::new();
    for (place, series) in given.into_iter().enumerate() {
        let place = format!("series[{place}]");
        if all.iter().any(|known| known.id == series.id) {
            refuse!("{place}.id: stands twice");
        }
        all.push(one_series(series, &place)?);
    }
    Ok(all)
}

fn one_series(series: ComparedSeries, place: &str) -> Result<ComparedSeries, Refusal> {
    let ComparedSeries {
        id,
        scenario,
        presence,
        verdict,
        reason,
        metrics,
        functions,
    } = series;
    if !names::is_series(&id) || id.split('@').next() != Some(scenario.as_str()) {
        refuse!("{place}.id, scenario: is not scenario@server@driver");
    }
    if functions.len() > FUNCTIONS {
        refuse!("{place}.functions: more than {FUNCTIONS}");
    }
    let metrics = metric::all(metrics, place)?;
    let gating = metrics
        .iter()
        .filter(|metric| metric.primary && metric.accepted.is_none());
    let worst = gating.map(|metric| metric.verdict).min();
    let agrees = match presence {
        Presence::Both => {
            verdict == worst
                || (verdict == Some(Verdict::Invalid) && worst.is_none_or(|worst| worst >= Verdict::Invalid))
        }
        Presence::Added | Presence::Removed => verdict.is_none() && metrics.is_empty(),
    };
    if !agrees {
        refuse!("{place}.verdict: is not that of the most alarming metric that gates");
    }
    let functions = functions.into_iter().enumerate();
    let functions = functions.map(|(i, change)| function(change, &format!("{place}.functions[{i}]")));
    let whole = presence == Presence::Both && !metrics.is_empty() && verdict != Some(Verdict::Invalid);
    Ok(ComparedSeries {
        id,
        scenario,
        presence,
        verdict,
        reason: reason.and_then(|reason| phrases::series(&reason, whole)),
        functions: functions.collect::<Result<_, _>>()?,
        metrics,
    })
}

fn function(change: FunctionChange, place: &str) -> Result<FunctionChange, Refusal> {
    const BY_NAME: [Metric; 4] = [
        Metric::Instructions,
        Metric::Allocations,
        Metric::AllocatedBytes,
        Metric::Syscalls,
    ];
    if !BY_NAME.contains(&change.metric) {
        refuse!("{place}.metric: is not known by function");
    }
    let costs = [change.baseline, change.candidate];
    if !costs.iter().all(|cost| (0.0..=1e15).contains(cost)) || change.share_percent.abs() > 1e9 {
        refuse!("{place}: no possible cost");
    }
    let name = if change.metric == Metric::Syscalls {
        names::syscall
    } else {
        names::function
    };
    Ok(FunctionChange {
        function: name(&change.function),
        source: change.source.and_then(|source: Source| names::source(source)),
        ..change
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::github::strict;
    use crate::record::comparison::golden::golden;

    const OF: Of = Of {
        head: "b81e05d44c7f9a236e10bb58cf7214d90a3e6d72",
        base: "3f9d2c71a0b84e5596c8d17e2fa4b03c9d51e8f6",
    };

    fn value(name: &str) -> Value {
        strict::parse(&serde_json::to_vec(&golden(name)).unwrap()).unwrap()
    }

    fn refused(name: &str, place: &str, by: Value) -> String {
        let mut value = value(name);
        *value.pointer_mut(place).unwrap_or_else(|| panic!("no {place}")) = by;
        let found = admit(value, &OF).map(|found| found.verdict);
        found.expect_err(place).to_string()
    }

    #[test]
    fn whatever_this_program_writes_is_admitted_with_every_number() {
        for name in [
            "accepted",
            "added-removed",
            "counted-refused",
            "counted-regressed",
            "counted-unchanged",
            "improved",
            "inconclusive",
            "invalid",
            "mixed",
            "regressed",
            "unchanged",
        ] {
            let given = golden(name);
            let found = admit(value(name), &OF).unwrap_or_else(|why| panic!("{name}: {why}"));
            assert_eq!(
                (found.verdict, found.series.len()),
                (given.verdict, given.series.len()),
                "{name}"
            );
            for (found, given) in found.series.iter().zip(&given.series) {
                assert_eq!(
                    (&found.id, found.verdict, found.presence),
                    (&given.id, given.verdict, given.presence)
                );
                for (found, given) in found.metrics.iter().zip(&given.metrics) {
                    assert_eq!(
                        (found.metric, found.verdict, found.baseline, found.effect_percent),
                        (given.metric, given.verdict, given.baseline, given.effect_percent)
                    );
                }
            }
        }
    }

    #[test]
    fn two_runs_beside_each_other_are_no_pull_request() {
        assert!(admit(value("unpaired"), &OF).is_err());
    }

    #[test]
    fn what_this_program_would_not_write_is_refused_by_its_place() {
        let name = "counted-regressed";
        for (place, by) in [
            ("/schema", "wirebench.comparison/v2".into()),
            ("/verdict", "unchanged".into()),
            ("/paired", false.into()),
            ("/candidate/run", "::error::x".into()),
            ("/host/fingerprint", "<b>".into()),
            ("/host/cpu_count", 0.into()),
            ("/method/detect_percent", (-1).into()),
            ("/method/tests", serde_json::json!([4_000_000, 1])),
            ("/series/0/id", "a@b@<img>".into()),
            ("/series/0/id", "other@http@hey".into()),
            ("/series/0/scenario", "other".into()),
            ("/series/0/verdict", "unchanged".into()),
            ("/series/0/presence", "added".into()),
            ("/series/0/metrics/0/unit", "[x](http://evil.example)".into()),
            ("/series/0/metrics/0/unit", "bytes".into()),
            ("/series/0/metrics/0/better", "higher".into()),
            ("/series/0/metrics/0/metric", "driver_cpu".into()),
            ("/series/0/metrics/4/verdict", "unchanged".into()),
            ("/series/0/metrics/0/verdict", "improved".into()),
            ("/series/1/verdict", "improved".into()),
            ("/series/0/metrics/1/accepted", "because".into()),
            ("/series/0/metrics/0/baseline", (-1.0).into()),
            ("/series/0/metrics/0/effect_percent", (-5.0).into()),
            ("/series/0/metrics/0/effect_percent", 1e300.into()),
            ("/series/0/metrics/0/effect_low_percent", 500.0.into()),
            ("/series/0/metrics/0/margin_percent", (-1.0).into()),
            ("/series/0/metrics/0/p_worse", 2.0.into()),
            ("/series/0/metrics/0/stage", 9.into()),
            ("/series/0/metrics/0/kept", 9.into()),
            ("/series/0/functions/0/metric", "throughput".into()),
            ("/series/0/functions/0/candidate", (-1.0).into()),
            ("/series/0/metrics/1/metric", "instructions".into()),
        ] {
            let why = refused(name, place, by);
            assert!(
                !why.contains("evil") && !why.contains('<') && !why.contains("::"),
                "{why}"
            );
        }
        assert!(refused(name, "/series/1/id", "count-weather@http@hey".into()).contains("series[1]"));
    }

    #[test]
    fn unknown_keys_are_refused_everywhere_and_not_repeated() {
        for place in [
            "",
            "/host",
            "/series/0",
            "/series/0/metrics/0",
            "/series/0/functions/0",
            "/method",
            "/baseline/revision",
        ] {
            let mut value = value("counted-regressed");
            let object = value.pointer_mut(place).and_then(Value::as_object_mut).unwrap();
            object.insert("::set-output name=pull_request".into(), 7.into());
            let why = admit(value, &OF).unwrap_err().to_string();
            assert!(!why.contains("::"), "{why}");
        }
    }

    #[test]
    fn no_text_of_a_record_is_left_but_names() {
        let mut given = golden("mixed");
        given.notes.push("@everyone".into());
        given.repeat = "wirebench run; curl evil.example".into();
        given.host.cpu_model = Some("<b>evil</b>".into());
        given.tools[0].version = "evil\n::error::".into();
        given.baseline.revision.name = Some("evil".into());
        given.candidate.revision.commit = Some("e".repeat(40));
        given.method.gates = Some("evil".into());
        for series in &mut given.series {
            series.reason = series.reason.as_ref().map(|_| "evil".into());
            for metric in &mut series.metrics {
                metric.reason = "evil".into();
                metric.accepted = metric.accepted.as_ref().map(|_| "evil".into());
                metric.flame_graph = Some("https://evil.example".into());
            }
        }
        let text = serde_json::to_string(&checked(given, &OF).unwrap()).unwrap();
        assert!(
            !text.contains("evil") && !text.contains("@everyone") && !text.contains("eeee"),
            "{text}"
        );
        assert!(text.contains(OF.head) && text.contains(OF.base));
    }

    #[test]
    fn functions_keep_their_place_only_where_it_is_one_of_the_repository() {
        let place = |file: &str, line| {
            let mut given = golden("counted-regressed");
            given.series[0].functions[0].source = Some(Source {
                file: file.into(),
                line,
            });
            checked(given, &OF).unwrap().series[0].functions[0].source.clone()
        };
        assert!(place("servers/http/src/main.rs", 12).is_some());
        for (file, line) in [("/etc/passwd", 1), ("../x", 1), ("a b", 1), ("a", 0), ("a", u32::MAX)] {
            assert_eq!(place(file, line), None, "{file}");
        }
    }
}
