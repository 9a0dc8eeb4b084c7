//! A program on another host: its file is called by its hash, so that equal programs are copied once.

use std::fs::{self, File};
use std::io;
use std::path::Path;
use std::process::{Command, Output};
use std::time::Duration;

use object::{Architecture, Object as _};

use crate::measure::digest;
use crate::measure::interrupt::Interrupt;

const POLL: Duration = Duration::from_millis(10);

/// Checks that a file is a native program that runs on a host, by the output of `uname -m` there. Returns its SHA-256, hex digits.
///
/// # Errors
/// When it cannot be read, is a script, or is built for another architecture.
pub(super) fn checked(file: &Path, machine: &str) -> io::Result<String> {
    let bytes = if file.components().count() > 1 {
        fs::read(file)?
    } else {
        Vec::new()
    };
    let native = object::File::parse(bytes.as_slice()).map_err(|_| {
        io::Error::other(
            "it is no native program: only those of one file are copied to another host; measure it on one machine, or on a cluster",
        )
    })?;
    let names: &[&str] = match native.architecture() {
        Architecture::X86_64 => &["x86_64", "amd64"],
        Architecture::Aarch64 => &["aarch64", "arm64"],
        Architecture::Riscv64 => &["riscv64"],
        Architecture::PowerPc64 => &["ppc64", "ppc64le"],
        Architecture::S390x => &["s390x"],
        // Other architectures are not checked: the host's kernel refuses programs that it cannot run.
        _ => &[],
    };
    if names.is_empty() || names.contains(&machine) {
        return Ok(digest::sha256(&bytes));
    }
    Err(io::Error::other(format!(
        "the program is built for {}, and the other host is {machine}; build it for that host, or choose another host",
        names[0]
    )))
}

/// The script that stores its standard input in a file, and prints the hash of the bytes that arrived.
pub(super) fn receive_script(path: &str) -> String {
    let whole = shell_words::quote(path).into_owned();
    let part = shell_words::quote(&format!("{path}.part")).into_owned();
    format!(
        "mkdir -p \"$(dirname {whole})\" && cat >{part} && sha256sum {part} && chmod 700 {part} && mv {part} {whole}"
    )
}

/// Sends a file to the command that runs [`receive_script`], and checks the hash of the bytes that arrived.
///
/// # Errors
/// When the file did not arrive whole, with the last line of the command's errors, such as "No space left"; or the user
/// interrupts.
pub(super) fn upload(file: &Path, hash: &str, command: &mut Command, interrupt: &Interrupt) -> io::Result<()> {
    let mut child = command.stdin(File::open(file)?).spawn()?;
    while child.try_wait()?.is_none() {
        if interrupt.is_requested() {
            let _ = child.kill();
            let _ = child.wait();
            return Err(io::Error::other(
                "interrupted while a file was copied to the other host",
            ));
        }
        std::thread::sleep(POLL);
    }
    let Output { status, stdout, stderr } = child.wait_with_output()?;
    let arrived = String::from_utf8_lossy(&stdout);
    if status.success() && arrived.split_whitespace().next() == Some(hash) {
        return Ok(());
    }
    let errors = String::from_utf8_lossy(&stderr);
    let last = errors.lines().next_back().unwrap_or("it arrived damaged");
    Err(io::Error::other(format!(
        "{} cannot be copied to the other host: {last}; free some space there in its folder for temporary files, or measure again",
        file.file_name().unwrap_or_default().to_string_lossy()
    )))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(script: &str) -> Command {
        let mut command = wirebench_spawn::command("sh");
        command.args(["-c", script]);
        command
            .stdout(std::process::Stdio::piped())
            .stderr(std::process::Stdio::piped());
        command
    }

    #[test]
    fn this_program_is_copied_whole_and_runs_on_its_own_architecture_only() {
        let folder = tempfile::tempdir().unwrap();
        let own = std::env::current_exe().unwrap();
        let hash = checked(&own, std::env::consts::ARCH).unwrap();
        let place = folder.path().join("it's here");
        fs::create_dir(&place).unwrap();
        let script = receive_script(&place.join(&hash).to_string_lossy());
        let interrupt = Interrupt::default();
        upload(&own, &hash, &mut shell(&script), &interrupt).unwrap();
        assert_eq!(fs::read(place.join(&hash)).unwrap(), fs::read(&own).unwrap());
        let error = checked(&own, "sparc64").unwrap_err().to_string();
        assert!(
            error.contains(std::env::consts::ARCH) && error.contains("sparc64"),
            "{error}"
        );
    }

    #[test]
    fn no_room_and_damage_are_errors() {
        let own = std::env::current_exe().unwrap();
        let interrupt = Interrupt::default();
        let full = upload(
            &own,
            "00",
            &mut shell("cat >/dev/full && sha256sum /dev/null"),
            &interrupt,
        );
        assert!(full.unwrap_err().to_string().contains("No space left"));
        let damaged = upload(
            &own,
            "00",
            &mut shell("cat >/dev/null && sha256sum /dev/null"),
            &interrupt,
        );
        assert!(damaged.unwrap_err().to_string().contains("damaged"));
    }

    #[test]
    fn a_script_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let script = folder.path().join("server.sh");
        fs::write(&script, "#!/bin/sh\n").unwrap();
        for file in [&*script, Path::new("python3")] {
            let error = checked(file, std::env::consts::ARCH).unwrap_err();
            assert!(error.to_string().contains("native"), "{error}");
        }
    }
}
