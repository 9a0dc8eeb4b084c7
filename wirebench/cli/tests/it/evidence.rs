//! The workflow that `wirebench init` writes: what it sets up, and the file that says so.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use serde_json::{Value, json};

use crate::bench::{Bench, ended, repository};
use crate::jobs::{actionlint, zizmor};
use crate::strangers::stranger;

const COMMIT: &str = "0123456789abcdef0123456789abcdef01234567";
const WORKFLOWS: &str = ".github/workflows";

/// What init writes for a repository, without starting anything: bench.yml as YAML.
fn written(bench: &Bench, folder: &str) -> Value {
    let folder = bench.path(folder);
    let ended = bench.run(&["init", folder.to_str().unwrap(), "--no-probe", "--commit", COMMIT]);
    assert_eq!(ended.code, 0, "{}{}", ended.stdout, ended.stderr);
    let text = fs::read_to_string(bench.path(WORKFLOWS).join("bench.yml")).unwrap();
    serde_saphyr::from_str(&text).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

/// What the job that measures hands to wirebench's workflow, or to its action.
fn with(workflow: &Value) -> &Value {
    let job = &workflow["jobs"]["measure"];
    let mut steps = job["steps"].as_array().into_iter().flatten();
    let own = |step: &&Value| {
        step["uses"]
            .as_str()
            .is_some_and(|used| used.starts_with("wirebench/wirebench@"))
    };
    steps.rfind(own).map_or(&job["with"], |step| &step["with"])
}

/// What the action `toolchains` finds in a repository for this input, without what it leaves empty.
fn set_up(bench: &Bench, toolchains: &str) -> Vec<String> {
    let output = bench.path("toolchains");
    let mut script = Command::new(repository().join(".github/actions/toolchains/toolchains.sh"));
    script.current_dir(bench.path(".")).env("TOOLCHAINS", toolchains);
    let ended = ended(script.env("GITHUB_OUTPUT", &output));
    assert_eq!(ended.code, 0, "{}{}", ended.stdout, ended.stderr);
    let text = fs::read_to_string(output).unwrap();
    text.lines()
        .filter(|line| !line.ends_with('='))
        .map(str::to_owned)
        .collect()
}

/// A service with a store, in a folder of a larger repository with submodules.
fn shop() -> Bench {
    Bench::empty()
        .file(".gitmodules", "[submodule \"schemas\"]\n\tpath = schemas\n\turl = https://example.org/schemas\n")
        .file("services/shop/go.mod", "module example.org/shop\n\ngo 1.24\n")
        .file("services/shop/go.sum", "")
        .file(
            "services/shop/main.go",
            "package main\nfunc main() { open(os.Getenv(\"DATABASE_URL\"), os.Getenv(\"CACHE_URL\"), os.Getenv(\"SHOP_TOKEN\")); http.ListenAndServe(\":\"+os.Getenv(\"PORT\"), nil) }\n",
        )
        .file("services/shop/.env.example", "# for people\nSHOP_TOKEN=not-secret\nPORT=8080\nUNREAD=x\n")
        .file(
            "services/shop/compose.yml",
            "services:\n  db:\n    image: postgres:17\n    environment: { POSTGRES_PASSWORD: \"${DB_PASSWORD:-it's}\" }\n    ports: [\"5433:5432\"]\n  \
             cache: { image: \"redis:7\", container_name: shop-cache }\n  proxy: { image: \"traefik:3\" }\n  web:\n    build: .\n    environment:\n      \
             - CACHE_URL=redis://shop-cache:6379/0\n      - DATABASE_URL=postgres://postgres:${DB_PASSWORD:-it's}@db:5432/shop\n      - PORT=80\n",
        )
        .commit("theirs")
}

#[test]
fn services_variables_submodules_and_paths_come_from_the_files_that_name_them() {
    let bench = shop();
    let workflow = written(&bench, "services/shop");
    let job = &workflow["jobs"]["measure"];
    let db = &job["services"]["db"];
    assert_eq!(
        (&db["image"], &db["ports"]),
        (&json!("postgres:17"), &json!(["5433:5432"]))
    );
    assert_eq!(db["env"]["POSTGRES_PASSWORD"], "${{ vars.DB_PASSWORD || 'it''s' }}");
    assert!(
        db["options"].as_str().unwrap().contains("--health-cmd \"pg_isready\""),
        "{db}"
    );
    assert_eq!(job["services"]["cache"]["ports"], json!(["6379:6379"]));
    assert_eq!(job["services"].as_object().unwrap().len(), 2, "{job}");
    let env = json!({
        "CACHE_URL": "${{ vars.CACHE_URL || 'redis://localhost:6379/0' }}",
        "DATABASE_URL": "${{ vars.DATABASE_URL || 'postgres://postgres:it''s@localhost:5433/shop' }}",
        "SHOP_TOKEN": "${{ vars.SHOP_TOKEN || 'not-secret' }}",
    });
    assert_eq!(job["env"], env);
    assert_eq!(job["steps"][0]["with"]["submodules"], "recursive");
    assert_eq!(with(&workflow)["toolchains"], "go:services/shop");
    let go = ["go-file=services/shop/go.mod", "go-lock=services/shop/go.sum"];
    assert_eq!(set_up(&bench, "go:services/shop"), go);
    let paths = json!([
        "services/shop/**",
        "services/shop/compose.yml",
        ".gitmodules",
        ".github/workflows/bench.yml"
    ]);
    assert_eq!(workflow["on"]["push"]["paths"], paths);
    // A required check that paths skip would never be answered: a step of the job decides.
    assert!(workflow["on"]["pull_request"]["paths"].is_null());
    let globs: Vec<&str> = paths
        .as_array()
        .unwrap()
        .iter()
        .filter_map(|path| path.as_str())
        .collect();
    assert_eq!(with(&workflow)["paths"], globs.join(" "));
}

#[test]
fn a_folder_that_is_built_from_the_top_is_measured_whatever_changes() {
    let main = "package main\nfunc main() { http.ListenAndServe(os.Getenv(\"PORT\"), nil) }\n";
    let bench = Bench::empty()
        .file("go.mod", "module example.org/shop\n")
        .file("cmd/shop/main.go", main)
        .commit("theirs");
    let workflow = written(&bench, "cmd/shop");
    assert_eq!(workflow["on"]["pull_request"]["paths"], Value::Null);
    assert_eq!(with(&workflow)["toolchains"], "go:.");
    assert_eq!(set_up(&bench, "go:cmd/shop"), ["go-file=go.mod"]);
}

#[test]
fn each_language_is_set_up_at_the_version_that_the_repository_names() {
    for (name, expected) in [
        ("axum", &["rust=."][..]),
        ("gin", &["go-file=go.mod", "go-lock=go.sum"]),
        (
            "fastify",
            &["node-version=lts/*", "node-lock=package-lock.json", "node-cache=npm"],
        ),
        (
            "fastapi",
            &["python-version=3.x", "python-lock=requirements.txt", "python-cache=pip"],
        ),
        (
            "spring-boot",
            &["java-version=17", "java-lock=pom.xml", "java-cache=maven"],
        ),
    ] {
        let bench = stranger(name);
        let workflow = written(&bench, ".");
        let toolchains = with(&workflow)["toolchains"].as_str().unwrap().to_owned();
        assert_eq!(set_up(&bench, &toolchains), expected, "{name}: {toolchains}");
    }
    let pinned = Bench::empty()
        .file("web/package.json", "{\"engines\": {\"node\": \">=22\"}}")
        .file("yarn.lock", "")
        .file("api/.python-version", "3.12\n")
        .file("api/App.csproj", "<TargetFramework>net9.0</TargetFramework>")
        .file("api/build.gradle.kts", "kotlin { jvmToolchain(25) }\n");
    for (toolchains, expected) in [
        (
            "node:web/ node:.",
            &["node-file=web/package.json", "node-lock=yarn.lock", "node-cache=yarn"][..],
        ),
        ("python:api", &["python-file=api/.python-version"]),
        ("dotnet:api", &["dotnet-version=9.0.x"]),
        (
            "java:api",
            &["java-version=25", "java-lock=api/build.gradle.kts", "java-cache=gradle"],
        ),
    ] {
        fs::remove_file(pinned.path("toolchains")).ok();
        assert_eq!(set_up(&pinned, toolchains), expected, "{toolchains}");
    }
}

#[test]
fn a_toolchain_that_cannot_be_set_up_ends_the_job_with_the_reason() {
    let bench = Bench::empty().file("web/package.json", "{}");
    for (toolchains, reason) in [
        ("perl:.", "is not LANGUAGE:FOLDER"),
        ("go", "is not LANGUAGE:FOLDER"),
        ("node:../web", "names no folder of the repository"),
        ("node:-web", "names no folder of the repository"),
        ("go:web", "go:web has no go.mod"),
    ] {
        let mut script = Command::new(repository().join(".github/actions/toolchains/toolchains.sh"));
        script.current_dir(bench.path(".")).env("TOOLCHAINS", toolchains);
        let ended = ended(script.env("GITHUB_OUTPUT", bench.path("toolchains")));
        assert_eq!(ended.code, 2, "{toolchains}");
        assert!(ended.stderr.contains(reason), "{toolchains}: {}", ended.stderr);
    }
}

#[test]
#[ignore = "nightly"]
fn linters_find_nothing_in_the_workflow_of_any_stranger() {
    let folder = repository().join("wirebench/cli/tests/fixtures/strangers");
    let mut benches: Vec<(String, Bench)> = vec![("shop".into(), shop())];
    for entry in fs::read_dir(folder).unwrap().flatten() {
        let name = entry.file_name().into_string().unwrap();
        benches.push((name.clone(), stranger(&name)));
    }
    assert!(benches.len() > 11, "{}", benches.len());
    for (name, bench) in &benches {
        let folder = if name == "shop" { "services/shop" } else { "." };
        let workflow = written(bench, folder);
        assert_ne!(with(&workflow)["toolchains"], "", "{name}: nothing is set up");
    }
    let folders: Vec<PathBuf> = benches.iter().map(|(_, bench)| bench.path(".github")).collect();
    let files = folders
        .iter()
        .flat_map(|folder| ["bench.yml", "bench-comment.yml"].map(|name| folder.join("workflows").join(name)));
    let linted = actionlint(files);
    assert_eq!(linted.code, 0, "{}{}", linted.stdout, linted.stderr);
    let audited = zizmor(&folders);
    assert_eq!(audited.code, 0, "{}{}", audited.stdout, audited.stderr);
}
