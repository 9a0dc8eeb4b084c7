//! Node: the scripts of `package.json` that start a program with a server library.

use std::collections::BTreeSet;

use serde_json::{Map, Value};

use crate::files::Files;
use crate::hints;
use crate::program::{Language, LaunchMethod, Program, argv, slug};

const HTTP: [&str; 7] = [
    "fastify",
    "express",
    "koa",
    "@hapi/hapi",
    "hono",
    "@nestjs/core",
    "restify",
];
const GRPC: &str = "@grpc/grpc-js";
const USUAL: [&str; 8] = [
    "server.js",
    "index.js",
    "app.js",
    "src/server.js",
    "src/index.js",
    "src/app.js",
    "server.mjs",
    "index.mjs",
];

/// Every started file that looks like a server.
pub(super) fn programs(files: &Files) -> Vec<Program> {
    let own = files.named("package.json");
    // A folder inside a package is started from that folder; its packages are installed in a parent folder.
    let outer = files.above("package.json").filter(|_| !files.has("package.json"));
    own.map(|(folder, text)| (folder, text, folder))
        .chain(outer.map(|(way, text)| ("", text, way)))
        .flat_map(|(folder, text, installed)| of_package(files, folder, text, installed))
        .collect()
}

/// The programs of a package whose files lie in `folder` and whose packages are installed in `installed`.
fn of_package(files: &Files, folder: &str, text: &str, installed: &str) -> Vec<Program> {
    let Ok(package) = serde_json::from_str::<Value>(text) else {
        return Vec::new();
    };
    let depends = |name: &str| package["dependencies"].get(name).is_some();
    let (http, grpc) = (HTTP.into_iter().any(depends), depends(GRPC));
    let is_plain = package["engines"].get("node").is_some() || package["scripts"].get("start").is_some();
    if !(http || grpc || is_plain) {
        return Vec::new();
    }
    let empty = Map::new();
    let scripts = package["scripts"].as_object().unwrap_or(&empty);
    let called = package["name"]
        .as_str()
        .map(|name| slug(name.rsplit('/').next().unwrap_or(name)))
        .unwrap_or_default();
    let mut seen = BTreeSet::new();
    let mut found = Vec::new();
    for (script, command) in scripts.iter().filter(|(script, _)| is_start(script)) {
        let Some((command, main)) = node_command(files, folder, command.as_str().unwrap_or_default()) else {
            continue;
        };
        let about = format!("{folder}package.json, script {script}");
        if seen.insert(main.clone()) {
            found.extend(program(files, (folder, installed), &called, about, command, &main));
        }
    }
    if found.is_empty() && (http || grpc) && scripts.contains_key("build") {
        found.extend(
            compiled(files, (folder, installed), &called, scripts).map(|program| Program {
                http,
                grpc: grpc && !http,
                ..program
            }),
        );
    }
    if found.is_empty() && (http || grpc) {
        let said = package["main"].as_str().map(|main| main.trim_start_matches("./"));
        let main = said
            .into_iter()
            .chain(USUAL)
            .map(|file| format!("{folder}{file}"))
            .find(|path| files.has(path));
        if let Some(main) = main {
            let about = format!("{folder}package.json");
            let command = argv(&["node", &main]);
            found.extend(program(files, (folder, installed), &called, about, command, &main));
        } else if scripts.contains_key("start") {
            found.push(Program {
                http,
                grpc: grpc && !http,
                ..by_start_script(files, folder, installed, called)
            });
        }
    }
    found
}

/// A program whose script starts a file that the script `build` makes, such as `node dist/main`.
fn compiled(
    files: &Files,
    (folder, installed): (&str, &str),
    called: &str,
    scripts: &Map<String, Value>,
) -> Option<Program> {
    let mut starts = scripts.iter().filter(|(script, _)| is_start(script));
    let (script, mut command, place) = starts.find_map(|(script, command)| {
        let command = shell_words::split(command.as_str()?).ok()?;
        let is_node = command.first().is_some_and(|first| first == "node");
        let place = command.iter().position(|word| is_output(word)).filter(|_| is_node)?;
        Some((script, command, place))
    })?;
    command[place] = format!("{folder}{}", command[place].trim_start_matches("./"));
    let install = shell_words::join(install(files, installed)?);
    let run = shell_words::join(argv(&["npm", "--prefix", prefix(folder), "run", "build"]));
    Some(Program {
        about: format!("{folder}package.json, script {script}"),
        launch: LaunchMethod::Command {
            build: Some(argv(&["sh", "-c", &format!("{install} && {run}")])),
            command,
        },
        ..by_start_script(files, folder, installed, called.to_owned())
    })
}

/// Whether a word of a script is a path below a folder that compilers write to.
fn is_output(word: &str) -> bool {
    let path = word.trim_start_matches("./");
    ["dist/", "build/", "lib/", "out/"]
        .iter()
        .any(|folder| path.starts_with(folder))
}

/// The folder of a package as `npm --prefix` takes it.
fn prefix(folder: &str) -> &str {
    if folder.is_empty() {
        "."
    } else {
        folder.trim_end_matches('/')
    }
}

/// A program that its script `start` starts by another command than node, such as a framework's own.
fn by_start_script(files: &Files, folder: &str, installed: &str, name: String) -> Program {
    let sources: Vec<&str> = files
        .below(folder, &["js", "mjs", "cjs", "ts"])
        .map(|(_, text)| text)
        .collect();
    Program {
        name,
        about: format!("{folder}package.json, script start"),
        http: false,
        grpc: false,
        launch: LaunchMethod::Command {
            build: install(files, installed),
            command: argv(&["npm", "--prefix", prefix(folder), "run", "--silent", "start"]),
        },
        hints: hints::of(&sources),
        sources: below(files, folder, ""),
        language: Language::Node,
        manifest: installed.to_owned(),
    }
}

fn is_start(script: &str) -> bool {
    ["start", "serve", "server"].iter().any(|word| {
        script == *word
            || script
                .strip_prefix(word)
                .is_some_and(|rest| rest.starts_with([':', '-']))
    })
}

/// A script `node … FILE …` as a command from the top, and the file's path.
fn node_command(files: &Files, folder: &str, script: &str) -> Option<(Vec<String>, String)> {
    let mut command = shell_words::split(script)
        .ok()
        .filter(|command| command.first().is_some_and(|first| first == "node"))?;
    let in_folder = |word: &str| format!("{folder}{}", word.trim_start_matches("./"));
    let place = command.iter().skip(1).position(|word| files.has(&in_folder(word)))? + 1;
    command[place] = in_folder(&command[place]);
    let main = command[place].clone();
    Some((command, main))
}

/// The sources of a package, that file first.
fn below(files: &Files, folder: &str, main: &str) -> Vec<String> {
    let all = files.below(folder, &["js", "mjs", "cjs", "ts"]).map(|(path, _)| path);
    let first = Some(main).filter(|main| !main.is_empty());
    let others = all.filter(|path| *path != main);
    first.into_iter().chain(others).map(str::to_owned).collect()
}

fn program(
    files: &Files,
    (folder, installed): (&str, &str),
    called: &str,
    about: String,
    command: Vec<String>,
    main: &str,
) -> Option<Program> {
    let text = files.text(main)?;
    let imports = |name: &str| {
        ["\"", "'"]
            .iter()
            .any(|quote| text.contains(&format!("{quote}{name}{quote}")))
    };
    let grpc = imports(GRPC);
    let http = HTTP.into_iter().any(imports) || imports("node:http") || imports("http");
    let stem = main
        .rsplit('/')
        .next()
        .and_then(|file| file.split('.').next())
        .map(slug)
        .unwrap_or_default();
    let usual = ["server", "index", "app", "main", ""].contains(&stem.as_str());
    (grpc || http).then(|| Program {
        name: if usual && !called.is_empty() {
            called.to_owned()
        } else {
            stem
        },
        about,
        http,
        grpc,
        launch: LaunchMethod::Command {
            build: install(files, installed),
            command,
        },
        hints: hints::of(&[text]),
        sources: below(files, folder, main),
        language: Language::Node,
        manifest: installed.to_owned(),
    })
}

/// The command that installs the packages, from the lock file if there is one.
fn install(files: &Files, folder: &str) -> Option<Vec<String>> {
    let has =
        |lock: &str| files.has(&format!("{folder}{lock}")) || files.above(lock).is_some_and(|(way, _)| way == folder);
    let below = folder.trim_end_matches('/');
    let (mut command, place) = if has("pnpm-lock.yaml") {
        (argv(&["pnpm", "install", "--frozen-lockfile"]), "--dir")
    } else if has("yarn.lock") {
        (argv(&["yarn", "install", "--frozen-lockfile"]), "--cwd")
    } else if has("package-lock.json") {
        (argv(&["npm", "ci", "--no-audit", "--no-fund"]), "--prefix")
    } else {
        (argv(&["npm", "install", "--no-audit", "--no-fund"]), "--prefix")
    };
    if !below.is_empty() {
        command.extend(argv(&[place, below]));
    }
    Some(command)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hints::Port;

    fn parts(program: &Program) -> (String, String) {
        match &program.launch {
            LaunchMethod::Command { build, command } => {
                (build.clone().unwrap_or_default().join(" "), command.join(" "))
            }
            other @ LaunchMethod::Package(_) => panic!("{other:?}"),
        }
    }

    #[test]
    fn every_start_script_of_a_server_is_a_program() {
        let found = programs(&Files::of(&[
            (
                "package.json",
                r#"{"name":"@x/shop","scripts":{"start":"node --enable-source-maps src/http.js","start:grpc":"node ./src/calls.js","test":"node src/t.js"},
                "dependencies":{"fastify":"5","@grpc/grpc-js":"1"}}"#,
            ),
            ("package-lock.json", ""),
            (
                "src/http.js",
                "import fastify from 'fastify'; app.listen({ port: process.env.PORT })",
            ),
            ("src/calls.js", "const grpc = require(\"@grpc/grpc-js\")"),
            ("src/t.js", "import fastify from 'fastify'"),
        ]));
        let told: Vec<_> = found
            .iter()
            .map(|one| (one.name.as_str(), one.http, one.grpc))
            .collect();
        assert_eq!(told, [("http", true, false), ("calls", false, true)]);
        let (build, command) = parts(&found[0]);
        assert_eq!(
            (build.as_str(), command.as_str()),
            ("npm ci --no-audit --no-fund", "node --enable-source-maps src/http.js")
        );
        assert_eq!(parts(&found[1]).1, "node src/calls.js");
        assert_eq!(found[0].hints.port, Port::Environment);
    }

    #[test]
    fn without_a_script_the_usual_file_is_taken_and_a_folder_is_kept() {
        let found = programs(&Files::of(&[
            ("web/package.json", r#"{"name":"shop","dependencies":{"express":"5"}}"#),
            ("web/yarn.lock", ""),
            ("web/index.js", "require('express')"),
        ]));
        assert_eq!(found[0].name, "shop");
        let (build, command) = parts(&found[0]);
        assert_eq!(
            (build.as_str(), command.as_str()),
            ("yarn install --frozen-lockfile --cwd web", "node web/index.js")
        );
    }

    #[test]
    fn another_starter_than_node_is_called_as_a_script() {
        let found = programs(&Files::of(&[(
            "package.json",
            r#"{"name":"shop","scripts":{"start":"nest start"},"dependencies":{"@nestjs/core":"11"}}"#,
        )]));
        assert_eq!(parts(&found[0]).1, "npm --prefix . run --silent start");
    }

    #[test]
    fn a_program_that_a_script_compiles_is_built_and_started_by_itself() {
        let scripts = r#"{"build":"nest build","start":"nest start","start:debug":"nest start --debug","start:prod":"node dist/main"}"#;
        let package = format!(r#"{{"name":"shop","scripts":{scripts},"dependencies":{{"@nestjs/core":"11"}}}}"#);
        let found = programs(&Files::of(&[
            ("api/package.json", &package),
            ("api/package-lock.json", ""),
            ("api/src/main.ts", "await app.listen(3000);"),
        ]));
        assert_eq!(
            parts(&found[0]),
            (
                "sh -c npm ci --no-audit --no-fund --prefix api && npm --prefix api run build".to_owned(),
                "node api/dist/main".to_owned()
            )
        );
        assert_eq!((found[0].http, &found[0].hints.port), (true, &Port::Fixed(3000)));
    }

    #[test]
    fn a_package_without_a_server_is_none() {
        let found = programs(&Files::of(&[
            (
                "package.json",
                r#"{"name":"site","scripts":{"start":"node tool.js"},"dependencies":{"react":"19"}}"#,
            ),
            ("tool.js", "console.log(1)"),
        ]));
        assert!(found.is_empty(), "{found:?}");
    }
}
