//! Finds out which protocols a listening server speaks.

use std::path::Path;
use std::time::Duration;

use wirebench_declare::protocol::Protocol;
use wirebench_engine::measure::grpc;
use wirebench_engine::measure::probe::{ProbeError, WireAnswer, WireRequest, ask, grpc_request};
use wirebench_engine::measure::tls::Pair;

/// How long one request may take.
pub(super) const PATIENCE: Duration = Duration::from_secs(3);
/// A method that should not exist.
const NOBODYS: &str = "/wirebench.Probe/Nothing";

/// The protocols of a server.
#[derive(Debug, Default)]
pub(super) struct Spoken {
    /// Each protocol, with its evidence.
    pub(super) protocols: Vec<(Protocol, String)>,
    /// Whether gRPC is among them.
    pub(super) grpc: bool,
    /// The open questions.
    pub(super) question: Option<String>,
}

/// Tries one protocol after another.
pub(super) fn to(address: &str, tls: &Pair) -> Spoken {
    let mut spoken = Spoken::default();
    if let Ok(answer) = get(address, Protocol::Http, "/") {
        let words = format!("HTTP/1.1: GET / answered {}", answer.status);
        spoken.protocols.push((Protocol::Http, words));
    }
    let call = grpc_request(Protocol::Grpc, NOBODYS, grpc::frame(&[]), Path::new(""));
    let called = ask(address, &call, PATIENCE).ok().and_then(|answer| answer.grpc);
    if let Some((status, _)) = called {
        spoken.grpc = true;
        let words = format!("gRPC: a call of an unknown method answered grpc-status {status}");
        spoken.protocols.push((Protocol::Grpc, words));
    } else if let Ok(answer) = get(address, Protocol::H2c, "/") {
        let words = format!("HTTP/2 without TLS: GET / answered {}", answer.status);
        spoken.protocols.push((Protocol::H2c, words));
    }
    if spoken.protocols.is_empty() && has_tls(address, tls) {
        spoken.question = Some(
            "it speaks TLS with a certificate of its own: which arguments or variables take a certificate and a key? \
             Give it {tls_cert} and {tls_key} there, and protocols = [\"https\"]"
                .into(),
        );
    }
    spoken
}

/// A GET without headers.
pub(super) fn get(address: &str, protocol: Protocol, path: &str) -> Result<WireAnswer, ProbeError> {
    let request = WireRequest {
        protocol,
        method: "GET".into(),
        path: path.into(),
        headers: Vec::new(),
        body: Vec::new(),
        ca: None,
    };
    ask(address, &request, PATIENCE)
}

/// True if it responds to a TLS handshake. Its certificate is not the one that wirebench made, so the handshake fails
/// after that.
fn has_tls(address: &str, tls: &Pair) -> bool {
    let request = WireRequest {
        protocol: Protocol::Https,
        method: "GET".into(),
        path: "/".into(),
        headers: Vec::new(),
        body: Vec::new(),
        ca: Some(tls.certificate()),
    };
    match ask(address, &request, PATIENCE) {
        Ok(_) => true,
        Err(ProbeError::Tls(error)) => {
            let inner = error.get_ref().and_then(|inner| inner.downcast_ref::<rustls::Error>());
            matches!(
                inner,
                Some(rustls::Error::InvalidCertificate(_) | rustls::Error::AlertReceived(_))
            )
        }
        Err(_) => false,
    }
}
