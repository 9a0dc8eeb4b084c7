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

/// IPv4 and IPv6.
pub(super) const FAMILIES: [u8; 2] = [AF_INET, AF_INET6];

/// A netlink socket to the table of this network namespace.
#[derive(Debug)]
pub(super) struct SockDiag {
    socket: Socket,
}

/// The ports on which a program listens, in this network namespace, each with how many connections may wait there until the program
/// accepts them.
///
/// # Errors
/// When the kernel does not offer its table over netlink.
pub(super) fn listening() -> io::Result<HashMap<u16, u32>> {
    let table = SockDiag::open()?;
    let mut found = HashMap::new();
    for family in FAMILIES {
        for socket in table.all(family, StateFlags::LISTEN)? {
            // Of a socket that listens, the kernel gives the length of its queue here.
            let (port, queue) = (socket.header.socket_id.source_port, socket.header.send_queue);
            let known = found.entry(port).or_insert(queue);
            *known = queue.min(*known);
        }
    }
    Ok(found)
}

impl SockDiag {
    /// # Errors
    /// When the kernel does not offer its table over netlink.
    pub(super) fn open() -> io::Result<Self> {
        let mut socket = Socket::new(NETLINK_SOCK_DIAG)?;
        socket.bind_auto()?;
        socket.connect(&SocketAddr::new(0, 0))?;
        Ok(Self { socket })
    }

    /// All sockets of a family in these states, without extensions.
    ///
    /// # Errors
    /// When the kernel refuses.
    pub(super) fn all(&self, family: u8, states: StateFlags) -> io::Result<Vec<InetResponse>> {
        let id = if family == AF_INET {
            SocketId::new_v4()
        } else {
            SocketId::new_v6()
        };
        self.request(family, id, states, ExtensionFlags::empty(), NLM_F_DUMP)?;
        let mut sockets = Vec::new();
        while self.receive(&mut sockets)? {}
        Ok(sockets)
    }

    /// One socket, with its TCP_INFO; `None` if the kernel does not answer with a socket.
    ///
    /// # Errors
    /// When the kernel refuses, or there is no such socket in these states.
    pub(super) fn one(&self, family: u8, id: SocketId, states: StateFlags) -> io::Result<Option<InetResponse>> {
        self.request(family, id, states, ExtensionFlags::INFO, 0)?;
        let mut sockets = Vec::new();
        while sockets.is_empty() && self.receive(&mut sockets)? {}
        Ok(sockets.pop())
    }

    fn request(
        &self,
        family: u8,
        socket_id: SocketId,
        states: StateFlags,
        extensions: ExtensionFlags,
        flags: u16,
    ) -> io::Result<()> {
        let mut header = NetlinkHeader::default();
        header.flags = NLM_F_REQUEST | flags;
        let request = SockDiagMessage::InetRequest(InetRequest {
            family,
            protocol: IPPROTO_TCP,
            extensions,
            states,
            socket_id,
        });
        let mut packet = NetlinkMessage::new(header, request.into());
        packet.finalize();
        let mut bytes = vec![0; packet.buffer_len()];
        packet.serialize(&mut bytes);
        self.socket.send(&bytes, 0)?;
        Ok(())
    }

    /// Receives one packet and adds its sockets; false if it was the last.
    fn receive(&self, sockets: &mut Vec<InetResponse>) -> io::Result<bool> {
        let (received, _) = self.socket.recv_from_full()?;
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
}

#[cfg(test)]
mod tests {
    use std::net::{TcpListener, TcpStream};

    use super::*;
    use crate::measure::port::tests::becomes_true;

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
            assert!(becomes_true(ended), "{address}: it has ended");
        }
    }
}
