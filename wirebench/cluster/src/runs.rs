//! Exact quantiles of many latencies in little memory: one sorted run for each load pod, on disk, searched instead of merged.

use std::fs::File;
use std::io::{self, BufWriter, Write as _};
use std::os::unix::fs::FileExt as _;

use wirebench_record::run::Latency;

/// The bytes of a latency in the file.
const WIDTH: u64 = 8;
/// A part of a run with at most this many values is read at once.
const READ_AT_ONCE: u64 = 512;

/// Sorted runs of latencies in one temporary file, with what can be summed while they are written.
#[derive(Debug)]
pub struct Runs {
    file: File,
    /// The first index and the end of each run, in values.
    bounds: Vec<(u64, u64)>,
    sum: u128,
    smallest: u64,
    largest: u64,
}

impl Runs {
    /// Empty runs in a temporary file, which the operating system removes with the process.
    ///
    /// # Errors
    /// When no temporary file can be made.
    pub fn new() -> io::Result<Self> {
        Ok(Self {
            file: tempfile::tempfile()?,
            bounds: Vec::new(),
            sum: 0,
            smallest: u64::MAX,
            largest: 0,
        })
    }

    /// Adds the latencies of one pod, ns, in any order.
    ///
    /// # Errors
    /// When the temporary file cannot be written.
    pub fn add(&mut self, mut latencies: Vec<u64>) -> io::Result<()> {
        latencies.sort_unstable();
        let (Some(first), Some(last)) = (latencies.first(), latencies.last()) else {
            return Ok(());
        };
        self.smallest = self.smallest.min(*first);
        self.largest = self.largest.max(*last);
        let start = self.count();
        let mut out = BufWriter::with_capacity(1 << 20, &self.file);
        for latency in &latencies {
            self.sum += u128::from(*latency);
            out.write_all(&latency.to_le_bytes())?;
        }
        out.flush()?;
        drop(out);
        self.bounds.push((start, start + latencies.len() as u64));
        Ok(())
    }

    /// All values of all runs.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.bounds.last().map_or(0, |(_, end)| *end)
    }

    /// The quantiles of all values together, by nearest rank; `None` without values.
    ///
    /// # Errors
    /// When the temporary file cannot be read.
    pub fn latency(&self) -> io::Result<Option<Latency>> {
        let count = u128::from(self.count());
        if count == 0 {
            return Ok(None);
        }
        let mean = u64::try_from((self.sum + count / 2) / count).unwrap_or(self.largest);
        Ok(Some(Latency {
            min: self.smallest,
            mean,
            p50: self.nearest_rank(500)?,
            p90: self.nearest_rank(900)?,
            p95: self.nearest_rank(950)?,
            p99: self.nearest_rank(990)?,
            p999: self.nearest_rank(999)?,
            max: self.largest,
        }))
    }

    /// The smallest value that at least `permille`/1000 of all values do not exceed: halves the range of values until one is
    /// left. Of each run only the part that can contain it is read.
    fn nearest_rank(&self, permille: u16) -> io::Result<u64> {
        let rank = (u128::from(self.count()) * u128::from(permille)).div_ceil(1000);
        let rank = u64::try_from(rank).unwrap_or(u64::MAX);
        let (mut low, mut high) = (self.smallest, self.largest);
        let mut parts = self.bounds.clone();
        while low < high {
            let middle = low + (high - low) / 2;
            let cuts: Vec<u64> = parts
                .iter()
                .map(|part| self.first_above(*part, middle))
                .collect::<io::Result<_>>()?;
            let covered: u64 = cuts.iter().zip(&self.bounds).map(|(cut, (start, _))| cut - start).sum();
            for (part, cut) in parts.iter_mut().zip(cuts) {
                if covered >= rank {
                    part.1 = cut;
                } else {
                    part.0 = cut;
                }
            }
            if covered >= rank {
                high = middle;
            } else {
                low = middle + 1;
            }
        }
        Ok(low)
    }

    /// The index of the first value above `limit` in a part of a run; the part's end if there is none.
    fn first_above(&self, (mut start, mut end): (u64, u64), limit: u64) -> io::Result<u64> {
        while end - start > READ_AT_ONCE {
            let middle = start + (end - start) / 2;
            if self.value(middle)? <= limit {
                start = middle + 1;
            } else {
                end = middle;
            }
        }
        let mut bytes = vec![0; usize::try_from((end - start) * WIDTH).unwrap_or(0)];
        self.file.read_exact_at(&mut bytes, start * WIDTH)?;
        let (values, _) = bytes.as_chunks::<8>();
        let below = values.partition_point(|value| u64::from_le_bytes(*value) <= limit);
        Ok(start + below as u64)
    }

    fn value(&self, place: u64) -> io::Result<u64> {
        let mut bytes = [0; 8];
        self.file.read_exact_at(&mut bytes, place * WIDTH)?;
        Ok(u64::from_le_bytes(bytes))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use wirebench_stats::quantile::nearest_rank;

    fn by_hand(mut all: Vec<u64>) -> Latency {
        all.sort_unstable();
        let sum: u128 = all.iter().map(|ns| u128::from(*ns)).sum();
        let rank = |permille| nearest_rank(&all, permille);
        Latency {
            min: all[0],
            mean: u64::try_from((sum + all.len() as u128 / 2) / all.len() as u128).unwrap(),
            p50: rank(500),
            p90: rank(900),
            p95: rank(950),
            p99: rank(990),
            p999: rank(999),
            max: all[all.len() - 1],
        }
    }

    proptest! {
        #[test]
        fn quantiles_of_runs_are_those_of_all_values_in_one_list(
            pods in prop::collection::vec(prop::collection::vec(prop_oneof![0u64..50, any::<u64>()], 0..2_000), 1..8)
        ) {
            let mut runs = Runs::new().unwrap();
            for pod in &pods {
                runs.add(pod.clone()).unwrap();
            }
            let all: Vec<u64> = pods.concat();
            prop_assert_eq!(runs.count(), all.len() as u64);
            let found = runs.latency().unwrap();
            prop_assert_eq!(found, (!all.is_empty()).then(|| by_hand(all)));
        }
    }

    #[test]
    fn without_values_there_are_no_quantiles() {
        let mut runs = Runs::new().unwrap();
        runs.add(Vec::new()).unwrap();
        assert_eq!((runs.count(), runs.latency().unwrap()), (0, None));
    }
}
