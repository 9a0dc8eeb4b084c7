//! Why a server cannot be measured.

use std::io;
use std::time::Duration;

use crate::measure::grpc::call::GrpcError;
use crate::measure::probe::ProbeError;

/// Why a server cannot be measured.
#[derive(Debug, thiserror::Error)]
pub enum TargetError {
    /// No port, or the fixed one is taken.
    #[error(
        "server {server}: port {port} is taken by another program ({source}); stop that program, or let the server's arguments take {{port}}"
    )]
    PortTaken {
        /// The server.
        server: String,
        /// The port.
        port: u16,
        /// The operating system's reason.
        source: io::Error,
    },
    /// The program cannot be started.
    #[error("server {server}: cannot start {program}: {source}")]
    Start {
        /// The server.
        server: String,
        /// Its program.
        program: String,
        /// The operating system's reason.
        source: io::Error,
    },
    /// A process ended before it was ready.
    #[error("server {server}: {how} before it was ready{}", last_words(output))]
    Died {
        /// The server.
        server: String,
        /// Its exit status, as text.
        how: String,
        /// Its last output.
        output: String,
    },
    /// A process is not ready within its time limit.
    #[error(
        "server {server}: not ready within {timeout:?} (last answer: {last}); raise its ready_timeout if it needs longer{}",
        last_words(output)
    )]
    NotReady {
        /// The server.
        server: String,
        /// The time limit.
        timeout: Duration,
        /// The result of the last check.
        last: String,
        /// Its last output.
        output: String,
    },
    /// A command in `before` failed.
    #[error("server {server}: {command}, which runs before it, {how}{}", last_words(output))]
    Before {
        /// The server.
        server: String,
        /// The command.
        command: String,
        /// How it ended.
        how: String,
        /// Its last output.
        output: String,
    },
    /// A command in `before` cannot run on the server's host.
    #[error(
        "server {server}: {command} runs before it, and its files are not on the server's host; measure it on one machine, or leave it out with --server"
    )]
    BeforeElsewhere {
        /// The server.
        server: String,
        /// The command.
        command: String,
    },
    /// The user stopped the run.
    #[error("interrupted")]
    Interrupted,
    /// The operation's request cannot be made.
    #[error("server {server}: {source}")]
    Operation {
        /// The server.
        server: String,
        /// What is wrong.
        source: GrpcError,
    },
    /// A seed failed.
    #[error("server {server}: seed {request}: {why}")]
    Seed {
        /// The server.
        server: String,
        /// Method and path.
        request: String,
        /// What went wrong.
        why: String,
    },
    /// An environment variable that the request names is not set.
    #[error(
        "server {server}: environment variable {variable} is not set; set it, or give a default: {{env:{variable}:default}}"
    )]
    Variable {
        /// The server.
        server: String,
        /// The variable.
        variable: String,
    },
    /// There was no response.
    #[error("server {server}: no answer to the probe: {source}")]
    NoResponse {
        /// The server.
        server: String,
        /// What went wrong.
        source: ProbeError,
    },
    /// The response is not the expected one.
    #[error("server {server}: wrong answer: expected {expected}, found {found}")]
    WrongResponse {
        /// The server.
        server: String,
        /// From server.toml.
        expected: String,
        /// From the wire.
        found: String,
    },
}

/// A process's last output, as the end of an error message; empty if there is none.
pub(super) fn last_words(output: &str) -> String {
    if output.is_empty() {
        String::new()
    } else {
        format!("; its last words: {output}")
    }
}
