//! One tier of several: it asks the next tier, or its own store, and answers in the words of its own clients.
//!
//! ```text
//! client ── HTTP ── controller ── HTTP or gRPC ── service ── HTTP or gRPC ── repository ── SQLite
//! client ── HTTP ── gateway ── HTTP or gRPC, with TLS or without ── any server of the same contract
//! ```

mod answers;
mod failure;
mod front;
mod role;
mod source;
mod store;
mod upstream;

use std::io;
use std::sync::Arc;

use server_runtime::{Incoming, Serving, rpc, web};

use role::Protocol;
pub use role::Tier;

/// Answers connections until a stop is requested, with what `serving` asks for in every request.
///
/// # Errors
/// If the listener or the transport fails.
pub async fn serve(incoming: Incoming, serving: Serving, tier: Tier) -> io::Result<()> {
    let source = Arc::new(tier.source().map_err(io::Error::other)?);
    match tier.protocol() {
        Protocol::Http => web::serve(incoming, front::http::router(source), serving).await,
        Protocol::Grpc => {
            let routes = front::grpc::routes(source).await.map_err(io::Error::other)?;
            rpc::serve(incoming, routes, serving).await
        }
    }
}
