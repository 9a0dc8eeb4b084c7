//! A connection that times out if its client does not send a complete request head in time.
//!
//! Frameworks do this with a timer for every request. Here a head that arrives in one read costs a comparison of its last four
//! bytes; a timer is started only for a head that arrives in several reads.

use std::io;
use std::mem::MaybeUninit;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Instant, Sleep, sleep};

use crate::metrics::Open;
#[cfg(any(feature = "axum", feature = "tonic"))]
use crate::wire::Wire;

/// The connection preface of HTTP/2 (RFC 9113, section 3.4).
const PREFACE: &[u8; 24] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
/// The end of an HTTP/1.1 request head.
const HEAD_END: [u8; 4] = *b"\r\n\r\n";

/// A connection that fails if a request head, or the HTTP/2 preface, is not complete in time.
///
/// After the HTTP/2 preface there is no timeout: a partial frame holds no more memory than an idle connection.
#[derive(Debug)]
pub struct Guarded<T> {
    io: T,
    patience: Duration,
    seen: Seen,
    alarm: Option<Pin<Box<Sleep>>>,
    /// Held for as long as the connection lives.
    _open: Option<Open>,
}

/// The bytes that the client has sent so far.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Seen {
    /// This many bytes of the HTTP/2 preface.
    Preface(usize),
    /// HTTP/1.1, and the last bytes received.
    Http1([u8; 4]),
    /// HTTP/2.
    Http2,
}

impl<T> Guarded<T> {
    /// Limits the time for each request head on `io`, and keeps `open` until the connection ends.
    pub(crate) fn new(io: T, patience: Duration, open: Option<Open>) -> Self {
        Self {
            io,
            patience,
            seen: Seen::Preface(0),
            alarm: None,
            _open: open,
        }
    }

    /// The underlying connection.
    #[cfg(feature = "tonic")]
    pub(crate) fn inner(&self) -> &T {
        &self.io
    }

    /// Records the bytes received, and sets the deadline for an incomplete head.
    #[cold]
    fn look(&mut self, piece: &[u8]) {
        let whole = self.seen.then(piece);
        if whole {
            self.alarm = None;
        } else if self.alarm.is_none() {
            self.alarm = Some(Box::pin(sleep(self.patience)));
        }
    }
}

#[cfg(any(feature = "axum", feature = "tonic"))]
impl Guarded<Wire> {
    /// Waits for the first bytes and returns true if they are the HTTP/2 preface (over TLS: if ALPN selected HTTP/2). The bytes
    /// stay in the socket. Returns false if the client disconnects, or if the first four bytes do not arrive in time.
    pub(crate) async fn begins_http2(&self) -> bool {
        let tcp = match &self.io {
            Wire::Plain(tcp) => tcp,
            Wire::Secure(tls) => return tls.get_ref().1.alpn_protocol() == Some(b"h2"),
        };
        let mut first = [0; 4];
        let mut until = None;
        loop {
            let Ok(length) = tcp.peek(&mut first).await else {
                return false;
            };
            if length == 0 || !PREFACE.starts_with(&first[..length]) {
                return false;
            }
            if length == first.len() {
                return true;
            }
            // Only a part of the preface; peek does not wait for the rest.
            if Instant::now() > *until.get_or_insert_with(|| Instant::now() + self.patience) {
                return false;
            }
            sleep(Duration::from_millis(1)).await;
        }
    }
}

impl Seen {
    /// Adds received bytes; returns true if no incomplete head is pending.
    fn then(&mut self, piece: &[u8]) -> bool {
        if let Self::Preface(length) = *self {
            let (found, expected) = (piece.iter(), PREFACE[length..].iter());
            let equal = found
                .zip(expected)
                .take_while(|(found, expected)| found == expected)
                .count();
            *self = if length + equal == PREFACE.len() {
                Self::Http2
            } else if equal == piece.len() {
                Self::Preface(length + equal)
            } else {
                Self::Http1([0; 4])
            };
        }
        match self {
            Self::Http2 => true,
            Self::Preface(length) => *length == 0,
            Self::Http1(last) => {
                if let Some(end) = piece.last_chunk::<4>() {
                    *last = *end;
                } else {
                    last.rotate_left(piece.len());
                    last[4 - piece.len()..].copy_from_slice(piece);
                }
                *last == HEAD_END
            }
        }
    }
}

impl<T: AsyncRead + Unpin> AsyncRead for Guarded<T> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        match Pin::new(&mut self.io).poll_read(context, buffer) {
            Poll::Ready(Ok(())) => {
                let piece = &buffer.filled()[before..];
                // Nearly every read is a whole request, or part of HTTP/2: no timer is needed.
                let whole = match self.seen {
                    Seen::Http2 => true,
                    Seen::Http1(_) => self.alarm.is_none() && piece.ends_with(&HEAD_END),
                    Seen::Preface(_) => false,
                };
                if !whole && !piece.is_empty() {
                    self.look(piece);
                }
                Poll::Ready(Ok(()))
            }
            Poll::Pending => {
                if let Some(alarm) = &mut self.alarm {
                    ready!(alarm.as_mut().poll(context));
                    return Poll::Ready(Err(io::ErrorKind::TimedOut.into()));
                }
                Poll::Pending
            }
            failed @ Poll::Ready(Err(_)) => failed,
        }
    }
}

impl<T: AsyncWrite + Unpin> Guarded<T> {
    /// A write restarts the timeout: the end of a request body cannot be detected here.
    #[inline]
    fn answered(&mut self) {
        if let Some(alarm) = &mut self.alarm {
            alarm.as_mut().reset(Instant::now() + self.patience);
        }
    }
}

impl<T: AsyncRead + AsyncWrite + Unpin> AsyncWrite for Guarded<T> {
    #[inline]
    fn poll_write(mut self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        self.answered();
        Pin::new(&mut self.io).poll_write(context, bytes)
    }

    #[inline]
    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        pieces: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        self.answered();
        Pin::new(&mut self.io).poll_write_vectored(context, pieces)
    }

    fn is_write_vectored(&self) -> bool {
        self.io.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.io).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        ready!(Pin::new(&mut self.io).poll_shutdown(context))?;
        self.poll_rest(context).map(Ok)
    }
}

impl<T: AsyncRead + Unpin> Guarded<T> {
    /// Reads and drops what a client still sends after an early response, until the timeout: closing with unread bytes resets the
    /// connection, and the response may be lost (RFC 9112, section 9.6).
    fn poll_rest(&mut self, context: &mut Context<'_>) -> Poll<()> {
        let mut room = [MaybeUninit::uninit(); 4096];
        while let Some(alarm) = &mut self.alarm {
            let mut piece = ReadBuf::uninit(&mut room);
            let late = alarm.as_mut().poll(context).is_ready();
            let ended = match Pin::new(&mut self.io).poll_read(context, &mut piece) {
                Poll::Pending if !late => return Poll::Pending,
                Poll::Ready(Ok(())) => piece.filled().is_empty(),
                Poll::Pending | Poll::Ready(Err(_)) => true,
            };
            if late || ended {
                self.alarm = None;
            }
        }
        Poll::Ready(())
    }
}

#[cfg(test)]
mod tests {
    use std::io::ErrorKind;
    use std::time::Duration;

    use tokio::io::{AsyncReadExt, AsyncWriteExt, duplex};
    use tokio::net::{TcpListener, TcpStream};
    use tokio::time::{Instant, sleep};

    use super::{Guarded, PREFACE, Seen};

    const PATIENCE: Duration = Duration::from_secs(10);

    fn last_owes_nothing(pieces: &[&[u8]]) -> bool {
        let mut seen = Seen::Preface(0);
        pieces.iter().map(|piece| seen.then(piece)).last().unwrap()
    }

    #[test]
    fn a_head_is_whole_wherever_it_is_cut() {
        let head = b"GET / HTTP/1.1\r\nhost: a\r\n\r\n";
        for cut in 1..head.len() {
            let (first, second) = head.split_at(cut);
            assert!(!last_owes_nothing(&[first]), "{cut}");
            assert!(last_owes_nothing(&[first, second]), "{cut}");
        }
        let letters: Vec<&[u8]> = head.chunks(1).collect();
        assert!(last_owes_nothing(&letters));
    }

    #[test]
    fn http2_begins_wherever_its_preface_is_cut() {
        for cut in 1..PREFACE.len() {
            let (first, second) = PREFACE.split_at(cut);
            let followed = [second, &[0, 0, 0, 4]].concat();
            assert!(!last_owes_nothing(&[first]), "{cut}");
            assert!(last_owes_nothing(&[first, &followed, b"half a frame"]), "{cut}");
        }
        assert!(!last_owes_nothing(&[b"P", b"OST / HTTP/1.1\r\n"]));
    }

    #[tokio::test(start_paused = true)]
    async fn a_head_that_drips_is_broken_off() {
        let (mut client, server) = duplex(1024);
        let mut guarded = Guarded::new(server, PATIENCE, None);
        let started = Instant::now();
        tokio::spawn(async move {
            while client.write_all(b"x").await.is_ok() {
                sleep(Duration::from_secs(1)).await;
            }
        });
        let mut all = Vec::new();
        let error = guarded.read_to_end(&mut all).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::TimedOut);
        assert_eq!((started.elapsed().as_secs(), all.len()), (10, 10));
    }

    /// A connection whose request of 2 MB got its response before the body had arrived, and its client, which has sent the first byte.
    async fn answered_early() -> (TcpStream, Guarded<TcpStream>) {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let mut client = TcpStream::connect(listener.local_addr().unwrap()).await.unwrap();
        let (server, _) = listener.accept().await.unwrap();
        let mut guarded = Guarded::new(server, Duration::from_millis(500), None);
        client.write_all(b"P").await.unwrap();
        assert_eq!(guarded.read(&mut [0; 10]).await.unwrap(), 1);
        guarded.write_all(b"too large").await.unwrap();
        (client, guarded)
    }

    #[tokio::test]
    async fn who_is_answered_while_sending_gets_the_answer() {
        let (mut client, mut guarded) = answered_early().await;
        let server = tokio::spawn(async move { guarded.shutdown().await });
        sleep(Duration::from_millis(50)).await;
        client.write_all(&[0; 2_000_000]).await.unwrap();
        client.shutdown().await.unwrap();
        server.await.unwrap().unwrap();
        let mut answer = String::new();
        client.read_to_string(&mut answer).await.unwrap();
        assert_eq!(answer, "too large");
    }

    #[tokio::test]
    async fn who_never_stops_sending_is_cut_off() {
        let (mut client, mut guarded) = answered_early().await;
        let sending = tokio::spawn(async move { while client.write_all(&[0; 10_000]).await.is_ok() {} });
        guarded.shutdown().await.unwrap();
        drop(guarded);
        sending.await.unwrap();
    }

    #[tokio::test(start_paused = true)]
    async fn who_asks_whole_questions_may_be_silent_for_long() {
        for question in [&b"GET / HTTP/1.1\r\n\r\n"[..], PREFACE] {
            let (mut client, server) = duplex(1024);
            let mut guarded = Guarded::new(server, PATIENCE, None);
            let mut buffer = [0; 100];
            client.write_all(question).await.unwrap();
            assert_eq!(guarded.read(&mut buffer).await.unwrap(), question.len());
            tokio::spawn(async move {
                sleep(PATIENCE * 100).await;
                client.write_all(b"more").await
            });
            assert_eq!(guarded.read(&mut buffer).await.unwrap(), 4);
        }
    }
}
