//! How far a pod's clock is from this machine's: asked like a time server, by the middle of the way there and back.

use std::time::{SystemTime, UNIX_EPOCH};

use anyhow::anyhow;

use crate::api::{Cluster, Command};

/// A pod's clock compared with this machine's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Clock {
    /// By how much the pod's is ahead, ns.
    pub(crate) offset_ns: i64,
    /// The offset is known to within this, ns.
    pub(crate) uncertainty_ns: u64,
}

/// One question: when it was sent, what the pod said, and when that arrived; ns since 1970.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Asked {
    sent: i64,
    theirs: i64,
    received: i64,
}

/// Questions for each pod; the one with the shortest way counts.
const TIMES: usize = 3;

impl Clock {
    /// Compares by the question that took the shortest time; `None` without questions.
    fn of(asked: &[Asked]) -> Option<Self> {
        let best = asked.iter().min_by_key(|one| one.received - one.sent)?;
        let way = best.received - best.sent;
        Some(Self {
            offset_ns: best.theirs - (best.sent + way / 2),
            uncertainty_ns: u64::try_from(way).unwrap_or(0).div_ceil(2),
        })
    }

    /// Asks a pod what time it is.
    ///
    /// # Errors
    /// When the pod is gone, or its `date` knows no nanoseconds.
    pub(crate) async fn ask(cluster: &Cluster, pod: &str, container: &str) -> anyhow::Result<Self> {
        let mut asked = Vec::new();
        for _ in 0..TIMES {
            let sent = now_ns();
            let command = Command {
                pod,
                container,
                script: "date +%s%N",
            };
            let said = cluster.run(command).await?;
            let received = now_ns();
            asked.push(Asked {
                sent,
                theirs: stamp(&said.stdout)?,
                received,
            });
        }
        Self::of(&asked).ok_or_else(|| anyhow!("pod {pod} was not asked what time it is"))
    }

    /// A moment of this machine by the pod's clock, ns since 1970.
    pub(crate) const fn theirs(self, ours: i64) -> i64 {
        ours + self.offset_ns
    }

    /// A moment of the pod by this machine's clock, ns since 1970.
    pub(crate) const fn ours(self, theirs: i64) -> i64 {
        theirs - self.offset_ns
    }
}

/// Nanoseconds since 1970.
pub(crate) fn now_ns() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_nanos()).unwrap_or(i64::MAX)
}

/// What `date +%s%N` printed.
///
/// # Errors
/// When it is no number of nanoseconds.
pub(crate) fn stamp(text: &str) -> anyhow::Result<i64> {
    let text = text.trim();
    let stamp = text.parse().ok().filter(|_| text.len() >= 19);
    stamp.ok_or_else(|| {
        anyhow!("`date +%s%N` in a load pod printed {text:?}; the load image needs a date that knows nanoseconds, as GNU's does")
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn the_true_offset_lies_within_the_uncertainty(
            offset in -1_000_000_000i64..1_000_000_000,
            ways in prop::collection::vec((0i64..50_000_000, 0i64..50_000_000), 1..5)
        ) {
            let asked: Vec<Asked> = ways
                .iter()
                .map(|(there, back)| Asked { sent: 0, theirs: there + offset, received: there + back })
                .collect();
            let clock = Clock::of(&asked).unwrap();
            prop_assert!((clock.offset_ns - offset).unsigned_abs() <= clock.uncertainty_ns);
            prop_assert_eq!(clock.ours(clock.theirs(17)), 17);
        }
    }

    #[test]
    fn a_date_without_nanoseconds_is_refused() {
        assert_eq!(stamp("1700000000123456789\n").unwrap(), 1_700_000_000_123_456_789);
        for text in ["1700000000", "1700000000%N", ""] {
            assert!(stamp(text).unwrap_err().to_string().contains("load image"), "{text}");
        }
    }
}
