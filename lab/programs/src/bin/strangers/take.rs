//! Takes one server from nothing to a verdict: init, verify, a quick run, a slowdown in its source, a comparison, the gate.

use std::fs::{self, OpenOptions};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

use anyhow::{Context as _, ensure};
use serde::de::DeserializeOwned;
use wirebench_record::comparison::{ComparedMetric, Comparison, Verdict};
use wirebench_record::metric::Metric;
use wirebench_record::run::Run;

use crate::row::Row;

const BUDGET: &str = "3m";

/// The iterations of the slowdown: about 5 to 100 µs of CPU time in each language.
fn effort(name: &str) -> u32 {
    match name {
        "axum" | "actix" | "tonic" => 3_000,
        "go-net-http" | "gin" | "grpc-go" => 6_000,
        "express" | "fastify" | "spring-boot" => 10_000,
        _ => 2_000,
    }
}

/// A copy of a server in a folder of its own.
pub(crate) struct Stranger<'a> {
    wirebench: &'a Path,
    name: &'a str,
    pub(crate) folder: PathBuf,
    /// The output of all commands.
    log: PathBuf,
}

impl<'a> Stranger<'a> {
    pub(crate) fn new(wirebench: &'a Path, work: &Path, name: &'a str) -> Self {
        Self {
            wirebench,
            name,
            folder: work.join(name),
            log: work.join(format!("{name}.log")),
        }
    }

    /// Copies the server from `source`, and takes it to a verdict.
    pub(crate) fn take(&self, source: &Path) -> anyhow::Result<Row> {
        self.copy(source)?;
        let load = fs::read_to_string("/proc/loadavg")?;
        let load = load.split(' ').next().unwrap_or_default().to_owned();
        let (init_s, _) = self.wirebench(&["init"])?;
        let declared = fs::read_to_string(self.folder.join("wirebench.toml"))?;
        let build_s = seconds_of_building(&declared);
        self.commit("measured")?;
        let (verify_s, verify_code) = self.wirebench(&["verify"])?;
        let (quick_s, quick_exit_code) = self.wirebench(&["run", "--profile", "quick"])?;
        let quick_s = quick_s - self.seconds_of_building()?;
        self.slow_down()?;
        let compare = ["run", "--profile", "quick", "--baseline", "HEAD", "--budget", BUDGET];
        let (comparison_s, _) = self.wirebench(&compare)?;
        let comparison_s = comparison_s - self.seconds_of_building()?;
        let (_, gate_code) = self.wirebench(&["gate"])?;
        let comparison: Comparison = self.newest("comparison.json")?;
        let verdict = serde_json::to_value(comparison.verdict)?;
        let verdict = verdict.as_str().context("a verdict is a word")?;
        Ok(Row {
            name: self.name.to_owned(),
            operations: operations(&declared),
            questions: questions(&declared),
            edits: usize::from(verify_code != 0),
            init_s: init_s - build_s,
            build_s,
            verify_s,
            quick_s,
            quick_exit_code,
            comparison_s,
            verdict: format!("{verdict}, exit {gate_code}: {}", largest_change(&comparison)),
            load,
            budget: BUDGET.to_owned(),
        })
    }

    /// Makes a repository with a copy of the server.
    fn copy(&self, source: &Path) -> anyhow::Result<()> {
        if self.folder.exists() {
            fs::remove_dir_all(&self.folder)?;
        }
        fs::write(&self.log, "")?;
        let copied = Command::new("cp").arg("-r").arg(source).arg(&self.folder).status()?;
        ensure!(copied.success(), "{} cannot be copied", source.display());
        self.git(&["init", "--quiet"])?;
        self.commit("theirs")
    }

    fn git(&self, args: &[&str]) -> anyhow::Result<String> {
        let identity = ["-c", "user.name=bench", "-c", "user.email=bench@localhost"];
        let mut command = Command::new("git");
        command.arg("-C").arg(&self.folder).args(identity).args(args);
        let output = command.stderr(Stdio::inherit()).output()?;
        ensure!(output.status.success(), "{command:?}: {}", output.status);
        Ok(String::from_utf8(output.stdout)?)
    }

    fn commit(&self, message: &str) -> anyhow::Result<()> {
        self.git(&["add", "--all"])?;
        self.git(&["commit", "--quiet", "--message", message]).map(|_| ())
    }

    /// Runs wirebench on the server; its output goes to the log. Returns the seconds it took and its exit code.
    fn wirebench(&self, args: &[&str]) -> anyhow::Result<(i64, i32)> {
        let log = OpenOptions::new().append(true).open(&self.log)?;
        let started = Instant::now();
        let status = Command::new(self.wirebench)
            .arg("--root")
            .arg(&self.folder)
            .args(args)
            .stdout(log.try_clone()?)
            .stderr(log)
            .status()
            .with_context(|| self.wirebench.display().to_string())?;
        let code = status.code().context("wirebench was ended by a signal")?;
        Ok((whole(started.elapsed().as_secs_f64()), code))
    }

    /// Reads a file of the newest run.
    fn newest<T: DeserializeOwned>(&self, name: &str) -> anyhow::Result<T> {
        let entries = fs::read_dir(self.folder.join("results"))?.flatten();
        let folders = entries.map(|entry| entry.path()).filter(|path| path.is_dir());
        let file = folders.max().context("there is no run")?.join(name);
        let text = fs::read(&file).with_context(|| file.display().to_string())?;
        serde_json::from_slice(&text).with_context(|| file.display().to_string())
    }

    /// The seconds of building in the newest run.
    #[expect(clippy::cast_precision_loss, reason = "some minutes")]
    fn seconds_of_building(&self) -> anyhow::Result<i64> {
        let run: Run = self.newest("run.json")?;
        Ok(whole(run.spent.build_ns as f64 / 1e9))
    }

    /// Gives each request more to do: sets the constant EFFORT in the source.
    fn slow_down(&self) -> anyhow::Result<()> {
        for path in self.git(&["ls-files"])?.lines() {
            let file = self.folder.join(path);
            let is_source = [".py", ".go", ".js", ".rs", ".java"]
                .iter()
                .any(|end| path.ends_with(end));
            if is_source {
                let text = fs::read_to_string(&file)?;
                fs::write(&file, slower(&text, effort(self.name)))?;
            }
        }
        Ok(())
    }
}

#[expect(clippy::cast_possible_truncation, reason = "seconds")]
fn whole(seconds: f64) -> i64 {
    seconds.round() as i64
}

/// The source with another value of its constant EFFORT, which is 0.
fn slower(source: &str, effort: u32) -> String {
    let mut slower = String::new();
    for line in source.split_inclusive('\n') {
        let declaration = line.trim_end().trim_end_matches(';').strip_suffix(" = 0");
        let name = declaration.map(|text| text.trim_end_matches(": u64"));
        if name.is_some_and(|text| text.ends_with("EFFORT") || text.ends_with("effort")) {
            slower += &line.replace(" = 0", &format!(" = {effort}"));
        } else {
            slower += line;
        }
    }
    slower
}

/// The seconds of building that init wrote into the declarations.
fn seconds_of_building(declared: &str) -> i64 {
    let builds = declared.lines().filter_map(|line| {
        let (_, seconds) = line.split_once("# worked, in ")?;
        seconds.strip_suffix(" s")?.parse::<f64>().ok()
    });
    whole(builds.sum())
}

fn operations(declared: &str) -> usize {
    let tables = declared.lines().filter(|line| line.starts_with("[servers."));
    tables.filter(|line| line.contains(".operations.")).count()
}

/// Counts the questions that init left open: the lines `# name: …` after `# Questions`.
fn questions(declared: &str) -> usize {
    let lines = declared.lines().skip_while(|line| !line.starts_with("# Questions"));
    let is_name = |text: &str| {
        text.bytes()
            .all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-')
    };
    lines
        .take_while(|line| !line.is_empty())
        .filter_map(|line| line.strip_prefix("# ")?.split_once(": "))
        .filter(|(name, _)| is_name(name))
        .count()
}

/// The first regressed change, if possible one of the cost of a request; without any, the largest change of that cost.
fn largest_change(comparison: &Comparison) -> String {
    let all = || comparison.series.iter().flat_map(|series| &series.metrics);
    let measured = || all().filter(|change| change.effect_percent.is_some());
    let of = |metric: Metric| measured().filter(move |change| change.metric == metric);
    let costs = || of(Metric::Instructions).chain(of(Metric::ServerCpu));
    let regressed = costs()
        .chain(measured())
        .find(|change| change.verdict == Verdict::Regressed);
    let percent = |change: &ComparedMetric| change.effect_percent.unwrap_or_default();
    let largest = costs().max_by(|one, other| percent(one).total_cmp(&percent(other)));
    regressed.or(largest).map_or_else(
        || "–".to_owned(),
        |change| {
            let rounded = (percent(change) * 10.0).round() / 10.0;
            let sign = if rounded > 0.0 { "+" } else { "" };
            format!("{} {sign}{rounded} %", change.metric.name())
        },
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_constant_is_set_in_every_language_and_nothing_else_changes() {
        for (before, after) in [
            ("const EFFORT: u64 = 0;\n", "const EFFORT: u64 = 7;\n"),
            ("const effort = 0\n", "const effort = 7\n"),
            ("EFFORT = 0\n", "EFFORT = 7\n"),
            (
                "    private static final int EFFORT = 0;\n",
                "    private static final int EFFORT = 7;\n",
            ),
            ("let total = 0;\n", "let total = 0;\n"),
        ] {
            assert_eq!(slower(before, 7), after);
        }
    }

    #[test]
    fn questions_and_operations_are_counted_in_what_init_wrote() {
        let declared = "[servers.a.operations.x]\nbuild = \"b\" # worked, in 1.6 s\n# Questions\n# a: which?\n# A note: none\n\n# b: no\n";
        assert_eq!(
            (operations(declared), questions(declared), seconds_of_building(declared)),
            (1, 1, 2)
        );
    }
}
