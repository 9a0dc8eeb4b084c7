//! Lists the drivers that come with the program: every folder of `drivers/` with a `driver.toml`, and `drivers/lib`.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

/// Files beside a `driver.toml` that only this repository uses: how it installs and checks the load generator.
const LEFT_OUT: [&str; 5] = ["go.mod", "go.sum", "package.json", "package-lock.json", "check-samples"];

fn main() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../drivers")
        .canonicalize()
        .expect("drivers/ lies at the top of the repository");
    println!("cargo::rerun-if-changed={}", root.display());
    let (mut names, mut files) = (Vec::new(), Vec::new());
    for folder in sorted(&root) {
        let name = file_name(&folder);
        let is_driver = folder.join("driver.toml").is_file();
        if is_driver {
            names.push(name.clone());
        }
        if is_driver || name == "lib" {
            let own = sorted(&folder).into_iter().filter(|file| file.is_file());
            files.extend(own.filter(|file| !LEFT_OUT.contains(&file_name(file).as_str())));
        }
    }
    let mut code = format!(
        "/// Names of the drivers.\npub const NAMES: [&str; {}] = {names:?};\n",
        names.len()
    );
    let _ = writeln!(code, "/// Their files: path below `drivers/`, and text.");
    let _ = writeln!(code, "pub const FILES: [(&str, &str); {}] = [", files.len());
    for file in &files {
        let below = file.strip_prefix(&root).expect("a file below drivers/");
        let _ = writeln!(code, "    ({below:?}, include_str!({file:?})),");
    }
    code.push_str("];\n");
    let out = std::env::var_os("OUT_DIR").expect("cargo sets OUT_DIR");
    fs::write(Path::new(&out).join("drivers.rs"), code).expect("OUT_DIR can be written");
}

fn sorted(folder: &Path) -> Vec<PathBuf> {
    let mut entries: Vec<PathBuf> = fs::read_dir(folder)
        .expect("drivers/ can be read")
        .flatten()
        .map(|entry| entry.path())
        .collect();
    entries.sort();
    entries
}

fn file_name(path: &Path) -> String {
    path.file_name()
        .map(|name| name.to_string_lossy().into_owned())
        .unwrap_or_default()
}
