//! One step of a bisection: two commits, measured in a process of its own.

use std::path::{Path, PathBuf};
use std::process::Stdio;

use anyhow::Context as _;

use super::Args;
use crate::{UsageError, results, stored};
use wirebench_record::comparison::Comparison;
use wirebench_record::run::short_commit;

/// What every step measures, and where its run is stored.
pub(super) struct Scope {
    root: PathBuf,
    flags: Vec<String>,
}

impl Scope {
    pub(super) fn new(root: &Path, args: &Args) -> anyhow::Result<Self> {
        let parts: Vec<&str> = args.series.split('@').collect();
        let [scenario, server, driver] = parts[..] else {
            let message = format!(
                "--series {}: expected scenario@server@driver; see: wirebench list",
                args.series
            );
            return Err(UsageError(message).into());
        };
        let mut flags = Vec::new();
        for (flag, name) in [("--scenario", scenario), ("--server", server), ("--driver", driver)] {
            flags.extend([flag.to_owned(), globset::escape(name)]);
        }
        flags.extend(
            args.profile
                .iter()
                .flat_map(|name| ["--profile".to_owned(), name.clone()]),
        );
        flags.extend(
            args.budget
                .iter()
                .flat_map(|time| ["--budget".to_owned(), time.as_flag()]),
        );
        Ok(Self {
            root: root.to_path_buf(),
            flags,
        })
    }

    /// Measures two commits in one run, in a separate process, and reads its comparison.
    pub(super) fn compare_revisions(&self, good: &str, commit: &str) -> anyhow::Result<Comparison> {
        let out = results(&self.root)
            .join("bisect")
            .join(format!("{}-{}", short_commit(good), short_commit(commit)));
        let program = std::env::current_exe().context("this program cannot find itself")?;
        let status = wirebench_spawn::command(program)
            .arg("--root")
            .arg(&self.root)
            .args(["run", "--baseline", good, "--candidate", commit])
            .args(&self.flags)
            .arg("--out")
            .arg(&out)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .status()
            .context("a step cannot be started")?;
        // Runs are named by their start time: the last one is this step's.
        let runs = std::fs::read_dir(&out).into_iter().flatten().flatten();
        let newest = runs
            .map(|entry| entry.path().join(stored::FILE))
            .filter(|file| file.is_file())
            .max();
        let file = newest.with_context(|| format!("{}: the step left no comparison ({status})", out.display()))?;
        stored::read(&file)
    }
}
