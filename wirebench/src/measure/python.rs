//! A Python environment for one side, so that two sides of a comparison never run the same installed packages by accident.

use std::collections::BTreeMap;
use std::io;
use std::path::Path;
use std::process::Stdio;

use crate::child;
use crate::measure::own;

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

/// Makes an empty environment at `.wirebench/venv` below a side's folder: what programs need in their environment variables
/// to use it. An older one is cleared, so that no package of another build is left in it.
///
/// # Errors
/// When it cannot be made, with what to install.
pub fn environment(folder: &Path) -> Result<BTreeMap<String, String>, String> {
    let own = own::folder(folder).map_err(|error| format!("{}: cannot be written: {error}", folder.display()))?;
    let place = own.join("venv");
    let made = child::command("python3")
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
    let programs = place.join("bin").to_string_lossy().into_owned();
    let path = match std::env::var("PATH") {
        Ok(path) => format!("{programs}:{path}"),
        Err(_) => programs,
    };
    let place = place.to_string_lossy().into_owned();
    Ok([("VIRTUAL_ENV".to_owned(), place), ("PATH".to_owned(), path)].into())
}

#[cfg(test)]
mod tests {
    use super::*;

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
