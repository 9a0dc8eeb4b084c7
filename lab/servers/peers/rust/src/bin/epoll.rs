//! The physical limit: one thread, one read and one write for each request, a response that is a constant.
//!
//! A limit and no server: it takes any request that ends where a read ends, and reads nothing of it.

use std::collections::HashMap;
use std::io::{self, ErrorKind, Read, Write};
use std::net::TcpStream;

use rustix::buffer::spare_capacity;
use rustix::event::epoll::{self, CreateFlags, EventData, EventFlags};

fn main() -> io::Result<()> {
    let listener = peers::listen()?;
    let poll = epoll::create(CreateFlags::CLOEXEC)?;
    epoll::add(&poll, &listener, EventData::new_u64(0), EventFlags::IN)?;
    let (mut connections, mut number) = (HashMap::<u64, TcpStream>::new(), 0);
    let (mut events, mut room) = (Vec::with_capacity(1024), vec![0; 16 * 1024]);
    let mut response = response();
    let date_at = response.len() - peers::KYIV.len() - 4 - 29;
    loop {
        events.clear();
        epoll::wait(&poll, spare_capacity(&mut events), None)?;
        response[date_at..date_at + 29].copy_from_slice(&peers::date());
        for event in &events {
            let key = event.data.u64();
            if key == 0 {
                while let Ok((stream, _)) = listener.accept() {
                    stream.set_nonblocking(true)?;
                    number += 1;
                    epoll::add(&poll, &stream, EventData::new_u64(number), EventFlags::IN)?;
                    connections.insert(number, stream);
                }
            } else if let Some(stream) = connections.get_mut(&key)
                && !respond(stream, &mut room, &response)
            {
                connections.remove(&key);
            }
        }
    }
}

/// Reads once and writes the response; false if the client has disconnected.
fn respond(stream: &mut TcpStream, room: &mut [u8], response: &[u8]) -> bool {
    match stream.read(room) {
        Ok(0) => false,
        Ok(length) if room[..length].ends_with(b"\r\n\r\n") => stream.write_all(response).is_ok(),
        Ok(_) => true,
        Err(error) => error.kind() == ErrorKind::WouldBlock,
    }
}

fn response() -> Vec<u8> {
    let (length, blank, body) = (peers::KYIV.len(), " ".repeat(29), peers::KYIV);
    format!(
        "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {length}\r\ndate: {blank}\r\n\r\n{body}"
    )
    .into_bytes()
}
