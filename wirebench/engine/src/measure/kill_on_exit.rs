//! Kills the process groups that wirebench started if wirebench itself is killed.
//!
//! A shell keeps the list of groups and reads changes to it from a pipe that only wirebench writes to. When wirebench ends,
//! for any reason, the pipe closes: the shell kills the groups that are still on its list, and ends.
//!
//! A group is registered right after its start. It is missed only if wirebench is killed in between.

use std::io::Write as _;
use std::os::unix::process::CommandExt as _;
use std::process::{ChildStdin, Stdio};
use std::sync::{LazyLock, Mutex};

use nix::unistd::Pid;

/// `+ 12` puts a group onto the list, `- 12` takes it off.
const SCRIPT: &str = r#"
groups=
while read -r what group; do
  kept=
  for one in $groups; do [ "$one" = "$group" ] || kept="$kept $one"; done
  groups=$kept
  [ "$what" = + ] && groups="$groups $group"
done
for group in $groups; do kill -s KILL -- "-$group"; done
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
    send("+", group);
}

/// The group has ended and its leader was reaped: its id may be reused.
pub(super) fn unregister(group: Pid) {
    send("-", group);
}

/// Changes the list. If no shell could be started there is no list, and only wirebench itself ends the groups.
fn send(what: &str, group: Pid) {
    let mut shell = SHELL.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    if let Some(input) = shell.as_mut() {
        let _ = input.write_all(format!("{what} {group}\n").as_bytes());
    }
}
