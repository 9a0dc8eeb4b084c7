//! gRPC on h2, without hyper or tonic.

use std::io;

use bytes::{Buf, Bytes, BytesMut};
use h2::server::{Builder, SendResponse};
use h2::{RecvStream, SendStream};
use http::{HeaderMap, HeaderValue, Request, Response};
use tokio::net::{TcpListener, TcpStream};

use crate::PREFIX;

/// Serves gRPC calls until the process ends. `handler` gets a call's path and its message, and returns the messages of the response
/// with their prefixes, or `None` if the request is invalid.
///
/// # Errors
/// If the listener fails.
pub async fn serve<A>(handler: A) -> io::Result<()>
where
    A: Fn(&str, Bytes) -> Option<Bytes> + Clone + Send + 'static,
{
    let listener = TcpListener::from_std(crate::listen()?)?;
    loop {
        let (stream, _) = listener.accept().await?;
        // A client that breaks off harms only itself.
        tokio::spawn(connection(stream, handler.clone()));
    }
}

/// Flow-control windows as hyper's server has them, and so tonic's.
async fn connection<A>(stream: TcpStream, handler: A) -> Result<(), h2::Error>
where
    A: Fn(&str, Bytes) -> Option<Bytes> + Clone + Send + 'static,
{
    let mut builder = Builder::new();
    let (window, streams) = (1024 * 1024, 200);
    builder
        .initial_window_size(window)
        .initial_connection_window_size(window);
    builder.max_concurrent_streams(streams);
    let mut connection = builder.handshake::<_, Bytes>(stream).await?;
    while let Some(accepted) = connection.accept().await {
        let (request, respond) = accepted?;
        tokio::spawn(call(request, respond, handler.clone()));
    }
    Ok(())
}

async fn call<A>(request: Request<RecvStream>, mut respond: SendResponse<Bytes>, handler: A) -> Result<(), h2::Error>
where
    A: Fn(&str, Bytes) -> Option<Bytes>,
{
    let (parts, mut body) = request.into_parts();
    let mut asked = BytesMut::new();
    while let Some(piece) = body.data().await {
        let piece = piece?;
        body.flow_control().release_capacity(piece.len())?;
        asked.extend_from_slice(&piece);
    }
    let mut head = Response::new(());
    head.headers_mut()
        .insert("content-type", HeaderValue::from_static("application/grpc"));
    let date = HeaderValue::from_bytes(&crate::date()).expect("a date is plain text");
    head.headers_mut().insert("date", date);
    let mut send: SendStream<Bytes> = respond.send_response(head, false)?;
    asked.advance(PREFIX.min(asked.len()));
    let (messages, status) = match handler(parts.uri.path(), asked.freeze()) {
        Some(messages) => (messages, "0"),
        None => (Bytes::new(), "3"), // INVALID_ARGUMENT
    };
    send.send_data(messages, false)?;
    let mut trailers = HeaderMap::with_capacity(1);
    trailers.insert("grpc-status", HeaderValue::from_static(status));
    send.send_trailers(trailers)
}
