//! Python: files that make an application of a server library.

use std::sync::LazyLock;

use regex::Regex;

use crate::adopt::files::Files;
use crate::adopt::hints::{self, Port};
use crate::adopt::program::{Made, Program, last_name, slug, words};

static APPLICATION: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"(?m)^([A-Za-z_]\w*)\s*(?::[^=\n]+)?=\s*(FastAPI|Starlette|Flask)\(").expect("a constant pattern")
});
static SERVER: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"grpc\.(?:aio\.)?server\(|web\.run_app\(|HTTPServer\(\(").expect("a constant pattern")
});

/// Every file that looks like a server.
pub(super) fn programs(files: &Files) -> Vec<Program> {
    files
        .below("", &["py"])
        .filter_map(|(path, text)| program(files, path, text))
        .collect()
}

fn program(files: &Files, path: &str, text: &str) -> Option<Program> {
    let stem = path.rsplit('/').next()?.trim_end_matches(".py");
    let folder = path.rsplit_once('/').map_or("", |(folder, _)| folder);
    let usual = ["main", "app", "server", "__init__", "__main__", "asgi", "wsgi"].contains(&stem);
    let name = if usual {
        last_name(folder).unwrap_or_else(|| slug(stem))
    } else {
        slug(stem)
    };
    let mut hints = hints::of(&[text]);
    let (command, http, grpc) = if let Some(found) = APPLICATION.captures(text) {
        let module = path
            .trim_end_matches(".py")
            .trim_end_matches("/__init__")
            .replace('/', ".");
        if !module.split('.').all(is_identifier) {
            return None;
        }
        // The server is another program than the file, and takes these whatever the file says.
        hints.port = Port::Arguments(words(&["--host", "{host}", "--port", "{port}"]));
        let application = &found[1];
        let command = match &found[2] {
            "Flask" => words(&[
                "python3",
                "-m",
                "flask",
                "--app",
                &format!("{module}:{application}"),
                "run",
            ]),
            _ => words(&[
                "python3",
                "-m",
                "uvicorn",
                "--no-access-log",
                &format!("{module}:{application}"),
            ]),
        };
        (command, true, false)
    } else if let Some(found) = SERVER.find(text) {
        let grpc = found.as_str().starts_with("grpc");
        (words(&["python3", path]), !grpc, grpc)
    } else {
        return None;
    };
    let build = files.has("requirements.txt").then(|| {
        words(&[
            "python3",
            "-m",
            "pip",
            "install",
            "--quiet",
            "--requirement",
            "requirements.txt",
        ])
    });
    Some(Program {
        name,
        about: path.to_owned(),
        counted: true,
        http,
        grpc,
        made: Made::Command { build, command },
        hints,
    })
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
        match &program.made {
            Made::Command { command, .. } => command.join(" "),
            other @ Made::Package(_) => panic!("{other:?}"),
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
                ("old", false, "python3 -m flask --app old:app run".to_owned()),
                (
                    "shop",
                    false,
                    "python3 -m uvicorn --no-access-log shop.main:api".to_owned()
                ),
            ]
        );
        assert_eq!(found[2].hints.path.as_deref(), Some("/items"));
        assert!(matches!(&found[0].made, Made::Command { build: Some(_), .. }));
    }

    #[test]
    fn a_path_that_is_no_module_is_left_out() {
        assert!(programs(&Files::of(&[("my-app/main.py", "app = FastAPI()\n")])).is_empty());
    }
}
