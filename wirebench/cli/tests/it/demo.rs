//! The committed demo history is what its generator gives.

#[path = "../../../tools/src/bin/demo_history/demo/mod.rs"]
mod generator;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use crate::bench::repository;

/// Every file below a folder, by its path from there.
fn contents(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut found = BTreeMap::new();
    let mut folders = vec![folder.to_path_buf()];
    while let Some(next) = folders.pop() {
        for entry in fs::read_dir(next).unwrap().flatten() {
            if entry.path().is_dir() {
                folders.push(entry.path());
            } else {
                let name = entry.path().strip_prefix(folder).unwrap().to_path_buf();
                found.insert(name, fs::read(entry.path()).unwrap());
            }
        }
    }
    found
}

#[test]
fn the_committed_demo_is_what_its_generator_gives() {
    let committed = repository().join("results/demo");
    let folder = tempfile::tempdir().unwrap();
    generator::write(folder.path()).unwrap();
    let (made, there) = (contents(folder.path()), contents(&committed));
    let names = |files: &BTreeMap<PathBuf, Vec<u8>>| files.keys().cloned().collect::<Vec<_>>();
    let advice = "write it anew with: cargo run -p wirebench-tools --bin demo_history -- results/demo";
    assert_eq!(names(&made), names(&there), "{advice}");
    for (name, content) in &made {
        assert!(
            *content == there[name],
            "results/demo/{} is not what the generator gives; {advice}",
            name.display()
        );
    }
    let size: usize = made.values().map(Vec::len).sum();
    assert!(size < 2_200_000, "the demo has grown to {size} bytes");
}
