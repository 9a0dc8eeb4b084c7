//! The first step of verify and run: finds tools. Missing ones are recorded; the other series go on.
//!
//! Writes the built-in drivers and counters to a folder where jq and counted programs can read them.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::Context as _;

use crate::measure::cores::Cores;
use crate::measure::interrupt::Interrupt;
use crate::measure::side::Side;
use crate::measure::slot::Harness;
use crate::measure::tls::TlsFiles;
use crate::measure::tools;
use crate::normalise::Jq;
use crate::{git, install};
use wirebench_declare::Project;
use wirebench_declare::builtin::{FILES, folder};
use wirebench_declare::driver::Driver;
use wirebench_declare::plan::PlannedSeries;
use wirebench_record::run::ToolVersion;

/// The tools that a plan needs, and the reasons why some cannot be used.
#[derive(Debug)]
pub struct Prepared<'a> {
    /// What measures.
    pub harness: Harness<'a>,
    /// Versions of the programs found.
    pub tools: Vec<ToolVersion>,
    /// Reason by driver name.
    pub broken_drivers: BTreeMap<String, String>,
}

impl Prepared<'_> {
    /// Why a series cannot be measured on a side; `None` if it can.
    pub(super) fn broken<'p>(&'p self, series: &PlannedSeries, side: &'p Side) -> Option<&'p String> {
        let broken_driver = self.broken_drivers.get(&series.driver.name);
        broken_driver.or_else(|| side.broken.get(&series.server.name))
    }

    /// Says at once which load generators cannot be used; their series will fail.
    ///
    /// # Errors
    /// When none can be used, so that nothing would be measured.
    pub fn check_drivers(&self, series: &[PlannedSeries]) -> anyhow::Result<()> {
        let reasons = self.broken_drivers.iter();
        let reasons: Vec<String> = reasons
            .map(|(driver, reason)| format!("driver {driver}: {reason}"))
            .collect();
        let is_broken = |one: &PlannedSeries| self.broken_drivers.contains_key(&one.driver.name);
        if !series.is_empty() && series.iter().all(is_broken) {
            anyhow::bail!("nothing can be measured: {}", reasons.join("; "));
        }
        for reason in reasons {
            log::error!("its series will fail: {reason}");
        }
        Ok(())
    }
}

/// Finds the drivers' programs that the series need, and writes the filters of built-in drivers.
///
/// # Errors
/// When the temporary folder or the project's folder cannot be written.
pub fn prepare<'a>(
    project: &'a Project,
    series: &[PlannedSeries],
    cores: Cores,
    interrupt: Interrupt,
) -> anyhow::Result<Prepared<'a>> {
    let root = &project.root;
    filters(project)?;
    let mut prepared = Prepared {
        harness: Harness {
            root,
            cores,
            interrupt,
            tls: TlsFiles::make().context("no certificate for servers over TLS can be made")?,
            runtimes: &project.runtimes,
            drivers: BTreeMap::new(),
            kept: Arc::default(),
            host: None,
            driver_host: None,
        },
        tools: Vec::new(),
        broken_drivers: BTreeMap::new(),
    };
    let drivers: BTreeMap<&str, &Driver> = series
        .iter()
        .map(|one| (one.driver.name.as_str(), one.driver))
        .collect();
    for driver in drivers.into_values() {
        match tools::check(root, driver) {
            Ok((path, version)) => {
                let version = tool_version(driver.tool.versioned(), &version);
                prepared.tools.push(version);
                prepared.harness.drivers.insert(driver.name.clone(), path);
            }
            Err(error) => {
                prepared.broken_drivers.insert(driver.name.clone(), error);
            }
        }
    }
    Ok(prepared)
}

/// jq, without which nothing can be normalised.
///
/// # Errors
/// When jq is not installed.
pub fn jq(project: &Project) -> anyhow::Result<(Jq, ToolVersion)> {
    let program = tools::locate(&project.root, "jq")
        .ok_or_else(|| anyhow::anyhow!("jq is not installed; run: {}", install::of("jq")))?;
    let version = tools::plain_version(&program).unwrap_or_else(|| "unknown".into());
    Ok((Jq { program }, tool_version("jq", &version)))
}

/// gnuplot, without which a run has no charts.
pub fn gnuplot(root: &Path) -> Option<(PathBuf, ToolVersion)> {
    let program = tools::locate(root, "gnuplot")?;
    let version = tools::plain_version(&program)?;
    Some((program, tool_version("gnuplot", &version)))
}

/// A tool and its version, for the record.
pub fn tool_version(name: &str, version: &str) -> ToolVersion {
    ToolVersion {
        name: name.to_owned(),
        version: version.to_owned(),
    }
}

/// Makes sure that their files are below `.wirebench/`, complete, if the project uses any of them. Several processes
/// may do this at the same time.
///
/// # Errors
/// When they cannot be written.
pub fn filters(project: &Project) -> anyhow::Result<()> {
    if !project.uses_builtin_files() {
        return Ok(());
    }
    let to = git::work_path(&project.root, &folder().to_string_lossy())?;
    if is_whole(&to) {
        return Ok(());
    }
    write(&to).with_context(|| {
        format!(
            "{}: cannot be written, and the built-in drivers and counters go there; make it writable for this user, or measure a copy of the project",
            to.display()
        )
    })
}

/// True if every file is present and unchanged.
fn is_whole(folder: &Path) -> bool {
    let same = |(path, text): &(&str, &str)| fs::read(folder.join(path)).is_ok_and(|found| found == text.as_bytes());
    FILES.iter().all(same)
}

/// Creates the folder atomically: a reader sees all files or none.
fn write(to: &Path) -> std::io::Result<()> {
    let parent = to.parent().unwrap_or(Path::new("."));
    fs::create_dir_all(parent)?;
    let unfinished = tempfile::Builder::new().prefix("unfinished-").tempdir_in(parent)?;
    for (path, text) in FILES {
        let file = unfinished.path().join(path);
        fs::create_dir_all(file.parent().unwrap_or(to))?;
        fs::write(file, text)?;
    }
    if to.exists() && !is_whole(to) {
        fs::remove_dir_all(to)?;
    }
    match fs::rename(unfinished.path(), to) {
        // Another wirebench process created it first.
        Err(_) if is_whole(to) => Ok(()),
        done => done,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn they_are_written_whole_mended_and_left_alone() {
        let root = tempfile::tempdir().unwrap();
        let to = root.path().join(folder());
        std::thread::scope(|all| {
            for _ in 0..8 {
                all.spawn(|| write(&to).unwrap());
            }
        });
        assert!(is_whole(&to));
        fs::write(to.join("drivers/hey/normalise.jq"), "changed").unwrap();
        assert!(!is_whole(&to));
        write(&to).unwrap();
        assert!(is_whole(&to));
        let left = fs::read_dir(to.parent().unwrap()).unwrap().count();
        assert_eq!(left, 1, "unfinished folders stay behind");
    }
}
