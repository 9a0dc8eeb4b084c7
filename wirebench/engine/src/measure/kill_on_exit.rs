//! Kills the process groups that wirebench started, and removes its temporary folders, if wirebench itself is killed.
//!
//! A shell keeps a list of groups and folders and reads changes to it from a pipe that only wirebench writes to. When wirebench
//! ends, for any reason, the pipe closes: the shell kills the groups and removes the folders that are still on its list, and ends.
//!
//! A group is registered right after its start, a folder right after it was made. They are missed only if wirebench is killed in
//! between.

use std::io::Write as _;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{ChildStdin, Stdio};
use std::sync::{LazyLock, Mutex};
use std::{fs, io};

use nix::unistd::Pid;

/// `+ group 12` puts a group onto the list, `- group 12` takes it off; the same with `folder` and a path.
const SCRIPT: &str = r#"
set -f
IFS='
'
entries=
while read -r line; do
  entry=${line#* }
  others=
  for one in $entries; do [ "$one" = "$entry" ] || others="$others$one$IFS"; done
  entries=$others
  case $line in +*) entries="$entries$entry$IFS" ;; esac
done
for one in $entries; do
  case $one in group*) kill -s KILL -- "-${one#* }" ;; esac
done
for one in $entries; do
  # A process that was just killed may still write.
  case $one in folder*) rm -rf -- "${one#* }" || { sleep 1; rm -rf -- "${one#* }"; } ;; esac
done
"#;

/// The shell's input; `None` if no shell could be started.
static SHELL: LazyLock<Mutex<Option<ChildStdin>>> = LazyLock::new(|| Mutex::new(start()));

fn start() -> Option<ChildStdin> {
    let mut command = wirebench_spawn::command("/bin/sh");
    // A group of its own: Ctrl-C in a terminal must not end it before wirebench.
    command
        .args(["-c", SCRIPT])
        .env_clear()
        .current_dir("/")
        .process_group(0);
    command
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    command.spawn().ok()?.stdin.take()
}

/// Kills the group if wirebench ends before it was unregistered.
pub(super) fn register(group: Pid) {
    send(format!("+ group {group}").as_bytes());
}

/// The group has ended and its leader was reaped: its id may be reused.
pub(super) fn unregister(group: Pid) {
    send(format!("- group {group}").as_bytes());
}

/// A folder with a name of its own for temporary files, which is removed with this value, or if wirebench ends before.
#[derive(Debug)]
pub struct TemporaryFolder(PathBuf);

impl TemporaryFolder {
    /// Makes an empty folder whose name begins with `prefix` in the system's folder for temporary files.
    ///
    /// # Errors
    /// When the folder for temporary files cannot be written.
    pub fn make(prefix: &str) -> io::Result<Self> {
        Self::make_in(&std::env::temp_dir(), prefix)
    }

    /// Makes an empty folder whose name begins with `prefix` in another folder.
    ///
    /// # Errors
    /// When the other folder cannot be written.
    pub(super) fn make_in(parent: &Path, prefix: &str) -> io::Result<Self> {
        let folder = tempfile::Builder::new().prefix(prefix).tempdir_in(parent)?.keep();
        send(&[b"+ folder ", folder.as_os_str().as_bytes()].concat());
        Ok(Self(folder))
    }

    /// Its path.
    pub fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for TemporaryFolder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
        send(&[b"- folder ", self.0.as_os_str().as_bytes()].concat());
    }
}

/// Changes the list. If no shell could be started there is no list, and only wirebench itself ends groups and removes folders.
fn send(change: &[u8]) {
    // A path with a line break would be read as two changes.
    if change.contains(&b'\n') {
        return;
    }
    let mut shell = SHELL.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    if let Some(input) = shell.as_mut() {
        let _ = input.write_all(&[change, b"\n"].concat());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_on_the_list_are_removed_and_groups_on_it_killed_when_the_input_closes() {
        let folder = tempfile::tempdir().unwrap();
        let [one, two, three] = ["one *", "two", "a b  c"].map(|name| folder.path().join(name));
        for path in [&one, &two, &three] {
            fs::create_dir(path).unwrap();
            fs::write(path.join("file"), "").unwrap();
        }
        let sleeps = || {
            let mut command = wirebench_spawn::command("sleep");
            command.arg("100").process_group(0).spawn().unwrap()
        };
        let (mut killed, mut kept) = (sleeps(), sleeps());
        let mut shell = wirebench_spawn::command("/bin/sh");
        let mut shell = shell
            .args(["-c", SCRIPT])
            .env_clear()
            .stdin(Stdio::piped())
            .spawn()
            .unwrap();
        let mut input = shell.stdin.take().unwrap();
        for path in [&one, &two, &three] {
            writeln!(input, "+ folder {}", path.display()).unwrap();
        }
        writeln!(input, "+ group {}\n+ group {}", kept.id(), killed.id()).unwrap();
        writeln!(input, "- folder {}\n- group {}", two.display(), kept.id()).unwrap();
        drop(input);
        assert!(shell.wait().unwrap().success());
        assert_eq!([&one, &two, &three].map(|path| path.exists()), [false, true, false]);
        assert_eq!(killed.wait().unwrap().to_string(), "signal: 9 (SIGKILL)");
        assert!(kept.try_wait().unwrap().is_none());
        kept.kill().unwrap();
        kept.wait().unwrap();
    }
}
