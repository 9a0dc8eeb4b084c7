//! Lists what comes with the program: every folder of `drivers/` with a `driver.toml`, `drivers/lib`, and every folder of
//! `counters/`.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

/// Files beside a `driver.toml` that only this repository uses: how it installs and checks the load generator.
const LEFT_OUT: [&str; 5] = ["go.mod", "go.sum", "package.json", "package-lock.json", "check-samples"];

fn main() {
    let top = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let top = top.canonicalize().expect("the repository is there");
    let (mut names, mut files) = (Vec::new(), Vec::new());
    for (room, declaration) in [("drivers", "driver.toml"), ("counters", "counter.toml")] {
        let room = top.join(room);
        println!("cargo::rerun-if-changed={}", room.display());
        for folder in sorted(&room) {
            let name = file_name(&folder);
            let is_declared = folder.join(declaration).is_file();
            if is_declared && declaration == "driver.toml" {
                names.push(name.clone());
            }
            if is_declared || name == "lib" {
                let own = sorted(&folder).into_iter().filter(|file| file.is_file());
                files.extend(own.filter(|file| !LEFT_OUT.contains(&file_name(file).as_str())));
            }
        }
    }
    let mut code = format!(
        "/// Names of the drivers.\npub const NAMES: [&str; {}] = {names:?};\n",
        names.len()
    );
    let _ = writeln!(code, "/// Every file: path from the top of the repository, and text.");
    let _ = writeln!(code, "pub const FILES: [(&str, &str); {}] = [", files.len());
    for file in &files {
        let below = file.strip_prefix(&top).expect("a file of the repository");
        let _ = writeln!(code, "    ({below:?}, include_str!({file:?})),");
    }
    code.push_str("];\n");
    let out = std::env::var_os("OUT_DIR").expect("cargo sets OUT_DIR");
    fs::write(Path::new(&out).join("builtin.rs"), code).expect("OUT_DIR can be written");
}

fn sorted(folder: &Path) -> Vec<PathBuf> {
    let mut entries: Vec<PathBuf> = fs::read_dir(folder)
        .expect("the folder can be read")
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
