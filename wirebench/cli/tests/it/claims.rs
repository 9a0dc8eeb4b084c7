//! What others published, put to the test: which series are measured, and the document of what came of it.

use std::fs;
use std::path::{Path, PathBuf};

use wirebench_declare::Project;
use wirebench_declare::claims::{PublicComparison, Published, Quantity};

use crate::bench::{Bench, ended, repository, run_folder, wirebench};

/// Two servers, a scenario nobody claims anything of, and a public comparison of the two servers.
fn project() -> Bench {
    let config = "builtin_drivers = []\ndefault_profile = \"test\"\n[profiles.test]\nabout = \"test\"\nrounds = 1\n[profiles.claimed]\nabout = \"test\"\nrounds = 2\nclaims = true\n\
                  [count]\nenabled = false\n";
    Bench::new()
        .file("wirebench.toml", config)
        .scenario("other", "connections = 2, requests = 200")
        .c_server("one", "good", "")
        .c_server("two", "good", "")
        .driver("fake", "ok")
        .file(
            "claims/x.toml",
            "letter = \"X\"\ntitle = \"one or two\"\nran = \"a test\"\nadvice = \"take two\"\n[[questions]]\n\
             about = \"how fast\"\nsides = [\"one\", \"two\"]\ntheirs = [\"ask@one@fake\", \"ask@two@fake\"]\n\
             claims = [{ quantity = \"throughput_rps\", values = [1000, 2000] }]\n",
        )
}

#[test]
fn a_profile_measures_what_claims_need_and_a_document_says_what_came_of_it() {
    let bench = project();
    let measured = bench.run(&["run", "--profile", "claimed", "--only", "x"]);
    assert_eq!(measured.code, 0, "{}", measured.stderr);
    let record = bench.record();
    let ids = record["series"].as_array().unwrap().iter().map(|series| &series["id"]);
    assert_eq!(ids.collect::<Vec<_>>(), ["ask@one@fake", "ask@two@fake"]);
    assert!(record["repeat"].as_str().unwrap().contains("--only x"));

    let shown = bench.run(&["claims"]);
    assert_eq!(shown.code, 0, "{}", shown.stderr);
    let left = run_folder(&bench.path("results")).join("claims.md");
    assert_eq!(fs::read_to_string(left).unwrap(), shown.stdout);
    for needed in [
        "| requests/s | 1,000 → 2,000 | × 2.00 |",
        "## X one or two",
        "--profile claimed",
    ] {
        assert!(shown.stdout.contains(needed), "no {needed:?} in\n{}", shown.stdout);
    }
    let file = bench.path("docs.md");
    bench.run(&["claims", "--out", &file.to_string_lossy()]);
    let folder = run_folder(&bench.path("results"));
    let link = format!("(results/{}/run.json)", folder.file_name().unwrap().to_string_lossy());
    assert!(fs::read_to_string(&file).unwrap().contains(&link));
}

#[test]
fn what_cannot_be_chosen_is_said_with_what_can() {
    let bench = project();
    for (args, said) in [
        (["run", "--profile", "claimed", "--only", "y"], "there are X (x)"),
        (
            ["run", "--profile", "test", "--only", "x"],
            "profile test has no series for claims",
        ),
    ] {
        let refused = bench.run(&args);
        assert!(refused.code == 2 && refused.stderr.contains(said), "{}", refused.stderr);
    }
    fs::remove_dir_all(bench.path("claims")).unwrap();
    let refused = bench.run(&["list"]);
    let said = "wirebench.toml: profiles.claimed.claims: there are no claims/*.toml";
    assert!(refused.code == 2 && refused.stderr.contains(said), "{}", refused.stderr);
}

/// A profile names every series that claims need, and is refused when one of them does not exist.
#[test]
fn this_projects_profiles_have_every_series_that_they_name() {
    for profile in ["comparisons", "comparisons-full", "loads"] {
        let listed = ended(wirebench(&["list", "--profile", profile]).current_dir(repository()));
        assert_eq!(listed.code, 0, "{}", listed.stderr);
    }
    for letter in ["A", "B", "C", "D", "E"] {
        let document = fs::read_to_string(repository().join("docs/COMPARISONS.md")).unwrap();
        assert!(document.contains(&format!("\n## {letter} ")), "{letter}");
    }
}

#[test]
fn the_documents_figures_are_those_of_the_committed_runs() {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join("docs")).unwrap();
    let written = folder.path().join("docs/COMPARISONS.md");
    let runs = committed_runs(&folder.path().join("results/comparisons"));
    let mut command = wirebench(&["claims"]);
    command.args(&runs).arg("--out").arg(&written);
    let made = ended(command.current_dir(repository()));
    assert_eq!(made.code, 0, "{}", made.stderr);
    let committed = fs::read_to_string(repository().join("docs/COMPARISONS.md")).unwrap();
    let hint = "write it anew with: wirebench claims results/comparisons/[A-E] --out docs/COMPARISONS.md";
    assert!(fs::read_to_string(&written).unwrap() == committed, "{hint}");
}

/// Copies the committed runs, one for each public comparison, into a folder each; returns the folders.
fn committed_runs(to: &Path) -> Vec<PathBuf> {
    let copy = |letter| {
        let run = to.join(letter);
        fs::create_dir_all(&run).unwrap();
        let committed = repository().join("results/comparisons").join(letter);
        fs::copy(committed.join("run.json"), run.join("run.json")).unwrap();
        run
    };
    ["A", "B", "C", "D", "E"].map(copy).to_vec()
}

/// The public comparisons of this repository.
fn comparisons() -> Vec<PublicComparison> {
    Project::read(&repository()).unwrap().claims
}

/// A row of the table of published figures: `letter, what, figures`, or `letter, left out, what`.
fn rows(one: &PublicComparison) -> Vec<String> {
    let figures = |figures: &Published| format!("{}\t{}\t{}", one.letter, figures.what, figures.printed.join("\t"));
    let left_out = |line: &String| {
        let (what, reason) = line.split_once(": ").unwrap_or((line, ""));
        assert!(
            !reason.is_empty(),
            "{}: {line:?} is left out without a reason",
            one.letter
        );
        format!("{}\tleft out\t{what}", one.letter)
    };
    let published = one.published.iter().map(figures);
    published.chain(one.left_out.iter().map(left_out)).collect()
}

#[test]
fn every_published_figure_is_in_claims_as_it_was_printed_or_left_out_with_the_reason() {
    let table = repository().join("wirebench/cli/tests/fixtures/published-figures.tsv");
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
        for claim in claims.filter(|claim| claim.quantity != Quantity::MemoryMb || one.letter != "E") {
            let known = |value: &f64| printed.iter().any(|one| (one - value).abs() < 1e-9);
            assert!(
                claim.values.iter().all(known),
                "{}: {claim:?} was not published",
                one.letter
            );
        }
    }
}

#[test]
fn readme_and_document_give_the_same_answers_by_job() {
    let [document, readme] =
        ["docs/COMPARISONS.md", "README.md"].map(|file| fs::read_to_string(repository().join(file)).unwrap());
    let of = |text: &str| {
        let answers = text.lines().filter(|line| {
            let is_answer = [
                " costs less. ",
                "no difference in server CPU",
                "not measured in this run",
            ];
            line.starts_with("**By job, not by protocol.**")
                || line.starts_with("- **") && is_answer.iter().any(|words| line.contains(words))
        });
        answers.map(str::to_owned).collect::<Vec<_>>()
    };
    assert!(of(&document).len() >= 9, "{:?}", of(&document));
    // The README has the first line and three of the answers.
    let quoted = of(&readme);
    assert_eq!(quoted.len(), 4, "{quoted:?}");
    let other: Vec<&String> = quoted.iter().filter(|line| !of(&document).contains(line)).collect();
    assert!(other.is_empty(), "copy them from docs/COMPARISONS.md: {other:?}");
    // The answer is on the first screen: so many lines below the heading.
    let below = document.lines().skip_while(|line| *line != "## The answer, by job");
    let screen: Vec<&str> = below.take(20).collect();
    assert!(of(&document).iter().all(|line| screen.contains(&line.as_str())));
    let head: Vec<&str> = document.lines().take(6).collect();
    assert!(head.contains(&"## The answer, by job"), "{head:?}");
}

/// claims/b-gateway.toml: protobuf has less than 3 % of the time of the gateway by grpc-js, by the committed stacks.
#[test]
fn the_profile_says_what_is_said_of_it() {
    let folded = repository().join("results/comparisons/profiles/gateway-node-grpc-js.folded");
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

/// The page of the site is made of the same findings, and stands in every page's navigation where a run measured a comparison.
#[test]
fn the_site_answers_by_job_from_the_same_runs() {
    let folder = tempfile::tempdir().unwrap();
    let (runs, out) = (folder.path().join("runs"), folder.path().join("_site"));
    for (folder, number) in committed_runs(&runs).iter().zip(1..) {
        fs::rename(folder, runs.join(format!("{number}"))).unwrap();
    }
    let (runs, out) = (runs.to_string_lossy(), out.to_string_lossy());
    let arguments = ["site", "build", "--runs", &runs, "--out", &out, "--no-stills"];
    let made = ended(wirebench(&arguments).current_dir(repository()));
    assert_eq!(made.code, 0, "{}", made.stderr);
    let page = fs::read_to_string(format!("{out}/comparisons.html")).unwrap();
    let document = fs::read_to_string(repository().join("docs/COMPARISONS.md")).unwrap();
    let answers = document
        .lines()
        .filter(|line| line.starts_with("- **") && line.contains("**: "));
    for answer in answers.take(10) {
        let (job, said) = answer.trim_start_matches("- **").split_once("**: ").unwrap();
        let escaped = |text: &str| text.replace('\'', "&#39;");
        assert!(
            page.contains(&escaped(job)) && page.contains(&escaped(said)),
            "{answer}"
        );
    }
    assert!(
        fs::read_to_string(format!("{out}/index.html"))
            .unwrap()
            .contains("comparisons.html")
    );
}
