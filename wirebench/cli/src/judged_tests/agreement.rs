//! Whatever the rounds are, all that is shown of a comparison agrees.

use super::*;

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
        &ComparedCommits {
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
        let said = reasons::row(row);
        let shown = prose(&said);
        prop_assert!(comment.contains(&shown), "the comment lacks {}:\n{}", shown, comment);
        if matches!(
            row.status,
            RowStatus::Invalid | RowStatus::Inconclusive | RowStatus::Accepted
        ) && row.metric.is_none_or(|one| one.primary)
        {
            prop_assert!(text.contains(&plain(&said)), "the terminal lacks {}:\n{}", said, text);
        }
        let Some(one) = row.metric else { continue };
        if row.status == RowStatus::Unchanged {
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
    #[test]
    fn every_figure_sentence_and_verdict_of_a_row_agree(run in run()) {
        check(&judged(&run))?;
    }
}
