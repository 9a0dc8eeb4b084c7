//! What verify and run do first: find tools, build servers; what fails is noted and the rest goes on.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use crate::declare::Project;
use crate::declare::server::Program;
use crate::measure::cores::Cores;
use crate::measure::interrupt::Interrupt;
use crate::measure::slot::Bench;
use crate::measure::{build, tools};
use crate::normalise::Jq;
use crate::plan::PlannedSeries;
use crate::record::run::ToolVersion;

/// Where to get what wirebench itself calls.
pub(super) const INSTALL: &str = "scripts/setup.sh";

/// Everything a plan needs, and what of it is broken.
#[derive(Debug)]
pub(super) struct Prepared<'a> {
    pub(super) bench: Bench<'a>,
    pub(super) tools: Vec<ToolVersion>,
    /// Reason by driver name.
    pub(super) broken_drivers: BTreeMap<String, String>,
    /// Reason by server name.
    pub(super) broken_servers: BTreeMap<String, String>,
}

impl Prepared<'_> {
    /// Why a series cannot be measured at all.
    pub(super) fn broken(&self, series: &PlannedSeries) -> Option<&str> {
        let driver = self.broken_drivers.get(&series.driver.name);
        driver
            .or_else(|| self.broken_servers.get(&series.server.name))
            .map(String::as_str)
    }
}

/// Finds the drivers' programs and builds the servers that the series need.
pub(super) fn prepare<'a>(
    project: &'a Project,
    series: &[PlannedSeries],
    cores: Cores,
    interrupt: Interrupt,
) -> Prepared<'a> {
    let root = &project.root;
    let mut prepared = Prepared {
        bench: Bench {
            root,
            cores,
            interrupt,
            programs: BTreeMap::new(),
            drivers: BTreeMap::new(),
        },
        tools: Vec::new(),
        broken_drivers: BTreeMap::new(),
        broken_servers: BTreeMap::new(),
    };
    for driver in unique(series.iter().map(|one| (one.driver.name.as_str(), one.driver))) {
        match tools::check(root, driver) {
            Ok(found) => {
                let name = driver.tool.program.clone();
                prepared.tools.push(ToolVersion {
                    name,
                    version: found.version,
                });
                prepared.bench.drivers.insert(driver.name.clone(), found.path);
            }
            Err(error) => {
                prepared.broken_drivers.insert(driver.name.clone(), error.to_string());
            }
        }
    }
    let servers = unique(series.iter().map(|one| (one.server.name.as_str(), one.server)));
    let built = build::packages(root, servers.iter().filter_map(|server| server.package()));
    for server in servers {
        let program = match &server.program {
            Program::Package(package) => built[package]
                .clone()
                .map(|path| vec![path.to_string_lossy().into_owned()]),
            Program::Command(command) => Ok(in_project(root, command)),
        };
        match program {
            Ok(program) => {
                prepared.bench.programs.insert(server.name.clone(), program);
            }
            Err(reason) => {
                prepared.broken_servers.insert(server.name.clone(), reason);
            }
        }
    }
    prepared
}

/// A command whose program is a relative path starts from the project's folder; a bare name is looked up on PATH.
fn in_project(root: &Path, command: &[String]) -> Vec<String> {
    let mut command = command.to_vec();
    if let Some(program) = command.first_mut().filter(|program| program.contains('/')) {
        *program = root.join(&*program).to_string_lossy().into_owned();
    }
    command
}

fn unique<'a, T>(named: impl Iterator<Item = (&'a str, &'a T)>) -> Vec<&'a T> {
    named.collect::<BTreeMap<_, _>>().into_values().collect()
}

/// jq, without which nothing can be normalised.
pub(super) fn jq(project: &Project) -> anyhow::Result<(Jq, ToolVersion)> {
    let program =
        tools::locate(&project.root, "jq").ok_or_else(|| anyhow::anyhow!("jq is not installed; run: {INSTALL}"))?;
    let version = tools::plain_version(&program).unwrap_or_else(|| "unknown".into());
    let library = project.root.join("drivers/lib");
    Ok((
        Jq { program, library },
        ToolVersion {
            name: "jq".into(),
            version,
        },
    ))
}

/// gnuplot, without which a run has no charts.
pub(super) fn gnuplot(root: &Path) -> Option<(PathBuf, ToolVersion)> {
    let program = tools::locate(root, "gnuplot")?;
    let version = tools::plain_version(&program)?;
    Some((
        program,
        ToolVersion {
            name: "gnuplot".into(),
            version,
        },
    ))
}
