//! TLS: the arguments that name a certificate and its key, and the handshake.

use std::path::PathBuf;
use std::sync::Arc;

use clap::Args;
use rustls::ServerConfig;
use rustls::crypto::ring;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio_rustls::TlsAcceptor;

use crate::error::ServerError;

/// The certificate to use; without one there is no TLS.
#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = "TLS")]
pub(crate) struct Tls {
    /// Speaks TLS, and shows the certificates in this file (PEM, its own first)
    #[arg(long = "tls-cert", value_name = "FILE", requires = "key")]
    cert: Option<PathBuf>,

    /// The certificate's private key (PEM)
    #[arg(long = "tls-key", value_name = "FILE", requires = "cert")]
    key: Option<PathBuf>,
}

impl Tls {
    /// The acceptor for handshakes, which offers the protocols `alpn` in this order; `None` without a certificate.
    pub(crate) fn acceptor(&self, alpn: &[&str]) -> Result<Option<TlsAcceptor>, ServerError> {
        let (Some(cert), Some(key)) = (&self.cert, &self.key) else {
            return Ok(None);
        };
        let certs: Vec<_> = CertificateDer::pem_file_iter(cert)
            .and_then(Iterator::collect)
            .map_err(|error| ServerError::tls(cert, error))?;
        let private = PrivateKeyDer::from_pem_file(key).map_err(|error| ServerError::tls(key, error))?;
        let mut config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()
            .and_then(|config| config.with_no_client_auth().with_single_cert(certs, private))
            .map_err(|error| ServerError::tls(cert, error))?;
        config.alpn_protocols = alpn.iter().map(|name| name.as_bytes().to_vec()).collect();
        Ok(Some(Arc::new(config).into()))
    }
}
