//! Counts the connections that a process held during a load, by reading its open sockets a few times. The kernel's table
//! of connections has more detail, but reading it takes milliseconds of a core during the load.

use std::collections::HashSet;
use std::sync::Arc;

use crate::measure::usage_reader::UsageReader;

/// Counts the connections of one process.
#[derive(Debug)]
pub struct ConnectionCounter {
    server: Arc<dyn UsageReader>,
    before: HashSet<u64>,
    during: HashSet<u64>,
}

impl ConnectionCounter {
    /// Starts counting: sockets that are open already (listeners, a pool of its own) do not count.
    #[must_use]
    pub fn new(server: Arc<dyn UsageReader>) -> Self {
        let before = server.sockets().unwrap_or_default();
        Self {
            server,
            before,
            during: HashSet::new(),
        }
    }

    /// Reads the sockets that are open now, during the load; `None` if they cannot be read.
    pub fn sample(&mut self) -> Option<HashSet<u64>> {
        let sockets = self.server.sockets()?;
        self.during.extend(sockets.difference(&self.before));
        Some(sockets)
    }

    /// Whether a connection was seen already.
    #[must_use]
    pub fn any(&self) -> bool {
        !self.during.is_empty()
    }

    /// The number of distinct connections seen; `None` if the load fell between two samples, or sockets cannot be read.
    #[must_use]
    pub fn count(self) -> Option<u32> {
        u32::try_from(self.during.len()).ok().filter(|count| *count > 0)
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use std::net::{TcpListener, TcpStream};
    use std::sync::Arc;

    use super::ConnectionCounter;
    use crate::measure::usage::LocalUsage;
    use crate::measure::usage_reader::UsageReader;

    /// This process.
    fn own() -> Arc<dyn UsageReader> {
        let id = std::process::id().try_into().expect("the id of a process fits");
        Arc::new(LocalUsage::leader(id))
    }

    #[test]
    fn counts_distinct_connections_whether_still_open_or_not() {
        let own = own();
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let mut counter = ConnectionCounter::new(Arc::clone(&own));
        let accepted = |count: usize| -> Vec<(TcpStream, TcpStream)> {
            (0..count)
                .map(|_| (TcpStream::connect(address).unwrap(), listener.accept().unwrap().0))
                .collect()
        };
        let first = accepted(3);
        counter.sample();
        drop(first);
        let _second = accepted(2);
        counter.sample();
        // This process holds both ends of each. Other tests of this program may open sockets of their own meanwhile.
        assert!(counter.count().unwrap() >= 10);
    }

    #[test]
    fn without_a_look_nothing_is_claimed() {
        let own = own();
        assert_eq!(ConnectionCounter::new(own).count(), None);
    }
}
