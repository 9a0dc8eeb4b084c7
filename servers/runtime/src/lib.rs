//! How the servers start and stop: one place for arguments, listeners, runtimes, signals and the ready line, so that two
//! servers differ only in their responses.

#[cfg(any(feature = "axum", feature = "tonic"))]
mod connections;
mod error;
mod guard;
mod incoming;
#[cfg(feature = "tonic")]
mod kind;
mod listen;
mod metrics;
mod multi;
mod options;
mod per_core;
mod ready;
#[cfg(feature = "tonic")]
pub mod rpc;
mod serving;
mod stop;
#[cfg(feature = "testing")]
pub mod testing;
mod tls;
mod waste;
#[cfg(feature = "axum")]
pub mod web;
mod wire;

use std::io;
use std::process::ExitCode;

use tokio::net::TcpListener;

pub use guard::Guarded;
pub use incoming::Incoming;
pub use metrics::Metrics;
pub use options::{NoMore, Own};
pub use serving::Serving;
pub use stop::Stop;
pub use waste::Waste;
pub use wire::Wire;

use error::ServerError;
use options::{Options, Runtime};

/// Runs a server program to its end: reads the arguments, listens, prints the ready line, and serves until a stop signal.
///
/// `serve` serves the connections of one listener until the stop of [`Serving`], and applies the rest of [`Serving`] to every
/// request. It is called once for each listener, on the runtime that owns it. `O` holds the arguments of this server only.
/// `name` and `about` appear in the help.
///
/// The exit code is 0 after a stop signal, 1 if the server cannot start or fails, 2 for wrong arguments.
pub fn run<O, S, F>(name: &'static str, about: &'static str, serve: S) -> ExitCode
where
    O: Own,
    S: Fn(Incoming, Serving, O) -> F + Clone + Send + 'static,
    F: Future<Output = io::Result<()>> + Send + 'static,
{
    match start(name, Options::from_command_line(name, about), serve) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{name}: {error}");
            ExitCode::FAILURE
        }
    }
}

fn start<O, S, F>(name: &str, mut options: Options<O>, serve: S) -> Result<(), ServerError>
where
    O: Own,
    S: Fn(Incoming, Serving, O) -> F + Clone + Send + 'static,
    F: Future<Output = io::Result<()>> + Send + 'static,
{
    options.own.prepare(options.threads()).map_err(ServerError::Own)?;
    let (listen, runtime, threads) = (options.listen, options.runtime, options.threads());
    let (waste, patience) = (options.waste.or_none(), options.patience() + options.own.patience());
    let page = options
        .metrics_listen
        .map(|address| metrics::Page::open(address, name))
        .transpose()?;
    let (tls, own) = (options.tls.acceptor(options.own.alpn())?, options.own);
    let serve = move |listener: TcpListener, stop| {
        let metrics = page.as_ref().map(metrics::Page::begin);
        let incoming = Incoming::new(listener, tls.clone(), patience, metrics.clone());
        let serving = Serving { stop, waste, metrics };
        let (serve, own) = (serve.clone(), own.clone());
        async move { serve(incoming, serving, own).await }
    };
    match runtime {
        Runtime::Multi => multi::serve(listen::one(listen)?, threads, serve),
        Runtime::PerCore => per_core::serve(listen::shared(listen, threads)?, serve),
    }
}
