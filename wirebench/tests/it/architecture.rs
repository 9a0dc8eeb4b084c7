//! Who may import whom: the rooms' arrows, read off the `use crate::` lines.

use std::fs;
use std::path::{Path, PathBuf};

/// What each room may import; command may import everything.
const ARROWS: [(&str, &[&str]); 19] = [
    ("child", &[]),
    ("adopt", &["adopt", "declare", "measure", "record"]),
    ("claims", &["claims", "declare", "record", "stats", "summary", "report"]),
    ("declare", &["declare", "record"]),
    ("plan", &["declare", "record", "plan"]),
    ("measure", &["child", "declare", "plan", "record", "measure"]),
    (
        "normalise",
        &["child", "declare", "plan", "measure", "record", "stats", "normalise"],
    ),
    ("count", &["declare", "plan", "measure", "normalise", "record", "count"]),
    ("record", &["record"]),
    ("stats", &["stats"]),
    ("compare", &["declare", "record", "stats", "compare"]),
    ("selftest", &["compare", "record", "stats", "selftest"]),
    ("github", &["github", "record"]),
    ("history", &["declare", "record", "stats", "history"]),
    ("summary", &["record", "stats", "summary"]),
    ("report", &["child", "record", "summary", "report"]),
    ("site", &["history", "record", "report", "stats", "summary", "site"]),
    ("truth", &["child", "declare", "measure", "record", "report", "truth"]),
    ("main", &[]),
];

fn sources(folder: &Path, into: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap().flatten() {
        if entry.path().is_dir() {
            sources(&entry.path(), into);
        } else {
            into.push(entry.path());
        }
    }
}

#[test]
fn every_import_follows_an_arrow() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut files = Vec::new();
    sources(&root, &mut files);
    let (mut wrong, mut seen) = (Vec::new(), 0);
    for file in files {
        let relative = file.strip_prefix(&root).unwrap();
        let first = relative
            .components()
            .next()
            .unwrap()
            .as_os_str()
            .to_string_lossy()
            .replace(".rs", "");
        if first == "command" || first == "lib" {
            continue;
        }
        let (_, allowed) = ARROWS
            .iter()
            .find(|(room, _)| *room == first)
            .unwrap_or_else(|| panic!("room {first} has no row in ARROWS"));
        let text = fs::read_to_string(&file).unwrap();
        for line in text.lines().filter(|line| line.contains("crate::")) {
            let to: String = line
                .split("crate::")
                .nth(1)
                .unwrap()
                .chars()
                .take_while(|c| c.is_alphanumeric() || *c == '_')
                .collect();
            seen += 1;
            if !allowed.contains(&to.as_str()) {
                wrong.push(format!("{}: {}", relative.display(), line.trim()));
            }
        }
    }
    assert!(wrong.is_empty(), "imports against the arrows:\n{}", wrong.join("\n"));
    assert!(seen > 50, "only {seen} imports were found: the scan is broken");
}

#[test]
fn other_programs_are_begun_in_one_place() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut files = Vec::new();
    sources(&root, &mut files);
    let (mut wrong, mut called) = (Vec::new(), 0);
    for file in files.iter().filter(|file| !file.ends_with("child.rs")) {
        let text = fs::read_to_string(file).unwrap();
        let program = text.split("\n#[cfg(test)]\n").next().unwrap();
        called += program.matches("child::command(").count();
        if program.contains("Command::new(") {
            wrong.push(file.strip_prefix(&root).unwrap().display().to_string());
        }
    }
    assert!(
        wrong.is_empty(),
        "these begin programs without child::command: {wrong:?}"
    );
    assert!(called > 10, "only {called} calls were found: the scan is broken");
}

/// The macros of the room command stand in for the standard ones; these files say why they do not use them.
#[test]
fn whatever_is_printed_goes_through_one_function() {
    const ALLOWED: [&str; 3] = ["command/mod.rs", "command/summary/mod.rs", "main.rs"];
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut files = Vec::new();
    sources(&root, &mut files);
    let mut wrong = Vec::new();
    for file in files {
        let relative = file.strip_prefix(&root).unwrap().to_string_lossy().into_owned();
        let text = fs::read_to_string(&file).unwrap();
        let prints =
            ["println!(", "print!("].iter().any(|word| text.contains(word)) && !relative.starts_with("command/");
        let past = [
            "std::print",
            "std::eprint",
            "stdout().lock()",
            "stderr().lock()",
            "io::stdout().write",
        ];
        let past = past.iter().any(|word| text.contains(word));
        if (prints || past) && !ALLOWED.contains(&relative.as_str()) {
            wrong.push(relative);
        }
    }
    assert!(wrong.is_empty(), "these print past `printable`: {wrong:?}");
}
