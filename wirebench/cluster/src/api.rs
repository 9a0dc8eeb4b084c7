//! The Kubernetes API: creates objects, lists pods, runs commands in pods, reads logs.

use std::fs::File;
use std::io::Write as _;
use std::path::Path;
use std::time::Duration;

use anyhow::{Context as _, anyhow, bail};
use futures_util::future;
use k8s_openapi::api::core::v1::Pod;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Status;
use kube::api::{Api, AttachParams, DynamicObject, ListParams, LogParams, PostParams};
use kube::config::{KubeConfigOptions, Kubeconfig};
use kube::core::{ApiResource, GroupVersionKind};
use kube::{Client, Config};
use serde_json::Value;
use tokio::io::{AsyncRead, AsyncReadExt as _};

use wirebench_engine::measure::clock::{Reading, now_ns};
use wirebench_engine::measure::drive::MAX_OUTPUT_BYTES;

pub(crate) use wirebench_engine::measure::clock::Clock;

/// How long the API server may take to accept a connection.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);
/// The buffer for a command's output, bytes.
const BUFFER_BYTES: usize = 1 << 20;
/// The most that a command may print where its output is kept in memory, bytes.
const MAX_KEPT_BYTES: usize = 1 << 20;

/// A namespace of a cluster.
#[derive(Clone)]
pub(crate) struct Cluster {
    pub(crate) client: Client,
    pub(crate) namespace: String,
}

/// The output of a command in a pod, and its exit code.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct CommandOutput {
    pub(crate) stdout: String,
    pub(crate) stderr: String,
    pub(crate) code: i32,
}

impl Cluster {
    /// Connects to the cluster of a context of the kubeconfig, by default the current one; inside a cluster, to that cluster.
    ///
    /// # Errors
    /// When there is no such context, or the API server does not answer.
    pub(crate) async fn connect(context: Option<&str>, namespace: Option<&str>) -> anyhow::Result<(Self, String)> {
        let mut config = match context {
            None => Config::infer().await.context(
                "no cluster: neither KUBECONFIG nor ~/.kube/config names one; set KUBECONFIG, or give --context",
            )?,
            Some(name) => {
                let options = KubeConfigOptions {
                    context: Some(name.to_owned()),
                    ..KubeConfigOptions::default()
                };
                let file = Kubeconfig::read().context("the kubeconfig cannot be read; set KUBECONFIG")?;
                Config::from_custom_kubeconfig(file, &options).await.with_context(|| {
                    format!("--context {name}: cannot be used; `kubectl config get-contexts` lists them")
                })?
            }
        };
        config.connect_timeout = Some(CONNECT_TIMEOUT);
        // A load may print nothing for a long time.
        config.read_timeout = None;
        let namespace = namespace.map_or_else(|| config.default_namespace.clone(), str::to_owned);
        let server = config.cluster_url.to_string();
        let client = Client::try_from(config).context("the kubeconfig's credentials cannot be used")?;
        let version = client.apiserver_version();
        let version = tokio::time::timeout(CONNECT_TIMEOUT, version).await;
        let version = version
            .map_err(|_| anyhow!("no answer in {CONNECT_TIMEOUT:?}"))
            .and_then(|answer| Ok(answer?))
            .with_context(|| format!("the Kubernetes API at {server} does not answer"))?;
        Ok((Self { client, namespace }, version.git_version))
    }

    /// Creates an object of any kind in the namespace, and returns it as the API server stored it.
    ///
    /// # Errors
    /// When the API refuses it; the message names the object.
    pub(crate) async fn create(&self, object: &Value) -> anyhow::Result<Value> {
        let kind = object["kind"].as_str().unwrap_or_default();
        let made: DynamicObject = serde_json::from_value(object.clone()).context("an object without kind or name")?;
        let api: Api<DynamicObject> = Api::namespaced_with(self.client.clone(), &self.namespace, &resource(object));
        let stored = api.create(&PostParams::default(), &made).await;
        let stored = stored.map_err(|error| {
            let name = made.metadata.name.clone().unwrap_or_default();
            anyhow!(
                "{kind} {name} cannot be made in namespace {}: {}",
                self.namespace,
                in_words(&error, kind)
            )
        })?;
        Ok(serde_json::to_value(stored)?)
    }

    /// The pods that match a selector, by name.
    ///
    /// # Errors
    /// When the API refuses to list them.
    pub(crate) async fn pods(&self, selector: &str) -> anyhow::Result<Vec<Pod>> {
        let api: Api<Pod> = Api::namespaced(self.client.clone(), &self.namespace);
        let list = api.list(&ListParams::default().labels(selector)).await;
        let list = list.map_err(|error| anyhow!("pods cannot be listed: {}", in_words(&error, "Pod")))?;
        let mut pods = list.items;
        pods.sort_by(|one, other| one.metadata.name.cmp(&other.metadata.name));
        Ok(pods)
    }

    /// The last lines of a container's log, on one line; empty if it has none.
    pub(crate) async fn log_tail(&self, pod: &str, container: &str) -> String {
        let api: Api<Pod> = Api::namespaced(self.client.clone(), &self.namespace);
        let params = |previous| LogParams {
            container: Some(container.to_owned()),
            tail_lines: Some(3),
            previous,
            ..LogParams::default()
        };
        for previous in [false, true] {
            let log = api.logs(pod, &params(previous)).await.unwrap_or_default();
            let text = log.trim().replace('\n', " ");
            if !text.is_empty() {
                return text;
            }
        }
        String::new()
    }

    /// Runs a command in a pod and keeps what it prints.
    ///
    /// # Errors
    /// When the pod is gone, or ends before the command.
    pub(crate) async fn run(&self, pod: &str, container: &str, script: &str) -> anyhow::Result<CommandOutput> {
        let mut stdout = Vec::new();
        let (stderr, code) = self.exec((pod, container), script, keep_beginning(&mut stdout)).await?;
        Ok(CommandOutput {
            stdout: String::from_utf8_lossy(&stdout).into_owned(),
            stderr,
            code,
        })
    }

    /// Copies a file of `bytes` bytes out of a pod.
    ///
    /// # Errors
    /// When the pod is gone, or another number of bytes arrives.
    pub(crate) async fn copy(&self, pod: (&str, &str), file: &str, bytes: u64, to: &Path) -> anyhow::Result<()> {
        if bytes > MAX_OUTPUT_BYTES {
            bail!(
                "{}: the driver wrote {bytes} bytes, more than {MAX_OUTPUT_BYTES}",
                pod.0
            );
        }
        let mut out = File::create(to).with_context(|| format!("{}: cannot be written", to.display()))?;
        let mut arrived = 0;
        let write = |piece: &[u8]| {
            arrived += piece.len() as u64;
            if arrived > MAX_OUTPUT_BYTES {
                return Err(std::io::Error::other("more output than announced"));
            }
            out.write_all(piece)
        };
        self.exec(pod, &format!("cat {file}"), write).await?;
        if arrived != bytes {
            bail!("{}: of {bytes} bytes of output {arrived} arrived; measure again", pod.0);
        }
        Ok(())
    }

    /// Runs a command; returns what it wrote to stderr, and its exit code.
    async fn exec(
        &self,
        (pod, container): (&str, &str),
        script: &str,
        stdout: impl FnMut(&[u8]) -> std::io::Result<()>,
    ) -> anyhow::Result<(String, i32)> {
        let api: Api<Pod> = Api::namespaced(self.client.clone(), &self.namespace);
        let params = AttachParams {
            container: Some(container.to_owned()),
            max_stdout_buf_size: Some(BUFFER_BYTES),
            ..AttachParams::default()
        };
        let started = api.exec(pod, ["sh", "-c", script], &params).await;
        let mut process = started
            .map_err(|error| anyhow!("no command can be run in pod {pod}: {}", in_words(&error, "pods/exec")))?;
        let out = process.stdout().context("no output of the command")?;
        let err = process.stderr().context("no errors of the command")?;
        let status = process.take_status().context("no status of the command")?;
        let mut errors = Vec::new();
        let (copied, wrote, status) =
            future::join3(drain(out, stdout), drain(err, keep_beginning(&mut errors)), status).await;
        copied?;
        wrote?;
        let status =
            status.ok_or_else(|| anyhow!("pod {pod} ended while a command ran in it: evicted, deleted or crashed"))?;
        let code = exit_code(&status).map_err(|why| {
            anyhow!("no command can be run in pod {pod}, which may have been evicted or deleted: {why}")
        })?;
        Ok((String::from_utf8_lossy(&errors).trim().to_owned(), code))
    }
}

/// Keeps what is printed, up to the most that is kept.
fn keep_beginning(kept: &mut Vec<u8>) -> impl FnMut(&[u8]) -> std::io::Result<()> {
    |piece| {
        let room = MAX_KEPT_BYTES.saturating_sub(kept.len());
        kept.extend_from_slice(&piece[..piece.len().min(room)]);
        Ok(())
    }
}

/// Hands over everything that is printed, also what is not kept: the command would wait otherwise.
async fn drain(
    mut from: impl AsyncRead + Unpin,
    mut take: impl FnMut(&[u8]) -> std::io::Result<()>,
) -> std::io::Result<()> {
    let mut piece = vec![0; 64 << 10];
    loop {
        match from.read(&mut piece).await? {
            0 => return Ok(()),
            length => take(&piece[..length])?,
        }
    }
}

/// The exit code in the status that ends a command.
///
/// # Errors
/// When there is none, because the command was never started; the message is the API's.
fn exit_code(status: &Status) -> Result<i32, String> {
    if status.status.as_deref() == Some("Success") {
        return Ok(0);
    }
    let causes = status.details.as_ref().and_then(|details| details.causes.as_ref());
    let cause = causes.and_then(|list| list.iter().find(|cause| cause.reason.as_deref() == Some("ExitCode")));
    let code = cause.and_then(|cause| cause.message.as_ref()?.parse().ok());
    code.ok_or_else(|| status.message.clone().unwrap_or_default())
}

/// The resource of an object, by its apiVersion and kind.
fn resource(object: &Value) -> ApiResource {
    let version = object["apiVersion"].as_str().unwrap_or("v1");
    let (group, version) = version.split_once('/').unwrap_or(("", version));
    let kind = object["kind"].as_str().unwrap_or_default();
    ApiResource::from_gvk(&GroupVersionKind::gvk(group, version, kind))
}

/// An API error with what to do about it.
fn in_words(error: &kube::Error, kind: &str) -> String {
    match error {
        kube::Error::Api(status) if status.code == 403 => {
            format!(
                "{}; deploy/kubernetes/rbac.yaml holds the rights that are needed",
                status.message
            )
        }
        kube::Error::Api(status) if status.code == 404 && kind == "ServiceMonitor" => {
            "the cluster does not know ServiceMonitor; install the Prometheus operator, or leave the component out"
                .to_owned()
        }
        kube::Error::Api(status) => status.message.clone(),
        other => {
            let mut words = other.to_string();
            let mut cause = std::error::Error::source(other);
            while let Some(next) = cause {
                words = format!("{words}: {next}");
                cause = next.source();
            }
            words
        }
    }
}

/// How often each clock is read.
const READINGS: usize = 3;

/// Compares a pod's clock with this machine's.
///
/// # Errors
/// When the pod is gone, or its `date` does not print nanoseconds.
pub(crate) async fn compare_clocks(cluster: &Cluster, pod: &str, container: &str) -> anyhow::Result<Clock> {
    let mut readings = Vec::new();
    for _ in 0..READINGS {
        let sent = now_ns();
        let output = cluster.run(pod, container, "date +%s%N").await?;
        let received = now_ns();
        readings.push(Reading {
            sent,
            remote: parse_date(&output.stdout)?,
            received,
        });
    }
    Clock::compare(&readings).ok_or_else(|| anyhow!("the clock of pod {pod} was not read"))
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
}
