//! The first step of verify and run: finds tools. Missing ones are recorded; the other series go on.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::Context as _;

use crate::install;
use crate::measure::cores::Cores;
use crate::measure::interrupt::Interrupt;
use crate::measure::slot::Harness;
use crate::measure::tls::TlsFiles;
use crate::measure::tools;
use crate::normalise::Jq;
use crate::session::builtin;
use wirebench_declare::Project;
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
            Ok(found) => {
                prepared
                    .tools
                    .push(tool_version(driver.tool.versioned(), &found.version));
                prepared.harness.drivers.insert(driver.name.clone(), found.path);
            }
            Err(error) => {
                prepared.broken_drivers.insert(driver.name.clone(), error);
            }
        }
    }
    Ok(prepared)
}

/// Writes the files of built-in drivers and counters where they can be read.
///
/// # Errors
/// When they cannot be written.
pub fn filters(project: &Project) -> anyhow::Result<()> {
    builtin::write_files(project)
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
#[must_use]
pub fn tool_version(name: &str, version: &str) -> ToolVersion {
    ToolVersion {
        name: name.to_owned(),
        version: version.to_owned(),
    }
}
