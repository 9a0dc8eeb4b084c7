//! Splits a load over several pods, so that their parts add up to it exactly.

use wirebench_declare::load::{LoadStage, Rate};
use wirebench_declare::plan::PlannedSeries;
use wirebench_declare::scenario::{Amount, Load};

/// The part of `whole` that pod `index` of `pods` gets: as equal as can be, the first pods one more.
fn part(whole: u32, pods: u32, index: u32) -> u32 {
    whole / pods + u32::from(index < whole % pods)
}

/// The load of pod `index` of `pods`. Numbers of requests follow the connections.
pub(crate) fn of(load: &Load, pods: u32, index: u32) -> Load {
    let share = |whole| part(whole, pods, index);
    let connections = share(load.connections);
    let amount = match &load.amount {
        Amount::Requests(requests) => {
            let workers = u64::from(load.workers());
            let each = requests / workers;
            let rest = if index == 0 { requests % workers } else { 0 };
            Amount::Requests(each * u64::from(connections) * u64::from(load.streams) + rest)
        }
        Amount::Stages(stages) => Amount::Stages(
            stages
                .iter()
                .map(|stage| LoadStage {
                    connections: share(stage.connections),
                    ..*stage
                })
                .collect(),
        ),
        other => other.clone(),
    };
    Load {
        connections,
        amount,
        rate: load.rate.map(|rate| match rate {
            Rate::PerSecond(rate) => Rate::PerSecond(share(rate)),
            share @ Rate::OfCapacity(_) => share,
        }),
        ..load.clone()
    }
}

/// True if a series can be measured on a cluster by that many load pods: it loads a server without TLS, at no rate or at a known one,
/// and every pod gets at least one connection and one request per second.
#[must_use]
pub fn fits(series: &PlannedSeries, pods: u32) -> bool {
    let load = &series.load;
    let loads = matches!(
        load.amount,
        Amount::Requests(_) | Amount::Duration(_) | Amount::Stages(_)
    );
    let rate = match load.rate {
        None => true,
        Some(Rate::PerSecond(rate)) => rate >= pods,
        Some(Rate::OfCapacity(_)) => false,
    };
    loads && rate && load.search.is_none() && load.connections >= pods && !series.protocol.has_tls()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use wirebench_declare::span::Span;

    proptest! {
        #[test]
        fn parts_add_up_and_differ_by_one_connection_at_most(
            connections in 1u32..2_000, streams in 1u32..5, each in 1u64..500, rate in 1u32..20_000, pods in 1u32..101, more in 0u64..7
        ) {
            prop_assume!(connections >= pods);
            let requests = each * u64::from(connections) * u64::from(streams) + more;
            let load = Load {
                streams,
                rate: Some(Rate::PerSecond(rate)),
                ..Load::closed(connections, Amount::Requests(requests))
            };
            let parts: Vec<Load> = (0..pods).map(|index| of(&load, pods, index)).collect();
            let sum = |what: fn(&Load) -> u64| parts.iter().map(what).sum::<u64>();
            prop_assert_eq!(sum(|one| u64::from(one.connections)), u64::from(connections));
            prop_assert_eq!(sum(|one| match one.amount { Amount::Requests(requests) => requests, _ => 0 }), requests);
            prop_assert_eq!(sum(|one| match one.rate { Some(Rate::PerSecond(rate)) => u64::from(rate), _ => 0 }), u64::from(rate));
            let most = parts.iter().map(|one| one.connections).max().unwrap();
            let least = parts.iter().map(|one| one.connections).min().unwrap();
            prop_assert!(most - least <= 1);
        }
    }

    #[test]
    fn stages_are_shared_one_by_one_and_durations_are_not() {
        let seconds = |count| Span(std::time::Duration::from_secs(count));
        let stage = |connections| LoadStage {
            connections,
            duration: seconds(1),
        };
        let load = Load::closed(7, Amount::Stages(vec![stage(7), stage(0)]));
        let second = of(&load, 2, 1);
        assert_eq!(second.connections, 3);
        assert_eq!(second.amount, Amount::Stages(vec![stage(3), stage(0)]));
        let timed = Load::closed(7, Amount::Duration(seconds(2)));
        assert_eq!(of(&timed, 2, 0).amount, Amount::Duration(seconds(2)));
    }
}
