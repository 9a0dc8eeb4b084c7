//! A relay between driver and server that counts bytes and keeps both in lock step: it passes bytes on only when both
//! sides wait, and then all bytes at once.
//!
//! Without lock step, the work for a request depends on timing: a request that has arrived when the server reads saves
//! a sleep, a frame that arrives alone costs another read, two responses may share an acknowledgement.

use std::io::{self, ErrorKind, Read as _, Write as _};
use std::net::{Ipv4Addr, Shutdown, TcpListener, TcpStream};
use std::os::fd::AsFd as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI32, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use nix::poll::{PollFd, PollFlags, PollTimeout, poll};

use crate::count::asleep::Sleepers;
use crate::count::segments;
use crate::count::wire::Wire;

/// How long the relay waits for both sides before it passes bytes on anyway: the most and the least. The time halves
/// whenever they do not come to rest, and doubles whenever they do.
const PATIENCE: (Duration, Duration) = (Duration::from_millis(200), Duration::from_millis(3));
/// How long the relay waits for more bytes of a driver whose processes are not known.
const UNKNOWN: Duration = Duration::from_millis(3);
/// How often the relay checks whether to stop, milliseconds.
const TICK_MS: u8 = 20;
/// Time between two readings of the processes: the first, and the longest.
const GLANCE: (Duration, Duration) = (Duration::from_micros(20), Duration::from_micros(300));

/// A running relay; dropping it stops it.
#[derive(Debug)]
pub struct Relay {
    /// `127.0.0.1:port`, where the driver connects.
    pub address: String,
    /// The driver's process group, once it has one; 0 until then.
    pub driver: Arc<AtomicI32>,
    ending: Arc<AtomicBool>,
    thread: Option<JoinHandle<io::Result<Wire>>>,
}

impl Relay {
    /// Starts a relay to the server at `server` (`127.0.0.1:port`), whose process group is `group`.
    ///
    /// # Errors
    /// When no port can be had.
    pub fn start(server: &str, group: i32) -> io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
        listener.set_nonblocking(true)?;
        let address = listener.local_addr()?.to_string();
        let (driver, ending) = (Arc::new(AtomicI32::new(0)), Arc::new(AtomicBool::new(false)));
        let mut dialogue = Dialogue {
            listener,
            server: server.to_owned(),
            pairs: Vec::new(),
            parties: Parties {
                server: Sleepers::group(group),
                driver_group: Arc::clone(&driver),
                driver: None,
                patience: PATIENCE.0,
            },
            wire: Wire {
                segments_sent: Some(0),
                ..Wire::default()
            },
        };
        let ended = Arc::clone(&ending);
        let thread = std::thread::Builder::new()
            .name("relay".into())
            .spawn(move || dialogue.run(&ended))?;
        Ok(Self {
            address,
            driver,
            ending,
            thread: Some(thread),
        })
    }

    /// Stops the relay after every connection is closed, and returns its counts. The driver must have ended.
    ///
    /// # Errors
    /// When the server could not be connected to, or a connection broke.
    pub fn finish(mut self) -> io::Result<Wire> {
        self.ending.store(true, Ordering::Relaxed);
        let thread = self.thread.take().expect("only finish and drop take it");
        thread
            .join()
            .unwrap_or_else(|_| Err(io::Error::other("the relay broke off")))
    }
}

impl Drop for Relay {
    fn drop(&mut self) {
        self.ending.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// Both sides' processes.
struct Parties {
    server: Sleepers,
    driver_group: Arc<AtomicI32>,
    driver: Option<Sleepers>,
    patience: Duration,
}

impl Parties {
    /// Waits until both sides rest; false when they did not in time.
    fn rest(&mut self) -> bool {
        if self.driver.is_none() {
            let group = self.driver_group.load(Ordering::Relaxed);
            self.driver = (group != 0).then(|| Sleepers::group(group));
            if self.driver.is_none() {
                std::thread::sleep(UNKNOWN);
            }
        }
        let started = Instant::now();
        let mut pause = GLANCE.0;
        loop {
            let mut driver_rests = || self.driver.as_mut().is_none_or(Sleepers::asleep);
            if self.server.asleep() && driver_rests() && self.server.surely_asleep() && driver_rests() {
                self.patience = (self.patience * 2).min(PATIENCE.0);
                return true;
            }
            if started.elapsed() > self.patience {
                self.patience = (self.patience / 2).max(PATIENCE.1);
                return false;
            }
            std::thread::sleep(pause);
            pause = (pause * 3 / 2).min(GLANCE.1);
        }
    }
}

/// One connection of the driver and the one to the server that belongs to it.
struct Pair {
    driver: TcpStream,
    server: TcpStream,
    driver_open: bool,
    server_open: bool,
}

struct Dialogue {
    listener: TcpListener,
    server: String,
    pairs: Vec<Pair>,
    parties: Parties,
    wire: Wire,
}

impl Dialogue {
    fn run(&mut self, ending: &AtomicBool) -> io::Result<Wire> {
        loop {
            let ending = ending.load(Ordering::Relaxed);
            self.accept()?;
            if ending && self.pairs.is_empty() {
                // The server's work after the last close belongs to the run.
                self.parties.rest();
                return Ok(self.wire);
            }
            if self.somebody_speaks()? {
                self.wire.turns += 1;
                if !self.parties.rest() {
                    self.wire.restless += 1;
                }
                self.exchange()?;
            } else if ending {
                // The driver has ended: a half-open connection brings no more bytes.
                self.pairs.clear();
            }
        }
    }

    /// Waits for a connection, for bytes, or for a tick; returns true if there are bytes.
    fn somebody_speaks(&self) -> io::Result<bool> {
        let mut asked = vec![PollFd::new(self.listener.as_fd(), PollFlags::POLLIN)];
        for pair in &self.pairs {
            let open = [(&pair.driver, pair.driver_open), (&pair.server, pair.server_open)];
            let open = open.into_iter().filter(|(_, open)| *open);
            asked.extend(open.map(|(stream, _)| PollFd::new(stream.as_fd(), PollFlags::POLLIN)));
        }
        match poll(&mut asked, PollTimeout::from(TICK_MS)) {
            Ok(_) | Err(nix::errno::Errno::EINTR) => {}
            Err(error) => return Err(error.into()),
        }
        let spoke = |one: &PollFd| one.revents().is_some_and(|events| !events.is_empty());
        Ok(asked[1..].iter().any(spoke))
    }

    fn accept(&mut self) -> io::Result<()> {
        loop {
            let driver = match self.listener.accept() {
                Ok((driver, _)) => driver,
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(()),
                Err(error) => return Err(error),
            };
            self.parties.rest();
            let server = TcpStream::connect(&self.server)?;
            for stream in [&driver, &server] {
                stream.set_nodelay(true)?;
                stream.set_nonblocking(true)?;
            }
            self.wire.connections += 1;
            self.pairs.push(Pair {
                driver,
                server,
                driver_open: true,
                server_open: true,
            });
        }
    }

    /// Reads all bytes of both sides, then passes them on.
    fn exchange(&mut self) -> io::Result<()> {
        let mut said = Vec::new();
        for pair in &mut self.pairs {
            let request = take(&mut pair.driver, &mut pair.driver_open);
            let answer = take(&mut pair.server, &mut pair.server_open);
            said.push((request, answer));
        }
        for (pair, (request, answer)) in self.pairs.iter_mut().zip(said) {
            self.wire.received += request.len() as u64;
            self.wire.sent += answer.len() as u64;
            give(&mut pair.server, &request);
            give(&mut pair.driver, &answer);
            if !pair.driver_open || !pair.server_open {
                // After both ends are closed the kernel has no counters any more.
                let segments = segments::received(&pair.server);
                self.wire.segments_sent = self.wire.segments_sent.zip(segments).map(|(sum, more)| sum + more);
                let _ = pair.server.shutdown(Shutdown::Both);
                let _ = pair.driver.shutdown(Shutdown::Both);
            }
        }
        self.pairs.retain(|pair| pair.driver_open && pair.server_open);
        Ok(())
    }
}

/// All bytes that a side has sent so far; `open` becomes false when it has closed.
fn take(from: &mut TcpStream, open: &mut bool) -> Vec<u8> {
    let mut said = Vec::new();
    let mut buffer = [0; 64 << 10];
    while *open {
        match from.read(&mut buffer) {
            Ok(0) => *open = false,
            Ok(count) => said.extend_from_slice(&buffer[..count]),
            Err(error) if error.kind() == ErrorKind::WouldBlock => break,
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            // A reset counts as a close.
            Err(_) => *open = false,
        }
    }
    said
}

/// Passes bytes on; a side that has closed meanwhile does not get them.
fn give(to: &mut TcpStream, mut bytes: &[u8]) {
    while !bytes.is_empty() {
        match to.write(bytes) {
            Ok(count) => bytes = &bytes[count..],
            Err(error) if error.kind() == ErrorKind::WouldBlock => {
                let mut writable = [PollFd::new(to.as_fd(), PollFlags::POLLOUT)];
                let _ = poll(&mut writable, PollTimeout::from(TICK_MS));
            }
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(_) => return,
        }
    }
}

#[cfg(test)]
#[cfg(target_os = "linux")]
mod tests {
    use std::io::{BufRead as _, BufReader};
    use std::os::unix::process::CommandExt as _;
    use std::process::{Child, Command, Stdio};

    use super::*;

    /// Responds to each chunk with its length in four bytes; prints its port first.
    const SERVER: &str = "
import socket, struct
listener = socket.create_server(('127.0.0.1', 0))
print(listener.getsockname()[1], flush=True)
while True:
    connection, _ = listener.accept()
    while chunk := connection.recv(65536):
        connection.sendall(struct.pack('>I', len(chunk)))
    connection.close()
";

    struct Server(Child, String);

    impl Server {
        fn start() -> Self {
            let mut command = Command::new("python3");
            command.args(["-c", SERVER]).stdout(Stdio::piped()).process_group(0);
            let mut child = command.spawn().unwrap();
            let mut port = String::new();
            BufReader::new(child.stdout.take().unwrap())
                .read_line(&mut port)
                .unwrap();
            Self(child, format!("127.0.0.1:{}", port.trim()))
        }

        fn relay(&self) -> Relay {
            Relay::start(&self.1, self.0.id().try_into().unwrap()).unwrap()
        }
    }

    impl Drop for Server {
        fn drop(&mut self) {
            let _ = self.0.kill();
            let _ = self.0.wait();
        }
    }

    fn ask(stream: &mut TcpStream, bytes: &[u8]) -> u32 {
        stream.write_all(bytes).unwrap();
        let mut answer = [0; 4];
        stream.read_exact(&mut answer).unwrap();
        u32::from_be_bytes(answer)
    }

    #[test]
    fn every_byte_segment_and_connection_is_counted() {
        let server = Server::start();
        let relay = server.relay();
        for _ in 0..2 {
            let mut stream = TcpStream::connect(&relay.address).unwrap();
            for length in [1, 100, 10_000] {
                assert_eq!(ask(&mut stream, &vec![7; length]), u32::try_from(length).unwrap());
            }
        }
        let wire = relay.finish().unwrap();
        let expected = Wire {
            connections: 2,
            sent: 24,
            received: 20_202,
            segments_sent: Some(6),
            turns: wire.turns,
            restless: 0,
        };
        assert_eq!(wire, expected);
    }

    #[test]
    fn what_a_side_says_in_pieces_arrives_as_one() {
        let server = Server::start();
        // This very process is the driver: it is busy between its writes.
        let relay = server.relay();
        relay.driver.store(nix::unistd::getpgrp().as_raw(), Ordering::Relaxed);
        let mut stream = TcpStream::connect(&relay.address).unwrap();
        stream.set_nodelay(true).unwrap();
        for _ in 0..5 {
            let until = Instant::now() + Duration::from_millis(5);
            while Instant::now() < until {
                std::hint::spin_loop();
            }
            stream.write_all(&[1; 10]).unwrap();
        }
        let mut answer = [0; 4];
        stream.read_exact(&mut answer).unwrap();
        assert_eq!(u32::from_be_bytes(answer), 50);
    }

    #[test]
    fn a_driver_that_leaves_without_a_word_ends_the_relay_too() {
        let server = Server::start();
        let relay = server.relay();
        drop(TcpStream::connect(&relay.address).unwrap());
        assert_eq!(relay.finish().unwrap().connections, 1);
    }

    #[test]
    fn a_server_that_is_not_there_is_an_error() {
        let gone = Server::start();
        let relay = gone.relay();
        drop(gone);
        let mut stream = TcpStream::connect(&relay.address).unwrap();
        assert_eq!(stream.read(&mut [0; 1]).unwrap_or(0), 0);
        assert!(relay.finish().is_err());
    }
}
