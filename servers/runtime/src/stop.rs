//! Stopping: a request every thread can wait for, the signals that make it, and the time left to finish.

use std::io;
use std::time::Duration;

use tokio::net::TcpListener;
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::watch;
use tokio::time::sleep;

use crate::error::ServerError;

/// How long open requests may take to finish after a stop signal; connections still open then are cut.
const GRACE: Duration = Duration::from_secs(1);

/// A request to stop, shared by all threads of a server.
#[derive(Clone, Debug)]
pub struct Stop(watch::Sender<bool>);

impl Stop {
    pub(crate) fn new() -> Self {
        Self(watch::Sender::new(false))
    }

    /// Makes the request on SIGTERM or SIGINT. Once this returns, neither signal kills the process any more.
    pub(crate) fn on_signals(&self) -> Result<(), ServerError> {
        let mut terminate = signal(SignalKind::terminate()).map_err(ServerError::Signals)?;
        let mut interrupt = signal(SignalKind::interrupt()).map_err(ServerError::Signals)?;
        let stop = self.clone();
        tokio::spawn(async move {
            tokio::select! {
                _ = terminate.recv() => {}
                _ = interrupt.recv() => {}
            }
            stop.request();
        });
        Ok(())
    }

    fn request(&self) {
        self.0.send_replace(true);
    }

    /// Waits until a stop is requested.
    pub async fn requested(self) {
        let mut requests = self.0.subscribe();
        requests
            .wait_for(|requested| *requested)
            .await
            .expect("the sender outlives the wait: it is a field of self");
    }
}

/// Serves one listener until a stop is requested and its open requests have their responses, or [`GRACE`] has passed.
///
/// If serving fails, a stop is requested for the other threads too.
pub(crate) async fn serve_until_stopped<S, F>(listener: std::net::TcpListener, stop: Stop, serve: S) -> io::Result<()>
where
    S: Fn(TcpListener, Stop) -> F,
    F: Future<Output = io::Result<()>>,
{
    let serving = serve(TcpListener::from_std(listener)?, stop.clone());
    let cut_off = async {
        stop.clone().requested().await;
        sleep(GRACE).await;
    };
    let outcome = tokio::select! {
        outcome = serving => outcome,
        () = cut_off => Ok(()),
    };
    stop.request();
    outcome
}
