//! Cuts a long load into equal slices, each short enough for load generators to keep every latency. Pure.

use std::time::Duration;

use wirebench_declare::load::MOST_REQUESTS;

/// The longest slice.
const LONGEST: Duration = Duration::from_secs(20);
/// The shortest slice, unless the whole load is shorter: some load generators take whole seconds only.
const SHORTEST: Duration = Duration::from_secs(1);
/// Wanted number of slices: memory is read after each, and each quarter of the readings should have some.
const WANTED: u32 = 12;

/// The number of slices of a load and the length of each, for the given highest rate (requests/s).
pub(super) fn divide(length: Duration, per_second: u32) -> (u32, Duration) {
    // A tenth is reserved for a server that gets faster later.
    let most = Duration::from_secs(MOST_REQUESTS * 9 / 10 / u64::from(per_second.max(1)));
    let wanted = Duration::from_secs((length / WANTED).as_secs());
    let slice = wanted.min(most).clamp(SHORTEST, LONGEST).min(length);
    let count = length.as_nanos().div_ceil(slice.as_nanos().max(1));
    (u32::try_from(count).unwrap_or(u32::MAX), slice)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn ten_minutes_are_thirty_slices_and_a_moment_is_a_few() {
        let seconds = Duration::from_secs;
        assert_eq!(divide(seconds(600), 1_000), (30, seconds(20)));
        assert_eq!(divide(seconds(600), 100_000), (67, seconds(9)));
        assert_eq!(divide(seconds(60), 1_000), (12, seconds(5)));
        assert_eq!(divide(seconds(3), 1_000), (3, seconds(1)));
        assert_eq!(
            divide(Duration::from_millis(500), 1_000),
            (1, Duration::from_millis(500))
        );
    }

    proptest! {
        #[test]
        fn no_slice_holds_too_many_requests(length in 1u64..100_000_000, per_second in 1u32..900_000) {
            let length = Duration::from_millis(length);
            let (count, slice) = divide(length, per_second);
            prop_assert!(slice <= LONGEST && slice * count >= length);
            prop_assert!(slice.as_secs_f64() * f64::from(per_second) < MOST_REQUESTS as f64);
        }
    }
}
