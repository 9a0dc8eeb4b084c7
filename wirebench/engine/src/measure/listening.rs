//! Where a program listens: TCP and Unix sockets that its processes hold, read from /proc.

use std::collections::{BTreeSet, HashSet};
use std::net::SocketAddr;
use std::path::PathBuf;

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use procfs::net::{TcpNetEntry, TcpState, UnixNetEntry, UnixState};
use procfs::process::{Process, Stat, all_processes};

use crate::measure::sock_diag;
use crate::measure::usage::{descendants, sockets_of};

/// How many connections may wait at a port until the program accepts them; `None` if no program listens, or the kernel does not say.
pub fn backlog(port: u16) -> Option<u32> {
    sock_diag::listening().ok()?.remove(&port)
}

/// Says of a program without a TCP listener that it listens on a Unix socket, and what to do; `None` if it does not.
pub fn only_unix(group: i32) -> Option<String> {
    let (tcp, unix) = Tree::of(group).sockets();
    let named: Vec<String> = unix.iter().map(|path| path.display().to_string()).collect();
    (!named.is_empty() && tcp.is_empty()).then(|| {
        format!(
            "it listens on the Unix socket {}, and wirebench measures over TCP: let it listen on 127.0.0.1 and port {{port}}",
            named.join(" and ")
        )
    })
}

/// The processes of a group and their descendants, also those in other groups; pidfds, which never refer to another process with a
/// reused id.
#[derive(Debug)]
pub struct Tree(Vec<Process>);

impl Tree {
    /// The tree of a group as it is now.
    pub fn of(group: i32) -> Self {
        let all = all_processes().into_iter().flatten().flatten();
        let with_stat = |process: Process| process.stat().ok().map(|stat| (process, stat));
        let all: Vec<(Process, Stat)> = all.filter_map(with_stat).collect();
        let found = descendants(all.iter().map(|(_, stat)| stat), &[group]);
        let in_tree = all.into_iter().filter(|(_, stat)| found.contains(&stat.pid));
        Self(in_tree.map(|(process, _)| process).collect())
    }

    /// The addresses at which its processes listen, sorted.
    pub fn listens(&self) -> Vec<SocketAddr> {
        self.sockets().0.into_iter().collect()
    }

    /// The TCP addresses and the Unix sockets that its processes listen on.
    fn sockets(&self) -> (BTreeSet<SocketAddr>, BTreeSet<PathBuf>) {
        let Some(first) = self.0.first() else {
            return (BTreeSet::new(), BTreeSet::new());
        };
        let held: HashSet<u64> = self.0.iter().filter_map(sockets_of).flatten().collect();
        let listens = |entry: &TcpNetEntry| entry.state == TcpState::Listen && held.contains(&entry.inode);
        let waits = |entry: &UnixNetEntry| entry.state == UnixState::UNCONNECTED && held.contains(&entry.inode);
        let tcp = first.tcp().into_iter().chain(first.tcp6()).flatten().filter(listens);
        let unix = first.unix().into_iter().flatten().filter(waits);
        (
            tcp.map(|entry| entry.local_address).collect(),
            unix.filter_map(|entry| entry.path).collect(),
        )
    }

    /// Kills the processes that still run.
    pub fn kill(self) {
        for process in self.0 {
            if process.stat().is_ok_and(|stat| stat.state != 'Z') {
                // An error means that the process has just ended.
                let _ = kill(Pid::from_raw(process.pid), Signal::SIGKILL);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;

    #[test]
    fn a_listener_is_found_by_the_process_that_holds_it_and_a_connection_is_none() {
        let own = i32::try_from(std::process::id()).unwrap();
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let connection = std::net::TcpStream::connect(address).unwrap();
        let found = super::Tree::of(own).listens();
        assert!(found.contains(&address), "{found:?}");
        assert!(!found.contains(&connection.local_addr().unwrap()), "{found:?}");
        drop(listener);
        // A program that another test is just starting holds a copy of it until it is executed.
        let deadline = std::time::Instant::now() + std::time::Duration::from_secs(30);
        while super::Tree::of(own).listens().contains(&address) {
            assert!(std::time::Instant::now() < deadline, "{address} is still held");
            std::thread::sleep(std::time::Duration::from_millis(10));
        }
    }

    #[test]
    fn what_a_program_started_in_another_group_is_of_its_tree_and_ends_with_it() {
        use std::os::unix::process::CommandExt as _;
        let script = "setsid sleep 60 & echo $!; wait";
        let mut shell = wirebench_spawn::command("/bin/sh");
        shell
            .args(["-c", script])
            .process_group(0)
            .stdout(std::process::Stdio::piped());
        let mut child = shell.spawn().unwrap();
        let mut line = String::new();
        std::io::BufRead::read_line(&mut std::io::BufReader::new(child.stdout.take().unwrap()), &mut line).unwrap();
        super::Tree::of(i32::try_from(child.id()).unwrap()).kill();
        child.wait().unwrap();
        let status = format!("/proc/{}/stat", line.trim());
        let gone = || std::fs::read_to_string(&status).map_or(true, |stat| stat.contains(") Z "));
        for _ in 0..500 {
            if gone() {
                return;
            }
            std::thread::sleep(std::time::Duration::from_millis(10));
        }
        panic!("{}", std::fs::read_to_string(&status).unwrap());
    }
}
