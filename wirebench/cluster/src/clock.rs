//! Compares the clocks of pods with this machine's.

use anyhow::anyhow;

use wirebench_engine::measure::clock::{Reading, now_ns};

use crate::api::Cluster;

pub(crate) use wirebench_engine::measure::clock::Clock;

/// How often each clock is read.
const READINGS: usize = 3;

/// Compares a pod's clock with this machine's.
///
/// # Errors
/// When the pod is gone, or its `date` does not print nanoseconds.
pub(crate) async fn compare(cluster: &Cluster, pod: &str, container: &str) -> anyhow::Result<Clock> {
    let mut readings = Vec::new();
    for _ in 0..READINGS {
        let sent = now_ns();
        let output = cluster.run(pod, container, "date +%s%N").await?;
        let received = now_ns();
        readings.push(Reading {
            sent,
            remote: parse_date(&output.stdout)?,
            received,
        });
    }
    Clock::compare(&readings).ok_or_else(|| anyhow!("the clock of pod {pod} was not read"))
}

/// Parses the output of `date +%s%N`.
///
/// # Errors
/// When it is not a number of nanoseconds.
fn parse_date(text: &str) -> anyhow::Result<i64> {
    let text = text.trim();
    let nanoseconds = text.parse().ok().filter(|_| text.len() >= 19);
    nanoseconds.ok_or_else(|| {
        anyhow!("`date +%s%N` in a load pod printed {text:?}; the load image needs a date that knows nanoseconds, as GNU's does")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_date_without_nanoseconds_is_refused() {
        assert_eq!(parse_date("1700000000123456789\n").unwrap(), 1_700_000_000_123_456_789);
        for text in ["1700000000", "1700000000%N", ""] {
            assert!(
                parse_date(text).unwrap_err().to_string().contains("load image"),
                "{text}"
            );
        }
    }
}
