//! What the Rust peers share: where they listen, the contract, and the time of day for an answer's head.

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

/// `proto/wirebench/weather/v1/weather.proto`.
#[allow(clippy::all, missing_docs)]
pub mod weather {
    tonic::include_proto!("wirebench.weather.v1");
}

/// The answer to `?city=Kyiv` in JSON.
pub const KYIV: &str = r#"{"city":"Kyiv","temperatureC":21.5,"humidity":60,"condition":"Cloudy"}"#;

/// The address that the program is told: its first argument, such as `127.0.0.1:8080`.
///
/// # Errors
/// When there is none, or it is no address.
pub fn address() -> io::Result<SocketAddr> {
    let told = env::args().nth(1).unwrap_or_default();
    told.parse()
        .map_err(|_| io::Error::other(format!("{told:?} is no address: give one, such as 127.0.0.1:8080")))
}

/// Whether the second argument asks for an answer that is always the same, for which nothing is read or looked up.
#[must_use]
pub fn fixed() -> bool {
    env::args().nth(2).is_some_and(|argument| argument == "--fixed")
}

/// Listens as our own servers do: small answers leave at once, and 4,096 connections may wait.
///
/// # Errors
/// When the address is taken or not this machine's.
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

/// Bytes before each gRPC message: whether it is compressed, and its length.
pub const PREFIX: usize = 5;

/// A weather as a gRPC message with its prefix.
#[must_use]
pub fn framed(weather: &Weather) -> Bytes {
    let message = GetCurrentWeatherResponse {
        city: weather.city.to_owned(),
        temperature_c: weather.temperature_c,
        humidity: weather.humidity,
        condition: weather.condition.to_owned(),
    };
    let length = message.encoded_len();
    let mut out = BytesMut::with_capacity(PREFIX + length);
    out.put_u8(0);
    out.put_u32(u32::try_from(length).expect("a weather is short"));
    message.encode(&mut out).expect("there is room");
    out.freeze()
}
