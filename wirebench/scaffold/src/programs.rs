//! The programs of a repository that look like servers, and their declarations.

use std::collections::BTreeSet;
use std::path::Path;

use crate::files::Files;
use crate::needs::{self, Needs};
use crate::probe::{self, ProbeContext, ProbeFailure, ProbedServer};
use crate::program::{self, Program, ServerKey};
use crate::proto::{self, Call};
use crate::recipe::fits;
use crate::{compose, declared, guess, recipes, rust};

/// The declarations of a repository, as the text of its `wirebench.toml`.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Found {
    /// The declared servers, each with its description.
    pub servers: Vec<String>,
    /// True if they were probed while running; otherwise they are guessed from their sources.
    pub probed: bool,
    /// Programs that could not be probed, with the reason.
    pub not_probed: Vec<String>,
    /// The open questions.
    pub questions: Vec<String>,
    /// The file.
    pub toml: String,
}

/// The programs of a repository that look like servers.
#[derive(Debug, Clone)]
pub struct Programs {
    files: Files,
    programs: Vec<Program>,
    calls: Vec<Call>,
}

impl Programs {
    /// Searches the files of a folder, and the manifests of its parent folders up to `top`.
    ///
    /// # Errors
    /// When the folder itself cannot be read.
    pub fn of(folder: &Path, top: &Path) -> std::io::Result<Self> {
        Ok(Self::among(Files::read(folder, top)?))
    }

    /// The same for files that were read already.
    fn among(files: Files) -> Self {
        let mut programs = recipes::programs(&files);
        programs.extend(rust::programs(&files));
        if programs.iter().any(|program| !program.must_serve) {
            programs.retain(|program| !program.must_serve);
        }
        program::make_names_unique(&mut programs);
        let calls = proto::calls(&files);
        Self { files, programs, calls }
    }

    /// If there is none: what was looked at, and what was found missing.
    pub fn missing(&self) -> Option<String> {
        if !self.programs.is_empty() {
            return None;
        }
        let said = recipes::looked_for().map(|(ecosystem, marks)| {
            let is_there =
                |mark: &&&str| self.files.all().any(|(path, _)| fits(mark, path)) || self.files.above(mark).is_some();
            let list = |marks: BTreeSet<&str>| marks.into_iter().collect::<Vec<_>>().join(", no ");
            match marks.iter().find(is_there) {
                Some(mark) => format!("\n  {ecosystem}: {mark} is there, but no program that is known to be a server"),
                None => format!("\n  {ecosystem}: no {}", list(marks)),
            }
        });
        let said: Vec<String> = said.collect();
        Some(format!(
            "no server was found, and nothing was written. Looked at:{}\nIf there is a server, declare how it starts in wirebench.toml: docs/ADOPTING.md",
            said.concat()
        ))
    }

    /// Every one, with where it was found and how it is started.
    pub fn list(&self) -> Vec<String> {
        let first = first_tries(&self.programs, |program| program);
        first.iter().map(declared::found).collect()
    }

    /// Keeps only the programs with these names; where none has the name, those whose main file lies in a folder of that name or path.
    ///
    /// # Errors
    /// When a name is unknown; the message lists the known ones.
    pub fn only(&mut self, names: &[String]) -> Result<(), String> {
        let known: BTreeSet<String> = self.programs.iter().map(|program| program.name.clone()).collect();
        let is_meant = |program: &Program, name: &String| {
            program.name == *name || (!known.contains(name) && program.is_in_folder(name))
        };
        let is_unknown = |name: &&String| !self.programs.iter().any(|program| is_meant(program, name));
        if let Some(unknown) = names.iter().find(is_unknown) {
            let known: Vec<&str> = known.iter().map(String::as_str).collect();
            let known = if known.is_empty() {
                "none".to_owned()
            } else {
                known.join(", ")
            };
            return Err(format!("no program \"{unknown}\" was found; there are: {known}"));
        }
        if !names.is_empty() {
            self.programs
                .retain(|program| names.iter().any(|name| is_meant(program, name)));
        }
        Ok(())
    }

    /// What the job that measures them has to set up; `config` is the examined folder from the repository's top, `.` for the
    /// top.
    pub fn needs(&self, config: &str) -> Needs {
        needs::of(&self.files, &self.programs, config)
    }

    /// Declares them from their sources; guesses are marked.
    pub fn guess(&self) -> Found {
        let mut programs = first_tries(&self.programs, |program| program);
        programs.retain(|program| !program.must_serve);
        self.guess_of(&programs)
    }

    fn guess_of(&self, programs: &[Program]) -> Found {
        let guessed: Vec<ProbedServer> = programs.iter().map(|program| self.guessed(program)).collect();
        Found {
            servers: programs.iter().map(|program| program.name.clone()).collect(),
            toml: declared::toml(guess::HEAD, &guessed, &[], &[]),
            ..Found::default()
        }
    }

    fn guessed(&self, program: &Program) -> ProbedServer {
        guess::guessed(&self.files, program, &self.calls)
    }

    /// Builds, starts and probes each of them, and declares the result. If none could be probed, they are declared from
    /// their sources.
    pub fn probe(&self, context: &ProbeContext) -> Found {
        let (mut probed, mut failures) = (Vec::new(), Vec::<(Program, ProbeFailure)>::new());
        let mut declared = BTreeSet::new();
        for program in &self.programs {
            if context.interrupt.is_requested() {
                break;
            }
            let is_tried = |(other, why): &(Program, ProbeFailure)| {
                let same_build = other.build == program.build;
                // Another way to install the packages helps only where they could not be installed.
                let same = if why.is_of_build {
                    same_build
                } else {
                    other.started == program.started
                };
                same && other.key() == program.key()
            };
            if program.is_covered(&declared) || failures.iter().any(is_tried) {
                continue;
            }
            match probe::probe(context, &self.files, program, &self.calls) {
                Ok(one) => {
                    probed.push(one);
                    declared.insert(program.key());
                }
                Err(why) => {
                    let mut program = program.clone();
                    // As it was told when it listened; as its sources say if it never did.
                    program.port = why.way.as_deref().cloned().or(program.port);
                    failures.push((program, why));
                }
            }
        }
        declared::separate(&mut probed);
        // A way that could be built says more than one that could not.
        failures.sort_by_key(|(_, why)| why.is_of_build || why.reason.contains("cannot start"));
        let mut failures = first_tries(&failures, |(program, _)| program);
        let is_covered = |program: &Program| {
            let of_project = |key: &ServerKey| (&key.0, &key.1) == (&program.language, &program.manifest);
            program.is_covered(&declared) || program.alone && declared.iter().any(of_project)
        };
        failures.retain(|(program, _)| !is_covered(program));
        let reason = |(program, why): &(Program, ProbeFailure)| format!("{}: {}", program.name, why.reason);
        let mut questions = declared::asked(&probed, &failures);
        if failures.iter().any(|(_, why)| !why.is_of_build) {
            questions.extend(declared::services(&compose::composed(&self.files).images));
        }
        let failed = failures.iter().map(reason).collect();
        failures.retain(|(program, _)| !program.must_serve);
        if probed.is_empty() {
            let (programs, _): (Vec<Program>, Vec<ProbeFailure>) = failures.into_iter().unzip();
            return Found {
                not_probed: failed,
                questions,
                ..self.guess_of(&programs)
            };
        }
        let guesses = failures
            .iter()
            .map(|(program, why)| (self.guessed(program), why.reason.clone()));
        let guesses: Vec<(ProbedServer, String)> = guesses.collect();
        let summary = |one: &ProbedServer| format!("{}: {}", one.server.name, declared::summary(one));
        Found {
            servers: probed.iter().map(summary).collect(),
            probed: true,
            not_probed: failed,
            questions,
            toml: declared::toml(declared::HEAD, &probed, &guesses, &declared::asked(&probed, &failures)),
        }
    }
}

/// The first try for each server.
fn first_tries<T: Clone>(all: &[T], program: impl Fn(&T) -> &Program) -> Vec<T> {
    let mut seen = BTreeSet::new();
    let is_first = |one: &&T| !program(one).is_covered(&seen) && seen.insert(program(one).key());
    all.iter().filter(is_first).cloned().collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use wirebench_declare::Project;

    fn found(files: &Files) -> Found {
        Programs::among(files.clone()).guess()
    }

    fn parses(files: &Files) -> Project {
        let found = found(files);
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("wirebench.toml"), &found.toml).unwrap();
        Project::read(folder.path()).unwrap_or_else(|error| panic!("{error}\n{}", found.toml))
    }

    #[test]
    fn what_was_looked_at_is_said_only_where_nothing_was_found() {
        let missing = |pairs: &[(&str, &str)]| Programs::among(Files::of(pairs)).missing();
        let nothing = missing(&[]).unwrap();
        for (ecosystem, marks) in recipes::looked_for() {
            let marks: Vec<&str> = marks.into_iter().collect();
            let line = format!("\n  {ecosystem}: no {}", marks.join(", no "));
            assert!(nothing.contains(&line), "{nothing}");
        }
        let library = missing(&[("go.mod", "module example.org/x\n"), ("a/b.py", "x = 1\n")]).unwrap();
        for line in [
            "Go: go.mod is there, but",
            "Python: *.py is there, but",
            "JVM: no *.java, no *.kt, no build.gradle,",
        ] {
            assert!(library.contains(line), "{library}");
        }
        let main = "package main\nimport \"net/http\"\nfunc main() { http.ListenAndServe(\":8080\", nil) }\n";
        assert_eq!(
            missing(&[("go.mod", "module example.org/x\n"), ("main.go", main)]),
            None
        );
    }

    #[test]
    fn a_program_is_named_by_its_folder_where_none_has_that_name() {
        let main = "package main\nimport \"net/http\"\nfunc main() { http.ListenAndServe(\":8080\", nil) }\n";
        let files = Files::of(&[
            ("go.mod", "module example.org/x\n"),
            ("shop/server/main.go", main),
            ("blog/server/main.go", main),
            ("blog/admin/main.go", main),
        ]);
        let only = |name: &str| -> Result<Vec<String>, String> {
            let mut programs = Programs::among(files.clone());
            programs.only(&[name.to_owned()])?;
            Ok(programs.programs.iter().map(|one| one.name.clone()).collect())
        };
        assert_eq!(only("blog").unwrap(), ["blog"]);
        assert_eq!(only("server").unwrap(), ["blog", "shop"]);
        assert_eq!(only("blog/server/").unwrap(), ["blog"]);
        assert!(only("og").unwrap_err().contains("there are: admin, blog, shop"));
    }

    #[test]
    fn a_program_that_is_declared_only_if_it_serves_is_not_guessed() {
        let main = "package main\nfunc main() { app := aero.New(); app.Get(\"/\", home); app.Run() }\n";
        let files = Files::of(&[("go.mod", "module example.org/shop\n"), ("main.go", main)]);
        assert_eq!(Programs::among(files.clone()).list().len(), 1);
        assert!(found(&files).servers.is_empty());
        // A program of an unknown framework is not tried if a known server was found.
        let known = "package main\nfunc main() { http.ListenAndServe(\":8080\", nil) }\n";
        let pairs = [
            ("go.mod", "module example.org/shop\n"),
            ("main.go", known),
            ("web/package.json", "{}"),
            ("web/dev.js", "import vite from 'vite'; vite.listen(3000)"),
        ];
        assert_eq!(Programs::among(Files::of(&pairs[2..])).list().len(), 1);
        assert_eq!(found(&Files::of(&pairs)).servers, ["shop"]);
    }

    #[test]
    fn a_call_is_sent_by_ghz_and_a_request_by_h2load() {
        let main = "package main\nfunc main() { http.ListenAndServe(\":1\", nil); grpc.NewServer() }\n";
        let proto = "syntax = \"proto3\";\npackage a;\nservice S { rpc Say (M) returns (M); }\nmessage M {}\n";
        let pairs = [("go.mod", "module x\n"), ("main.go", main), ("a.proto", proto)];
        let toml: toml::Table = found(&Files::of(&pairs)).toml.parse().unwrap();
        let driver = |scenario: &str| toml["scenarios"][scenario]["drivers"][0].as_str().unwrap().to_owned();
        assert_eq!(
            (driver("call-say").as_str(), driver("home").as_str()),
            ("ghz", "h2load")
        );
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

    /// Parts of real files, so that random inputs reach the rules.
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
            let files = Files::of(&pairs);
            if Programs::among(files.clone()).missing().is_none() {
                prop_assert!(!parses(&files).servers.is_empty());
            }
        }
    }
}
