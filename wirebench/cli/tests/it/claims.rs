//! What others published, put to the test: which series are measured, and the document of what came of it.

use std::fs;

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
    for profile in ["comparisons", "loads"] {
        let listed = ended(wirebench(&["list", "--profile", profile]).current_dir(repository()));
        assert_eq!(listed.code, 0, "{}", listed.stderr);
    }
    for letter in ["A", "B", "C", "D", "E"] {
        let document = fs::read_to_string(repository().join("docs/COMPARISONS.md")).unwrap();
        assert!(document.contains(&format!("\n## {letter} ")), "{letter}");
    }
}

#[test]
fn the_documents_figures_are_those_of_the_committed_run() {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join("docs")).unwrap();
    let (written, run) = (
        folder.path().join("docs/COMPARISONS.md"),
        folder.path().join("results/comparisons"),
    );
    fs::create_dir_all(&run).unwrap();
    fs::copy(repository().join("results/comparisons/run.json"), run.join("run.json")).unwrap();
    let (run, out) = (run.to_string_lossy(), written.to_string_lossy());
    let made = ended(wirebench(&["claims", &run, "--out", &out]).current_dir(repository()));
    assert_eq!(made.code, 0, "{}", made.stderr);
    let committed = fs::read_to_string(repository().join("docs/COMPARISONS.md")).unwrap();
    let hint = "write it anew with: wirebench claims results/comparisons --out docs/COMPARISONS.md";
    assert!(fs::read_to_string(&written).unwrap() == committed, "{hint}");
}

/// The public comparisons of this repository.
fn comparisons() -> Vec<PublicComparison> {
    Project::read(&repository()).unwrap().claims
}

#[test]
fn every_published_figure_is_in_claims_as_it_was_printed() {
    let table = repository().join("wirebench/cli/tests/fixtures/published-figures.tsv");
    let comparisons = comparisons();
    let kept = comparisons.iter().flat_map(|one| {
        let line = |figures: &Published| format!("{}\t{}\t{}", one.letter, figures.what, figures.printed.join("\t"));
        one.published.iter().map(line)
    });
    let expected = fs::read_to_string(table).unwrap();
    assert_eq!(kept.collect::<Vec<_>>(), expected.lines().collect::<Vec<_>>());
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
            line.starts_with("- **") && line.contains(" costs less. ")
                || line.contains("no difference in server CPU")
                || line.contains("not measured in this run")
        });
        answers.map(str::to_owned).collect::<Vec<_>>()
    };
    assert!(of(&document).len() >= 9, "{:?}", of(&document));
    assert_eq!(of(&document), of(&readme), "copy them from docs/COMPARISONS.md");
}
