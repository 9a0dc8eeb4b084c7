//! Documents: their links, the commands they name, the examples of EXTENDING, the messages of the FAQ.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::bench::{Bench, repository};

/// The documents of the product: those at the top, and all of docs/.
fn documents() -> Vec<PathBuf> {
    let mut folders = vec![
        repository(),
        repository().join("docs"),
        repository().join("docs/decisions"),
    ];
    let mut found = Vec::new();
    while let Some(folder) = folders.pop() {
        let files = fs::read_dir(folder).unwrap().flatten().map(|entry| entry.path());
        found.extend(files.filter(|file| file.extension().is_some_and(|ending| ending == "md")));
    }
    assert!(found.len() > 20, "{found:?}");
    found
}

/// The anchors that GitHub gives to the headings of a document.
fn anchors(text: &str) -> Vec<String> {
    let headings = text.lines().filter(|line| line.starts_with('#'));
    let anchor = |line: &str| {
        let title = line.trim_start_matches('#').trim().to_lowercase();
        let kept = |letter: &char| letter.is_alphanumeric() || [' ', '-', '_'].contains(letter);
        title.chars().filter(kept).collect::<String>().replace(' ', "-")
    };
    headings.map(anchor).collect()
}

#[test]
fn links_between_documents_resolve() {
    let mut broken = Vec::new();
    for document in documents() {
        let text = fs::read_to_string(&document).unwrap();
        let targets = text.split("](").skip(1).filter_map(|rest| rest.split_once(')'));
        for (target, _) in targets.filter(|(target, _)| !target.contains("://")) {
            let (file, anchor) = target.split_once('#').unwrap_or((target, ""));
            let file = if file.is_empty() {
                document.clone()
            } else {
                document.parent().unwrap().join(file)
            };
            let is_there = if anchor.is_empty() {
                file.exists()
            } else {
                fs::read_to_string(&file).is_ok_and(|text| anchors(&text).iter().any(|known| known == anchor))
            };
            if !is_there {
                broken.push(format!("{}: {target}", document.display()));
            }
        }
    }
    assert!(broken.is_empty(), "{}", broken.join("\n"));
}

#[test]
fn commands_of_the_documents_are_verbs_of_the_help() {
    let help = Command::new(env!("CARGO_BIN_EXE_wirebench"))
        .arg("--help")
        .output()
        .unwrap();
    let help = String::from_utf8(help.stdout).unwrap();
    let verbs: Vec<&str> = (help.lines())
        .filter_map(|line| line.strip_prefix("  ")?.split_once("  "))
        .map(|(verb, _)| verb)
        .collect();
    let mut unknown = Vec::new();
    for document in documents()
        .iter()
        .filter(|document| !document.ends_with("CHANGELOG.md"))
    {
        let text = fs::read_to_string(document).unwrap();
        let blocks = text.split("```").skip(1).step_by(2).flat_map(str::lines);
        let indented = text.lines().filter(|line| line.starts_with("    "));
        let code = text.split('`').chain(blocks).chain(indented);
        for line in code.filter_map(|line| line.trim_start_matches("$ ").trim().strip_prefix("wirebench ")) {
            let verb = line.split_whitespace().next().unwrap_or_default();
            if verb.chars().all(|letter| letter.is_ascii_lowercase()) && verb != "help" && !verbs.contains(&verb) {
                unknown.push(format!("{}: wirebench {line}", document.display()));
            }
        }
    }
    assert!(unknown.is_empty(), "{}", unknown.join("\n"));
}

/// The files that EXTENDING shows: path and text. A line that ends with a path and a colon names the block after it.
fn examples() -> Vec<(String, String)> {
    let page = fs::read_to_string(repository().join("docs/EXTENDING.md")).unwrap();
    let mut found = Vec::new();
    let mut named = None;
    let mut lines = page.lines();
    while let Some(line) = lines.next() {
        if line.starts_with("```") {
            let block: Vec<&str> = lines.by_ref().take_while(|line| *line != "```").collect();
            found.extend(named.take().map(|name| (name, block.join("\n") + "\n")));
        } else if let Some((_, name)) = line.strip_suffix("`:").and_then(|line| line.rsplit_once('`')) {
            named = Some(name.to_owned());
        }
    }
    found
}

#[test]
fn the_examples_of_extending_need_no_file_but_their_own() {
    let mut bench = Bench::empty().file("wirebench.toml", "builtin_drivers = []\n");
    let examples = examples();
    for room in ["scenarios/", "servers/", "drivers/"] {
        assert!(examples.iter().any(|(path, _)| path.starts_with(room)), "{room}");
    }
    for (path, text) in &examples {
        bench = bench.file(path, text);
    }
    let listed = bench.run(&["list"]);
    assert!(listed.stdout.contains("weather-few@node@python"), "{}", listed.stdout);
    let verified = bench.run(&["verify"]);
    assert_eq!(verified.code, 0, "{}{}", verified.stdout, verified.stderr);
    assert!(verified.stdout.contains("ok     node · weather"), "{}", verified.stdout);
    let raw = r#"{"elapsed_ns": 9, "calls": [[200, 2], [503, 3], [200, 1]], "errors": []}"#;
    let bench = bench.file("stdout", raw);
    let shape = Command::new("jq")
        .args(["--compact-output", "--raw-input", "--slurp", "-L"])
        .arg(repository().join("drivers/lib"))
        .arg("--from-file")
        .args([bench.path("drivers/python/normalise.jq"), bench.path("stdout")])
        .output()
        .unwrap();
    assert!(shape.status.success(), "{}", String::from_utf8_lossy(&shape.stderr));
    assert_eq!(
        String::from_utf8_lossy(&shape.stdout).trim(),
        r#"{"elapsed_ns":9,"answers":{"200":[2,1],"503":[3]},"errors":{}}"#
    );
}

/// The sources of every room, without their tests: a message is text of them.
fn sources(folder: &Path, into: &mut String) {
    for entry in fs::read_dir(folder).unwrap().flatten() {
        let path = entry.path();
        if path.is_dir() {
            sources(&path, into);
        } else if path.extension().is_some_and(|ending| ending == "rs") {
            into.push_str(
                fs::read_to_string(path)
                    .unwrap()
                    .split("\n#[cfg(test)]\nmod tests {\n")
                    .next()
                    .unwrap(),
            );
        }
    }
}

#[test]
fn the_messages_of_the_faq_are_in_the_code() {
    let page = fs::read_to_string(repository().join("docs/FAQ.md")).unwrap();
    let (_, tables) = page.split_once("\n## Messages\n").unwrap();
    let mut code = String::new();
    for room in ["record", "declare", "engine", "history", "present", "cli"] {
        sources(&repository().join("wirebench").join(room).join("src"), &mut code);
    }
    let messages: Vec<&str> = (tables.lines())
        .filter_map(|line| line.strip_prefix("| `")?.split_once("` |"))
        .map(|(message, _)| message)
        .collect();
    assert!(messages.len() > 20, "only {} rows were found", messages.len());
    let parts = messages.iter().flat_map(|message| message.split('…')).map(str::trim);
    let lost: Vec<&str> = parts.filter(|part| !code.contains(part)).collect();
    assert!(
        lost.is_empty(),
        "docs/FAQ.md names messages that are not in the code: {lost:?}"
    );
}
