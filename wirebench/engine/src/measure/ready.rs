//! One check whether a server is ready for requests.
//!
//! Whether a database has started is asked by its own protocol: its port takes connections earlier than that. Only a closed connection,
//! silence, and the message that it is starting mean that it is not ready. A refused login or a missing database comes from one that has
//! started.

use std::io::{self, BufRead as _, BufReader, ErrorKind, Read as _, Write as _};
use std::net::TcpStream;
use std::path::Path;
use std::time::Duration;

use crate::measure::grpc::frame::{frame, frames};
use crate::measure::probe::{PROBE_TIMEOUT, send};
use crate::measure::wire::{WireRequest, grpc_request};
use wirebench_declare::protocol::Protocol;
use wirebench_declare::server::{Database, Ready};

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
        Ready::Database(database) => return database_is_ready(*database, address),
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
    let response = send(address, &request, PROBE_TIMEOUT)?;
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

/// A startup message of protocol 3.0, after its length. No such user needs to exist.
const POSTGRES_STARTUP: &[u8] = b"\0\x03\0\0user\0wirebench\0database\0postgres\0\0";
/// Ends a Postgres session.
const POSTGRES_TERMINATE: &[u8] = b"X\0\0\0\x04";
/// Postgres' error code `cannot_connect_now`: it starts, stops or recovers.
const POSTGRES_STARTING: &str = "57P03";
/// The first byte of MySQL's error packet; its greeting has the protocol's version there.
const MYSQL_ERROR: u8 = 0xff;
/// The longest message of a database that is read; longer ones are cut.
const LONGEST_MESSAGE: u64 = 8 << 10;

/// Checks once whether a database answers that it has started.
///
/// # Errors
/// What it answered instead, as a sentence.
pub(super) fn database_is_ready(database: Database, address: &str) -> Result<(), String> {
    let check = match database {
        Database::Postgres => postgres,
        Database::Mysql => mysql,
        Database::Redis => redis,
    };
    let connection = TcpStream::connect(address).map_err(|error| error.to_string())?;
    let limited = connection.set_read_timeout(Some(PROBE_TIMEOUT));
    let limited = limited.and_then(|()| connection.set_write_timeout(Some(PROBE_TIMEOUT)));
    match limited.and_then(|()| check(&connection)) {
        Ok(None) => Ok(()),
        Ok(Some(starting)) => Err(starting),
        Err(error) if error.kind() == ErrorKind::UnexpectedEof => Err("it closes connections without a message".into()),
        Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => {
            Err(format!("no message from the database within {PROBE_TIMEOUT:?}"))
        }
        Err(error) => Err(error.to_string()),
    }
}

/// Returns the message that it is starting, `None` if it has started.
fn postgres(mut connection: &TcpStream) -> io::Result<Option<String>> {
    let length = u32::try_from(POSTGRES_STARTUP.len() + 4).map_err(io::Error::other)?;
    connection.write_all(&[&length.to_be_bytes(), POSTGRES_STARTUP].concat())?;
    let mut header = [0; 5];
    connection.read_exact(&mut header)?;
    if header[0] != b'E' {
        // A courtesy: a client that only goes away is a line in its log.
        let _ = connection.write_all(POSTGRES_TERMINATE);
        return Ok(None);
    }
    // The length counts its own four bytes.
    let length = u32::from_be_bytes([header[1], header[2], header[3], header[4]]).saturating_sub(4);
    let mut body = vec![0; usize::try_from(u64::from(length).min(LONGEST_MESSAGE)).map_err(io::Error::other)?];
    connection.read_exact(&mut body)?;
    let text = String::from_utf8_lossy(&body);
    let field = |kind: char| text.split('\0').find_map(|field| field.strip_prefix(kind));
    Ok((field('C') == Some(POSTGRES_STARTING)).then(|| field('M').unwrap_or("it is starting up").to_owned()))
}

/// Returns the message of its error packet, `None` if it sends its greeting.
fn mysql(mut connection: &TcpStream) -> io::Result<Option<String>> {
    // Three bytes of length, and the packet's number.
    let mut header = [0; 4];
    connection.read_exact(&mut header)?;
    let length = u64::from(u32::from_le_bytes([header[0], header[1], header[2], 0]));
    let mut body = vec![0; usize::try_from(length.min(LONGEST_MESSAGE)).map_err(io::Error::other)?];
    connection.read_exact(&mut body)?;
    match body.split_first() {
        // Two bytes of error code before the message.
        Some((&MYSQL_ERROR, error)) => Ok(Some(
            String::from_utf8_lossy(error.get(2..).unwrap_or_default()).into_owned(),
        )),
        Some(_) => Ok(None),
        None => Err(ErrorKind::UnexpectedEof.into()),
    }
}

/// Returns the message that it is loading its data, `None` if it has loaded them.
fn redis(mut connection: &TcpStream) -> io::Result<Option<String>> {
    connection.write_all(b"PING\r\n")?;
    let mut line = Vec::new();
    BufReader::new(connection.take(LONGEST_MESSAGE)).read_until(b'\n', &mut line)?;
    if line.is_empty() {
        return Err(ErrorKind::UnexpectedEof.into());
    }
    let line = String::from_utf8_lossy(&line);
    let error = line.trim_end().strip_prefix('-');
    Ok(error.filter(|error| error.starts_with("LOADING")).map(str::to_owned))
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

#[cfg(test)]
mod database_tests {
    use std::net::TcpListener;

    use super::*;

    /// The result of a check of a server that reads `question` bytes, and sends `answer`.
    fn checked(database: Database, question: usize, answer: &[u8]) -> Result<(), String> {
        let answer = answer.to_vec();
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap().to_string();
        let server = std::thread::spawn(move || {
            let (mut connection, _) = listener.accept().unwrap();
            connection.read_exact(&mut vec![0; question]).unwrap();
            connection.write_all(&answer).unwrap();
        });
        let result = database_is_ready(database, &address);
        server.join().unwrap();
        result
    }

    #[test]
    fn a_postgres_that_starts_up_is_not_ready_and_one_that_refuses_a_login_is() {
        let length = POSTGRES_STARTUP.len() + 4;
        let checked = |answer: &[u8]| checked(Database::Postgres, length, answer);
        let error = |code: &str| {
            let fields = format!("SFATAL\0C{code}\0Mthe message\0\0");
            let length = u32::try_from(fields.len() + 4).unwrap();
            [b"E", &length.to_be_bytes()[..], fields.as_bytes()].concat()
        };
        assert_eq!(checked(&error("57P03")), Err("the message".into()));
        assert_eq!(checked(&error("28000")), Ok(()));
        assert_eq!(checked(b"R\0\0\0\x08\0\0\0\0"), Ok(()));
        assert_eq!(checked(b""), Err("it closes connections without a message".into()));
    }

    #[test]
    fn a_mysql_is_ready_once_it_sends_its_greeting() {
        let checked = |answer: &[u8]| checked(Database::Mysql, 0, answer);
        assert_eq!(checked(b"\x05\0\0\0\x0a8.4\0"), Ok(()));
        assert_eq!(checked(b"\x0b\0\0\0\xff\x10\x04Too many"), Err("Too many".into()));
        assert_eq!(checked(b""), Err("it closes connections without a message".into()));
    }

    #[test]
    fn a_redis_that_loads_its_data_is_not_ready() {
        let checked = |answer: &[u8]| checked(Database::Redis, 6, answer);
        assert_eq!(checked(b"+PONG\r\n"), Ok(()));
        assert_eq!(checked(b"-NOAUTH Authentication required.\r\n"), Ok(()));
        assert_eq!(
            checked(b"-LOADING Redis is loading\r\n"),
            Err("LOADING Redis is loading".into())
        );
        assert_eq!(checked(b""), Err("it closes connections without a message".into()));
    }
}
