//! A published monthly estimate, and the resources that the same requests take here.

use crate::claims::figures::{figure, median_of, pair};
use crate::claims::judged::DAYS;
use crate::claims::judged::{RequestUse, month};
use crate::claims::prices::Prices;
use crate::claims::publication::Month;
use wirebench_present::report::format::{count, plain, three_digits};
use wirebench_present::report::table::{Table, number, text};
use wirebench_record::metric::Metric;
use wirebench_record::run::Run;

/// The table; empty if the run has not measured both sides.
pub(super) fn section(estimate: &Month, run: &Run, prices: Option<&Prices>) -> String {
    let Some(taken) = month(estimate, run) else {
        return String::new();
    };
    let day = estimate.requests_per_day;
    let row = |what: &str, cell: &dyn Fn(&RequestUse) -> String| [what.to_owned(), cell(&taken[0]), cell(&taken[1])];
    let or_dash = |value: Option<f64>| value.map_or("–".into(), figure);
    let [published, of_second] = estimate.published_gb.map(figure);
    let mut rows = vec![
        row("CPU, hours of one core", &|one| three_digits(one.core_hours(day))),
        row("memory held, GiB", &|one| three_digits(one.memory_gib())),
        row("sent by all tiers, GB", &|one| or_dash(one.sent_gb(day))),
        ["published traffic, GB".to_owned(), published, of_second],
    ];
    if let Some(prices) = prices {
        rows.extend(costs(&taken, day, prices));
    }
    let [first, second] = [&estimate.sides[0], &estimate.sides[1]].map(|side| plain(side));
    let head = format!("a month of {} requests a day", count(day));
    let assumed = day / 86_400.0;
    let is_reverse = taken[1].cpu_s > taken[0].cpu_s && estimate.published_gb[1] < estimate.published_gb[0];
    let reverse = if is_reverse {
        format!(" {second} takes more CPU here, the reverse of the published saving.")
    } else {
        String::new()
    };
    let rate = rate_of(estimate, run).map_or_else(String::new, |rate| {
        let [rate, assumed] = [rate, assumed].map(figure);
        format!(" CPU per request was measured at {rate} requests/s; the assumption is {assumed} a second on average, and at a lower rate a request takes more CPU.")
    });
    format!(
        "### What a month takes\n\nTheir assumption is {} requests a day. Measured with `{}` and `{}`, all processes; a month has {DAYS} days.{rate}{reverse}\n\n{}\n{}\n\n",
        count(day),
        plain(&estimate.pair[0]),
        plain(&estimate.pair[1]),
        Table::new([text(head), number(first), number(second)], rows).markdown(),
        about(prices)
    )
}

/// The rate that both sides were measured at, requests/s: the median of the first side.
fn rate_of(estimate: &Month, run: &Run) -> Option<f64> {
    let [first, _] = pair(run, &estimate.pair)?;
    median_of(first, |round| Metric::Throughput.of(round))
}

/// The prices; without any, how to get the costs.
fn about(prices: Option<&Prices>) -> String {
    let Some(prices) = prices else {
        return "With your prices: `lab claims RUN --cost prices.toml` (`lab/prices.toml` is one).".into();
    };
    let currency = plain(&prices.currency);
    format!(
        "Prices: {}: {} {currency} a core hour, {} {currency} a GiB hour, {} {currency} a GB sent.",
        plain(&prices.about),
        prices.cpu_core_hour,
        prices.memory_gib_hour,
        prices.network_gb
    )
}

/// The costs of both sides, for the published number of requests and for the user's.
fn costs(taken: &[RequestUse; 2], day: f64, prices: &Prices) -> [[String; 3]; 2] {
    let currency = plain(&prices.currency);
    [(day, "theirs"), (prices.requests_per_day, "yours")].map(|(requests, whose)| {
        let cost = |one: &RequestUse| one.price(requests, prices).map_or("–".into(), three_digits);
        let what = format!("{currency}, {} requests a day ({whose})", count(requests));
        [what, cost(&taken[0]), cost(&taken[1])]
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn costs_are_given_for_their_assumption_and_for_the_users() {
        let run: Run = serde_json::from_str(include_str!("../../../results/comparisons/A/run.json")).unwrap();
        let estimate = Month {
            requests_per_day: 1e6,
            sides: ["HTTP inside".into(), "gRPC inside".into()],
            pair: ["a-rate@three-tier-http@k6", "a-rate@three-tier-grpc@k6"].map(str::to_owned),
            published_gb: [130.0, 52.0],
        };
        let shown = section(&estimate, &run, None);
        for needed in [
            "| published traffic, GB | 130 | 52.0 |",
            "1,000,000 requests a day",
            "--cost prices.toml",
            "the assumption is 11.6 a second on average",
            "gRPC inside takes more CPU here, the reverse of the published saving",
        ] {
            assert!(shown.contains(needed), "no {needed:?} in\n{shown}");
        }
        let prices = Prices {
            about: "made up".into(),
            currency: "EUR".into(),
            requests_per_day: 5e6,
            cpu_core_hour: 0.04,
            memory_gib_hour: 0.005,
            network_gb: 0.09,
        };
        let shown = section(&estimate, &run, Some(&prices));
        for needed in [
            "| EUR, 1,000,000 requests a day (theirs) | ",
            "| EUR, 5,000,000 requests a day (yours) | ",
            "Prices: made up",
        ] {
            assert!(shown.contains(needed), "no {needed:?} in\n{shown}");
        }
        assert_eq!(
            section(
                &Month {
                    pair: ["a@b@c".into(), "a@b@d".into()],
                    ..estimate
                },
                &run,
                None
            ),
            ""
        );
    }
}
