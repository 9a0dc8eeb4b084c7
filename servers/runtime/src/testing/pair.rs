//! A certificate and its key, made when they are needed and kept nowhere.

use std::fs;
use std::path::{Path, PathBuf};

use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};

/// A certificate for `localhost` and 127.0.0.1, its key, and the certificate of the authority that signed it.
#[derive(Debug)]
pub struct Pair {
    /// The server's certificate: `--tls-cert`.
    pub cert: PathBuf,
    /// Its private key: `--tls-key`.
    pub key: PathBuf,
    /// The authority's certificate, which clients trust.
    pub authority: PathBuf,
}

impl Pair {
    /// Makes a pair and writes `cert.pem`, `key.pem` and `authority.pem` to `folder`.
    ///
    /// # Panics
    /// When a file cannot be written.
    pub fn make(folder: &Path) -> Self {
        let names = ["localhost".to_owned(), "127.0.0.1".to_owned()];
        let mut authority = CertificateParams::new([]).expect("no name is wrong");
        authority.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let own_key = || KeyPair::generate().expect("there is randomness");
        let authority = CertifiedIssuer::self_signed(authority, own_key()).expect("the parameters are complete");
        let key = own_key();
        let cert = CertificateParams::new(names)
            .and_then(|params| params.signed_by(&key, &authority))
            .expect("the parameters are complete");
        let write = |name: &str, text: String| {
            let file = folder.join(name);
            fs::write(&file, text).expect("the folder can be written to");
            file
        };
        fs::create_dir_all(folder).expect("the folder can be made");
        Self {
            cert: write("cert.pem", cert.pem()),
            key: write("key.pem", key.serialize_pem()),
            authority: write("authority.pem", authority.pem()),
        }
    }
}
