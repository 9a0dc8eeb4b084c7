//! Asks in lock step whether a server is ready: how often and how fast it is asked before the load must not leave traces in
//! its memory that the load then meets.

use crate::count::relay::Relay;
use crate::declare::server::{Ready, Server};
use crate::measure::ready::is_ready;
use crate::measure::target::Target;

/// Looks once whether a server is ready, through a relay, and not before it listens.
pub(super) fn look(server: &Server, target: &Target) -> impl Fn() -> Result<(), String> + use<> {
    let (ready, protocol) = (server.ready.clone(), server.protocols[0]);
    let (address, group) = (target.address.clone(), target.group.id());
    move || {
        if !is_listened_on(&address) {
            return Err(format!("nobody listens on {address}"));
        }
        if matches!(ready, Ready::Tcp(_)) {
            return Ok(());
        }
        let relay = Relay::start(&address, group).map_err(|error| error.to_string())?;
        let looked = is_ready(&ready, &relay.address, protocol);
        relay.finish().map_err(|error| error.to_string())?;
        looked
    }
}

/// Whether the kernel has a listener on that port; known without connecting.
#[cfg(target_os = "linux")]
fn is_listened_on(address: &str) -> bool {
    use procfs::net::{TcpState, tcp, tcp6};

    let port = address.rsplit(':').next().and_then(|port| port.parse::<u16>().ok());
    let listens = |entries: procfs::ProcResult<Vec<procfs::net::TcpNetEntry>>| {
        let mut entries = entries.into_iter().flatten();
        entries.any(|entry| entry.state == TcpState::Listen && Some(entry.local_address.port()) == port)
    };
    listens(tcp()) || listens(tcp6())
}

#[cfg(not(target_os = "linux"))]
fn is_listened_on(address: &str) -> bool {
    std::net::TcpStream::connect(address).is_ok()
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;

    use super::is_listened_on;

    #[test]
    fn a_listener_is_seen_as_long_as_it_is_there() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap().to_string();
        assert!(is_listened_on(&address));
        drop(listener);
        assert!(!is_listened_on(&address));
    }
}
