//! Which part of a run each of several machines measures. Pure: every machine computes the same parts.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::str::FromStr;

/// The most machines that can share a run.
const MOST: u32 = 256;

/// One of several machines that share a run, written `2/3`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shard {
    /// From 1.
    pub number: u32,
    /// How many there are.
    pub count: u32,
}

impl Shard {
    /// The ids of the series that it measures, of all series as scenario and id. The servers of a scenario are compared with each
    /// other, so whole scenarios stay on one machine: the longest first, each on the machine that has the fewest series. Only
    /// where there are fewer scenarios than machines, single series are distributed in the same way.
    pub fn part<'a>(self, series: impl Iterator<Item = (&'a str, &'a str)>) -> BTreeSet<String> {
        let mut groups: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
        for (scenario, id) in series {
            groups.entry(scenario).or_default().push(id);
        }
        let mut groups: Vec<Vec<&str>> = groups.into_values().collect();
        if groups.len() < self.count as usize {
            groups = groups.into_iter().flatten().map(|id| vec![id]).collect();
        }
        groups.sort_by_key(|ids| Reverse(ids.len()));
        let mut parts: Vec<Vec<&str>> = vec![Vec::new(); self.count as usize];
        for ids in groups {
            let shortest = parts.iter_mut().min_by_key(|part| part.len());
            shortest.expect("there is at least one shard").extend(ids);
        }
        let own = parts.into_iter().nth(self.number as usize - 1).unwrap_or_default();
        own.into_iter().map(str::to_owned).collect()
    }
}

impl FromStr for Shard {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let numbers = text.split_once('/').and_then(|(number, count)| {
            let (number, count) = (number.parse().ok()?, count.parse().ok()?);
            ((1..=count).contains(&number) && count <= MOST).then_some(Self { number, count })
        });
        numbers.ok_or_else(|| {
            format!("expected NUMBER/COUNT, such as 1/2 for the first of two, and at most {MOST} of them")
        })
    }
}

impl fmt::Display for Shard {
    fn fmt(&self, out: &mut fmt::Formatter) -> fmt::Result {
        write!(out, "{}/{}", self.number, self.count)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::{Strategy, prop_assert, prop_assert_eq, proptest};

    use super::*;

    fn parts(ids: &[String], count: u32) -> Vec<Vec<String>> {
        let series = || ids.iter().map(|id| (id.split('@').next().unwrap(), id.as_str()));
        let part = |number| Shard { number, count }.part(series()).into_iter().collect();
        (1..=count).map(part).collect()
    }

    fn named(ids: &[&str], count: u32) -> Vec<Vec<String>> {
        let ids: Vec<String> = ids.iter().map(|id| (*id).to_owned()).collect();
        parts(&ids, count)
    }

    #[test]
    fn scenarios_stay_together_unless_there_are_too_few_of_them() {
        let ids = ["a@h@x", "b@g@x", "b@h@x", "b@h@y", "c@h@x"];
        assert_eq!(
            named(&ids, 2),
            [vec!["b@g@x", "b@h@x", "b@h@y"], vec!["a@h@x", "c@h@x"]]
        );
        assert_eq!(
            named(&["a@g@x", "a@h@x", "a@h@y"], 2),
            [vec!["a@g@x", "a@h@y"], vec!["a@h@x"]]
        );
        assert_eq!(named(&["a@h@x"], 3), [vec!["a@h@x"], vec![], vec![]]);
    }

    #[test]
    fn shards_are_written_as_number_and_count() {
        assert_eq!("2/3".parse(), Ok(Shard { number: 2, count: 3 }));
        assert_eq!("2/3".parse::<Shard>().unwrap().to_string(), "2/3");
        for wrong in ["", "2", "0/2", "3/2", "1/0", "1/2/3", "a/b", "-1/2", "1/257"] {
            assert!(wrong.parse::<Shard>().unwrap_err().contains("such as 1/2"), "{wrong}");
        }
    }

    fn ids() -> impl Strategy<Value = Vec<String>> {
        proptest::collection::vec(0u8..5, 0..30).prop_map(|scenarios| {
            let named = scenarios.into_iter().enumerate();
            named.map(|(n, scenario)| format!("s{scenario}@n{n}@d")).collect()
        })
    }

    proptest! {
        #[test]
        fn every_series_is_in_one_part_and_the_parts_are_balanced(ids in ids(), count in 1u32..6) {
            let parts = parts(&ids, count);
            let mut placed: Vec<&String> = parts.iter().flatten().collect();
            placed.sort_unstable();
            let mut all: Vec<&String> = ids.iter().collect();
            all.sort_unstable();
            prop_assert_eq!(placed, all);
            // Longest first is never longer than an equal share and the longest scenario together.
            let longest = (0..5).map(|n| ids.iter().filter(|id| id.starts_with(&format!("s{n}@"))).count()).max().unwrap();
            let most = parts.iter().map(Vec::len).max().unwrap();
            prop_assert!(most <= ids.len() / count as usize + longest + 1, "{parts:?}");
        }
    }
}
