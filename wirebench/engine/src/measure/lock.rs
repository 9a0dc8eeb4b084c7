//! One measurement at a time on a machine: two at once would slow each other down, and neither would notice. Builds count
//! too, because they use every core.
//!
//! The lock is a file that the operating system locks (`flock`), so it is free again however its holder ends.

use std::fs::{File, OpenOptions, TryLockError};
use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::measure::interrupt::Interrupt;

/// Names another lock file, for machines whose cores are divided between several jobs that do not disturb each other.
pub const VARIABLE: &str = "WIREBENCH_LOCK";

const POLL: Duration = Duration::from_millis(100);

/// The lock file of this machine, or the one that the environment names.
pub fn file() -> PathBuf {
    let named = std::env::var_os(VARIABLE).filter(|name| !name.is_empty());
    named.map_or_else(|| std::env::temp_dir().join("wirebench.lock"), PathBuf::from)
}

/// Waits until no other measurement runs on this machine. Returns the locked file, which holds the lock until it is dropped; `None` if
/// the user interrupts.
///
/// # Errors
/// When the file can be neither opened nor made, or the file system has no locks.
pub fn acquire(file: &Path, interrupt: &Interrupt) -> io::Result<Option<File>> {
    let open = open_or_create(file)?;
    let mut has_warned = false;
    loop {
        match open.try_lock() {
            Ok(()) => return Ok(Some(open)),
            Err(TryLockError::Error(error)) => return Err(error),
            Err(TryLockError::WouldBlock) if interrupt.is_requested() => return Ok(None),
            Err(TryLockError::WouldBlock) => {
                if !has_warned {
                    log::warn!(
                        "waiting: another measurement runs on this machine{} and holds {} until it ends; --no-lock measures beside it",
                        holder(&open).map_or_else(String::new, |holder| format!(" ({holder})")),
                        file.display()
                    );
                    has_warned = true;
                }
                std::thread::sleep(POLL);
            }
        }
    }
}

/// The process that holds a lock on a file, with the folder in which it was started; `None` if the operating system does not
/// tell.
fn holder(file: &File) -> Option<String> {
    let inode = format!(":{}", file.metadata().ok()?.ino());
    let locks = std::fs::read_to_string("/proc/locks").ok()?;
    let pid = holder_of(&locks, &inode)?;
    let folder = std::fs::read_link(format!("/proc/{pid}/cwd")).ok();
    let folder = folder.map(|folder| format!(", started in {}", folder.display()));
    Some(format!("process {pid}{}", folder.unwrap_or_default()))
}

/// The process of a `flock` in `/proc/locks`: `1: FLOCK ADVISORY WRITE 4711 fe:00:131 0 EOF`.
fn holder_of(locks: &str, inode: &str) -> Option<u32> {
    locks.lines().find_map(|line| {
        let words: Vec<&str> = line.split_whitespace().collect();
        let [_, "FLOCK", _, _, pid, place, ..] = words[..] else {
            return None;
        };
        // 0 is a process outside of this container.
        let pid = pid.parse().ok().filter(|pid| *pid > 0);
        pid.filter(|_| place.ends_with(inode))
    })
}

/// Opens the file, or creates it. It may belong to another user: read permission is enough for a lock.
fn open_or_create(file: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    let opened = options.read(true).write(true).create(true).truncate(false).open(file);
    opened.or_else(|error| File::open(file).map_err(|_| error))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_second_gets_it_once_the_first_is_done() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("lock");
        let interrupt = Interrupt::default();
        let first = acquire(&file, &interrupt).unwrap().unwrap();
        assert!(matches!(
            open_or_create(&file).unwrap().try_lock(),
            Err(TryLockError::WouldBlock)
        ));
        let (waits, has_it) = (file.clone(), std::sync::mpsc::channel());
        let second = std::thread::spawn(move || {
            let lock = acquire(&waits, &Interrupt::default()).unwrap().unwrap();
            has_it.0.send(()).unwrap();
            drop(lock);
        });
        assert!(has_it.1.recv_timeout(POLL * 3).is_err(), "it waits");
        drop(first);
        has_it.1.recv_timeout(Duration::from_secs(20)).unwrap();
        second.join().unwrap();
    }

    #[test]
    fn the_holder_is_named_with_its_folder() {
        let folder = tempfile::tempdir().unwrap();
        let file = open_or_create(&folder.path().join("lock")).unwrap();
        assert_eq!(holder(&file), None);
        file.lock().unwrap();
        let here = std::env::current_dir().unwrap();
        let expected = format!("process {}, started in {}", std::process::id(), here.display());
        assert_eq!(holder(&file), Some(expected));
        let locks = "1: POSIX  ADVISORY  WRITE 7 fe:00:12 0 EOF\n1: -> FLOCK  ADVISORY  WRITE 8 fe:00:12 0 EOF\n\
                     2: FLOCK  ADVISORY  WRITE 9 fe:00:112 0 EOF\n3: FLOCK  ADVISORY  WRITE 10 fe:00:12 0 EOF\n";
        assert_eq!(holder_of(locks, ":12"), Some(10));
        assert_eq!(holder_of(locks, ":13"), None);
    }

    #[test]
    fn no_place_for_the_file_is_an_error() {
        let nowhere = Path::new("/nowhere/at/all/lock");
        assert_eq!(
            acquire(nowhere, &Interrupt::default()).unwrap_err().kind(),
            io::ErrorKind::NotFound
        );
    }
}
