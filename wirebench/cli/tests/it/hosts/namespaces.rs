//! Two hosts on one machine: two network namespaces, an sshd in the second, and a link between them.

use std::fs;
use std::io::{BufRead as _, BufReader, Read as _};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};

use serde_json::Value;
use tempfile::TempDir;

use crate::bench::{Bench, Ended, ended, fixture};
use crate::built;

const HERE: &str = "10.77.0.1";
/// The address of the server's host.
pub(super) const THERE: &str = "10.77.0.2";
const SSHD: &str = "/usr/sbin/sshd";

/// Numbers the namespaces of this process.
static MADE: AtomicU32 = AtomicU32::new(0);

/// Two namespaces; they go with this value, and all that still runs in them.
pub(super) struct Hosts {
    here: String,
    there: String,
    folder: TempDir,
    sshd: Child,
}

/// How a link delays and drops; it goes with this value.
pub(super) struct Link {
    carrier: Child,
    input: Option<ChildStdin>,
}

impl Hosts {
    /// Two hosts without a link yet; `None`, and a printed reason, where they cannot be made.
    pub(super) fn make() -> Option<Self> {
        let number = MADE.fetch_add(1, Ordering::Relaxed);
        let names = ["here", "there"].map(|side| format!("wb-{}-{number}-{side}", std::process::id()));
        if let Err(why) = can_make(&names) {
            println!("not asked: {why}");
            return None;
        }
        let [here, there] = names;
        let folder = tempfile::tempdir().unwrap();
        let sshd = start_sshd(folder.path(), &there);
        Some(Self {
            here,
            there,
            folder,
            sshd,
        })
    }

    /// A link that delays every packet and drops a share of them.
    pub(super) fn slow_link(&self, delay_ms: f64, loss: f64) -> Link {
        let (ours, theirs) = (format!("{HERE}/24"), format!("{THERE}/24"));
        let mut carrier = Command::new(built::python())
            .args([&fixture("link.py"), &self.here, &ours, &self.there, &theirs])
            .args([delay_ms.to_string(), loss.to_string()])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        let mut byte = [0];
        let output = carrier.stdout.as_mut().unwrap();
        while !line.ends_with('\n') && output.read(&mut byte).unwrap() > 0 {
            line.push(char::from(byte[0]));
        }
        assert_eq!(line, "ready\n", "the link is up");
        let input = carrier.stdin.take();
        Link { carrier, input }
    }

    /// What the command line prints on the first host, with an ssh that knows the second one's key.
    pub(super) fn run(&self, bench: &Bench, args: &[&str]) -> Ended {
        ended(&mut self.command(bench, args, "config"))
    }

    /// The same, started; `config` is the name of ssh's configuration.
    pub(super) fn command(&self, bench: &Bench, args: &[&str], config: &str) -> Command {
        let inner = bench.command_of(args);
        let mut command = Command::new("ip");
        command.args(["netns", "exec", &self.here]).arg(inner.get_program());
        command
            .args(inner.get_args())
            .current_dir(inner.get_current_dir().unwrap());
        for (name, value) in inner.get_envs() {
            match value {
                Some(value) => command.env(name, value),
                None => command.env_remove(name),
            };
        }
        let config = self.folder.path().join(config);
        command.env("WIREBENCH_SSH", format!("ssh -F {}", config.display()));
        command.stdin(Stdio::null());
        command
    }

    /// Where servers are told to run.
    pub(super) fn address() -> String {
        format!("ssh://root@{THERE}")
    }

    /// A file of this scene, such as the one that ssh looks up keys of hosts in.
    pub(super) fn file(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Command lines of what runs on the second host besides its sshd.
    pub(super) fn running_there(&self) -> Vec<String> {
        let said = says(&["netns", "pids", &self.there]);
        let command = |pid: &str| fs::read_to_string(format!("/proc/{pid}/cmdline")).ok();
        let commands = said.lines().filter_map(command).map(|text| text.replace('\0', " "));
        commands
            .filter(|text| !text.is_empty() && !text.contains("sshd"))
            .collect()
    }

    /// Folders that runs made on the second host and did not remove.
    pub(super) fn folders_there(&self) -> Vec<PathBuf> {
        let entries = fs::read_dir(self.folder.path().join("tmp")).unwrap().flatten();
        entries.map(|entry| entry.path()).collect()
    }

    /// Ends the sessions of sshd without a word to the other side, as a host that loses its network does.
    pub(super) fn cut(&self) {
        says(&["-n", &self.there, "link", "set", "dev", "lo", "down"]);
        for device in fs_devices(&self.there) {
            says(&["-n", &self.there, "link", "set", "dev", &device, "down"]);
        }
    }
}

/// The names of a namespace's network devices besides loopback.
fn fs_devices(namespace: &str) -> Vec<String> {
    let said = says(&["-n", namespace, "-brief", "link"]);
    let names = said.lines().filter_map(|line| line.split_whitespace().next());
    names.filter(|name| *name != "lo").map(str::to_owned).collect()
}

impl Link {
    /// Ends it, and returns what it carried.
    pub(super) fn end(mut self) -> Value {
        drop(self.input.take());
        let mut line = String::new();
        BufReader::new(self.carrier.stdout.take().unwrap())
            .read_line(&mut line)
            .unwrap();
        serde_json::from_str(&line).unwrap()
    }
}

impl Drop for Link {
    fn drop(&mut self) {
        drop(self.input.take());
        let _ = self.carrier.wait();
    }
}

impl Drop for Hosts {
    fn drop(&mut self) {
        let _ = self.sshd.kill();
        let _ = self.sshd.wait();
        for namespace in [&self.here, &self.there] {
            for pid in says(&["netns", "pids", namespace]).lines() {
                let _ = Command::new("kill").args(["-KILL", pid]).status();
            }
            says(&["netns", "delete", namespace]);
        }
    }
}

fn says(args: &[&str]) -> String {
    let output = Command::new("ip").args(args).output().unwrap();
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// Makes the namespaces.
///
/// # Errors
/// Why this machine has none.
fn can_make(names: &[String; 2]) -> Result<(), String> {
    for (file, what) in [
        (SSHD, "openssh-server is not installed"),
        ("/dev/net/tun", "there is no /dev/net/tun"),
    ] {
        if !Path::new(file).exists() {
            return Err(what.to_owned());
        }
    }
    for name in names {
        let made = Command::new("ip").args(["netns", "add", name]).output();
        let output = made.map_err(|error| format!("ip: {error}"))?;
        if !output.status.success() {
            return Err(String::from_utf8_lossy(&output.stderr).trim().to_owned());
        }
        says(&["-n", name, "link", "set", "lo", "up"]);
    }
    Ok(())
}

/// An sshd in that namespace with keys of its own, and configurations for clients that know its key and that do not.
fn start_sshd(folder: &Path, namespace: &str) -> Child {
    let path = |name: &str| folder.join(name).display().to_string();
    for key in ["host", "user"] {
        let made = Command::new("ssh-keygen")
            .args(["-q", "-t", "ed25519", "-N", "", "-f", &path(key)])
            .status();
        assert!(made.unwrap().success());
    }
    let public = |key: &str| fs::read_to_string(folder.join(format!("{key}.pub"))).unwrap();
    fs::write(folder.join("authorized"), public("user")).unwrap();
    fs::write(folder.join("known"), format!("{THERE} {}", public("host"))).unwrap();
    fs::create_dir(folder.join("tmp")).unwrap();
    let client = |known: &str| {
        format!(
            "IdentityFile {}\nIdentitiesOnly yes\nUserKnownHostsFile {}\nGlobalKnownHostsFile none\n",
            path("user"),
            path(known)
        )
    };
    fs::write(folder.join("config"), client("known")).unwrap();
    fs::write(folder.join("stranger"), client("empty")).unwrap();
    let server = format!(
        "ListenAddress 0.0.0.0:22\nHostKey {}\nAuthorizedKeysFile {}\nStrictModes no\nUsePAM no\nPidFile none\nSetEnv TMPDIR={}\n",
        path("host"),
        path("authorized"),
        path("tmp")
    );
    fs::write(folder.join("sshd"), server).unwrap();
    fs::create_dir_all("/run/sshd").unwrap();
    Command::new("ip")
        .args(["netns", "exec", namespace, SSHD, "-D", "-f", &path("sshd")])
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap()
}
