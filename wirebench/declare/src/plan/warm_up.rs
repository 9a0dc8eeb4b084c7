//! When a server is warm: CPU time per request no longer falls from one part of the load to the next. Pure.

use std::time::Duration;

use crate::span::nanos;

/// Good requests that CPU time per request is averaged over, and that a round of a fixed duration needs.
pub const FEWEST_REQUESTS: u64 = 200;
/// A server is still warming up while a later part of the load costs less than this share of an earlier one.
const STEADY_FROM: f64 = 0.9;
/// The longest that one side of a series is observed while it warms up.
pub const LONGEST: Duration = Duration::from_secs(30);
/// The budget is at least this many times the time for observing all sides. Rounds of a server that is still compiling compare
/// nothing: a JVM on one core needs 12 to 18 s.
const BUDGET_FACTOR: u32 = 8;
/// The time for which a server is looked at before it is called warm.
const LONG_ENOUGH: Duration = Duration::from_secs(3);
/// Good requests after which a runtime has chosen what to compile: thresholds of the JVM and of V8 are below it.
const CHOSEN_BY: u64 = 25_600;
/// How long a part may take from then on: compiling what was chosen takes time, however many requests come meanwhile.
const LONGEST_PART: Duration = Duration::from_secs(2);
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

/// How long one side may be observed within the budget of a comparison of that many series.
pub fn observing(budget: Duration, series: u32) -> Duration {
    LONGEST.min(budget / series.saturating_mul(2 * BUDGET_FACTOR).max(1))
}

/// The budget with which each side of that many series is observed for [`LONGEST`].
pub fn budget_for_longest(series: u32) -> Duration {
    LONGEST * series.saturating_mul(2 * BUDGET_FACTOR)
}

/// What a server is warmed up with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WarmUp {
    /// Requests before the round, beyond the declared warm-up.
    pub requests: u64,
    /// Whether the server was seen to be warm after them.
    pub is_known: bool,
}

/// The requests of the next part: as many as all parts before, so that a slow fall shows too; from [`CHOSEN_BY`] on no more than
/// [`LONGEST_PART`] has time for. A multiple of the workers.
pub fn next_part(before: &[Part], workers: u32) -> u64 {
    let all = requests(before);
    let in_time = match before.last() {
        Some(last) if all >= CHOSEN_BY => {
            let within = u128::from(last.requests) * LONGEST_PART.as_nanos() / u128::from(last.wall_ns.max(1));
            u64::try_from(within).unwrap_or(u64::MAX)
        }
        _ => u64::MAX,
    };
    next_after(all.min(in_time), workers)
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

/// The warm-up after which the server is warm, of 0 requests if it is from the first one on; `None` if that is not known yet.
///
/// It is warm with the first part that neither of the next two parts undercuts, nor all later parts together: one would not do,
/// because a server may run its first some hundred requests at one speed, and only then compile them. Nor would it do to look for
/// less than [`LONG_ENOUGH`]: the JVM runs what it compiled in haste for two or three seconds, at four times the final cost,
/// before it has compiled it well.
pub fn warm_up(parts: &[Part]) -> Option<WarmUp> {
    let steady = steady(parts)?;
    let looked_ns = sum(&parts[steady + 1..], |part| part.wall_ns);
    (looked_ns >= nanos(LONG_ENOUGH)).then(|| WarmUp {
        requests: requests_up_to(parts, steady),
        is_known: true,
    })
}

/// The place of the first part that no later one undercuts.
fn steady(parts: &[Part]) -> Option<usize> {
    let is_steady = |at: &usize| {
        let (least, later) = (cost(&parts[*at..=*at]) * STEADY_FROM, &parts[at + 1..]);
        let next = later[..2].iter().map(std::slice::from_ref);
        next.chain([later]).all(|later| cost(later) >= least)
    };
    (0..parts.len().saturating_sub(2)).find(is_steady)
}

fn requests_up_to(parts: &[Part], steady: usize) -> u64 {
    if steady == 0 { 0 } else { requests(&parts[..=steady]) }
}

/// What to warm up with if there is no time for another part: all so far, unless no part undercuts earlier ones, or the server
/// mostly waits for something else than a core and so is not warming up. `slowdown` is the factor, at least 1, by which threads
/// take longer because others have the cores.
pub fn warm_up_so_far(parts: &[Part], slowdown: f64) -> WarmUp {
    let (cpu_ns, wall_ns) = (sum(parts, |part| part.cpu_ns), sum(parts, |part| part.wall_ns));
    let waits = float(cpu_ns) * slowdown < float(wall_ns) * BUSY_FROM;
    let otherwise = if waits { 0 } else { requests(parts) };
    WarmUp {
        requests: steady(parts).map_or(otherwise, |steady| requests_up_to(parts, steady)),
        is_known: waits,
    }
}

fn sum(parts: &[Part], of: fn(&Part) -> u64) -> u64 {
    parts.iter().map(of).sum()
}

fn requests(parts: &[Part]) -> u64 {
    sum(parts, |part| part.requests)
}

/// CPU time per request over parts, ns.
fn cost(parts: &[Part]) -> f64 {
    float(sum(parts, |part| part.cpu_ns)) / float(requests(parts).max(1))
}

#[expect(clippy::cast_precision_loss, reason = "counts and times stay far below 2^53")]
const fn float(number: u64) -> f64 {
    number as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The parts of the load on a server that spends 300 ms on each of its first requests, and 30 ms on later ones.
    fn parts(slow: u64, count: usize) -> Vec<Part> {
        parts_in(1_000_000, slow, count)
    }

    /// The same of a server that spends 300 and 30 of these units, ns.
    fn parts_in(unit: u64, slow: u64, count: usize) -> Vec<Part> {
        let mut parts: Vec<Part> = Vec::new();
        for _ in 0..count {
            let (served, size) = (requests(&parts), next_part(&parts, 1));
            let cold = size.min(slow.saturating_sub(served));
            let cpu_ns = (300 * cold + 30 * (size - cold)) * unit;
            parts.push(Part {
                requests: size,
                cpu_ns,
                wall_ns: cpu_ns * 3,
            });
        }
        parts
    }

    /// The requests after which the server is known to be warm.
    fn needed(parts: &[Part]) -> Option<u64> {
        warm_up(parts).map(|found| found.requests)
    }

    fn open(requests: u64) -> WarmUp {
        WarmUp {
            requests,
            is_known: false,
        }
    }

    #[test]
    fn the_budget_for_the_longest_observation_gives_it() {
        for series in 1..20 {
            let enough = budget_for_longest(series);
            assert_eq!(observing(enough, series), LONGEST);
            assert!(observing(enough.mul_f64(0.9), series) < LONGEST);
        }
        assert_eq!(observing(Duration::from_secs(240), 3), Duration::from_secs(5));
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
        assert_eq!(needed(&parts(0, 2)), None, "two more parts must agree");
        assert_eq!(needed(&parts(0, 3)), Some(0));
    }

    #[test]
    fn a_server_that_compiles_its_handler_after_some_hundred_requests_is_not_warm_before() {
        assert_eq!(needed(&parts(300, 4)), None);
        assert_eq!(needed(&parts(300, 5)), Some(800));
        assert_eq!(needed(&parts(10_000, 20)), Some(25_600));
    }

    /// As the example in Java was seen to do it.
    #[test]
    fn a_server_that_rests_on_code_compiled_in_haste_is_not_warm() {
        let levels = [(800, 400_000), (3_200, 120_000), (51_200, 62_000), (u64::MAX, 17_000)];
        let at = |requests: u64| levels.iter().find(|(upto, _)| requests <= *upto).unwrap().1;
        let parts = |count: usize| {
            (0..count).fold(Vec::new(), |mut parts: Vec<Part>, _| {
                let size = next_part(&parts, 10);
                let cpu_ns = size * at(requests(&parts) + size);
                parts.push(Part {
                    requests: size,
                    cpu_ns,
                    wall_ns: cpu_ns,
                });
                parts
            })
        };
        assert_eq!(steady(&parts(9)), Some(5), "four parts alike");
        assert_eq!(needed(&parts(9)), None, "for 2.8 seconds");
        assert_eq!(needed(&parts(13)), Some(83_460));
        assert_eq!(warm_up_so_far(&parts(10), 1.0), open(83_460));
    }

    /// As the example in Java was seen to do it on one core, which it shares with its compiler: costs by requests, ns.
    #[test]
    fn a_server_whose_compiler_waits_for_the_core_is_not_warm_before_it_has_compiled() {
        let levels = [
            (4_000, 465_000),
            (18_000, 140_000),
            (34_000, 128_000),
            (52_000, 113_000),
            (71_000, 105_000),
            (135_000, 62_000),
            (u64::MAX, 53_000),
        ];
        let at = |requests: u64| levels.iter().find(|(upto, _)| requests <= *upto).unwrap().1;
        let mut parts: Vec<Part> = Vec::new();
        while needed(&parts).is_none() {
            let size = next_part(&parts, 10);
            let cpu_ns = (0..size).map(|more| at(requests(&parts) + more)).sum();
            parts.push(Part {
                requests: size,
                cpu_ns,
                wall_ns: cpu_ns,
            });
        }
        assert_eq!((needed(&parts), parts.len()), (Some(160_830), 16));
        assert_eq!(
            sum(&parts, |part| part.wall_ns) / 1_000_000,
            19_169,
            "known after so many ms"
        );
    }

    #[test]
    fn without_time_for_another_part_a_busy_server_is_warmed_up_by_all_and_one_that_waits_is_not() {
        let cold = parts(5_000, 2);
        assert_eq!((warm_up(&cold), warm_up_so_far(&cold, 1.0)), (None, open(400)));
        let waits: Vec<Part> = (cold.iter())
            .map(|part| Part {
                wall_ns: part.wall_ns * 10,
                ..*part
            })
            .collect();
        let known = WarmUp {
            requests: 0,
            is_known: true,
        };
        assert_eq!(warm_up_so_far(&waits, 1.0), known);
        assert_eq!(
            warm_up_so_far(&parts(0, 3), 1.0),
            open(0),
            "not looked at for long enough"
        );
        assert_eq!(
            warm_up_so_far(&waits, 10.0),
            open(400),
            "beside twenty busy programs on two cores it had its share of a core"
        );
    }

    proptest! {
        #[test]
        fn requests_that_show_as_cold_are_never_left_to_the_rounds(slow in 0u64..100_000) {
            let needed = needed(&parts_in(1_000, slow, 60)).unwrap();
            // So few cold requests at the beginning do not show in the first part.
            prop_assert!(needed >= slow || slow < FEWEST_REQUESTS / 50, "{} of {}", needed, slow);
        }
    }
}
