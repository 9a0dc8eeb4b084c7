//! What every server's program must do with TLS, and with clients that take their time; each check panics with what is wrong.

use std::fs::{self, File};
use std::io::{ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::Path;
use std::sync::Arc;
use std::thread::sleep;
use std::time::{Duration, Instant};

use rustls::crypto::ring;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{ClientConfig, ClientConnection, RootCertStore, StreamOwned};

use super::{Pair, Program, RUNTIMES, Running};

/// Longer than a server with `--head-timeout-ms 300` lets anybody wait, on a busy machine.
const GIVE_UP: Duration = Duration::from_secs(20);

/// A client of a TLS server that trusts one authority.
pub fn client_config(authority: &Path, alpn: &[&str]) -> ClientConfig {
    let mut roots = RootCertStore::empty();
    for certificate in CertificateDer::pem_file_iter(authority).expect("a PEM file") {
        roots
            .add(certificate.expect("a certificate"))
            .expect("a good certificate");
    }
    let mut config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .expect("the provider has cipher suites")
        .with_root_certificates(roots)
        .with_no_client_auth();
    config.alpn_protocols = alpn.iter().map(|name| name.as_bytes().to_vec()).collect();
    config
}

/// Does a handshake with verification; gives the connection, or why there is none.
///
/// # Errors
/// Those of the handshake.
pub fn handshake(
    address: SocketAddr,
    config: ClientConfig,
) -> Result<StreamOwned<ClientConnection, TcpStream>, rustls::Error> {
    let name = ServerName::from(address.ip());
    let mut client = ClientConnection::new(Arc::new(config), name)?;
    let mut stream = connect(address);
    while client.is_handshaking() {
        if let Err(error) = client.complete_io(&mut stream) {
            return Err(error
                .downcast::<rustls::Error>()
                .unwrap_or_else(|error| rustls::Error::General(error.to_string())));
        }
    }
    Ok(StreamOwned::new(client, stream))
}

/// A server with a certificate is believed by clients that trust its authority, and by no others; a client that speaks no TLS,
/// or says nothing, holds up nobody.
pub fn tls_is_verified(program: Program, folder: &Path, protocol: &str) {
    let pair = Pair::make(&folder.join(protocol.replace('/', "-")));
    let other = Pair::make(&folder.join("another"));
    for runtime in RUNTIMES {
        let server = start(program, &pair, &["--runtime", runtime, "--head-timeout-ms", "300"]);
        let mut silent = connect(server.address);
        let mut plain = connect(server.address);
        plain
            .write_all(b"GET /health HTTP/1.1\r\nhost: localhost\r\n\r\n")
            .expect("the server listens");

        let stream = handshake(server.address, client_config(&pair.authority, &[protocol]));
        let stream = stream.expect("the authority is the one that signed");
        assert_eq!(stream.conn.alpn_protocol(), Some(protocol.as_bytes()));

        let refused = handshake(server.address, client_config(&other.authority, &[protocol]));
        let refused = refused.expect_err("another authority has signed nothing here");
        assert!(refused.to_string().contains("invalid peer certificate"), "{refused}");

        assert_ended(&mut plain);
        assert_ended(&mut silent);
        assert_eq!(server.terminate().0.code(), Some(0), "{runtime}");
    }
}

/// Files that are no certificate or key, or do not belong together, are refused by name.
pub fn wrong_certificates_are_refused(program: Program, folder: &Path) {
    let folder = folder.join("wrong");
    let (pair, other) = (Pair::make(&folder), Pair::make(&folder.join("another")));
    let (cert, key) = (text(&pair.cert), text(&pair.key));
    let empty = folder.join("empty.pem");
    File::create(&empty).expect("the folder can be written to");
    let (empty, other_key) = (text(&empty), text(&other.key));
    for (cert, key) in [
        ("/nowhere.pem", key),
        (cert, "/nowhere.pem"),
        (cert, empty),
        (empty, key),
        (cert, other_key),
        (cert, cert),
    ] {
        let refusal = program.refuse(&["--tls-cert", cert, "--tls-key", key]);
        assert_eq!(refusal.code, 1, "{}", refusal.message);
        assert!(
            refusal.message.contains("--tls-cert and --tls-key"),
            "{}",
            refusal.message
        );
        assert_eq!(refusal.message.lines().count(), 1, "{}", refusal.message);
    }
    let refusal = program.refuse(&["--tls-cert", cert]);
    assert_eq!(refusal.code, 2, "{}", refusal.message);
    assert!(refusal.message.contains("--tls-key"), "{}", refusal.message);
}

/// A client that sends a head bit by bit is cut off, be it the first on its connection or a later one; `whole` is a request
/// that is answered at once.
pub fn slow_heads_are_cut_off(program: Program, pieces: &[u8], whole: Option<&[u8]>) {
    for runtime in RUNTIMES {
        let server = program.start(&["--runtime", runtime, "--head-timeout-ms", "300"]);
        let mut slow = connect(server.address);
        if let Some(whole) = whole {
            slow.write_all(whole).expect("the server listens");
            let mut answer = [0; 4096];
            assert_ne!(slow.read(&mut answer).expect("an answer"), 0);
        }
        let begun = Instant::now();
        for piece in pieces.chunks(1).cycle() {
            assert!(begun.elapsed() < GIVE_UP, "{runtime}: the client may go on and on");
            if slow.write_all(piece).is_err() {
                break;
            }
            sleep(Duration::from_millis(50));
        }
        assert_eq!(server.terminate().0.code(), Some(0), "{runtime}");
    }
}

/// The largest memory of a running server so far, bytes; none where the system does not tell (anywhere but on Linux).
pub fn peak_memory(server: &Running) -> Option<u64> {
    let status = fs::read_to_string(format!("/proc/{}/status", server.id())).ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kib: u64 = line.trim().strip_suffix(" kB")?.parse().ok()?;
    Some(kib * 1024)
}

/// Starts a server with a certificate.
pub fn start(program: Program, pair: &Pair, arguments: &[&str]) -> Running {
    let tls = ["--tls-cert", text(&pair.cert), "--tls-key", text(&pair.key)];
    program.start(&[&tls, arguments].concat())
}

fn text(file: &Path) -> &str {
    file.to_str().expect("folders of tests have plain names")
}

fn connect(address: SocketAddr) -> TcpStream {
    let stream = TcpStream::connect(address).expect("the server listens");
    stream.set_read_timeout(Some(GIVE_UP)).expect("a time above zero");
    stream
}

/// Waits until the server has given the connection up, whatever it says before.
fn assert_ended(stream: &mut TcpStream) {
    let mut rest = Vec::new();
    if let Err(error) = stream.read_to_end(&mut rest) {
        assert_eq!(error.kind(), ErrorKind::ConnectionReset, "{error}");
    }
}
