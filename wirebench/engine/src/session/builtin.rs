//! Writes the built-in drivers and counters to a folder where jq and counted programs can read them.

use std::fs;
use std::path::Path;

use anyhow::Context as _;

use crate::git;
use wirebench_declare::Project;
use wirebench_declare::builtin::{FILES, folder};

/// Makes sure that their files are below `.wirebench/`, complete, if the project uses any of them. Several processes
/// may do this at the same time.
///
/// # Errors
/// When they cannot be written.
pub(super) fn write_files(project: &Project) -> anyhow::Result<()> {
    if !project.uses_builtin_files() {
        return Ok(());
    }
    let to = git::work_path(&project.root, &folder().to_string_lossy())?;
    if is_whole(&to) {
        return Ok(());
    }
    write(&to).with_context(|| {
        format!(
            "{}: cannot be written, and the built-in drivers and counters go there; make it writable for this user, or measure a copy of the project",
            to.display()
        )
    })
}

/// True if every file is present and unchanged.
fn is_whole(folder: &Path) -> bool {
    let same = |(path, text): &(&str, &str)| fs::read(folder.join(path)).is_ok_and(|found| found == text.as_bytes());
    FILES.iter().all(same)
}

/// Creates the folder atomically: a reader sees all files or none.
fn write(to: &Path) -> std::io::Result<()> {
    let parent = to.parent().unwrap_or(Path::new("."));
    fs::create_dir_all(parent)?;
    let unfinished = tempfile::Builder::new().prefix("unfinished-").tempdir_in(parent)?;
    for (path, text) in FILES {
        let file = unfinished.path().join(path);
        fs::create_dir_all(file.parent().unwrap_or(to))?;
        fs::write(file, text)?;
    }
    if to.exists() && !is_whole(to) {
        fs::remove_dir_all(to)?;
    }
    match fs::rename(unfinished.path(), to) {
        // Another wirebench process created it first.
        Err(_) if is_whole(to) => Ok(()),
        done => done,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn they_are_written_whole_mended_and_left_alone() {
        let root = tempfile::tempdir().unwrap();
        let to = root.path().join(folder());
        std::thread::scope(|all| {
            for _ in 0..8 {
                all.spawn(|| write(&to).unwrap());
            }
        });
        assert!(is_whole(&to));
        fs::write(to.join("drivers/hey/normalise.jq"), "changed").unwrap();
        assert!(!is_whole(&to));
        write(&to).unwrap();
        assert!(is_whole(&to));
        let left = fs::read_dir(to.parent().unwrap()).unwrap().count();
        assert_eq!(left, 1, "unfinished folders stay behind");
    }
}
