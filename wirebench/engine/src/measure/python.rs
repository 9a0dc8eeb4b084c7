//! A Python environment for one side, so that two sides of a comparison never run the same installed packages by accident.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::{fs, io};

use sha2::{Digest as _, Sha256};

use crate::measure::digest::hex;
use crate::measure::interrupt::Interrupt;
use crate::measure::{build, work_folder};

/// Whether a build command installs packages into the Python environment that is active: `pip install …`, also as the first
/// command of `sh -c`.
pub fn installs(words: &[String]) -> bool {
    let words = plain(words);
    let is_pip = |word: &String| {
        let name = word.rsplit('/').next().unwrap_or_default();
        name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.') == "pip"
    };
    let pip = words.iter().take(3).position(is_pip);
    let install = words.iter().position(|word| word == "install");
    pip.zip(install).is_some_and(|(pip, install)| pip < install)
}

/// The words of a command. Of `sh -c SCRIPT ARGUMENTS`, the words of the script and then the arguments.
fn plain(words: &[String]) -> Vec<String> {
    match words {
        [shell, option, script, arguments @ ..] if shell.rsplit('/').next() == Some("sh") && option == "-c" => {
            let script = plain(&shell_words::split(script).unwrap_or_default());
            [script.as_slice(), arguments].concat()
        }
        _ => words.to_vec(),
    }
}

/// Makes an empty environment at `.wirebench/venv` below a side's folder, and returns the environment variables that
/// programs need to use it. An existing environment that other build commands filled, or the same commands from other
/// files, is cleared, so that no package of it is left. `commands` are all that install into it.
///
/// # Errors
/// When it cannot be made, with what to install.
pub fn environment(
    folder: &Path,
    commands: &BTreeSet<&[String]>,
    interrupt: &Interrupt,
) -> Result<BTreeMap<String, String>, String> {
    let work_folder =
        work_folder::make(folder).map_err(|error| format!("{}: cannot be written: {error}", folder.display()))?;
    let place = work_folder.join("venv");
    let (mark, filled) = (place.join("wirebench-filled-by"), filled_by(folder, commands));
    if fs::read_to_string(&mark).is_ok_and(|before| before == filled) {
        return Ok(variables(&place));
    }
    let mut make = wirebench_spawn::command("python3");
    make.args(["-m", "venv", "--clear"]).arg(&place).stdout(io::stderr());
    match build::run(&mut make, interrupt) {
        Ok(Some(status)) if status.success() => {}
        Ok(None) => return Err(build::INTERRUPTED.into()),
        Ok(Some(status)) => {
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

/// The inputs that decide which packages an environment gets: the interpreter, the commands, and the files that they name.
fn filled_by(folder: &Path, commands: &BTreeSet<&[String]>) -> String {
    let mut digest = Sha256::new();
    // If this fails, making the environment will report the error.
    let version = wirebench_spawn::command("python3").arg("-VV").output();
    digest.update(version.map(|output| output.stdout).unwrap_or_default());
    for words in commands {
        for word in plain(words) {
            digest.update(word.as_bytes());
            digest.update([0]);
            digest.update(fs::read(folder.join(&word)).unwrap_or_default());
            digest.update([0]);
        }
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
    fn other_requirements_of_any_command_are_another_environment() {
        let folder = tempfile::tempdir().unwrap();
        let command = |file: &str| ["pip", "install", "-r", file].map(str::to_owned);
        let [one, two] = ["one.txt", "two.txt"].map(command);
        fs::write(folder.path().join("two.txt"), "flask==3.1.2\n").unwrap();
        let digest = |commands: &[&[String]]| filled_by(folder.path(), &commands.iter().copied().collect());
        let before = digest(&[&one, &two]);
        assert_eq!(digest(&[&two, &one]), before, "the order says nothing");
        assert_ne!(digest(&[&one]), before);
        fs::write(folder.path().join("two.txt"), "flask==3.1.3\n").unwrap();
        assert_ne!(digest(&[&one, &two]), before);
    }

    #[test]
    fn only_what_installs_into_the_active_environment_needs_one_of_its_own() {
        let installs = |line: &str| installs(&shell_words::split(line).unwrap());
        assert!(installs("python3 -m pip install --requirement requirements.txt"));
        assert!(installs("/usr/bin/pip3.11 install flask"));
        assert!(installs("uv pip install -r requirements.txt"));
        assert!(installs(
            "sh -c 'python3 -m pip install flask && python3 manage.py migrate'"
        ));
        assert!(installs(
            r#"sh -c 'python3 -m pip install pipenv "$@" && pipenv sync' sh gunicorn"#
        ));
        assert!(installs(
            r#"sh -c "sh -c 'pip install poetry && poetry install' sh && python3 manage.py migrate""#
        ));
        assert!(!installs("sh -c 'npm ci && npm run install'"));
        assert!(!installs("uv sync"));
        assert!(!installs("npm install pip"));
        assert!(!installs("go install ./..."));
    }
}
