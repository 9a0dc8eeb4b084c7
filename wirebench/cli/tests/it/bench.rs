//! A project in a temporary folder and the command line run in it, as sentences.

use std::fs;
use std::net::{IpAddr, Ipv4Addr};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use serde_json::Value;
use tempfile::TempDir;
use wirebench_engine::measure::port;

use crate::built;

/// This repository.
pub(crate) fn repository() -> PathBuf {
    let rooms = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    rooms.parent().unwrap().to_path_buf()
}

pub(crate) fn fixture(name: &str) -> String {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/fixtures")
        .join(name)
        .to_string_lossy()
        .into_owned()
}

/// A small project with a server and drivers from the fixtures.
pub(crate) struct Bench {
    folder: TempDir,
    mark: String,
}

/// How a command ended.
pub(crate) struct Ended {
    pub(crate) code: i32,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

/// A profile of a project's file without a warm-up: of an interpreted server it takes seconds on each side.
pub(crate) const NO_WARM_UP: &str = "default_profile = \"test\"\n[profiles.test]\nabout = \"test\"\nrounds = 1\n";

impl Bench {
    /// An empty folder.
    pub(crate) fn empty() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let mark = format!("WIREBENCH_TEST_MARK={}", folder.path().display());
        Self { folder, mark }
    }

    /// One scenario `ask`, no server and no driver yet.
    pub(crate) fn new() -> Self {
        let bench = Self::empty();
        for room in ["scenarios", "servers", "drivers/lib"] {
            fs::create_dir_all(bench.path(room)).unwrap();
        }
        bench
            .file(
                "wirebench.toml",
                &format!(
                    "builtin_drivers = []\n{NO_WARM_UP}[count]\nenabled = false\n[compare]\ndetect = \"900%\"\nbudget = \"20m\"\n"
                ),
            )
            .scenario("ask", "connections = 1, requests = 200")
    }

    pub(crate) fn path(&self, relative: &str) -> PathBuf {
        self.folder.path().join(relative)
    }

    pub(crate) fn file(self, relative: &str, text: &str) -> Self {
        let file = self.path(relative);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, text).unwrap();
        self
    }

    pub(crate) fn scenario(self, name: &str, load: &str) -> Self {
        let text = format!("about = \"test\"\noperation = \"ask\"\nload = {{ {load} }}\n");
        self.file(&format!("scenarios/{name}.toml"), &text)
    }

    /// The fixture server in one of its modes; `more` is further TOML before the operations.
    pub(crate) fn server(self, name: &str, mode: &str, more: &str) -> Self {
        // -S: without site packages, which the fixtures do not use, the interpreter starts in a quarter of the time.
        self.fixture_server(name, &[built::python(), "-S", &fixture("server.py"), mode], more)
    }

    /// The fixture server in C in one of its modes, `mode` or `mode=amount` (see its source); with debug information.
    pub(crate) fn c_server(self, name: &str, mode: &str, more: &str) -> Self {
        self.fixture_server(name, &[&built::c_server().to_string_lossy(), mode], more)
    }

    /// The fixture server in C without any symbols.
    pub(crate) fn stripped_c_server(self, name: &str, mode: &str, more: &str) -> Self {
        self.fixture_server(name, &[&built::stripped_c_server().to_string_lossy(), mode], more)
    }

    fn fixture_server(self, name: &str, command: &[&str], more: &str) -> Self {
        let text = format!(
            "about = \"test\"\nprotocols = [\"http\"]\ncommand = {command:?}\nargs = [\"{{port}}\"]\n\
             ready = {{ http = \"/health\" }}\n{more}\n[operations.ask]\nrequest = {{ path = \"/ask\" }}\n\
             expect = {{ status = 200, body = '{{\"answer\":\"forty-two\"}}' }}\n"
        );
        self.file(&format!("servers/{name}/server.toml"), &text)
    }

    /// The fixture driver in one of its modes.
    pub(crate) fn driver(self, name: &str, mode: &str) -> Self {
        self.driver_of_version(name, mode, "1.2.3")
    }

    pub(crate) fn driver_of_version(self, name: &str, mode: &str, version: &str) -> Self {
        let (python, script) = (built::python(), fixture("driver.py"));
        let text = format!(
            "about = \"test\"\n[tool]\nprogram = {python:?}\nversion = \"{version}\"\ninstall = \"apt-get install {name}\"\n\
             version_command = [\"{{program}}\", \"-S\", {script:?}, \"version\", \"\"]\nversion_pattern = 'driver (\\S+)'\n\
             [protocols.http]\nargs = [\"-S\", {script:?}, \"{mode}\", \"{{address}}\", [\"{{requests}}\"]]\n\
             [normalise]\nargs = [\"{{stdout}}\"]\n"
        );
        self.file(&format!("drivers/{name}/driver.toml"), &text).file(
            &format!("drivers/{name}/normalise.jq"),
            "# a driver that writes the common shape already → the same\n\
             if type == \"object\" then . else error(\"test: expected an object\") end\n",
        )
    }

    /// Makes the folder a git repository, or adds a commit to it, and tags that.
    pub(crate) fn commit(self, tag: &str) -> Self {
        if !self.path(".git").exists() {
            self.git(&["init", "--quiet", "--initial-branch", "main"]);
            if !self.path(".gitignore").exists() {
                fs::write(self.path(".gitignore"), "/results/\n/target/\n").unwrap();
            }
        }
        self.git(&["add", "--all"]);
        self.git(&["commit", "--quiet", "--allow-empty", "--message", tag]);
        self.git(&["tag", tag]);
        self
    }

    /// What git prints in the folder.
    pub(crate) fn git(&self, args: &[&str]) -> String {
        git_in(self.folder.path(), args)
    }

    /// One of this repository's own drivers.
    pub(crate) fn real_driver(self, name: &str) -> Self {
        std::os::unix::fs::symlink(
            repository().join("drivers").join(name),
            self.path(&format!("drivers/{name}")),
        )
        .unwrap();
        let library = repository().join("drivers/lib");
        for entry in fs::read_dir(library).unwrap().flatten() {
            let to = self.path("drivers/lib").join(entry.file_name());
            if entry.path().is_file() && !to.exists() {
                fs::copy(entry.path(), to).unwrap();
            }
        }
        self
    }

    pub(crate) fn command_of(&self, args: &[&str]) -> Command {
        let mut command = wirebench(args);
        let (name, value) = self.mark.split_once('=').unwrap();
        command.current_dir(self.folder.path()).env(name, value);
        // A shared target folder is this repository's; a project's own builds stay in the project.
        command.env_remove("CARGO_TARGET_DIR");
        // Tests measure beside each other on purpose: each project has a lock of its own.
        command.env("WIREBENCH_LOCK", self.path("wirebench.toml"));
        command
    }

    pub(crate) fn run(&self, args: &[&str]) -> Ended {
        self.run_with(args, &[])
    }

    /// The same with environment variables of its own.
    pub(crate) fn run_with(&self, args: &[&str], environment: &[(&str, &str)]) -> Ended {
        let ended = ended(self.command_of(args).envs(environment.iter().copied()));
        assert_eq!(
            self.left_behind(),
            Vec::<String>::new(),
            "processes left behind by {args:?}"
        );
        ended
    }

    pub(crate) fn start(&self, args: &[&str]) -> Child {
        self.command_of(args)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap()
    }

    /// Command lines of processes that this bench's commands started and that still run.
    pub(crate) fn left_behind(&self) -> Vec<String> {
        let running = |entry: fs::DirEntry| {
            let environment = fs::read(entry.path().join("environ")).ok()?;
            let ours = environment
                .split(|byte| *byte == 0)
                .any(|line| line == self.mark.as_bytes());
            let command = fs::read_to_string(entry.path().join("cmdline")).ok()?;
            (ours && !command.is_empty()).then(|| command.replace('\0', " "))
        };
        fs::read_dir("/proc").unwrap().flatten().filter_map(running).collect()
    }

    /// The only run made so far.
    pub(crate) fn record(&self) -> Value {
        record_in(&self.path("results"))
    }
}

/// A port of loopback that nobody listens on and that the kernel gives to no outgoing connection of another test.
pub(crate) fn free_port() -> u16 {
    port::free(IpAddr::V4(Ipv4Addr::LOCALHOST), None).unwrap()
}

/// What git prints in a folder, as somebody with a name and without settings of their own.
pub(crate) fn git_in(folder: &Path, args: &[&str]) -> String {
    let output = Command::new("git")
        .arg("-C")
        .arg(folder)
        .args(["-c", "user.name=test", "-c", "user.email=test@test.invalid"])
        .args(args)
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .output()
        .unwrap();
    assert!(
        output.status.success(),
        "git {args:?}: {}",
        String::from_utf8_lossy(&output.stderr)
    );
    String::from_utf8_lossy(&output.stdout).trim().to_owned()
}

/// The command line, with this repository's tools.
pub(crate) fn wirebench(args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_wirebench"));
    if std::env::var_os("WIREBENCH_TOOLS").is_none() {
        command.env("WIREBENCH_TOOLS", repository().join(".tools"));
    }
    command.args(args).stdin(Stdio::null());
    command
}

pub(crate) fn ended(command: &mut Command) -> Ended {
    let output = command.output().unwrap();
    Ended {
        code: output.status.code().unwrap_or(-1),
        stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
        stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
    }
}

/// The folder of the only run under `results`.
pub(crate) fn run_folder(results: &Path) -> PathBuf {
    let mut runs: Vec<PathBuf> = fs::read_dir(results)
        .unwrap()
        .flatten()
        .map(|entry| entry.path())
        .collect();
    assert_eq!(runs.len(), 1, "{runs:?}");
    runs.remove(0)
}

/// The record of the only run under `results`, checked against the schema.
pub(crate) fn record_in(results: &Path) -> Value {
    let text = fs::read(run_folder(results).join("run.json")).unwrap();
    let record: Value = serde_json::from_slice(&text).unwrap();
    assert_fits_schema(&record);
    record
}

pub(crate) fn assert_fits_schema(record: &Value) {
    assert_fits("run.v1.schema.json", record);
}

/// Holds a record against the schema of that file name.
pub(crate) fn assert_fits(schema: &str, record: &Value) {
    let schema = fs::read(repository().join("results/schema").join(schema)).unwrap();
    let schema: Value = serde_json::from_slice(&schema).unwrap();
    let validator = jsonschema::validator_for(&schema).unwrap();
    let faults: Vec<String> = validator
        .iter_errors(record)
        .map(|e| format!("{}: {e}", e.instance_path()))
        .collect();
    assert!(faults.is_empty(), "{faults:#?}");
}

/// The series of that id.
pub(crate) fn series<'a>(record: &'a Value, id: &str) -> &'a Value {
    let all = record["series"].as_array().unwrap();
    all.iter()
        .find(|series| series["id"] == id)
        .unwrap_or_else(|| panic!("no series {id}"))
}
