//! What runs the fixture servers: the one in C, built by the compiler of this machine once in a test process, and Python.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::LazyLock;

use crate::bench::{fixture, repository};

static C_SERVER: LazyLock<PathBuf> = LazyLock::new(|| {
    made("c-server", |to| {
        let options = ["-O1", "-g", "-Wall", "-Wextra", "-Werror", "-pthread", "-o"];
        Command::new("cc")
            .args(options)
            .arg(to)
            .arg(fixture("server.c"))
            .output()
            .expect("cc: install a C compiler")
    })
});

static STRIPPED: LazyLock<PathBuf> = LazyLock::new(|| {
    made("c-server-stripped", |to| {
        let options = [OsStr::new("-o"), to.as_os_str(), C_SERVER.as_os_str()];
        Command::new("strip")
            .args(options)
            .output()
            .expect("strip: install binutils")
    })
});

static FAULTS: LazyLock<PathBuf> = LazyLock::new(|| {
    made("faults.so", |to| {
        let options = ["-shared", "-fPIC", "-O1", "-Wall", "-Wextra", "-Werror", "-o"];
        Command::new("cc")
            .args(options)
            .arg(to)
            .arg(fixture("faults.c"))
            .arg("-ldl")
            .output()
            .expect("cc: install a C compiler")
    })
});

static PYTHON: LazyLock<String> = LazyLock::new(|| {
    let output = Command::new("python3")
        .args(["-c", "import sys; print(sys.executable)"])
        .output()
        .expect("python3: install it");
    String::from_utf8(output.stdout)
        .expect("a path in UTF-8")
        .trim()
        .to_owned()
});

/// The interpreter itself: `python3` may be a script that looks for it.
pub(crate) fn python() -> &'static str {
    &PYTHON
}

/// The program, with symbols and lines.
pub(crate) fn c_server() -> &'static Path {
    &C_SERVER
}

/// The program without symbols.
pub(crate) fn stripped_c_server() -> &'static Path {
    &STRIPPED
}

/// A library that fills the disk or kills a program at a chosen step.
pub(crate) fn faults() -> &'static Path {
    &FAULTS
}

/// The program of one of this repository's servers, as a run builds it.
pub(crate) fn server(package: &str) -> PathBuf {
    let target = std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| repository().join("target"), PathBuf::from);
    let built = Command::new("cargo")
        .args([
            "build",
            "--quiet",
            "--release",
            "--locked",
            "--package",
            package,
            "--target-dir",
        ])
        .arg(&target)
        .current_dir(repository())
        .output()
        .expect("cargo: install Rust");
    assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
    target.join("release").join(package)
}

/// Makes a file of that name; another test process may do the same at the same time, and either's file is good.
fn made(name: &str, make: impl Fn(&Path) -> std::process::Output) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let (unfinished, file) = (folder.join(format!("{name}-{}", std::process::id())), folder.join(name));
    let output = make(&unfinished);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    std::fs::rename(unfinished, &file).unwrap();
    file
}
