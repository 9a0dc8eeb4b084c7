//! Appends one run to a history. No other file is read, so the cost does not depend on the length of the history.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use jiff::Timestamp;

use crate::error::HistoryError;
use crate::files::{json_line, runs_folder, write_once};
use wirebench_record::counts::SHOWN_FUNCTIONS;
use wirebench_record::metric::Metric;
use wirebench_record::names::is_run;
use wirebench_record::run::{Run, Variant};

pub use crate::files::Written;

/// Which runs are accepted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Admit {
    /// Only runs of committed files.
    Committed,
    /// Runs of modified files too.
    Modified,
}

/// Appends a run to the history in the folder `history`, which is created if it does not exist. Returns the run's file, and
/// whether it is new.
///
/// # Errors
/// If the run has no commit, no valid id or time, modified files that are not admitted, or CPU time injected by a self-test;
/// if a file of the same name has other content; if the file cannot be written. Nothing is changed then.
pub fn append(history: &Path, run: &Run, admit: Admit) -> Result<(PathBuf, Written), HistoryError> {
    let file = file_of(history, run, admit)
        .map_err(|reason| HistoryError(format!("run {} is not appended: {reason}", run.id)))?;
    let advice = "If this is the same run, the record was edited since: append the original";
    let written = write_once(&file, &json_line(&file, &kept(run))?, advice)?;
    Ok((file, written))
}

/// What a history keeps of a run: all of it but the functions that its pages do not show, which were nine tenths of a counted run.
fn kept(run: &Run) -> Run {
    let mut run = run.clone();
    for counts in run.series.iter_mut().flat_map(|series| &mut series.counts) {
        let mut kept: BTreeMap<Metric, usize> = BTreeMap::new();
        counts.functions.retain(|cost| {
            let kept = kept.entry(cost.metric).or_default();
            *kept += 1;
            *kept <= SHOWN_FUNCTIONS
        });
        if let Some(work) = &mut counts.work {
            work.functions.truncate(SHOWN_FUNCTIONS);
        }
    }
    run
}

/// The path of the run's file in the history, or the reason why the run is refused.
fn file_of(history: &Path, run: &Run, admit: Admit) -> Result<PathBuf, String> {
    let candidate = run.revision(Variant::Candidate).ok_or("it has no candidate")?;
    let commit = candidate.commit.as_deref().ok_or(
        "its candidate has no commit, so it has no place in the order of commits; measure a committed revision",
    )?;
    if commit.len() < 12 || !commit.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return Err(format!("its commit \"{commit}\" is not 40 hex digits"));
    }
    if candidate.modified != Some(false) && admit == Admit::Committed {
        return Err(format!(
            "files differed from commit {}, so it would stand for code that is in no commit; commit and measure again, or \
             give --allow-modified",
            &commit[..12]
        ));
    }
    if run.series.iter().any(|series| series.injected_burn_ns.is_some()) {
        return Err("CPU time was burnt in it on purpose, by a self-test".into());
    }
    if !is_run(&run.id) {
        return Err("its id may hold letters, digits and hyphens only".into());
    }
    let started: Timestamp = run
        .started_at
        .parse()
        .map_err(|error| format!("its start \"{}\" is no RFC 3339 time: {error}", run.started_at))?;
    let folder = runs_folder(history, &started.strftime("%Y-%m").to_string());
    Ok(folder.join(format!("{}-{}.json", &commit[..12].to_ascii_lowercase(), run.id)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use wirebench_record::counts::FunctionCost;

    #[test]
    fn of_a_run_only_the_functions_that_no_page_shows_are_left_out() {
        let function = |number: usize, metric: Metric| FunctionCost {
            function: format!("f{number}"),
            metric,
            cost: 1.0,
            inclusive: None,
            blamed: None,
            calls: None,
            source: None,
        };
        let with = |most: usize| {
            let mut run = wirebench_testing::reference();
            let mut counts = wirebench_testing::counts(Variant::Candidate, Vec::new());
            for metric in [Metric::Instructions, Metric::Allocations] {
                counts
                    .functions
                    .extend((0..most).map(|number| function(number, metric)));
            }
            run.series[0].counts = vec![counts];
            run
        };
        assert_eq!(kept(&with(400)), with(SHOWN_FUNCTIONS));
        assert_eq!(kept(&with(3)), with(3));
    }
}
