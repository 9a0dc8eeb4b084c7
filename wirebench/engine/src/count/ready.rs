//! Checks readiness in lock step: otherwise number and timing of the checks would change the state of the server's heap
//! before the load.

use crate::count::relay::Relay;
use crate::measure::port;
use crate::measure::ready::is_ready;
use crate::measure::target::Target;
use wirebench_declare::server::{Ready, Server};

/// Checks once whether a server, whose process group has this id, is ready, through a relay, and not before it listens.
pub(super) fn check(server: &Server, target: &Target, group: i32) -> impl Fn() -> Result<(), String> + use<> {
    let (ready, protocol) = (server.front.ready.clone(), server.protocols[0]);
    let (address, ca) = (target.front.address.clone(), target.ca.clone());
    let port = address.rsplit(':').next().and_then(|port| port.parse().ok());
    move || {
        let listened_on = port.is_some_and(port::is_listened_on);
        if !listened_on {
            return Err(format!("nobody listens on {address}"));
        }
        if matches!(ready, Ready::Tcp(_)) {
            return Ok(());
        }
        let relay = Relay::start(&address, group).map_err(|error| error.to_string())?;
        let checked = is_ready(&ready, &relay.address, protocol, &ca);
        relay.finish().map_err(|error| error.to_string())?;
        checked
    }
}
