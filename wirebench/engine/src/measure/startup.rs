//! Starts a server, waits for its first good response, and stops it. Drivers of protocol `process` time this as a whole
//! command, so it reads one small file and does nothing else.

use std::collections::BTreeMap;
use std::net::{IpAddr, SocketAddr, TcpListener};
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

use crate::measure::cores;
use crate::measure::probe::send;
use crate::measure::wire::WireRequest;

/// Everything needed to start a server and recognise its first good response; in JSON, for [`first_answer`].
#[derive(Debug, Serialize, Deserialize)]
pub struct StartUp {
    /// The command, with `{port}` where the port goes.
    pub argv: Vec<String>,
    /// Its working directory.
    pub folder: PathBuf,
    /// Environment variables added to ours, likewise.
    pub env: BTreeMap<String, String>,
    /// The port, if it is fixed.
    pub port: Option<u16>,
    /// The loopback address that it listens on.
    pub host: IpAddr,
    /// Its cores; empty means all.
    pub cores: Vec<usize>,
    /// The request.
    pub request: WireRequest,
    /// The status of a good response.
    pub status: u16,
    /// The expected body; `None` accepts any.
    pub body: Option<Vec<u8>>,
    /// How long it may take, ns.
    pub timeout_ns: u64,
}

/// The port's place in [`StartUp::argv`].
pub const PORT: &str = "{port}";

/// Starts the server that `file` describes, in this process group, and returns after its first good response and its
/// end.
///
/// # Errors
/// When the file cannot be read, the server ends early, or no good response arrives in time.
pub fn first_answer(file: &Path) -> anyhow::Result<()> {
    let spec: StartUp = serde_json::from_slice(&std::fs::read(file)?)?;
    let port = match spec.port {
        Some(port) => port,
        None => TcpListener::bind((spec.host, 0))?.local_addr()?.port(),
    };
    let filled = |text: &String| text.replace(PORT, &port.to_string());
    let argv: Vec<String> = spec.argv.iter().map(filled).collect();
    let env = spec.env.iter().map(|(name, text)| (name, filled(text)));
    let mut command = wirebench_spawn::command(&argv[0]);
    command.args(&argv[1..]).current_dir(&spec.folder).envs(env);
    command
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::inherit());
    let mut server = cores::spawn_on(&spec.cores, || command.spawn())?;
    let responded = wait_for_response(&spec, &SocketAddr::new(spec.host, port).to_string(), &mut server);
    let _ = server.kill();
    server.wait()?;
    responded
}

fn wait_for_response(spec: &StartUp, address: &str, server: &mut std::process::Child) -> anyhow::Result<()> {
    let started = Instant::now();
    let timeout = Duration::from_nanos(spec.timeout_ns);
    loop {
        let outcome = match send(address, &spec.request, timeout) {
            Ok(response)
                if response.status == spec.status && spec.body.as_ref().is_none_or(|body| *body == response.body) =>
            {
                return Ok(());
            }
            Ok(response) => format!("a wrong answer, status {}", response.status),
            Err(error) => error,
        };
        if let Some(status) = server.try_wait()? {
            anyhow::bail!("the server ended before its first good answer ({status})");
        }
        if started.elapsed() > timeout {
            anyhow::bail!("no good answer within {timeout:?}: {outcome}");
        }
        std::thread::sleep(Duration::from_micros(200));
    }
}
