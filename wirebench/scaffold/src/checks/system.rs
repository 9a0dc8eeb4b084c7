//! Checks of the machine and its programs.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::time::Duration;

use super::Check;
use wirebench_declare::Project;
use wirebench_declare::driver::Driver;
use wirebench_declare::plan::PlannedSeries;
use wirebench_engine::count::tool::Toolbox;
use wirebench_engine::install;
use wirebench_engine::measure::cores::Cores;
use wirebench_engine::measure::{tools, usage};

/// Checks jq, gnuplot, the drivers of these series, and the counting tools.
pub(super) fn tools(project: &Project, series: &[PlannedSeries]) -> Vec<Check> {
    let mut checks = vec![jq(&project.root), gnuplot(&project.root)];
    let drivers: BTreeMap<&str, &Driver> = series
        .iter()
        .map(|one| (one.driver.name.as_str(), one.driver))
        .collect();
    checks.extend(
        drivers
            .into_values()
            .flat_map(|driver| one_driver(&project.root, driver)),
    );
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
    let mut parts = version
        .split(|c: char| !c.is_ascii_digit())
        .filter(|part| !part.is_empty());
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
    let versioned_by = driver
        .tool
        .version_command
        .first()
        .filter(|program| !program.starts_with('{'));
    let mut checks = match tools::check(root, driver) {
        Ok(found) => return vec![Check::ok(name, format!("{} {}", driver.tool.program, found.version))],
        Err(error) => {
            // The error ends with the driver's `install` text.
            let found = error.split("; ").next().unwrap_or(&error).to_owned();
            let how = install::known(&driver.tool.program).unwrap_or_else(|| driver.tool.install.clone());
            vec![Check::missing(name, found, how)]
        }
    };
    if let Some(program) = versioned_by.filter(|program| tools::locate(root, program).is_none()) {
        let found = format!("not installed: it tells the version of {}", driver.tool.program);
        checks.push(Check::missing(program.clone(), found, install::of(program)));
    }
    checks
}

fn counting(root: &Path) -> Vec<Check> {
    if !cfg!(target_os = "linux") {
        let how = "runs on Linux count; enabled = false in [count] says that none does";
        return vec![Check::warning("counting", "needs Linux", how)];
    }
    let toolbox = Toolbox::look(root);
    let found = toolbox
        .installed()
        .iter()
        .map(|(name, path)| Check::ok(*name, tools::plain_version(path).unwrap_or_else(|| "there".into())));
    let missing = toolbox.missing().into_iter().map(|(program, what)| {
        Check::warning(
            program,
            format!("not installed: not counted: {what}"),
            install::of(program),
        )
    });
    found.chain(missing).collect()
}

/// Cores, frequency governor and steal.
pub(super) fn machine() -> Vec<Check> {
    let mut checks = vec![match Cores::split() {
        cores if cores.server.is_empty() => {
            let found = format!("{}: server and driver share them", cores.available);
            Check::warning(
                "cores",
                found,
                "two or more give each side its own, and times hold stiller",
            )
        }
        cores => Check::ok(
            "cores",
            format!(
                "{}: {} for the server, {} for the driver",
                cores.available,
                cores.server.len(),
                cores.driver.len()
            ),
        ),
    }];
    if let Ok(governor) = fs::read_to_string("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor") {
        let governor = governor.trim();
        checks.push(if governor == "performance" {
            Check::ok("CPU governor", governor)
        } else {
            Check::warning(
                "CPU governor",
                governor,
                "`performance` makes times hold stiller: cpupower frequency-set --governor performance",
            )
        });
    }
    checks.extend(steal());
    checks
}

/// Measures steal during a short wait.
fn steal() -> Option<Check> {
    const LOOK: Duration = Duration::from_millis(300);
    let before = usage::steal_ns()?;
    std::thread::sleep(LOOK);
    let lost = Duration::from_nanos(usage::steal_ns()?.saturating_sub(before));
    let found = format!("{} ms of {} ms", lost.as_millis(), LOOK.as_millis());
    Some(if lost < LOOK / 20 {
        Check::ok("steal", found)
    } else {
        Check::warning(
            "steal",
            found,
            "other machines on this host take CPU time: disturbed rounds are measured again",
        )
    })
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
