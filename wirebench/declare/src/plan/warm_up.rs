//! When a server is warm: CPU time per request no longer falls from one part of the load to the next. Pure.

/// Good requests that CPU time per request is averaged over, and that a round of a fixed duration needs.
pub const FEWEST_REQUESTS: u64 = 200;
/// A server is still warming up while a later part of the load costs less than this share of an earlier one.
const STEADY_FROM: f64 = 0.9;
/// A server that uses less CPU time than this share of the wall time that other programs left to it waits, for example for a
/// database: it is not warming up.
const BUSY_FROM: f64 = 0.2;

/// One part of the load on a fresh server.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Part {
    /// Good requests.
    pub requests: u64,
    /// The server's CPU time, ns.
    pub cpu_ns: u64,
    /// Wall time, ns.
    pub wall_ns: u64,
}

/// The requests of the next part: as many as all parts before, so that a slow fall shows too. A multiple of the workers.
pub fn next_part(before: &[Part], workers: u32) -> u64 {
    next_after(requests(before), workers)
}

fn next_after(requests: u64, workers: u32) -> u64 {
    let workers = u64::from(workers.max(1));
    requests.max(FEWEST_REQUESTS).div_ceil(workers) * workers
}

/// The parts in which a server is warmed up by so many requests: those in which it was observed. Each opens its connections anew,
/// as the round after it does. A runtime throws compiled code away when connections close for the first few times, so after a
/// single load, however long, the round itself would be slow.
pub fn warm_up_parts(requests: u64, workers: u32) -> Vec<u64> {
    let mut parts = Vec::new();
    let mut left = requests;
    while left > 0 {
        let part = next_after(requests - left, workers).min(left);
        parts.push(part);
        left -= part;
    }
    parts
}

/// The requests after which the server is warm, 0 if it is from the first one on; `None` if that is not known yet.
///
/// It is warm with the first part that neither of the next two parts undercuts: one would not do, because a server may run its
/// first some hundred requests at one speed, and only then compile them.
pub fn requests_needed(parts: &[Part]) -> Option<u64> {
    let is_steady = |three: &[Part]| {
        let least = cost(&three[0]) * STEADY_FROM;
        three[1..].iter().all(|part| cost(part) >= least)
    };
    let steady = parts.windows(3).position(is_steady)?;
    Some(if steady == 0 { 0 } else { requests(&parts[..=steady]) })
}

/// The requests to warm up with if there is no time for another part: all so far, unless the server mostly waits for something
/// else than a core. `slowdown` is the factor, at least 1, by which threads take longer because others have the cores.
pub fn requests_needed_at_most(parts: &[Part], slowdown: f64) -> u64 {
    let sum = |of: fn(&Part) -> u64| float(parts.iter().map(of).sum());
    let is_busy = sum(|part| part.cpu_ns) * slowdown >= sum(|part| part.wall_ns) * BUSY_FROM;
    requests_needed(parts).unwrap_or_else(|| if is_busy { requests(parts) } else { 0 })
}

fn requests(parts: &[Part]) -> u64 {
    parts.iter().map(|part| part.requests).sum()
}

/// CPU time per request, ns.
fn cost(part: &Part) -> f64 {
    float(part.cpu_ns) / float(part.requests.max(1))
}

#[expect(clippy::cast_precision_loss, reason = "counts and times stay far below 2^53")]
const fn float(number: u64) -> f64 {
    number as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The parts of the load on a server that spends 300 µs on each of its first requests, and 30 µs on later ones.
    fn parts(slow: u64, count: usize) -> Vec<Part> {
        let mut parts: Vec<Part> = Vec::new();
        for _ in 0..count {
            let (served, size) = (requests(&parts), next_part(&parts, 1));
            let cold = size.min(slow.saturating_sub(served));
            let cpu_ns = 300_000 * cold + 30_000 * (size - cold);
            parts.push(Part {
                requests: size,
                cpu_ns,
                wall_ns: cpu_ns * 3,
            });
        }
        parts
    }

    #[test]
    fn parts_have_whole_turns_of_the_workers_and_double() {
        let sizes: Vec<u64> = parts(0, 5).iter().map(|part| part.requests).collect();
        assert_eq!(sizes, [200, 200, 400, 800, 1600]);
        assert_eq!((next_part(&[], 64), next_part(&[], 1_000)), (256, 1_000));
        assert_eq!(warm_up_parts(3_200, 1), sizes);
        assert_eq!(warm_up_parts(300, 1), [200, 100]);
        assert_eq!(warm_up_parts(0, 1), [0; 0]);
    }

    #[test]
    fn a_server_that_is_warm_from_the_first_request_on_needs_nothing_more() {
        assert_eq!(requests_needed(&parts(0, 2)), None, "two more parts must agree");
        assert_eq!(requests_needed(&parts(0, 3)), Some(0));
    }

    #[test]
    fn a_server_that_compiles_its_handler_after_some_hundred_requests_is_not_warm_before() {
        assert_eq!(requests_needed(&parts(300, 4)), None);
        assert_eq!(requests_needed(&parts(300, 5)), Some(800));
        assert_eq!(
            requests_needed(&parts(10_000, 20)),
            Some(0),
            "later than the first parts can tell"
        );
    }

    #[test]
    fn without_time_for_another_part_a_busy_server_is_warmed_up_by_all_and_one_that_waits_is_not() {
        let cold = parts(5_000, 2);
        assert_eq!(
            (requests_needed(&cold), requests_needed_at_most(&cold, 1.0)),
            (None, 400)
        );
        let waits: Vec<Part> = (cold.iter())
            .map(|part| Part {
                wall_ns: part.wall_ns * 10,
                ..*part
            })
            .collect();
        assert_eq!(requests_needed_at_most(&waits, 1.0), 0);
        assert_eq!(requests_needed_at_most(&parts(0, 3), 1.0), 0);
        assert_eq!(
            requests_needed_at_most(&waits, 10.0),
            400,
            "beside twenty busy programs on two cores it had its share of a core"
        );
    }

    proptest! {
        #[test]
        fn requests_that_show_as_cold_are_never_left_to_the_rounds(slow in 0u64..390) {
            let needed = requests_needed(&parts(slow, 20)).unwrap();
            // So few cold requests at the beginning do not show in the first part.
            prop_assert!(needed >= slow || slow < FEWEST_REQUESTS / 50, "{} of {}", needed, slow);
        }
    }
}
