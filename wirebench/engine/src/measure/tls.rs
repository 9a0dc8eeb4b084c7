//! TLS between driver and server: a self-signed certificate and key for this machine's loopback, made for each run and
//! removed afterwards, and a client that trusts no other certificate.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::{fs, io};

use rcgen::{CertificateParams, DistinguishedName, DnType, KeyPair};
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject as _;
use rustls::{ClientConfig, RootCertStore};

use crate::measure::kill_on_exit::TemporaryFolder;

/// The names in the certificate.
const NAMES: [&str; 3] = ["localhost", "127.0.0.1", "::1"];

/// A certificate and its key, as PEM files in a temporary folder that is removed with this value.
#[derive(Debug)]
pub struct TlsFiles(TemporaryFolder);

impl TlsFiles {
    /// Makes a new one.
    ///
    /// # Errors
    /// When there is no randomness, or the temporary folder cannot be written.
    pub fn make() -> io::Result<Self> {
        let names = NAMES.map(str::to_owned);
        let mut params = CertificateParams::new(names).map_err(io::Error::other)?;
        params.distinguished_name = DistinguishedName::new();
        params
            .distinguished_name
            .push(DnType::CommonName, "wirebench, for one run");
        let key = KeyPair::generate().map_err(io::Error::other)?;
        let certificate = params.self_signed(&key).map_err(io::Error::other)?;
        let tls = Self(TemporaryFolder::make("wirebench-tls-")?);
        for (file, text) in [(tls.certificate(), certificate.pem()), (tls.key(), key.serialize_pem())] {
            let unwritable = |error: io::Error| io::Error::new(error.kind(), format!("{}: {error}", file.display()));
            fs::write(&file, text).map_err(unwritable)?;
        }
        Ok(tls)
    }

    /// The file with the certificate: what the server shows and clients trust.
    pub fn certificate(&self) -> PathBuf {
        self.0.path().join("cert.pem")
    }

    /// The file with the certificate's private key.
    pub fn key(&self) -> PathBuf {
        self.0.path().join("key.pem")
    }
}

/// A client's side of TLS that trusts the certificates in a PEM file and no others, and offers one protocol by ALPN.
///
/// # Errors
/// When the file cannot be read or holds no certificate.
pub(super) fn client(ca: &Path, alpn: &str) -> io::Result<Arc<ClientConfig>> {
    let unreadable = |reason: String| io::Error::other(format!("{}: {reason}", ca.display()));
    let mut roots = RootCertStore::empty();
    for certificate in CertificateDer::pem_file_iter(ca).map_err(|error| unreadable(error.to_string()))? {
        let certificate = certificate.map_err(|error| unreadable(error.to_string()))?;
        roots.add(certificate).map_err(|error| unreadable(error.to_string()))?;
    }
    if roots.is_empty() {
        return Err(unreadable("holds no certificate".into()));
    }
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let mut config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(io::Error::other)?
        .with_root_certificates(roots)
        .with_no_client_auth();
    config.alpn_protocols = vec![alpn.as_bytes().to_vec()];
    Ok(Arc::new(config))
}

#[cfg(test)]
mod tests {
    use super::{TlsFiles, client};

    #[test]
    fn a_pair_is_new_each_time_and_goes_with_its_owner() {
        let (one, other) = (TlsFiles::make().unwrap(), TlsFiles::make().unwrap());
        let text = |tls: &TlsFiles| std::fs::read_to_string(tls.certificate()).unwrap();
        assert_ne!(text(&one), text(&other));
        assert!(std::fs::read_to_string(one.key()).unwrap().contains("PRIVATE KEY"));
        client(&one.certificate(), "h2").unwrap();
        let gone = one.certificate();
        drop(one);
        assert!(!gone.exists());
    }

    #[test]
    fn a_file_without_a_certificate_is_refused() {
        let tls = TlsFiles::make().unwrap();
        let error = client(&tls.key(), "h2").unwrap_err();
        assert!(error.to_string().ends_with("key.pem: holds no certificate"), "{error}");
    }
}
