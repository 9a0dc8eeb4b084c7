//! Binary search for the first bad commit when some commits cannot be judged. Pure: a callback gives the verdict of a
//! commit.

use std::collections::BTreeSet;

use wirebench_record::comparison::Verdict;

/// The result of a search. Numbers are indices into the commits after the good one; the last index is the bad commit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Found {
    /// The change came with one of these, both included; one commit when they are equal.
    Among {
        /// The first that may have brought it.
        first: usize,
        /// The last that may; the first one known to be bad.
        last: usize,
    },
    /// The bad commit is not worse than the good one, so there is nothing to find.
    NotWorse(Verdict),
}

/// Bisects `count` commits. `verdict_of` gives a commit's verdict and is called at most once for each: regressed is bad,
/// unchanged or improved is good; any other verdict is skipped and a neighbour is tested instead.
///
/// # Errors
/// The first error of `verdict_of`.
pub(super) fn search<E>(count: usize, mut verdict_of: impl FnMut(usize) -> Result<Verdict, E>) -> Result<Found, E> {
    let Some(mut bad) = count.checked_sub(1) else {
        return Ok(Found::NotWorse(Verdict::Unchanged));
    };
    let verdict = verdict_of(bad)?;
    if verdict != Verdict::Regressed {
        return Ok(Found::NotWorse(verdict));
    }
    // The first place that is not known to be good.
    let mut open = 0;
    let mut unjudged = BTreeSet::new();
    while let Some(place) = next(open, bad, &unjudged) {
        match verdict_of(place)? {
            Verdict::Regressed => bad = place,
            Verdict::Unchanged | Verdict::Improved => open = place + 1,
            Verdict::Inconclusive | Verdict::Invalid | Verdict::NotJudged => {
                unjudged.insert(place);
            }
        }
    }
    Ok(Found::Among { first: open, last: bad })
}

/// The index nearest to the middle among the commits that are not tested yet.
fn next(open: usize, bad: usize, unjudged: &BTreeSet<usize>) -> Option<usize> {
    let middle = open + (bad - open) / 2;
    (open..bad)
        .filter(|place| !unjudged.contains(place))
        .min_by_key(|place| place.abs_diff(middle))
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use proptest::prelude::{Strategy, any, prop_assert, prop_assert_eq, proptest};

    use super::*;

    /// Runs a search in which `culprit` is the first bad commit and `unjudged` commits give no verdict. Also returns
    /// every index tested, in order.
    fn searched(count: usize, culprit: usize, unjudged: &BTreeSet<usize>) -> (Found, Vec<usize>) {
        let mut asked = Vec::new();
        let found = search(count, |place| {
            asked.push(place);
            Ok::<_, Infallible>(match place {
                place if unjudged.contains(&place) => Verdict::Inconclusive,
                place if place >= culprit => Verdict::Regressed,
                _ => Verdict::Unchanged,
            })
        });
        (found.unwrap(), asked)
    }

    #[test]
    fn one_commit_is_found_by_halving() {
        let (found, asked) = searched(100, 37, &BTreeSet::new());
        assert_eq!(found, Found::Among { first: 37, last: 37 });
        assert!(asked.len() <= 8, "{asked:?}");
    }

    #[test]
    fn nothing_is_searched_when_the_bad_commit_is_not_worse() {
        for verdict in [
            Verdict::Unchanged,
            Verdict::Improved,
            Verdict::Inconclusive,
            Verdict::Invalid,
        ] {
            assert_eq!(
                search(9, |_| Ok::<_, Infallible>(verdict)),
                Ok(Found::NotWorse(verdict))
            );
        }
        assert_eq!(
            search(0, |_| Err("asked")),
            Ok(Found::NotWorse(Verdict::Unchanged)),
            "no commits, no question"
        );
    }

    #[test]
    fn commits_that_tell_nothing_widen_the_answer_only_where_they_stand() {
        let (found, _) = searched(20, 10, &BTreeSet::from([8, 9, 10, 15]));
        assert_eq!(found, Found::Among { first: 8, last: 11 });
    }

    #[test]
    fn a_failure_to_ask_ends_the_search() {
        let mut left = 2;
        let found = search(50, |_| {
            left -= 1;
            if left == 0 {
                Err("interrupted")
            } else {
                Ok(Verdict::Regressed)
            }
        });
        assert_eq!(found, Err("interrupted"));
    }

    fn history() -> impl Strategy<Value = (usize, usize, BTreeSet<usize>)> {
        (
            1_usize..60,
            any::<usize>(),
            proptest::collection::btree_set(0_usize..60, 0..20),
        )
            .prop_map(|(count, culprit, mut unjudged)| {
                unjudged.retain(|place| *place + 1 < count);
                (count, culprit % count, unjudged)
            })
    }

    proptest! {
        #[test]
        fn the_answer_is_the_smallest_range_that_can_be_known((count, culprit, unjudged) in history()) {
            let (found, asked) = searched(count, culprit, &unjudged);
            let telling = |place: &usize| !unjudged.contains(place);
            let first = (0..culprit).rev().find(telling).map_or(0, |good| good + 1);
            let last = (culprit..count).find(telling);
            prop_assert_eq!(Some(found), last.map(|last| Found::Among { first, last }));
            let distinct: BTreeSet<&usize> = asked.iter().collect();
            prop_assert_eq!(distinct.len(), asked.len(), "asked twice: {:?}", asked);
            let halvings = usize::BITS - count.leading_zeros();
            prop_assert!(asked.len() <= halvings as usize + 1 + unjudged.len(), "{} of {}: {:?}", asked.len(), count, asked);
        }
    }
}
