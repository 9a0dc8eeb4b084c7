//! When a server is warm: CPU time per request no longer falls from one part of the load to the next. Pure.

/// Good requests that CPU time per request is averaged over, and that a round of a fixed duration needs.
pub const FEWEST_REQUESTS: u64 = 200;
/// A server is still warming up while a part of the load costs less than this share of the one before.
const STEADY_FROM: f64 = 0.9;

/// One slice of a warm-up.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Slice {
    /// Good requests.
    pub requests: u64,
    /// The server's CPU time, ns.
    pub cpu_ns: u64,
}

/// The number of slices after which the server is warm; `None` if that is not known yet.
///
/// Slices are put together until each part has enough requests. The server is warm with the first part that neither of the
/// next two parts undercuts: one would not do, because a server may run its first some hundred requests at one speed, and only
/// then compile them.
#[must_use]
pub fn slices_needed(slices: &[Slice]) -> Option<usize> {
    steady(slices, FEWEST_REQUESTS)
}

/// The number of slices to warm up with if there is not time for more than these.
#[must_use]
pub fn slices_needed_at_most(slices: &[Slice]) -> usize {
    // A slow server: four parts of what there is.
    let all: u64 = slices.iter().map(|slice| slice.requests).sum();
    let needed = steady(slices, (all / 4).clamp(1, FEWEST_REQUESTS));
    needed.unwrap_or_else(|| if all == 0 { 1 } else { slices.len().max(1) })
}

#[expect(clippy::cast_precision_loss, reason = "counts and times stay far below 2^53")]
fn steady(slices: &[Slice], fewest: u64) -> Option<usize> {
    let mut parts: Vec<(usize, f64)> = Vec::new();
    let mut part = Slice::default();
    for (place, slice) in slices.iter().enumerate() {
        part.requests += slice.requests;
        part.cpu_ns += slice.cpu_ns;
        if part.requests >= fewest {
            parts.push((place + 1, part.cpu_ns as f64 / part.requests as f64));
            part = Slice::default();
        }
    }
    let is_steady = |three: &&[(usize, f64)]| three[1..].iter().all(|(_, cost)| *cost >= three[0].1 * STEADY_FROM);
    parts.windows(3).find(is_steady).map(|three| three[0].0)
}

/// The most rounds that one process serves. Processes of one program differ a little, so that a side needs several.
const MOST_ROUNDS: u32 = 4;

/// The number of rounds that one server process serves: one, unless starting it and warming it up take longer than a round.
#[must_use]
pub fn rounds_per_process(before_ns: u64, round_ns: u64) -> u32 {
    if before_ns <= round_ns {
        return 1;
    }
    u32::try_from(before_ns.div_ceil(round_ns.max(1))).map_or(MOST_ROUNDS, |rounds| rounds.min(MOST_ROUNDS))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Slices of so many requests each of a server that spends 300 µs on each of its first requests, and 30 µs on later ones.
    fn slices(slow: u64, of: &[u64]) -> Vec<Slice> {
        let mut served = 0;
        let slice = |requests: &u64| {
            let cold = (*requests).min(slow.saturating_sub(served));
            served += requests;
            Slice {
                requests: *requests,
                cpu_ns: 300_000 * cold + 30_000 * (requests - cold),
            }
        };
        of.iter().map(slice).collect()
    }

    #[test]
    fn a_native_server_is_warm_after_one_slice() {
        assert_eq!(slices_needed(&slices(0, &[3_000, 3_000])), None, "two more parts must agree");
        assert_eq!(slices_needed(&slices(0, &[3_000; 3])), Some(1));
        assert_eq!(slices_needed(&slices(20, &[3_000; 3])), Some(1), "a slow first answer on each connection");
    }

    #[test]
    fn slices_with_few_requests_are_judged_together() {
        // 9 slow requests in each slice look steady, and are not.
        let few = slices(300, &[9; 60]);
        assert_eq!(slices_needed(&few), None);
        let all = slices(300, &[9; 200]);
        let needed = slices_needed(&all).unwrap();
        assert!(needed * 9 >= 300, "{needed} slices");
    }

    #[test]
    fn too_few_requests_for_the_rule_are_judged_by_four_parts() {
        let slow = [Slice { requests: 1, cpu_ns: 1_000 }; 40];
        assert_eq!((slices_needed(&slow), slices_needed_at_most(&slow)), (None, 10));
        let falling: Vec<Slice> = (1..9).rev().map(|cpu_ns| Slice { requests: 1, cpu_ns }).collect();
        assert_eq!(slices_needed_at_most(&falling), 8, "still warming up");
        assert_eq!(slices_needed_at_most(&[Slice::default(); 9]), 1, "no good request");
    }

    #[test]
    fn a_process_serves_several_rounds_where_it_takes_longer_to_warm_up_than_to_measure() {
        let rounds = [(900, 1_000), (1_000, 1_000), (1_001, 1_000), (2_500, 1_000), (60_000, 1_000), (5, 0)];
        assert_eq!(rounds.map(|(before, round)| rounds_per_process(before, round)), [1, 1, 2, 3, 4, 4]);
    }

    proptest! {
        #[test]
        fn the_cold_requests_are_never_left_to_the_rounds(slow in 0u64..390, of in 5u64..5_000) {
            let needed = slices_needed(&slices(slow, &vec![of; 2_000])).unwrap() as u64;
            // A part with so few cold requests that they do not show is warm.
            let cold = slow.saturating_sub(needed * of);
            prop_assert!(cold == 0, "{cold} of {slow} in {needed} slices of {of}");
        }
    }
}
