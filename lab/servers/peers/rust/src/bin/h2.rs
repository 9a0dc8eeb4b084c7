//! h2 without hyper or tonic: with `--fixed` a gRPC response that is a constant, otherwise the work of our own server.
//! The messages of a stream leave together, as tonic sends what is ready up to 32 KiB.

use std::io;

use bytes::{Bytes, BytesMut};
use peers::framed;
use peers::users::{StreamUsersRequest, StreamUsersResponse};
use peers::weather::GetCurrentWeatherRequest;
use prost::Message;

#[tokio::main(flavor = "current_thread")]
async fn main() -> io::Result<()> {
    let fixed = peers::has_flag("--fixed").then(|| framed(&domain::CITIES[0]));
    peers::grpc::serve(move |path, message| fixed.clone().or_else(|| respond(path, message))).await
}

fn respond(path: &str, message: Bytes) -> Option<Bytes> {
    if path.ends_with("/StreamUsers") {
        return stream(message);
    }
    let request = GetCurrentWeatherRequest::decode(message).ok()?;
    domain::current_weather(&request.city).ok().map(framed)
}

fn stream(message: Bytes) -> Option<Bytes> {
    let request = StreamUsersRequest::decode(message).ok()?;
    let (users, _) = domain::stream_of_users(request.count().into(), 0).ok()?;
    let mut out = BytesMut::new();
    users.for_each(|user| peers::frame(&mut out, &StreamUsersResponse::from(user)));
    Some(out.freeze())
}
