//! One step of a bisection: two commits, measured in a process of its own.

use std::path::Path;

use anyhow::Context as _;

use crate::folders::results;
use crate::outcome::UsageError;
use crate::{comparisons, runs, separate_run};
use wirebench_record::comparison::Comparison;
use wirebench_record::run::short_commit;

/// What every step measures, and where its run is stored.
pub(super) struct Steps<'a> {
    root: &'a Path,
    flags: Vec<String>,
}

impl<'a> Steps<'a> {
    /// Steps that measure one series, with further flags of `wirebench run`.
    ///
    /// # Errors
    /// When the series is not named as scenario@server@driver.
    pub(super) fn new(root: &'a Path, series: &str, mut flags: Vec<String>) -> Result<Self, UsageError> {
        let parts: Vec<&str> = series.split('@').collect();
        let [scenario, server, driver] = parts[..] else {
            let message = format!("--series {series}: expected scenario@server@driver; see: wirebench list");
            return Err(UsageError(message));
        };
        for (flag, name) in [("--scenario", scenario), ("--server", server), ("--driver", driver)] {
            flags.extend([flag.to_owned(), globset::escape(name)]);
        }
        Ok(Self { root, flags })
    }

    /// Measures two commits in one run, and reads its comparison.
    ///
    /// # Errors
    /// When the run left no comparison.
    pub(super) fn compare(&self, good: &str, commit: &str) -> anyhow::Result<Comparison> {
        let step = format!("{}-{}", short_commit(good), short_commit(commit));
        let out = results(self.root).join("bisect").join(step);
        let mut flags = ["--baseline", good, "--candidate", commit].map(str::to_owned).to_vec();
        flags.extend(self.flags.iter().cloned());
        let status = separate_run::run(self.root, &flags, &out)?;
        // Runs are named by their start time: the last one is this step's.
        let folder = runs::below(&out, comparisons::FILE).max();
        let folder = folder.with_context(|| format!("{}: the step left no comparison ({status})", out.display()))?;
        comparisons::read(&folder.join(comparisons::FILE))
    }
}
