//! Listening sockets: one, or several that share a port between the threads of one server but never between two servers.

use std::io;
use std::net::{SocketAddr, TcpListener};

use socket2::{Domain, Protocol, Socket, Type};

use crate::error::ServerError;

/// Connections the kernel may hold until they are accepted; far more than any scenario opens at once.
const BACKLOG: i32 = 4096;

/// May other sockets listen on the same port?
#[derive(Clone, Copy, PartialEq, Eq)]
enum Port {
    Exclusive,
    Shared,
}

/// Opens the only listener on `address`.
pub(crate) fn one(address: SocketAddr) -> Result<TcpListener, ServerError> {
    open(address, Port::Exclusive).map_err(|source| ServerError::listen(address, source))
}

/// Opens `count` listeners on one port, among which the kernel spreads new connections.
///
/// A shared port would let a second server listen beside the first and take half of its connections unnoticed, so the
/// port must first be free for a socket that shares with nobody.
pub(crate) fn shared(address: SocketAddr, count: usize) -> Result<Vec<TcpListener>, ServerError> {
    if count == 1 {
        return Ok(vec![one(address)?]);
    }
    open_all(address, count).map_err(|source| ServerError::listen(address, source))
}

fn open_all(address: SocketAddr, count: usize) -> io::Result<Vec<TcpListener>> {
    drop(bound(address, Port::Exclusive)?);
    let first = open(address, Port::Shared)?;
    let address = first.local_addr()?;
    let mut listeners = vec![first];
    while listeners.len() < count {
        listeners.push(open(address, Port::Shared)?);
    }
    Ok(listeners)
}

fn open(address: SocketAddr, port: Port) -> io::Result<TcpListener> {
    let socket = bound(address, port)?;
    // Accepted connections inherit this: small answers leave at once on every server, at no system call per connection.
    socket.set_tcp_nodelay(true)?;
    socket.set_nonblocking(true)?;
    socket.listen(BACKLOG)?;
    Ok(socket.into())
}

fn bound(address: SocketAddr, port: Port) -> io::Result<Socket> {
    let socket = Socket::new(Domain::for_address(address), Type::STREAM, Some(Protocol::TCP))?;
    // A port whose last connections are still fading away may be taken again; one that is listened on may not.
    socket.set_reuse_address(true)?;
    socket.set_reuse_port(port == Port::Shared)?;
    socket.bind(&address.into())?;
    Ok(socket)
}

#[cfg(test)]
mod tests {
    use std::net::{SocketAddr, TcpListener, TcpStream};

    use super::{one, shared};
    use crate::error::ServerError;

    fn any_port() -> SocketAddr {
        SocketAddr::from(([127, 0, 0, 1], 0))
    }

    fn address_of(listener: &TcpListener) -> SocketAddr {
        listener.local_addr().unwrap()
    }

    #[test]
    fn shared_listeners_have_one_address() {
        let listeners = shared(any_port(), 3).unwrap();
        assert_eq!(listeners.len(), 3);
        assert!(
            listeners
                .iter()
                .all(|listener| address_of(listener) == address_of(&listeners[0]))
        );
    }

    #[test]
    fn a_port_is_not_shared_with_another_server() {
        let first = shared(any_port(), 2).unwrap();
        let taken = address_of(&first[0]);
        for count in [1, 2] {
            let error = shared(taken, count).unwrap_err();
            assert!(matches!(error, ServerError::AddressTaken { address } if address == taken));
        }
        assert!(matches!(one(taken), Err(ServerError::AddressTaken { .. })));
    }

    #[test]
    fn a_port_is_free_again_after_its_server() {
        let first = shared(any_port(), 2).unwrap();
        let address = address_of(&first[0]);
        let client = TcpStream::connect(address).unwrap();
        drop(first);
        drop(client);
        shared(address, 2).unwrap();
    }

    #[test]
    fn accepted_connections_send_small_answers_at_once() {
        let alone = one(any_port()).unwrap();
        let of_several = shared(any_port(), 2).unwrap().remove(0);
        for listener in [alone, of_several] {
            listener.set_nonblocking(false).unwrap();
            let _client = TcpStream::connect(address_of(&listener)).unwrap();
            let (accepted, _) = listener.accept().unwrap();
            assert!(accepted.nodelay().unwrap());
        }
    }

    #[test]
    fn an_address_of_another_machine_is_refused_by_name() {
        let elsewhere = SocketAddr::from(([203, 0, 113, 1], 0));
        let error = one(elsewhere).unwrap_err().to_string();
        assert!(error.starts_with("cannot listen on 203.0.113.1:0: "), "{error}");
    }
}
