//! Hand-made and random records, judged and rendered: every number, sentence and verdict of a row must agree.

use std::collections::BTreeMap;

use proptest::prelude::{
    Just, ProptestConfig, Strategy, TestCaseError, any, prop, prop_assert, prop_assert_eq, prop_oneof, proptest,
};

use wirebench_declare::compare::{Compare, Margins};
use wirebench_github::admit::{Of, checked};
use wirebench_judge::compare::{self, Rules};
use wirebench_judge::selftest::{Model, Source as _};
use wirebench_judge::summary::comparison::{Findings, Standing, contradiction};
use wirebench_present::report::comparison::words::{effect, sentence, size};
use wirebench_present::report::comparison::{headline, markdown, reasons, terminal};
use wirebench_present::report::escape::prose;
use wirebench_present::report::format::plain;
use wirebench_record::comparison::{ComparedMetric, Comparison, Verdict};
use wirebench_record::counts::{CountStatus, Counts, Figure};
use wirebench_record::metric::{Better, Metric};
use wirebench_record::reason::{MetricReason, NoSecondStage, Note, SeriesReason};
use wirebench_record::run::{Bound, CpuTime, Latency, LoadRecord, Round, RoundStatus, Run, Series, Variant};

/// A run without rounds, and its one series.
fn empty() -> (Run, Series) {
    let mut run = Model::new(1, 0.01, 0.0, 7).empty();
    let series = run.series.remove(0);
    (run, series)
}

fn judged(run: &Run) -> Comparison {
    let (compare, margins) = (Compare::default(), Margins::default());
    let rules = Rules {
        compare: &compare,
        margins: &margins,
    };
    compare::paired(run, &rules).unwrap()
}

fn needs_second_stage(run: &Run) -> bool {
    second_stage(run, 3600).is_some()
}

/// The second stage of a run in which a pair takes one second and the given number of seconds is left.
fn second_stage(run: &Run, left: u64) -> Option<compare::Second> {
    let (compare, margins) = (Compare::default(), Margins::default());
    let rules = Rules {
        compare: &compare,
        margins: &margins,
    };
    let time = compare::Time {
        left: std::time::Duration::from_secs(left),
        pair: vec![std::time::Duration::from_secs(1); run.series.len()],
    };
    compare::second_stage(run, &rules, &time)
}

/// One round: the logarithms by which CPU, elapsed time, p50 and p99 exceed 10 µs, 1 s, 1 ms and 5 ms.
type Bad = [f64; 4];

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "positive and far below 2^53"
)]
fn round(variant: Variant, number: u32, stage: u32, bad: Bad, bound: Option<Bound>) -> Round {
    let ns = |base: f64, bad: f64| (base * bad.exp()) as u64;
    let (p50, p99) = (ns(1e6, bad[2]), ns(5e6, bad[3]));
    Round {
        status: RoundStatus::Ok,
        elapsed_ns: Some(ns(1e9, bad[1])),
        ok_count: Some(20_000),
        failed_count: Some(0),
        latency_ns: Some(Latency {
            min: 1,
            mean: p50,
            p50,
            p90: p99,
            p95: p99,
            p99,
            p999: p99,
            max: p99,
        }),
        server_cpu_ns: Some(CpuTime {
            user: ns(2e8, bad[0]),
            system: 0,
        }),
        bound,
        ..Round::unmeasured(variant, number, 0, stage)
    }
}

/// A run of one timed series: `first` pairs in stage 1 and `second` in stage 2; `of` gives the values of a pair by its
/// number.
fn timed(first: u32, second: u32, of: impl Fn(u32) -> (Bad, Bad), bound: [Option<Bound>; 2]) -> Run {
    let (mut run, mut series) = empty();
    for number in 0..first + second {
        let stage = if number < first { 1 } else { 2 };
        let (base, head) = of(number);
        series
            .rounds
            .push(round(Variant::Baseline, number, stage, base, bound[0]));
        series
            .rounds
            .push(round(Variant::Candidate, number, stage, head, bound[1]));
    }
    run.rounds_planned = first;
    run.series.push(series);
    run
}

/// A little noise that differs from round to round.
fn noise(number: u32) -> f64 {
    f64::from(number * 7 % 11) * 0.001
}

/// Equal CPU; all other metrics slower by this logarithm.
fn waits(by: f64) -> impl Fn(u32) -> (Bad, Bad) {
    move |number| {
        let (one, other) = (noise(number), noise(number + 3));
        ([one; 4], [other, other + by, other + by, other + by])
    }
}

fn metric(comparison: &Comparison, metric: Metric) -> &ComparedMetric {
    let mut all = comparison.series.iter().flat_map(|series| &series.metrics);
    all.find(|one| one.metric == metric).unwrap()
}

fn counts(variant: Variant, figures: &[(Metric, Option<f64>, f64)], calls: &[(&str, f64)]) -> Counts {
    let figure = |(metric, value, spread): &(Metric, Option<f64>, f64)| Figure {
        metric: *metric,
        value: *value,
        spread: Some(*spread),
        refused: value.is_none().then(|| "repetitions differ".to_owned()),
        by_layout: Vec::new(),
        points: Vec::new(),
    };
    Counts {
        figures: figures.iter().map(figure).collect(),
        syscalls: calls
            .iter()
            .map(|(name, calls)| ((*name).to_owned(), *calls))
            .collect::<BTreeMap<_, _>>(),
        reason: None,
        ..Counts::without(variant, CountStatus::Ok, String::new())
    }
}

fn counted(base: Counts, head: Counts) -> Series {
    Series {
        id: "count-ask@simulated@hey".into(),
        scenario: "count-ask".into(),
        load: LoadRecord {
            counted: Some(600),
            ..LoadRecord::default()
        },
        counts: vec![base, head],
        ..empty().1
    }
}

#[test]
fn a_large_loss_of_throughput_gates_by_default_unless_the_client_was_the_limit() {
    let run = timed(10, 20, waits(0.5), [Some(Bound::Client), Some(Bound::Neither)]);
    let comparison = judged(&run);
    let lost = metric(&comparison, Metric::Throughput);
    assert_eq!(
        (comparison.verdict, lost.verdict, lost.primary),
        (Verdict::Regressed, Verdict::Regressed, true)
    );
    assert_eq!(lost.reason, MetricReason::WorseThanGate { percent: 10.0 });
    assert_eq!(
        reasons::metric(&lost.reason),
        "worse by more than 10 %, from where it gates"
    );
    assert!(
        terminal::one_line(&comparison).contains("✗ Regressed"),
        "{}",
        terminal::one_line(&comparison)
    );

    let bound = judged(&timed(10, 20, waits(0.5), [Some(Bound::Neither), Some(Bound::Client)]));
    let lost = metric(&bound, Metric::LatencyP50);
    assert_eq!((lost.verdict, lost.primary), (Verdict::Regressed, false));
    assert_eq!(lost.reason, MetricReason::WorseButClientBound { percent: 10.0 });
    assert_ne!(bound.verdict, Verdict::Regressed);
    let line = terminal::one_line(&bound);
    assert!(
        line.contains("But worse, not gating:") && line.contains("throughput"),
        "{line}"
    );
    assert!(!terminal::render(&bound, None).contains("nothing to do"));
}

#[test]
fn a_loss_below_ten_percent_is_in_the_headline_and_does_not_gate() {
    let comparison = judged(&timed(10, 20, waits(0.06), [None, None]));
    let lost = metric(&comparison, Metric::Throughput);
    assert_eq!((lost.verdict, lost.primary), (Verdict::Regressed, false));
    let line = terminal::one_line(&comparison);
    assert!(
        line.starts_with("= Unchanged, but worse in metrics that do not gate."),
        "{line}"
    );
    assert!(line.contains("throughput −5.7 %"), "{line}");
}

#[test]
fn what_looks_worse_by_more_than_ten_percent_gets_fresh_rounds_whatever_ten_pairs_prove() {
    // Half of the pairs a little better, half much worse: the median is far off, and no test of ten pairs passes.
    let of = |number: u32| {
        let worse = if number.is_multiple_of(2) { 0.40 } else { -0.05 };
        let base = noise(number);
        ([base; 4], [base, base + worse, base, base])
    };
    let run = timed(10, 0, of, [None, None]);
    assert!(needs_second_stage(&run));
    assert!(!needs_second_stage(&timed(10, 0, waits(0.0), [None, None])));
}

#[test]
fn where_time_is_short_what_may_have_changed_is_measured_anew_and_what_is_unsure_is_not() {
    let unsure = |number: u32| {
        let off = if number.is_multiple_of(2) { 0.1 } else { -0.1 };
        ([noise(number); 4], [noise(number) + off; 4])
    };
    let mut run = timed(10, 0, waits(0.2), [None, None]);
    run.series.extend(timed(10, 0, unsure, [None, None]).series);
    assert_eq!(second_stage(&run, 100).unwrap().series, [0, 1]);
    let short = second_stage(&run, 10).unwrap();
    assert_eq!((short.series, short.rounds), (vec![0], 10), "{}", short.why);
    assert_eq!(second_stage(&run, 5), None);
}

#[test]
fn where_time_is_too_short_for_all_that_may_have_changed_the_worst_is_measured_anew() {
    let mut run = timed(10, 0, waits(0.2), [None, None]);
    for by in [0.5, 0.3] {
        let all = move |number: u32| ([noise(number); 4], [noise(number + 3) + by; 4]);
        run.series.extend(timed(10, 0, all, [None, None]).series);
    }
    assert_eq!(second_stage(&run, 30).unwrap().series, [0, 1, 2]);
    assert_eq!(second_stage(&run, 17).unwrap().series, [1, 2]);
    let one = second_stage(&run, 15).unwrap();
    assert_eq!((one.series, one.rounds), (vec![1], 15), "{}", one.why);
    assert_eq!(second_stage(&run, 7), None);
}

#[test]
fn why_there_are_no_fresh_rounds_is_said() {
    let why = |run: &Run| judged(run).method.no_second_stage;
    let none = why(&timed(10, 0, waits(0.0), [None, None])).unwrap();
    assert_eq!(none, NoSecondStage::NothingLookedChanged);
    let calm = judged(&timed(10, 0, waits(0.0), [None, None]));
    assert!(
        !calm.notes.iter().any(|note| matches!(note, Note::NoSecondStage { .. })),
        "{:?}",
        calm.notes
    );
    let text = terminal::render(&calm, None);
    assert!(
        !text.contains("at most 5 %") && text.contains("was not tested: no fresh rounds"),
        "{text}"
    );
    let time = judged(&timed(10, 0, waits(0.3), [None, None]));
    assert!(
        time.notes
            .iter()
            .any(|note| reasons::note(note).contains("no time was left in the budget")),
        "{:?}",
        time.notes
    );
    let few = why(&timed(5, 0, waits(0.3), [None, None])).unwrap();
    let asked_for_few = NoSecondStage::TooFewRounds {
        rounds: 5,
        needed: 8,
        minutes: None,
    };
    assert_eq!(few, asked_for_few);
    // A pair of rounds takes some 7 s: 1 s of load, the warm-up and 2 s around it on each side.
    let mut cut = timed(5, 0, waits(0.3), [None, None]);
    cut.rounds_planned = 10;
    cut.spent.measure_ns = 30_000_000_000;
    cut.spent.load_ns = 10_000_000_000;
    let text = terminal::render(&judged(&cut), None);
    assert!(
        text.contains("Repeat the measurement with --budget 3m, which is enough at this pace"),
        "{text}"
    );
    assert_eq!(why(&timed(10, 20, waits(0.3), [None, None])), None);
}

#[test]
fn a_change_that_only_the_ranks_show_is_inconclusive() {
    let cpu = [
        (192_231_744, 202_354_624),
        (200_000_000, 179_714_887),
        (196_817_433, 200_000_000),
        (200_000_000, 202_085_862),
        (190_697_893, 200_000_000),
        (203_759_732, 207_434_461),
        (200_000_000, 206_841_715),
        (193_208_664, 200_000_000),
    ];
    let mut run = timed(1, 8, |_| ([0.0; 4], [0.0; 4]), [None, None]);
    let fresh = run.series[0].rounds.iter_mut().filter(|round| round.stage == 2);
    for (round, user) in fresh.zip(cpu.iter().flat_map(|(base, head)| [*base, *head])) {
        round.server_cpu_ns = Some(CpuTime { user, system: 0 });
    }
    let found = judged(&run);
    let found = metric(&found, Metric::ServerCpu);
    assert!(found.p_worse.unwrap() < 0.01 && found.effect_low_percent.unwrap() < 0.0);
    assert_eq!(found.verdict, Verdict::Inconclusive);
    assert_eq!(found.reason, MetricReason::Disputed);
}

#[test]
fn too_few_pairs_are_the_reason_in_the_first_line() {
    let line = terminal::one_line(&judged(&timed(5, 0, waits(0.0), [None, None])));
    assert!(
        line.contains("only 5 usable pairs of rounds; 8 are needed") && !line.contains("10 %"),
        "{line}"
    );
}

#[test]
fn cpu_gates_where_instructions_do_not_compare_and_a_figure_refused_on_both_sides_is_left_out() {
    let with = |base: Option<f64>, head: Option<f64>| {
        let figures = |instructions| {
            [
                (Metric::Instructions, instructions, 1.0),
                (Metric::WireBytesSent, Some(163.0), 0.0),
            ]
        };
        let mut run = timed(10, 0, waits(0.0), [None, None]);
        let side = |variant, value| counts(variant, &figures(value), &[]);
        run.series
            .push(counted(side(Variant::Baseline, base), side(Variant::Candidate, head)));
        judged(&run)
    };
    let both = with(Some(10_000.0), Some(10_000.0));
    assert!(!metric(&both, Metric::ServerCpu).primary && both.method.gates.is_some());
    let neither = with(None, None);
    assert_eq!(
        (neither.verdict, metric(&neither, Metric::ServerCpu).primary),
        (Verdict::Unchanged, true)
    );
    let series = &neither.series[1];
    assert!(series.metrics.iter().all(|one| one.metric != Metric::Instructions));
    assert!(
        reasons::series(series.reason.as_ref().unwrap()).contains("refused on both sides: instructions per request")
    );
    let one = with(Some(10_000.0), None);
    assert_eq!(one.verdict, Verdict::Invalid);
}

#[test]
fn a_new_system_call_is_said_however_rare_and_one_that_waits_is_no_all_clear() {
    let with = |calls: &[(&str, f64)]| {
        let figures = [(Metric::Syscalls, Some(4.0), 0.02)];
        let (mut run, _) = empty();
        let base = counts(Variant::Baseline, &figures, &[("read", 2.0), ("write", 2.0)]);
        run.series
            .push(counted(base, counts(Variant::Candidate, &figures, calls)));
        judged(&run)
    };
    let same = with(&[("read", 2.0), ("write", 2.0)]);
    assert_eq!(same.verdict, Verdict::Unchanged);
    assert!(!terminal::render(&same, None).contains("New system call"));

    let sleeps = with(&[("read", 2.0), ("write", 2.0), ("clock_nanosleep", 0.02)]);
    assert_eq!(sleeps.verdict, Verdict::Inconclusive);
    for text in [
        terminal::render(&sleeps, None),
        markdown::render(&sleeps).replace('`', ""),
    ] {
        assert!(
            text.contains("New system call: clock_nanosleep, 0.02 per request of"),
            "{text}"
        );
        assert!(text.contains("in which requests wait"), "{text}");
    }
    let asks = with(&[("read", 2.0), ("write", 2.0), ("getrandom", 0.02)]);
    assert_eq!(asks.verdict, Verdict::Unchanged);
    let text = terminal::render(&asks, None);
    assert!(
        text.contains("New system call: getrandom") && text.contains("look at where"),
        "{text}"
    );
}

#[test]
fn a_comparison_without_anything_that_gates_is_not_judged() {
    let (mut run, mut series) = empty();
    series.missing_in = Some(Variant::Baseline);
    run.series.push(series);
    let comparison = judged(&run);
    assert_eq!(comparison.verdict, Verdict::NotJudged);
    assert!(terminal::one_line(&comparison).starts_with("– Not judged. No gating metric is on both sides"));
    assert!(terminal::render(&comparison, None).contains("nothing was tested"));
}

#[test]
fn one_program_on_both_sides_is_unchanged_and_nothing_else_is_said_of_it() {
    let mut comparison = judged(&timed(10, 0, waits(0.0), [None, None]));
    for series in &mut comparison.series {
        (series.same_program, series.metrics, series.verdict) = (true, Vec::new(), Some(Verdict::Unchanged));
    }
    let text = terminal::render(&comparison, None);
    assert!(
        text.starts_with("= Unchanged. Same program on both sides: nothing was measured.\nNext: nothing to do."),
        "{text}"
    );
    assert!(!text.contains("not measured:"), "{text}");
}

/// Logarithms of one metric's pairs: a change, noise, and sometimes an outlier.
fn arms(pairs: u32) -> impl Strategy<Value = Vec<(Bad, Bad)>> {
    let one = || prop_oneof![12 => -0.05_f64..0.05, 1 => -0.9_f64..0.9];
    let bad = move || [one(), one(), one(), one()];
    let effects = prop::array::uniform4(prop_oneof![Just(0.0), -0.9_f64..1.6]);
    let drawn = prop::collection::vec((bad(), bad()), pairs as usize);
    (effects, drawn).prop_map(|(effects, drawn)| {
        let shifted = |(base, head): (Bad, Bad)| {
            let mut head = head;
            head.iter_mut().zip(effects).for_each(|(value, by)| *value += by);
            (base, head)
        };
        drawn.into_iter().map(shifted).collect()
    })
}

fn figures() -> impl Strategy<Value = Vec<(Metric, Option<f64>, f64)>> {
    let value = prop_oneof![Just(None), Just(Some(0.0)), (1.0_f64..1e6).prop_map(Some)];
    let each = prop::collection::vec((value, prop_oneof![Just(0.0), 0.0_f64..0.2]), Metric::COUNTED.len());
    each.prop_map(|each| {
        (Metric::COUNTED.into_iter().zip(each))
            .map(|(metric, (value, share))| (metric, value, value.unwrap_or(0.0) * share))
            .collect()
    })
}

fn bound() -> impl Strategy<Value = Option<Bound>> {
    prop_oneof![Just(None), Just(Some(Bound::Client)), Just(Some(Bound::Neither))]
}

fn run() -> impl Strategy<Value = Run> {
    let stages = (0_u32..14, prop_oneof![Just(0_u32), 1_u32..24]);
    let timings =
        stages.prop_flat_map(|(first, second)| (Just(first), Just(second), arms(first + second), [bound(), bound()]));
    (timings, figures(), figures(), any::<bool>()).prop_map(|((first, second, pairs, bound), base, head, nearly)| {
        let mut run = timed(first, second, |number| pairs[number as usize], bound);
        let head = if nearly {
            (base.iter().zip(head))
                .map(|(base, head)| {
                    (
                        base.0,
                        base.1.map(|value| value * (1.0 + head.2 / 1e7)),
                        head.2.min(base.2),
                    )
                })
                .collect()
        } else {
            head
        };
        run.series.push(counted(
            counts(Variant::Baseline, &base, &[("read", 2.0)]),
            counts(Variant::Candidate, &head, &[("read", 2.0), ("fsync", 0.02)]),
        ));
        run
    })
}

/// A second stage admits it, and knows every reason.
fn admitted(comparison: &Comparison) -> Result<(), TestCaseError> {
    let mut given = comparison.clone();
    for side in [&mut given.baseline, &mut given.candidate] {
        side.run = "20261121T091544Z-00002a".into();
    }
    let (head, base) = ("b".repeat(40), "a".repeat(40));
    given.baseline.revision.commit = Some(base.clone());
    let found = checked(
        given.clone(),
        &Of {
            head: &head,
            base: &base,
        },
    );
    let found = found.map_err(|why| TestCaseError::fail(format!("{why}: {comparison:#?}")))?;
    prop_assert_eq!(found.verdict, given.verdict);
    for (series, before) in found.series.iter().zip(&given.series) {
        let known =
            series.reason != Some(SeriesReason::Elsewhere) && series.reason.is_some() == before.reason.is_some();
        prop_assert!(known, "{:?}", before.reason);
        for (one, before) in series.metrics.iter().zip(&before.metrics) {
            prop_assert!(one.reason != MetricReason::Elsewhere, "{:?}", before.reason);
        }
    }
    for note in &found.notes {
        prop_assert!(!matches!(note, Note::Elsewhere { .. }), "{:?}", given.notes);
    }
    Ok(())
}

fn check(comparison: &Comparison) -> Result<(), TestCaseError> {
    admitted(comparison)?;
    prop_assert_eq!(contradiction(comparison), None);
    let (text, comment) = (terminal::render(comparison, None), markdown::render(comparison));
    let findings = Findings::of(comparison);
    for row in findings.gating.iter().chain(&findings.informative) {
        let said = sentence(row);
        let shown = prose(&said);
        prop_assert!(comment.contains(&shown), "the comment lacks {}:\n{}", shown, comment);
        if matches!(
            row.standing,
            Standing::Invalid | Standing::Inconclusive | Standing::Accepted
        ) && row.metric.is_none_or(|one| one.primary)
        {
            prop_assert!(text.contains(&plain(&said)), "the terminal lacks {}:\n{}", said, text);
        }
        let Some(one) = row.metric else { continue };
        if row.standing == Standing::Unchanged {
            prop_assert_eq!(&reasons::metric(&one.reason), &said, "the reason on its own");
        }
        let worse = |percent: f64| if one.better == Better::Lower { percent } else { -percent };
        if let Some((low, high)) = one.effect_low_percent.zip(one.effect_high_percent) {
            let percent = one.effect_percent.unwrap_or(low);
            prop_assert!(low <= percent && percent <= high, "{:?}", one);
            let (best, worst) = (worse(low).min(worse(high)), worse(low).max(worse(high)));
            let at_most = one.worse_at_most_percent.unwrap();
            prop_assert!(at_most >= 0.0 && at_most >= worst - 1e-9, "{:?}", one);
            if one.verdict == Verdict::Regressed {
                prop_assert!(best > 0.0, "{:?}", one);
            }
            if one.verdict == Verdict::Improved {
                prop_assert!(worst < 0.0, "{:?}", one);
            }
            if one.verdict == Verdict::Unchanged && at_most >= 0.005 {
                prop_assert!(
                    at_most >= 99.95 || said.contains(&size(at_most)) || said == "exactly equal",
                    "{} of {:?}",
                    said,
                    one
                );
            }
        }
        let values = one.effect_percent.zip(one.baseline.zip(one.candidate));
        if let Some((percent, (from, to))) = values.filter(|(_, (from, _))| *from > 0.0) {
            let apart = (to / from - 1.0) * 100.0 - percent;
            prop_assert!(apart.abs() < 1e-6 * (1.0 + percent.abs()), "{:?}", one);
        }
        prop_assert!(row.metric.is_none() || comment.contains(&effect(one)));
    }
    let clear = matches!(comparison.verdict, Verdict::Improved | Verdict::Unchanged);
    if clear && findings.worse_without_gating().next().is_some() {
        prop_assert!(headline::verdict(comparison).contains("but worse"));
        prop_assert!(!text.contains("Next: nothing to do"));
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1000, ..ProptestConfig::default() })]
    #[test]
    fn every_figure_sentence_and_verdict_of_a_row_agree(run in run()) {
        check(&judged(&run))?;
    }
}
