//! Round-trip times to a server: the times of TCP handshakes with it, while nothing else is sent.
//!
//! The kernel of the server's host answers a handshake. It takes the same network path as the load, and needs no permission
//! that the load does not need too.

use std::io;
use std::net::{SocketAddr, TcpStream};
use std::time::{Duration, Instant};

use wirebench_declare::span::nanos;
use wirebench_record::run::Ping;
use wirebench_stats::quantile::nearest_rank;

const TIMES: u32 = 20;
const PAUSE: Duration = Duration::from_millis(5);
/// A lost packet of a handshake is sent again after a second: a handshake that takes this long lost a packet.
const LOST_AFTER: Duration = Duration::from_millis(900);

/// Times handshakes one after the other; `None` if no program listens at the address.
pub fn handshakes(address: &str) -> Option<Ping> {
    times(address.parse().ok()?, false)
}

/// Times refused connections to a port that no program listens on. `None` if they are not refused at once, for example because a
/// firewall drops the packets.
pub fn refusals(address: SocketAddr) -> Option<Ping> {
    times(address, true).filter(|ping| ping.lost < ping.sent)
}

fn times(address: SocketAddr, refused: bool) -> Option<Ping> {
    let mut times = Vec::new();
    for _ in 0..TIMES {
        let began = Instant::now();
        match TcpStream::connect_timeout(&address, LOST_AFTER) {
            Ok(_) if !refused => times.push(nanos(began.elapsed())),
            Err(error) if refused && error.kind() == io::ErrorKind::ConnectionRefused => {
                times.push(nanos(began.elapsed()));
            }
            Ok(_) => return None,
            Err(error) if error.kind() == io::ErrorKind::TimedOut => {}
            Err(_) => return None,
        }
        std::thread::sleep(PAUSE);
    }
    Some(distribution(times))
}

/// The distribution of handshake times, ns; a handshake without a time was lost.
fn distribution(mut times: Vec<u64>) -> Ping {
    times.sort_unstable();
    let quantile = |permille| (!times.is_empty()).then(|| nearest_rank(&times, permille));
    Ping {
        sent: TIMES,
        lost: TIMES - u32::try_from(times.len()).unwrap_or(TIMES),
        min_ns: times.first().copied(),
        p50_ns: quantile(500),
        p90_ns: quantile(900),
        max_ns: times.last().copied(),
    }
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;

    use super::*;

    #[test]
    fn every_handshake_with_a_listener_is_timed() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let ping = handshakes(&listener.local_addr().unwrap().to_string()).unwrap();
        assert_eq!((ping.sent, ping.lost), (TIMES, 0));
        assert!(ping.min_ns > Some(0) && ping.min_ns <= ping.p50_ns && ping.p90_ns <= ping.max_ns);
    }

    #[test]
    fn nobody_there_is_no_ping_and_lost_ones_have_no_time() {
        let free = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
        assert_eq!(handshakes(&free.to_string()), None);
        let refused = refusals(free).unwrap();
        assert_eq!((refused.sent, refused.lost), (TIMES, 0));
        let all_lost = distribution(Vec::new());
        assert_eq!((all_lost.lost, all_lost.p50_ns), (TIMES, None));
        let ping = distribution((1..=10).rev().collect());
        assert_eq!(
            (ping.lost, ping.p50_ns, ping.p90_ns, ping.max_ns),
            (10, Some(5), Some(9), Some(10))
        );
    }
}
