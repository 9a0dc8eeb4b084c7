//! A release, packed by `scripts/release.sh`, served on this machine, and installed by `scripts/install.sh`.

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use tempfile::TempDir;

use crate::bench::{Ended, ended, repository, wirebench};

pub(crate) const VERSION: &str = concat!("v", env!("CARGO_PKG_VERSION"));

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
        let mut install = Command::new(repository().join("scripts/install.sh"));
        install.args(["--version", version, "--to"]).arg(to);
        install
            .env("GITHUB_SERVER_URL", &self.url)
            .env("WIREBENCH_REPOSITORY", "owner/name");
        ended(&mut install)
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
    let releases = Releases::new();
    let packed = releases.pack(VERSION);
    assert_eq!(packed.code, 0, "{}", packed.stderr);
    let archive = fs::read_dir(releases.files())
        .unwrap()
        .flatten()
        .map(|entry| entry.path());
    let archive = archive
        .into_iter()
        .find(|path| path.to_string_lossy().ends_with(".tar.gz"))
        .unwrap();

    let to = tempfile::tempdir().unwrap();
    let installed = releases.install(VERSION, to.path());
    assert_eq!(installed.code, 0, "{}", installed.stderr);
    let bin = PathBuf::from(installed.stdout.trim());
    assert_eq!(
        prints(&bin.join("wirebench"), "--version").trim(),
        format!("wirebench {}", env!("CARGO_PKG_VERSION"))
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
    let refused = releases.install(VERSION, fresh.path());
    assert_eq!(refused.code, 1, "{}", refused.stdout);
    assert!(
        refused.stderr.contains("does not have the checksum"),
        "{}",
        refused.stderr
    );
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
