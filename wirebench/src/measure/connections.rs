//! Counts the client connections that a server's port saw, by looking at the kernel's table a few times.

use std::collections::HashSet;

/// Client ports seen at one server port.
#[derive(Debug)]
pub struct Seen {
    port: u16,
    before: HashSet<u16>,
    open: HashSet<u16>,
}

impl Seen {
    /// Starts counting: connections that exist already do not count unless they are used again.
    #[must_use]
    pub fn at(port: u16) -> Self {
        let before = table(port).into_iter().flatten().map(|(client, _)| client).collect();
        Self {
            port,
            before,
            open: HashSet::new(),
        }
    }

    /// Looks while the load runs.
    pub fn look(&mut self) {
        self.open.extend(
            table(self.port)
                .into_iter()
                .flatten()
                .filter(|(_, open)| *open)
                .map(|(client, _)| client),
        );
    }

    /// Looks once more after the load, when closed connections still linger, and counts.
    #[must_use]
    pub fn count(mut self) -> Option<u32> {
        let last = table(self.port)?;
        let new = last
            .into_iter()
            .filter(|(client, open)| *open || !self.before.contains(client));
        self.open.extend(new.map(|(client, _)| client));
        u32::try_from(self.open.len()).ok()
    }
}

/// Every connection to `port`: the client's port, and whether it is open now.
#[cfg(target_os = "linux")]
fn table(port: u16) -> Option<Vec<(u16, bool)>> {
    use procfs::net::{TcpNetEntry, TcpState, tcp, tcp6};
    let client_of = |entry: &TcpNetEntry| {
        let (local, remote) = (entry.local_address.port(), entry.remote_address.port());
        let client = if local == port { remote } else { local };
        let ours = (local == port || remote == port) && entry.state != TcpState::Listen && client != 0;
        ours.then_some((client, entry.state == TcpState::Established))
    };
    let v4 = tcp().ok()?;
    let v6 = tcp6().unwrap_or_default();
    Some(v4.iter().chain(&v6).filter_map(client_of).collect())
}

#[cfg(not(target_os = "linux"))]
fn table(_: u16) -> Option<Vec<(u16, bool)>> {
    None
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::Seen;
    use std::net::{TcpListener, TcpStream};

    #[test]
    fn counts_connections_open_during_the_load_and_those_closed_since() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let _earlier = TcpStream::connect(("127.0.0.1", port)).unwrap();
        let mut seen = Seen::at(port);
        let kept: Vec<TcpStream> = (0..3)
            .map(|_| TcpStream::connect(("127.0.0.1", port)).unwrap())
            .collect();
        seen.look();
        drop(kept);
        // The earlier connection is open still, so it counts: nobody can tell that it is not used.
        assert_eq!(seen.count(), Some(4));
    }
}
