//! The kernel's table of TCP sockets, read over netlink (sock_diag(7)). Unlike /proc/net/tcp it can be restricted to listening sockets, which
//! spares the kernel the walk over its table of connections, several milliseconds long.

use std::collections::HashMap;
use std::io;

use netlink_packet_core::{NLM_F_DUMP, NLM_F_REQUEST, NetlinkHeader, NetlinkMessage, NetlinkPayload};
use netlink_packet_sock_diag::SockDiagMessage;
use netlink_packet_sock_diag::constants::{AF_INET, AF_INET6, IPPROTO_TCP};
use netlink_packet_sock_diag::inet::{ExtensionFlags, InetRequest, InetResponse, SocketId, StateFlags};
use netlink_sys::protocols::NETLINK_SOCK_DIAG;
use netlink_sys::{Socket, SocketAddr};

/// The ports on which a program listens, in this network namespace, each with how many connections may wait there until the program
/// accepts them.
///
/// # Errors
/// When the kernel does not offer its table over netlink.
pub(super) fn listening() -> io::Result<HashMap<u16, u32>> {
    let mut found = HashMap::new();
    for socket in all(&StateFlags::LISTEN)? {
        // Of a socket that listens, the kernel gives the length of its queue here.
        let (port, queue) = (socket.header.socket_id.source_port, socket.header.send_queue);
        let known = found.entry(port).or_insert(queue);
        *known = queue.min(*known);
    }
    Ok(found)
}

/// The port at this end of each open connection, by the inode of its socket. The kernel walks its whole table: this takes
/// milliseconds.
///
/// # Errors
/// When the kernel does not offer its table over netlink.
pub(super) fn local_ports() -> io::Result<HashMap<u64, u16>> {
    let open = all(&StateFlags::ESTABLISHED.union(StateFlags::CLOSE_WAIT))?;
    let port = |socket: InetResponse| (socket.header.inode.into(), socket.header.socket_id.source_port);
    Ok(open.into_iter().map(port).collect())
}

/// All sockets in these states, over IPv4 and IPv6.
///
/// # Errors
/// When the kernel does not offer its table, or refuses.
fn all(states: &StateFlags) -> io::Result<Vec<InetResponse>> {
    let mut netlink = Socket::new(NETLINK_SOCK_DIAG)?;
    netlink.bind_auto()?;
    netlink.connect(&SocketAddr::new(0, 0))?;
    let mut sockets = Vec::new();
    for (family, socket_id) in [(AF_INET, SocketId::new_v4()), (AF_INET6, SocketId::new_v6())] {
        let mut header = NetlinkHeader::default();
        header.flags = NLM_F_REQUEST | NLM_F_DUMP;
        let request = SockDiagMessage::InetRequest(InetRequest {
            family,
            protocol: IPPROTO_TCP,
            extensions: ExtensionFlags::empty(),
            states: states.clone(),
            socket_id,
        });
        let mut packet = NetlinkMessage::new(header, request.into());
        packet.finalize();
        let mut bytes = vec![0; packet.buffer_len()];
        packet.serialize(&mut bytes);
        netlink.send(&bytes, 0)?;
        while receive(&netlink, &mut sockets)? {}
    }
    Ok(sockets)
}

/// Receives one packet and adds its sockets; false if it was the last.
fn receive(netlink: &Socket, sockets: &mut Vec<InetResponse>) -> io::Result<bool> {
    let (received, _) = netlink.recv_from_full()?;
    let mut left = received.as_slice();
    while !left.is_empty() {
        let message = NetlinkMessage::<SockDiagMessage>::deserialize(left).map_err(io::Error::other)?;
        let length = usize::try_from(message.header.length).unwrap_or(usize::MAX);
        // Messages begin at multiples of four bytes.
        left = left.get(length.next_multiple_of(4).max(4)..).unwrap_or_default();
        match message.payload {
            NetlinkPayload::InnerMessage(SockDiagMessage::InetResponse(response)) => sockets.push(*response),
            NetlinkPayload::Error(error) => return Err(error.to_io()),
            NetlinkPayload::Done(_) => return Ok(false),
            _ => {}
        }
    }
    Ok(true)
}

#[cfg(test)]
mod tests {
    use std::net::{TcpListener, TcpStream};
    use std::time::Duration;

    use super::*;
    use crate::measure::process::holds_within;
    use crate::measure::usage::LocalUsage;
    use crate::measure::usage::UsageReader as _;

    /// A closed socket lives on for a moment if another thread starts a program just then, because the child inherits it.
    const SOON: Duration = Duration::from_secs(5);
    const POLL: Duration = Duration::from_millis(5);

    #[test]
    fn a_listener_is_among_the_ports_and_a_connection_is_not() {
        for address in ["127.0.0.1:0", "[::1]:0"] {
            let listener = TcpListener::bind(address).unwrap();
            let port = listener.local_addr().unwrap().port();
            let client = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
            let found = listening().unwrap();
            // The queue that Rust's library asks for, or the machine's limit.
            assert!((1..=4096).contains(&found[&port]), "{address}: {}", found[&port]);
            assert!(!found.contains_key(&client.local_addr().unwrap().port()), "{address}");
            drop(listener);
            let ended = || !listening().unwrap().contains_key(&port);
            assert!(holds_within(SOON, POLL, ended), "{address}: it has ended");
        }
    }

    #[test]
    fn the_end_of_a_connection_is_known_by_its_own_port_until_it_is_closed() {
        for address in ["127.0.0.1:0", "[::1]:0"] {
            let listener = TcpListener::bind(address).unwrap();
            let client = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
            let server = listener.accept().unwrap().0;
            drop(listener);
            let own = LocalUsage::leader(std::process::id().try_into().unwrap());
            let ours = server.local_addr().unwrap().port();
            let ends = || {
                let own = own.sockets().unwrap();
                let all = local_ports().unwrap().into_iter();
                all.filter(|(inode, port)| *port == ours && own.contains(inode)).count()
            };
            assert_eq!(ends(), 1, "{address}: the server's end alone");
            drop((client, server));
            assert!(
                holds_within(SOON, POLL, || ends() == 0),
                "{address}: a connection that is gone"
            );
        }
    }
}
