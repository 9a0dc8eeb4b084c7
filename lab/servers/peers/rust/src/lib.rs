//! Shared by the Rust peers: the listener, the contract with its conversions, and the `date` header.

use std::cell::Cell;
use std::env;
use std::io;
use std::net::{SocketAddr, TcpListener};
use std::time::{SystemTime, UNIX_EPOCH};

use ::domain::Weather;
use bytes::{BufMut, Bytes, BytesMut};
use prost::Message;
use socket2::{Domain, Socket, Type};

use weather::GetCurrentWeatherResponse;

mod convert;
pub mod grpc;

/// `proto/wirebench/weather/v1/weather.proto`.
#[allow(clippy::all, missing_docs)]
pub mod weather {
    tonic::include_proto!("wirebench.weather.v1");
}

/// `proto/wirebench/users/v1/users.proto`.
#[allow(clippy::all, missing_docs)]
pub mod users {
    tonic::include_proto!("wirebench.users.v1");
}

/// `lab/servers/peers/proto/wirebench/files/v1/files.proto`.
#[allow(clippy::all, missing_docs)]
pub mod files {
    tonic::include_proto!("wirebench.files.v1");
}

/// The response body for `?city=Kyiv`, in JSON.
pub const KYIV: &str = r#"{"city":"Kyiv","temperatureC":21.5,"humidity":60,"condition":"Cloudy"}"#;

/// The address to listen on: the first argument, such as `127.0.0.1:8080`.
///
/// # Errors
/// If there is no argument, or it is not an address.
pub fn address() -> io::Result<SocketAddr> {
    let argument = env::args().nth(1).unwrap_or_default();
    argument
        .parse()
        .map_err(|_| io::Error::other(format!("{argument:?} is no address: give one, such as 127.0.0.1:8080")))
}

/// True if an argument behind the address is this flag.
#[must_use]
pub fn has_flag(flag: &str) -> bool {
    env::args().skip(2).any(|argument| argument == flag)
}

/// Listens as our own servers do: without Nagle's algorithm, and with a queue for 4,096 connections.
///
/// # Errors
/// If the address is in use or does not belong to this machine.
pub fn listen() -> io::Result<TcpListener> {
    let address = address()?;
    let socket = Socket::new(Domain::for_address(address), Type::STREAM, None)?;
    socket.set_reuse_address(true)?;
    socket.set_tcp_nodelay(true)?;
    socket.set_nonblocking(true)?;
    socket.bind(&address.into())?;
    socket.listen(4096)?;
    Ok(socket.into())
}

thread_local! {
    static WRITTEN: Cell<(u64, [u8; 29])> = const { Cell::new((0, [b' '; 29])) };
}

/// The time of day as HTTP writes it (RFC 9110, section 5.6.7), written anew once a second.
#[must_use]
pub fn date() -> [u8; 29] {
    let now = SystemTime::now();
    let second = now.duration_since(UNIX_EPOCH).map_or(0, |time| time.as_secs());
    let (written, mut text) = WRITTEN.get();
    if written != second {
        text.copy_from_slice(httpdate::fmt_http_date(now).as_bytes());
        WRITTEN.set((second, text));
    }
    text
}

/// Length of the prefix of a gRPC message, bytes: a flag for compression, and the length.
pub const PREFIX: usize = 5;

/// Appends a gRPC message with its prefix.
pub fn frame(out: &mut BytesMut, message: &impl Message) {
    let length = message.encoded_len();
    out.reserve(PREFIX + length);
    out.put_u8(0);
    out.put_u32(u32::try_from(length).expect("messages here are shorter than 4 GiB"));
    message.encode(out).expect("the buffer grows as needed");
}

/// One weather as a gRPC message with its prefix.
#[must_use]
pub fn framed(weather: &Weather) -> Bytes {
    let mut out = BytesMut::new();
    frame(&mut out, &GetCurrentWeatherResponse::from(weather));
    out.freeze()
}

/// The file that the peers send: 1,048,576 bytes of text.
#[must_use]
pub fn file() -> Bytes {
    b"0123456789abcde\n".repeat(65_536).into()
}
