//! Bytes on the wire by connection, from the kernel's counters; Linux only.

/// TCP payload bytes of connections so far.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Traffic {
    /// Bytes received.
    pub received: u64,
    /// Bytes that the other end acknowledged.
    pub sent: u64,
}

#[cfg(target_os = "linux")]
pub use linux::{Connection, Meter};

#[cfg(target_os = "linux")]
mod linux {
    use std::collections::{HashMap, HashSet};
    use std::io;

    use netlink_packet_sock_diag::inet::nlas::Nla;
    use netlink_packet_sock_diag::inet::{SocketId, StateFlags};

    use super::Traffic;
    use crate::measure::sock_diag::{FAMILIES, SockDiag};

    const OPEN: StateFlags = StateFlags::ESTABLISHED.union(StateFlags::CLOSE_WAIT);

    /// One TCP connection, as a key for the kernel's table.
    #[derive(Debug, Clone)]
    pub struct Connection {
        family: u8,
        id: SocketId,
    }

    impl Connection {
        /// The port at this end.
        pub fn local_port(&self) -> u16 {
            self.id.source_port
        }
    }

    /// Reads the kernel's table of sockets.
    #[derive(Debug)]
    pub struct Meter {
        table: SockDiag,
    }

    impl Meter {
        /// Opens it.
        ///
        /// # Errors
        /// When the kernel does not offer it.
        pub fn open() -> io::Result<Self> {
            Ok(Self {
                table: SockDiag::open()?,
            })
        }

        /// Finds the established TCP connections among sockets given by inode. The kernel walks its whole table: this takes
        /// milliseconds.
        ///
        /// # Errors
        /// When the kernel refuses.
        pub fn connections(&self, inodes: &HashSet<u64>) -> io::Result<HashMap<u64, Connection>> {
            let mut found = HashMap::new();
            for family in FAMILIES {
                for response in self.table.all(family, OPEN)? {
                    let inode = u64::from(response.header.inode);
                    if inodes.contains(&inode) {
                        let id = response.header.socket_id;
                        found.insert(inode, Connection { family, id });
                    }
                }
            }
            Ok(found)
        }

        /// The bytes of these connections so far; `None` if one of them is closed.
        pub fn traffic(&self, connections: &[Connection]) -> Option<Traffic> {
            let mut sum = Traffic::default();
            for connection in connections {
                let response = self.table.one(connection.family, connection.id.clone(), OPEN).ok()??;
                let info = response.nlas.into_iter().find_map(|nla| match nla {
                    Nla::TcpInfo(info) => Some(info),
                    _ => None,
                })?;
                sum.received += info.bytes_received;
                sum.sent += info.bytes_acked;
            }
            Some(sum)
        }
    }
}

#[cfg(not(target_os = "linux"))]
pub use elsewhere::{Connection, Meter};

#[cfg(not(target_os = "linux"))]
mod elsewhere {
    use std::collections::{HashMap, HashSet};
    use std::io;

    use super::Traffic;

    /// Connections are unknown on this system.
    #[derive(Debug, Clone)]
    pub struct Connection;

    impl Connection {
        /// Unknown.
        pub fn local_port(&self) -> u16 {
            0
        }
    }

    /// Bytes are not counted on this system.
    #[derive(Debug)]
    pub struct Meter;

    impl Meter {
        /// Opens nothing.
        ///
        /// # Errors
        /// Always.
        pub fn open() -> io::Result<Self> {
            Err(io::ErrorKind::Unsupported.into())
        }
        /// Finds nothing.
        ///
        /// # Errors
        /// Always.
        pub fn connections(&self, _: &HashSet<u64>) -> io::Result<HashMap<u64, Connection>> {
            Err(io::ErrorKind::Unsupported.into())
        }
        /// Not measured.
        pub fn traffic(&self, _: &[Connection]) -> Option<Traffic> {
            None
        }
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use std::io::{Read, Write};
    use std::net::{TcpListener, TcpStream};
    use std::time::{Duration, Instant};

    use super::*;
    use crate::measure::port::tests::becomes_true;
    use crate::measure::usage::LocalUsage;
    use crate::measure::usage_reader::UsageReader as _;

    #[test]
    fn the_kernel_counts_every_byte_of_a_connection() {
        for address in ["127.0.0.1:0", "[::1]:0"] {
            let listener = TcpListener::bind(address).unwrap();
            let mut client = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
            let mut server = listener.accept().unwrap().0;
            drop(listener);
            let meter = Meter::open().unwrap();
            let own = LocalUsage::leader(std::process::id().try_into().unwrap())
                .sockets()
                .unwrap();
            let ours = server.local_addr().unwrap().port();
            let all = meter.connections(&own).unwrap();
            let ends: Vec<Connection> = all
                .into_values()
                .filter(|connection| connection.local_port() == ours)
                .collect();
            assert_eq!(ends.len(), 1, "{address}: the server's end alone");
            let before = meter.traffic(&ends).unwrap();
            client.write_all(&[7; 1234]).unwrap();
            server.read_exact(&mut [0; 1234]).unwrap();
            server.write_all(&[7; 77]).unwrap();
            client.read_exact(&mut [0; 77]).unwrap();
            // The acknowledgement may be on its way still.
            let deadline = Instant::now() + Duration::from_secs(5);
            let grown = loop {
                let after = meter.traffic(&ends).unwrap();
                let grown = (after.received - before.received, after.sent - before.sent);
                if grown == (1234, 77) || Instant::now() > deadline {
                    break grown;
                }
            };
            assert_eq!(grown, (1234, 77), "{address}");
            drop((client, server));
            let is_gone = || meter.traffic(&ends).is_none();
            assert!(becomes_true(is_gone), "{address}: a connection that is gone");
        }
    }
}
