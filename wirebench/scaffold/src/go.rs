//! Go: `main` packages of modules that serve HTTP or gRPC.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

use regex::Regex;

use crate::files::Files;
use crate::hints;
use crate::program::{Language, LaunchMethod, Program, argv, last_name};

static MAIN: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"(?m)^package main\b").expect("a constant pattern"));
static MODULE: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"(?m)^module\s+(\S+)").expect("a constant pattern"));
static HTTP: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"ListenAndServe\(|http\.Server\{|http\.Serve\(|gin-gonic/gin|labstack/echo|gofiber/fiber|go-chi/chi|valyala/fasthttp")
        .expect("a constant pattern")
});
static GRPC: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"grpc\.NewServer\(").expect("a constant pattern"));

/// Every `main` package that looks like a server.
pub(super) fn programs(files: &Files) -> Vec<Program> {
    let modules: BTreeSet<&str> = files.named("go.mod").map(|(folder, _)| folder).collect();
    // A folder inside a module is built from that folder: Go finds go.mod in a parent folder.
    let outer = files.above("go.mod").filter(|_| !modules.contains(""));
    let outer = outer.map(|(_, text)| ("", text));
    files
        .named("go.mod")
        .chain(outer)
        .flat_map(|(folder, text)| in_module(files, folder, text, &modules))
        .collect()
}

fn in_module(files: &Files, module: &str, text: &str, modules: &BTreeSet<&str>) -> Vec<Program> {
    // A module ends where another one begins.
    let inner = |path: &str| {
        modules
            .iter()
            .any(|other| other.len() > module.len() && path.starts_with(other))
    };
    let sources: Vec<(&str, &str)> = files.below(module, &["go"]).filter(|(path, _)| !inner(path)).collect();
    let mut mains: BTreeMap<&str, Vec<(&str, &str)>> = BTreeMap::new();
    for (path, text) in sources.iter().filter(|(_, text)| MAIN.is_match(text)) {
        let folder = path.rsplit_once('/').map_or("", |(folder, _)| folder);
        mains.entry(folder).or_default().push((path, text));
    }
    // A module whose folder has no go.mod begins above.
    let above = files.above("go.mod").filter(|_| !modules.contains(module));
    let whole = MODULE
        .captures(text)
        .map_or("", |found| found.get(1).map_or("", |name| name.as_str()));
    let program = |(folder, own): (&str, Vec<(&str, &str)>)| {
        let (paths, own): (Vec<&str>, Vec<&str>) = own.into_iter().unzip();
        let libraries = || sources.iter().filter(|(_, text)| !MAIN.is_match(text));
        let others = || libraries().map(|(_, text)| *text);
        let serves = |pattern: &Regex| {
            let directly = |pattern: &Regex| own.iter().any(|text| pattern.is_match(text));
            directly(pattern) || (!directly(&HTTP) && !directly(&GRPC) && others().any(|text| pattern.is_match(text)))
        };
        let (http, grpc) = (serves(&HTTP), serves(&GRPC));
        let name = last_name(folder.strip_prefix(module.trim_end_matches('/')).unwrap_or(folder))
            .or_else(|| last_name(files.name()).filter(|_| files.above("go.mod").is_some()))
            .or_else(|| last_name(whole))
            .unwrap_or_else(|| "server".into());
        (http || grpc).then(|| Program {
            about: if folder.is_empty() {
                "package main".into()
            } else {
                format!("{folder}, package main")
            },
            http,
            grpc,
            launch: launch_method(module, folder, &name),
            hints: hints::of(&own.iter().copied().chain(others()).collect::<Vec<_>>()),
            sources: paths
                .into_iter()
                .chain(libraries().map(|(path, _)| *path))
                .map(str::to_owned)
                .collect(),
            language: Language::Go,
            manifest: above.map_or(module, |(way, _)| way).to_owned(),
            name,
        })
    };
    mains.into_iter().filter_map(program).collect()
}

/// `go build`, from the top, into a folder that git ignores.
fn launch_method(module: &str, folder: &str, name: &str) -> LaunchMethod {
    let package = folder
        .strip_prefix(module.trim_end_matches('/'))
        .unwrap_or(folder)
        .trim_matches('/');
    let package = if package.is_empty() {
        ".".to_owned()
    } else {
        format!("./{package}")
    };
    let program = format!(".wirebench/bin/{name}");
    let build = if module.is_empty() {
        argv(&["go", "build", "-o", &program, &package])
    } else {
        let up = "../".repeat(module.matches('/').count());
        argv(&[
            "go",
            "build",
            "-C",
            module.trim_end_matches('/'),
            "-o",
            &format!("{up}{program}"),
            &package,
        ])
    };
    LaunchMethod::Command {
        build: Some(build),
        command: vec![program],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HTTP_MAIN: &str = "package main\nfunc main() { http.ListenAndServe(os.Getenv(\"PORT\"), nil) }\n";

    fn build(program: &Program) -> String {
        match &program.launch {
            LaunchMethod::Command { build: Some(build), .. } => build.join(" "),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn each_main_package_that_serves_is_a_program() {
        let found = programs(&Files::of(&[
            ("go.mod", "module example.org/shop\n"),
            ("cmd/api/main.go", HTTP_MAIN),
            (
                "cmd/calls/main.go",
                "package main\nfunc main() { s := grpc.NewServer() }\n",
            ),
            (
                "cmd/tool/main.go",
                "package main\nfunc main() { http.ListenAndServeNot() }\n",
            ),
            ("internal/x.go", "package x\n"),
        ]));
        let told: Vec<_> = found
            .iter()
            .map(|one| (one.name.as_str(), one.http, one.grpc, build(one)))
            .collect();
        assert_eq!(
            told,
            [
                (
                    "api",
                    true,
                    false,
                    "go build -o .wirebench/bin/api ./cmd/api".to_owned()
                ),
                (
                    "calls",
                    false,
                    true,
                    "go build -o .wirebench/bin/calls ./cmd/calls".to_owned()
                ),
            ]
        );
    }

    #[test]
    fn a_main_that_only_calls_another_package_serves_what_that_does() {
        let found = programs(&Files::of(&[
            ("go.mod", "module example.org/shop/v2\n"),
            ("main.go", "package main\nfunc main() { server.Run() }\n"),
            ("server/server.go", "package server\nvar s = http.Server{}\n"),
        ]));
        assert_eq!(
            (found.len(), found[0].name.as_str(), build(&found[0]).as_str()),
            (1, "shop", "go build -o .wirebench/bin/shop .")
        );
    }

    #[test]
    fn a_module_below_is_built_there_and_is_not_part_of_the_one_around_it() {
        let found = programs(&Files::of(&[
            ("go.mod", "module example.org/top\n"),
            ("services/api/go.mod", "module example.org/api\n"),
            ("services/api/cmd/x/main.go", HTTP_MAIN),
        ]));
        assert_eq!(found.len(), 1);
        assert_eq!(
            build(&found[0]),
            "go build -C services/api -o ../../.wirebench/bin/x ./cmd/x"
        );
    }
}
