//! A published monthly estimate beside what the same requests take here.

use std::fmt::Write as _;

use crate::claims::document::figure;
use crate::report::format::{count, plain, three_digits};
use wirebench_declare::claims::Month;
use wirebench_declare::prices::Prices;
use wirebench_judge::claims::{RequestUse, month};
use wirebench_judge::summary::cost::{DAYS, Rates};
use wirebench_record::run::Run;

/// The table; empty where the run has not measured both sides.
pub(super) fn section(estimate: &Month, run: &Run, prices: Option<&Prices>) -> String {
    let Some(taken) = month(estimate, run) else {
        return String::new();
    };
    let day = estimate.requests_per_day;
    let [first, second] = [&estimate.sides[0], &estimate.sides[1]].map(|side| plain(side));
    let mut out = format!(
        "### What a month takes\n\nTheir assumption is {} requests a day. Measured with `{}` and `{}`, all processes; a month has {DAYS} days.\n\n\
         | a month of {} requests a day | {first} | {second} |\n|---|--:|--:|\n",
        count(day),
        plain(&estimate.pair[0]),
        plain(&estimate.pair[1]),
        count(day)
    );
    let mut row = |what: &str, cell: &dyn Fn(&RequestUse) -> String| {
        let _ = writeln!(out, "| {what} | {} | {} |", cell(&taken[0]), cell(&taken[1]));
    };
    let or_dash = |value: Option<f64>| value.map_or("–".into(), figure);
    row("CPU, hours of one core", &|one| three_digits(one.core_hours(day)));
    row("memory held, GiB", &|one| three_digits(one.memory_gib()));
    row("sent by all tiers, GB", &|one| or_dash(one.sent_gb(day)));
    let [theirs, other] = estimate.published_gb.map(figure);
    let _ = writeln!(out, "| published traffic, GB | {theirs} | {other} |");
    out.push_str(&priced(&taken, day, prices));
    out
}

/// The same in money, at their number of requests and at the user's; how to get it where there are no prices.
fn priced(taken: &[RequestUse; 2], day: f64, prices: Option<&Prices>) -> String {
    let Some(prices) = prices else {
        return "\nWith your prices: `wirebench claims RUN --cost prices.toml` (`examples/cost/prices.toml` is one).\n\n".into();
    };
    let rates = Rates {
        requests_per_day: prices.requests_per_day,
        cpu_core_hour: prices.cpu_core_hour,
        memory_gib_hour: prices.memory_gib_hour,
        network_gb: prices.network_gb,
    };
    let currency = plain(&prices.currency);
    let line = |requests: f64, whose: &str| {
        let cell = |one: &RequestUse| one.price(requests, &rates).map_or("–".into(), three_digits);
        format!(
            "| {currency}, {} requests a day ({whose}) | {} | {} |\n",
            count(requests),
            cell(&taken[0]),
            cell(&taken[1])
        )
    };
    format!(
        "{}{}\nPrices: {}: {} {currency} a core hour, {} {currency} a GiB hour, {} {currency} a GB sent.\n\n",
        line(day, "theirs"),
        line(prices.requests_per_day, "yours"),
        plain(&prices.about),
        prices.cpu_core_hour,
        prices.memory_gib_hour,
        prices.network_gb
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn their_assumption_and_the_users_prices_stand_beside_each_other() {
        let run: Run = serde_json::from_str(include_str!("../../../../results/comparisons/A/run.json")).unwrap();
        let estimate = Month {
            requests_per_day: 1e6,
            sides: ["HTTP inside".into(), "gRPC inside".into()],
            pair: ["a-rate@three-tier-http@k6", "a-rate@three-tier-grpc@k6"].map(str::to_owned),
            published_gb: [130.0, 52.0],
        };
        let said = section(&estimate, &run, None);
        for needed in [
            "| published traffic, GB | 130 | 52.0 |",
            "1,000,000 requests a day",
            "--cost prices.toml",
        ] {
            assert!(said.contains(needed), "no {needed:?} in\n{said}");
        }
        let prices = Prices {
            about: "made up".into(),
            currency: "EUR".into(),
            requests_per_day: 5e6,
            cpu_core_hour: 0.04,
            memory_gib_hour: 0.005,
            network_gb: 0.09,
        };
        let said = section(&estimate, &run, Some(&prices));
        for needed in [
            "| EUR, 1,000,000 requests a day (theirs) | ",
            "| EUR, 5,000,000 requests a day (yours) | ",
            "Prices: made up",
        ] {
            assert!(said.contains(needed), "no {needed:?} in\n{said}");
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
