//! HTTP or gRPC, job by job: which of two sides costs less in one run, in one sentence and one row for each job.

use std::fmt::Write as _;

use crate::claims::figures::{figure, marked, median_of, pair, payload};
use crate::claims::judged::newest;
use crate::claims::publication::{Job, PublicComparison};
use wirebench_judge::summary::head_to_head::Multiple;
use wirebench_present::report::format::{plain, three_digits};
use wirebench_present::report::table::{Table, number, text};
use wirebench_record::metric::Metric;
use wirebench_record::run::{Round, Run};

/// The latency that h2load measures over HTTP/2 leaves out its own waiting, and cannot be compared with HTTP/1.1's.
const NO_LATENCY: &str = "h2load";

/// A lead whose interval begins nearer to 1 than this is called small.
const NARROW: f64 = 1.05;

/// One job with its figures in a run.
#[derive(Debug)]
pub struct Answer<'a> {
    /// The job.
    pub job: &'a Job,
    /// Server CPU of a request, second side as a multiple of the first; `None` if the run has not measured both.
    pub server_cpu: Option<Multiple>,
    /// Client CPU of a request.
    client_cpu: Option<Multiple>,
    /// Requests/s.
    throughput: Option<Multiple>,
    /// Median latency.
    latency: Option<Multiple>,
    /// Largest memory of the servers.
    memory: Option<Multiple>,
    /// Bytes of a response's body or message on both sides.
    payload: Option<[f64; 2]>,
    /// Server CPU of a request on both sides, µs.
    microseconds: Option<[f64; 2]>,
}

/// Every job of the comparisons by the newest run that measured its comparison; groups in the order in which they are first
/// named, the largest lead of gRPC first in each.
#[must_use]
pub fn answers<'a>(comparisons: &'a [PublicComparison], runs: &[&Run]) -> Vec<Answer<'a>> {
    let mut answers: Vec<Answer> = Vec::new();
    for comparison in comparisons {
        let run = newest(comparison, runs.iter().copied());
        answers.extend(comparison.jobs.iter().map(|job| answer(job, run)));
    }
    let groups: Vec<&str> = answers.iter().map(|answer| answer.job.group.as_str()).collect();
    let place = |answer: &Answer| groups.iter().position(|group| *group == answer.job.group);
    let times = |answer: &Answer| answer.server_cpu.map_or(f64::INFINITY, |cpu| cpu.times);
    answers.sort_by(|one, other| {
        let by_group = place(one).cmp(&place(other));
        by_group.then(times(one).total_cmp(&times(other)))
    });
    answers
}

/// All answers, sorted as [`answers`] returns them, in one sentence: the range of ratios in each group. It counts no wins: jobs
/// are examples, not votes.
#[must_use]
pub fn headline(answers: &[Answer]) -> String {
    let groups = answers.chunk_by(|one, other| one.job.group == other.job.group);
    let range = |group: &[Answer]| {
        let measured: Vec<f64> = group
            .iter()
            .filter_map(|answer| Some(answer.server_cpu?.times))
            .collect();
        let [least, most] = [*measured.first()?, *measured.last()?].map(three_digits);
        // Only the first letter: a group may name Node.js.
        let name = plain(&group[0].job.group);
        let (first, rest) = name.split_at(name.chars().next().map_or(0, char::len_utf8));
        let name = first.to_lowercase() + rest;
        let range = if least == most {
            format!("× {least}")
        } else {
            format!("× {least} to × {most}")
        };
        Some(format!("{name} {range}"))
    };
    let ranges: Vec<String> = groups.filter_map(range).collect();
    match ranges.as_slice() {
        [] => "No job was measured.".into(),
        ranges => format!(
            "gRPC takes this much of HTTP's server CPU per request: {}.",
            ranges.join(", ")
        ),
    }
}

fn answer<'a>(job: &'a Job, run: Option<&Run>) -> Answer<'a> {
    let pair = run.and_then(|run| pair(run, &job.pair));
    let ratio = |metric| pair.and_then(|[first, second]| Multiple::of(metric, second, first));
    let both = |read: fn(&Round) -> Option<f64>| {
        let [first, second] = pair?;
        Some([median_of(first, read)?, median_of(second, read)?])
    };
    let has_latency =
        pair.is_some_and(|[first, second]| first.protocol == second.protocol || first.driver != NO_LATENCY);
    Answer {
        job,
        server_cpu: ratio(Metric::ServerCpu),
        client_cpu: ratio(Metric::DriverCpu),
        throughput: ratio(Metric::Throughput),
        latency: ratio(Metric::LatencyP50).filter(|_| has_latency),
        memory: ratio(Metric::PeakRss),
        payload: both(payload),
        microseconds: both(|round| Metric::ServerCpu.of(round).map(|ns| ns / 1e3)),
    }
}

impl Answer<'_> {
    /// The job with the shape of work that it belongs to.
    #[must_use]
    pub fn name(&self) -> String {
        format!("{}: {}", self.job.group, self.job.job)
    }

    /// The job and its answer in one line of Markdown.
    fn line(&self) -> String {
        format!("**{}**: {}", plain(&self.name()), self.sentence())
    }

    /// The answer in one sentence that can be quoted: which side costs the server less CPU, and by how much.
    #[must_use]
    pub fn sentence(&self) -> String {
        let [first, second] = [&self.job.sides[0], &self.job.sides[1]].map(|side| plain(side));
        let Some(cpu) = self.server_cpu else {
            return "not measured in this run.".into();
        };
        let [low, high] = [cpu.low, cpu.high];
        if !cpu.is_clear() {
            let [low, high] = [low, high].map(three_digits);
            return format!(
                "no difference in server CPU that this run can see ({second} takes × {low} to × {high} of {first}'s)."
            );
        }
        let (less, more, times, low, high) = if cpu.times > 1.0 {
            (first, second, cpu.times, low, high)
        } else {
            (second, first, 1.0 / cpu.times, 1.0 / high, 1.0 / low)
        };
        let narrowly = if low < NARROW { " by little" } else { "" };
        let [times, low, high] = [times, low, high].map(three_digits);
        format!("{less} costs less{narrowly}. {more} takes × {times} ({low} to {high}) of its server CPU per request.")
    }

    fn row(&self) -> Vec<String> {
        let [first, second] = &self.job.sides;
        let both = |pair: Option<[f64; 2]>| {
            pair.map_or("–".into(), |[first, second]| {
                format!("{} → {}", figure(first), figure(second))
            })
        };
        let ratios = [
            self.server_cpu,
            self.client_cpu,
            self.throughput,
            self.latency,
            self.memory,
        ];
        let series = [&self.job.pair[0], &self.job.pair[1]].map(|id| format!("`{}`", plain(id)));
        let mut cells = vec![
            plain(&self.name()),
            format!("{} → {}", plain(first), plain(second)),
            both(self.microseconds),
        ];
        cells.extend(ratios.map(marked));
        cells.extend([both(self.payload), series.join(", ")]);
        cells
    }
}

/// The answer for each of the readers' cases that jobs name: the case, and one sentence over all of its jobs.
#[must_use]
pub fn cases(answers: &[Answer]) -> Vec<(String, String)> {
    let mut names: Vec<&str> = Vec::new();
    for case in answers.iter().filter_map(|answer| answer.job.case.as_deref()) {
        if !names.contains(&case) {
            names.push(case);
        }
    }
    let of_case = |case: &str| {
        let jobs: Vec<&Answer> = answers
            .iter()
            .filter(|answer| answer.job.case.as_deref() == Some(case))
            .collect();
        (plain(case), of_jobs(&jobs))
    };
    names.into_iter().map(of_case).collect()
}

/// One sentence over jobs that are sorted by their ratio.
fn of_jobs(jobs: &[&Answer]) -> String {
    let [least, .., most] = jobs else {
        return jobs.first().map_or_else(String::new, |one| one.sentence());
    };
    let Some((low, high)) = least.server_cpu.zip(most.server_cpu) else {
        return "not measured in this run.".into();
    };
    let all = |wins: fn(&Multiple) -> bool| {
        jobs.iter()
            .all(|one| one.server_cpu.is_some_and(|cpu| cpu.is_clear() && wins(&cpu)))
    };
    let [first, second] = [&least.job.sides[0], &least.job.sides[1]].map(|side| plain(side));
    let verdict = if all(|cpu| cpu.times < 1.0) {
        format!("{second} costs less")
    } else if all(|cpu| cpu.times > 1.0) {
        format!("{first} costs less")
    } else {
        "it depends on the response and on the request rate".into()
    };
    format!(
        "{verdict}. {second} takes × {} ({}) to × {} ({}) of {first}'s server CPU per request.",
        three_digits(low.times),
        plain(&least.job.job),
        three_digits(high.times),
        plain(&most.job.job),
    )
}

/// The first screen of the document: the headline and the readers' cases. README quotes it.
pub(super) fn first_screen(answers: &[Answer]) -> String {
    let lines = cases(answers)
        .into_iter()
        .map(|(case, said)| format!("- **{case}**: {said}\n"));
    format!(
        "**By job, not by protocol.** {}\n\n{}",
        headline(answers),
        lines.collect::<String>()
    )
}

/// Every job: a line each, then the figures.
pub(super) fn every_job(answers: &[Answer]) -> String {
    let columns = [
        text("job"),
        text("sides"),
        number("server CPU per request, µs"),
        number("×"),
        number("client CPU ×"),
        number("requests/s ×"),
        number("p50 ×"),
        number("memory ×"),
        number("payload, bytes"),
        text("series"),
    ];
    let lines = answers.iter().fold(String::new(), |mut out, one| {
        let _ = writeln!(out, "- {}", one.line());
        out
    });
    format!(
        "{lines}\n{}",
        Table::new(columns, answers.iter().map(Answer::row)).markdown()
    )
}

/// What `plot/jobs.gnuplot` draws: a header, then for each group a row of its name and a row for each job, tab-separated. Ratios are
/// HTTP's server CPU as a multiple of gRPC's, so that gRPC's leads lie on the right; `side` is 0 (HTTP leads), 1 (nobody) or 2 (gRPC).
#[must_use]
pub fn chart(answers: &[Answer]) -> String {
    let mut out = "label\tat\tlow\thigh\tside\tserver CPU\tpayload\tp50\n".to_owned();
    for group in answers.chunk_by(|one, other| one.job.group == other.job.group) {
        let _ = writeln!(out, "{}\tNaN\tNaN\tNaN\t3\t\t\t", plain(&group[0].job.group));
        for answer in group {
            let Some(cpu) = answer.server_cpu else { continue };
            let side = match (cpu.is_clear(), cpu.times < 1.0) {
                (false, _) => 1,
                (true, false) => 0,
                (true, true) => 2,
            };
            let times = |ratio: f64| format!("× {}", three_digits(ratio));
            let _ = writeln!(
                out,
                "{}\t{:.4}\t{:.4}\t{:.4}\t{side}\t{}\t{}\t{}",
                plain(&answer.job.job),
                1.0 / cpu.times,
                1.0 / cpu.high,
                1.0 / cpu.low,
                times(cpu.times),
                answer
                    .payload
                    .map_or("–".into(), |[first, second]| times(second / first)),
                answer.latency.map_or("–".into(), |latency| times(latency.times)),
            );
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use wirebench_judge::summary::head_to_head::Bounds;

    fn run() -> Run {
        serde_json::from_str(include_str!("../../../../results/reference/run.json")).unwrap()
    }

    fn job(pair: [&str; 2]) -> Job {
        Job {
            group: "Called directly".into(),
            job: "a call".into(),
            case: None,
            sides: ["HTTP".into(), "gRPC".into()],
            pair: pair.map(str::to_owned),
        }
    }

    fn with_cpu(job: &Job, [low, times, high]: [f64; 3]) -> Answer<'_> {
        let bounds = Bounds::Interval;
        Answer {
            server_cpu: Some(Multiple {
                times,
                low,
                high,
                bounds,
            }),
            ..answer(job, Some(&run()))
        }
    }

    #[test]
    fn the_headline_gives_the_range_of_each_group_and_counts_no_wins() {
        let direct = job(["weather-fixed-count@http@h2load", "weather-fixed-count@grpc@h2load"]);
        let mut chain = direct.clone();
        chain.group = "Through a chain".into();
        let missing = job(["weather-fixed-count@http@h2load", "x@y@z"]);
        let all = [
            with_cpu(&direct, [0.7, 0.8, 0.9]),
            with_cpu(&direct, [1.6, 1.8, 2.0]),
            with_cpu(&chain, [0.9, 0.94, 0.99]),
        ];
        assert_eq!(
            headline(&all),
            "gRPC takes this much of HTTP's server CPU per request: called directly × 0.80 to × 1.80, through a chain × 0.94."
        );
        assert_eq!(headline(&[answer(&missing, Some(&run()))]), "No job was measured.");
    }

    #[test]
    fn a_case_is_one_sentence_over_its_jobs() {
        let mut small = job(["weather-fixed-count@http@h2load", "weather-fixed-count@grpc@h2load"]);
        small.case = Some("a chain".into());
        let mut large = small.clone();
        large.job = "a page".into();
        let said = |one, other| cases(&[with_cpu(&large, one), with_cpu(&small, other)]).remove(0).1;
        assert_eq!(
            said([0.7, 0.8, 0.9], [1.6, 1.8, 2.0]),
            "it depends on the response and on the request rate. gRPC takes × 0.80 (a page) to × 1.80 (a call) of HTTP's server CPU per request."
        );
        assert!(said([1.1, 1.2, 1.3], [1.6, 1.8, 2.0]).starts_with("HTTP costs less. gRPC takes × 1.20"));
        assert!(
            said([0.7, 0.8, 0.9], [0.8, 0.9, 1.1]).starts_with("it depends"),
            "one is not clear"
        );
        let alone = cases(&[with_cpu(&small, [0.7, 0.8, 0.9])]);
        assert_eq!(
            alone,
            [("a chain".to_owned(), with_cpu(&small, [0.7, 0.8, 0.9]).sentence())]
        );
    }

    #[test]
    fn the_chart_has_a_lead_of_grpc_on_the_right() {
        let direct = job(["weather-fixed-count@http@h2load", "weather-fixed-count@grpc@h2load"]);
        let chart = chart(&[with_cpu(&direct, [0.4, 0.5, 0.8]), with_cpu(&direct, [1.6, 2.0, 2.5])]);
        let rows: Vec<&str> = chart.lines().skip(1).collect();
        assert!(rows[0].starts_with("Called directly\tNaN"), "{chart}");
        assert!(
            rows[1].starts_with("a call\t2.0000\t1.2500\t2.5000\t2\t× 0.50\t"),
            "{chart}"
        );
        assert!(
            rows[2].starts_with("a call\t0.5000\t0.4000\t0.6250\t0\t× 2.00\t"),
            "{chart}"
        );
    }

    #[test]
    fn a_lead_whose_interval_begins_close_to_one_is_said_to_be_small() {
        let direct = job(["weather-fixed-count@http@h2load", "weather-fixed-count@grpc@h2load"]);
        let line = |cpu| with_cpu(&direct, cpu).sentence();
        assert!(line([1.03, 1.07, 1.12]).starts_with("HTTP costs less by little. gRPC takes × 1.07"));
        assert!(line([0.85, 0.94, 0.99]).starts_with("gRPC costs less by little. HTTP takes × 1.06"));
        assert!(line([1.51, 1.66, 1.77]).starts_with("HTTP costs less. gRPC takes × 1.66"));
    }

    #[test]
    fn jobs_are_listed_by_group_and_by_effect() {
        let [http, grpc] = ["weather-fixed-count@http@h2load", "weather-fixed-count@grpc@h2load"];
        let mut jobs = [job([http, grpc]), job([grpc, http]), job([http, grpc])];
        (jobs[0].job, jobs[1].job, jobs[2].job) = ("third".into(), "second".into(), "first".into());
        jobs[2].group = "A group named later".into();
        jobs.swap(0, 1);
        jobs.swap(0, 2);
        let comparison = PublicComparison {
            jobs: jobs.to_vec(),
            ..crate::claims::document::tests::comparison()
        };
        let text = every_job(&answers(&[comparison], &[&run()]));
        let at = |word: &str| text.find(word).unwrap_or_else(|| panic!("no {word} in {text}"));
        assert!(
            at("A group named later: first") < at("Called directly: second"),
            "{text}"
        );
        assert!(at("Called directly: second") < at("Called directly: third"), "{text}");
    }

    #[test]
    fn an_answer_names_the_side_that_costs_the_server_less() {
        let run = run();
        let forth = job(["weather-fixed-count@http@h2load", "weather-fixed-count@grpc@h2load"]);
        let answer = answer(&forth, Some(&run));
        let line = answer.line();
        assert!(
            line.starts_with("**Called directly: a call**: HTTP costs less. gRPC takes × 1."),
            "{line}"
        );
        assert!(answer.latency.is_none(), "two protocols, and h2load");
        assert!(
            answer.row().concat().contains(" µ") || answer.row().concat().contains('→'),
            "{:?}",
            answer.row()
        );
        let mut back = job(["weather-fixed-count@grpc@h2load", "weather-fixed-count@http@h2load"]);
        back.sides.reverse();
        let line = super::answer(&back, Some(&run)).line();
        assert!(
            line.starts_with("**Called directly: a call**: HTTP costs less. gRPC takes × 1."),
            "{line}"
        );
    }

    #[test]
    fn an_answer_says_that_it_is_unclear_or_not_measured() {
        let run = run();
        let missing = job(["weather-fixed-count@http@h2load", "x@y@z"]);
        assert_eq!(
            answer(&missing, Some(&run)).line(),
            "**Called directly: a call**: not measured in this run."
        );
        let known = job(["weather-fixed-count@http@h2load", "weather-fixed-count@grpc@h2load"]);
        let mut unclear = answer(&known, Some(&run));
        unclear.server_cpu = Some(Multiple {
            times: 1.05,
            low: 0.9,
            high: 1.2,
            bounds: Bounds::Interval,
        });
        assert_eq!(
            unclear.line(),
            "**Called directly: a call**: no difference in server CPU that this run can see (gRPC takes × 0.90 to × 1.20 of HTTP's)."
        );
    }
}
