//! The monthly cost estimate of a run: a table and the formula behind it.

use std::fmt::Write as _;

use crate::report::format::{bytes, count, plain, three_digits, time};
use wirebench_judge::summary::cost::{Cost, DAYS, Rates};

/// The estimate as Markdown. `about` says where the prices come from, `currency` what they are in.
#[must_use]
pub fn render(costs: &[Cost], rates: &Rates, about: &str, currency: &str) -> String {
    let (about, currency) = (plain(about), plain(currency));
    let mut out = String::from("# What a month would cost\n\n");
    let _ = writeln!(
        out,
        "{} requests a day, {about}: {} {currency} a core hour, {} {currency} a GiB hour, {} {currency} a GB sent.\n",
        count(rates.requests_per_day),
        rates.cpu_core_hour,
        rates.memory_gib_hour,
        rates.network_gb
    );
    let _ = writeln!(
        out,
        "| scenario | server | protocol | driver | CPU a request | memory | sent a request | CPU, {currency} | memory, {currency} | network, {currency} | month, {currency} |"
    );
    out.push_str("|---|---|---|---|--:|--:|--:|--:|--:|--:|--:|\n");
    for cost in costs {
        let series = cost.row.series;
        let _ = writeln!(
            out,
            "| {} | {} | {} | {} | {} | {} | {}{} | {} | {} | {} | {} |",
            series.scenario,
            series.server,
            series.protocol,
            series.driver,
            time(cost.cpu_s * 1e9),
            bytes(cost.memory_bytes),
            bytes(cost.sent_bytes),
            if cost.whole { "" } else { " (payload)" },
            three_digits(cost.cpu),
            three_digits(cost.memory),
            three_digits(cost.network),
            three_digits(cost.total())
        );
    }
    let _ = write!(
        out,
        "\nA month has {DAYS} days. CPU = requests × CPU a request ÷ 3,600 s × price of a core hour. Memory = peak RSS of one process × {DAYS} × 24 h × price of a GiB hour. \
         Network = requests × bytes sent a request ÷ 10^9 × price of a GB; (payload) where wire bytes were not counted: headers and framing come on top.\n\n\
         Resources of the server alone, as this machine measured them, with no reserve for peaks, a second instance, load balancers or TLS. \
         CPU a request depends on the load: compare rows of one scenario and driver.\n"
    );
    out
}
