//! The types of judging: one metric of one series in push order, before and after it is judged.

use std::collections::HashSet;

use crate::segment::NearZero;
use wirebench_record::accepted::Acceptance;
use wirebench_record::metric::{Better, Metric};
use wirebench_record::trend::{Basis, Push, Trace};

/// The name of the source of a history's own runs; imported suites have other names.
pub const RUNS_SOURCE: &str = "runs";

/// The pushes of one source in commit order, with the acceptances that came with them.
#[derive(Debug)]
pub(super) struct Timeline {
    pub(super) pushes: Vec<Push>,
    /// Acceptances, each with the place of its push.
    pub(super) accepted: Vec<(usize, Acceptance)>,
    /// See [`commits_from`].
    pub(super) commits_from: Vec<usize>,
}

impl Timeline {
    pub(super) fn new(pushes: Vec<Push>, accepted: Vec<(usize, Acceptance)>) -> Self {
        Self {
            commits_from: commits_from(&pushes),
            pushes,
            accepted,
        }
    }
}

/// For each place, the number of commits from it to the newest push. Runs that measure one commit again count once.
pub fn commits_from(pushes: &[Push]) -> Vec<usize> {
    let mut seen = HashSet::new();
    let mut counts: Vec<usize> = (pushes.iter().rev())
        .map(|push| {
            seen.insert(push.commit.as_str());
            seen.len()
        })
        .collect();
    counts.reverse();
    counts
}

/// A value to judge.
#[derive(Debug, Clone, Copy)]
pub(super) struct Point<'a> {
    /// The place of its push in the timeline.
    pub(super) place: usize,
    /// Not below zero.
    pub(super) value: f64,
    /// Half of its interval, of a count of the range over its repetitions, as a share of it; `None` if it is unknown.
    pub(super) half: Option<f64>,
    /// What must stay the same within a segment.
    pub(super) context: Context<'a>,
    /// The processor that measured it: ratios are converted to one processor.
    pub(super) processor: &'a str,
}

/// What must stay equal within a segment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Context<'a> {
    /// The digest of the series.
    pub(super) digest: &'a str,
    /// Ratios or values.
    pub(super) basis: Basis,
    /// The reference of ratios; the machine, processor or unit of values.
    pub(super) compared_on: &'a str,
}

/// A metric of a series in push order.
#[derive(Debug, Clone)]
pub(super) struct UnjudgedTrace<'a> {
    pub(super) source: &'a str,
    pub(super) series: &'a str,
    pub(super) metric: Option<Metric>,
    pub(super) unit: &'a str,
    pub(super) better: Option<Better>,
    /// What [`Context::compared_on`] is for values: `machine`, `processor` or `unit`.
    pub(super) compared_on: &'a str,
    /// What a value near zero means.
    pub(super) near_zero: NearZero,
    /// Why its values are not judged; `None` if they are.
    pub(super) not_judged: Option<String>,
    /// Places without a judged value, in order, with the value if there is one, and the reason.
    pub(super) left_out: Vec<(usize, Option<f64>, String)>,
    pub(super) points: Vec<Point<'a>>,
}

/// A judged trace, and its wild values, which are left out.
pub(super) type JudgedTrace = (Trace, LeftOut);

/// Places without a judged value, and the reasons.
pub(super) type LeftOut = Vec<(usize, String)>;
