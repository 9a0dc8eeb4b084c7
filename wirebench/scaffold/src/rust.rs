//! Rust: binaries of packages that depend on a server framework.

use std::collections::BTreeSet;

use serde::Deserialize;
use toml::Table;

use crate::files::Files;
use crate::known::KNOWN;
use crate::port_settings;
use crate::program::{Program, argv, slug, spoken};
use wirebench_declare::server::Program as Started;

/// What the job that measures sets up.
const LANGUAGE: &str = "rust";
/// What matters here of a `Cargo.toml`.
#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "kebab-case")]
pub(super) struct Manifest {
    package: Target,
    dependencies: Table,
    pub(super) build_dependencies: Table,
    bin: Vec<Target>,
    example: Vec<Target>,
}

/// The package, or one of its binaries and examples.
#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "kebab-case")]
struct Target {
    name: String,
    path: Option<String>,
    required_features: Vec<String>,
}

/// Every binary that looks like a server.
pub(super) fn programs(files: &Files) -> Vec<Program> {
    let of_package =
        |(folder, text): (&str, &str)| toml::from_str(text).map(|one: Manifest| package(files, folder, &one));
    files.named("Cargo.toml").flat_map(of_package).flatten().collect()
}

/// The servers of the package in one folder.
fn package(files: &Files, folder: &str, manifest: &Manifest) -> Vec<Program> {
    let name = manifest.package.name.as_str();
    let uses = |known: &[String]| known.iter().any(|one| manifest.dependencies.contains_key(one));
    let protocols = spoken(uses(&KNOWN.crates.http), uses(&KNOWN.crates.grpc));
    if KNOWN.crates.http.contains(&manifest.package.name) {
        return examples(files, folder, manifest).collect();
    }
    if protocols.is_empty() || !is_plain(name) {
        return Vec::new();
    }
    // Routes and variables may be in a library of the workspace.
    let library = |(other, text): (&str, &str)| {
        let name = toml::from_str::<Manifest>(text).ok()?.package.name;
        (other != folder && manifest.dependencies.contains_key(&name)).then(|| format!("{other}src/"))
    };
    let used: Vec<String> = files.named("Cargo.toml").filter_map(library).collect();
    let binaries = binaries(files, folder, manifest);
    let alone = binaries.len() == 1;
    let program = |(binary, main): (String, String)| {
        let (below, bins) = (format!("{folder}src/"), format!("{folder}src/bin/"));
        let is_library = |path: &str| path != main && !path.starts_with(&bins) && path != format!("{below}main.rs");
        let libraries = files.below(&below, "rs").filter(|(path, _)| is_library(path));
        let libraries = libraries.chain(used.iter().flat_map(|folder| files.below(folder, "rs")));
        let own = (main.as_str(), files.text(&main).unwrap_or_default());
        let (sources, texts): (Vec<&str>, Vec<&str>) = std::iter::once(own).chain(libraries).unzip();
        let (started, build) = launch(files, folder, name, &binary, alone);
        Program {
            name: slug(&binary),
            about: format!("{folder}Cargo.toml, binary {binary}"),
            protocols: protocols.clone(),
            started,
            build,
            port: port_settings::likeliest(&texts),
            sources: argv(&sources),
            language: LANGUAGE.to_owned(),
            manifest: workspace(files, folder).to_owned(),
            ..Program::default()
        }
    };
    binaries.into_iter().map(program).collect()
}

/// The examples of a server framework that listen.
fn examples<'a>(files: &'a Files, folder: &'a str, manifest: &'a Manifest) -> impl Iterator<Item = Program> + 'a {
    const LISTENS: [&str; 4] = ["serve(", ".run(", "::bind(", "launch"];
    let place = format!("{folder}examples/");
    files.all().filter_map(move |(path, text)| {
        let name = path.strip_prefix(&place)?.strip_suffix(".rs")?;
        if !is_plain(name) || !LISTENS.iter().any(|word| text.contains(word)) {
            return None;
        }
        let declared = manifest.example.iter().find(|one| one.name == name);
        let features = declared.map_or_else(String::new, |one| one.required_features.join(","));
        let manifest = format!("{folder}Cargo.toml");
        let build = [
            &["cargo", "build", "--release"][..],
            &["--manifest-path", &manifest],
            &["--example", name],
        ];
        let with = ["--features", &features];
        let with = if features.is_empty() { &[][..] } else { &with };
        let target = workspace(files, folder);
        Some(Program {
            name: slug(name),
            about: path.to_owned(),
            protocols: spoken(true, false),
            started: Started::Command(vec![format!("{target}target/release/examples/{name}")]),
            build: Some(argv(&[&build.concat(), with].concat())),
            port: port_settings::likeliest(&[text]),
            sources: vec![path.to_owned()],
            language: LANGUAGE.to_owned(),
            manifest: folder.to_owned(),
            ..Program::default()
        })
    })
}

/// The folder of the Cargo workspace that a package belongs to. Cargo puts there what it builds. It is the package's own folder, the examined
/// one (empty), or one above it (`../`).
fn workspace<'a>(files: &'a Files, folder: &'a str) -> &'a str {
    const MANIFEST: &str = "Cargo.toml";
    let is_workspace = |text: &str| text.lines().any(|line| line.trim_start().starts_with("[workspace"));
    let has_workspace = |folder: &str| files.text(&format!("{folder}{MANIFEST}")).is_some_and(is_workspace);
    let above = || files.above(MANIFEST).filter(|(_, text)| is_workspace(text));
    match () {
        () if has_workspace(folder) => folder,
        () if has_workspace("") => "",
        () => above().map_or(folder, |(way, _)| way),
    }
}

/// How a binary of a package is built and started; `alone` if the package has no other binary.
fn launch(files: &Files, folder: &str, package: &str, binary: &str, alone: bool) -> (Started, Option<Vec<String>>) {
    let target = workspace(files, folder);
    let is_known_here = folder.is_empty() || target.is_empty();
    if is_known_here && alone {
        return (Started::Package(package.to_owned()), None);
    }
    // A package of its own may lie below a top that is not Cargo's.
    let manifest = format!("{folder}Cargo.toml");
    let which = if is_known_here {
        ["--package", package]
    } else {
        ["--manifest-path", manifest.as_str()]
    };
    let build = [&["cargo", "build", "--release"][..], &which, &["--bin", binary]];
    let command = vec![format!("{target}target/release/{binary}")];
    (Started::Command(command), Some(argv(&build.concat())))
}

/// Each binary's name and main file.
fn binaries(files: &Files, folder: &str, manifest: &Manifest) -> Vec<(String, String)> {
    let package = &manifest.package.name;
    let declared = manifest.bin.iter().map(|Target { name, path, .. }| {
        let usual = || match name == package {
            true => "src/main.rs".to_owned(),
            false => format!("src/bin/{name}.rs"),
        };
        (name.clone(), format!("{folder}{}", path.clone().unwrap_or_else(usual)))
    });
    let main = format!("{folder}src/main.rs");
    let main = files.has(&main).then(|| (package.clone(), main));
    let bin = format!("{folder}src/bin/");
    let bins = files.below(&bin, "rs").map(|(path, _)| {
        let name = path[bin.len()..].trim_end_matches(".rs").trim_end_matches("/main");
        (name.to_owned(), path.to_owned())
    });
    let mut seen = BTreeSet::new();
    let all = declared.chain(main).chain(bins);
    all.filter(|(name, path)| seen.insert(path.clone()) && is_plain(name))
        .collect()
}

/// True if this is a valid name for Cargo.
fn is_plain(name: &str) -> bool {
    !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || "-_".contains(c))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::port_settings::by_args;
    use wirebench_declare::protocol::Protocol;

    #[test]
    fn a_package_with_a_server_framework_is_built_by_its_name() {
        let files = Files::of(&[
            ("Cargo.toml", "[workspace]\n"),
            (
                "api/Cargo.toml",
                "[package]\nname = \"api\"\n[dependencies]\naxum = \"0.8\"\napi-core = { path = \"../core\" }\n",
            ),
            ("core/Cargo.toml", "[package]\nname = \"api-core\"\n"),
            ("core/src/env.rs", ""),
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
            (found[0].started.clone(), found[0].protocols.as_slice()),
            (Started::Package("api".into()), &[Protocol::Http][..])
        );
        assert_eq!(found[0].port, Some(by_args(argv(&["--listen", "{address}"]))));
        assert_eq!(
            found[0].sources,
            ["api/src/main.rs", "api/src/lib.rs", "core/src/env.rs"]
        );
    }

    #[test]
    fn what_a_workspace_builds_lies_in_its_own_folder() {
        let package = "[package]\nname = \"api\"\n";
        let of = |pairs: &[(&str, &str)], above: &str| {
            let files = Files::of(pairs).with_above("Cargo.toml", above);
            workspace(&files, "api/").to_owned()
        };
        let (api, top) = (("api/Cargo.toml", package), "[workspace]\nmembers = [\"api\"]\n");
        assert_eq!(of(&[api], ""), "api/");
        assert_eq!(of(&[api, ("Cargo.toml", top)], ""), "");
        assert_eq!(of(&[api, ("Cargo.toml", package)], ""), "api/");
        assert_eq!(of(&[api], top), "../");
        let own = format!("{package}[workspace.dependencies]\n");
        assert_eq!(of(&[("api/Cargo.toml", &own), ("Cargo.toml", top)], top), "api/");
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
        assert!(top.iter().all(|program| program.protocols == [Protocol::Grpc]));
        let below = &of("server/")[1];
        let build = below.build.as_ref().unwrap();
        assert!(build.contains(&"server/Cargo.toml".to_owned()), "{build:?}");
        let expected = Started::Command(vec!["server/target/release/two".into()]);
        assert_eq!(below.started, expected);
    }
}
