//! Works on a cluster by running kubectl: creates objects, lists pods, runs commands in pods, reads logs.
//!
//! kubectl finds the cluster and its credentials as it does in the user's shell, plugins for credentials included.

use std::fs::File;
use std::io::{BufRead as _, BufReader, Read as _, Seek as _, Write as _};
use std::os::unix::fs::FileExt as _;
use std::path::Path;
use std::process::{Command, ExitStatus, Stdio};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context as _, anyhow, bail};
use serde_json::Value;

use wirebench_engine::measure::clock::{Clock, Reading, now_ns};
use wirebench_engine::measure::drive::MAX_OUTPUT_BYTES;
use wirebench_engine::measure::interrupt::Interrupt;
use wirebench_engine::measure::process::{Group, ProcessGroup as _};
use wirebench_engine::measure::request::Request;

/// How long the API server may take to answer.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(60);
/// The same for the first time, when it may not be there at all.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);
const POLL: Duration = Duration::from_millis(5);
/// The most that a command may print where its output is kept in memory, bytes.
const MAX_KEPT_BYTES: u64 = 64 << 20;
/// How often each clock is read.
const CLOCK_READINGS: usize = 3;

/// A namespace of a cluster.
#[derive(Debug, Clone)]
pub(crate) struct Cluster {
    /// Flags of every call: `--context` and `--namespace`.
    flags: Vec<String>,
    pub(crate) namespace: String,
    /// Ends a call that runs.
    pub(crate) interrupt: Interrupt,
}

/// The output of a command in a pod, and its exit code.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct CommandOutput {
    pub(crate) stdout: String,
    pub(crate) stderr: String,
    pub(crate) code: i32,
}

/// A call of kubectl that has ended.
struct Call {
    status: ExitStatus,
    stdout: File,
    stderr: String,
}

impl Call {
    /// The exit code and the standard error of a command that `kubectl exec` ran in a pod.
    ///
    /// # Errors
    /// When the command did not run to its end, because the pod is gone.
    fn exit_code(&self, pod: &str) -> anyhow::Result<(i32, String)> {
        if self.status.success() {
            return Ok((0, self.stderr.trim().to_owned()));
        }
        exit_code(&self.stderr).ok_or_else(|| {
            let why = in_words(&self.stderr);
            anyhow!("no command can be run in pod {pod}, which may have been evicted or deleted: {why}")
        })
    }
}

/// A port of 127.0.0.1 that leads to a port of a pod; closed when dropped.
pub(crate) struct ForwardedPort {
    address: String,
    _forwarding: Group,
}

impl ForwardedPort {
    /// Sends the server one request by wirebench's own client and checks the response; returns the bytes of its body or message.
    ///
    /// # Errors
    /// When there is no response, or a wrong one.
    pub(crate) fn check(&self, request: &Request) -> anyhow::Result<u64> {
        let answer = request.check(&self.address)?;
        Ok(request.payload_bytes(&answer))
    }
}

impl Cluster {
    /// Finds the cluster of a context of the kubeconfig, by default the current one; inside a cluster, that cluster. Also returns its
    /// version.
    ///
    /// # Errors
    /// When there is no such context, kubectl is missing, or the API server does not answer.
    pub(crate) fn connect(
        context: Option<&str>,
        namespace: Option<&str>,
        interrupt: Interrupt,
    ) -> anyhow::Result<(Self, String)> {
        let flags = context.map(|name| format!("--context={name}"));
        let mut cluster = Self {
            flags: flags.into_iter().collect(),
            namespace: "default".into(),
            interrupt,
        };
        let config = cluster.text(&["config", "view", "--minify", "--output=json"], None);
        let config: Value = match (config, context) {
            (Ok(text), _) => serde_json::from_str(&text).context("the kubeconfig cannot be read; set KUBECONFIG")?,
            (Err(error), Some(name)) => {
                bail!("--context {name}: cannot be used; `kubectl config get-contexts` lists them: {error:#}")
            }
            // In a pod kubectl needs no file.
            (Err(_), None) if wirebench_spawn::variable("KUBERNETES_SERVICE_HOST").is_some() => Value::Null,
            (Err(error), None) => bail!(
                "no cluster: neither KUBECONFIG nor ~/.kube/config names one; set KUBECONFIG, or give --context: {error:#}"
            ),
        };
        let of_context = config["contexts"][0]["context"]["namespace"].as_str();
        if let Some(name) = namespace.or(of_context) {
            name.clone_into(&mut cluster.namespace);
            cluster.flags.push(format!("--namespace={name}"));
        }
        let server = config["clusters"][0]["cluster"]["server"]
            .as_str()
            .unwrap_or("of this pod");
        let timeout = format!("--request-timeout={}s", CONNECT_TIMEOUT.as_secs());
        let version = cluster
            .text(&["version", "--output=json", &timeout], None)
            .with_context(|| format!("the Kubernetes API at {server} does not answer"))?;
        let version: Value = serde_json::from_str(&version)?;
        let version = version["serverVersion"]["gitVersion"].as_str().unwrap_or("unknown");
        Ok((cluster, version.to_owned()))
    }

    /// Creates an object of any kind in the namespace, and returns it as the API server stored it.
    ///
    /// # Errors
    /// When the API refuses it; the message names the object.
    pub(crate) fn create(&self, object: &Value) -> anyhow::Result<Value> {
        let kind = object["kind"].as_str().unwrap_or_default();
        let name = object["metadata"]["name"].as_str().unwrap_or_default();
        let stored = self
            .text(&["create", "--filename=-", "--output=json"], Some(object))
            .map_err(|error| {
                anyhow!(
                    "{kind} {name} cannot be made in namespace {}: {error:#}",
                    self.namespace
                )
            })?;
        Ok(serde_json::from_str(&stored)?)
    }

    /// The pods that match a selector, by name.
    ///
    /// # Errors
    /// When the API refuses to list them.
    pub(crate) fn pods(&self, selector: &str) -> anyhow::Result<Vec<Value>> {
        let selector = format!("--selector={selector}");
        let list = self
            .text(&["get", "pods", &selector, "--output=json"], None)
            .map_err(|error| anyhow!("pods cannot be listed: {error:#}"))?;
        let mut list: Value = serde_json::from_str(&list)?;
        let mut pods = list["items"].as_array_mut().map(std::mem::take).unwrap_or_default();
        pods.sort_by_key(pod_name);
        Ok(pods)
    }

    /// The last lines of a container's log, on one line; empty if it has none.
    pub(crate) fn log_tail(&self, pod: &str, container: &str) -> String {
        let container = format!("--container={container}");
        let log = |more: &[&str]| {
            let args = [&["logs", pod, &container, "--tail=3"], more].concat();
            let log = self.text(&args, None).unwrap_or_default();
            log.trim().replace('\n', " ")
        };
        Some(log(&[]))
            .filter(|text| !text.is_empty())
            .unwrap_or_else(|| log(&["--previous"]))
    }

    /// Runs a command in a pod, no longer than `most`, and keeps what it prints.
    ///
    /// # Errors
    /// When the pod is gone, or ends before the command, or the command runs on.
    pub(crate) fn run(
        &self,
        (pod, container): (&str, &str),
        script: &str,
        most: Duration,
    ) -> anyhow::Result<CommandOutput> {
        let mut call = self.exec((pod, container), script, tempfile::tempfile()?, MAX_KEPT_BYTES, most)?;
        let (code, stderr) = call.exit_code(pod)?;
        Ok(CommandOutput {
            stdout: read(&mut call.stdout)?,
            stderr,
            code,
        })
    }

    /// Copies a file of `bytes` bytes out of a pod.
    ///
    /// # Errors
    /// When the pod is gone, or another number of bytes arrives.
    pub(crate) fn copy(&self, pod: (&str, &str), file: &str, bytes: u64, to: &Path) -> anyhow::Result<()> {
        if bytes > MAX_OUTPUT_BYTES {
            bail!(
                "{}: the driver wrote {bytes} bytes, more than {MAX_OUTPUT_BYTES}",
                pod.0
            );
        }
        let out = File::create(to).with_context(|| format!("{}: cannot be written", to.display()))?;
        let copied = self.exec(pod, &format!("cat {file}"), out, MAX_OUTPUT_BYTES, ANSWER_TIMEOUT)?;
        copied.exit_code(pod.0)?;
        let arrived = copied.stdout.metadata()?.len();
        if arrived != bytes {
            bail!("{}: of {bytes} bytes of output {arrived} arrived; measure again", pod.0);
        }
        Ok(())
    }

    /// Compares a pod's clock with this machine's.
    ///
    /// # Errors
    /// When the pod is gone, or its `date` does not print nanoseconds.
    pub(crate) fn compare_clock(&self, (pod, container): (&str, &str)) -> anyhow::Result<Clock> {
        const READ: &str = "while read -r line; do date +%s%N; done";
        let (input, mut ask) = std::io::pipe()?;
        let (answers, output) = std::io::pipe()?;
        let mut errors = tempfile::tempfile()?;
        let container = format!("--container={container}");
        let mut command = self.command(&["exec", "--stdin", pod, &container, "--", "sh", "-c", READ]);
        command.stdin(input).stdout(output).stderr(errors.try_clone()?);
        let _asked = start(&mut command)?;
        // Its ends of the pipes are open in the command as well.
        drop(command);
        let (arrived, arrivals) = mpsc::channel();
        thread::spawn(move || {
            for line in BufReader::new(answers).lines().map_while(Result::ok) {
                let _ = arrived.send((now_ns(), line));
            }
        });
        let mut readings = Vec::new();
        for _ in 0..CLOCK_READINGS {
            let sent = now_ns();
            let began = Instant::now();
            // A command that has ended answers nothing, which is said below.
            let _ = ask.write_all(b"\n");
            let (received, line) = loop {
                match arrivals.recv_timeout(POLL) {
                    Ok(answer) => break answer,
                    Err(RecvTimeoutError::Timeout) => self.check(began, ANSWER_TIMEOUT)?,
                    Err(RecvTimeoutError::Disconnected) => {
                        bail!(
                            "the clock of pod {pod} cannot be read: {}",
                            in_words(&read(&mut errors)?)
                        )
                    }
                }
            };
            readings.push(Reading {
                sent,
                remote: parse_date(&line)?,
                received,
            });
        }
        Clock::compare(&readings).ok_or_else(|| anyhow!("the clock of pod {pod} was not read"))
    }

    /// Opens a port of 127.0.0.1 that leads to a port of a pod.
    ///
    /// # Errors
    /// When the pod or the port cannot be reached.
    pub(crate) fn forward(&self, pod: &str, port: u16) -> anyhow::Result<ForwardedPort> {
        let (stdout, mut errors) = (tempfile::tempfile()?, tempfile::tempfile()?);
        let (pod, port) = (format!("pod/{pod}"), format!(":{port}"));
        let mut command = self.command(&["port-forward", &pod, &port, "--address=127.0.0.1"]);
        command
            .stdin(Stdio::null())
            .stdout(stdout.try_clone()?)
            .stderr(errors.try_clone()?);
        let forwarding = start(&mut command)?;
        loop {
            let mut said = [0; 256];
            // Read at a place: the command writes where the file's own position is.
            let length = stdout.read_at(&mut said, 0)?;
            if let Some(address) = forwarded_from(&String::from_utf8_lossy(&said[..length])) {
                return Ok(ForwardedPort {
                    address,
                    _forwarding: forwarding,
                });
            }
            if forwarding.has_ended() {
                bail!(
                    "port {port} of {pod} cannot be forwarded: {}",
                    in_words(&read(&mut errors)?)
                );
            }
            self.check(forwarding.started, ANSWER_TIMEOUT)?;
            thread::sleep(POLL);
        }
    }

    /// Runs a command in a pod, which may print `bytes` and take `most`; what it prints goes to a file.
    fn exec(
        &self,
        (pod, container): (&str, &str),
        script: &str,
        stdout: File,
        bytes: u64,
        most: Duration,
    ) -> anyhow::Result<Call> {
        let container = format!("--container={container}");
        let mut command = self.command(&["exec", pod, &container, "--", "sh", "-c", script]);
        command.stdin(Stdio::null());
        self.call(&mut command, stdout, bytes, most)
    }

    /// What kubectl prints, if it ends well; `input` is an object that it reads.
    ///
    /// # Errors
    /// When kubectl cannot be started, or the user requests a stop; when kubectl fails, with its own message.
    pub(crate) fn text(&self, args: &[&str], input: Option<&Value>) -> anyhow::Result<String> {
        let mut command = self.command(args);
        match input {
            None => command.stdin(Stdio::null()),
            Some(object) => {
                let mut file = tempfile::tempfile()?;
                serde_json::to_writer(&mut file, object)?;
                file.rewind()?;
                command.stdin(file)
            }
        };
        let mut call = self.call(&mut command, tempfile::tempfile()?, MAX_KEPT_BYTES, ANSWER_TIMEOUT)?;
        if !call.status.success() {
            bail!("{}", in_words(&call.stderr));
        }
        read(&mut call.stdout)
    }

    fn command(&self, args: &[&str]) -> Command {
        let mut command = wirebench_spawn::command("kubectl");
        command.args(&self.flags).args(args);
        command
    }

    /// Runs kubectl until it ends.
    ///
    /// # Errors
    /// When it cannot be started, prints more than `bytes`, runs longer than `most`, or the user requests a stop.
    fn call(&self, command: &mut Command, stdout: File, bytes: u64, most: Duration) -> anyhow::Result<Call> {
        let mut stderr = tempfile::tempfile()?;
        command.stdout(stdout.try_clone()?).stderr(stderr.try_clone()?);
        let mut running = start(command)?;
        while !running.has_ended() {
            self.check(running.started, most)?;
            if stdout.metadata()?.len() > bytes {
                bail!("more output than {bytes} bytes");
            }
            thread::sleep(POLL);
        }
        Ok(Call {
            status: running.kill_and_reap()?,
            stdout,
            stderr: read(&mut stderr)?,
        })
    }

    /// # Errors
    /// When the user requests a stop, or something that began then takes longer than `most`.
    fn check(&self, began: Instant, most: Duration) -> anyhow::Result<()> {
        if self.interrupt.is_requested() {
            bail!("interrupted");
        }
        anyhow::ensure!(began.elapsed() <= most, "no end after {most:?}");
        Ok(())
    }
}

/// A pod's name.
pub(crate) fn pod_name(pod: &Value) -> String {
    pod["metadata"]["name"].as_str().unwrap_or_default().to_owned()
}

/// Does the same with each of these at once, and returns the results in order, or the first error.
pub(crate) fn at_once<T: Sync, R: Send>(
    items: &[T],
    work: impl Fn(u32, &T) -> anyhow::Result<R> + Sync,
) -> anyhow::Result<Vec<R>> {
    thread::scope(|scope| {
        let work = &work;
        let started = (0..)
            .zip(items)
            .map(|(index, item)| scope.spawn(move || work(index, item)));
        let started: Vec<_> = started.collect();
        let ended = started
            .into_iter()
            .map(|one| one.join().map_err(|_| anyhow!("a thread ended by force"))?);
        ended.collect()
    })
}

/// Starts kubectl in a process group of its own: Ctrl-C in a terminal ends wirebench only, which then cleans up.
fn start(command: &mut Command) -> anyhow::Result<Group> {
    Group::spawn(command).map_err(|error| {
        anyhow!(
            "kubectl cannot be started: {error}; a run on a cluster needs it: https://kubernetes.io/docs/tasks/tools/"
        )
    })
}

/// All that a file contains, from its beginning.
fn read(file: &mut File) -> anyhow::Result<String> {
    let mut bytes = Vec::new();
    file.rewind()?;
    file.read_to_end(&mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// The exit code of a command in a pod, from what `kubectl exec` says of it, and what the command itself wrote; `None` if it was not run
/// to its end.
fn exit_code(stderr: &str) -> Option<(i32, String)> {
    let stderr = stderr.trim_end();
    let (own, last) = stderr.rsplit_once('\n').unwrap_or(("", stderr));
    let code = last.strip_prefix("command terminated with exit code ")?;
    Some((code.parse().ok()?, own.trim().to_owned()))
}

/// The address in what `kubectl port-forward` prints.
fn forwarded_from(said: &str) -> Option<String> {
    let (address, _) = said.strip_prefix("Forwarding from ")?.split_once(" -> ")?;
    Some(address.to_owned())
}

/// An error of kubectl on one line, with what to do about it.
fn in_words(stderr: &str) -> String {
    let lines = stderr.trim().lines().map(str::trim).filter(|line| !line.is_empty());
    let words = lines.collect::<Vec<_>>().join("; ");
    let words = words.strip_prefix("error: ").unwrap_or(&words);
    if words.contains("(Forbidden)") {
        format!("{words}; deploy/kubernetes/rbac.yaml holds the rights that are needed")
    } else if words.contains("no matches for kind \"ServiceMonitor\"") {
        "the cluster does not know ServiceMonitor; install the Prometheus operator, or leave the component out"
            .to_owned()
    } else {
        words.to_owned()
    }
}

/// Parses the output of `date +%s%N`.
///
/// # Errors
/// When it is not a number of nanoseconds.
fn parse_date(text: &str) -> anyhow::Result<i64> {
    let text = text.trim();
    let nanoseconds = text.parse().ok().filter(|_| text.len() >= 19);
    nanoseconds.ok_or_else(|| {
        anyhow!("`date +%s%N` in a load pod printed {text:?}; the load image needs a date that knows nanoseconds, as GNU's does")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_date_without_nanoseconds_is_refused() {
        assert_eq!(parse_date("1700000000123456789\n").unwrap(), 1_700_000_000_123_456_789);
        for text in ["1700000000", "1700000000%N", ""] {
            assert!(
                parse_date(text).unwrap_err().to_string().contains("load image"),
                "{text}"
            );
        }
    }

    #[test]
    fn a_command_s_failure_is_told_from_a_pod_that_is_gone() {
        let failed = "sh: 1: hey: not found\ncommand terminated with exit code 127\n";
        assert_eq!(exit_code(failed), Some((127, "sh: 1: hey: not found".into())));
        assert_eq!(
            exit_code("command terminated with exit code 1"),
            Some((1, String::new()))
        );
        assert_eq!(exit_code("Error from server (NotFound): pods \"a\" not found\n"), None);
        assert_eq!(exit_code(""), None);
    }

    #[test]
    fn the_forwarded_port_is_read_when_its_line_is_whole() {
        assert_eq!(
            forwarded_from("Forwarding from 127.0.0.1:39117 -> 8080\n").as_deref(),
            Some("127.0.0.1:39117")
        );
        for said in ["", "Forwarding from 127.0.0.1:391"] {
            assert_eq!(forwarded_from(said), None);
        }
    }

    #[test]
    fn missing_rights_and_kinds_are_told_with_what_to_do() {
        let words = in_words("Error from server (Forbidden): pods is forbidden: User \"u\" cannot list\n");
        assert!(
            words.ends_with("cannot list; deploy/kubernetes/rbac.yaml holds the rights that are needed"),
            "{words}"
        );
        let words = in_words(
            "error: resource mapping not found for name: \"m\" namespace: \"\" from \"STDIN\": no matches for kind \"ServiceMonitor\" in version \"monitoring.coreos.com/v1\"\nensure CRDs are installed first\n",
        );
        assert!(words.contains("install the Prometheus operator"), "{words}");
    }
}
