//! Ready: one look at whether a server can be asked.

use std::net::TcpStream;

use crate::declare::protocol::Protocol;
use crate::declare::server::Ready;
use crate::measure::grpc;
use crate::measure::probe::{PROBE_TIMEOUT, WireRequest, ask, grpc_request};

/// Looks once whether a server is ready.
///
/// # Errors
/// What the look found instead, in words.
pub fn is_ready(ready: &Ready, address: &str, protocol: Protocol) -> Result<(), String> {
    let answer = match ready {
        Ready::Tcp(_) => return TcpStream::connect(address).map(drop).map_err(|error| error.to_string()),
        Ready::Http(path) => {
            let (method, path) = ("GET".into(), path.clone());
            ask(
                address,
                &WireRequest {
                    protocol,
                    method,
                    path,
                    headers: vec![],
                    body: vec![],
                },
                PROBE_TIMEOUT,
            )
        }
        Ready::GrpcHealth(service) => {
            // HealthCheckRequest { service = 1 }, written by hand: one field.
            let mut message = Vec::new();
            if !service.is_empty() {
                prost::encoding::string::encode(1, service, &mut message);
            }
            ask(
                address,
                &grpc_request("/grpc.health.v1.Health/Check", grpc::frame(&message)),
                PROBE_TIMEOUT,
            )
        }
    };
    let answer = answer.map_err(|error| error.to_string())?;
    match ready {
        Ready::GrpcHealth(_) => match grpc::unframe(&answer.body) {
            // HealthCheckResponse { status = SERVING }.
            Some([0x08, 0x01]) => Ok(()),
            Some(_) => Err("health status is not SERVING".into()),
            None => Err(format!("no health answer (grpc-status {:?})", answer.grpc)),
        },
        _ if (200..300).contains(&answer.status) => Ok(()),
        _ => Err(format!("status {}", answer.status)),
    }
}
