//! Writes JSON files as wirebench does: compact, with a newline at the end.

use std::fs;
use std::path::Path;

use anyhow::Context as _;
use serde::Serialize;

pub(super) fn write_json(file: &Path, content: &impl Serialize) -> anyhow::Result<()> {
    let mut bytes = serde_json::to_vec(content)?;
    bytes.push(b'\n');
    fs::write(file, bytes).with_context(|| file.display().to_string())
}
