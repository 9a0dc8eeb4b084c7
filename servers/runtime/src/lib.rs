//! How the servers start and stop: one place for arguments, listeners, runtimes, signals and the ready line, so that two
//! servers differ only in what they answer.

mod error;
mod listen;
mod multi;
mod options;
mod per_core;
mod ready;
mod stop;
#[cfg(feature = "testing")]
pub mod testing;
mod waste;

use std::io;
use std::process::ExitCode;

use tokio::net::TcpListener;

pub use stop::Stop;
pub use waste::Waste;

use error::ServerError;
use options::{Options, Runtime};

/// Runs a server program to its end: reads the arguments, listens, prints the ready line, and serves until a stop signal.
///
/// `serve` answers the connections of one listener until [`Stop::requested`]; it is called once for each listener, on the
/// runtime that owns it. When it is given a [`Waste`], it spends that in every request. `name` and `about` appear in the help.
///
/// The exit code is 0 after a stop signal, 1 when the server cannot start or breaks, 2 for wrong arguments.
pub fn run<S, F>(name: &'static str, about: &'static str, serve: S) -> ExitCode
where
    S: Fn(TcpListener, Stop, Option<Waste>) -> F + Clone + Send + 'static,
    F: Future<Output = io::Result<()>> + Send + 'static,
{
    match start(&Options::from_command_line(name, about), serve) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{name}: {error}");
            ExitCode::FAILURE
        }
    }
}

fn start<S, F>(options: &Options, serve: S) -> Result<(), ServerError>
where
    S: Fn(TcpListener, Stop, Option<Waste>) -> F + Clone + Send + 'static,
    F: Future<Output = io::Result<()>> + Send + 'static,
{
    let waste = options.waste.or_none();
    let serve = move |listener, stop| serve(listener, stop, waste);
    match options.runtime {
        Runtime::Multi => multi::serve(listen::one(options.listen)?, options.threads(), serve),
        Runtime::PerCore => per_core::serve(listen::shared(options.listen, options.threads())?, serve),
    }
}
