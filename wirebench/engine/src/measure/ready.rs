//! One check whether a server is ready for requests.

use std::io::{ErrorKind, Read as _};
use std::net::TcpStream;
use std::path::Path;
use std::time::Duration;

use crate::measure::database;
use crate::measure::grpc::frame::{frame, frames};
use crate::measure::probe::{PROBE_TIMEOUT, send};
use crate::measure::wire::{WireRequest, grpc_request};
use wirebench_declare::protocol::Protocol;
use wirebench_declare::server::Ready;

/// A proxy whose server does not listen yet, such as that of a container's port, closes a connection within this time.
const CLOSES_WITHIN: Duration = Duration::from_millis(20);

/// Checks once whether a server is ready, in the first protocol that it declares. Over TLS it must show the certificate
/// in the file `ca`.
///
/// # Errors
/// What the check found instead, as a sentence.
pub fn is_ready(ready: &Ready, address: &str, protocol: Protocol, ca: &Path) -> Result<(), String> {
    let request = match ready {
        Ready::Tcp(_) => return keeps_connection(address),
        Ready::Database(database) => return database::is_ready(*database, address),
        Ready::AtOnce => return Ok(()),
        Ready::Http(path) => {
            // The readiness path of a gRPC-web server is plain HTTP.
            let protocol = match protocol {
                Protocol::GrpcWeb => Protocol::Http,
                other => other,
            };
            WireRequest::get(protocol, path.clone(), protocol.has_tls().then(|| ca.to_path_buf()))
        }
        Ready::GrpcHealth(service) => {
            let protocol = match protocol {
                Protocol::Grpcs | Protocol::Https => Protocol::Grpcs,
                Protocol::GrpcWeb => Protocol::GrpcWeb,
                Protocol::Http | Protocol::H2c | Protocol::Grpc | Protocol::Process => Protocol::Grpc,
            };
            // HealthCheckRequest { service = 1 }, written by hand: one field.
            let mut message = Vec::new();
            if !service.is_empty() {
                prost::encoding::string::encode(1, service, &mut message);
            }
            grpc_request(protocol, "/grpc.health.v1.Health/Check", frame(&message), ca)
        }
    };
    let response = send(address, &request, PROBE_TIMEOUT).map_err(|error| error.to_string())?;
    if let Some(fault) = response.fault {
        return Err(fault);
    }
    match ready {
        Ready::GrpcHealth(_) => match frames(&response.body).as_deref() {
            // HealthCheckResponse { status = SERVING }.
            Some([[0x08, 0x01]]) => Ok(()),
            Some([_]) => Err("health status is not SERVING".into()),
            _ => Err(format!("no health answer (grpc-status {:?})", response.grpc)),
        },
        _ if (200..300).contains(&response.status) => Ok(()),
        _ => Err(format!("status {}", response.status)),
    }
}

/// Checks that a connection is taken and not closed at once.
fn keeps_connection(address: &str) -> Result<(), String> {
    let mut connection = TcpStream::connect(address).map_err(|error| error.to_string())?;
    let waits = connection.set_read_timeout(Some(CLOSES_WITHIN));
    match waits.and_then(|()| connection.read(&mut [0])) {
        Ok(0) => Err("it closes connections at once".to_owned()),
        // Some servers send first.
        Ok(_) => Ok(()),
        Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => Ok(()),
        Err(error) => Err(error.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;

    use super::*;

    #[test]
    fn a_port_that_closes_connections_at_once_is_not_ready() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap().to_string();
        // Nobody accepts: the kernel has taken the connection.
        keeps_connection(&address).unwrap();
        std::thread::spawn(move || {
            while let Ok(connection) = listener.accept() {
                drop(connection);
            }
        });
        // The connection before this one is in the queue still, and this one waits behind it.
        let closed = (0..100).any(|_| keeps_connection(&address).is_err());
        assert!(closed);
    }
}
