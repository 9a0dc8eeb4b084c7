//! Runs one comparison of the table as a user would: commits the change on top of the base commit, and runs `wirebench
//! run --baseline` in a separate process.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use crate::truth::project::Scratch;
use crate::truth::record::{Outcome, TruthTable};
use crate::truth::{Case, judge};
use wirebench_declare::span::Span;
use wirebench_engine::measure::interrupt::Interrupt;
use wirebench_engine::measure::process::{Group, Launch, ProcessGroup as _};
use wirebench_record::comparison::Comparison;

/// How long one comparison may take, the build of a change included.
const LIMIT: Duration = Duration::from_secs(600);
/// How long it may take to prepare one, or to build a server for the first time.
const PREPARING: Duration = Duration::from_secs(1800);
/// How long a comparison that is stopped may take to end its servers.
const GRACE: Duration = Duration::from_secs(30);
/// Length of the path that each further comparison of a row adds.
const FILLER: usize = 8;

/// Where and how a table is made.
#[derive(Debug)]
pub struct Settings {
    /// The root of the repository.
    pub repository: PathBuf,
    /// The commit that rows change, 40 hex digits.
    pub base: String,
    /// The project's folder within the repository.
    pub prefix: PathBuf,
    /// The folder of clones and prepared programs, kept between tables.
    pub scratch: PathBuf,
    /// The folder of this table: logs and runs of each case.
    pub results: PathBuf,
    /// The program that compares.
    pub program: PathBuf,
    /// Environment variables added for it.
    pub environment: BTreeMap<String, String>,
    /// Wall time for rounds of load, in place of every row's own.
    pub budget: Option<Span>,
}

/// Makes the comparisons of a table.
#[derive(Debug)]
pub struct Work {
    settings: Settings,
    clone: Scratch,
    interrupt: Interrupt,
    /// Project and server of programs that are built already.
    built: BTreeSet<(PathBuf, String)>,
}

impl Work {
    /// Makes the clone.
    ///
    /// # Errors
    /// When git fails; the error is a sentence.
    pub fn open(settings: Settings, interrupt: Interrupt) -> Result<Self, String> {
        let folder = settings.scratch.join("project");
        Ok(Self {
            clone: Scratch::open(&settings.repository, &settings.base, &folder)?,
            settings,
            interrupt,
            built: BTreeSet::new(),
        })
    }

    /// Runs the comparison of a case and checks it against its row; `None` if the user interrupted.
    #[must_use]
    pub fn outcome(&mut self, case: Case) -> Option<Outcome> {
        let prepared = self.prepare(case);
        let started = Instant::now();
        let comparison = prepared.and_then(|args| self.comparison(case, &args));
        let seconds = (started.elapsed().as_secs_f64() * 10.0).round() / 10.0;
        let reset = self.clone.reset();
        if self.interrupt.is_requested() {
            return None;
        }
        let comparison = comparison.and_then(|comparison| reset.map(|()| comparison));
        Some(judge(case, comparison.as_ref().map_err(String::clone), seconds))
    }

    /// Makes both sides of a case, builds the candidate if that takes long, and returns the command line of the comparison.
    fn prepare(&mut self, case: Case) -> Result<Vec<String>, String> {
        let row = case.row;
        self.clone.reset()?;
        let logs = self.settings.results.join("logs");
        fs::create_dir_all(&logs).map_err(|error| format!("{}: cannot be made: {error}", logs.display()))?;
        let within = self.settings.prefix.join(&row.project);
        let project = self.clone.folder.join(&within);
        self.run_all(&row.baseline, &project, case, "baseline")?;
        let baseline = if row.baseline.is_empty() {
            self.clone.base.clone()
        } else {
            self.clone.commit("both sides")?
        };
        if let Some(patch) = &row.patch {
            self.clone.apply(patch, &row.about)?;
        }
        let candidate = match &row.candidate.clone {
            None => project,
            Some(name) => {
                let copy = Scratch::open(&self.clone.folder, &self.clone.base, &self.settings.scratch.join(name))?;
                copy.folder.join(&within)
            }
        };
        self.run_all(&row.candidate.prepare, &candidate, case, "prepare")?;
        let args = self.arguments(case, &baseline, &candidate, &within);
        if self.built.insert((within, row.server.clone())) || row.long_build || row.busy > 0 {
            let out = self.settings.results.join("builds").join(case.name());
            let mut one = args.clone();
            one.extend(["--rounds", "1", "--only", "timings", "--out"].map(str::to_owned));
            one.push(out.to_string_lossy().into_owned());
            // An error here will occur in the comparison too, and is reported there.
            let _ = self.run(&one, &self.clone.folder, &self.log(case, "build"), PREPARING);
        }
        Ok(args)
    }

    /// Runs commands one after the other; `kind` names their logs.
    fn run_all(&self, commands: &[Vec<String>], folder: &Path, case: Case, kind: &str) -> Result<(), String> {
        for (step, command) in commands.iter().enumerate() {
            let log = self.log(case, &format!("{kind}-{}", step + 1));
            self.run(&self.filled(command, case), folder, &log, PREPARING)?;
        }
        Ok(())
    }

    fn comparison(&self, case: Case, args: &[String]) -> Result<Comparison, String> {
        let out = self.settings.results.join("runs").join(case.name());
        let mut args = args.to_vec();
        args.extend(["--out".to_owned(), out.to_string_lossy().into_owned()]);
        let busy = self.keep_busy(case)?;
        let ended = self.run(&args, &self.clone.folder, &self.log(case, "run"), LIMIT);
        for mut process in busy {
            let _ = process.stop(GRACE);
        }
        // A run may have written a comparison although its exit code is above 0.
        let why = || ended.err().unwrap_or_else(|| "the run left no comparison".into());
        newest(&out).ok_or_else(why)?
    }

    /// Starts the processes that keep cores busy during a comparison. They also end by themselves.
    fn keep_busy(&self, case: Case) -> Result<Vec<Group>, String> {
        let loops = format!("exec timeout {} sh -c 'while :; do :; done'", LIMIT.as_secs());
        let argv = ["sh".to_owned(), "-c".to_owned(), loops];
        (0..case.row.busy)
            .map(|_| self.start(&argv, &self.clone.folder, &self.log(case, "busy")))
            .collect()
    }

    /// The paths of a case's log files, without their endings.
    fn log(&self, case: Case, kind: &str) -> PathBuf {
        self.settings
            .results
            .join("logs")
            .join(format!("{}.{kind}", case.name()))
    }

    /// The command line of the comparison.
    fn arguments(&self, case: Case, baseline: &str, candidate: &Path, within: &Path) -> Vec<String> {
        let row = case.row;
        let text = |path: &Path| path.to_string_lossy().into_owned();
        let root = self.clone.folder.join(within);
        let mut words = vec![text(&self.settings.program), "--root".into(), text(&root), "run".into()];
        words.extend(["--baseline".into(), baseline.to_owned()]);
        if let Some(command) = &row.candidate.command {
            let command = self.filled(std::slice::from_ref(command), case).concat();
            words.extend(["--candidate".into(), format!("{}={command}", row.server)]);
        } else if row.candidate.clone.is_some() {
            words.extend(["--candidate".into(), text(candidate)]);
        }
        words.extend(["--profile".into(), "quick".into()]);
        let lists = [
            ("--scenario", &row.scenarios),
            ("--server", &vec![globset::escape(&row.server)]),
            ("--driver", &row.drivers),
        ];
        for (flag, globs) in lists {
            words.extend(globs.iter().flat_map(|glob| [flag.to_owned(), glob.clone()]));
        }
        let budget = self.settings.budget.unwrap_or(row.budget).as_flag();
        words.extend(["--budget".into(), budget, "--seed".into(), case.seed().to_string()]);
        words
    }

    /// Words with their placeholders filled in.
    fn filled(&self, words: &[String], case: Case) -> Vec<String> {
        let elsewhere = self.settings.scratch.join("elsewhere").to_string_lossy().into_owned();
        let filler = "x".repeat(FILLER * case.number as usize);
        let home = std::env::var("HOME").unwrap_or_default();
        let cargo_home = std::env::var("CARGO_HOME").unwrap_or_else(|_| format!("{home}/.cargo"));
        let patches = case
            .row
            .patch
            .as_deref()
            .and_then(Path::parent)
            .unwrap_or(Path::new(""));
        let patches = patches.to_string_lossy();
        let values = [
            ("{elsewhere}", elsewhere.as_str()),
            ("{patches}", &*patches),
            ("{filler}", filler.as_str()),
            ("{cargo_home}", cargo_home.as_str()),
        ];
        let fill = |word: &String| {
            values
                .iter()
                .fold(word.clone(), |word, (name, value)| word.replace(name, value))
        };
        words.iter().map(fill).collect()
    }

    /// Starts a command; its output goes to `log.out` and `log.err`.
    fn start(&self, argv: &[String], folder: &Path, log: &Path) -> Result<Group, String> {
        let launch = Launch {
            argv: argv.to_vec(),
            folder,
            env: self.settings.environment.clone(),
            stdout: ended_by(log, "out"),
            stderr: ended_by(log, "err"),
            cores: &[],
        };
        let program = argv.first().map_or("", String::as_str);
        (launch.start()).map_err(|error| format!("{program} cannot be started: {error}"))
    }

    /// Runs a command to its end, and stops it when the time is up or the user interrupts; its output goes to `log.out` and
    /// `log.err`.
    fn run(&self, argv: &[String], folder: &Path, log: &Path, limit: Duration) -> Result<(), String> {
        let deadline = Instant::now() + limit;
        let program = argv.first().map_or("", String::as_str);
        let mut group = self.start(argv, folder, log)?;
        while !group.has_ended() {
            if self.interrupt.is_requested() || Instant::now() >= deadline {
                let _ = group.stop(GRACE);
                let minutes = limit.as_secs() / 60;
                return Err(format!(
                    "{program} did not end within {minutes} minutes and was stopped"
                ));
            }
            std::thread::sleep(Duration::from_millis(50));
        }
        let status = group.stop(GRACE).map_err(|error| error.to_string())?;
        if status.success() {
            return Ok(());
        }
        let output = fs::read_to_string(ended_by(log, "err")).unwrap_or_default();
        let last = output.lines().rfind(|line| !line.trim().is_empty()).unwrap_or_default();
        Err(format!("{program} failed ({status}): {}", last.trim()))
    }
}

/// A log file.
fn ended_by(log: &Path, ending: &str) -> PathBuf {
    PathBuf::from(format!("{}.{ending}", log.display()))
}

/// The comparison of the newest run in a folder; `None` if there is none.
fn newest(out: &Path) -> Option<Result<Comparison, String>> {
    let runs = fs::read_dir(out).ok()?.flatten();
    let file = runs
        .map(|entry| entry.path().join("comparison.json"))
        .filter(|file| file.is_file())
        .max()?;
    let read = fs::read(&file).map_err(|error| format!("{}: cannot be read: {error}", file.display()));
    Some(read.and_then(|text| {
        serde_json::from_slice(&text).map_err(|error| format!("{}: is no comparison: {error}", file.display()))
    }))
}

/// True if a case is in a table already.
#[must_use]
pub fn has(table: &TruthTable, case: Case) -> bool {
    let same = |one: &Outcome| one.row == case.row.name && one.number == case.number;
    table.outcomes.iter().any(same)
}
