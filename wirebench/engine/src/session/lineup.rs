//! Which variants are measured of each series, and which series only one side has.

use std::collections::{BTreeMap, BTreeSet};

use crate::session::opened::{self, Opened};
use crate::session::recorder::listed;
use wirebench_declare::plan::{self, PlanError, PlannedSeries, Selection};
use wirebench_declare::project::Profile;
use wirebench_record::run::{Series, Variant};

/// Who is measured.
#[derive(Debug)]
pub(super) struct Lineup {
    /// One entry for each series of the plan, in the plan's order.
    pub(super) entries: Vec<Entry>,
    /// Series that only the baseline declares.
    pub(super) removed: Vec<Series>,
}

/// What is measured of one series.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Entry {
    /// Variants to measure; empty when the candidate does not have the series.
    pub(super) variants: Vec<Variant>,
    /// The side that lacks it.
    pub(super) missing_in: Option<Variant>,
    /// The digest of the baseline's own load, if it differs.
    pub(super) baseline_digest: Option<String>,
    /// Whether baseline and candidate run the same program, so that they are not measured against each other.
    pub(super) same_program: bool,
}

impl Lineup {
    /// Prepares the comparison of sides that have been built: leaves out identical programs, unless they are to be measured
    /// too, and adds the null.
    pub(super) fn compare(&mut self, series: &[PlannedSeries], opened: &[Opened], measure_identical: bool) {
        if !measure_identical {
            self.leave_out(series, &opened::same_programs(opened));
        }
        self.add_null();
    }

    /// Skips series whose server is the same program on both sides. With a reference, candidate and reference are still
    /// measured, for the trend.
    fn leave_out(&mut self, series: &[PlannedSeries], same: &BTreeSet<String>) {
        for (one, entry) in series.iter().zip(&mut self.entries) {
            let both = [Variant::Baseline, Variant::Candidate];
            if same.contains(&one.server.name) && both.iter().all(|variant| entry.variants.contains(variant)) {
                entry.same_program = true;
                entry.variants.retain(|variant| *variant != Variant::Baseline);
                if entry.variants == [Variant::Candidate] {
                    entry.variants.clear();
                }
            }
        }
    }

    /// Adds the null wherever a baseline is measured against a candidate.
    fn add_null(&mut self) {
        for entry in &mut self.entries {
            let both = [Variant::Baseline, Variant::Candidate];
            if both.iter().all(|variant| entry.variants.contains(variant)) {
                entry.variants.push(Variant::Null);
            }
        }
    }

    /// Keeps only the selected series, also of those that only the baseline declares.
    pub(super) fn narrow(
        &mut self,
        series: &mut Vec<PlannedSeries>,
        keep: impl Fn(&PlannedSeries) -> bool,
        keep_removed: impl Fn(&Series) -> bool,
    ) {
        let kept: Vec<bool> = series.iter().map(keep).collect();
        let mut each = kept.iter();
        self.entries.retain(|_| each.next().copied().unwrap_or(false));
        let mut each = kept.iter();
        series.retain(|_| each.next().copied().unwrap_or(false));
        self.removed.retain(keep_removed);
    }
}

/// Compares what the sides declare with the plan.
///
/// # Errors
/// When a pattern is wrong.
pub(super) fn of(
    opened: &[Opened],
    series: &[PlannedSeries],
    profile: &Profile,
    selection: &Selection,
) -> Result<Lineup, PlanError> {
    let baseline = opened.iter().find(|one| one.side.revision.variant == Variant::Baseline);
    let asked_there = match baseline.and_then(|one| one.declares.as_ref()) {
        Some(project) => plan::declared(project, profile, selection)?,
        None => Vec::new(),
    };
    let digests: BTreeMap<&str, &str> = asked_there
        .iter()
        .map(|one| (one.id.as_str(), one.digest.as_str()))
        .collect();
    let entries = series
        .iter()
        .map(|one| {
            let mut entry = entry(opened, one);
            let there = digests.get(one.id.as_str()).filter(|digest| **digest != one.digest);
            entry.baseline_digest = there.map(|digest| (*digest).to_owned());
            entry
        })
        .collect();
    let nobody = Entry {
        variants: Vec::new(),
        missing_in: Some(Variant::Candidate),
        baseline_digest: None,
        same_program: false,
    };
    let removed = asked_there
        .iter()
        .filter(|there| series.iter().all(|here| here.id != there.id))
        .map(|there| listed(there, &nobody))
        .collect();
    Ok(Lineup { entries, removed })
}

fn entry(opened: &[Opened], series: &PlannedSeries) -> Entry {
    let lacks = |variant| {
        let mut of_variant = opened.iter().filter(|one| one.side.revision.variant == variant);
        of_variant.any(|one| !one.side.declares(series))
    };
    let missing_in = [Variant::Candidate, Variant::Baseline].into_iter().find(|v| lacks(*v));
    let variants = opened
        .iter()
        .filter(|one| missing_in != Some(Variant::Candidate) && one.side.declares(series))
        .map(|one| one.side.revision.variant)
        .collect();
    Entry {
        variants,
        missing_in,
        baseline_digest: None,
        same_program: false,
    }
}
