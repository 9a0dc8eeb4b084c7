//! Ports for servers. A server binds its port some time after it was chosen, under valgrind half a second: until then nobody
//! else may take it.

use std::collections::{HashSet, VecDeque};
use std::hash::{BuildHasher as _, Hasher as _, RandomState};
use std::io;
use std::net::{Ipv4Addr, TcpListener};
use std::ops::Range;
use std::sync::{Mutex, PoisonError};

/// Ports given lately, so that two servers that start at once never get the same: one that shares its port would not notice.
static GIVEN: Mutex<VecDeque<u16>> = Mutex::new(VecDeque::new());
const REMEMBERED: usize = 64;
/// Ports below this have owners by convention.
const LOWEST: u16 = 10_000;
/// Fewer ports than this are not worth choosing from.
const ENOUGH: usize = 2_000;
/// Ports tried before the kernel is asked for one.
const TRIES: usize = 50;

/// A port of 127.0.0.1 that nobody uses now: the fixed one, or any.
///
/// # Errors
/// When the fixed port is taken, or none can be had: the port, and the operating system's reason.
pub fn free(fixed: Option<u16>) -> Result<u16, (u16, io::Error)> {
    if let Some(port) = fixed {
        return bound(port).map_err(|error| (port, error));
    }
    let mut given = GIVEN.lock().unwrap_or_else(PoisonError::into_inner);
    let port = match quiet(&given) {
        Some(port) => port,
        None => loop {
            let port = bound(0).map_err(|error| (0, error))?;
            if !given.contains(&port) {
                break port;
            }
        },
    };
    given.push_front(port);
    given.truncate(REMEMBERED);
    Ok(port)
}

/// Whether somebody listens on a port of this machine; known without connecting, and only on Linux.
#[must_use]
pub fn is_listened_on(port: u16) -> bool {
    in_use().is_some_and(|used| used.contains(&(port, true)))
}

/// The port that a listener gets when it asks for that one, 0 being any; it is free again afterwards, unless another thread
/// starts a program just then: the program holds it for a moment.
fn bound(port: u16) -> io::Result<u16> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port))?;
    Ok(listener.local_addr()?.port())
}

/// A port that no socket has and that the kernel never gives to an outgoing connection, chosen by chance; none when that is
/// not known.
fn quiet(given: &VecDeque<u16>) -> Option<u16> {
    let (range, used) = (below_outgoing()?, in_use()?);
    (0..TRIES).map(|_| one_of(&range)).find(|port| {
        let taken = used.contains(&(*port, true)) || used.contains(&(*port, false));
        !taken && !given.contains(port)
    })
}

/// Ports that have a socket, each with whether it listens.
#[cfg(target_os = "linux")]
fn in_use() -> Option<HashSet<(u16, bool)>> {
    use procfs::net::{TcpState, tcp, tcp6};

    let sockets = tcp().ok()?.into_iter().chain(tcp6().unwrap_or_default());
    let port = |entry: procfs::net::TcpNetEntry| (entry.local_address.port(), entry.state == TcpState::Listen);
    Some(sockets.map(port).collect())
}

#[cfg(not(target_os = "linux"))]
fn in_use() -> Option<HashSet<(u16, bool)>> {
    None
}

/// Ports that the kernel never gives to an outgoing connection; none when that is not known.
fn below_outgoing() -> Option<Range<u16>> {
    let text = std::fs::read_to_string("/proc/sys/net/ipv4/ip_local_port_range").ok()?;
    let lowest = text.split_whitespace().next()?.parse().ok()?;
    let range = LOWEST..lowest;
    (range.len() >= ENOUGH).then_some(range)
}

/// A port of a range, by chance: other programs choose too.
fn one_of(range: &Range<u16>) -> u16 {
    let chance = RandomState::new().build_hasher().finish();
    let place = chance % range.len() as u64;
    range.start + u16::try_from(place).expect("a place within a range of ports is a port")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ports_are_free_and_all_different_and_not_those_of_outgoing_connections() {
        let ports: HashSet<u16> = (0..40).map(|_| free(None).unwrap()).collect();
        assert_eq!(ports.len(), 40);
        if let Some(quiet) = below_outgoing() {
            assert!(ports.iter().all(|port| quiet.contains(port)), "{ports:?}");
        }
    }

    #[test]
    fn a_fixed_port_is_given_as_long_as_nobody_listens_there() {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let port = listener.local_addr().unwrap().port();
        assert_eq!(free(Some(port)).unwrap_err().0, port);
        assert!(is_listened_on(port) || cfg!(not(target_os = "linux")));
        drop(listener);
        assert!(!is_listened_on(port));
        assert_eq!(free(Some(port)).unwrap(), port);
    }
}
