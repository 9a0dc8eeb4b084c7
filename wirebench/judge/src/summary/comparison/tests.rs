use super::*;
use wirebench_testing::golden;

#[test]
fn rows_come_in_the_order_of_alarm() {
    let comparison = golden("mixed");
    let findings = Findings::of(&comparison);
    for rows in [&findings.gating, &findings.informative] {
        assert!(rows.is_sorted_by_key(|row| row.status), "{rows:#?}");
    }
    assert_eq!(findings.gating[0].status, RowStatus::Regressed);
    assert!(
        findings
            .gating_that(RowStatus::Regressed)
            .is_sorted_by(|a, b| a.size() >= b.size())
    );
}

#[test]
fn an_accepted_worsening_is_no_regression_and_two_runs_are_not_judged() {
    let accepted = golden("accepted");
    let findings = Findings::of(&accepted);
    assert_eq!(findings.gating_that(RowStatus::Accepted).count(), 1);
    assert_eq!(findings.gating_that(RowStatus::Regressed).count(), 0);
    let two_runs = golden("unpaired");
    let findings = Findings::of(&two_runs);
    let not_judged = |row: &Row| row.status == RowStatus::NotJudged || row.metric.is_none();
    assert!(
        findings.gating.iter().all(not_judged),
        "only series whose digests differ are more than not judged"
    );
}

#[test]
fn what_looks_worse_without_being_called_so_comes_first_of_the_inconclusive() {
    let mut comparison = golden("inconclusive");
    let looks = &mut comparison.series[2].metrics[0];
    (looks.effect_low_percent, looks.effect_high_percent) = (Some(1.5), Some(2.5));
    let looks = comparison.series[2].id.clone();
    let findings = Findings::of(&comparison);
    assert!(findings.gating[0].looks_worse() && !findings.gating[1].looks_worse());
    assert_eq!(findings.gating[0].series.id, looks);
}

#[test]
fn pairs_to_see_grow_with_the_square() {
    let mut comparison = golden("inconclusive");
    for metric in comparison.series.iter_mut().flat_map(|series| &mut series.metrics) {
        (metric.margin_percent, metric.resolvable_percent, metric.kept) = (1.0, Some(9.0), 20);
    }
    let row = Findings::of(&comparison).gating[0];
    assert_eq!(row.pairs_to_see(5.0), Some(80));
    assert_eq!(row.pairs_to_see(1.0), None, "the margin itself can never be seen");
}

#[test]
fn a_comparison_without_anything_to_judge_may_not_be_called_unchanged() {
    let mut comparison = golden("unchanged");
    for series in &mut comparison.series {
        (series.verdict, series.metrics) = (None, Vec::new());
    }
    assert!(contradiction(&comparison).is_some());
    comparison.verdict = Verdict::NotJudged;
    assert_eq!(contradiction(&comparison), None);
}

#[test]
fn one_program_on_both_sides_is_not_listed_as_unmeasured() {
    let mut comparison = golden("unchanged");
    for series in &mut comparison.series {
        (series.same_program, series.metrics) = (true, Vec::new());
    }
    let findings = Findings::of(&comparison);
    assert_eq!(
        (findings.unmeasured.len(), findings.same.len()),
        (0, comparison.series.len())
    );
    assert!(Findings::all_the_same_program(&comparison) && contradiction(&comparison).is_none());
}

#[test]
fn of_each_metric_the_largest_null_is_said() {
    let mut comparison = golden("unchanged");
    for (series, null) in comparison.series.iter_mut().zip([0.2, -0.6, 0.4]) {
        (series.metrics[0].null_percent, series.metrics[0].null_pairs) = (Some(null), 9);
    }
    assert_eq!(
        Findings::of(&comparison).nulls(),
        [(comparison.series[0].metrics[0].metric, -0.6, 9)]
    );
}

#[test]
fn a_verdict_that_its_rows_contradict_is_found() {
    for name in [
        "regressed",
        "improved",
        "unchanged",
        "inconclusive",
        "invalid",
        "accepted",
        "mixed",
    ] {
        let mut comparison = golden(name);
        assert_eq!(contradiction(&comparison), None, "{name}");
        if comparison.verdict != Verdict::Unchanged {
            comparison.verdict = Verdict::Unchanged;
            assert!(contradiction(&comparison).is_some(), "{name}");
        }
    }
}
