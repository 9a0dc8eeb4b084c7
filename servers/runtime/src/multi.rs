//! One work-stealing runtime: its threads share one listener and all connections.

use std::io;

use tokio::net::TcpListener;
use tokio::runtime::{Builder, Runtime};

use crate::error::ServerError;
use crate::ready;
use crate::stop::{Stop, serve_until_stopped};

/// Serves `listener` on `threads` worker threads until a stop is requested. The calling thread only waits.
pub(crate) fn serve<S, F>(listener: std::net::TcpListener, threads: usize, serve: S) -> Result<(), ServerError>
where
    S: Fn(TcpListener, Stop) -> F + Send + 'static,
    F: Future<Output = io::Result<()>> + Send + 'static,
{
    let runtime = Builder::new_multi_thread()
        .worker_threads(threads)
        .enable_all()
        .build()
        .map_err(ServerError::Runtime)?;
    let outcome = serve_on(&runtime, listener, serve);
    runtime.shutdown_background();
    outcome
}

fn serve_on<S, F>(runtime: &Runtime, listener: std::net::TcpListener, serve: S) -> Result<(), ServerError>
where
    S: Fn(TcpListener, Stop) -> F + Send + 'static,
    F: Future<Output = io::Result<()>> + Send + 'static,
{
    let address = listener.local_addr().map_err(ServerError::Serve)?;
    runtime.block_on(async {
        let stop = Stop::new();
        stop.on_signals()?;
        let serving = tokio::spawn(serve_until_stopped(listener, stop, serve));
        ready::announce(address)?;
        serving
            .await
            .unwrap_or_else(|panic| Err(io::Error::other(panic)))
            .map_err(ServerError::Serve)
    })
}
