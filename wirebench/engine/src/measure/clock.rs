//! Compares another host's clock with this machine's, as NTP does: each reading of the other clock is dated to the middle of
//! its round trip.

use std::time::{SystemTime, UNIX_EPOCH};

/// Another host's clock compared with this machine's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Clock {
    /// How far the other clock is ahead, ns.
    pub offset_ns: i64,
    /// The largest error of the offset, ns.
    pub uncertainty_ns: u64,
}

/// One reading of the other clock; all times are ns since 1970.
#[derive(Debug, Clone, Copy)]
pub struct Reading {
    /// When it was requested, by this machine's clock.
    pub sent: i64,
    /// The other clock's time.
    pub remote: i64,
    /// When it arrived, by this machine's clock.
    pub received: i64,
}

impl Clock {
    /// Compares by the reading with the shortest round trip; `None` without readings.
    pub fn compare(readings: &[Reading]) -> Option<Self> {
        let best = readings.iter().min_by_key(|reading| reading.received - reading.sent)?;
        let round_trip = best.received - best.sent;
        Some(Self {
            offset_ns: best.remote - (best.sent + round_trip / 2),
            uncertainty_ns: u64::try_from(round_trip).unwrap_or(0).div_ceil(2),
        })
    }
}

/// This machine's time, ns since 1970.
pub fn now_ns() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_nanos()).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn the_true_offset_lies_within_the_uncertainty(
            offset in -1_000_000_000i64..1_000_000_000,
            sent in 0i64..1_000,
            ways in prop::collection::vec((0i64..50_000_000, 0i64..50_000_000), 1..6)
        ) {
            let readings: Vec<Reading> = ways
                .iter()
                .map(|(there, back)| Reading { sent, remote: sent + there + offset, received: sent + there + back })
                .collect();
            let clock = Clock::compare(&readings).unwrap();
            prop_assert!(clock.offset_ns.abs_diff(offset) <= clock.uncertainty_ns);
        }
    }

    #[test]
    fn without_readings_there_is_no_offset() {
        assert_eq!(Clock::compare(&[]), None);
    }
}
