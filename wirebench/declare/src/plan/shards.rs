//! Splits the series of a run over several machines that measure at the same time. Pure.
//!
//! Series that are compared with each other stay on one machine as long as the machines end at about the same time:
//! first all of a scenario, else those of one driver in it, else single series. The variants of a series are never
//! separated.

use std::cmp::Reverse;

use wirebench_record::shards::PlannedShard;

/// How much longer than necessary the slowest shard may take to keep a scenario together: by a tenth.
const SLACK: (u128, u128) = (11, 10);

/// A series to be placed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Item<'a> {
    /// `scenario@server@driver`.
    pub id: &'a str,
    /// The scenario's name.
    pub scenario: &'a str,
    /// The driver's name.
    pub driver: &'a str,
    /// How long it is expected to take, ns.
    pub expected_ns: u64,
}

/// How much stays together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Together {
    Scenario,
    Driver,
    Nothing,
}

/// Series that go to one shard.
#[derive(Debug, Clone)]
struct Group {
    by: Together,
    /// Places among the items, in order.
    members: Vec<usize>,
}

/// Places every series in one of so many shards, at least one: longest group first, each on the shard that has least. The
/// same items give the same shards; shards may stay empty.
#[must_use]
pub fn split(items: &[Item], shards: u32) -> Vec<PlannedShard> {
    let count = shards.max(1) as usize;
    let all = Group {
        by: Together::Scenario,
        members: (0..items.len()).collect(),
    };
    let mut groups = parted(items, &all, Together::Scenario);
    let single = parted(items, &all, Together::Nothing);
    let best = longest(items, &placed(items, &single, count));
    loop {
        let shards = placed(items, &groups, count);
        let balanced = longest(items, &shards) * SLACK.1 <= best * SLACK.0;
        let Some(next) = (!balanced).then(|| to_part(items, &groups)).flatten() else {
            return (1..)
                .zip(shards)
                .map(|(number, members)| shard(items, number, members))
                .collect();
        };
        let group = groups.remove(next);
        let finer = match group.by {
            Together::Scenario => Together::Driver,
            Together::Driver | Together::Nothing => Together::Nothing,
        };
        groups.extend(parted(items, &group, finer));
    }
}

/// The group that is split next: the longest one that can be split.
fn to_part(items: &[Item], groups: &[Group]) -> Option<usize> {
    let can = groups
        .iter()
        .enumerate()
        .filter(|(_, group)| group.by != Together::Nothing);
    can.max_by_key(|(_, group)| (cost(items, &group.members), Reverse(group.members.clone())))
        .map(|(place, _)| place)
}

/// Splits a group into smaller ones, in the order of its series.
fn parted(items: &[Item], group: &Group, by: Together) -> Vec<Group> {
    let mut found: Vec<Group> = Vec::new();
    for member in &group.members {
        let item = &items[*member];
        let with = |other: &usize| match by {
            Together::Scenario => items[*other].scenario == item.scenario,
            Together::Driver => (items[*other].scenario, items[*other].driver) == (item.scenario, item.driver),
            Together::Nothing => false,
        };
        match found.iter_mut().find(|group| group.members.first().is_some_and(with)) {
            Some(group) => group.members.push(*member),
            None => found.push(Group {
                by,
                members: vec![*member],
            }),
        }
    }
    found
}

/// Longest processing time first; equal ones in their order, equal shards by their number.
fn placed(items: &[Item], groups: &[Group], count: usize) -> Vec<Vec<usize>> {
    let mut order: Vec<&Group> = groups.iter().collect();
    order.sort_by_key(|group| (Reverse(cost(items, &group.members)), group.members.first().copied()));
    let mut shards: Vec<Vec<usize>> = vec![Vec::new(); count];
    for group in order {
        let least = shards.iter_mut().min_by_key(|members| cost(items, members));
        least.expect("there is at least one shard").extend(&group.members);
    }
    shards
}

fn cost(items: &[Item], members: &[usize]) -> u128 {
    members
        .iter()
        .map(|member| u128::from(items[*member].expected_ns))
        .sum()
}

fn longest(items: &[Item], shards: &[Vec<usize>]) -> u128 {
    shards.iter().map(|members| cost(items, members)).max().unwrap_or(0)
}

fn shard(items: &[Item], number: u32, mut members: Vec<usize>) -> PlannedShard {
    members.sort_unstable();
    PlannedShard {
        number,
        expected_ns: u64::try_from(cost(items, &members)).unwrap_or(u64::MAX),
        series: members.iter().map(|member| items[*member].id.to_owned()).collect(),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::{prop_assert, prop_assert_eq, proptest};
    use proptest::strategy::Strategy;

    use super::*;

    /// Parses items from `scenario@server@driver ns`.
    fn items<'a>(said: &'a [String]) -> Vec<Item<'a>> {
        let item = |line: &'a String| {
            let (id, expected) = line.split_once(' ').unwrap();
            let parts: Vec<&str> = id.split('@').collect();
            Item {
                id,
                scenario: parts[0],
                driver: parts[2],
                expected_ns: expected.parse().unwrap(),
            }
        };
        said.iter().map(item).collect()
    }

    fn shards(said: &[&str], count: u32) -> Vec<Vec<String>> {
        let said: Vec<String> = said.iter().map(|line| (*line).to_owned()).collect();
        split(&items(&said), count)
            .into_iter()
            .map(|shard| shard.series)
            .collect()
    }

    #[test]
    fn a_scenario_stays_together_where_that_keeps_the_balance() {
        let said = ["a@h@x 10", "a@g@x 10", "b@h@x 9", "b@g@x 10", "c@h@x 3", "d@h@x 3"];
        assert_eq!(
            shards(&said, 2),
            [vec!["a@h@x", "a@g@x", "d@h@x"], vec!["b@h@x", "b@g@x", "c@h@x"]]
        );
    }

    #[test]
    fn what_one_driver_asks_stays_together_longer_than_a_scenario() {
        let said = ["a@h@x 10", "a@g@x 10", "a@h@y 10", "a@g@y 10"];
        assert_eq!(shards(&said, 2), [["a@h@x", "a@g@x"], ["a@h@y", "a@g@y"]]);
        let said = ["a@h@x 10", "a@g@x 10"];
        assert_eq!(shards(&said, 2), [["a@h@x"], ["a@g@x"]]);
    }

    #[test]
    fn shards_that_get_nothing_are_there() {
        assert_eq!(shards(&["a@h@x 1"], 3), [vec!["a@h@x"], vec![], vec![]]);
        assert_eq!(shards(&[], 0), [Vec::<String>::new()]);
    }

    fn said() -> impl Strategy<Value = Vec<String>> {
        let one = (0u8..5, 0u8..3, 0u64..1000).prop_map(|(scenario, driver, ns)| (scenario, driver, ns));
        proptest::collection::vec(one, 0..30).prop_map(|all| {
            let line = |(n, (scenario, driver, ns)): (usize, (u8, u8, u64))| format!("s{scenario}@n{n}@d{driver} {ns}");
            all.into_iter().enumerate().map(line).collect()
        })
    }

    proptest! {
        #[test]
        fn every_series_is_in_one_shard_and_the_shards_are_balanced(said in said(), count in 1u32..6) {
            let items = items(&said);
            let shards = split(&items, count);
            prop_assert_eq!(&shards, &split(&items, count));
            prop_assert_eq!(shards.len(), count as usize);
            let mut placed: Vec<&str> = shards.iter().flat_map(|shard| &shard.series).map(String::as_str).collect();
            placed.sort_unstable();
            let mut all: Vec<&str> = items.iter().map(|item| item.id).collect();
            all.sort_unstable();
            prop_assert_eq!(placed, all);
            // Of single series, longest first is never longer than an equal share and the longest series together.
            let total: u64 = items.iter().map(|item| item.expected_ns).sum();
            let most = items.iter().map(|item| item.expected_ns).max().unwrap_or(0);
            let slowest = shards.iter().map(|shard| shard.expected_ns).max().unwrap();
            prop_assert!(slowest * 10 <= (total / u64::from(count) + most + 1) * 11, "{shards:#?}");
        }
    }
}
