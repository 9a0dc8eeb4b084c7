//! The types of judging: one metric of one series in push order, before and after it is judged.

use std::collections::{HashMap, HashSet};

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
pub(super) struct Point {
    /// The place of its push in the timeline.
    pub(super) place: usize,
    /// Not below zero.
    pub(super) value: f64,
    /// What must stay the same within a segment.
    pub(super) context: Context,
    /// The number of the processor that measured it: ratios are converted to one processor.
    pub(super) processor: u32,
}

/// What must stay equal within a segment, as numbers of a [`Names`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Context {
    /// The digest of the series.
    pub(super) digest: u32,
    /// Ratios or values.
    pub(super) basis: Basis,
    /// The reference of ratios; the machine, processor or unit of values.
    pub(super) compared_on: u32,
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
    pub(super) points: Vec<Point>,
}

/// A judged trace, with the places in its timeline of everything that the trace names by pushes.
#[derive(Debug)]
pub(super) struct JudgedTrace {
    pub(super) trace: Trace,
    pub(super) segments: Vec<SegmentPlaces>,
    /// Places of wild values that are left out, and the reasons.
    pub(super) wild: Vec<(usize, String)>,
}

/// Where a segment lies in its timeline.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SegmentPlaces {
    /// The place of its first value.
    pub first: usize,
    /// The place of its last value.
    pub last: usize,
    /// What was judged.
    pub basis: Basis,
    /// Where its change points lie.
    pub steps: Vec<StepPlaces>,
}

/// Where a change point lies in its timeline.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StepPlaces {
    /// The place of the last push before it.
    pub last_before: usize,
    /// The place of the first push after it.
    pub first_after: usize,
    /// The place of the push at which it was first reported.
    pub reported: usize,
}

/// Texts as numbers, so that contexts compare quickly.
#[derive(Debug, Default)]
pub(super) struct Names {
    texts: Vec<String>,
    numbers: HashMap<String, u32>,
}

impl Names {
    /// The number of an unknown text.
    pub(super) const UNKNOWN: u32 = u32::MAX;

    /// The number of a text; a new text gets the next number.
    pub(super) fn number(&mut self, text: &str) -> u32 {
        if let Some(known) = self.numbers.get(text) {
            return *known;
        }
        let number = u32::try_from(self.texts.len()).unwrap_or(Self::UNKNOWN);
        self.texts.push(text.to_owned());
        self.numbers.insert(text.to_owned(), number);
        number
    }

    /// The number of a text, or [`Self::UNKNOWN`].
    pub(super) fn find(&self, text: &str) -> u32 {
        self.numbers.get(text).copied().unwrap_or(Self::UNKNOWN)
    }

    /// The text of a number, or an empty one.
    pub(super) fn text(&self, number: u32) -> &str {
        let place = usize::try_from(number).unwrap_or(usize::MAX);
        self.texts.get(place).map_or("", String::as_str)
    }
}
