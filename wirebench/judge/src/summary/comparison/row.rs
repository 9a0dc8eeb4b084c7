//! One row of a comparison: a metric of a series, its status, and its change.

use wirebench_record::comparison::{ComparedMetric, ComparedSeries, FunctionChange, Verdict};
use wirebench_record::metric::Better;
use wirebench_record::reason::MetricReason;

/// The status of a row, the most alarming first: its verdict, and whether it needs action.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum RowStatus {
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

impl From<Verdict> for RowStatus {
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
    /// Its status.
    pub status: RowStatus,
}

impl<'a> Row<'a> {
    pub(super) fn new(series: &'a ComparedSeries, metric: Option<&'a ComparedMetric>, paired: bool) -> Self {
        let verdict = metric.map_or(Verdict::Invalid, |metric| metric.verdict);
        let accepted = metric.is_some_and(|metric| metric.accepted.is_some());
        let status = match verdict {
            Verdict::Invalid => RowStatus::Invalid,
            _ if !paired => RowStatus::NotJudged,
            Verdict::Regressed if accepted => RowStatus::Accepted,
            other => other.into(),
        };
        Self { series, metric, status }
    }

    /// Whether its metric is counted; others are timed.
    pub fn is_counted(&self) -> bool {
        self.metric.is_some_and(|metric| metric.metric.is_counted())
    }

    /// The functions that carry the change of its metric, the largest change first.
    pub fn functions(&self) -> impl Iterator<Item = &'a FunctionChange> {
        let metric = self.metric.map(|metric| metric.metric);
        let all = self.series.functions.iter();
        all.filter(move |function| Some(function.metric) == metric)
    }

    /// The largest worsening that is possible, percent: the worse end of the interval, or else the estimate.
    pub fn worst_percent(&self) -> Option<f64> {
        let metric = self.metric?;
        match metric.better {
            Better::Lower => metric.effect_high_percent.or(metric.effect_percent),
            Better::Higher => metric.effect_low_percent.or(metric.effect_percent).map(|low| -low),
        }
    }

    /// Whether the whole interval is worse than the margin, whatever the verdict over all tests together, or every one of too
    /// few pairs is.
    pub fn looks_worse(&self) -> bool {
        self.metric.is_some_and(|metric| {
            if matches!(metric.reason, MetricReason::WorseInEveryPair { .. }) {
                return true;
            }
            let best = match metric.better {
                Better::Lower => metric.effect_low_percent,
                Better::Higher => metric.effect_high_percent.map(|high| -high),
            };
            best.is_some_and(|best| best > metric.margin_percent)
        })
    }

    /// The sort key of rows with the same status, percent, the largest first: the worst possible change if the verdict
    /// is open, the effect otherwise.
    pub(super) fn size(&self) -> f64 {
        let known = match self.status {
            RowStatus::Inconclusive | RowStatus::Unchanged => self.worst_percent(),
            _ => self.metric.and_then(|metric| metric.effect_percent).map(f64::abs),
        };
        known.unwrap_or(f64::INFINITY)
    }

    /// The number of pairs that finds a worsening of `percent` in 80 % of cases, with the same noise; `None` if
    /// unknown. The difference between the smallest size seen and the margin shrinks with the square root of the number
    /// of pairs.
    #[expect(clippy::cast_sign_loss, reason = "saturates, and is positive")]
    pub fn pairs_to_see(&self, percent: f64) -> Option<u32> {
        let metric = self.metric?;
        let above = metric.resolvable_percent? - metric.margin_percent;
        let wanted = percent - metric.margin_percent;
        let pairs = f64::from(metric.kept) * (above / wanted).powi(2);
        (wanted > 0.0 && above > 0.0 && metric.kept > 0).then(|| pairs.ceil() as u32)
    }
}
