//! A deliberate slowdown: CPU time burnt in every request, so that it can be tested that a slowdown is found.

use std::hint::spin_loop;
use std::time::{Duration, Instant};

/// How long a request keeps its thread busy for nothing.
#[derive(Clone, Copy, Debug)]
pub struct Burn(Duration);

impl Burn {
    /// None for no time at all: then nothing must be added to a request, not even a look at a number.
    pub(crate) fn of_ns(ns: u64) -> Option<Self> {
        (ns > 0).then_some(Self(Duration::from_nanos(ns)))
    }

    /// Keeps this thread's core busy for as long as asked.
    pub fn spin(self) {
        let started = Instant::now();
        while started.elapsed() < self.0 {
            spin_loop();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use super::Burn;

    #[test]
    fn nothing_to_burn_is_no_burn() {
        assert!(Burn::of_ns(0).is_none());
    }

    #[test]
    fn a_burn_takes_its_time() {
        let started = Instant::now();
        Burn::of_ns(3_000_000).unwrap().spin();
        assert!(started.elapsed() >= Duration::from_millis(3));
    }
}
