//! Checks of the machine and its programs.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use super::Check;
use wirebench_declare::Project;
use wirebench_declare::driver::Driver;
use wirebench_declare::plan::PlannedSeries;
use wirebench_engine::count::tool::Toolbox;
use wirebench_engine::install;
use wirebench_engine::measure::cores::Cores;
use wirebench_engine::measure::tools;

/// Checks jq, gnuplot, the drivers of these series, and the counting tools.
pub(super) fn tools(project: &Project, series: &[PlannedSeries]) -> Vec<Check> {
    let mut checks = vec![jq(&project.root), gnuplot(&project.root)];
    let drivers = series.iter().map(|one| (one.driver.name.as_str(), one.driver));
    let drivers: BTreeMap<&str, &Driver> = drivers.collect();
    checks.extend(drivers.values().flat_map(|driver| one_driver(&project.root, driver)));
    if project.config.count.enabled {
        checks.extend(counting(&project.root));
    }
    checks
}

fn jq(root: &Path) -> Check {
    const NEEDED: (u32, u32) = (1, 6);
    let Some(program) = tools::locate(root, "jq") else {
        return Check::missing("jq", "not installed: nothing can be read without it", install::of("jq"));
    };
    let version = tools::plain_version(&program).unwrap_or_else(|| "unknown".into());
    match numbers(&version) {
        Some(found) if found >= NEEDED => Check::ok("jq", version),
        _ => Check::missing("jq", format!("version {version}, and 1.6 is needed"), install::of("jq")),
    }
}

/// Parses major and minor version from `1.7.1`, `-1.6`, `1.6-dirty`.
fn numbers(version: &str) -> Option<(u32, u32)> {
    let parts = version.split(|c: char| !c.is_ascii_digit());
    let mut parts = parts.filter(|part| !part.is_empty());
    Some((parts.next()?.parse().ok()?, parts.next()?.parse().ok()?))
}

/// The program that draws the charts of a report.
pub(super) const CHARTS: &str = "gnuplot";

fn gnuplot(root: &Path) -> Check {
    let found = tools::locate(root, CHARTS).and_then(|program| tools::plain_version(&program));
    match found {
        Some(version) => Check::ok(CHARTS, version),
        None => Check::warning(CHARTS, "not installed: reports have no charts", install::of(CHARTS)),
    }
}

fn one_driver(root: &Path, driver: &Driver) -> Vec<Check> {
    let name = format!("driver {}", driver.name);
    let tool = &driver.tool;
    let error = match tools::check(root, driver) {
        Ok((_, version)) => return vec![Check::ok(name, format!("{} {version}", tool.program))],
        Err(error) => error,
    };
    // The error ends with the driver's `install` text.
    let found = error.split("; ").next().unwrap_or(&error);
    let how = install::known(&tool.program).unwrap_or_else(|| tool.install.clone());
    let mut checks = vec![Check::missing(name, found, how)];
    let versioned_by = tool.version_command.first().filter(|program| !program.starts_with('{'));
    if let Some(program) = versioned_by.filter(|program| tools::locate(root, program).is_none()) {
        let found = format!("not installed: it tells the version of {}", tool.program);
        checks.push(Check::missing(program, found, install::of(program)));
    }
    checks
}

fn counting(root: &Path) -> Vec<Check> {
    let toolbox = Toolbox::look(root);
    let version = |path| tools::plain_version(path).unwrap_or_else(|| "there".into());
    let found = toolbox
        .installed
        .iter()
        .map(|(name, path)| Check::ok(*name, version(path)));
    let missing = toolbox.missing().into_iter().map(|(program, what)| {
        let found = format!("not installed: not counted: {what}");
        Check::warning(program, found, install::of(program))
    });
    found.chain(missing).collect()
}

/// Cores and frequency governor.
pub(super) fn machine() -> Vec<Check> {
    let cores = Cores::split();
    let (all, server, driver) = (cores.available, cores.server.len(), cores.driver.len());
    let mut checks = vec![if server == 0 {
        let how = "two or more give each side its own, and times hold stiller";
        Check::warning("cores", format!("{all}: server and driver share them"), how)
    } else {
        let found = format!("{all}: {server} for the server, {driver} for the driver");
        Check::ok("cores", found)
    }];
    if let Ok(governor) = fs::read_to_string("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor") {
        let governor = governor.trim();
        checks.push(if governor == "performance" {
            Check::ok("CPU governor", governor)
        } else {
            let how = "`performance` makes times hold stiller: cpupower frequency-set --governor performance";
            Check::warning("CPU governor", governor, how)
        });
    }
    checks
}

#[cfg(test)]
mod tests {
    use super::numbers;

    #[test]
    fn versions_of_jq_are_read() {
        assert_eq!(numbers("1.7.1"), Some((1, 7)));
        assert_eq!(numbers("1.6-dirty"), Some((1, 6)));
        assert!(numbers("1.10").unwrap() > (1, 6) && numbers("1.5").unwrap() < (1, 6));
        assert_eq!(numbers("unknown"), None);
    }
}
