//! How far another host's clock is from this machine's: asked like a time server, by the middle of the way there and back.

use std::io;
use std::time::{SystemTime, UNIX_EPOCH};

use crate::measure::remote::shell::Shell;

/// Questions; the one with the shortest way counts.
const TIMES: usize = 5;

/// Another host's clock compared with this machine's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Clock {
    /// By how much the other is ahead, ns.
    pub(super) offset_ns: i64,
    /// The offset is known to within this, ns.
    pub(super) uncertainty_ns: u64,
}

/// One question: when it was sent, what the host said, and when that arrived; ns since 1970.
type Asked = (i64, i64, i64);

/// Compares the clocks; `None` if the host's `date` knows no nanoseconds.
///
/// # Errors
/// When the connection is lost.
pub(super) fn compare(shell: &Shell) -> io::Result<Option<Clock>> {
    let mut asked: Vec<Asked> = Vec::new();
    for _ in 0..TIMES {
        let sent = now_ns();
        let said = shell.ask("date +%s%N")?;
        let received = now_ns();
        asked.extend(said.trim().parse().ok().map(|theirs| (sent, theirs, received)));
    }
    Ok(best(&asked))
}

fn best(asked: &[Asked]) -> Option<Clock> {
    let (sent, theirs, received) = asked.iter().min_by_key(|(sent, _, received)| received - sent)?;
    let way = received - sent;
    Some(Clock {
        offset_ns: theirs - (sent + way / 2),
        uncertainty_ns: u64::try_from(way).unwrap_or(0).div_ceil(2),
    })
}

fn now_ns() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_nanos()).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn the_offset_is_right_to_within_its_uncertainty(offset in -1_000_000i64..1_000_000, ways in prop::collection::vec((0i64..10_000, 0i64..10_000), 1..6)) {
            let asked: Vec<Asked> = ways.iter().map(|(there, back)| (500, 500 + there + offset, 500 + there + back)).collect();
            let clock = best(&asked).unwrap();
            prop_assert!(clock.offset_ns.abs_diff(offset) <= clock.uncertainty_ns);
        }
    }

    #[test]
    fn without_an_answer_nothing_is_claimed() {
        assert_eq!(best(&[]), None);
    }
}
