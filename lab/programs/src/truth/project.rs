//! The clone in which rows are compared: the project at one commit, kept between rows so that builds are incremental.

use std::fs;
use std::path::{Path, PathBuf};

/// A clone at its base commit, or one commit after it.
#[derive(Debug)]
pub(super) struct Scratch {
    pub(super) folder: PathBuf,
    /// The commit that rows change, 40 hex digits.
    pub(super) base: String,
}

impl Scratch {
    /// Checks a repository's commit `base` out into a folder, and clones the repository if the folder does not exist.
    ///
    /// # Errors
    /// When git fails; the error is a sentence.
    pub(super) fn open(repository: &Path, base: &str, folder: &Path) -> Result<Self, String> {
        if folder.join(".git").is_dir() {
            let from = repository.to_string_lossy();
            git(folder, &["fetch", "--quiet", "--no-tags", &from, base]).or_else(|_| {
                // Older versions of git cannot fetch a commit by id; the branch contains it.
                git(folder, &["fetch", "--quiet", "--no-tags", &from, "HEAD"])
            })?;
        } else {
            let above = folder.parent().ok_or("a clone needs a folder to lie in")?;
            fs::create_dir_all(above).map_err(|error| format!("{}: cannot be made: {error}", above.display()))?;
            let (from, to) = (repository.to_string_lossy(), folder.to_string_lossy());
            git(above, &["clone", "--quiet", "--no-hardlinks", &from, &to])?;
        }
        let clone = Self {
            folder: folder.to_path_buf(),
            base: base.to_owned(),
        };
        clone.reset()?;
        Ok(clone)
    }

    /// Resets every file to the base commit; ignored files stay, such as built programs.
    ///
    /// # Errors
    /// When git fails; the error is a sentence.
    pub(super) fn reset(&self) -> Result<(), String> {
        git(&self.folder, &["reset", "--quiet", "--hard", &self.base])?;
        // Twice -f: a row may have added a submodule, which is a repository of its own.
        git(&self.folder, &["clean", "--quiet", "-ffd"]).map(drop)
    }

    /// Commits every file as it is, and returns the commit.
    ///
    /// # Errors
    /// When git fails; the error is a sentence.
    pub(super) fn commit(&self, about: &str) -> Result<String, String> {
        git(&self.folder, &["add", "--all"])?;
        let message = format!("truth: {about}");
        git(
            &self.folder,
            &["commit", "--quiet", "--no-verify", "--message", &message],
        )?;
        let head = git(&self.folder, &["rev-parse", "HEAD"])?;
        Ok(head.trim().to_owned())
    }

    /// Applies a patch as a commit on top of the base. Author and date are fixed, so that one patch is always one commit.
    ///
    /// # Errors
    /// When it does not apply; the error is a sentence.
    pub(super) fn apply(&self, patch: &Path, about: &str) -> Result<(), String> {
        let file = patch.to_string_lossy();
        git(&self.folder, &["apply", "--index", "--whitespace=nowarn", &file])?;
        self.commit(about).map(drop)
    }
}

/// Runs git in a folder, and returns its output.
///
/// # Errors
/// The error output of git if it fails.
fn git(folder: &Path, args: &[&str]) -> Result<String, String> {
    let mut git = wirebench_spawn::command("git");
    for name in ["GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_PREFIX"] {
        git.env_remove(name);
    }
    for (who, name, mail) in [
        ("AUTHOR", "wirebench", "truth@wirebench.invalid"),
        ("COMMITTER", "wirebench", "truth@wirebench.invalid"),
    ] {
        git.env(format!("GIT_{who}_NAME"), name)
            .env(format!("GIT_{who}_EMAIL"), mail)
            .env(format!("GIT_{who}_DATE"), "2026-01-01T00:00:00Z");
    }
    let output = git
        .args(["-c", "core.hooksPath=/dev/null", "-c", "commit.gpgSign=false"])
        .arg("-C")
        .arg(folder)
        .args(args)
        .output()
        .map_err(|error| format!("git cannot be started: {error}"))?;
    if output.status.success() {
        return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
    }
    let message = String::from_utf8_lossy(&output.stderr);
    Err(format!("git {} failed: {}", args.join(" "), message.trim()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_patch_becomes_a_commit_and_is_taken_back_while_built_files_stay() {
        let folder = tempfile::tempdir().unwrap();
        let (from, to) = (folder.path().join("from"), folder.path().join("to/clone"));
        fs::create_dir_all(&from).unwrap();
        git(&from, &["init", "--quiet", "--initial-branch", "main"]).unwrap();
        fs::write(from.join("a"), "one\n").unwrap();
        fs::write(from.join(".gitignore"), "/built\n").unwrap();
        git(&from, &["add", "--all"]).unwrap();
        git(&from, &["commit", "--quiet", "--message", "first"]).unwrap();
        let head = fs::read_to_string(from.join(".git/refs/heads/main")).unwrap();
        let patch = folder.path().join("x.patch");
        fs::write(&patch, "--- a/a\n+++ b/a\n@@ -1 +1 @@\n-one\n+two\n").unwrap();

        let mut commits = Vec::new();
        for _ in 0..2 {
            let clone = Scratch::open(&from, head.trim(), &to).unwrap();
            assert_eq!(fs::read_to_string(to.join("a")).unwrap(), "one\n");
            clone.apply(&patch, "two instead of one").unwrap();
            assert_eq!(fs::read_to_string(to.join("a")).unwrap(), "two\n");
            commits.push(fs::read_to_string(to.join(".git/refs/heads/main")).unwrap());
            fs::write(to.join("built"), "x").unwrap();
            fs::write(to.join("new"), "x").unwrap();
            let again = clone.apply(&patch, "two").unwrap_err();
            assert!(again.contains("git apply"), "{again}");
            clone.reset().unwrap();
            assert!(to.join("built").is_file() && !to.join("new").exists());
        }
        assert_eq!(commits[0], commits[1]);
    }
}
