//! The container images that users build from this repository, built by buildah and used. No image is pulled: the tests make the base
//! images.
//!
//! Needs root, buildah and mmdebstrap; without them the tests are skipped, and say so. The base images of Rust and Go are Debian; the
//! toolchains, and the crates and modules that were downloaded before, are mounted from this machine.

use std::fs;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;

use regex::Regex;
use tempfile::TempDir;

use crate::bench::{Bench, ended, repository, series};
use crate::releases::{Releases, VERSION};

/// What a program prints that must succeed.
#[track_caller]
fn told(program: &str, args: &[&str]) -> String {
    let ended = ended(Command::new(program).args(args).current_dir(repository()));
    assert_eq!(ended.code, 0, "{args:?}: {}{}", ended.stdout, ended.stderr);
    ended.stdout.trim().to_owned()
}

/// A line of a text begins with each of these, which a bar divides; what a check of `wirebench verify` found good begins with `ok`.
#[track_caller]
fn says(text: &str, starts: &str) {
    let good = text.replace("ok     ", "ok ");
    for start in starts.split('|') {
        let said = good.lines().any(|line| line.starts_with(start));
        assert!(said, "no {start:?} in {text}");
    }
}

/// Images and containers of one test.
struct Store(TempDir);

impl Store {
    /// An empty one, or why nothing is built.
    fn new() -> Option<Self> {
        let there = |program: &str| Command::new(program).arg("--version").output().is_ok();
        let root = fs::metadata("/proc/self").unwrap().uid() == 0;
        let able = root && there("buildah") && there("mmdebstrap");
        if !able {
            eprintln!("skipped: images are built by root, with buildah and mmdebstrap");
        }
        able.then(|| Self(tempfile::tempdir().unwrap()))
    }

    fn path(&self, name: &str) -> String {
        self.0.path().join(name).to_string_lossy().into_owned()
    }

    #[track_caller]
    fn buildah(&self, args: &[&str]) -> String {
        let (images, running) = (self.path("images"), self.path("running"));
        told("buildah", &[&["--root", &images, "--runroot", &running], args].concat())
    }

    /// Builds an image; its commands have the network of this machine, where the releases are served.
    #[track_caller]
    fn build(&self, tag: &str, args: &[&str]) {
        let build = ["build", "--isolation=chroot", "--pull=never", "--tag", tag];
        self.buildah(&[&build[..], args].concat());
    }

    /// What a shell prints in a container.
    #[track_caller]
    fn run(&self, container: &str, volumes: &[&str], script: &str) -> String {
        let command = [container, "--", "sh", "-euc", script];
        self.buildah(&[&["run", "--isolation=chroot"], volumes, &command[..]].concat())
    }

    /// Makes an image of Docker's library, of which others are built.
    fn base(&self, name: &str, text: &str) {
        let file = self.path("base/Containerfile");
        fs::write(&file, text).unwrap();
        let name = format!("docker.io/library/{name}");
        self.build(&name, &["--file", &file, &self.path("base")]);
    }

    /// Makes the image of a Debian, its smallest set of packages.
    fn debian(&self, suite: &str, tag: &str) {
        fs::create_dir_all(self.path("base")).unwrap();
        let tar = self.path("base/debian.tar");
        told("mmdebstrap", &["--variant=minbase", suite, &tar]);
        let path = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";
        let text = format!("FROM scratch\nADD debian.tar /\nENV PATH={path}\n");
        self.base(&format!("debian:{tag}"), &text);
    }

    /// Makes the base images of Rust and Go, without their toolchains: each build mounts this machine's.
    fn toolchains(&self) {
        let trusted = std::env::var("SSL_CERT_FILE").unwrap_or("/etc/ssl/certs/ca-certificates.crt".to_owned());
        fs::copy(trusted, self.path("base/trusted.crt")).unwrap();
        // Optimised as little as the servers of other tests.
        let text = format!(
            "FROM docker.io/library/debian:bookworm-slim\n\
             RUN apt-get update && apt-get install --yes --no-install-recommends gcc libc6-dev\n\
             COPY trusted.crt /etc/ssl/certs/ca-certificates.crt\n\
             ENV PATH=/toolchain/bin:$PATH CARGO_HOME=/cargo GOPATH=/go GOTOOLCHAIN=local GOPROXY={} GOSUMDB={}\n\
             ENV CARGO_PROFILE_RELEASE_LTO=off CARGO_PROFILE_RELEASE_CODEGEN_UNITS=16 CARGO_PROFILE_RELEASE_OPT_LEVEL=1\n",
            told("go", &["env", "GOPROXY"]),
            told("go", &["env", "GOSUMDB"])
        );
        self.base("rust:here-bookworm", &text);
        self.base("golang:here-bookworm", "FROM docker.io/library/rust:here-bookworm\n");
    }

    /// Builds an image of this repository, and makes a container of it.
    fn container(&self, image: &str, args: &[&str]) -> String {
        self.build(image, &[args, &["."]].concat());
        self.buildah(&["from", "--pull=never", &format!("localhost/{image}")])
    }

    /// The same of a target of deploy/Containerfile, by a toolchain and with downloads of this machine; and its root folder.
    fn target(&self, target: &str, toolchain: &str, downloads: &str) -> (String, PathBuf) {
        let toolchain = format!("--volume={toolchain}:/toolchain:ro");
        let downloads = format!("--volume={downloads}");
        let versions = ["--build-arg=RUST=here", "--build-arg=GO=here"];
        let file = ["--file=deploy/Containerfile", "--target", target];
        let container = self.container(target, &[&file[..], &versions, &[&toolchain, &downloads]].concat());
        let root = self.buildah(&["mount", &container]);
        (container, root.into())
    }
}

impl Drop for Store {
    fn drop(&mut self) {
        let mounted = self.path("images/overlay");
        let _ = Command::new("umount").args(["--recursive", &mounted]).output();
    }
}

/// A server of files: it needs nothing but what the image holds.
const FILES: &str = r#"
builtin_drivers = ["hey"]
scenarios.ask = { about = "test", operation = "ask", load = { connections = 1, requests = 100 } }
[servers.files]
about = "test"
protocols = ["http"]
command = ["python3", "-m", "http.server", "{port}"]
ready = { tcp = true }
operations.ask.request = { path = "/" }
"#;

#[test]
#[ignore = "nightly"]
fn a_job_in_the_image_of_a_release_measures_what_another_user_checked_out() {
    let Some(store) = Store::new() else { return };
    let releases = Releases::new();
    let packed = releases.pack(VERSION);
    assert_eq!(packed.code, 0, "{}", packed.stderr);
    store.debian("trixie", "13-slim");
    let mirror = format!("RELEASES={}", releases.mirror());
    let container = store.container("wirebench", &["--build-arg", &mirror]);

    let bench = Bench::empty().file("wirebench.toml", FILES).commit("v1");
    let project = format!("--volume={}:/work", bench.path(".").display());
    let example = format!("--volume={}:/example:ro", repository().join("examples/go").display());
    // The servers of the example need Go, which the image has not; the versions of its load generators are read without it.
    let job = "chown -R 1234 .; wirebench --version; h2load --version; hyperfine --version; wirebench verify; \
               wirebench run --only timings --rounds 1; cd /example; wirebench verify --tools || true";
    let said = store.run(&container, &[&project, &example], job);
    says(&said, &VERSION.replacen('v', "wirebench ", 1));
    says(
        &said,
        "h2load nghttp2/1.|hyperfine 1.|ok jq: 1.|ok gnuplot: |ok strace: |ok valgrind: |ok git: 1 commit",
    );
    says(
        &said,
        "ok driver hey: hey v0.|ok driver ghz: ghz v0.|ok files · ask · HTTP/1.1: ready after",
    );
    let record = bench.record();
    let round = &series(&record, "ask@files@hey")["rounds"][0];
    assert_eq!(round["ok_count"], 100, "{round:#}");
}

/// The declaration of one of this repository's servers, with programs below another root folder.
fn declared(server: &str, root: &Path) -> String {
    let text = fs::read_to_string(repository().join("servers").join(server).join("server.toml")).unwrap();
    let (text, _) = text.split_once("\n[configurations.").unwrap();
    let package = Regex::new(r#"package\s*=\s*"([a-z-]+)""#).unwrap();
    let command = format!("command = [\"chroot\", \"--userspec=65532:65532\", {root:?}, \"/bin/$1\"]");
    package.replace_all(text, command).into_owned()
}

const LOADS: &str = "builtin_drivers = [\"hey\", \"ghz\", \"k6\"]\ndefault_profile = \"loads\"\nprofiles.loads = { about = \"test\", rounds = 1 }\n";
const WEATHER: &str = "about = \"test\"\noperation = \"weather\"\nload = { connections = 1, requests = 100 }\n";

#[test]
#[ignore = "nightly"]
fn the_servers_answer_with_nothing_around_them_and_the_load_image_has_what_asks_them() {
    let Some(store) = Store::new() else { return };
    store.debian("bookworm", "bookworm-slim");
    store.toolchains();
    let cargo = std::env::var("CARGO_HOME").unwrap_or(format!("{}/.cargo", std::env::var("HOME").unwrap()));
    let rust = told("rustc", &["--print", "sysroot"]);
    let (_, servers) = store.target("servers", &rust, &format!("{cargo}:/cargo"));
    let [go, modules] = ["GOROOT", "GOMODCACHE"].map(|name| told("go", &["env", name]));
    let (load, drivers) = store.target("load", &go, &format!("{modules}:/go/pkg/mod"));

    let said = store.run(
        &load,
        &[],
        "id -u; h2load --version; k6 version; date +%N | grep '[0-9]'",
    );
    says(&said, "65532|h2load nghttp2/1.|k6 v1.");

    // A server with a database needs a folder for its file, as deploy/compose.yaml mounts one.
    fs::create_dir(servers.join("tmp")).unwrap();
    fs::set_permissions(servers.join("tmp"), fs::Permissions::from_mode(0o1777)).unwrap();
    let mut bench = Bench::empty()
        .file("wirebench.toml", LOADS)
        .file("scenarios/weather.toml", WEATHER);
    symlink(repository().join("proto"), bench.path("proto")).unwrap();
    for server in ["http", "grpc", "three-tier-http", "three-tier-grpc"] {
        bench = bench.file(&format!("servers/{server}/server.toml"), &declared(server, &servers));
    }
    let (first, others) = (drivers.join("usr/local/bin"), std::env::var("PATH").unwrap());
    let path = format!("{}:{others}", first.display());
    let verified = bench.run_with(
        &["verify"],
        &[("PATH", &path), ("WIREBENCH_TOOLS", &store.path("none"))],
    );
    assert_eq!(verified.code, 0, "{}{}", verified.stdout, verified.stderr);
    says(
        &verified.stdout,
        "ok driver hey: hey v0.|ok driver ghz: ghz v0.|ok driver k6: k6 v1.",
    );
    says(
        &verified.stdout,
        "ok http · weather · HTTP/1.1: ready|ok grpc · weather · gRPC: ready",
    );
    says(
        &verified.stdout,
        "ok three-tier-http · weather · HTTP/1.1: ready|ok three-tier-grpc · weather · HTTP/1.1: ready",
    );
}
