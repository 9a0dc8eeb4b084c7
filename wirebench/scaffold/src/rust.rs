//! Rust: binaries of packages that depend on a server framework.

use std::collections::{BTreeMap, BTreeSet};

use toml::{Table, Value};

use crate::files::Files;
use crate::hints;
use crate::program::{Language, LaunchMethod, Program, argv, slug};

const HTTP: [&str; 10] = [
    "axum",
    "actix-web",
    "warp",
    "rocket",
    "hyper",
    "poem",
    "salvo",
    "tide",
    "ntex",
    "pavex",
];
const GRPC: [&str; 2] = ["tonic", "grpcio"];

/// Every binary that looks like a server.
pub(super) fn programs(files: &Files) -> Vec<Program> {
    let of_package = |(folder, text): (&str, &str)| package(files, folder, text).unwrap_or_default();
    files.named("Cargo.toml").flat_map(of_package).collect()
}

/// The servers of the package in one folder; `None` if it is no package or has no server.
fn package(files: &Files, folder: &str, text: &str) -> Option<Vec<Program>> {
    let manifest: Table = text.parse().ok()?;
    let name = manifest.get("package")?.get("name")?.as_str()?;
    let dependencies: BTreeSet<&str> = manifest
        .get("dependencies")?
        .as_table()?
        .keys()
        .map(String::as_str)
        .collect();
    let uses = |known: &[&str]| known.iter().any(|one| dependencies.contains(one));
    let (http, grpc) = (uses(&HTTP), uses(&GRPC));
    if HTTP.contains(&name) {
        return Some(examples(files, folder, &manifest).collect());
    }
    if !(http || grpc) || !is_plain(name) {
        return None;
    }
    let binaries = binaries(files, folder, &manifest, name);
    let alone = binaries.len() == 1;
    let program = |(binary, main): (String, String)| {
        let sources = format!("{folder}src/");
        let bins = format!("{sources}bin/");
        let own = files.text(&main).into_iter();
        let libraries = || {
            files
                .below(&sources, &["rs"])
                .filter(|(path, _)| *path != main && !path.starts_with(&bins) && **path != *format!("{sources}main.rs"))
        };
        let others = libraries().map(|(_, text)| text);
        Program {
            name: slug(&binary),
            about: format!("{folder}Cargo.toml, binary {binary}"),
            http,
            grpc,
            launch: launch_method(files, folder, name, &binary, alone),
            folder: None,
            before: Vec::new(),
            env: BTreeMap::new(),
            alone: false,
            hints: hints::of(&own.chain(others).collect::<Vec<_>>()),
            sources: std::iter::once(main.clone())
                .chain(libraries().map(|(path, _)| path.to_owned()))
                .collect(),
            language: Language::Rust,
            manifest: if files.has("Cargo.toml") {
                String::new()
            } else {
                folder.to_owned()
            },
        }
    };
    Some(binaries.into_iter().map(program).collect())
}

/// The examples of a server framework that listen.
fn examples<'a>(files: &'a Files, folder: &'a str, manifest: &'a Table) -> impl Iterator<Item = Program> + 'a {
    let listens = |text: &str| {
        ["serve(", ".run(", "::bind(", "launch"]
            .iter()
            .any(|word| text.contains(word))
    };
    let place = format!("{folder}examples/");
    let found = files.all().filter_map(move |(path, text)| {
        let name = path.strip_prefix(&place)?.strip_suffix(".rs")?;
        (is_plain(name) && listens(text)).then_some((path, name, text))
    });
    found.map(move |(path, name, text)| {
        let declared = manifest.get("example").and_then(Value::as_array).into_iter().flatten();
        let declared = declared.filter(|one| one.get("name").and_then(Value::as_str) == Some(name));
        let features = declared
            .filter_map(|one| one.get("required-features")?.as_array())
            .flatten();
        let features: Vec<&str> = features.filter_map(Value::as_str).collect();
        let manifest_path = format!("{folder}Cargo.toml");
        let mut build = argv(&[
            "cargo",
            "build",
            "--release",
            "--manifest-path",
            &manifest_path,
            "--example",
            name,
        ]);
        if !features.is_empty() {
            build.extend(argv(&["--features", &features.join(",")]));
        }
        let target = if files.has("Cargo.toml") { "" } else { folder };
        Program {
            name: slug(name),
            about: path.to_owned(),
            http: true,
            grpc: false,
            launch: LaunchMethod::Command {
                build: Some(build),
                command: vec![format!("{target}target/release/examples/{name}")],
            },
            folder: None,
            before: Vec::new(),
            env: BTreeMap::new(),
            alone: false,
            hints: hints::of(&[text]),
            sources: vec![path.to_owned()],
            language: Language::Rust,
            manifest: folder.to_owned(),
        }
    })
}

/// How a binary of a package is built and started; `alone` if the package has no other binary.
fn launch_method(files: &Files, folder: &str, package: &str, binary: &str, alone: bool) -> LaunchMethod {
    let in_workspace = folder.is_empty() || files.has("Cargo.toml");
    if in_workspace && alone {
        return LaunchMethod::Package(package.to_owned());
    }
    // A package of its own may lie below a top that is not Cargo's.
    let manifest = format!("{folder}Cargo.toml");
    let (which, target) = if in_workspace {
        (["--package", package], "")
    } else {
        (["--manifest-path", manifest.as_str()], folder)
    };
    let build = [
        &["cargo", "build", "--release", "--locked"][..],
        &which,
        &["--bin", binary],
    ];
    LaunchMethod::Command {
        build: Some(argv(&build.concat())),
        command: vec![format!("{target}target/release/{binary}")],
    }
}

/// Each binary's name and main file.
fn binaries(files: &Files, folder: &str, manifest: &Table, package: &str) -> Vec<(String, String)> {
    let mut found: Vec<(String, String)> = Vec::new();
    let declared = manifest.get("bin").and_then(Value::as_array).into_iter().flatten();
    for binary in declared {
        let Some(name) = binary.get("name").and_then(Value::as_str) else {
            continue;
        };
        let usual = if name == package {
            "src/main.rs".to_owned()
        } else {
            format!("src/bin/{name}.rs")
        };
        let main = binary.get("path").and_then(Value::as_str).map_or(usual, str::to_owned);
        found.push((name.to_owned(), format!("{folder}{main}")));
    }
    let main = format!("{folder}src/main.rs");
    if files.has(&main) && found.iter().all(|(_, known)| *known != main) {
        found.push((package.to_owned(), main));
    }
    let bin = format!("{folder}src/bin/");
    for (path, _) in files.below(&bin, &["rs"]) {
        let name = path[bin.len()..].trim_end_matches(".rs").trim_end_matches("/main");
        if !name.contains('/') && found.iter().all(|(_, known)| known != path) {
            found.push((name.to_owned(), path.to_owned()));
        }
    }
    found.retain(|(name, _)| is_plain(name));
    found
}

/// True if this is a valid name for Cargo.
fn is_plain(name: &str) -> bool {
    !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || "-_".contains(c))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::port_settings::by_args;

    #[test]
    fn a_package_with_a_server_framework_is_built_by_its_name() {
        let files = Files::of(&[
            ("Cargo.toml", "[workspace]\n"),
            (
                "api/Cargo.toml",
                "[package]\nname = \"api\"\n[dependencies]\naxum = \"0.8\"\n",
            ),
            ("api/src/main.rs", "#[arg(long)]\nlisten: SocketAddr,\n"),
            ("api/src/lib.rs", ".route(\"/users\", get(f))"),
            (
                "tool/Cargo.toml",
                "[package]\nname = \"tool\"\n[dependencies]\nclap = \"4\"\n",
            ),
            ("tool/src/main.rs", ""),
        ]);
        let found = programs(&files);
        assert_eq!(found.len(), 1);
        assert_eq!(
            (found[0].launch.clone(), found[0].http, found[0].grpc),
            (LaunchMethod::Package("api".into()), true, false)
        );
        assert_eq!(found[0].hints.port, Some(by_args(argv(&["--listen", "{address}"]))));
        assert_eq!(found[0].hints.path.as_deref(), Some("/users"));
    }

    #[test]
    fn several_binaries_are_built_one_by_one_and_a_package_below_by_its_manifest() {
        let toml = "[package]\nname = \"api\"\n[dependencies]\ntonic = \"0.14\"\n[[bin]]\nname = \"one\"\npath = \"src/main.rs\"\n";
        let of = |folder: &str| {
            let [toml_at, main, bin] =
                ["Cargo.toml", "src/main.rs", "src/bin/two.rs"].map(|path| format!("{folder}{path}"));
            programs(&Files::of(&[(&toml_at, toml), (&main, ""), (&bin, "")]))
        };
        let top = of("");
        let names: Vec<&str> = top.iter().map(|program| program.name.as_str()).collect();
        assert_eq!(names, ["one", "two"]);
        assert!(top.iter().all(|program| program.grpc && !program.http));
        let LaunchMethod::Command {
            build: Some(build),
            command,
        } = &of("server/")[1].launch
        else {
            panic!("{top:?}")
        };
        assert!(build.contains(&"server/Cargo.toml".to_owned()), "{build:?}");
        assert_eq!(command, &["server/target/release/two"]);
    }
}
