//! Sorts the rows of a comparison for readers, the most alarming first. Judges nothing: every verdict is from the
//! record.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use crate::summary::Spread;
use wirebench_record::comparison::{ComparedMetric, ComparedSeries, Comparison, FunctionChange, Presence, Verdict};
use wirebench_record::metric::{Better, Metric};
use wirebench_record::reason::SeriesReason;

/// The status of a row, the most alarming first: its verdict, and whether it needs action.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Standing {
    /// Worse by more than the margin.
    Regressed,
    /// Cannot be judged.
    Invalid,
    /// Can be neither shown nor excluded.
    Inconclusive,
    /// Worse by more than the margin, and meant.
    Accepted,
    /// Better by more than the margin.
    Improved,
    /// No worsening above a stated size.
    Unchanged,
    /// Values of two runs, shown and not judged; or a whole comparison without anything to judge.
    NotJudged,
}

impl From<Verdict> for Standing {
    fn from(verdict: Verdict) -> Self {
        match verdict {
            Verdict::Regressed => Self::Regressed,
            Verdict::Invalid => Self::Invalid,
            Verdict::Inconclusive => Self::Inconclusive,
            Verdict::Improved => Self::Improved,
            Verdict::Unchanged => Self::Unchanged,
            Verdict::NotJudged => Self::NotJudged,
        }
    }
}

/// One metric of one series, or a whole series that could not be compared.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Row<'a> {
    /// The series.
    pub series: &'a ComparedSeries,
    /// The metric; `None` for a series that could not be judged as a whole.
    pub metric: Option<&'a ComparedMetric>,
    /// How it stands.
    pub standing: Standing,
}

impl<'a> Row<'a> {
    fn new(series: &'a ComparedSeries, metric: Option<&'a ComparedMetric>, paired: bool) -> Self {
        let verdict = metric.map_or(Verdict::Invalid, |metric| metric.verdict);
        let accepted = metric.is_some_and(|metric| metric.accepted.is_some());
        let standing = match verdict {
            Verdict::Invalid => Standing::Invalid,
            _ if !paired => Standing::NotJudged,
            Verdict::Regressed if accepted => Standing::Accepted,
            other => other.into(),
        };
        Self {
            series,
            metric,
            standing,
        }
    }

    /// Whether its metric is counted; others are timed.
    #[must_use]
    pub fn is_counted(&self) -> bool {
        self.metric.is_some_and(|metric| metric.metric.is_counted())
    }

    /// The functions that carry the change of its metric, the largest change first.
    pub fn functions(&self) -> impl Iterator<Item = &'a FunctionChange> {
        let metric = self.metric.map(|metric| metric.metric);
        let all = self.series.functions.iter();
        all.filter(move |function| Some(function.metric) == metric)
    }

    /// How much worse it may have become, percent: the end of the interval that is worse, or else the estimate.
    #[must_use]
    pub fn worst_percent(&self) -> Option<f64> {
        let metric = self.metric?;
        match metric.better {
            Better::Lower => metric.effect_high_percent.or(metric.effect_percent),
            Better::Higher => metric.effect_low_percent.or(metric.effect_percent).map(|low| -low),
        }
    }

    /// Whether the whole interval is worse than the margin, whatever the verdict over all tests together.
    #[must_use]
    pub fn looks_worse(&self) -> bool {
        let best = self.metric.and_then(|metric| {
            let best = match metric.better {
                Better::Lower => metric.effect_low_percent?,
                Better::Higher => -metric.effect_high_percent?,
            };
            Some(best > metric.margin_percent)
        });
        best == Some(true)
    }

    /// The sort key of rows with the same status, percent, the largest first: the worst possible change if the verdict
    /// is open, the effect otherwise.
    fn size(&self) -> f64 {
        let known = match self.standing {
            Standing::Inconclusive | Standing::Unchanged => self.worst_percent(),
            _ => self.metric.and_then(|metric| metric.effect_percent).map(f64::abs),
        };
        known.unwrap_or(f64::INFINITY)
    }

    /// The number of pairs that finds a worsening of `percent` in 80 % of cases, with the same noise; `None` if
    /// unknown. The difference between the smallest size seen and the margin shrinks with the square root of the number
    /// of pairs.
    #[must_use]
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a float turned into an integer saturates, and is positive here"
    )]
    pub fn pairs_to_see(&self, percent: f64) -> Option<u32> {
        let metric = self.metric?;
        let above = metric.resolvable_percent? - metric.margin_percent;
        let wanted = percent - metric.margin_percent;
        let pairs = f64::from(metric.kept) * (above / wanted).powi(2);
        (wanted > 0.0 && above > 0.0 && metric.kept > 0).then(|| pairs.ceil() as u32)
    }
}

/// The rows of a comparison.
#[derive(Debug, Clone, PartialEq)]
pub struct Findings<'a> {
    /// The rows that decide the overall verdict, the most alarming first.
    pub gating: Vec<Row<'a>>,
    /// The others, the most alarming first.
    pub informative: Vec<Row<'a>>,
    /// Series that only the candidate has.
    pub added: Vec<&'a ComparedSeries>,
    /// Series that only the baseline has.
    pub removed: Vec<&'a ComparedSeries>,
    /// Series on both sides without any result, such as those that an interrupted run did not reach.
    pub unmeasured: Vec<&'a ComparedSeries>,
    /// Series of which both sides run the same program: unchanged without measuring.
    pub same: Vec<&'a ComparedSeries>,
}

impl<'a> Findings<'a> {
    /// Sorts a comparison's series and metrics.
    #[must_use]
    pub fn of(comparison: &'a Comparison) -> Self {
        let mut found = Self {
            gating: Vec::new(),
            informative: Vec::new(),
            added: Vec::new(),
            removed: Vec::new(),
            unmeasured: Vec::new(),
            same: Vec::new(),
        };
        for series in &comparison.series {
            match series.presence {
                Presence::Added => found.added.push(series),
                Presence::Removed => found.removed.push(series),
                Presence::Both => found.compare(series, comparison.paired),
            }
        }
        for rows in [&mut found.gating, &mut found.informative] {
            rows.sort_by(|a, b| {
                let open = |row: &Row| row.standing == Standing::Inconclusive && row.looks_worse();
                let looks = open(b).cmp(&open(a));
                (a.standing.cmp(&b.standing))
                    .then(looks)
                    .then(b.size().total_cmp(&a.size()))
            });
        }
        found
    }

    fn compare(&mut self, series: &'a ComparedSeries, paired: bool) {
        let invalid = series.verdict == Some(Verdict::Invalid);
        let says_so = |metric: &ComparedMetric| metric.primary && metric.verdict == Verdict::Invalid;
        if invalid && !series.metrics.iter().any(says_so) {
            self.gating.push(Row::new(series, None, paired));
        } else if series.metrics.is_empty() && series.same_program {
            self.same.push(series);
        } else if series.metrics.is_empty() {
            self.unmeasured.push(series);
        }
        for metric in &series.metrics {
            let row = Row::new(series, Some(metric), paired);
            if metric.primary {
                self.gating.push(row);
            } else {
                self.informative.push(row);
            }
        }
    }

    /// Remarks on compared series, each once, with the ids of its series.
    #[must_use]
    pub fn remarks(comparison: &'a Comparison) -> Vec<(&'a SeriesReason, Vec<&'a str>)> {
        let mut found: Vec<(&SeriesReason, Vec<&str>)> = Vec::new();
        for series in &comparison.series {
            let judged = series.presence == Presence::Both && !series.metrics.is_empty();
            let Some(reason) = series
                .reason
                .as_ref()
                .filter(|_| judged && series.verdict != Some(Verdict::Invalid))
            else {
                continue;
            };
            match found.iter_mut().find(|(known, _)| *known == reason) {
                Some((_, ids)) => ids.push(&series.id),
                None => found.push((reason, vec![&series.id])),
            }
        }
        found
    }

    /// The gating rows with this status.
    pub fn gating_that(&self, standing: Standing) -> impl Iterator<Item = &Row<'a>> {
        self.gating.iter().filter(move |row| row.standing == standing)
    }

    /// Metrics that inform and are confirmed to be worse: no verdict may hide them.
    pub fn worse_without_gating(&self) -> impl Iterator<Item = &Row<'a>> {
        self.informative
            .iter()
            .filter(|row| row.standing == Standing::Regressed)
    }

    /// System calls that only the candidate makes, with the series they are made in.
    #[must_use]
    pub fn new_calls(comparison: &'a Comparison) -> Vec<(&'a ComparedSeries, &'a FunctionChange)> {
        let of = |series: &'a ComparedSeries| {
            let new = series.functions.iter().filter(|one| is_new_call(one));
            new.map(move |call| (series, call))
        };
        comparison
            .series
            .iter()
            .filter(|series| series.presence == Presence::Both)
            .flat_map(of)
            .collect()
    }

    /// Whether every series is on both sides and run by the same program.
    #[must_use]
    pub fn all_the_same_program(comparison: &Comparison) -> bool {
        !comparison.series.is_empty() && comparison.series.iter().all(|series| series.same_program)
    }

    /// By how much the baseline's program differed from itself, percent: of each metric the largest, with the pairs of rounds
    /// behind it.
    #[must_use]
    pub fn nulls(&self) -> Vec<(Metric, f64, u32)> {
        let mut found: Vec<(Metric, f64, u32)> = Vec::new();
        for metric in (self.gating.iter().chain(&self.informative)).filter_map(|row| row.metric) {
            let Some(percent) = metric.null_percent else { continue };
            match found.iter_mut().find(|(known, ..)| *known == metric.metric) {
                Some(known) if known.1.abs() < percent.abs() => *known = (metric.metric, percent, metric.null_pairs),
                Some(_) => {}
                None => found.push((metric.metric, percent, metric.null_pairs)),
            }
        }
        found
    }

    /// The largest worsening that the unchanged gating metrics leave possible, percent.
    #[must_use]
    pub fn unchanged_at_most_percent(&self) -> Option<f64> {
        self.gating_that(Standing::Unchanged)
            .filter_map(|row| row.metric?.worse_at_most_percent)
            .max_by(f64::total_cmp)
    }

    /// Counts that changed and of which more is known: their functions, or a flame graph. The most alarming first.
    pub fn explained(&self) -> impl Iterator<Item = &Row<'a>> {
        (self.gating.iter().chain(&self.informative)).filter(|row| {
            let changed = matches!(
                row.standing,
                Standing::Regressed | Standing::Accepted | Standing::Improved
            );
            let drawn = row.metric.is_some_and(|metric| metric.flame_graph.is_some());
            let known = drawn || row.functions().next().is_some();
            row.is_counted() && known && (changed || row.functions().any(is_new_call))
        })
    }

    /// The run-to-run spread of each timed metric over all series, percent, in the metrics' own order.
    #[must_use]
    pub fn spreads(&self) -> Vec<(Metric, Spread)> {
        let mut values: BTreeMap<Metric, Vec<f64>> = BTreeMap::new();
        let timed = (self.gating.iter().chain(&self.informative)).filter(|row| !row.is_counted());
        for metric in timed.filter_map(|row| row.metric) {
            values.entry(metric.metric).or_default().extend(metric.spread_percent);
        }
        let mut found: Vec<(Metric, Spread)> = (values.into_iter())
            .filter_map(|(metric, values)| Some((metric, Spread::of(&values)?)))
            .collect();
        found.sort_by_key(|(metric, _)| Reverse(self.gating.iter().filter(|row| row.is(*metric)).count()));
        found
    }

    /// Pairs left out because the baseline's round, and because the candidate's round, was far from its neighbours.
    #[must_use]
    pub fn dropped(&self) -> (u64, u64) {
        (self.gating.iter().chain(&self.informative))
            .filter_map(|row| row.metric)
            .fold((0, 0), |(baseline, candidate), metric| {
                (
                    baseline + u64::from(metric.dropped_baseline),
                    candidate + u64::from(metric.dropped_candidate),
                )
            })
    }
}

impl Row<'_> {
    fn is(&self, metric: Metric) -> bool {
        self.metric.is_some_and(|found| found.metric == metric)
    }
}

/// Whether it is a system call that the baseline does not make.
#[must_use]
pub fn is_new_call(change: &FunctionChange) -> bool {
    change.metric == Metric::Syscalls && change.baseline <= 0.0 && change.candidate > 0.0
}

/// A verdict that the comparison's own rows contradict, in one sentence: the overall one must be as alarming as the
/// most alarming series, and a series' as its most alarming gating metric. `None` if all agree.
#[must_use]
pub fn contradiction(comparison: &Comparison) -> Option<String> {
    for series in &comparison.series {
        let said = series.verdict;
        let gating = series
            .metrics
            .iter()
            .filter(|metric| metric.primary && metric.accepted.is_none());
        let worst = gating.map(|metric| metric.verdict).min();
        if worst.is_some_and(|worst| said.is_none_or(|said| said > worst)) {
            return Some(format!("{} is less alarming than its own metrics", series.id));
        }
        if said.is_some_and(|said| comparison.verdict > said) {
            return Some(format!(
                "the overall verdict is less alarming than that of {}",
                series.id
            ));
        }
    }
    if comparison.paired && comparison.verdict != Verdict::over(&comparison.series) {
        return Some("the overall verdict is not that of its series".into());
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use wirebench_testing::golden;

    #[test]
    fn rows_come_in_the_order_of_alarm() {
        let comparison = golden("mixed");
        let findings = Findings::of(&comparison);
        for rows in [&findings.gating, &findings.informative] {
            assert!(rows.is_sorted_by_key(|row| row.standing), "{rows:#?}");
        }
        assert_eq!(findings.gating[0].standing, Standing::Regressed);
        assert!(
            findings
                .gating_that(Standing::Regressed)
                .is_sorted_by(|a, b| a.size() >= b.size())
        );
    }

    #[test]
    fn an_accepted_worsening_is_no_regression_and_two_runs_are_not_judged() {
        let accepted = golden("accepted");
        let findings = Findings::of(&accepted);
        assert_eq!(findings.gating_that(Standing::Accepted).count(), 1);
        assert_eq!(findings.gating_that(Standing::Regressed).count(), 0);
        let two_runs = golden("unpaired");
        let findings = Findings::of(&two_runs);
        let not_judged = |row: &Row| row.standing == Standing::NotJudged || row.metric.is_none();
        assert!(
            findings.gating.iter().all(not_judged),
            "only another question is more than not judged"
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
}
