//! Stages programs: every variant is started from a path of the same length.
//!
//! The length of a program's path is part of its arguments, shifts its first heap blocks, and moves its instructions per
//! request by about 1 %. So no variant is started from where it was built. A package is copied, because Cargo's programs need
//! no other file; another native program gets a symbolic link, so that it still finds the files in its own folder. Scripts and
//! interpreters are started as they are.

use std::collections::BTreeMap;
use std::fs;
use std::io::{self, Read as _};
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use crate::measure::kill_on_exit::TemporaryFolder;
use crate::measure::side::Side;

/// How many characters the path of each start layout is longer than the first one's. The values are far apart: the heap
/// of a server stays in one state over several neighbouring lengths.
pub const LAYOUTS: [usize; 3] = [0, 23, 57];

/// A folder for the programs of every variant below `own`, or below the system's folder for temporary files where that cannot be
/// written.
///
/// # Errors
/// When it can be made in neither place.
pub fn folder(own: &Path) -> io::Result<TemporaryFolder> {
    let make = |parent: &Path| {
        fs::create_dir_all(parent)?;
        TemporaryFolder::make_in(parent, "stage-")
    };
    make(own).or_else(|_| make(&std::env::temp_dir()))
}

/// Stages the native programs of all sides in a folder, and makes the sides start them from there. Afterwards, the command of a
/// server has the same length on every side, unless one side runs a script.
///
/// # Errors
/// When a program cannot be copied: the file and the operating system's reason.
pub fn stage(folder: &Path, sides: &mut [Side]) -> Result<(), (PathBuf, io::Error)> {
    let mut names: BTreeMap<String, usize> = BTreeMap::new();
    for (key, command) in sides.iter().flat_map(|side| &side.programs) {
        let longest = names.entry(key.clone()).or_default();
        *longest = (*longest).max(file_name(command).len());
    }
    for (place, side) in sides.iter_mut().enumerate() {
        // One letter for each side.
        let letter = char::from(b"abcdefgh"[place.min(7)]);
        let home = folder.join(letter.to_string());
        side.stage = Some(home.clone());
        for (number, (key, longest)) in names.iter().enumerate() {
            let Some(command) = side.programs.get_mut(key) else {
                continue;
            };
            let program = PathBuf::from(command.first().map_or("", String::as_str));
            if !is_native(&program) {
                continue;
            }
            let name = file_name(command);
            // `0003`, padded by the number of characters that the name is shorter than the other side's.
            let folder = home.join(format!("{number:04}{}", "_".repeat(longest - name.len())));
            let staged = folder.join(&name);
            let placed = fs::create_dir_all(&folder).and_then(|()| {
                if side.packages.contains(key) {
                    fs::copy(&program, &staged).map(drop)
                } else {
                    symlink(fs::canonicalize(&program)?, &staged)
                }
            });
            placed.map_err(|error| (program, error))?;
            command[0] = staged.to_string_lossy().into_owned();
        }
    }
    Ok(())
}

/// Links a staged program at the path length of a layout, an index into [`LAYOUTS`]. A program that is not staged stays
/// where it is.
///
/// # Errors
/// When the operating system refuses a link.
pub fn at_layout(program: &str, home: Option<&Path>, layout: usize) -> io::Result<String> {
    let longer = LAYOUTS.get(layout).copied().unwrap_or(0);
    let inside = home.and_then(|home| Some((home, Path::new(program).strip_prefix(home).ok()?)));
    let Some((home, inside)) = inside.filter(|_| longer > 0) else {
        return Ok(program.to_owned());
    };
    let mut folder = home.as_os_str().to_owned();
    folder.push("_".repeat(longer));
    let path = PathBuf::from(folder).join(inside);
    if let Some(parent) = path.parent() {
        fs::create_dir_all(parent)?;
    }
    let linked = match fs::read_link(program) {
        Ok(target) => symlink(target, &path),
        Err(_) => fs::hard_link(program, &path),
    };
    match linked {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => Err(error),
        _ => Ok(path.to_string_lossy().into_owned()),
    }
}

/// Whether a file is a native program: ELF or Mach-O, known by its first bytes.
pub fn is_native(program: &Path) -> bool {
    let mut magic = [0; 4];
    let read = fs::File::open(program).and_then(|mut file| file.read_exact(&mut magic));
    read.is_ok() && (magic == *b"\x7fELF" || matches!(u32::from_le_bytes(magic), 0xfeed_facf | 0xbeba_feca))
}

fn file_name(command: &[String]) -> String {
    let program = Path::new(command.first().map_or("", String::as_str));
    program.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use wirebench_record::run::{Variant, VariantRevision};

    fn side(variant: Variant, programs: &[(&str, &Path)], packages: &[&str]) -> Side {
        let revision = VariantRevision {
            variant,
            commit: None,
            modified: None,
            name: None,
            committed_at: None,
        };
        let mut side = Side::new(revision, PathBuf::from("."), &[]);
        for (key, program) in programs {
            let command = vec![program.to_string_lossy().into_owned(), "--fast".into()];
            side.programs.insert((*key).to_owned(), command);
        }
        side.packages = packages.iter().map(|key| (*key).to_owned()).collect();
        side
    }

    #[test]
    fn both_sides_start_from_paths_of_one_length_and_scripts_stay() {
        let folder = tempfile::tempdir().unwrap();
        let file = |name: &str, content: &[u8]| {
            let path = folder.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(&path, content).unwrap();
            path
        };
        let old = file("a/very/long/folder/old-server", b"\x7fELF old");
        let new = file("new", b"\x7fELF new");
        let script = file("script.sh", b"#!/bin/sh\n");
        let own = folder.path().join("own");
        let staging = super::folder(&own).unwrap();
        let mut sides = [
            side(Variant::Baseline, &[("http", &old), ("script", &script)], &["http"]),
            side(Variant::Candidate, &[("http", &new), ("script", &script)], &[]),
        ];
        stage(staging.path(), &mut sides).unwrap();
        let program = |side: &Side, key: &str| side.programs[key][0].clone();
        let (before, after) = (program(&sides[0], "http"), program(&sides[1], "http"));
        assert_eq!(before.len(), after.len(), "{before} {after}");
        assert_eq!(fs::read(&before).unwrap(), b"\x7fELF old");
        assert_eq!(fs::read_link(&after).unwrap(), new.canonicalize().unwrap());
        assert_eq!(program(&sides[0], "script"), script.to_string_lossy());
        for (layout, longer) in LAYOUTS.into_iter().enumerate() {
            let place = |side: &Side| at_layout(&program(side, "http"), side.stage.as_deref(), layout).unwrap();
            let (before, after) = (place(&sides[0]), place(&sides[1]));
            assert_eq!(before.len(), after.len());
            assert_eq!(before.len(), program(&sides[0], "http").len() + longer);
            assert_eq!(fs::read(&after).unwrap(), b"\x7fELF new");
            assert_eq!(place(&sides[0]), before, "a second time it is there already");
        }
        drop(staging);
        assert_eq!(fs::read_dir(own).unwrap().count(), 0, "nothing is left");
    }
}
