//! A release, packed by `scripts/release.sh`, served on this machine, and installed by `scripts/install.sh`.

use std::ffi::OsString;
use std::fs;
use std::io::{BufRead as _, BufReader};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::LazyLock;

use regex::Regex;
use tempfile::TempDir;

use crate::bench::{Bench, Ended, ended, git_in, repository, wirebench};
use crate::inits::with_server;

pub(crate) const VERSION: &str = concat!("v", env!("CARGO_PKG_VERSION"));

/// The files of a release of this program, packed once in a test process: name and content.
static PACKED: LazyLock<Vec<(OsString, Vec<u8>)>> = LazyLock::new(|| {
    let releases = Releases::new();
    let packed = releases.pack(VERSION);
    assert_eq!(packed.code, 0, "{}", packed.stderr);
    let files = fs::read_dir(releases.files()).unwrap().flatten();
    files
        .map(|file| (file.file_name(), fs::read(file.path()).unwrap()))
        .collect()
});

/// A folder that is served as GitHub serves releases.
pub(crate) struct Releases {
    folder: TempDir,
    server: Child,
    url: String,
}

impl Releases {
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("index.html"), "releases").unwrap();
        let site = folder.path().to_string_lossy().into_owned();
        let mut server = wirebench(&["site", "serve", &site])
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        BufReader::new(server.stdout.take().unwrap())
            .read_line(&mut line)
            .unwrap();
        let url = line.trim().trim_end_matches('/').to_owned();
        Self { folder, server, url }
    }

    /// The same with a release of this program.
    fn packed() -> Self {
        let releases = Self::new();
        fs::create_dir_all(releases.files()).unwrap();
        for (name, content) in PACKED.iter() {
            fs::write(releases.files().join(name), content).unwrap();
        }
        releases
    }

    /// Where a mirror of the releases is.
    pub(crate) fn mirror(&self) -> String {
        format!("{}/owner/name/releases/download", self.url)
    }

    /// The files of the release.
    fn files(&self) -> PathBuf {
        self.folder.path().join("owner/name/releases/download").join(VERSION)
    }

    pub(crate) fn pack(&self, version: &str) -> Ended {
        // Without what debuggers read, which is most of it.
        let small = self.folder.path().join("wirebench");
        let mut strip = Command::new("strip");
        strip.arg(env!("CARGO_BIN_EXE_wirebench")).arg("-o").arg(&small);
        assert!(strip.status().unwrap().success());
        let mut pack = Command::new(repository().join("scripts/release.sh"));
        pack.arg(version).arg(self.files()).arg("--wirebench").arg(small);
        ended(&mut pack)
    }

    fn install(&self, version: &str, to: &Path) -> Ended {
        self.install_with(&["--version", version], to, &[("GH_TOKEN", "")])
    }

    fn install_with(&self, args: &[&str], to: &Path, environment: &[(&str, &str)]) -> Ended {
        let mut install = Command::new(repository().join("scripts/install.sh"));
        install.args(args).arg("--to").arg(to);
        install
            .env("GITHUB_SERVER_URL", &self.url)
            .env("WIREBENCH_REPOSITORY", "owner/name")
            .envs(environment.iter().copied());
        ended(&mut install)
    }

    /// Tries to install the only release, whose checksum must not be accepted.
    #[track_caller]
    fn refuses_the_checksum(&self, to: &Path, what: &str) {
        let refused = self.install(VERSION, to);
        assert_eq!(refused.code, 1, "{what}: {}", refused.stdout);
        assert!(
            refused.stderr.contains("does not have the checksum"),
            "{what}: {}",
            refused.stderr
        );
    }

    /// The archive of the only release.
    fn archive(&self) -> PathBuf {
        let mut files = fs::read_dir(self.files()).unwrap().flatten().map(|entry| entry.path());
        files.find(|path| path.to_string_lossy().ends_with(".tar.gz")).unwrap()
    }
}

impl Drop for Releases {
    fn drop(&mut self) {
        self.server.kill().unwrap();
        self.server.wait().unwrap();
    }
}

fn prints(program: &Path, argument: &str) -> String {
    let output = Command::new(program).arg(argument).output().unwrap();
    String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned()
}

#[test]
fn what_is_packed_is_what_is_installed_unless_a_byte_of_it_changed() {
    let releases = Releases::packed();
    let archive = releases.archive();

    let to = tempfile::tempdir().unwrap();
    let installed = releases.install(VERSION, to.path());
    assert_eq!(installed.code, 0, "{}", installed.stderr);
    let bin = PathBuf::from(installed.stdout.trim());
    let mut names: Vec<_> = fs::read_dir(&bin)
        .unwrap()
        .map(|entry| entry.unwrap().file_name())
        .collect();
    names.sort();
    assert_eq!(names, ["ghz", "hey", "wirebench"]);
    assert_eq!(
        prints(&bin.join("wirebench"), "--version").trim(),
        prints(Path::new(env!("CARGO_BIN_EXE_wirebench")), "--version").trim()
    );
    assert!(prints(&bin.join("hey"), "-h").contains("Usage: hey"));
    assert!(prints(&bin.join("ghz"), "--help").contains("usage: ghz"));

    let other = releases.install("v9.9.9", to.path());
    assert_eq!(other.code, 1, "{}", other.stdout);
    assert!(other.stderr.contains("there is no release v9.9.9"), "{}", other.stderr);

    let mut bytes = fs::read(&archive).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    fs::write(&archive, bytes).unwrap();
    let fresh = tempfile::tempdir().unwrap();
    releases.refuses_the_checksum(fresh.path(), "a changed byte");
    assert!(!fresh.path().join("bin").exists(), "something of it was installed");
}

#[test]
fn versions_that_are_none_are_refused() {
    let releases = Releases::new();
    let packed = releases.pack("v99.0.0");
    assert_eq!(packed.code, 2, "{}", packed.stdout);
    assert!(
        packed.stderr.contains("is not the version in Cargo.toml"),
        "{}",
        packed.stderr
    );
    let to = tempfile::tempdir().unwrap();
    for version in ["latest", "../v1", "v1.0.0/../../x", "-x"] {
        let installed = releases.install(version, to.path());
        assert_eq!(installed.code, 2, "{version}: {}", installed.stderr);
        assert!(
            installed
                .stderr
                .contains("expected a release such as v0.1.0, or source"),
            "{}",
            installed.stderr
        );
    }
    assert_eq!(fs::read_dir(to.path()).unwrap().count(), 0);
}

#[test]
fn a_checksum_counts_only_for_the_file_it_names() {
    let releases = Releases::packed();
    let archive = releases.archive();
    let sums = PathBuf::from(format!("{}.sha256", archive.display()));
    let good = fs::read_to_string(&sums).unwrap();
    let name = archive.file_name().unwrap().to_string_lossy().into_owned();
    // What sha256sum --check would take: another file of the same folder, and one more line.
    let empty = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855  /dev/null\n";
    fs::write(&archive, "something else").unwrap();
    for bad in [
        empty.to_owned(),
        format!("{good}{empty}"),
        String::new(),
        good.replace(&name, "x"),
    ] {
        fs::write(&sums, &bad).unwrap();
        let to = tempfile::tempdir().unwrap();
        releases.refuses_the_checksum(to.path(), &bad);
    }
}

/// The help of `gh attestation verify`, as far as it matters.
const HELP: &str = "case \"$*\" in *--help) echo --source-ref; exit ;; esac";

/// A folder with every program there is but gh and cargo; instead of those, scripts that write down what they were given.
fn programs(gh: Option<i32>) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    for one in std::env::split_paths(&std::env::var_os("PATH").unwrap()) {
        for entry in fs::read_dir(one).into_iter().flatten().flatten() {
            let _ = symlink(entry.path(), folder.path().join(entry.file_name()));
        }
    }
    let told = folder.path().join("told");
    for (name, status) in [("gh", gh), ("cargo", Some(1))] {
        let file = folder.path().join(name);
        let _ = fs::remove_file(&file);
        if let Some(status) = status {
            let script = format!(
                "#!/bin/sh\n{HELP}\necho \"{name} $@\" >> {}\nexit {status}\n",
                told.display()
            );
            fs::write(&file, script).unwrap();
            fs::set_permissions(&file, PermissionsExt::from_mode(0o755)).unwrap();
        }
    }
    folder
}

#[test]
fn a_job_that_may_write_takes_an_attested_release_or_nothing() {
    let releases = Releases::packed();
    let (yes, no, none, old) = (programs(Some(0)), programs(Some(1)), programs(None), programs(Some(0)));
    let unknown = "#!/bin/sh\necho 'unknown command \"attestation\" for \"gh\"' >&2\nexit 1\n";
    fs::write(old.path().join("gh"), unknown).unwrap();
    let install = |programs: &TempDir, args: &[&str], token: &str| {
        let to = tempfile::tempdir().unwrap();
        let path = programs.path().to_string_lossy().into_owned();
        let ended = releases.install_with(args, to.path(), &[("PATH", &path), ("GH_TOKEN", token)]);
        let installed = to.path().join("bin/wirebench").exists();
        assert_eq!(installed, ended.code == 0, "{args:?}: {}", ended.stderr);
        let told = fs::read_to_string(programs.path().join("told")).unwrap_or_default();
        let _ = fs::remove_file(programs.path().join("told"));
        (ended, told)
    };
    let version = ["--version", VERSION];
    let released = ["--released", "--version", VERSION];
    for args in [&version[..], &released] {
        let (good, told) = install(&yes, args, "token");
        assert_eq!(good.code, 0, "{}", good.stderr);
        let tail = format!(
            "{} --repo owner/name --signer-workflow owner/name/.github/workflows/release.yml --source-ref refs/tags/{VERSION} \
             --deny-self-hosted-runners\n",
            releases.archive().file_name().unwrap().to_string_lossy()
        );
        assert!(
            told.starts_with("gh attestation verify ") && told.ends_with(&tail),
            "{told}"
        );
        let (bad, _) = install(&no, args, "token");
        assert_eq!(bad.code, 1, "{}", bad.stderr);
        assert!(bad.stderr.contains("was not attested"), "{}", bad.stderr);
    }
    for (programs, token) in [(&none, "token"), (&old, "token"), (&yes, "")] {
        let (unknown, told) = install(programs, &released, token);
        assert_eq!((unknown.code, told.as_str()), (1, ""), "{}", unknown.stderr);
        let (told_so, _) = install(programs, &version, token);
        assert!(told_so.stderr.contains("was not verified"), "{}", told_so.stderr);
    }
    // Without a release nothing is built here, whether one was named or not.
    fs::remove_dir_all(releases.files()).unwrap();
    for args in [&released[..], &released[..1], &["--released", "--version", ""]] {
        let (missing, told) = install(&yes, args, "token");
        assert_eq!((missing.code, told.as_str()), (1, ""), "{}", missing.stderr);
    }
    let (wrong, told) = install(&yes, &["--released", "--version", "source"], "token");
    assert_eq!((wrong.code, told.as_str()), (2, ""), "{}", wrong.stderr);
    let (built, told) = install(&yes, &[], "token");
    assert!(
        built.code != 0 && told.starts_with("cargo build"),
        "elsewhere it is built: {told}"
    );
}

#[test]
fn a_job_that_may_write_takes_what_a_job_of_its_workflow_built() {
    let to = tempfile::tempdir().unwrap();
    let install = || {
        let mut script = Command::new(repository().join("scripts/install.sh"));
        ended(script.args(["--released", "--version", "built", "--to"]).arg(to.path()))
    };
    let missing = install();
    assert_eq!(missing.code, 1, "{}", missing.stderr);
    assert!(
        missing.stderr.contains("see the job that builds it"),
        "{}",
        missing.stderr
    );
    let program = to.path().join("bin/wirebench");
    for artifact in ["wirebench-0", "wirebench-1"] {
        let folder = to.path().join("bin").join(artifact);
        fs::create_dir_all(&folder).unwrap();
        fs::write(folder.join("wirebench"), "#!/bin/sh\n").unwrap();
    }
    let taken = install();
    assert_eq!(taken.code, 0, "{}", taken.stderr);
    assert_eq!(fs::metadata(&program).unwrap().permissions().mode() & 0o777, 0o755);
}

#[test]
fn a_release_is_downloaded_by_tls_alone() {
    let curl = programs(None);
    let path = curl.path().to_string_lossy().into_owned();
    let told = curl.path().join("told");
    let file = curl.path().join("curl");
    fs::remove_file(&file).unwrap();
    fs::write(
        &file,
        format!("#!/bin/sh\necho \"$@\" >> {}\nexit 22\n", told.display()),
    )
    .unwrap();
    fs::set_permissions(&file, PermissionsExt::from_mode(0o755)).unwrap();
    for (from, protocol) in [
        ("https://example.org/x", "=https"),
        ("http://example.org/x", "=https"),
        ("http://127.0.0.1.example.org/x", "=https"),
        ("http://127.0.0.1:80@example.org/x", "=https"),
        ("ftp://example.org/x", "=https"),
        ("file://example.org/x", "=https"),
        ("file:///x", "=file"),
        ("http://127.0.0.1:8080/x", "=http"),
    ] {
        let to = tempfile::tempdir().unwrap();
        let mut install = Command::new(repository().join("scripts/install.sh"));
        install.args(["--version", VERSION, "--to"]).arg(to.path());
        let ended = ended(install.env("PATH", &path).env("WIREBENCH_RELEASES", from));
        assert_eq!(ended.code, 1, "{}", ended.stderr);
        let given = fs::read_to_string(&told).unwrap();
        assert!(
            given.starts_with(&format!("--proto {protocol} --tlsv1.2 ")) && given.contains(from),
            "{from}: {given}"
        );
        fs::remove_file(&told).unwrap();
    }
}

#[test]
fn every_snippet_names_a_tag_that_releases_move_or_make() {
    let gh = programs(Some(0));
    let path = gh.path().to_string_lossy().into_owned();
    let files = tempfile::tempdir().unwrap();
    let mut publish = Command::new(repository().join(".github/scripts/release-publish.sh"));
    publish.arg(VERSION).arg(files.path()).current_dir(repository());
    let environment = [
        ("PATH", &*path),
        ("GITHUB_REPOSITORY", "owner/name"),
        ("GITHUB_SHA", "c0ffee"),
    ];
    let published = ended(publish.envs(environment));
    assert_eq!(published.code, 0, "{}", published.stderr);
    let told = fs::read_to_string(gh.path().join("told")).unwrap();
    let moved = told.lines().find_map(|line| line.split_once("/git/refs/tags/"));
    let (moved, _) = moved
        .and_then(|(_, rest)| rest.split_once(' '))
        .expect("a tag is moved");
    let (major, _) = VERSION.split_once('.').unwrap();
    assert_eq!(moved, major);

    // `init` writes the version of this program, which is one of that major version.
    let bench = with_server(Bench::empty());
    assert_eq!(bench.run(&["init", "--no-probe"]).code, 0);
    let written = fs::read_to_string(bench.path(".github/workflows/bench.yml")).unwrap();
    let mut texts = vec![("init".to_owned(), written)];
    let listed = git_in(
        &repository(),
        &["ls-files", "*.md", "*.yml", "wirebench/scaffold/src/*.rs"],
    );
    for name in listed.lines() {
        texts.push((name.to_owned(), fs::read_to_string(repository().join(name)).unwrap()));
    }
    // The action at the root, and the workflows; code that puts a revision behind the name has none there.
    let reference = Regex::new(r"wirebench/wirebench(?:/[\w./-]+)?@([\w.]*\w)").unwrap();
    let mut named = 0;
    for (name, text) in &texts {
        for found in reference.captures_iter(text) {
            assert!([moved, VERSION].contains(&&found[1]), "{name}: {}", &found[0]);
            named += 1;
        }
    }
    assert!(named >= 4, "{named}");
}

#[test]
fn a_release_needs_a_section_of_the_changelog_which_becomes_its_notes() {
    let notes = |version: &str| {
        let mut print = Command::new(repository().join("scripts/lib/changelog.sh"));
        ended(print.arg(version))
    };
    let own = notes(VERSION);
    assert_eq!(own.code, 0, "{}", own.stderr);
    assert!(
        own.stdout.lines().count() > 10 && !own.stdout.contains("\n## "),
        "{}",
        own.stdout
    );
    assert_eq!(notes("v99.0.0").code, 1);

    let told = tempfile::tempdir().unwrap();
    let gh = programs(Some(0));
    let mut publish = Command::new(repository().join(".github/scripts/release-publish.sh"));
    publish.arg(VERSION).arg(told.path()).current_dir(repository());
    fs::write(told.path().join("file"), "x").unwrap();
    let path = gh.path().to_string_lossy().into_owned();
    let environment = [
        ("PATH", &*path),
        ("GITHUB_REPOSITORY", "owner/name"),
        ("GITHUB_SHA", "c0ffee"),
    ];
    // The script's gh keeps the notes that it is given.
    let keeps = "#!/bin/sh\nwhile [ $# -gt 0 ]; do if [ \"$1\" = --notes-file ]; then cat \"$2\" > \"$(dirname \"$0\")/notes\"; fi; shift; done\n";
    fs::write(gh.path().join("gh"), keeps).unwrap();
    let published = ended(publish.envs(environment));
    assert_eq!(published.code, 0, "{}", published.stderr);
    let given = fs::read_to_string(gh.path().join("notes")).unwrap();
    assert!(given.starts_with(own.stdout.trim_end()), "{given}");
    assert!(
        given.contains("gh attestation verify FILE --repo owner/name"),
        "{given}"
    );
}

/// The parts of the lines of the Containerfile that begin with this word, without continuations.
fn container(word: &str) -> Vec<String> {
    let text = fs::read_to_string(repository().join("Containerfile")).unwrap();
    let text = text.replace("\\\n", " ");
    let lines = text.lines().filter_map(|line| line.strip_prefix(word));
    lines.map(str::to_owned).collect()
}

#[test]
fn the_image_installs_a_release_from_what_it_copies() {
    let releases = Releases::packed();
    let place = tempfile::tempdir().unwrap();
    let copies = container("COPY ");
    assert_eq!(copies.len(), 2);
    for copy in &copies {
        let (files, to) = copy.rsplit_once(' ').unwrap();
        let to = place.path().join(to.trim_start_matches('/'));
        fs::create_dir_all(&to).unwrap();
        // By another process: a file that this one had open for writing could still be open in a child of another test's.
        let files = files.split(' ').map(|file| repository().join(file));
        let copied = Command::new("cp").args(files).arg(&to).status().unwrap();
        assert!(copied.success());
    }
    let run = container("RUN ")
        .into_iter()
        .find(|line| line.contains("install.sh"))
        .unwrap();
    let run = run.replace("/tmp/wirebench", &place.path().join("tmp/wirebench").to_string_lossy());
    let run = run.replace("/opt/wirebench", &place.path().join("opt/wirebench").to_string_lossy());
    // A mirror may also be a folder.
    let mirror = format!(
        "file://{}",
        releases.folder.path().join("owner/name/releases/download").display()
    );
    let installed = ended(
        Command::new("sh")
            .args(["-euc", &run])
            .env("VERSION", container("ARG VERSION=")[0].as_str())
            .env("RELEASES", mirror)
            .env_remove("GH_TOKEN"),
    );
    assert_eq!(installed.code, 0, "{}", installed.stderr);
    for program in ["wirebench", "hey", "ghz"] {
        assert!(
            place.path().join("opt/wirebench/bin").join(program).is_file(),
            "{program}"
        );
    }
    assert!(!place.path().join("tmp/wirebench").exists());
    // Debian's packages of what `wirebench verify` asks for.
    let packages = container("RUN ")[0].clone();
    for package in [
        "jq",
        "gnuplot-nox",
        "nghttp2-client",
        "hyperfine",
        "valgrind",
        "strace",
        "git",
        "curl",
    ] {
        assert!(packages.split_whitespace().any(|word| word == package), "{package}");
    }
}
