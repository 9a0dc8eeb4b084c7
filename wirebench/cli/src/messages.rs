//! `wirebench messages`: the driver `messages`: reads server streams and prints the time of every message.

use std::path::PathBuf;
use std::time::Duration;

use anyhow::Context as _;

use crate::folders::Root;
use crate::outcome::Outcome;
use wirebench_declare::protocol::Protocol;
use wirebench_engine::measure::stream::{self, StreamLoad, Until};
use wirebench_engine::measure::wire::{GRPC_HEADERS, WireRequest};

/// Reads server streams and prints the time of every message; the driver `messages` runs this.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The server's protocol.
    #[arg(long, value_parser = ["http", "grpc"])]
    protocol: String,
    /// The server's host and port.
    #[arg(long)]
    address: String,
    /// The method.
    #[arg(long)]
    method: String,
    /// Path and query; for gRPC /package.Service/Method.
    #[arg(long)]
    path: String,
    /// A header line, "name: value".
    #[arg(long)]
    header: Vec<String>,
    /// The file with the request's body.
    #[arg(long)]
    body: Option<PathBuf>,
    /// Number of connections.
    #[arg(long)]
    connections: u32,
    /// Streams read at once on each connection.
    #[arg(long, default_value_t = 1)]
    streams: u32,
    /// How many messages in all.
    #[arg(long, conflicts_with = "duration", required_unless_present = "duration")]
    messages: Option<u64>,
    /// How long.
    #[arg(long, value_parser = humantime::parse_duration)]
    duration: Option<Duration>,
}

pub(crate) fn execute(_: &Root, args: &Args) -> anyhow::Result<Outcome> {
    let body = match &args.body {
        Some(file) => std::fs::read(file).with_context(|| format!("{}: cannot be read", file.display()))?,
        None => Vec::new(),
    };
    let workers = u64::from(args.connections) * u64::from(args.streams);
    let until = match (args.messages, args.duration) {
        (Some(messages), _) => Until::Messages(messages / workers.max(1)),
        (None, length) => Until::Time(length.unwrap_or_default()),
    };
    let is_grpc = args.protocol == "grpc";
    let grpc_headers: &[&str] = if is_grpc { &GRPC_HEADERS } else { &[] };
    let headers = args
        .header
        .iter()
        .map(String::as_str)
        .chain(grpc_headers.iter().copied());
    let stats = stream::read(StreamLoad {
        request: WireRequest {
            protocol: if is_grpc { Protocol::Grpc } else { Protocol::Http },
            method: args.method.clone(),
            path: args.path.clone(),
            headers: headers.map(str::to_owned).collect(),
            body,
            ca: None,
        },
        address: args.address.clone(),
        connections: args.connections,
        streams: args.streams,
        until,
    })?;
    println!("{}", serde_json::to_string(&stats)?);
    Ok(Outcome::Done)
}
