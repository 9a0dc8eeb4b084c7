//! Chooses ports for servers. A server binds its port some time after it was chosen, under valgrind after half a
//! second; until then no other program should get it.

use std::collections::{HashSet, VecDeque};
use std::hash::{BuildHasher as _, Hasher as _, RandomState};
use std::net::{IpAddr, TcpListener};
use std::ops::Range;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};
use std::{fs, io};

use crate::measure::process::holds_within;
use crate::measure::{interrupt, sock_diag};

/// Recently chosen ports, so that two servers that start at the same time never get the same one: with SO_REUSEPORT
/// neither would notice.
static RECENT: Mutex<VecDeque<u16>> = Mutex::new(VecDeque::new());
const RECENT_COUNT: usize = 64;
/// Ports below this belong to other programs by convention.
pub(super) const LOWEST_PORT: u16 = 10_000;
/// A range with fewer ports than this is not used.
const MIN_RANGE: usize = 2_000;
/// Ports tried before the kernel chooses one.
const TRIES: usize = 50;
/// How long Linux keeps the port of a closed connection (TCP_TIMEWAIT_LEN is 60 s), and some more.
const TIME_WAIT: Duration = Duration::from_secs(65);
/// How long a program that was killed may still listen: the kernel closes its sockets some time after the signal.
const SHUTDOWN_TIME: Duration = Duration::from_secs(2);
/// The time between two tries of a fixed port.
const POLL: Duration = Duration::from_millis(100);

/// A free port of a loopback address: the fixed one, or any.
///
/// # Errors
/// When the fixed port is taken, or no port is free: the port, and the operating system's reason.
pub fn free(host: IpAddr, fixed: Option<u16>) -> Result<u16, (u16, io::Error)> {
    if let Some(port) = fixed {
        return bind(host, port).map_err(|error| (port, error));
    }
    let mut recent = RECENT.lock().unwrap_or_else(PoisonError::into_inner);
    let port = match random_port(&recent) {
        Some(port) => port,
        None => loop {
            let port = bind(host, 0).map_err(|error| (0, error))?;
            if !recent.contains(&port) {
                break port;
            }
        },
    };
    recent.push_front(port);
    recent.truncate(RECENT_COUNT);
    Ok(port)
}

/// Waits until a fixed port is free: two seconds for a program that listens on it, because a server that was just stopped may not
/// have ended, and 65 s for a closed connection. Fixed ports such as gRPC's 50051 are among those that the kernel gives to outgoing
/// connections, and a closed connection keeps its port for a minute. Ends early if the user requests a stop.
pub fn wait_for(host: IpAddr, fixed: u16) {
    let is_free = || !is_listened_on(fixed) || bind(host, fixed).is_ok();
    holds_within(SHUTDOWN_TIME, POLL, || is_free() || interrupt::received().is_some());
    let start = Instant::now();
    while start.elapsed() < TIME_WAIT && is_held_by_connection(host, fixed) && interrupt::received().is_none() {
        if start.elapsed() < POLL {
            log::info!("port {fixed} belongs to a connection that was closed; it is free again within a minute");
        }
        std::thread::sleep(POLL);
    }
}

/// True if a port cannot be bound although no program listens on it: a connection holds it, or held it within the last minute.
pub fn is_held_by_connection(host: IpAddr, port: u16) -> bool {
    let refused = bind(host, port).is_err_and(|error| error.kind() == io::ErrorKind::AddrInUse);
    refused && listening_ports().is_some_and(|ports| !ports.contains(&port))
}

/// True if a program listens on a port of this machine; found without connecting.
pub fn is_listened_on(port: u16) -> bool {
    listening_ports().is_some_and(|ports| ports.contains(&port))
}

/// Binds a port (0: any) and returns its number. The port is free again afterwards, except for a moment if another
/// thread starts a program at that time, because the child inherits the socket.
fn bind(host: IpAddr, port: u16) -> io::Result<u16> {
    let listener = TcpListener::bind((host, port))?;
    Ok(listener.local_addr()?.port())
}

/// A random port that no socket uses and that the kernel never gives to an outgoing connection; `None` if this is not
/// known.
fn random_port(recent: &VecDeque<u16>) -> Option<u16> {
    let range = below_outgoing()?;
    let used: HashSet<u16> = sockets()?.into_iter().map(|(port, _)| port).collect();
    (0..TRIES)
        .map(|_| random_in(&range))
        .find(|port| !used.contains(port) && !recent.contains(port))
}

/// Ports on which a program listens; from /proc where the kernel has no netlink interface for sockets, as in gVisor.
fn listening_ports() -> Option<HashSet<u16>> {
    let found = sock_diag::listening().ok();
    found.map(|found| found.into_keys().collect()).or_else(|| {
        let listening = sockets()?.into_iter().filter(|(_, listens)| *listens);
        Some(listening.map(|(port, _)| port).collect())
    })
}

/// The TCP sockets in any state: port, and whether a program listens there; `None` without /proc.
fn sockets() -> Option<Vec<(u16, bool)>> {
    let tcp = fs::read_to_string("/proc/net/tcp").ok()?;
    let tcp6 = fs::read_to_string("/proc/net/tcp6").unwrap_or_default();
    Some(tcp.lines().chain(tcp6.lines()).filter_map(socket).collect())
}

/// Parses a line of the kernel's table of TCP sockets: the local port, and whether a program listens there.
pub(super) fn socket(line: &str) -> Option<(u16, bool)> {
    let words: Vec<&str> = line.split_whitespace().collect();
    let [_, local, _, state, ..] = words[..] else {
        return None;
    };
    let port = u16::from_str_radix(local.rsplit_once(':')?.1, 16).ok()?;
    Some((port, state == "0A"))
}

/// Ports that the kernel never gives to an outgoing connection; `None` if they are not known.
fn below_outgoing() -> Option<Range<u16>> {
    let text = fs::read_to_string("/proc/sys/net/ipv4/ip_local_port_range").ok()?;
    let lowest = text.split_whitespace().next()?.parse().ok()?;
    let range = LOWEST_PORT..lowest;
    (range.len() >= MIN_RANGE).then_some(range)
}

/// A random port of a range: other programs choose ports too.
pub(super) fn random_in(range: &Range<u16>) -> u16 {
    let random = RandomState::new().build_hasher().finish();
    let offset = random % range.len() as u64;
    range.start + u16::try_from(offset).expect("an offset within a range of ports is a port")
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Read as _;
    use std::net::{Ipv4Addr, TcpStream};

    const HERE: IpAddr = IpAddr::V4(Ipv4Addr::LOCALHOST);

    #[test]
    fn ports_are_free_and_all_different_and_not_those_of_outgoing_connections() {
        let ports: HashSet<u16> = (0..40).map(|_| free(HERE, None).unwrap()).collect();
        assert_eq!(ports.len(), 40);
        if let Some(quiet) = below_outgoing() {
            assert!(ports.iter().all(|port| quiet.contains(port)), "{ports:?}");
        }
    }

    /// Both ends of a connection, and the local port of the first.
    fn connection() -> (TcpStream, TcpStream, u16) {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let client = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let port = client.local_addr().unwrap().port();
        (client, listener.accept().unwrap().0, port)
    }

    /// Until the other end has closed too.
    fn closed(mut end: TcpStream) {
        assert_eq!(end.read(&mut [0]).unwrap(), 0);
    }

    #[test]
    fn a_closed_connection_keeps_its_port() {
        let (client, server, port) = connection();
        drop(client);
        closed(server);
        assert!(is_held_by_connection(HERE, port) && !is_listened_on(port));
        assert_eq!(free(HERE, Some(port)).unwrap_err().0, port);
    }

    /// The side that closes last keeps nothing, so that this waits for the connection only, not a minute longer.
    #[test]
    fn a_fixed_port_that_a_connection_holds_is_waited_for() {
        let (client, server, port) = connection();
        assert!(is_held_by_connection(HERE, port));
        let ends = std::thread::spawn(move || {
            std::thread::sleep(Duration::from_millis(300));
            drop(server);
            closed(client);
        });
        wait_for(HERE, port);
        assert_eq!(free(HERE, Some(port)).unwrap(), port);
        ends.join().unwrap();
    }

    #[test]
    fn a_program_that_is_ending_may_listen_for_a_moment() {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let port = listener.local_addr().unwrap().port();
        let ends = std::thread::spawn(move || {
            std::thread::sleep(Duration::from_millis(300));
            drop(listener);
        });
        wait_for(HERE, port);
        assert_eq!(free(HERE, Some(port)).unwrap(), port);
        ends.join().unwrap();
    }

    #[test]
    fn a_port_that_stays_listened_on_is_not_waited_for() {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let port = listener.local_addr().unwrap().port();
        wait_for(HERE, port);
        assert!(!is_held_by_connection(HERE, port) && free(HERE, Some(port)).is_err());
    }

    #[test]
    fn a_fixed_port_is_given_as_long_as_nobody_listens_there() {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let port = listener.local_addr().unwrap().port();
        assert_eq!(free(HERE, Some(port)).unwrap_err().0, port);
        assert!(is_listened_on(port));
        drop(listener);
        // A closed socket lives on for a moment if another thread starts a program just then, because the child inherits it.
        assert!(holds_within(Duration::from_secs(5), POLL, || !is_listened_on(port)));
        assert_eq!(free(HERE, Some(port)).unwrap(), port);
    }
}
