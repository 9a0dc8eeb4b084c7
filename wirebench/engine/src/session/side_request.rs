//! The code of one variant as requested on the command line: a folder, a revision, or prebuilt commands.

use std::collections::BTreeMap;
use std::path::PathBuf;

use wirebench_record::run::Variant;

/// A requested side, which is not checked out or built yet.
#[derive(Debug)]
pub struct SideRequest {
    /// Which variant.
    pub variant: Variant,
    /// What the user wrote; empty for the project's folder.
    pub words: Vec<String>,
    /// Where its code is.
    pub source: CodeSource,
}

/// Where the code of a side is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CodeSource {
    /// The project's folder as it is.
    Project,
    /// Another folder that holds a project.
    Folder(PathBuf),
    /// A commit of the project's repository, 40 hex digits.
    Revision(String),
    /// Programs by server name; other servers are the project's own.
    Commands(BTreeMap<String, Vec<String>>),
}

impl SideRequest {
    /// The flags that select the same code again, later and from the project's folder.
    pub fn as_flags(&self) -> Vec<String> {
        let flag = format!("--{}", self.variant.name());
        let values = match &self.source {
            CodeSource::Project if self.words.is_empty() => Vec::new(),
            CodeSource::Project => vec![".".to_owned()],
            CodeSource::Folder(folder) => vec![folder.to_string_lossy().into_owned()],
            CodeSource::Revision(commit) => vec![commit[..12].to_owned()],
            CodeSource::Commands(commands) => commands
                .iter()
                .map(|(server, command)| format!("{server}={}", shell_words::join(command)))
                .collect(),
        };
        values.into_iter().flat_map(|value| [flag.clone(), value]).collect()
    }
}
