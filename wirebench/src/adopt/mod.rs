//! Looks at a repository that does not use wirebench yet, and writes the declarations it needs: what was found, and where it
//! was guessed, a line that says "change this".

mod files;
mod go;
mod hints;
mod node;
mod program;
mod proto;
mod python;
mod rust;
pub mod workflows;
mod write;

use std::path::Path;

pub use files::Files;
pub use write::CHANGE_THIS;

use program::Program;

/// What a look at a repository found, as the text of its `wirebench.toml`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found {
    /// The names of the servers found; none found leaves one that is made up.
    pub servers: Vec<String>,
    /// The file.
    pub toml: String,
}

/// Looks at the files of a folder, and writes what is found as a `wirebench.toml` that can be read.
///
/// # Errors
/// When the folder itself cannot be read.
pub fn look(folder: &Path) -> std::io::Result<Found> {
    Ok(found(&Files::read(folder)?))
}

/// The same of files that were read already.
#[must_use]
pub fn found(files: &Files) -> Found {
    let mut programs: Vec<Program> = Vec::new();
    for of_language in [rust::programs, go::programs, node::programs, python::programs] {
        programs.extend(of_language(files));
    }
    programs.truncate(MOST_PROGRAMS);
    program::name_apart(&mut programs);
    let calls = proto::calls(files);
    Found {
        servers: programs.iter().map(|program| program.name.clone()).collect(),
        toml: write::toml(&programs, &calls, hints::exposed(files)),
    }
}

/// More servers than a person would look through are left out.
const MOST_PROGRAMS: usize = 12;

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::declare::Project;

    fn parses(files: &Files) -> Project {
        let found = found(files);
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("wirebench.toml"), &found.toml).unwrap();
        Project::read(folder.path()).unwrap_or_else(|error| panic!("{error}\n{}", found.toml))
    }

    #[test]
    fn nothing_found_leaves_one_made_up_server_to_be_changed() {
        let files = Files::of(&[]);
        let project = parses(&files);
        assert_eq!(project.servers.len(), 1);
        let found = found(&files);
        assert!(found.servers.is_empty() && found.toml.contains(CHANGE_THIS));
    }

    #[test]
    fn two_programs_of_one_name_are_told_apart() {
        let main = "package main\nimport \"net/http\"\nfunc main() { http.ListenAndServe(\":8080\", nil) }\n";
        let files = Files::of(&[
            ("go.mod", "module example.org/x\n"),
            ("a/api/main.go", main),
            ("b/api/main.go", main),
        ]);
        assert_eq!(found(&files).servers, ["api", "api-2"]);
        assert_eq!(parses(&files).servers.len(), 2);
    }

    /// Parts of real files, so that chance hits the rules and not only their edges.
    fn text() -> impl Strategy<Value = String> {
        let parts = prop::sample::select(vec![
            "package main\n",
            "import \"net/http\"\n",
            "http.HandleFunc(\"/a\\\"b\", f)\n",
            "google.golang.org/grpc",
            "module a/b\n",
            "[package]\nname = \"x y\"\n",
            "[dependencies]\naxum = \"1\"\ntonic = \"1\"\n",
            "[[bin]]\nname = \"b\"\n",
            "{\"scripts\":{\"start\":\"node 'a b.js'\"},\"dependencies\":{\"express\":\"1\"}}",
            "require('express')",
            "app = FastAPI()\n",
            "fastapi\n",
            "EXPOSE 70000\n",
            "EXPOSE 8080\n",
            "process.env.PORT",
            "--port",
            "--listen",
            "\"/health\"",
            ".get('/x\u{7f}')",
            "syntax = \"proto3\";\n",
            "package a.b;\n",
            "service S {\n",
            "rpc M (A) returns (B);\n",
            "}\n",
            "\"",
            "'''",
            "\\",
            "\n",
            "{",
            "}",
            "é",
            "\u{1}",
        ]);
        prop::collection::vec(prop_oneof![4 => parts.prop_map(str::to_owned), 1 => ".{0,8}"], 0..12)
            .prop_map(|parts| parts.concat())
    }

    fn path() -> impl Strategy<Value = String> {
        let folder = prop_oneof![
            Just(String::new()),
            Just("a/".to_owned()),
            Just("ä \"b/".to_owned()),
            "[a-z.{}\"' -]{1,5}/"
        ];
        let file = prop::sample::select(vec![
            "go.mod",
            "main.go",
            "Cargo.toml",
            "src/main.rs",
            "src/bin/b.rs",
            "package.json",
            "package-lock.json",
            "a b.js",
            "server.js",
            "requirements.txt",
            "pyproject.toml",
            "main.py",
            "Dockerfile",
            "a.proto",
        ]);
        (folder, file).prop_map(|(folder, file)| format!("{folder}{file}"))
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(300))]
        #[test]
        fn whatever_the_folder_holds_what_is_written_can_be_read(files in prop::collection::vec((path(), text()), 0..10)) {
            let pairs: Vec<(&str, &str)> = files.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
            let project = parses(&Files::of(&pairs));
            prop_assert!(!project.servers.is_empty());
        }
    }
}
