//! Reads server streams: opens one after the other on each connection and times every message, for the driver `messages`.
//!
//! A message is a line of an HTTP response, or a frame of a gRPC response. Its time is the time since the previous
//! message, or since the request for the first one. A worker's times add up to its running time, so that Little's law
//! holds by construction.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper::client::conn::{http1, http2};
use hyper::{Request, Response};
use hyper_util::rt::{TokioExecutor, TokioIo};
use serde::Serialize;
use tokio::net::TcpStream;
use tokio::task::JoinSet;

use crate::measure::grpc::FRAME_HEADER_BYTES;
use wirebench_declare::protocol::Protocol;
use wirebench_declare::span::nanos;

/// How long the next message may take.
const LONGEST: Duration = Duration::from_secs(20);

/// The request, the connections, and the amount.
#[derive(Debug, Clone)]
pub struct Streams {
    /// `http` or `grpc`.
    pub protocol: Protocol,
    /// `127.0.0.1:8080`.
    pub address: String,
    /// The method.
    pub method: String,
    /// Path and query; for gRPC `/package.Service/Method`.
    pub path: String,
    /// Header lines `name: value`, besides those of gRPC.
    pub headers: Vec<String>,
    /// The request's body; for gRPC one frame.
    pub body: Bytes,
    /// Connections opened.
    pub connections: u32,
    /// Streams read at once on each; over HTTP/1.1 one.
    pub streams: u32,
    /// When reading ends.
    pub until: Until,
}

/// When reading ends, in the middle of a stream or not.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Until {
    /// After this many messages of each worker.
    Messages(u64),
    /// After this much time.
    Time(Duration),
}

/// The result, in the common shape.
#[derive(Debug, Default, PartialEq, Eq, Serialize)]
pub struct Heard {
    /// From before the first connection to the last message.
    pub elapsed_ns: u64,
    /// Time of every message, ns, under the status of a good answer.
    pub answers: BTreeMap<&'static str, Vec<u64>>,
    /// Streams that failed, by reason; their worker ends.
    pub errors: BTreeMap<String, u64>,
}

/// Reads until the end.
///
/// # Errors
/// When there can be no runtime.
pub fn read(streams: Streams) -> std::io::Result<Heard> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    Ok(runtime.block_on(read_all(Arc::new(streams))))
}

async fn read_all(asked: Arc<Streams>) -> Heard {
    let began = Instant::now();
    let mut workers = JoinSet::new();
    let mut heard = Heard::default();
    let mut times = Vec::new();
    for _ in 0..asked.connections {
        match connect(&asked).await {
            Ok(Sender::Http1(sender)) => {
                workers.spawn(worker(Arc::clone(&asked), Sender::Http1(sender), began));
            }
            Ok(Sender::Http2(sender)) => {
                for _ in 0..asked.streams {
                    workers.spawn(worker(Arc::clone(&asked), Sender::Http2(sender.clone()), began));
                }
            }
            Err(reason) => *heard.errors.entry(reason).or_default() += 1,
        }
    }
    let mut last = began;
    while let Some(part) = workers.join_next().await {
        let part = match part {
            Ok(part) => part,
            Err(error) => {
                *heard.errors.entry(format!("a reader ended: {error}")).or_default() += 1;
                continue;
            }
        };
        times.extend(part.times);
        last = last.max(part.last);
        if let Some(reason) = part.failed {
            *heard.errors.entry(reason).or_default() += 1;
        }
    }
    heard.elapsed_ns = nanos(last - began);
    let good = if asked.protocol == Protocol::Grpc { "OK" } else { "200" };
    heard.answers = BTreeMap::from([(good, times)]);
    heard
}

/// One connection's side that sends.
enum Sender {
    Http1(http1::SendRequest<Full<Bytes>>),
    Http2(http2::SendRequest<Full<Bytes>>),
}

/// Opens a connection, or returns the error as a sentence.
async fn connect(asked: &Streams) -> Result<Sender, String> {
    let stream = TcpStream::connect(&asked.address)
        .await
        .map_err(|error| in_words(&error))?;
    let _ = stream.set_nodelay(true);
    let io = TokioIo::new(stream);
    if asked.protocol == Protocol::Grpc {
        let (sender, connection) = http2::handshake(TokioExecutor::new(), io)
            .await
            .map_err(|error| in_words(&error))?;
        tokio::spawn(connection);
        Ok(Sender::Http2(sender))
    } else {
        let (sender, connection) = http1::handshake(io).await.map_err(|error| in_words(&error))?;
        tokio::spawn(connection);
        Ok(Sender::Http1(sender))
    }
}

/// An error's innermost cause, free of addresses.
fn in_words(error: &dyn std::error::Error) -> String {
    let mut innermost = error;
    while let Some(cause) = innermost.source() {
        innermost = cause;
    }
    let text = innermost.to_string();
    text.split(" (os error").next().unwrap_or(&text).to_lowercase()
}

impl Sender {
    async fn send(&mut self, asked: &Streams) -> Result<Response<Incoming>, String> {
        let mut build = Request::builder().method(asked.method.as_str());
        let own: &[&str] = match self {
            Self::Http1(_) => &[],
            Self::Http2(_) => &["content-type: application/grpc", "te: trailers"],
        };
        let lines = asked.headers.iter().map(String::as_str).chain(own.iter().copied());
        for (name, value) in lines.filter_map(|line| line.split_once(": ")) {
            build = build.header(name, value);
        }
        let body = Full::new(asked.body.clone());
        let unwritten = |error: hyper::http::Error| in_words(&error);
        match self {
            Self::Http1(sender) => {
                let request = build.uri(&asked.path).header("host", &asked.address).body(body);
                sender.ready().await.map_err(|error| in_words(&error))?;
                sender.send_request(request.map_err(unwritten)?).await
            }
            Self::Http2(sender) => {
                let request = build.uri(format!("http://{}{}", asked.address, asked.path)).body(body);
                sender.send_request(request.map_err(unwritten)?).await
            }
        }
        .map_err(|error| in_words(&error))
    }
}

/// The messages of one worker.
struct Part {
    times: Vec<u64>,
    last: Instant,
    failed: Option<String>,
    until: Until,
    began: Instant,
}

impl Part {
    /// Records messages that arrived together: all but the first took no time. Returns true if this worker is done.
    fn note(&mut self, messages: usize) -> bool {
        let now = Instant::now();
        for _ in 0..messages {
            if self.has_enough() {
                return true;
            }
            self.times.push(nanos(now - self.last));
            self.last = now;
        }
        self.has_enough()
    }

    fn has_enough(&self) -> bool {
        match self.until {
            Until::Messages(most) => self.times.len() as u64 >= most,
            Until::Time(length) => self.began.elapsed() >= length,
        }
    }
}

/// Reads one stream after the other, until this worker is done or a stream fails.
async fn worker(asked: Arc<Streams>, mut sender: Sender, began: Instant) -> Part {
    let mut part = Part {
        times: Vec::new(),
        last: began,
        failed: None,
        until: asked.until,
        began,
    };
    while part.failed.is_none() && !part.has_enough() {
        part.last = Instant::now();
        part.failed = one(&asked, &mut sender, &mut part).await.err();
    }
    part
}

/// Reads one stream to its end, or until this worker is done.
async fn one(asked: &Streams, sender: &mut Sender, part: &mut Part) -> Result<(), String> {
    let late = |_| format!("no message within {} s", LONGEST.as_secs());
    let response = tokio::time::timeout(LONGEST, sender.send(asked))
        .await
        .map_err(late)??;
    let (head, mut body) = response.into_parts();
    if head.status.as_u16() != 200 {
        return Err(format!("status {}", head.status.as_u16()));
    }
    let mut status = head.headers.get("grpc-status").cloned();
    let mut cut = Cut::new(asked.protocol);
    while let Some(frame) = tokio::time::timeout(LONGEST, body.frame()).await.map_err(late)? {
        let frame = frame.map_err(|error| in_words(&error))?;
        if let Some(data) = frame.data_ref() {
            if part.note(cut.feed(data)) {
                return Ok(());
            }
        } else if let Some(trailers) = frame.trailers_ref() {
            status = trailers.get("grpc-status").cloned().or(status);
        }
    }
    part.note(cut.finish()?);
    match (asked.protocol, status) {
        (Protocol::Grpc, None) => Err("a stream without grpc-status".into()),
        (Protocol::Grpc, Some(status)) if status != "0" => {
            Err(format!("grpc-status {}", String::from_utf8_lossy(status.as_bytes())))
        }
        _ => Ok(()),
    }
}

/// Counts the messages in a stream of chunks, which may be split anywhere.
#[derive(Debug)]
enum Cut {
    /// Lines: whether the last one has begun.
    Lines(bool),
    /// Frames: bytes of the head seen so far, and bytes of the message still to come.
    Frames { head: Vec<u8>, rest: usize },
}

impl Cut {
    const fn new(protocol: Protocol) -> Self {
        match protocol {
            Protocol::Grpc => Self::Frames {
                head: Vec::new(),
                rest: 0,
            },
            _ => Self::Lines(false),
        }
    }

    /// The number of messages that these bytes complete.
    fn feed(&mut self, mut bytes: &[u8]) -> usize {
        match self {
            Self::Lines(begun) => {
                let mut whole = 0;
                for line in bytes.split_inclusive(|byte| *byte == b'\n') {
                    let ends = line.ends_with(b"\n");
                    // An empty line is no message.
                    whole += usize::from(ends && (*begun || line.len() > 1));
                    *begun = !ends;
                }
                whole
            }
            Self::Frames { head, rest } => {
                let mut whole = 0;
                while !bytes.is_empty() {
                    if *rest == 0 {
                        let (taken, others) = bytes.split_at(bytes.len().min(FRAME_HEADER_BYTES - head.len()));
                        head.extend(taken);
                        bytes = others;
                        if let [_, length @ ..] = head.as_slice()
                            && let Ok(length) = <[u8; 4]>::try_from(length)
                        {
                            *rest = usize::try_from(u32::from_be_bytes(length)).unwrap_or(usize::MAX);
                            head.clear();
                            whole += usize::from(*rest == 0);
                        }
                    } else {
                        let taken = bytes.len().min(*rest);
                        bytes = &bytes[taken..];
                        *rest -= taken;
                        whole += usize::from(*rest == 0);
                    }
                }
                whole
            }
        }
    }

    /// The number of messages that the end of the stream completes.
    fn finish(self) -> Result<usize, String> {
        match self {
            Self::Lines(begun) => Ok(usize::from(begun)),
            Self::Frames { head, rest } if head.is_empty() && rest == 0 => Ok(0),
            Self::Frames { .. } => Err("a stream that ends within a message".into()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::measure::grpc::frame;
    use proptest::prelude::*;

    /// Feeds `whole` in pieces of these lengths; the last length is repeated.
    fn fed(protocol: Protocol, whole: &[u8], lengths: &[usize]) -> Result<usize, String> {
        let (mut cut, mut count, mut rest) = (Cut::new(protocol), 0, whole);
        let mut lengths = lengths.iter().copied().chain(std::iter::repeat(7));
        while !rest.is_empty() {
            let length = lengths.next().unwrap_or(1).clamp(1, rest.len());
            count += cut.feed(&rest[..length]);
            rest = &rest[length..];
        }
        Ok(count + cut.finish()?)
    }

    proptest! {
        #[test]
        fn frames_are_counted_wherever_they_are_cut(
            messages in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..40), 0..20),
            lengths in prop::collection::vec(1usize..50, 0..20)
        ) {
            let whole: Vec<u8> = messages.iter().flat_map(|message| frame(message)).collect();
            prop_assert_eq!(fed(Protocol::Grpc, &whole, &lengths), Ok(messages.len()));
            if whole.len() > 1 {
                prop_assert!(fed(Protocol::Grpc, &whole[..whole.len() - 1], &lengths).is_err());
            }
        }

        #[test]
        fn lines_are_counted_wherever_they_are_cut(
            lines in prop::collection::vec("[a-z{}]{1,30}", 0..20), lengths in prop::collection::vec(1usize..50, 0..20), ends in any::<bool>()
        ) {
            let mut whole = lines.join("\n").into_bytes();
            if ends && !lines.is_empty() {
                whole.push(b'\n');
            }
            prop_assert_eq!(fed(Protocol::Http, &whole, &lengths), Ok(lines.len()));
        }
    }

    #[test]
    fn who_refuses_is_an_error_by_its_cause() {
        let port = std::net::TcpListener::bind("127.0.0.1:0")
            .unwrap()
            .local_addr()
            .unwrap();
        let heard = read(Streams {
            protocol: Protocol::Http,
            address: port.to_string(),
            method: "GET".into(),
            path: "/".into(),
            headers: Vec::new(),
            body: Bytes::new(),
            connections: 3,
            streams: 1,
            until: Until::Messages(5),
        })
        .unwrap();
        assert_eq!(heard.errors, BTreeMap::from([("connection refused".to_owned(), 3)]));
        assert_eq!(heard.answers["200"], Vec::<u64>::new());
    }
}
