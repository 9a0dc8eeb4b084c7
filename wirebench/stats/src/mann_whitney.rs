//! Compares two rows of numbers, before and after, by ranks: Mann–Whitney test and Hodges–Lehmann shift.

use std::sync::LazyLock;

/// The most values on either side that the tables hold.
pub const LARGEST: usize = 30;
/// The fewest values on either side for which the normal approximation is used where the tables end.
const FEWEST_FOR_NORMAL: usize = 8;

/// Significance levels, one-sided.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Level {
    /// 0.001.
    Thousandth,
    /// 0.02.
    Fiftieth,
    /// 0.025: both sides together leave an interval of 95 %.
    Interval,
    /// 0.05.
    Twentieth,
}

const LEVELS: [f64; 4] = [0.001, 0.02, 0.025, 0.05];
/// The quantiles of the normal distribution that each level leaves above.
const NORMAL: [f64; LEVELS.len()] = [3.090_232, 2.053_749, 1.959_964, 1.644_854];

/// Least U whose upper tail is at most each level's, by `[after][before]`; `None` if no U is that improbable.
type Table = Vec<Vec<[Option<u16>; LEVELS.len()]>>;

static TABLE: LazyLock<Table> = LazyLock::new(table);

/// The critical value of U, the number of pairs in which the value after is above the one before (a tie counts half): U
/// reaches it with at most the level's probability if both rows are from one distribution, whatever the distribution. Ties
/// make it less probable. Above [`LARGEST`] values by the normal approximation. `None` with too few values.
pub fn critical(before: usize, after: usize, level: Level) -> Option<u16> {
    if before.max(after) <= LARGEST {
        return TABLE[after][before][level as usize];
    }
    (before.min(after) >= FEWEST_FOR_NORMAL).then(|| normal(before, after, level))?
}

#[expect(clippy::cast_sign_loss, reason = "is positive")]
fn normal(before: usize, after: usize, level: Level) -> Option<u16> {
    let (pairs, values) = ((before * after) as f64, (before + after) as f64);
    let spread = (pairs * (values + 1.0) / 12.0).sqrt();
    let least = (pairs / 2.0 + NORMAL[level as usize] * spread + 0.5).ceil();
    (least <= f64::from(u16::MAX)).then_some(least as u16)
}

/// Counts the arrangements with each U by Mann and Whitney's recursion on the largest value, and finds where the tails begin.
fn table() -> Table {
    let mut fewer_after: Vec<Vec<f64>> = vec![vec![1.0]; LARGEST + 1];
    let mut out = vec![vec![[None; LEVELS.len()]; LARGEST + 1]];
    for after in 1..=LARGEST {
        let mut layer: Vec<Vec<f64>> = vec![vec![1.0]];
        let mut row = vec![[None; LEVELS.len()]];
        for before in 1..=LARGEST {
            let counts: Vec<f64> = (0..=after * before)
                .map(|u| {
                    let largest_is_after = u.checked_sub(before).and_then(|rest| fewer_after[before].get(rest));
                    largest_is_after.unwrap_or(&0.0) + layer[before - 1].get(u).unwrap_or(&0.0)
                })
                .collect();
            row.push(LEVELS.map(|level| cut(&counts, level)));
            layer.push(counts);
        }
        out.push(row);
        fewer_after = layer;
    }
    out
}

fn cut(counts: &[f64], level: f64) -> Option<u16> {
    let all: f64 = counts.iter().sum();
    let mut tail = 0.0;
    let mut least = None;
    for (u, count) in counts.iter().enumerate().rev() {
        tail += count;
        if tail > level * all {
            break;
        }
        least = u16::try_from(u).ok();
    }
    least
}

/// Twice U, so that ties stay whole numbers: see [`critical`].
pub fn twice_u(before: &[f64], after: &[f64]) -> usize {
    let mut twice = 0;
    for late in after {
        for early in before {
            twice += usize::from(late > early) + usize::from(late >= early);
        }
    }
    twice
}

/// Whether the rows differ at a level; `Some(true)` if the values after are higher.
pub fn differ(before: &[f64], after: &[f64], level: Level) -> Option<bool> {
    let needed = 2 * usize::from(critical(before.len(), after.len(), level)?);
    let twice = twice_u(before, after);
    let mirrored = 2 * before.len() * after.len() - twice;
    (twice.max(mirrored) >= needed).then_some(twice > mirrored)
}

/// The shift from the values before to the values after.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Shift {
    /// Hodges–Lehmann: the median of all differences between a value after and one before.
    pub estimate: f64,
    /// Lower end of the 95 % interval.
    pub low: f64,
    /// Upper end of the 95 % interval.
    pub high: f64,
}

/// The shift between two rows with its exact distribution-free interval (Moses); `None` if either is empty. With too few
/// values for 95 %, the interval spans all differences.
pub fn shift(before: &[f64], after: &[f64]) -> Option<Shift> {
    let mut differences: Vec<f64> = after
        .iter()
        .flat_map(|late| before.iter().map(move |early| late - early))
        .collect();
    let count = differences.len();
    let last = count.checked_sub(1)?;
    let outside = critical(before.len(), after.len(), Level::Interval).map_or(0, |least| count - usize::from(least));
    let mut nth = |place: usize| *differences.select_nth_unstable_by(place.min(last), f64::total_cmp).1;
    Some(Shift {
        estimate: f64::midpoint(nth(last / 2), nth(count / 2)),
        low: nth(outside),
        high: nth(last - outside.min(last)),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// U of every arrangement of two small rows, counted one by one.
    fn tail(before: usize, after: usize, least: usize) -> f64 {
        let (mut hits, mut all) = (0.0, 0.0);
        for chosen in 0u32..1 << (before + after) {
            if chosen.count_ones() as usize != after {
                continue;
            }
            let (mut u, mut below) = (0, 0);
            for place in 0..before + after {
                if chosen >> place & 1 == 1 {
                    u += below;
                } else {
                    below += 1;
                }
            }
            all += 1.0;
            hits += f64::from(u8::from(u >= least));
        }
        hits / all
    }

    #[test]
    fn critical_values_are_those_of_counting_every_arrangement() {
        for (before, after) in [(3, 3), (6, 7), (9, 5), (12, 4), (8, 8)] {
            for (level, p) in [
                (Level::Thousandth, 0.001),
                (Level::Fiftieth, 0.02),
                (Level::Twentieth, 0.05),
            ] {
                match critical(before, after, level) {
                    Some(least) => {
                        let least = usize::from(least);
                        assert!(tail(before, after, least) <= p, "{before} {after} {p}");
                        assert!(tail(before, after, least - 1) > p, "{before} {after} {p}");
                    }
                    None => assert!(tail(before, after, before * after) > p, "{before} {after} {p}"),
                }
            }
        }
    }

    #[test]
    fn tables_of_the_literature() {
        // Two-sided 5 %, n = m = 10: U ≤ 23 is significant (Mann and Whitney's table), so 100 − 23 above.
        assert_eq!(critical(10, 10, Level::Interval), Some(77));
        assert_eq!(critical(20, 8, Level::Interval), Some(160 - 41));
        assert_eq!(critical(31, 5, Level::Interval), None);
    }

    #[test]
    fn where_the_tables_end_the_normal_approximation_is_close() {
        for before in FEWEST_FOR_NORMAL..=LARGEST {
            for level in [Level::Thousandth, Level::Fiftieth, Level::Interval, Level::Twentieth] {
                let (exact, normal) = (critical(before, LARGEST, level), normal(before, LARGEST, level));
                let more = i32::from(normal.unwrap()) - i32::from(exact.unwrap());
                assert!((-1..=4).contains(&more), "{before} {level:?}: {exact:?} {normal:?}");
            }
        }
        let (low, high): (Vec<f64>, Vec<f64>) = (0..43).map(|i| (f64::from(i % 5), f64::from(i % 5) + 3.0)).unzip();
        assert_eq!(differ(&low, &high, Level::Thousandth), Some(true));
        assert_eq!(differ(&low, &low, Level::Twentieth), None);
        assert_eq!(critical(400, 400, Level::Twentieth), None, "U has 16 bits");
    }

    #[test]
    fn the_shift_of_two_known_rows() {
        let found = shift(&[1.0, 2.0, 3.0, 4.0, 5.0], &[11.0, 12.0, 13.0, 14.0, 15.0]).unwrap();
        assert_eq!((found.estimate, found.low, found.high), (10.0, 7.0, 13.0));
        assert_eq!(shift(&[], &[1.0]), None);
    }

    proptest! {
        #[test]
        fn swapping_the_rows_mirrors_everything(
            before in prop::collection::vec(-50i32..50, 1..30), after in prop::collection::vec(-50i32..50, 1..30)
        ) {
            let [before, after] = [before, after].map(|row| row.into_iter().map(f64::from).collect::<Vec<f64>>());
            let (there, back) = (shift(&before, &after).unwrap(), shift(&after, &before).unwrap());
            prop_assert_eq!(there.estimate, -back.estimate);
            prop_assert_eq!((there.low, there.high), (-back.high, -back.low));
            prop_assert!(there.low <= there.estimate && there.estimate <= there.high);
            let level = Level::Twentieth;
            prop_assert_eq!(differ(&before, &after, level), differ(&after, &before, level).map(|up| !up));
        }
    }
}
