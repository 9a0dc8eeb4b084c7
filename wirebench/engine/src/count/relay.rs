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

use crate::count::threads::GroupThreads;

/// How much CPU time both sides may use before the relay passes bytes on anyway: the most and the least. It is no wall time,
/// because on a busy machine a thread that is about to wait may not run for long. The time halves whenever they do not both
/// wait in that time, and doubles whenever they do.
const PATIENCE: (Duration, Duration) = (Duration::from_millis(200), Duration::from_millis(3));
/// How much longer than that neither side may use any CPU time although one does not wait, such as a thread that the disk
/// holds up.
const STUCK: u32 = 10;
/// How long the relay waits for more bytes of a driver whose processes are unknown.
const PAUSE_UNKNOWN: Duration = Duration::from_millis(3);
/// How often the relay checks whether to stop, milliseconds.
const TICK_MS: u8 = 20;
/// Time between two readings of the processes: the first, and the longest.
const READING_INTERVAL: (Duration, Duration) = (Duration::from_micros(20), Duration::from_micros(300));

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
    /// When no port is free.
    pub fn start(server: &str, group: i32) -> io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
        listener.set_nonblocking(true)?;
        let address = listener.local_addr()?.to_string();
        let (driver, ending) = (Arc::new(AtomicI32::new(0)), Arc::new(AtomicBool::new(false)));
        let mut connections = Connections {
            listener,
            server: server.to_owned(),
            open: Vec::new(),
            sides: Sides {
                server: GroupThreads::group(group),
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
            .spawn(move || connections.run(&ended))?;
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

/// The processes of both sides.
struct Sides {
    server: GroupThreads,
    driver_group: Arc<AtomicI32>,
    driver: Option<GroupThreads>,
    patience: Duration,
}

impl Sides {
    /// CPU time of both sides so far.
    fn cpu(&mut self) -> Duration {
        let driver = self.driver.as_mut().map_or(0, GroupThreads::cpu_ns);
        Duration::from_nanos(self.server.cpu_ns() + driver)
    }

    /// Waits until both sides wait; false if they did not in time.
    fn wait_for_both(&mut self) -> bool {
        if self.driver.is_none() {
            let group = self.driver_group.load(Ordering::Relaxed);
            self.driver = (group != 0).then(|| GroupThreads::group(group));
            if self.driver.is_none() {
                std::thread::sleep(PAUSE_UNKNOWN);
            }
        }
        let (mut used, mut before) = (Duration::ZERO, self.cpu());
        let mut last_used = Instant::now();
        let mut pause = READING_INTERVAL.0;
        loop {
            let mut driver_waits = || self.driver.as_mut().is_none_or(GroupThreads::all_wait);
            if self.server.all_wait() && driver_waits() && self.server.surely_all_wait() && driver_waits() {
                self.patience = (self.patience * 2).min(PATIENCE.0);
                return true;
            }
            let now = self.cpu();
            if now != before {
                last_used = Instant::now();
            }
            // The CPU time of a thread that has ended is missing.
            used += now.saturating_sub(before);
            before = now;
            if used > self.patience || last_used.elapsed() > self.patience * STUCK {
                self.patience = (self.patience / 2).max(PATIENCE.1);
                return false;
            }
            std::thread::sleep(pause);
            pause = (pause * 3 / 2).min(READING_INTERVAL.1);
        }
    }
}

/// A connection from the driver and the corresponding connection to the server.
struct Connection {
    driver: TcpStream,
    server: TcpStream,
    driver_open: bool,
    server_open: bool,
}

/// All connections, and the traffic over them.
struct Connections {
    listener: TcpListener,
    server: String,
    open: Vec<Connection>,
    sides: Sides,
    wire: Wire,
}

impl Connections {
    fn run(&mut self, ending: &AtomicBool) -> io::Result<Wire> {
        loop {
            let ending = ending.load(Ordering::Relaxed);
            self.accept()?;
            if ending && self.open.is_empty() {
                // The server's work after the last close belongs to the run.
                self.sides.wait_for_both();
                return Ok(self.wire);
            }
            if self.wait_for_bytes()? {
                self.wire.exchanges += 1;
                if !self.sides.wait_for_both() {
                    self.wire.unsettled += 1;
                }
                self.exchange()?;
            } else if ending {
                // The driver has ended: no more bytes arrive on a half-open connection.
                self.open.clear();
            }
        }
    }

    /// Waits for a connection, for bytes, or for a tick; returns true if bytes arrived.
    fn wait_for_bytes(&self) -> io::Result<bool> {
        let mut polled = vec![PollFd::new(self.listener.as_fd(), PollFlags::POLLIN)];
        for connection in &self.open {
            let streams = [
                (&connection.driver, connection.driver_open),
                (&connection.server, connection.server_open),
            ];
            let open = streams.into_iter().filter(|(_, is_open)| *is_open);
            polled.extend(open.map(|(stream, _)| PollFd::new(stream.as_fd(), PollFlags::POLLIN)));
        }
        match poll(&mut polled, PollTimeout::from(TICK_MS)) {
            Ok(_) | Err(nix::errno::Errno::EINTR) => {}
            Err(error) => return Err(error.into()),
        }
        let has_event = |one: &PollFd| one.revents().is_some_and(|events| !events.is_empty());
        Ok(polled[1..].iter().any(has_event))
    }

    fn accept(&mut self) -> io::Result<()> {
        loop {
            let driver = match self.listener.accept() {
                Ok((driver, _)) => driver,
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(()),
                Err(error) => return Err(error),
            };
            self.sides.wait_for_both();
            let server = TcpStream::connect(&self.server)?;
            for stream in [&driver, &server] {
                stream.set_nodelay(true)?;
                stream.set_nonblocking(true)?;
            }
            self.wire.connections += 1;
            self.open.push(Connection {
                driver,
                server,
                driver_open: true,
                server_open: true,
            });
        }
    }

    /// Reads all bytes of both sides, then passes them on.
    fn exchange(&mut self) -> io::Result<()> {
        let mut received = Vec::new();
        for connection in &mut self.open {
            let request = read_available(&mut connection.driver, &mut connection.driver_open);
            let response = read_available(&mut connection.server, &mut connection.server_open);
            received.push((request, response));
        }
        for (connection, (request, response)) in self.open.iter_mut().zip(received) {
            self.wire.received += request.len() as u64;
            self.wire.sent += response.len() as u64;
            write_all(&mut connection.server, &request);
            write_all(&mut connection.driver, &response);
            if !connection.driver_open || !connection.server_open {
                // After both ends are closed the kernel has no counters any more.
                let segments = segments_received(&connection.server);
                self.wire.segments_sent = self.wire.segments_sent.zip(segments).map(|(sum, more)| sum + more);
                let _ = connection.server.shutdown(Shutdown::Both);
                let _ = connection.driver.shutdown(Shutdown::Both);
            }
        }
        self.open
            .retain(|connection| connection.driver_open && connection.server_open);
        Ok(())
    }
}

/// All bytes that a side has sent so far; `open` becomes false when it has closed.
fn read_available(from: &mut TcpStream, open: &mut bool) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut buffer = [0; 64 << 10];
    while *open {
        match from.read(&mut buffer) {
            Ok(0) => *open = false,
            Ok(count) => bytes.extend_from_slice(&buffer[..count]),
            Err(error) if error.kind() == ErrorKind::WouldBlock => break,
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            // A reset counts as a close.
            Err(_) => *open = false,
        }
    }
    bytes
}

/// Passes bytes on; a side that has closed meanwhile does not get them.
fn write_all(to: &mut TcpStream, mut bytes: &[u8]) {
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

/// Segments with data that arrived on an open connection so far; `None` if the kernel does not count them.
fn segments_received(stream: &TcpStream) -> Option<u64> {
    use std::os::fd::AsRawFd as _;

    // Kernels append to the structure of tcp_info(7), and older ones fill less of it.
    const PLACE: usize = std::mem::offset_of!(libc::tcp_info, tcpi_data_segs_in);
    let mut info = [0u8; 512];
    let length = uapi::getsockopt(stream.as_raw_fd(), libc::SOL_TCP, libc::TCP_INFO, &mut info).ok()?;
    let field = info[..length].get(PLACE..PLACE + 4)?;
    Some(u32::from_ne_bytes(field.try_into().ok()?).into())
}

/// The bytes and connections that a relay counted, from the server's point of view.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Wire {
    /// Connections that the driver opened.
    pub connections: u32,
    /// Bytes that the server sent.
    pub sent: u64,
    /// Bytes that the server received.
    pub received: u64,
    /// TCP segments with data that the server sent; `None` if the kernel does not count them.
    pub segments_sent: Option<u64>,
    /// Exchanges between driver and server.
    pub exchanges: u64,
    /// Exchanges before which driver and server did not both wait in time.
    pub unsettled: u64,
}

#[cfg(test)]
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

    fn request(stream: &mut TcpStream, bytes: &[u8]) -> u32 {
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
                assert_eq!(request(&mut stream, &vec![7; length]), u32::try_from(length).unwrap());
            }
        }
        let wire = relay.finish().unwrap();
        let expected = Wire {
            connections: 2,
            sent: 24,
            received: 20_202,
            segments_sent: Some(6),
            exchanges: wire.exchanges,
            unsettled: 0,
        };
        assert_eq!(wire, expected);
    }

    #[test]
    fn bytes_that_a_side_sends_in_pieces_arrive_together() {
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
    fn a_driver_that_gets_no_cpu_time_for_a_while_is_waited_for() {
        let server = Server::start();
        let relay = server.relay();
        let mut driver = Command::new("sleep");
        let mut driver = driver.arg("30").process_group(0).spawn().unwrap();
        let group = i32::try_from(driver.id()).unwrap();
        let signal = move |signal| nix::sys::signal::kill(nix::unistd::Pid::from_raw(group), signal).unwrap();
        // A stopped process is not waiting, and uses no CPU time, as one that others keep from running.
        signal(nix::sys::signal::Signal::SIGSTOP);
        relay.driver.store(group, Ordering::Relaxed);
        let continued = std::thread::spawn(move || {
            std::thread::sleep(Duration::from_millis(600));
            signal(nix::sys::signal::Signal::SIGCONT);
        });
        let mut stream = TcpStream::connect(&relay.address).unwrap();
        request(&mut stream, &[7; 10]);
        drop(stream);
        continued.join().unwrap();
        let wire = relay.finish().unwrap();
        driver.kill().unwrap();
        driver.wait().unwrap();
        assert_eq!((wire.unsettled, wire.sent), (0, 4), "{wire:?}");
    }

    #[test]
    fn a_driver_that_disconnects_without_a_request_ends_the_relay_too() {
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

    #[test]
    fn every_write_that_is_not_held_back_is_a_segment() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let mut here = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let (mut there, _) = listener.accept().unwrap();
        there.set_nodelay(true).unwrap();
        for _ in 0..3 {
            there.write_all(b"five!").unwrap();
            here.read_exact(&mut [0; 5]).unwrap();
        }
        assert_eq!(segments_received(&here), Some(3));
        assert_eq!(segments_received(&there), Some(0));
    }
}
