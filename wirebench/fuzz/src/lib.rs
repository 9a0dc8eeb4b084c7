//! What each fuzz target does with its input. The programs in fuzz_targets/ pass inputs of libFuzzer; `it::fuzzed` passes the committed
//! corpus and mutations of it.

use std::fs;
use std::path::Path;
use std::sync::LazyLock;

use wirebench_declare::Project;
use wirebench_declare::plan::{self, Selection};
use wirebench_declare::project::Config;
use wirebench_engine::count::profile;
use wirebench_engine::normalise::Shape;
use wirebench_github::admit::{ComparedCommits, admit};
use wirebench_github::archive::only_file;
use wirebench_github::strict;
use wirebench_history::import;
use wirebench_judge::compare::{across, paired};
use wirebench_present::site::report;
use wirebench_record::comparison::Comparison;
use wirebench_record::run::Run;

/// Reads the artifact of a pull request's run: a zip with one file.
pub fn archive(bytes: &[u8]) {
    let _ = only_file(bytes, "comparison.json");
}

/// Reads the output of callgrind.
pub fn callgrind(bytes: &[u8]) {
    // The parser opens the programs that the file names: an input must not name a device, whose content never ends.
    let devices: [&[u8]; 3] = [b"/dev", b"/proc", b"/sys"];
    if devices
        .iter()
        .any(|name| bytes.windows(name.len()).any(|part| part == *name))
    {
        return;
    }
    in_file("callgrind.out", bytes, |file| {
        if let Ok(read) = profile::callgrind::read(file, &profile::Tree::of(None), None) {
            let mut twice = read.clone();
            twice.absorb(read);
        }
    });
}

/// The commits of the comparison that the corpus begins with.
const OF: ComparedCommits = ComparedCommits {
    head: "1111111111111111111111111111111111111111",
    base: "0000000000000000000000000000000000000000",
};

/// Admits a comparison from an artifact, and renders it.
pub fn comparison(bytes: &[u8]) {
    use wirebench_present::report::comparison::{markdown, terminal};
    if let Ok(value) = strict::parse(bytes)
        && let Ok(comparison) = admit(value, &OF)
    {
        let _ = (markdown::render(&comparison), terminal::render(&comparison, Some(80)));
    }
    // A comparison of this machine is rendered without being admitted.
    if let Ok(comparison) = serde_json::from_slice::<Comparison>(bytes) {
        let _ = (markdown::render(&comparison), terminal::render(&comparison, None));
    }
}

/// Imports a history of github-action-benchmark.
///
/// # Panics
/// If an imported history cannot be serialised: a fault.
pub fn data_js(text: &str) {
    if let Ok(imported) = import::parse(text) {
        serde_json::to_string(&imported).expect("what was imported can be stored");
    }
}

const CONFIG: &[u8] = br#"builtin_drivers = []
[profiles.quick]
about = "x"
rounds = 1
duration_at_most = "1s"
requests_at_most = 10
"#;
const SCENARIO: &[u8] = br#"about = "x"
operation = "ask"
load = { connections = [1, 2], duration = "2s" }
"#;
const SERVER: &[u8] = br#"about = "x"
protocols = ["http"]
command = ["x"]
ready = { tcp = true }
[operations.ask]
request = { path = "/ask" }
"#;
const DRIVER: &[u8] = br#"about = "x"
[tool]
program = "x"
version = "1"
version_command = ["x"]
version_pattern = "(1)"
install = "x"
[protocols.http]
args = ["{url}"]
[normalise]
args = ["{stdout}"]
"#;

/// Reads the files of a project, one of which is the input (the first byte selects it), and plans its series.
pub fn declarations(bytes: &[u8]) {
    let Some((which, rest)) = bytes.split_first() else {
        return;
    };
    let mut files = [
        ("wirebench.toml", CONFIG),
        ("scenarios/ask.toml", SCENARIO),
        ("servers/one/server.toml", SERVER),
        ("drivers/one/driver.toml", DRIVER),
    ];
    files[usize::from(which % 4)].1 = rest;
    in_folder(&files, |folder| {
        let Ok(project) = Project::read(folder) else { return };
        for profile in project.config.profiles.values() {
            let _ = plan::series(&project, profile, &Selection::default());
        }
    });
}

static RULES: LazyLock<Config> = LazyLock::new(|| {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut files = here.ancestors().map(|folder| folder.join("wirebench.toml"));
    let file = files.find(|file| file.is_file()).expect("this repository has one");
    Config::read(&file).expect("this repository's own file is good")
});

/// Judges a stored run of any age and origin, and renders it as text, Markdown and a page.
///
/// # Panics
/// If it cannot be rendered as a page: a fault.
pub fn run(bytes: &[u8]) {
    use wirebench_present::report::{markdown, terminal};
    let Ok(run) = serde_json::from_slice::<Run>(bytes) else {
        return;
    };
    let comparison = paired(&run, &RULES).ok();
    let _ = across(&run, &run, &RULES);
    let _ = (terminal::render(&run, Some(80)), markdown::render(&run, &[]));
    report(&run, comparison.as_ref()).expect("every run has a page");
}

/// Reads the common shape, which a driver's filter writes.
pub fn shape(bytes: &[u8]) {
    let _ = serde_json::from_slice::<Shape>(bytes);
}

/// Reads the table of `strace -c`.
pub fn strace(bytes: &[u8]) {
    in_file("strace", bytes, |file| {
        let _ = profile::strace::read(file);
    });
}

/// Calls `read` with the path of a temporary file of this name and content.
fn in_file(name: &str, bytes: &[u8], read: impl FnOnce(&Path)) {
    in_folder(&[(name, bytes)], |folder| read(&folder.join(name)));
}

/// Calls `read` with a temporary folder of these files, each given by path and content.
fn in_folder(files: &[(&str, &[u8])], read: impl FnOnce(&Path)) {
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    for (name, bytes) in files {
        let file = folder.path().join(name);
        fs::create_dir_all(file.parent().expect("a file lies in a folder")).expect("a folder can be made in it");
        fs::write(&file, bytes).expect("a file can be written in it");
    }
    read(folder.path());
}
