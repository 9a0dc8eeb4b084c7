//! How requests are paced, in words, and the figures of open loops: offered, achieved, dropped, and the steps of a search.

use crate::report::format::{count, plural, time};
use crate::report::table::{Table, number, text};
use wirebench_judge::summary::{Row, Section};
use wirebench_record::run::{Bound, LoadRecord, Series, StageRecord};

/// How requests follow each other: `10,000 requests/s offered`; `None` for a closed loop without a pause. The measured
/// capacity is not included, because it differs from series to series.
pub fn pace(load: &LoadRecord) -> Option<String> {
    if let Some(search) = load.search {
        return Some(format!(
            "the highest rate from {} to {} requests/s whose p99 is at most {}",
            count(f64::from(search.from_per_s)),
            count(f64::from(search.to_per_s)),
            time(search.p99_ns as f64)
        ));
    }
    if let Some(permille) = load.rate_permille {
        return Some(format!("{} of the capacity offered", share(permille)));
    }
    if let Some(rate) = load.rate_per_s {
        return Some(format!("{} requests/s offered", count(f64::from(rate))));
    }
    load.pause_ns
        .map(|ns| format!("a pause of {} after each answer", time(ns as f64)))
}

/// What the series of a scenario measured in a round.
pub(crate) fn about(section: &Section) -> String {
    (section.rows.first()).map_or_else(String::new, |row| offered(&row.series.load))
}

/// What was measured in a round: `100,000 requests a round, 100 connections × 1 stream.`
pub fn offered(load: &LoadRecord) -> String {
    if let Some(starts) = load.starts {
        return format!(
            "From exec to the first good answer, and stopping again; {} a round, every one a new process.",
            plural(starts as usize, "start")
        );
    }
    if let Some(samples) = load.samples {
        let samples = plural(samples as usize, "sample");
        return format!(
            "Time of one iteration inside the program, without a server; {samples} a round, each the mean of many iterations."
        );
    }
    let amount = match (load.requests, load.duration_ns) {
        (Some(requests), _) => format!("{} requests", count(requests as f64)),
        (_, Some(ns)) => time(ns as f64),
        _ => stages(load).unwrap_or_else(|| "No load".into()),
    };
    let connections = plural(load.connections.unwrap_or(1) as usize, "connection");
    let streams = plural(load.streams.unwrap_or(1) as usize, "stream");
    let pace = pace(load).map_or(String::new(), |pace| format!(", {pace}"));
    format!("{amount} a round, {connections} × {streams}{pace}.")
}

/// Load stages in words: `to 100 connections in 30.0 s, to 0 in 10.0 s`; `None` if the number of connections does not change.
pub fn stages(load: &LoadRecord) -> Option<String> {
    let one = |(place, stage): (usize, &StageRecord)| {
        let word = if place == 0 { " connections" } else { "" };
        let (connections, length) = (count(f64::from(stage.connections)), time(stage.duration_ns as f64));
        format!("to {connections}{word} in {length}")
    };
    let words: Vec<String> = load.stages.iter().enumerate().map(one).collect();
    (!words.is_empty()).then(|| words.join(", "))
}

/// Where the offered rate comes from: `70 % of the capacity, 12,345/s (client-bound)`.
fn origin(load: &LoadRecord) -> String {
    if let Some(search) = load.search {
        return format!("highest found with p99 ≤ {}", time(search.p99_ns as f64));
    }
    let (Some(permille), Some(capacity)) = (load.rate_permille, load.capacity_per_s) else {
        return "as declared".into();
    };
    let bound = match load.capacity_bound {
        Some(Bound::Client) => " (client-bound)",
        Some(Bound::Neither) => " (neither side busy)",
        Some(Bound::Server) | None => "",
    };
    format!(
        "{} of the capacity, {}/s{bound}",
        share(permille),
        count(f64::from(capacity))
    )
}

/// Offered per second, achieved, dropped, and where the rate comes from; `None` for a closed loop.
pub fn figures(row: &Row) -> Option<[String; 4]> {
    let offered = row.offered()?;
    let dash = || "–".to_owned();
    Some([
        count(offered.per_s),
        offered
            .achieved
            .map_or_else(dash, |spread| format!("{:.1} %", spread.median * 100.0)),
        offered.dropped.map_or_else(dash, |dropped| count(dropped as f64)),
        origin(&row.series.load),
    ])
}

/// Every step of every search of a series, in the order measured: round, rate, achieved, p99, and how it went.
pub fn steps(series: &Series) -> Vec<[String; 5]> {
    let dash = || "–".to_owned();
    let of_round = series.rounds.iter().flat_map(|round| {
        let name = format!("{} of the {}", round.round, round.variant.name());
        round.search.iter().map(move |step| (name.clone(), step))
    });
    of_round
        .map(|(round, step)| {
            let went = match (&step.why, step.passed) {
                (_, true) => "✓ holds".to_owned(),
                (Some(why), false) => format!("✗ {why}"),
                (None, false) => "✗".into(),
            };
            [
                round,
                count(f64::from(step.rate_per_s)),
                step.achieved_per_s.map_or_else(dash, |rate| count(f64::from(rate))),
                step.p99_ns.map_or_else(dash, |ns| time(ns as f64)),
                went,
            ]
        })
        .collect()
}

/// A row for each open loop; empty without any.
pub(super) fn table(rows: &[Row]) -> Table {
    let columns = [
        text("server"),
        text("driver"),
        number("offered/s"),
        number("achieved"),
        number("dropped"),
        text("the rate is"),
    ];
    let cells = |row: &Row| {
        let names = [row.series.server.clone(), row.series.driver.clone()];
        Some(names.into_iter().chain(figures(row)?).collect::<Vec<String>>())
    };
    Table::new(columns, rows.iter().filter_map(cells))
}

/// The rates that each search tried, and which of them held, in one line of Markdown for each search.
pub(super) fn searches(rows: &[Row]) -> Vec<String> {
    let rounds = rows
        .iter()
        .flat_map(|row| row.series.rounds.iter().map(|round| (&row.series.id, round)));
    rounds
        .filter(|(_, round)| !round.search.is_empty())
        .map(|(series, round)| {
            let tried = round.search.iter().map(|step| {
                let mark = if step.passed { "✓" } else { "✗" };
                format!("{} {mark}", count(f64::from(step.rate_per_s)))
            });
            let tried = tried.collect::<Vec<_>>().join(" · ");
            format!("`{series}`, round {}: {tried}", round.round)
        })
        .collect()
}

fn share(permille: u32) -> String {
    format!("{} %", f64::from(permille) / 10.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use wirebench_judge::summary::sections;
    use wirebench_record::run::{Run, SearchRecord, SearchStep};

    fn run(load: LoadRecord) -> Run {
        let text = include_str!("../../../../results/reference/run.json");
        let mut run: Run = serde_json::from_str(text).unwrap();
        let series = run.series.iter_mut().find(|series| !series.is_counted()).unwrap();
        series.load = load;
        series.rounds.truncate(1);
        series.rounds[0].elapsed_ns = Some(1_000_000_000);
        series.rounds[0].ok_count = Some(700);
        run
    }

    #[test]
    fn a_closed_loop_adds_nothing() {
        let run = run(LoadRecord::default());
        assert!(table(&sections(&run)[0].rows).is_empty() && searches(&sections(&run)[0].rows).is_empty());
        assert_eq!(
            (pace(&LoadRecord::default()), stages(&LoadRecord::default())),
            (None, None)
        );
    }

    #[test]
    fn a_share_of_the_capacity_says_what_it_is_of() {
        let load = LoadRecord {
            rate_per_s: Some(700),
            rate_permille: Some(700),
            capacity_per_s: Some(1_000),
            capacity_bound: Some(Bound::Client),
            ..LoadRecord::default()
        };
        assert_eq!(pace(&load).unwrap(), "70 % of the capacity offered");
        let run = run(load);
        let text = table(&sections(&run)[0].rows).markdown();
        let line = "| 700 | 100.0 % | – | 70 % of the capacity, 1,000/s (client-bound) |";
        assert!(text.contains(line), "{text}");
    }

    #[test]
    fn a_search_shows_every_rate_it_tried() {
        let load = LoadRecord {
            search: Some(SearchRecord {
                p99_ns: 5_000_000,
                from_per_s: 500,
                to_per_s: 50_000,
            }),
            ..LoadRecord::default()
        };
        let step = |rate_per_s, why: Option<&str>| SearchStep {
            rate_per_s,
            achieved_per_s: Some(rate_per_s),
            p99_ns: Some(4_000_000),
            passed: why.is_none(),
            why: why.map(str::to_owned),
        };
        let mut run = run(load);
        let series = run.series.iter_mut().find(|series| !series.is_counted()).unwrap();
        series.rounds[0].search = vec![step(5_000, Some("p99 is over 5ms")), step(700, None)];
        let lines = steps(series);
        assert_eq!(lines[0][1..], ["5,000", "5,000", "4.00 ms", "✗ p99 is over 5ms"]);
        assert_eq!(lines[1][4], "✓ holds");
        let sections = sections(&run);
        let text = table(&sections[0].rows).markdown();
        assert!(
            text.contains("| 700 | 100.0 % | – | highest found with p99 ≤ 5.00 ms |"),
            "{text}"
        );
        let tried = searches(&sections[0].rows);
        assert!(tried[0].contains("round 0: 5,000 ✗ · 700 ✓"), "{tried:?}");
    }

    #[test]
    fn stages_and_pauses_have_words() {
        let stage = |connections, seconds: u64| StageRecord {
            connections,
            duration_ns: seconds * 1_000_000_000,
        };
        let load = LoadRecord {
            stages: vec![stage(1_000, 30), stage(0, 10)],
            pause_ns: Some(100_000_000),
            ..LoadRecord::default()
        };
        assert_eq!(stages(&load).unwrap(), "to 1,000 connections in 30.0 s, to 0 in 10.0 s");
        assert_eq!(pace(&load).unwrap(), "a pause of 100 ms after each answer");
    }
}
