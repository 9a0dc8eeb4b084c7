//! Rules about the whole source that no compiler checks. Which room may import which is written in their Cargo.toml.

use std::fs;
use std::path::{Path, PathBuf};

fn sources(folder: &Path, into: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap().flatten() {
        if entry.path().is_dir() {
            sources(&entry.path(), into);
        } else {
            into.push(entry.path());
        }
    }
}

/// The sources of every room, with their paths below `wirebench/`.
fn rooms() -> Vec<(String, PathBuf)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let mut files = Vec::new();
    for room in fs::read_dir(root).unwrap().flatten() {
        // Fuzz targets are no room: they are a workspace of their own.
        if room.path().join("src").is_dir() && room.file_name() != "fuzz" {
            sources(&room.path().join("src"), &mut files);
        }
    }
    let named = |file: PathBuf| (file.strip_prefix(root).unwrap().to_string_lossy().into_owned(), file);
    files.into_iter().map(named).collect()
}

#[test]
fn other_programs_are_begun_in_one_place() {
    let (mut wrong, mut called) = (Vec::new(), 0);
    for (name, file) in rooms() {
        if name.starts_with("spawn/") || name.starts_with("tools/") {
            continue;
        }
        let text = fs::read_to_string(file).unwrap();
        let program = text.split("\n#[cfg(test)]\n").next().unwrap();
        called += program.matches("wirebench_spawn::command(").count();
        if program.contains("Command::new(") {
            wrong.push(name);
        }
    }
    assert!(
        wrong.is_empty(),
        "these begin programs without wirebench_spawn::command: {wrong:?}"
    );
    assert!(called > 10, "only {called} calls were found: the scan is broken");
}

/// The macros of the command line replace the standard ones; these files say why they do not use them.
#[test]
fn whatever_is_printed_goes_through_one_function() {
    const ALLOWED: [&str; 3] = ["cli/src/output.rs", "cli/src/github/summary.rs", "cli/src/main.rs"];
    let past = [
        "std::print",
        "std::eprint",
        "eprintln!(",
        "stdout().lock()",
        "stderr().lock()",
        "io::stdout().write",
    ];
    let mut wrong = Vec::new();
    for (name, file) in rooms() {
        let text = fs::read_to_string(file).unwrap();
        let prints = ["println!(", "print!("].iter().any(|word| text.contains(word)) && !name.starts_with("cli/");
        let past = past.iter().any(|word| text.contains(word));
        if (prints || past) && !ALLOWED.contains(&name.as_str()) {
            wrong.push(name);
        }
    }
    assert!(wrong.is_empty(), "these print past `printable`: {wrong:?}");
}

/// `.github/scripts/defences.sh` removes each defence in turn; it can do so only where the list has the source as it is.
#[test]
fn every_defence_of_the_list_is_in_its_file_once() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let list = fs::read(root.join("wirebench/cli/tests/defences.json")).unwrap();
    let list: Vec<serde_json::Value> = serde_json::from_slice(&list).unwrap();
    assert!(list.len() >= 40, "{} defences", list.len());
    for defence in &list {
        let text = |key: &str| defence[key].as_str().unwrap_or_default();
        let source = fs::read_to_string(root.join(text("file"))).unwrap_or_default();
        let found = source.matches(text("find")).count();
        assert_eq!(
            found,
            1,
            "{}: its text occurs {found} times in {}",
            text("name"),
            text("file")
        );
        let package = text("package").strip_prefix("wirebench-").unwrap_or("cli");
        assert!(
            root.join("wirebench").join(package).join("Cargo.toml").exists(),
            "{package}"
        );
    }
}
