//! What init prints after it has written the files.

use std::path::Path;

use wirebench_engine::git;
use wirebench_scaffold::repository;
use wirebench_scaffold::setup_files::IGNORED;
use wirebench_scaffold::workflows::{Action, WorkflowFacts, is_pinned};
use wirebench_scaffold::{CHANGE_THIS, Found};

/// Prints what is declared, what is not, and the open questions.
pub(super) fn print_result(found: &Found) {
    for server in &found.servers {
        println!("{}  {server}", if found.probed { "declared" } else { "guessed " });
    }
    for program in &found.not_probed {
        println!("not seen  {program}");
    }
    for question in &found.questions {
        println!("question  {question}");
    }
}

/// Prints what to do next; `found` is what was written into wirebench.toml, if anything was.
pub(super) fn print_next_steps(found: Option<&Found>, facts: &WorkflowFacts, folder: &Path) {
    println!("\nNext:");
    let lines = found.iter().flat_map(|found| found.toml.lines());
    match lines.filter(|line| line.ends_with(CHANGE_THIS)).count() {
        0 => println!("  1. wirebench verify"),
        guesses => println!(
            "  1. look at the {guesses} lines of wirebench.toml that end in \"{CHANGE_THIS}\"; then: wirebench verify"
        ),
    }
    println!("  2. wirebench run --profile quick");
    println!("  3. commit what was written, and open a pull request");
    if !is_pinned(facts) {
        let Action { repository, revision } = &facts.action;
        println!(
            "The workflows use {repository}@{revision}, which can be moved: wirebench init --commit SHA writes the full commit of a release."
        );
    }
    for path in IGNORED
        .iter()
        .filter(|path| git::top(folder).is_some() && !is_ignored(folder, path))
    {
        println!("Add to .gitignore: {path}");
    }
}

fn is_ignored(folder: &Path, path: &str) -> bool {
    repository::is_ignored(folder, &format!("{}file", path.trim_start_matches('/')))
}
