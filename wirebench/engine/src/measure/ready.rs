//! One check whether a server is ready for requests.

use std::net::TcpStream;
use std::path::Path;

use crate::measure::grpc::frame::{frame, unframe};
use crate::measure::probe::{PROBE_TIMEOUT, send};
use crate::measure::wire::{WireRequest, grpc_request};
use wirebench_declare::protocol::Protocol;
use wirebench_declare::server::Ready;

/// Checks once whether a server is ready, in the first protocol that it declares. Over TLS it must show the certificate
/// in the file `ca`.
///
/// # Errors
/// What the check found instead, as a sentence.
pub fn is_ready(ready: &Ready, address: &str, protocol: Protocol, ca: &Path) -> Result<(), String> {
    let request = match ready {
        Ready::Tcp(_) => return TcpStream::connect(address).map(drop).map_err(|error| error.to_string()),
        Ready::AtOnce => return Ok(()),
        Ready::Http(path) => WireRequest {
            // The readiness path of a gRPC-web server is plain HTTP.
            protocol: if protocol == Protocol::GrpcWeb {
                Protocol::Http
            } else {
                protocol
            },
            method: "GET".into(),
            path: path.clone(),
            headers: Vec::new(),
            body: Vec::new(),
            ca: protocol.has_tls().then(|| ca.to_path_buf()),
        },
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
        Ready::GrpcHealth(_) => match unframe(&response.body) {
            // HealthCheckResponse { status = SERVING }.
            Some([0x08, 0x01]) => Ok(()),
            Some(_) => Err("health status is not SERVING".into()),
            None => Err(format!("no health answer (grpc-status {:?})", response.grpc)),
        },
        _ if (200..300).contains(&response.status) => Ok(()),
        _ => Err(format!("status {}", response.status)),
    }
}
