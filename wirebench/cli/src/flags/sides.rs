//! Parses SIDE on the command line: the code of one variant, as a folder, a revision, or prebuilt commands.

use std::collections::BTreeMap;
use std::path::Path;

use crate::outcome::UsageError;
use wirebench_declare::Project;
use wirebench_declare::server::Server;
use wirebench_engine::git;
use wirebench_engine::session::{CodeSource, SideRequest};
use wirebench_record::run::Variant;

/// The flags for the variants of a run.
#[derive(Debug, Clone, Default, clap::Args)]
pub(crate) struct SideArgs {
    /// Measure this too, interleaved, and compare against it: a folder with a wirebench.toml, a git revision, or
    /// SERVER=COMMAND for a program that is built already (may be given once for each server).
    #[arg(long, value_name = "SIDE")]
    pub(crate) baseline: Vec<String>,
    /// The code to judge, a SIDE like the baseline; without it, the project's folder.
    #[arg(long, value_name = "SIDE")]
    pub(crate) candidate: Vec<String>,
    /// A pinned SIDE that is measured too, so that trends can follow ratios to it. Without it, and with a baseline,
    /// `compare.reference` of wirebench.toml.
    #[arg(long, value_name = "SIDE")]
    pub(crate) reference: Vec<String>,
    /// Measure servers whose program is the same on both sides too, instead of skipping them: a null experiment.
    #[arg(long)]
    pub(crate) measure_identical: bool,
}

impl SideArgs {
    /// The sides to measure: one candidate, and baseline and reference if given. Relative folders start at `from`.
    ///
    /// # Errors
    /// When a SIDE is no folder with a wirebench.toml, no revision and no SERVER=COMMAND.
    pub(crate) fn sides(&self, project: &Project, from: &Path) -> Result<Vec<SideRequest>, UsageError> {
        let pinned = project.config.compare.reference.as_ref();
        let reference = match pinned.filter(|_| self.reference.is_empty() && !self.baseline.is_empty()) {
            Some(pinned) => (Variant::Reference, std::slice::from_ref(pinned), project.root.as_path()),
            None => (Variant::Reference, self.reference.as_slice(), from),
        };
        let given = [
            (Variant::Baseline, self.baseline.as_slice(), from),
            (Variant::Candidate, self.candidate.as_slice(), from),
            reference,
        ];
        let given = given.into_iter();
        let given = given.filter(|(variant, words, _)| *variant == Variant::Candidate || !words.is_empty());
        let side = |(variant, words, from): (Variant, &[String], &Path)| {
            Ok(SideRequest {
                variant,
                words: words.to_vec(),
                source: what(project, variant, words, from)?,
            })
        };
        given.map(side).collect()
    }
}

fn what(project: &Project, variant: Variant, words: &[String], from: &Path) -> Result<CodeSource, UsageError> {
    let flag = format!("--{}", variant.name());
    let prebuilt: Vec<_> = words.iter().map(|word| command_of(&project.servers, word)).collect();
    match words {
        [] => Ok(CodeSource::Project),
        [word] if !word.is_empty() && from.join(word).join("wirebench.toml").is_file() => {
            let folder = std::path::absolute(from.join(word)).map_err(|error| UsageError(error.to_string()))?;
            if folder.canonicalize().ok() == project.folder.canonicalize().ok() {
                return Ok(CodeSource::Project);
            }
            // The folder of a project that extends one above it stands for the whole clone.
            let within = project.within();
            let above = folder.ancestors().nth(within.components().count());
            let clone = above.filter(|_| folder.ends_with(within)).unwrap_or(&folder);
            Ok(CodeSource::Folder(clone.to_path_buf()))
        }
        [word] if prebuilt[0].is_none() => {
            let (file, names) = (from.join(word).join("wirebench.toml"), names(&project.servers));
            let found = git::resolve(&project.root, word).map_err(|error| {
                UsageError(format!(
                    "{flag} {word}: not a folder with a wirebench.toml (looked for {}), not a git revision ({error}), \
                     and not SERVER=COMMAND with one of the servers {names}",
                    file.display(),
                ))
            })?;
            Ok(CodeSource::Revision(found))
        }
        _ => {
            let mut commands = BTreeMap::new();
            for (word, prebuilt) in words.iter().zip(prebuilt) {
                let wrong = |message: String| UsageError(format!("{flag} {word}: {message}"));
                let Some((server, command)) = prebuilt else {
                    let names = names(&project.servers);
                    return Err(wrong(format!(
                        "given several times, each must be SERVER=COMMAND with one of the servers {names}"
                    )));
                };
                let command = command_line(command, from)
                    .ok_or_else(|| wrong(format!("expected a command after {server}=, quoted as a shell would")))?;
                if commands.insert(server.to_owned(), command).is_some() {
                    return Err(wrong(format!("server {server} is given twice")));
                }
            }
            Ok(CodeSource::Commands(commands))
        }
    }
}

/// The server and the command of SERVER=COMMAND.
fn command_of<'a>(servers: &[Server], word: &'a str) -> Option<(&'a str, &'a str)> {
    let (server, command) = word.split_once('=')?;
    let is_known = servers.iter().any(|known| known.name == server);
    is_known.then_some((server, command))
}

/// Splits a command into words; a program with a `/` is relative to a folder.
fn command_line(command: &str, from: &Path) -> Option<Vec<String>> {
    let mut words = shell_words::split(command).ok()?;
    let program = words.first_mut().filter(|program| !program.is_empty())?;
    if program.contains('/') {
        *program = from.join(&*program).to_string_lossy().into_owned();
    }
    Some(words)
}

fn names(servers: &[Server]) -> String {
    let names: Vec<&str> = servers.iter().map(|server| server.name.as_str()).collect();
    names.join(", ")
}
