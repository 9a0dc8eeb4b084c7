//! The second stage against a GitHub API on loopback, through the real command line.

mod alerts;
mod artifact_texts;
mod artifacts;
mod checks;
mod comments;
pub(crate) mod fake;
pub(crate) mod golden;
mod reruns;
mod resolutions;
pub(crate) mod scene;
