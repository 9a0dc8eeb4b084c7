//! The variants that are measured of each series, and the series that only one side has.

use std::collections::{BTreeMap, BTreeSet};

use crate::session::checkout::{self, CheckedOutSide, of_variant};
use crate::session::recorder::unmeasured;
use wirebench_declare::plan::{PlanError, PlannedSeries, Selection, Unmatched};
use wirebench_declare::project::Profile;
use wirebench_record::run::{Series, Variant};

/// The variants to measure.
#[derive(Debug)]
pub(super) struct VariantPlan {
    /// One entry for each series of the plan, in the plan's order.
    pub(super) entries: Vec<SeriesVariants>,
    /// Series that only the baseline declares.
    pub(super) removed: Vec<Series>,
}

/// What is measured of one series.
#[derive(Debug)]
pub(super) struct SeriesVariants {
    /// Variants to measure; empty when the candidate does not have the series.
    pub(super) variants: Vec<Variant>,
    /// Its record before the first round: which side lacks it, the digest of the baseline's own load if it differs, and whether
    /// baseline and candidate run the same program, so that they are not measured against each other.
    pub(super) record: Series,
}

impl SeriesVariants {
    fn compares(&self) -> bool {
        let both = [Variant::Baseline, Variant::Candidate];
        both.iter().all(|variant| self.variants.contains(variant))
    }
}

impl VariantPlan {
    /// Measures servers that the baseline lacks, as its build showed, in the candidate alone.
    pub(super) fn without_lacking(&mut self, series: &[PlannedSeries], sides: &[CheckedOutSide]) {
        for (one, entry) in series.iter().zip(&mut self.entries) {
            if sides.iter().any(|side| side.lacks(&one.server.name)) {
                entry.variants.retain(|variant| *variant != Variant::Baseline);
                entry.record.missing_in.get_or_insert(Variant::Baseline);
            }
        }
    }

    /// Prepares the comparison of sides that have been built: unless `measure_identical`, skips series whose server is the same program
    /// on both sides (with a reference, candidate and reference are still measured, for the trend); adds the null wherever a baseline
    /// is measured against a candidate.
    pub(super) fn compare(&mut self, series: &[PlannedSeries], sides: &[CheckedOutSide], measure_identical: bool) {
        let same = if measure_identical {
            BTreeSet::new()
        } else {
            checkout::same_programs(sides)
        };
        for (one, entry) in series
            .iter()
            .zip(&mut self.entries)
            .filter(|(_, entry)| entry.compares())
        {
            if !same.contains(&one.server.name) {
                entry.variants.push(Variant::Null);
                continue;
            }
            entry.record.same_program = true;
            entry.variants.retain(|variant| *variant != Variant::Baseline);
            if entry.variants == [Variant::Candidate] {
                entry.variants.clear();
            }
        }
    }

    /// Keeps only the selected series; `keep_removed` selects those that only the baseline declares.
    pub(super) fn narrow(
        &mut self,
        series: &mut Vec<PlannedSeries>,
        keep: impl Fn(&PlannedSeries) -> bool,
        keep_removed: impl Fn(&Series) -> bool,
    ) {
        let mut kept = series.iter().map(&keep).collect::<Vec<bool>>().into_iter();
        self.entries.retain(|_| kept.next().unwrap_or(false));
        series.retain(keep);
        self.removed.retain(keep_removed);
    }
}

/// Plans the variants of every series by what the sides declare.
///
/// # Errors
/// When a pattern is wrong.
pub(super) fn plan(
    sides: &[CheckedOutSide],
    series: &[PlannedSeries],
    profile: &Profile,
    selection: &Selection,
) -> Result<VariantPlan, PlanError> {
    let baseline = of_variant(sides, Variant::Baseline);
    let declared_by_baseline = match baseline.and_then(|one| one.declares.as_ref()) {
        Some(project) => wirebench_declare::plan::declared(project, profile, selection, Unmatched::Allowed)?,
        None => Vec::new(),
    };
    let digests: BTreeMap<&str, &str> = declared_by_baseline
        .iter()
        .map(|one| (one.id.as_str(), one.digest.as_str()))
        .collect();
    let entry = |one: &PlannedSeries| {
        let lacks = |variant| of_variant(sides, variant).is_some_and(|side| !side.side.declares(one));
        let missing_in = [Variant::Candidate, Variant::Baseline].into_iter().find(|v| lacks(*v));
        let declaring = sides.iter().map(|side| &side.side).filter(|side| side.declares(one));
        let measured = declaring.filter(|_| missing_in != Some(Variant::Candidate));
        let baseline = digests.get(one.id.as_str()).filter(|digest| **digest != one.digest);
        SeriesVariants {
            variants: measured.map(|side| side.revision.variant).collect(),
            record: Series {
                missing_in,
                baseline_digest: baseline.map(|digest| (*digest).to_owned()),
                ..unmeasured(one)
            },
        }
    };
    let removed = declared_by_baseline
        .iter()
        .filter(|declared| series.iter().all(|planned| planned.id != declared.id))
        .map(|declared| Series {
            missing_in: Some(Variant::Candidate),
            ..unmeasured(declared)
        });
    Ok(VariantPlan {
        entries: series.iter().map(entry).collect(),
        removed: removed.collect(),
    })
}
