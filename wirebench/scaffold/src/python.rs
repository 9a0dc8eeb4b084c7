//! Python: files that create an application of a server library.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use regex::Regex;

use crate::files::Files;
use crate::hints::{self, Port};
use crate::program::{Language, LaunchMethod, Program, argv, last_name, slug};
use crate::routes;

static APPLICATION: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"(?m)^([A-Za-z_]\w*)\s*(?::[^=\n]+)?=\s*(FastAPI|Starlette|Flask)\(").expect("a constant pattern")
});
static SERVER: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"grpc\.(?:aio\.)?server\(|web\.run_app\(|HTTPServer\(\(").expect("a constant pattern")
});
static REGISTERS: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"register_blueprint|include_router|add_url_rule|add_api_route|add_resource|\.mount\(|routes\s*=|\.run\(|init_app")
        .expect("a constant pattern")
});

/// Every file that looks like a server.
pub(super) fn programs(files: &Files) -> Vec<Program> {
    let mut found: Vec<Program> = files
        .below("", &["py"])
        .filter_map(|(path, text)| program(files, path, text))
        .collect();
    let serving = found
        .iter()
        .filter(|one| is_application(files, &one.about) && has_routes(files, &one.about));
    let serving: BTreeSet<String> = serving.map(|one| folder_of(&one.about).to_owned()).collect();
    found.retain(|one| {
        let path = one.about.as_str();
        !is_application(files, path) || has_routes(files, path) || !serving.contains(folder_of(path))
    });
    found
}

fn folder_of(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(folder, _)| folder)
}

fn is_application(files: &Files, path: &str) -> bool {
    files.text(path).is_some_and(|text| APPLICATION.is_match(text))
}

/// Whether a file gives routes to its application. An application without any is a helper, such as Flask's for the use of its
/// templates, if another file of the folder has one with routes.
fn has_routes(files: &Files, path: &str) -> bool {
    let text = files.text(path).unwrap_or_default();
    REGISTERS.is_match(text) || !routes::of(files, &[path.to_owned()]).is_empty()
}

fn program(files: &Files, path: &str, text: &str) -> Option<Program> {
    let stem = path.rsplit('/').next()?.trim_end_matches(".py");
    let folder = folder_of(path);
    let usual = ["main", "app", "server", "__init__", "__main__", "asgi", "wsgi"].contains(&stem);
    let name = if usual {
        last_name(folder).unwrap_or_else(|| slug(stem))
    } else {
        slug(stem)
    };
    let mut hints = hints::of(&[text]);
    let packages = Packages::of(files, folder);
    let (command, http, grpc) = if let Some(found) = APPLICATION.captures(text) {
        // The server is a separate program with these arguments, independent of the file.
        hints.port = Port::Arguments(argv(&["--host", "{host}", "--port", "{port}"]));
        let command = serving(path, &packages.project, &found[1], &found[2])?;
        (command, true, false)
    } else if let Some(found) = SERVER.find(text) {
        let grpc = found.as_str().starts_with("grpc");
        (argv(&["python3", path]), !grpc, grpc)
    } else {
        return None;
    };
    let others = files.below(folder, &["py"]).map(|(other, _)| other);
    let others = others.filter(|other| *other != path);
    Some(Program {
        name,
        about: path.to_owned(),
        http,
        grpc,
        launch: LaunchMethod::Command {
            build: packages.install,
            command,
        },
        hints,
        sources: std::iter::once(path).chain(others).map(str::to_owned).collect(),
        language: Language::Python,
        manifest: packages.folder,
    })
}

/// The command that serves the application named `application` of a file; `project` is the folder that imports start from.
fn serving(path: &str, project: &str, application: &str, library: &str) -> Option<Vec<String>> {
    if library == "Flask" {
        return Some(argv(&[
            "python3",
            "-m",
            "flask",
            "--app",
            &format!("{path}:{application}"),
            "run",
        ]));
    }
    let module = path
        .strip_prefix(project)?
        .trim_end_matches(".py")
        .trim_end_matches("/__init__")
        .replace('/', ".");
    if !module.split('.').all(is_identifier) {
        return None;
    }
    let mut command = argv(&["python3", "-m", "uvicorn", "--no-access-log"]);
    if !project.is_empty() {
        command.extend(argv(&["--app-dir", project.trim_end_matches('/')]));
    }
    command.push(format!("{module}:{application}"));
    Some(command)
}

/// Where a program's packages are declared.
struct Packages {
    /// The folder that imports start from: the nearest one that declares packages, `""` or ending in `/`.
    project: String,
    /// The folder that declares them, also above the examined one.
    folder: String,
    /// The command that installs them.
    install: Option<Vec<String>>,
}

impl Packages {
    /// Searches a file's folder, then its parent folders, also above the examined folder.
    fn of(files: &Files, folder: &str) -> Self {
        let mut place = Some(folder);
        while let Some(folder) = place {
            let prefix = if folder.is_empty() {
                String::new()
            } else {
                format!("{folder}/")
            };
            let text = |name: &str| files.text(&format!("{prefix}{name}"));
            if let Some(install) = install(&prefix, text) {
                return Self {
                    folder: prefix.clone(),
                    project: prefix,
                    install: Some(install),
                };
            }
            place = match folder.rsplit_once('/') {
                Some((above, _)) => Some(above),
                None => (!folder.is_empty()).then_some(""),
            };
        }
        let way = ["requirements.txt", "pyproject.toml"]
            .into_iter()
            .find_map(|name| Some(files.above(name)?.0));
        let text = |name: &str| {
            files
                .above(name)
                .filter(|(other, _)| Some(*other) == way)
                .map(|(_, text)| text)
        };
        Self {
            project: String::new(),
            folder: way.unwrap_or_default().to_owned(),
            install: install(way.unwrap_or_default(), text),
        }
    }
}

/// The command that installs the packages of a folder's requirements.txt or pyproject.toml.
fn install<'a>(folder: &str, text: impl Fn(&str) -> Option<&'a str>) -> Option<Vec<String>> {
    let pip = ["python3", "-m", "pip", "install", "--quiet"];
    if text("requirements.txt").is_some() {
        let file = format!("{folder}requirements.txt");
        return Some(argv(&[&pip[..], &["--requirement", &file]].concat()));
    }
    let project: toml::Table = text("pyproject.toml")?.parse().ok()?;
    if project.contains_key("build-system") && project.contains_key("project") {
        // A package that can be installed, which may read its own version and files as such.
        let place = if folder.is_empty() { "." } else { folder };
        return Some(argv(&[&pip[..], &[place]].concat()));
    }
    let named = project.get("project")?.get("dependencies")?.as_array()?;
    let named: Vec<&str> = named.iter().filter_map(toml::Value::as_str).collect();
    (!named.is_empty()).then(|| argv(&[&pip[..], &named].concat()))
}

fn is_identifier(part: &str) -> bool {
    !part.is_empty()
        && part.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
        && !part.starts_with(|c: char| c.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn command(program: &Program) -> String {
        match &program.launch {
            LaunchMethod::Command { command, .. } => command.join(" "),
            other @ LaunchMethod::Package(_) => panic!("{other:?}"),
        }
    }

    #[test]
    fn an_application_is_served_by_its_usual_server() {
        let found = programs(&Files::of(&[
            ("shop/main.py", "api = FastAPI(title=\"x\")\n@api.get(\"/items\")\n"),
            ("old.py", "app = Flask(__name__)\n"),
            ("calls.py", "server = grpc.aio.server()\n"),
            ("tool.py", "print('FastAPI')\n"),
            ("requirements.txt", ""),
        ]));
        let told: Vec<_> = found
            .iter()
            .map(|one| (one.name.as_str(), one.grpc, command(one)))
            .collect();
        assert_eq!(
            told,
            [
                ("calls", true, "python3 calls.py".to_owned()),
                ("old", false, "python3 -m flask --app old.py:app run".to_owned()),
                (
                    "shop",
                    false,
                    "python3 -m uvicorn --no-access-log shop.main:api".to_owned()
                ),
            ]
        );
        assert_eq!(found[2].hints.path.as_deref(), Some("/items"));
        assert!(matches!(&found[0].launch, LaunchMethod::Command { build: Some(_), .. }));
    }

    #[test]
    fn packages_are_installed_from_where_they_are_declared_and_imports_start_there() {
        let told = |files: &[(&str, &str)]| {
            let found = programs(&Files::of(files));
            let LaunchMethod::Command { build: Some(build), .. } = &found[0].launch else {
                panic!("{found:?}")
            };
            (build[5..].join(" "), command(&found[0]))
        };
        let app = ("backend/app/main.py", "app = FastAPI()\n");
        let (build, command) = told(&[app, ("backend/requirements.txt", ""), ("requirements.txt", "")]);
        assert_eq!(build, "--requirement backend/requirements.txt");
        assert_eq!(
            command,
            "python3 -m uvicorn --no-access-log --app-dir backend app.main:app"
        );
        let project = "[project]\nname = \"x\"\ndependencies = [\"fastapi>=0.1\", \"uvicorn\"]\n";
        assert_eq!(told(&[app, ("pyproject.toml", project)]).0, "fastapi>=0.1 uvicorn");
        let package = format!("[build-system]\nrequires = [\"setuptools\"]\n{project}");
        assert_eq!(told(&[app, ("pyproject.toml", &package)]).0, ".");
        assert_eq!(told(&[app, ("backend/pyproject.toml", &package)]).0, "backend/");
    }

    #[test]
    fn an_application_without_routes_beside_one_with_routes_is_no_server() {
        let found = programs(&Files::of(&[
            (
                "shop/core.py",
                "app = Flask(__name__)\n@app.route('/items')\ndef items(): ...\n",
            ),
            ("shop/filters.py", "app = Flask(__name__)\n"),
            ("admin/site.py", "app = Flask(__name__)\n"),
        ]));
        let names: Vec<&str> = found.iter().map(|one| one.name.as_str()).collect();
        assert_eq!(names, ["site", "core"]);
    }

    #[test]
    fn a_path_that_is_no_module_is_left_out() {
        assert!(programs(&Files::of(&[("my-app/main.py", "app = FastAPI()\n")])).is_empty());
    }
}
