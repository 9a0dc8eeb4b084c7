//! What others published, put to the test: the committed document, and what stands in `claims/`.
#![allow(
    clippy::unwrap_used,
    reason = "a test may stop at the first surprise, its helpers too"
)]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use wirebench_lab::claims::command::read;
use wirebench_lab::claims::publication::{PublicComparison, Published};

/// The folder of the laboratory.
fn lab() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().to_path_buf()
}

fn run(arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_lab"));
    let output = command.arg("--root").arg(lab()).args(arguments).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    output
}

/// The folders of the committed runs.
fn runs() -> Vec<String> {
    let run = |letter| {
        lab()
            .join("results/comparisons")
            .join(letter)
            .to_string_lossy()
            .into_owned()
    };
    ["A", "A-cluster", "B", "C", "C-node", "D", "D-node", "E"]
        .map(run)
        .to_vec()
}

/// The public comparisons of `claims/`.
fn comparisons() -> Vec<PublicComparison> {
    read(&lab()).unwrap()
}

fn document() -> String {
    fs::read_to_string(lab().join("docs/COMPARISONS.md")).unwrap()
}

/// A file of the details.
fn detail(name: &str) -> String {
    fs::read_to_string(lab().join("docs/comparisons").join(name)).unwrap()
}

#[test]
fn the_documents_figures_are_those_of_the_committed_runs() {
    let folder = tempfile::tempdir_in(lab()).unwrap();
    let written = folder.path().join("COMPARISONS.md");
    let runs = runs();
    let mut arguments = vec!["claims"];
    arguments.extend(runs.iter().map(String::as_str));
    let out = written.to_string_lossy();
    arguments.extend(["--out", &*out]);
    run(&arguments);
    let hint = "write it anew with: lab claims lab/results/comparisons/[A-E]* --out lab/docs/COMPARISONS.md";
    assert!(fs::read_to_string(&written).unwrap() == document(), "{hint}");
    for name in ["A.md", "B.md", "C.md", "D.md", "E.md", "JOBS.md", "jobs.tsv"] {
        let made = fs::read_to_string(folder.path().join("comparisons").join(name)).unwrap();
        assert!(made == detail(name), "{name}: {hint}");
    }
    // The chart is drawn from the table of jobs by comparisons-chart.sh: every job stands in it.
    let drawn = detail("jobs.svg");
    for row in detail("jobs.tsv").lines().skip(1) {
        let label = row.split('\t').next().unwrap();
        assert!(
            drawn.contains(label),
            "{label}: draw it anew with lab/scripts/comparisons-chart.sh"
        );
    }
}

/// A reader without an hour: the answer, what is not performance, what became of the five.
#[test]
fn the_document_is_short_and_answers_four_cases_before_anything_else() {
    let document = document();
    let words = document.split_whitespace().count();
    assert!(words <= 2_500, "{words} words");
    let screen = document.split("![").next().unwrap();
    for case in [
        "a browser app",
        "a chain of internal services",
        "a gateway in Node.js",
        "streams of messages",
    ] {
        assert!(screen.contains(&format!("- **{case}**: ")), "{case}");
    }
}

/// Every series that claims need can be measured: the laboratory declares it.
#[test]
fn the_profile_has_every_series_that_claims_name() {
    let project = wirebench_declare::Project::read(&lab()).unwrap();
    let profile = &project.config.profiles["comparisons"];
    let selection = wirebench_declare::plan::Selection::default();
    let planned = wirebench_declare::plan::series(&project, profile, &selection).unwrap();
    for id in comparisons().iter().flat_map(PublicComparison::series) {
        assert!(planned.iter().any(|one| one.id == id), "{id}");
    }
}

/// A row of the table of what was published: `letter, what, figures`, or `letter, said, command or sentence`.
fn rows(one: &PublicComparison) -> Vec<String> {
    let figures = |figures: &Published| format!("{}\t{}\t{}", one.letter, figures.what, figures.printed.join("\t"));
    let said = one
        .said
        .iter()
        .map(|said| format!("{}\tsaid\t{}", one.letter, said.what));
    one.published.iter().map(figures).chain(said).collect()
}

#[test]
fn everything_published_that_claims_something_is_in_claims_as_it_was_printed() {
    let table = lab().join("programs/tests/published-figures.tsv");
    let kept: Vec<String> = comparisons().iter().flat_map(rows).collect();
    let expected = fs::read_to_string(table).unwrap();
    assert_eq!(kept, expected.lines().collect::<Vec<_>>());
}

#[test]
fn claims_are_made_of_published_figures() {
    for one in comparisons() {
        let number = |text: &String| text.replace(',', "").parse::<f64>().ok();
        let printed: Vec<f64> = one
            .published
            .iter()
            .flat_map(|figures| &figures.printed)
            .filter_map(number)
            .collect();
        let claims = one.questions.iter().flat_map(|question| &question.claims);
        for claim in claims {
            let known = |value: &f64| printed.iter().any(|one| (one - value).abs() < 1e-9);
            assert!(
                claim.values.iter().all(known),
                "{}: {claim:?} was not published",
                one.letter
            );
        }
    }
}

/// README quotes the four cases.
#[test]
fn the_readme_quotes_the_four_cases_as_they_are() {
    let readme = fs::read_to_string(lab().join("../README.md")).unwrap();
    let document = document();
    let screen = document.split("![").next().unwrap();
    let quoted = screen.lines().filter(|line| line.starts_with("- **"));
    for line in quoted {
        assert!(readme.contains(line), "copy it from lab/docs/COMPARISONS.md: {line}");
    }
}

/// claims/b-gateway.toml: protobuf has less than 3 % of the time of the gateway by grpc-js, by the committed stacks.
#[test]
fn the_profile_says_what_is_said_of_it() {
    let folded = lab().join("results/comparisons/profiles/gateway-node-grpc-js.folded");
    let (mut all, mut protobuf) = (0, 0);
    for line in fs::read_to_string(folded).unwrap().lines() {
        let (stack, time) = line.rsplit_once(' ').unwrap();
        let time: u64 = time.parse().unwrap();
        let leaf = stack.rsplit(';').next().unwrap();
        let is_protobuf = [
            "proto-loader",
            "protobufjs",
            "$decode",
            "$encode",
            "$toObject",
            "$fromObject",
        ];
        all += time;
        if is_protobuf.iter().any(|part| leaf.contains(part)) {
            protobuf += time;
        }
    }
    assert!(protobuf > 0 && protobuf * 100 < all * 3, "{protobuf} of {all} µs");
}

/// The content of the page is made of the same findings.
#[test]
fn the_page_answers_by_job_from_the_same_runs() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("comparisons.html");
    let runs = runs();
    let mut arguments = vec!["claims"];
    arguments.extend(runs.iter().map(String::as_str));
    let out = file.to_string_lossy();
    arguments.extend(["--page", &*out]);
    run(&arguments);
    let page = fs::read_to_string(&file).unwrap();
    let jobs = detail("JOBS.md");
    let answers = jobs
        .lines()
        .filter(|line| line.starts_with("- **") && line.contains("**: "));
    for answer in answers.take(30) {
        let (job, said) = answer.trim_start_matches("- **").split_once("**: ").unwrap();
        let escaped = |text: &str| text.replace('\'', "&#39;");
        assert!(
            page.contains(&escaped(job)) && page.contains(&escaped(said)),
            "{answer}"
        );
    }
}
