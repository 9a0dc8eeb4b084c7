//! The examples of EXTENDING, added to an empty project.

use std::fs;

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
