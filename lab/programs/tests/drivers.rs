//! The laboratory's drivers name files of the project's own drivers.
#![allow(
    clippy::unwrap_used,
    reason = "a test may stop at the first surprise, its helpers too"
)]

use std::fs;
use std::path::Path;

/// A driver whose script is missing measures nothing, which only a run would show.
#[test]
fn every_file_that_a_driver_names_is_there() {
    let drivers = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().join("drivers");
    let mut seen = 0;
    for folder in fs::read_dir(drivers).unwrap().map(|entry| entry.unwrap().path()) {
        for file in fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path()) {
            let is_text = file
                .extension()
                .is_some_and(|ending| ending == "toml" || ending == "lua");
            let text = if is_text {
                fs::read_to_string(&file).unwrap()
            } else {
                String::new()
            };
            // "{driver_folder}/FILE" of a driver.toml, and "/../FILE" behind the folder that a Lua script lies in.
            for word in text.split('"') {
                let within = word
                    .strip_prefix("{driver_folder}/")
                    .or_else(|| word.strip_prefix('/').filter(|rest| rest.starts_with("..")));
                let Some(within) = within else { continue };
                let path = folder.join(within);
                assert!(path.is_file(), "{}: {} is missing", file.display(), path.display());
                seen += 1;
            }
        }
    }
    assert!(seen >= 4, "{seen} files are named");
}
