//! A Python environment for one side, so that two sides of a comparison never run the same installed packages by accident.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::Path;
use std::process::Stdio;

use sha2::{Digest as _, Sha256};

use crate::measure::digest::hex;
use crate::measure::work_folder;

/// Whether a build command installs packages into the Python environment that is active: `pip install …`.
#[must_use]
pub fn installs(words: &[String]) -> bool {
    let is_pip = |word: &String| {
        let name = word.rsplit('/').next().unwrap_or_default();
        name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.') == "pip"
    };
    let pip = words.iter().take(3).position(is_pip);
    let install = words.iter().position(|word| word == "install");
    pip.zip(install).is_some_and(|(pip, install)| pip < install)
}

/// Makes an empty environment at `.wirebench/venv` below a side's folder, and returns the environment variables that
/// programs need to use it. An existing environment that another build command filled, or the same command from other
/// files, is cleared, so that no package of it is left.
///
/// # Errors
/// When it cannot be made, with what to install.
pub fn environment(folder: &Path, words: &[String]) -> Result<BTreeMap<String, String>, String> {
    let work_folder =
        work_folder::make(folder).map_err(|error| format!("{}: cannot be written: {error}", folder.display()))?;
    let place = work_folder.join("venv");
    let (mark, filled) = (place.join("wirebench-filled-by"), filled_by(folder, words));
    if fs::read_to_string(&mark).is_ok_and(|before| before == filled) {
        return Ok(variables(&place));
    }
    let made = wirebench_spawn::command("python3")
        .args(["-m", "venv", "--clear"])
        .arg(&place)
        .stdin(Stdio::null())
        .stdout(io::stderr())
        .status();
    match made {
        Ok(status) if status.success() => {}
        Ok(status) => {
            return Err(format!(
                "python3 -m venv {} failed ({status}): each side of a comparison needs a Python environment of its own; \
                 on Debian and Ubuntu run: apt install python3-venv",
                place.display()
            ));
        }
        Err(error) => return Err(format!("python3 cannot be started: {error}; install Python 3")),
    }
    fs::write(&mark, filled).map_err(|error| format!("{}: cannot be written: {error}", mark.display()))?;
    Ok(variables(&place))
}

/// The inputs that decide which packages an environment gets: the interpreter, the command, and the files that the
/// command names.
fn filled_by(folder: &Path, words: &[String]) -> String {
    let mut digest = Sha256::new();
    // If this fails, making the environment will report the error.
    let version = wirebench_spawn::command("python3").arg("-VV").output();
    digest.update(version.map(|output| output.stdout).unwrap_or_default());
    for word in words {
        digest.update(word.as_bytes());
        digest.update([0]);
        digest.update(fs::read(folder.join(word)).unwrap_or_default());
        digest.update([0]);
    }
    hex(&digest.finalize())
}

/// What a program needs to use the environment at a place.
fn variables(place: &Path) -> BTreeMap<String, String> {
    let programs = place.join("bin").to_string_lossy().into_owned();
    let path = match std::env::var("PATH") {
        Ok(path) => format!("{programs}:{path}"),
        Err(_) => programs,
    };
    let place = place.to_string_lossy().into_owned();
    [("VIRTUAL_ENV".to_owned(), place), ("PATH".to_owned(), path)].into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn other_requirements_are_another_environment() {
        let folder = tempfile::tempdir().unwrap();
        let words = ["pip", "install", "-r", "requirements.txt"].map(str::to_owned);
        let file = folder.path().join("requirements.txt");
        fs::write(&file, "flask==3.1.2\n").unwrap();
        let before = filled_by(folder.path(), &words);
        assert_eq!(filled_by(folder.path(), &words), before);
        fs::write(&file, "flask==3.1.3\n").unwrap();
        assert_ne!(filled_by(folder.path(), &words), before);
        assert_ne!(filled_by(folder.path(), &words[..3]), before);
    }

    #[test]
    fn only_what_installs_into_the_active_environment_needs_one_of_its_own() {
        let installs = |line: &str| installs(&shell_words::split(line).unwrap());
        assert!(installs("python3 -m pip install --requirement requirements.txt"));
        assert!(installs("/usr/bin/pip3.11 install flask"));
        assert!(installs("uv pip install -r requirements.txt"));
        assert!(!installs("uv sync"));
        assert!(!installs("npm install pip"));
        assert!(!installs("go install ./..."));
    }
}
