//! Writes the made-up history that the dashboard is shown with, the same to the byte each time.
//!
//! Usage: `cargo run -p wirebench-tools --bin demo_history -- results/demo`

mod demo;

use std::path::PathBuf;

use anyhow::Context as _;

fn main() -> anyhow::Result<()> {
    let folder = std::env::args_os().nth(1).context("which folder? results/demo")?;
    demo::write(&PathBuf::from(folder))
}
