//! Tests what is admitted, what is refused, and that no foreign text is kept.

use super::*;
use crate::strict;
use wirebench_record::comparison::ComparedMetric;
use wirebench_record::counts::Source;
use wirebench_record::reason::{MetricReason, SeriesReason};
use wirebench_testing::golden;

const OF: ComparedCommits = ComparedCommits {
    head: "b81e05d44c7f9a236e10bb58cf7214d90a3e6d72",
    base: "3f9d2c71a0b84e5596c8d17e2fa4b03c9d51e8f6",
};

fn value(name: &str) -> Value {
    strict::parse(&serde_json::to_vec(&golden(name)).unwrap()).unwrap()
}

fn refused(name: &str, place: &str, by: Value) -> String {
    let mut value = value(name);
    // A field that is absent where it says nothing is added.
    let (object, field) = place.rsplit_once('/').expect("a place within the comparison");
    match value.pointer_mut(object) {
        Some(Value::Object(fields)) => drop(fields.insert(field.to_owned(), by)),
        _ => *value.pointer_mut(place).unwrap_or_else(|| panic!("no {place}")) = by,
    }
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
        "not-judged",
        "improved-but-worse",
        "new-call",
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
        ("/schema", "wirebench.comparison/v3".into()),
        ("/verdict", "unchanged".into()),
        ("/verdict", "not_judged".into()),
        ("/series/0/metrics/0/verdict", "not_judged".into()),
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
        ("/series/0/metrics/0/margin_percent", 100.1.into()),
        ("/series/0/metrics/0/margin_percent", 1e11.into()),
        ("/method/inconclusive_above_percent", 101.into()),
        ("/series/0/metrics/0/effect_low_percent", 1.1.into()),
        ("/series/0/metrics/0/effect_high_percent", 1.0.into()),
        ("/series/0/metrics/0/worse_at_most_percent", 0.1.into()),
        ("/baseline/revision/commit", Value::Null),
        ("/baseline/revision/commit", "main".into()),
        ("/series/0/metrics/0/p_worse", 2.0.into()),
        ("/series/0/metrics/0/stage", 9.into()),
        ("/series/0/metrics/0/kept", 9.into()),
        ("/series/0/functions/0/metric", "peak_rss".into()),
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
fn a_series_without_metrics_is_unchanged_only_if_both_sides_run_the_same_program() {
    let mut given = golden("same-program");
    given.series[0].same_program = false;
    assert!(checked(given, &OF).is_err());
    let mut given = golden("regressed");
    given.series[0].same_program = true;
    let why = checked(given, &OF).unwrap_err().to_string();
    assert!(why.contains("same_program"), "{why}");
}

#[test]
fn a_claim_that_both_sides_run_one_program_passes_nothing() {
    let found = checked(golden("same-program"), &OF).unwrap();
    assert_eq!(found.verdict, Verdict::NotJudged);
    assert!(
        found
            .series
            .iter()
            .all(|series| series.same_program && series.verdict.is_none())
    );
    // Beside a series that was measured, that one's verdict is the whole one's.
    let mut given = golden("unchanged");
    given.series[1] = golden("same-program").series.swap_remove(1);
    assert_eq!(checked(given, &OF).unwrap().verdict, Verdict::Unchanged);
}

/// A metric that gates passes only with an interval that says so; one that informs may be without.
#[test]
fn what_gates_is_unchanged_or_improved_only_by_its_interval() {
    let with = |name: &str, change: fn(&mut ComparedMetric)| {
        let mut given = golden(name);
        let metrics = given.series.iter_mut().flat_map(|series| &mut series.metrics);
        metrics.filter(|metric| metric.primary).for_each(change);
        checked(given, &OF).map(|found| found.verdict)
    };
    for name in ["unchanged", "improved"] {
        assert!(with(name, |_| ()).is_ok());
        let without = with(name, |metric| {
            (metric.effect_low_percent, metric.effect_high_percent) = (None, None);
        });
        let one_end = with(name, |metric| metric.effect_low_percent = None);
        for refused in [without, one_end] {
            assert!(
                refused.unwrap_err().to_string().contains("verdict: does not fit"),
                "{name}"
            );
        }
    }
    let reaching_zero = with("improved", |metric| {
        (metric.effect_high_percent, metric.worse_at_most_percent) = (Some(0.5), Some(0.5));
    });
    assert!(reaching_zero.is_err());
    // Consistent in itself, and still no worsening that anybody has excluded.
    let open = with("unchanged", |metric| {
        (metric.effect_high_percent, metric.worse_at_most_percent) = (Some(900.0), Some(900.0));
    });
    assert!(open.is_err());
    let mut informs = golden("unchanged");
    for metric in informs.series.iter_mut().flat_map(|series| &mut series.metrics) {
        if !metric.primary {
            (metric.effect_low_percent, metric.effect_high_percent) = (None, None);
        }
    }
    assert!(checked(informs, &OF).is_ok());
}

#[test]
fn a_change_of_900_percent_beside_a_bound_of_a_tenth_is_refused() {
    let mut given = golden("unchanged");
    let metric = &mut given.series[0].metrics[0];
    metric.effect_percent = Some(900.0);
    metric.candidate = metric.baseline.map(|baseline| baseline * 10.0);
    metric.worse_at_most_percent = Some(0.1);
    for ends in [None, Some((-0.1, 0.1)), Some((0.05, 900.0))] {
        let metric = &mut given.series[0].metrics[0];
        (metric.effect_low_percent, metric.effect_high_percent) = (ends.map(|ends| ends.0), ends.map(|ends| ends.1));
        assert!(checked(given.clone(), &OF).is_err(), "{ends:?}");
    }
}

#[test]
fn the_base_that_is_named_is_the_one_that_was_measured_and_the_one_of_today_stands_beside_it() {
    let today = "0123456789abcdef0123456789abcdef01234567";
    let found = checked(golden("regressed"), &ComparedCommits { base: today, ..OF }).unwrap();
    assert_eq!(found.baseline.revision.commit.as_deref(), Some(OF.base));
    assert_eq!(
        found.repeat,
        format!(
            "wirebench run --baseline {} --candidate {} --profile quick --seed 42",
            OF.base, OF.head
        )
    );
    let note = Note::OtherBase {
        measured: "3f9d2c71a0b8".into(),
        now: "0123456789ab".into(),
    };
    assert_eq!(found.notes[0], note);
    assert!(!checked(golden("regressed"), &OF).unwrap().notes.contains(&note));
}

#[test]
fn the_command_that_repeats_it_keeps_profile_rounds_seed_and_budget_and_nothing_else() {
    let repeat = |given: &str| {
        let comparison = Comparison {
            repeat: given.into(),
            ..golden("regressed")
        };
        checked(comparison, &OF).unwrap().repeat
    };
    let start = format!("wirebench run --baseline {} --candidate {}", OF.base, OF.head);
    let kept = " --profile quick --scenario weather-fixed-count --budget 6m --rounds 12 --seed 42";
    assert_eq!(
        repeat(&format!("wirebench run --baseline main{kept}")),
        format!("{start}{kept}")
    );
    for evil in [
        "wirebench run --profile $(evil) --seed -1 --budget 6m;evil --rounds 1e3",
        "evil --seed",
        "wirebench run --root /evil --server-host ssh://evil --profile",
        "--profile quick;evil --scenario -evil --budget 99999m",
        "--seed\n7 --profile evil\u{202e}",
    ] {
        assert_eq!(repeat(evil), start, "{evil}");
    }
    let long = repeat(&" --seed 7".repeat(1000));
    assert!(long.len() < 400, "{} bytes", long.len());
}

#[test]
fn an_older_versions_unchanged_over_nothing_is_read_as_not_judged() {
    let mut given = golden("not-judged");
    given.verdict = Verdict::Unchanged;
    assert_eq!(checked(given, &OF).unwrap().verdict, Verdict::NotJudged);
}

#[test]
fn timed_values_that_say_something_else_than_the_percentage_are_refused() {
    assert!(refused("regressed", "/series/0/metrics/0/candidate", 40_000.0.into()).contains("two figures"));
}

#[test]
fn what_a_newer_version_adds_is_dropped_everywhere() {
    let known = admit(value("counted-regressed"), &OF).unwrap();
    let mut newer = value("counted-regressed");
    for place in [
        "",
        "/host",
        "/tools/0",
        "/series/0",
        "/series/0/metrics/0",
        "/series/0/metrics/0/reason",
        "/series/0/functions/0",
        "/method",
        "/baseline/revision",
    ] {
        let object = newer.pointer_mut(place).and_then(Value::as_object_mut).expect(place);
        let nested = serde_json::json!({ "evil": ["evil", { "evil": 7 }] });
        object.insert("::set-output name=pull_request".into(), nested);
    }
    let metrics = newer.pointer_mut("/series/0/metrics").unwrap().as_array_mut().unwrap();
    let mut new_metric = metrics[0].clone();
    (new_metric["metric"], new_metric["primary"]) = ("evil".into(), false.into());
    metrics.push(new_metric);
    let found = admit(newer, &OF).unwrap();
    assert_eq!(found, known);
    assert!(!serde_json::to_string(&found).unwrap().contains("evil"));
}

#[test]
fn kinds_of_reasons_and_notes_that_a_newer_version_adds_are_left_out() {
    let new_kind = serde_json::json!({ "kind": "evil", "percent": 7 });
    let mut newer = value("counted-regressed");
    *newer.pointer_mut("/series/0/metrics/0/reason").unwrap() = new_kind.clone();
    *newer.pointer_mut("/series/0/reason").unwrap() = new_kind.clone();
    *newer.pointer_mut("/notes").unwrap() = serde_json::json!([new_kind]);
    let found = admit(newer, &OF).unwrap();
    assert_eq!(found.series[0].metrics[0].reason, MetricReason::Elsewhere);
    assert_eq!(found.notes, [Note::Elsewhere { notes: 1 }]);
}

#[test]
fn a_metric_that_gates_and_is_not_known_is_refused_and_not_repeated() {
    let why = refused("counted-regressed", "/series/0/metrics/0/metric", "evil".into());
    assert!(why.contains("metrics") && !why.contains("evil"), "{why}");
}

#[test]
fn a_newer_version_is_refused_with_what_to_do() {
    let why = refused("regressed", "/schema", "wirebench.comparison/v3".into());
    assert!(why.contains("newer") && why.contains("version:"), "{why}");
    for other in [
        "wirebench.comparison/v",
        "wirebench.run/v3",
        "wirebench.comparison/v3 evil",
    ] {
        let why = refused("regressed", "/schema", other.into());
        assert!(
            why.contains("is no wirebench.comparison/v2") && !why.contains("evil"),
            "{why}"
        );
    }
}

#[test]
fn no_text_of_a_record_is_left_but_names() {
    let mut given = golden("mixed");
    given.notes.push(Note::Text {
        text: "@everyone".into(),
    });
    given.notes.push(Note::NotFinished {
        why: "@everyone".into(),
    });
    given.repeat = "wirebench run; curl evil.example".into();
    given.host.cpu_model = Some("An evil sentence".into());
    given.host.kernel = "see evil.example 1".into();
    given.tools[0].version = "evil words".into();
    given.baseline.revision.name = Some("evil".into());
    given.candidate.revision.commit = Some("e".repeat(40));
    given.method.gates = Some("evil".into());
    for series in &mut given.series {
        series.reason = series
            .reason
            .as_ref()
            .map(|_| SeriesReason::Text { text: "evil".into() });
        for metric in &mut series.metrics {
            metric.reason = MetricReason::Text { text: "evil".into() };
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
fn a_system_call_has_a_caller_with_an_inert_name() {
    let mut given = golden("counted-regressed");
    let change = &mut given.series[0].functions[0];
    (change.metric, change.function) = (Metric::Syscalls, "write".into());
    change.caller = Some("shop::price](https://evil.example)".into());
    let caller = |given| checked(given, &OF).map(|found| found.series[0].functions[0].caller.clone());
    assert_eq!(caller(given.clone()).unwrap().unwrap(), function_name::OTHER);
    given.series[0].functions[0].own_code = true;
    assert!(caller(given.clone()).is_err());
    let change = &mut given.series[0].functions[0];
    (change.own_code, change.metric) = (true, Metric::Instructions);
    assert!(caller(given).is_err());
}

#[test]
fn what_functions_do_is_admitted_with_inert_names_and_possible_counts() {
    let with = |unit: &str, name: &str, candidate: f64| {
        let mut given = golden("counted-regressed");
        given.series[0].work = Some(WorkChange {
            unit: unit.into(),
            functions: vec![FunctionWorkChange {
                function: name.into(),
                source: Some(Source::at("../../etc/passwd", 1)),
                baseline: 1.0,
                candidate,
                kind: wirebench_record::comparison::WorkKind::Changed,
            }],
        });
        checked(given, &OF).map(|found| found.series[0].work.clone().unwrap().functions.remove(0))
    };
    let found = with("block", "order](https://evil.example)", 3.0).unwrap();
    assert_eq!((found.function.as_str(), found.source), (function_name::OTHER, None));
    assert_eq!(with("block", "Basket.total", 3.0).unwrap().function, "Basket.total");
    assert!(with("@everyone", "order", 3.0).is_err() && with("block", "order", -1.0).is_err());
}

#[test]
fn functions_keep_their_place_only_where_it_is_one_of_the_repository() {
    let place = |file: &str, line, last_line| {
        let mut given = golden("counted-regressed");
        let file = file.into();
        given.series[0].functions[0].source = Some(Source { file, line, last_line });
        checked(given, &OF).unwrap().series[0].functions[0].source.clone()
    };
    assert!(place("servers/http/src/main.rs", 12, None).is_some());
    assert!(place("servers/http/src/main.rs", 12, Some(12)).is_some());
    for (file, line) in [("/etc/passwd", 1), ("../x", 1), ("a b", 1), ("a", 0), ("a", u32::MAX)] {
        assert_eq!(place(file, line, None), None, "{file}");
    }
    for last in [0, 11, u32::MAX] {
        assert_eq!(place("a", 12, Some(last)), None, "{last}");
    }
}
