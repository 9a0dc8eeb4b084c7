//! Values that a workflow passes to its verbs.

use std::path::PathBuf;

use crate::outcome::UsageError;
use wirebench_github::names;

/// The path in an environment variable of the workflow.
pub(crate) fn environment_file(variable: &str) -> Option<PathBuf> {
    std::env::var_os(variable)
        .filter(|value| !value.is_empty())
        .map(PathBuf::from)
}

/// Parses a workflow file's path from the command line.
///
/// # Errors
/// When it is not below `.github/workflows/`.
pub(crate) fn workflow_file(text: &str) -> Result<&str, UsageError> {
    if names::is_workflow(text) {
        return Ok(text);
    }
    Err(UsageError("--workflow: expected .github/workflows/NAME.yml".into()))
}
