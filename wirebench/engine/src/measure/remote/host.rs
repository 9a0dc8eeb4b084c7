//! Another host, on which servers or load generators run.
//!
//! A load generator on another host: its program and files are copied there, and its output is copied back.
//!
//! The description that another host prints of itself.

use std::collections::{BTreeMap, HashSet};
use std::fs::{self, File};
use std::net::{IpAddr, SocketAddr};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use std::{io, iter};

use anyhow::anyhow;

use crate::measure::clock::{Clock, Reading, now_ns};
use crate::measure::digest;
use crate::measure::host::{described, fingerprinted};
use crate::measure::interrupt::Interrupt;
use crate::measure::kill_on_exit::TemporaryFolder;
use crate::measure::port::{LOWEST_PORT, random_in, socket};
use crate::measure::remote::connection::{Address, Ssh, no_folder, no_ssh};
use crate::measure::remote::ping;
use crate::measure::remote::process::{Process, checked_program, reaped_ticks, receive_script, upload_file};
use crate::measure::remote::shell::Shell;
use crate::measure::slot::files;
use wirebench_declare::plan::PlannedSeries;
use wirebench_declare::scenario::Amount;
use wirebench_declare::server::{GrpcOperation, Operation};
use wirebench_record::run::{self, HostRole, Ping, RemoteHost};

/// How long ssh may take to print why it failed.
const SSH_ERROR_TIMEOUT: Duration = Duration::from_secs(2);

/// A connected host. The files and processes of the run there are removed when this is dropped, or the connection ends in
/// another way.
#[derive(Debug)]
pub struct Host {
    shell: Arc<Shell>,
    /// ssh's shared connection, for the copies of files.
    ssh: Ssh,
    facts: Facts,
    clock: Option<Clock>,
    role: HostRole,
    /// Paths of copied programs on the host, by the file on this machine.
    programs: Mutex<BTreeMap<String, String>>,
    /// SHA-256 of other copied files, by their path on the host.
    copied_files: Mutex<BTreeMap<String, String>>,
    /// The number of processes started so far.
    started: AtomicU32,
}

/// Whether a series can be measured with its server on another host. Left out are start-up and benchmarks, in which the
/// driver starts the program, counting, and TLS, whose certificate is for this machine.
pub fn fits(series: &PlannedSeries) -> bool {
    let loads = matches!(
        series.load.amount,
        Amount::Requests(_) | Amount::Duration(_) | Amount::Stages(_)
    );
    loads && !series.protocol.has_tls() && !matches!(series.operation, Operation::Bench(_))
}

impl Host {
    /// Connects, and makes a folder for the run on the host.
    ///
    /// # Errors
    /// When the host cannot be reached, or lacks something.
    pub fn open(address: &Address, role: HostRole, interrupt: &Interrupt) -> anyhow::Result<Self> {
        let ssh = Ssh {
            address: address.clone(),
            folder: TemporaryFolder::make("wirebench-ssh-").map_err(|error| no_folder(&error))?,
        };
        let shell = Shell::open(&mut ssh.master()?).map_err(|error| no_ssh(&error))?;
        let connection_error = |shell: &Shell| {
            shell.has_ended_within(SSH_ERROR_TIMEOUT);
            if interrupt.is_requested() {
                anyhow!("interrupted")
            } else {
                ssh.unreachable()
            }
        };
        let lacks = |what: &str, advice: &str| anyhow!("{address}: the host lacks {what}; {advice}");
        let output = shell.run("facts").map_err(|error| match error.kind() {
            io::ErrorKind::Unsupported => lacks(&error.to_string(), advice_for(&error.to_string())),
            _ => connection_error(&shell),
        })?;
        let facts = Facts::parse(&output).map_err(|what| {
            lacks(
                what,
                "it must be a Linux host that ssh reaches, with a login that prints nothing else",
            )
        })?;
        let clock = compare_clocks(&shell).map_err(|_| connection_error(&shell))?;
        Ok(Self {
            shell: Arc::new(shell),
            ssh,
            facts,
            clock,
            role,
            programs: Mutex::default(),
            copied_files: Mutex::default(),
            started: AtomicU32::new(0),
        })
    }

    /// The host's address in ssh's connection: servers listen there.
    pub fn ip(&self) -> IpAddr {
        self.facts.ip
    }

    /// The address of this machine as the host sees it.
    pub fn local_ip(&self) -> IpAddr {
        self.facts.local_ip
    }

    /// Round-trip times to the host, by TCP connections to a port that no program listens on.
    pub fn ping(&self) -> Option<Ping> {
        let port = self.free_port(None).ok()?;
        ping::refusals(SocketAddr::new(self.ip(), port))
    }

    /// CPUs that may be used on the host.
    pub fn cpus(&self) -> usize {
        self.facts.cpus as usize
    }

    /// The host as a record describes it: without its name and address.
    pub fn recorded(&self) -> RemoteHost {
        RemoteHost {
            role: self.role,
            host: self.facts.host.clone(),
            clock_offset_ns: self.clock.map(|clock| clock.offset_ns),
            clock_uncertainty_ns: self.clock.map(|clock| clock.uncertainty_ns),
        }
    }

    /// CPU time that the hypervisor gave to others so far, ns over all its CPUs.
    pub fn steal_ns(&self) -> Option<u64> {
        let ticks: u64 = self.shell.run("steal").ok()?.trim().parse().ok()?;
        Some(ticks * self.facts.tick_ns)
    }

    /// Copies a native program to the host, unless it was copied before. Returns its path there.
    ///
    /// # Errors
    /// When it cannot be read, cannot run on the host, or does not fit on its disk; the message does not name the host.
    pub(in crate::measure) fn copy_program(&self, file: &str, interrupt: &Interrupt) -> io::Result<String> {
        let mut programs = self.programs.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(path) = programs.get(file) {
            return Ok(path.clone());
        }
        let hash = checked_program(Path::new(file), &self.facts.arch)?;
        let path = format!("{}/{hash}", self.facts.folder);
        self.upload(Path::new(file), &path, interrupt)?;
        programs.insert(file.to_owned(), path.clone());
        Ok(path)
    }

    /// Copies a file to a path on the host, unless an equal file was copied there.
    ///
    /// # Errors
    /// When it cannot be read, or does not fit on the host's disk.
    pub(super) fn upload(&self, file: &Path, path: &str, interrupt: &Interrupt) -> io::Result<()> {
        let hash = digest::sha256(&fs::read(file)?);
        let mut copied = self.copied_files.lock().unwrap_or_else(PoisonError::into_inner);
        if copied.get(path) != Some(&hash) {
            let mut command = self.ssh.command_over_connection(&receive_script(path))?;
            upload_file(file, &hash, &mut command, interrupt)?;
            copied.insert(path.to_owned(), hash);
        }
        Ok(())
    }

    /// Copies a file from the host.
    ///
    /// # Errors
    /// When it does not exist, cannot be written to this machine, or the connection is lost.
    pub(super) fn download(&self, path: &str, file: &Path) -> io::Result<()> {
        let mut command = self.ssh.command_over_connection(&shell_words::join(["cat", path]))?;
        let output = command.stdout(File::create(file)?).spawn()?.wait_with_output()?;
        if output.status.success() {
            return Ok(());
        }
        let errors = String::from_utf8_lossy(&output.stderr);
        let last = errors.lines().next_back().unwrap_or("the connection is lost");
        Err(io::Error::other(format!(
            "what the load generator wrote cannot be brought from its host: {last}"
        )))
    }

    /// Runs a command in the host's shell and returns its output.
    ///
    /// # Errors
    /// When the connection is lost.
    pub(super) fn run(&self, words: &[&str]) -> io::Result<String> {
        self.shell.run(&shell_words::join(words))
    }

    /// Starts a command on the host.
    ///
    /// # Errors
    /// When the connection is lost.
    pub(in crate::measure) fn start(&self, argv: &[String], env: &BTreeMap<String, String>) -> io::Result<Process> {
        let name = format!("process-{}", self.started.fetch_add(1, Ordering::Relaxed));
        Process::start(&self.shell, name, argv, env, self.facts.tick_ns)
    }

    /// Makes an empty folder on the host, and returns its path.
    ///
    /// # Errors
    /// When the connection is lost.
    pub(in crate::measure) fn make_folder(&self) -> io::Result<String> {
        let number = self.started.load(Ordering::Relaxed);
        let path = format!("{}/data-{number}", self.facts.folder);
        self.run(&["mkdir", "-p", &path])?;
        Ok(path)
    }

    /// A port that is free on the host: the fixed one, or a random one that is never given to outgoing connections.
    ///
    /// # Errors
    /// When the connection is lost, or the fixed port is in use.
    pub(in crate::measure) fn free_port(&self, fixed: Option<u16>) -> io::Result<u16> {
        let output = self.shell.run("ports")?;
        let (outgoing, used) = parse_ports(&output);
        if let Some(port) = fixed {
            let taken = || io::Error::new(io::ErrorKind::AddrInUse, "on the other host");
            return if used.contains(&port) { Err(taken()) } else { Ok(port) };
        }
        let range = LOWEST_PORT..outgoing.max(LOWEST_PORT + 1_000);
        let free = iter::repeat_with(|| random_in(&range))
            .take(1_000)
            .find(|port| !used.contains(port));
        free.ok_or_else(|| io::Error::other("no port is free on the other host"))
    }

    /// The path on the host of a file that a load generator reads or writes.
    pub(in crate::measure) fn load_file(&self, name: &str) -> String {
        format!("{}/load/{name}", self.facts.folder)
    }

    /// Copies the files that the driver of a series reads: those of the round in `folder`, its own scripts, and the .proto files.
    ///
    /// # Errors
    /// When a file cannot be read, or does not fit on the host's disk.
    pub(in crate::measure) fn upload_inputs(
        &self,
        series: &PlannedSeries,
        project: &Path,
        folder: &Path,
        interrupt: &Interrupt,
    ) -> io::Result<()> {
        let round = [files::BODY, files::PROTOSET].map(|name| (folder.join(name), name.to_owned()));
        let mut all: Vec<(PathBuf, String)> = round.into_iter().filter(|(file, _)| file.exists()).collect();
        all.extend(files::below(&series.driver.folder, ".js", files::DRIVER)?);
        if let Operation::Grpc(GrpcOperation { proto: Some(file), .. }) = series.operation {
            let root = &file.proto_root;
            all.extend(files::below(
                &project.join(root),
                ".proto",
                &format!("{}/{root}", files::PROJECT),
            )?);
        }
        for (file, name) in all {
            self.upload(&file, &self.load_file(&name), interrupt)?;
        }
        Ok(())
    }

    /// Starts a load generator on the host. Its program is copied first, and the raw file of the previous one is removed.
    ///
    /// # Errors
    /// When the program cannot be copied, or the connection is lost.
    pub(in crate::measure) fn start_load(
        &self,
        argv: &[String],
        env: &BTreeMap<String, String>,
        interrupt: &Interrupt,
    ) -> io::Result<Process> {
        let (program, args) = argv.split_first().ok_or_else(|| io::Error::other("an empty command"))?;
        let program = self.copy_program(program, interrupt)?;
        self.run(&["rm", "-f", &self.load_file(files::RAW)])?;
        let argv: Vec<String> = iter::once(program).chain(args.iter().cloned()).collect();
        let ticks_before = reaped_ticks(&self.shell);
        let mut process = self.start(&argv, env)?;
        process.ticks_before = ticks_before;
        Ok(process)
    }

    /// Bytes that a load generator has written on the host so far.
    pub(in crate::measure) fn output_bytes(&self, process: &Process) -> u64 {
        let raw = self.load_file(files::RAW);
        let output = self.run(&["size", &process.output("stdout"), &process.output("stderr"), &raw]);
        output.ok().and_then(|bytes| bytes.trim().parse().ok()).unwrap_or(0)
    }

    /// Moves the output of a load generator to files of this machine: its standard output, standard error and raw file.
    ///
    /// # Errors
    /// When a file cannot be written to this machine, or the connection is lost.
    pub(in crate::measure) fn download_output(
        &self,
        process: &Process,
        [stdout_to, stderr_to, raw_to]: [&Path; 3],
    ) -> io::Result<()> {
        let [stdout, stderr] = ["stdout", "stderr"].map(|stream| process.output(stream));
        self.download(&format!("{}/{stdout}", self.facts.folder), stdout_to)?;
        self.download(&format!("{}/{stderr}", self.facts.folder), stderr_to)?;
        let raw = self.load_file(files::RAW);
        if self.run(&["size", &raw])?.trim() != "0" {
            self.download(&raw, raw_to)?;
        }
        self.run(&["rm", "-f", &stdout, &stderr, &raw]).map(drop)
    }
}

/// What to do about something that a host lacks, by the name that shell.sh prints.
fn advice_for(what: &str) -> &'static str {
    match what {
        "/proc" => "servers are measured on Linux only",
        "room" => "free some space there in its folder for temporary files",
        _ => "install coreutils and util-linux there, or busybox",
    }
}

/// The first port of outgoing connections (from `ip_local_port_range`), and the ports in use (from the kernel's tables).
fn parse_ports(output: &str) -> (u16, HashSet<u16>) {
    let outgoing = output.split_whitespace().next().and_then(|word| word.parse().ok());
    let used = output.lines().filter_map(|line| Some(socket(line)?.0));
    (outgoing.unwrap_or(32_768), used.collect())
}

/// How often the clock is read.
const READINGS: usize = 5;

/// Compares the clocks; `None` if the host's `date` does not print nanoseconds.
///
/// # Errors
/// When the connection is lost.
pub(super) fn compare_clocks(shell: &Shell) -> io::Result<Option<Clock>> {
    let mut readings = Vec::new();
    for _ in 0..READINGS {
        let sent = now_ns();
        let output = shell.run("date +%s%N")?;
        let received = now_ns();
        if let Ok(remote) = output.trim().parse() {
            readings.push(Reading { sent, remote, received });
        }
    }
    Ok(Clock::compare(&readings))
}

/// What shell.sh prints about a host, one fact a line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Facts {
    /// The run's folder on the host.
    pub(super) folder: String,
    /// The processor's kind, as `uname -m` names it.
    pub(super) arch: String,
    /// CPUs that the user may use.
    pub(super) cpus: u32,
    /// The kernel's accounting tick, ns.
    pub(super) tick_ns: u64,
    /// Its address in ssh's connection.
    pub(super) ip: IpAddr,
    /// This machine's address in that connection.
    pub(super) local_ip: IpAddr,
    /// The host as a record describes it: without its name and address.
    pub(super) host: run::Host,
}

impl Facts {
    /// Parses the output of `facts` of shell.sh; other lines, which a login prints, are ignored.
    ///
    /// # Errors
    /// What is missing.
    pub(super) fn parse(text: &str) -> Result<Self, &'static str> {
        let fact = |name: &str| {
            let mut lines = text.lines();
            lines.find_map(|line| Some(line.strip_prefix(name)?.strip_prefix(' ')?.trim()))
        };
        let tick: u64 = fact("tick")
            .and_then(|text| text.parse().ok())
            .ok_or("its clock's tick")?;
        let connection = |word: usize| fact("connection").and_then(|text| text.split(' ').nth(word)?.parse().ok());
        let no_address = "the address by which it is reached (SSH_CONNECTION)";
        let host: Vec<&str> = text.lines().filter_map(|line| line.strip_prefix("host ")).collect();
        let cpus = fact("cpus").and_then(|text| text.parse().ok()).ok_or("its CPUs")?;
        Ok(Self {
            folder: fact("dir").ok_or("a folder")?.to_owned(),
            arch: fact("arch").ok_or("its architecture")?.to_owned(),
            cpus,
            tick_ns: 1_000_000_000 / tick.max(1),
            ip: connection(2).ok_or(no_address)?,
            local_ip: connection(0).ok_or(no_address)?,
            host: fingerprinted(run::Host {
                cpu_count: cpus,
                ..described(&host.join("\n"))
            }),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ports_in_use_are_read_from_the_kernels_tables() {
        let output = "32768\t60999\n  sl  local_address rem_address   st\n   0: 0100007F:1F90 00000000:0000 0A\n\
                    \x20  1: 00000000000000000000000000000000:0016 00000000000000000000000000000000:0000 0A";
        let (outgoing, used) = parse_ports(output);
        assert_eq!(outgoing, 32_768);
        assert_eq!(used, HashSet::from([8080, 22]));
    }
}

#[cfg(test)]
mod facts_tests {
    use super::*;

    const OUTPUT: &str = "Welcome!\ndir /tmp/wirebench-x\narch x86_64\nhost Linux 6.1 x86_64\ncpus 4\ntick 100\nconnection 10.0.0.1 4242 10.0.0.2 22\nhost MemTotal:       1024 kB\nhost model name\t: A CPU: fast";

    #[test]
    fn a_host_describes_itself() {
        let facts = Facts::parse(OUTPUT).unwrap();
        assert_eq!(
            (facts.cpus, facts.tick_ns, &*facts.ip.to_string()),
            (4, 10_000_000, "10.0.0.2")
        );
        assert_eq!(facts.local_ip.to_string(), "10.0.0.1");
        let host = facts.host;
        assert_eq!(host.cpu_model.as_deref(), Some("A CPU: fast"));
        assert_eq!(host.memory_bytes, Some(1 << 20));
        assert_eq!(host.fingerprint.len(), 12);
        assert!(!format!("{host:?}").contains("10.0.0"), "{host:?}");
    }

    #[test]
    fn what_is_missing_is_named() {
        let without = |name: &str| {
            let lines: Vec<&str> = OUTPUT.lines().filter(|line| !line.starts_with(name)).collect();
            Facts::parse(&lines.join("\n")).unwrap_err()
        };
        assert_eq!(without("cpus"), "its CPUs");
        assert!(without("connection").contains("SSH_CONNECTION"));
    }
}
