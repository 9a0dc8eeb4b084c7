//! Which series are measured anew.

use super::*;

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
    assert_eq!(second_stage(&run, 20).unwrap().series, [1, 2]);
    assert_eq!(
        second_stage(&run, 19).unwrap().series,
        [1],
        "two series need two pairs to spare"
    );
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
    // Five pairs of rounds took 30 s.
    let mut cut = timed(5, 0, waits(0.3), [None, None]);
    cut.rounds_planned = 10;
    cut.spent.measure_ns = 30_000_000_000;
    cut.spent.load_ns = 10_000_000_000;
    let text = terminal::render(&judged(&cut), None);
    assert!(
        text.contains("Repeat the measurement with --budget 2m, which is enough at this pace"),
        "{text}"
    );
    assert_eq!(why(&timed(10, 20, waits(0.3), [None, None])), None);
}

#[test]
fn a_series_that_got_no_fresh_rounds_because_others_did_is_said_with_the_time_that_is_enough() {
    let mut run = timed(5, 12, waits(0.3), [None, None]);
    let mut left_out = timed(5, 0, waits(0.0), [None, None]).series.remove(0);
    left_out.id.push('2');
    run.series.push(left_out);
    run.rounds_planned = 10;
    run.spent.measure_ns = 60_000_000_000;
    let comparison = judged(&run);
    let Some(NoSecondStage::NoTime {
        series: 1,
        minutes: Some(minutes),
    }) = comparison.method.no_second_stage
    else {
        panic!("{:?}", comparison.method.no_second_stage);
    };
    let text = terminal::render(&comparison, None);
    assert!(text.to_lowercase().contains("no fresh rounds of 1 series"), "{text}");
    // With ten pairs in the first stage nothing is missing.
    run.series[1] = timed(10, 0, waits(0.0), [None, None]).series.remove(0);
    assert_eq!(judged(&run).method.no_second_stage, None);
    assert!(minutes > 0);
}

#[test]
fn a_large_loss_that_a_short_first_stage_saw_is_confirmed_by_fresh_pairs() {
    let comparison = judged(&timed(5, 12, waits(0.5), [None, None]));
    for lost in [Metric::Throughput, Metric::LatencyP50] {
        let lost = metric(&comparison, lost);
        assert_eq!((lost.verdict, lost.primary), (Verdict::Regressed, true), "{lost:?}");
    }
}

#[test]
fn a_second_stage_lacks_pairs_where_outliers_on_either_side_leave_fewer_than_a_verdict_needs() {
    let lacks = |far: [u32; 2], side: usize, by: f64| {
        let of = move |number: u32| {
            let mut pair = [[noise(number); 4], [noise(number + 3) + by; 4]];
            if far.contains(&number) {
                pair[side] = pair[side].map(|value| value + 3.0);
            }
            (pair[0], pair[1])
        };
        compare::lacks_pairs(&timed(10, 9, of, [None, None]), &Rules::default(), 0)
    };
    for side in [0, 1] {
        assert!(lacks([12, 16], side, 0.2));
        assert!(!lacks([12, 12], side, 0.2), "8 are left");
        assert!(!lacks([2, 5], side, 0.2), "the first stage judges nothing");
        assert!(!lacks([12, 16], side, 0.0), "nothing is tested");
    }
}
