//! A next tier that misbehaves.

use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::thread;
use std::time::Duration;

/// What a neighbour does with each connection.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Manner {
    /// Listens to everything and says nothing.
    Silent,
    /// Hangs up at once.
    HangsUp,
    /// Waits for a question, says this, and hangs up.
    Says(&'static [u8]),
    /// Waits for a question, says this, and then one byte after the other without end.
    Drips(&'static [u8]),
    /// Waits for a question, says this, and then as much as is taken.
    Floods(&'static [u8]),
}

/// Listens for as long as the test runs.
pub(crate) fn neighbour(manner: Manner) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    thread::spawn(move || {
        for stream in listener.incoming() {
            thread::spawn(move || behave(stream.unwrap(), manner));
        }
    });
    address
}

/// An address where nobody listens.
pub(crate) fn nobody() -> SocketAddr {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap()
}

/// Ends when the other side has had enough.
fn behave(mut stream: TcpStream, manner: Manner) {
    let mut question = [0; 16 * 1024];
    if !matches!(manner, Manner::HangsUp) && stream.read(&mut question).is_err() {
        return;
    }
    match manner {
        Manner::HangsUp => {}
        Manner::Silent => while stream.read(&mut question).is_ok_and(|length| length > 0) {},
        Manner::Says(words) => {
            let _ = stream.write_all(words);
            // What has been said is heard before the end of the connection is.
            let _ = stream.shutdown(Shutdown::Write);
            while stream.read(&mut question).is_ok_and(|length| length > 0) {}
        }
        Manner::Drips(words) => {
            let _ = stream.write_all(words);
            while stream.write_all(b"x").is_ok() {
                thread::sleep(Duration::from_millis(20));
            }
        }
        Manner::Floods(words) => {
            let _ = stream.write_all(words);
            while stream.write_all(&[b'x'; 64 * 1024]).is_ok() {}
        }
    }
}
