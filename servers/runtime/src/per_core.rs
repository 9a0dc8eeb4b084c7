//! One single-threaded runtime on each thread, each with its own listener: connections never move between threads, and
//! one thread's responses leave in batches.

use std::io;
use std::thread::{self, JoinHandle};

use tokio::net::TcpListener;
use tokio::runtime::{Builder, Runtime};

use crate::error::ServerError;
use crate::ready;
use crate::stop::{Stop, serve_until_stopped};

/// Serves each of `listeners` on a thread of its own until a stop is requested. The calling thread serves the first.
pub(crate) fn serve<S, F>(listeners: Vec<std::net::TcpListener>, serve: S) -> Result<(), ServerError>
where
    S: Fn(TcpListener, Stop) -> F + Clone + Send + 'static,
    F: Future<Output = io::Result<()>>,
{
    let stop = Stop::new();
    let mut listeners = listeners.into_iter();
    let first = listeners
        .next()
        .expect("a server has at least one thread, hence one listener");
    let others = listeners
        .enumerate()
        .map(|(index, listener)| spawn(index + 2, listener, stop.clone(), serve.clone()))
        .collect::<Result<Vec<_>, _>>()?;
    serve_first(first, stop, serve)?;
    others.into_iter().try_for_each(join)
}

fn serve_first<S, F>(listener: std::net::TcpListener, stop: Stop, serve: S) -> Result<(), ServerError>
where
    S: Fn(TcpListener, Stop) -> F,
    F: Future<Output = io::Result<()>>,
{
    let address = listener.local_addr().map_err(ServerError::Serve)?;
    runtime()?.block_on(async {
        stop.on_signals()?;
        ready::announce(address)?;
        serve_until_stopped(listener, stop, serve)
            .await
            .map_err(ServerError::Serve)
    })
}

type Worker = JoinHandle<Result<(), ServerError>>;

fn spawn<S, F>(number: usize, listener: std::net::TcpListener, stop: Stop, serve: S) -> Result<Worker, ServerError>
where
    S: Fn(TcpListener, Stop) -> F + Send + 'static,
    F: Future<Output = io::Result<()>>,
{
    let runtime = runtime()?;
    thread::Builder::new()
        .name(format!("worker-{number}"))
        .spawn(move || {
            runtime
                .block_on(serve_until_stopped(listener, stop, serve))
                .map_err(ServerError::Serve)
        })
        .map_err(ServerError::Runtime)
}

fn runtime() -> Result<Runtime, ServerError> {
    Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(ServerError::Runtime)
}

fn join(worker: Worker) -> Result<(), ServerError> {
    worker
        .join()
        .unwrap_or_else(|_| Err(ServerError::Serve(io::Error::other("a worker thread panicked"))))
}
