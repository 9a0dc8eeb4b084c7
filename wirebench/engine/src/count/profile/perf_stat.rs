//! The processor's hardware counter of instructions, read by `perf stat`: it counts any program, at full speed. Hosted ARM runners
//! give it to programs, hosted x64 runners do not.

use std::path::Path;

use crate::count::profile::error::{line_error, quoted, text_of};

/// Arguments of perf before the name of the file that it writes: instructions outside the kernel, of the program and its children.
pub const ARGUMENTS: [&str; 6] = ["stat", "-x", ";", "-e", "instructions:u", "-o"];

/// So many runs of one program have to execute the same number of instructions.
const PROBES: usize = 24;

/// Why the counter cannot be used here: there is none, the system forbids it, or equal runs differ.
///
/// # Errors
/// The reason.
pub fn probe(perf: &Path) -> Result<(), String> {
    let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
    let file = folder.path().join("counted");
    let counted = || {
        let mut run = wirebench_spawn::command(perf);
        let output = run.args(ARGUMENTS).arg(&file).args(["--", "true"]).output();
        let output = output.map_err(|error| error.to_string())?;
        if output.status.success() {
            return read(&file);
        }
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        Err(said
            .lines()
            .find(|line| !line.is_empty())
            .unwrap_or("it failed")
            .to_owned())
    };
    let first = counted()?;
    for _ in 1..PROBES {
        let other = counted()?;
        if other != first {
            return Err(format!(
                "equal runs of `true` executed {first} and {other} instructions"
            ));
        }
    }
    Ok(())
}

/// The instructions of a whole run.
///
/// # Errors
/// A file that cannot be read, or in which the counter of every core did not count all the time.
pub fn read(file: &Path) -> Result<u64, String> {
    parse(file, &text_of(file)?)
}

fn parse(file: &Path, text: &str) -> Result<u64, String> {
    let rows = text.lines().enumerate();
    let mut rows = rows.filter(|(_, row)| !row.trim().is_empty() && !row.starts_with('#'));
    let (Some((at, row)), None) = (rows.next(), rows.next()) else {
        let expected = "expected one row, the count of instructions; cores of two kinds have two";
        return Err(format!("{}: {expected}", file.display()));
    };
    // Count, unit, event, time of counting in ns, share of the time in percent.
    let cells: Vec<&str> = row.split(';').collect();
    match cells[..] {
        [count, _, event, _, share, ..] if event.contains("instructions") && share.starts_with("100") => {
            count.parse().map_err(|_| format!("{event} is {count}"))
        }
        _ => Err(line_error(
            file,
            at + 1,
            &format!("expected instructions counted all the time, found {}", quoted(row)),
        )),
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::PermissionsExt as _;
    use std::path::PathBuf;

    use proptest::prelude::{any, proptest};
    use tempfile::TempDir;

    use super::{parse, probe};

    const HEAD: &str = "# started on Mon Nov 30 12:00:00 2026\n\n";

    fn read(rows: &str) -> Result<u64, String> {
        parse(std::path::Path::new("counted"), &format!("{HEAD}{rows}"))
    }

    #[test]
    fn a_count_is_taken_only_if_it_is_the_whole_one() {
        assert_eq!(read("123456;;instructions:u;507894;100.00;;\n"), Ok(123_456));
        for (rows, why) in [
            ("<not supported>;;instructions:u;0;100.00;;\n", "is <not supported>"),
            (
                "99;;instructions:u;507894;48.10;;\n",
                "counted:3: expected instructions counted all the time",
            ),
            ("99;;cycles:u;507894;100.00;;\n", "counted:3:"),
            (
                "5;;armv8_a53/instructions/u;9;100.00;;\n7;;armv8_a72/instructions/u;9;100.00;;\n",
                "cores of two kinds",
            ),
            ("", "expected one row"),
        ] {
            let error = read(rows).unwrap_err();
            assert!(error.contains(why), "{error}");
        }
    }

    proptest! {
        #[test]
        fn nothing_makes_it_panic(text in any::<String>(), row in "[0-9a-z;:.<>]{0,40}") {
            read(&text).ok();
            read(&row).ok();
        }
    }

    /// A program in the place of perf; it writes this after it has raised a number in the file `runs`.
    fn perf(writes: &str) -> (TempDir, PathBuf) {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("perf");
        let runs = folder.path().join("runs");
        let text = format!("#!/bin/sh\necho >>{0}\nruns=$(wc -l <{0})\n{writes}\n", runs.display());
        fs::write(&file, text).unwrap();
        fs::set_permissions(&file, fs::Permissions::from_mode(0o755)).unwrap();
        (folder, file)
    }

    #[test]
    fn a_counter_that_does_not_repeat_is_not_used() {
        let row = |count: &str| format!("echo '{count};;instructions:u;1;100.00;;' >\"$7\"; test \"$9\" = true");
        let (folder, steady) = perf(&row("105812"));
        assert_eq!(probe(&steady), Ok(()));
        let runs = fs::read_to_string(folder.path().join("runs")).unwrap();
        assert_eq!(runs.lines().count(), 24);
        let (_folder, once) = perf(&row("'$((105812 + runs / 24))'"));
        assert_eq!(
            probe(&once).unwrap_err(),
            "equal runs of `true` executed 105812 and 105813 instructions"
        );
        let (_folder, none) = perf(&row("<not supported>"));
        assert_eq!(probe(&none).unwrap_err(), "instructions:u is <not supported>");
        let (_folder, forbidden) = perf("echo 'Error: access is limited, perf_event_paranoid is 4' >&2; exit 255");
        assert!(probe(&forbidden).unwrap_err().contains("perf_event_paranoid"));
    }
}
