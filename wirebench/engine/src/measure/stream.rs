//! The load generator `messages`: opens server streams one after the other on each connection, and times every message.
//!
//! A message is a line of an HTTP response, or a frame of a gRPC response. Its time is the time since the previous
//! message, or since the request for the first one. A worker's times add up to its running time, so that Little's law
//! holds by construction.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use http_body_util::BodyExt;
use hyper::Response;
use hyper::body::Incoming;
use serde::Serialize;
use tokio::net::TcpStream;
use tokio::task::JoinSet;

use crate::measure::grpc::frame::FRAME_HEADER_BYTES;
use crate::measure::probe::Connection;
use crate::measure::wire::WireRequest;
use wirebench_declare::protocol::Protocol;
use wirebench_declare::span::nanos;

/// How long the next message may take.
const MESSAGE_TIMEOUT: Duration = Duration::from_secs(20);

/// The load: the request, the connections, and the amount.
#[derive(Debug, Clone)]
pub struct StreamLoad {
    /// The request over `http` or `grpc`.
    pub request: WireRequest,
    /// `127.0.0.1:8080`.
    pub address: String,
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

/// The measured times, in the common shape of driver outputs.
#[derive(Debug, Default, PartialEq, Eq, Serialize)]
pub struct StreamStats {
    /// From before the first connection to the last message.
    pub elapsed_ns: u64,
    /// Time of every message, ns, by the status of a good response.
    pub answers: BTreeMap<&'static str, Vec<u64>>,
    /// Streams that failed, by reason; their worker ends.
    pub errors: BTreeMap<String, u64>,
}

/// Reads until the end.
///
/// # Errors
/// When there can be no runtime.
pub fn read(streams: StreamLoad) -> std::io::Result<StreamStats> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    Ok(runtime.block_on(read_all(Arc::new(streams))))
}

async fn read_all(load: Arc<StreamLoad>) -> StreamStats {
    let began = Instant::now();
    let mut workers = JoinSet::new();
    let mut stats = StreamStats::default();
    let mut times = Vec::new();
    for _ in 0..load.connections {
        match connect(&load).await {
            Ok(connection @ Connection::Http1(_)) => {
                workers.spawn(worker(Arc::clone(&load), connection, began));
            }
            Ok(Connection::Http2(sender)) => {
                for _ in 0..load.streams {
                    workers.spawn(worker(Arc::clone(&load), Connection::Http2(sender.clone()), began));
                }
            }
            Err(reason) => *stats.errors.entry(reason).or_default() += 1,
        }
    }
    let mut last = began;
    while let Some(worker) = workers.join_next().await {
        let worker = match worker {
            Ok(worker) => worker,
            Err(error) => {
                *stats.errors.entry(format!("a reader ended: {error}")).or_default() += 1;
                continue;
            }
        };
        times.extend(worker.times);
        last = last.max(worker.last);
        if let Some(reason) = worker.failed {
            *stats.errors.entry(reason).or_default() += 1;
        }
    }
    stats.elapsed_ns = nanos(last - began);
    let good = if load.request.protocol == Protocol::Grpc {
        "OK"
    } else {
        "200"
    };
    stats.answers = BTreeMap::from([(good, times)]);
    stats
}

/// Opens a connection; the error is a sentence.
async fn connect(load: &StreamLoad) -> Result<Connection, String> {
    let stream = TcpStream::connect(&load.address)
        .await
        .map_err(|error| root_cause(&error))?;
    let _ = stream.set_nodelay(true);
    let connection = Connection::open(stream, load.request.protocol != Protocol::Grpc).await;
    connection.map_err(|error| root_cause(&error))
}

/// Opens a stream on a connection; the error is a sentence.
async fn open_stream(load: &StreamLoad, connection: &mut Connection) -> Result<Response<Incoming>, String> {
    let request = connection.request(&load.address, &load.request);
    let request = request.map_err(|error| root_cause(&error))?;
    connection.send(request).await.map_err(|error| root_cause(&error))
}

/// The innermost cause of an error as text, without addresses.
fn root_cause(error: &dyn std::error::Error) -> String {
    let mut innermost = error;
    while let Some(cause) = innermost.source() {
        innermost = cause;
    }
    let text = innermost.to_string();
    text.split(" (os error").next().unwrap_or(&text).to_lowercase()
}

/// The measured times of one worker.
struct WorkerStats {
    times: Vec<u64>,
    /// When the last message arrived, or its stream was opened.
    last: Instant,
    failed: Option<String>,
    until: Until,
    began: Instant,
}

impl WorkerStats {
    /// Records messages that arrived together: they share the time since those before them. Returns true if this worker is done.
    fn record(&mut self, messages: usize) -> bool {
        let now = Instant::now();
        let share = nanos(now - self.last) / (messages.max(1) as u64);
        for _ in 0..messages {
            if self.is_done() {
                return true;
            }
            self.times.push(share);
            self.last = now;
        }
        self.is_done()
    }

    fn is_done(&self) -> bool {
        match self.until {
            Until::Messages(most) => self.times.len() as u64 >= most,
            Until::Time(length) => self.began.elapsed() >= length,
        }
    }
}

/// Reads one stream after the other, until this worker is done or a stream fails.
async fn worker(load: Arc<StreamLoad>, mut connection: Connection, began: Instant) -> WorkerStats {
    let mut stats = WorkerStats {
        times: Vec::new(),
        last: began,
        failed: None,
        until: load.until,
        began,
    };
    while stats.failed.is_none() && !stats.is_done() {
        stats.last = Instant::now();
        stats.failed = read_stream(&load, &mut connection, &mut stats).await.err();
    }
    stats
}

/// Reads one stream to its end, or until this worker is done.
async fn read_stream(load: &StreamLoad, connection: &mut Connection, stats: &mut WorkerStats) -> Result<(), String> {
    let late = |_| format!("no message within {} s", MESSAGE_TIMEOUT.as_secs());
    let response = tokio::time::timeout(MESSAGE_TIMEOUT, open_stream(load, connection))
        .await
        .map_err(late)??;
    let (head, mut body) = response.into_parts();
    if head.status.as_u16() != 200 {
        return Err(format!("status {}", head.status.as_u16()));
    }
    let mut status = head.headers.get("grpc-status").cloned();
    let mut counter = MessageCounter::new(load.request.protocol);
    while let Some(frame) = tokio::time::timeout(MESSAGE_TIMEOUT, body.frame())
        .await
        .map_err(late)?
    {
        let frame = frame.map_err(|error| root_cause(&error))?;
        if let Some(data) = frame.data_ref() {
            if stats.record(counter.feed(data)) {
                return Ok(());
            }
        } else if let Some(trailers) = frame.trailers_ref() {
            status = trailers.get("grpc-status").cloned().or(status);
        }
    }
    stats.record(counter.finish()?);
    match (load.request.protocol, status) {
        (Protocol::Grpc, None) => Err("a stream without grpc-status".into()),
        (Protocol::Grpc, Some(status)) if status != "0" => {
            Err(format!("grpc-status {}", String::from_utf8_lossy(status.as_bytes())))
        }
        _ => Ok(()),
    }
}

/// Counts the messages in a stream of chunks, which may be split anywhere.
#[derive(Debug)]
enum MessageCounter {
    /// Lines: whether a line has begun and not ended.
    Lines(bool),
    /// Frames: bytes of the header so far, and bytes of the message that are still to come.
    Frames { head: Vec<u8>, rest: usize },
}

impl MessageCounter {
    const fn new(protocol: Protocol) -> Self {
        match protocol {
            Protocol::Grpc => Self::Frames {
                head: Vec::new(),
                rest: 0,
            },
            _ => Self::Lines(false),
        }
    }

    /// Returns the number of messages that these bytes complete.
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

    /// Returns the number of messages that the end of the stream completes.
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
    use crate::measure::grpc::frame::frame;
    use proptest::prelude::*;

    /// Feeds `whole` in pieces of these lengths; the last length is repeated.
    fn fed(protocol: Protocol, whole: &[u8], lengths: &[usize]) -> Result<usize, String> {
        let (mut counter, mut count, mut rest) = (MessageCounter::new(protocol), 0, whole);
        let mut lengths = lengths.iter().copied().chain(std::iter::repeat(7));
        while !rest.is_empty() {
            let length = lengths.next().unwrap_or(1).clamp(1, rest.len());
            count += counter.feed(&rest[..length]);
            rest = &rest[length..];
        }
        Ok(count + counter.finish()?)
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
    fn messages_that_arrive_together_share_the_time_since_those_before_them() {
        let began = Instant::now().checked_sub(Duration::from_millis(8)).unwrap();
        let mut stats = WorkerStats {
            times: Vec::new(),
            last: began,
            failed: None,
            until: Until::Messages(9),
            began,
        };
        assert!(!stats.record(4) && !stats.record(0));
        assert!(stats.times.iter().all(|time| *time >= 2_000_000), "{:?}", stats.times);
        let total: u64 = stats.times.iter().sum();
        assert!(u128::from(total) <= began.elapsed().as_nanos());
        assert!(stats.record(6) && stats.times.len() == 9);
    }

    #[test]
    fn who_refuses_is_an_error_by_its_cause() {
        let port = std::net::TcpListener::bind("127.0.0.1:0")
            .unwrap()
            .local_addr()
            .unwrap();
        let stats = read(StreamLoad {
            request: WireRequest::get(Protocol::Http, "/".into(), None),
            address: port.to_string(),
            connections: 3,
            streams: 1,
            until: Until::Messages(5),
        })
        .unwrap();
        assert_eq!(stats.errors, BTreeMap::from([("connection refused".to_owned(), 3)]));
        assert_eq!(stats.answers["200"], Vec::<u64>::new());
    }
}
