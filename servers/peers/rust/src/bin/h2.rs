//! h2 without hyper or tonic: with `--fixed` a gRPC answer that is a constant, otherwise the work of our own server.

use std::io;

use bytes::{Bytes, BytesMut};
use h2::server::{Builder, SendResponse};
use h2::{RecvStream, SendStream};
use http::{HeaderMap, HeaderValue, Request, Response};
use peers::weather::GetCurrentWeatherRequest;
use peers::{PREFIX, framed};
use prost::Message;
use tokio::net::{TcpListener, TcpStream};

#[tokio::main(flavor = "current_thread")]
async fn main() -> io::Result<()> {
    let listener = TcpListener::from_std(peers::listen()?)?;
    let fixed = peers::fixed().then(|| framed(&domain::CITIES[0]));
    loop {
        let (stream, _) = listener.accept().await?;
        // A client that breaks off is nobody's loss but its own.
        tokio::spawn(serve(stream, fixed.clone()));
    }
}

/// Windows as hyper's server has them, and so tonic's.
async fn serve(stream: TcpStream, fixed: Option<Bytes>) -> Result<(), h2::Error> {
    let mut builder = Builder::new();
    let (window, streams) = (1024 * 1024, 200);
    builder
        .initial_window_size(window)
        .initial_connection_window_size(window);
    builder.max_concurrent_streams(streams);
    let mut connection = builder.handshake::<_, Bytes>(stream).await?;
    while let Some(asked) = connection.accept().await {
        let (request, respond) = asked?;
        tokio::spawn(answer(request, respond, fixed.clone()));
    }
    Ok(())
}

async fn answer(
    request: Request<RecvStream>,
    mut respond: SendResponse<Bytes>,
    fixed: Option<Bytes>,
) -> Result<(), h2::Error> {
    let mut body = request.into_body();
    let mut asked = BytesMut::new();
    while let Some(piece) = body.data().await {
        let piece = piece?;
        body.flow_control().release_capacity(piece.len())?;
        asked.extend_from_slice(&piece);
    }
    let mut head = Response::new(());
    head.headers_mut()
        .insert("content-type", HeaderValue::from_static("application/grpc"));
    let date = HeaderValue::from_bytes(&peers::date()).expect("a date is plain text");
    head.headers_mut().insert("date", date);
    let mut send: SendStream<Bytes> = respond.send_response(head, false)?;
    // Status 3 is INVALID_ARGUMENT.
    let (message, status) = match fixed.or_else(|| weather(&asked)) {
        Some(message) => (message, "0"),
        None => (Bytes::new(), "3"),
    };
    send.send_data(message, false)?;
    let mut trailers = HeaderMap::with_capacity(1);
    trailers.insert("grpc-status", HeaderValue::from_static(status));
    send.send_trailers(trailers)
}

fn weather(asked: &[u8]) -> Option<Bytes> {
    let question = GetCurrentWeatherRequest::decode(asked.get(PREFIX..)?).ok()?;
    domain::current_weather(&question.city).ok().map(framed)
}
