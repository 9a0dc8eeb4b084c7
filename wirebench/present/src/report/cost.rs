//! The monthly cost estimate of a run: a table and the formula behind it.

use crate::report::format::{bytes, count, plain, three_digits, time};
use crate::report::table::{Table, number, text};
use wirebench_judge::summary::cost::{Cost, DAYS, Rates};

/// The estimate as Markdown. `about` says where the prices come from, `currency` is their currency.
#[must_use]
pub fn render(costs: &[Cost], rates: &Rates, about: &str, currency: &str) -> String {
    let (about, currency) = (plain(about), plain(currency));
    let columns = [
        text("scenario"),
        text("server"),
        text("protocol"),
        text("driver"),
        number("CPU a request"),
        number("memory"),
        number("sent a request"),
        number(format!("CPU, {currency}")),
        number(format!("memory, {currency}")),
        number(format!("network, {currency}")),
        number(format!("month, {currency}")),
    ];
    format!(
        "# What a month would cost\n\n\
         {} requests a day, {about}: {} {currency} a core hour, {} {currency} a GiB hour, {} {currency} a GB sent.\n\n\
         {}\n\
         A month has {DAYS} days. CPU = requests × CPU a request ÷ 3,600 s × price of a core hour. Memory = peak RSS of one process × {DAYS} × 24 h × price of a GiB hour. \
         Network = requests × bytes sent a request ÷ 10^9 × price of a GB; (payload) where wire bytes were not counted: headers and framing come on top.\n\n\
         Resources of the server alone, as this machine measured them, with no reserve for peaks, a second instance, load balancers or TLS. \
         CPU a request depends on the load: compare rows of one scenario and driver.\n",
        count(rates.requests_per_day),
        rates.cpu_core_hour,
        rates.memory_gib_hour,
        rates.network_gb,
        Table::new(columns, costs.iter().map(row)).markdown()
    )
}

fn row(cost: &Cost) -> [String; 11] {
    let series = cost.row.series;
    let payload = if cost.whole { "" } else { " (payload)" };
    [
        series.scenario.clone(),
        series.server.clone(),
        series.protocol.clone(),
        series.driver.clone(),
        time(cost.cpu_s * 1e9),
        bytes(cost.memory_bytes),
        format!("{}{payload}", bytes(cost.sent_bytes)),
        three_digits(cost.cpu),
        three_digits(cost.memory),
        three_digits(cost.network),
        three_digits(cost.total()),
    ]
}
