//! The gateway's program: listens, prints the ready line, serves until a stop signal.

use std::process::ExitCode;

fn main() -> ExitCode {
    server_runtime::run(env!("CARGO_PKG_NAME"), env!("CARGO_PKG_DESCRIPTION"), gateway::serve)
}
