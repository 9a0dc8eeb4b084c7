//! Time wasted: a core kept busy.

use std::hint::spin_loop;
use std::time::{Duration, Instant};

/// Keeps this thread's core busy for that long.
pub(super) fn spin(duration: Duration) {
    let started = Instant::now();
    while started.elapsed() < duration {
        spin_loop();
    }
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use super::spin;

    #[test]
    fn it_takes_its_time() {
        let started = Instant::now();
        spin(Duration::from_millis(3));
        assert!(started.elapsed() >= Duration::from_millis(3));
    }
}
