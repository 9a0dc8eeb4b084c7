//! Where the examined folder lies in the repository, and how paths of it are written into a workflow.

use crate::files::Files;

/// The examined folder, and where it lies in the repository.
pub(super) struct ExaminedFolder<'a> {
    pub(super) files: &'a Files,
    pub(super) config: &'a str,
}

impl ExaminedFolder<'_> {
    /// A path from the repository's top; it may begin with `../`.
    pub(super) fn below_top(&self, path: &str) -> String {
        let mut parts: Vec<&str> = self
            .config
            .split('/')
            .filter(|part| !part.is_empty() && *part != ".")
            .collect();
        for part in path.split('/') {
            match part {
                ".." => {
                    parts.pop();
                }
                "" | "." => {}
                part => parts.push(part),
            }
        }
        parts.join("/")
    }

    /// The first of these files in a manifest's folder or above the examined folder: its path from the top, and its text.
    pub(super) fn find(&self, folder: &str, names: &[&str]) -> Option<(String, &str)> {
        names.iter().find_map(|name| {
            let own = self.files.text(&format!("{folder}{name}")).map(|text| (folder, text));
            let top = || self.files.text(name).map(|text| ("", text));
            let (folder, text) = own.or_else(top).or_else(|| self.files.above(name))?;
            Some((self.below_top(&format!("{folder}{name}")), text))
        })
    }
}

/// A text in double quotes: JSON's strings are YAML's.
pub(crate) fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}
