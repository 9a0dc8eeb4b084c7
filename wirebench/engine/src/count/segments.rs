//! TCP segments that arrived on a connection, as the kernel counts them.

use std::net::TcpStream;

/// Segments with data that arrived on an open connection so far; `None` if the kernel does not count them.
pub fn received(stream: &TcpStream) -> Option<u64> {
    use std::os::fd::AsRawFd as _;

    // Kernels append to the structure of tcp_info(7), and older ones fill less of it.
    const PLACE: usize = std::mem::offset_of!(libc::tcp_info, tcpi_data_segs_in);
    let mut info = [0u8; 512];
    let length = uapi::getsockopt(stream.as_raw_fd(), libc::SOL_TCP, libc::TCP_INFO, &mut info).ok()?;
    let field = info[..length].get(PLACE..PLACE + 4)?;
    Some(u32::from_ne_bytes(field.try_into().ok()?).into())
}

#[cfg(test)]
mod tests {
    use std::io::{Read as _, Write as _};
    use std::net::{TcpListener, TcpStream};

    #[test]
    fn every_write_that_is_not_held_back_is_a_segment() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let mut here = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let (mut there, _) = listener.accept().unwrap();
        there.set_nodelay(true).unwrap();
        for _ in 0..3 {
            there.write_all(b"five!").unwrap();
            here.read_exact(&mut [0; 5]).unwrap();
        }
        assert_eq!(super::received(&here), Some(3));
        assert_eq!(super::received(&there), Some(0));
    }
}
