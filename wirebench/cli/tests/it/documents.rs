//! Documents that quote the program: the examples of EXTENDING, the messages of the FAQ.

use std::fs;
use std::path::Path;

use crate::bench::{Bench, repository};

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
    let shape = bench.run(&["normalise", "python", "--stdout", "stdout"]);
    assert_eq!(shape.code, 0, "{}", shape.stderr);
    assert_eq!(shape.stdout, "elapsed_ns 9\nanswers 3\n  200: 2\n  503: 1\n");
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
