//! Embeds the recipes: every file of `recipes/`, in the order of their names.

use std::fs;
use std::path::Path;

fn main() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("recipes");
    println!("cargo::rerun-if-changed={}", folder.display());
    let listed = fs::read_dir(&folder).expect("recipes/ lies beside the manifest");
    let mut files: Vec<_> = listed.flatten().map(|entry| entry.path()).collect();
    files.sort();
    let texts = files.iter().map(|file| {
        let name = file.file_name().expect("a file below recipes/").to_string_lossy();
        format!("({name:?}, include_str!({file:?})),\n")
    });
    let out = std::env::var("OUT_DIR").expect("cargo sets OUT_DIR");
    let code = format!("&[\n{}]\n", texts.collect::<String>());
    fs::write(Path::new(&out).join("recipes.rs"), code).expect("OUT_DIR can be written");
}
