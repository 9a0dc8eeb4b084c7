//! HTTP or gRPC, job by job: which of two sides costs less in one run, in one sentence and one row for each job.

use std::fmt::Write as _;

use crate::claims::figures::{figure, marked, median_of, pair, payload};
use crate::claims::judged::newest;
use crate::claims::publication::{Job, PublicComparison};
use wirebench_judge::summary::multiple::Multiple;
use wirebench_present::report::format::{plain, three_digits};
use wirebench_present::report::table::{Table, number, text};
use wirebench_record::metric::Metric;
use wirebench_record::run::{Round, Run};

/// The latency that h2load measures over HTTP/2 leaves out its own waiting, and cannot be compared with HTTP/1.1's.
const NO_LATENCY: &str = "h2load";

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

/// Every job of the comparisons by rank, those without one last, each by the newest run that measured its comparison.
#[must_use]
pub fn answers<'a>(comparisons: &'a [PublicComparison], runs: &[&Run]) -> Vec<Answer<'a>> {
    let of = |comparison: &'a PublicComparison| {
        let run = newest(comparison, runs.iter().copied());
        comparison.jobs.iter().map(move |job| answer(job, run))
    };
    let mut answers: Vec<Answer> = comparisons.iter().flat_map(of).collect();
    answers.sort_by_key(|answer| answer.job.rank.unwrap_or(u32::MAX));
    answers
}

/// All answers in one sentence: in how many jobs the first side, HTTP, costs less, and in how many the second.
#[must_use]
pub fn headline(answers: &[Answer]) -> String {
    let measured: Vec<Multiple> = answers.iter().filter_map(|answer| answer.server_cpu).collect();
    let less = |is_first: bool| {
        let clear = measured.iter().filter(|cpu| cpu.is_clear());
        clear.filter(|cpu| (cpu.times > 1.0) == is_first).count()
    };
    let (http, grpc) = (less(true), less(false));
    let equal = match measured.len() - http - grpc {
        0 => String::new(),
        equal => format!("; in {equal} no difference was seen"),
    };
    format!(
        "Of {} jobs that were measured, HTTP costs the server less CPU in {http} and gRPC in {grpc}{equal}.",
        measured.len()
    )
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
    /// The job and its answer in one line of Markdown.
    fn line(&self) -> String {
        format!("**{}**: {}", plain(&self.job.job), self.sentence())
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
        let [times, low, high] = [times, low, high].map(three_digits);
        format!("{less} costs less. {more} takes × {times} ({low} to {high}) of its server CPU per request.")
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
            plain(&self.job.job),
            format!("{} → {}", plain(first), plain(second)),
            both(self.microseconds),
        ];
        cells.extend(ratios.map(marked));
        cells.extend([both(self.payload), series.join(", ")]);
        cells
    }
}

/// A list of all answers: README and document share it.
fn list(answers: &[Answer]) -> String {
    answers.iter().fold(String::new(), |mut out, one| {
        let _ = writeln!(out, "- {}", one.line());
        out
    })
}

/// The first section of the document; empty if no comparison names a job.
pub(super) fn section(answers: &[Answer]) -> String {
    if answers.is_empty() {
        return String::new();
    }
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
    let table = Table::new(columns, answers.iter().map(Answer::row));
    format!(
        "## The answer, by job\n\n**By job, not by protocol.** {}\n\n{}\nThey hold for the servers, clients and machine of the run. Ratios are second side ÷ first side: the Hodges–Lehmann estimate over rounds of the same number, measured in turn, \
         with the 95 % interval (of fewer than 6 rounds, their range); bold where equality lies outside. They need not be the quotient of the two medians. Latency is left out where h2load's over HTTP/2 would stand beside HTTP/1.1's.\n\n\
         {}\n",
        headline(answers),
        list(answers),
        table.markdown()
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use wirebench_judge::summary::multiple::Bounds;

    fn run() -> Run {
        serde_json::from_str(include_str!("../../../../results/reference/run.json")).unwrap()
    }

    fn job(pair: [&str; 2]) -> Job {
        Job {
            job: "a direct call".into(),
            sides: ["HTTP".into(), "gRPC".into()],
            pair: pair.map(str::to_owned),
            rank: None,
        }
    }

    #[test]
    fn the_headline_counts_the_jobs_in_which_each_side_costs_less() {
        let run = run();
        let known = job(["weather-fixed-count@http@h2load", "weather-fixed-count@grpc@h2load"]);
        let of = |times: f64, low: f64, high: f64| Answer {
            server_cpu: Some(Multiple {
                times,
                low,
                high,
                bounds: Bounds::Interval,
            }),
            ..answer(&known, Some(&run))
        };
        let missing = job(["weather-fixed-count@http@h2load", "x@y@z"]);
        let all = [
            of(1.8, 1.6, 2.0),
            of(1.4, 1.2, 1.6),
            of(0.7, 0.6, 0.8),
            of(1.0, 0.8, 1.2),
            answer(&missing, Some(&run)),
        ];
        assert_eq!(
            headline(&all),
            "Of 4 jobs that were measured, HTTP costs the server less CPU in 2 and gRPC in 1; in 1 no difference was seen."
        );
        assert_eq!(
            headline(&all[..3]),
            "Of 3 jobs that were measured, HTTP costs the server less CPU in 2 and gRPC in 1."
        );
    }

    #[test]
    fn jobs_are_sorted_by_rank() {
        let mut jobs = [
            job(["a@b@c", "a@d@c"]),
            job(["a@b@c", "a@d@c"]),
            job(["a@b@c", "a@d@c"]),
        ];
        (jobs[0].job, jobs[1].job, jobs[2].job) = ("last".into(), "second".into(), "first".into());
        (jobs[1].rank, jobs[2].rank) = (Some(2), Some(1));
        let comparison = crate::claims::document::tests::comparison();
        let comparison = PublicComparison {
            jobs: jobs.to_vec(),
            ..comparison
        };
        let text = list(&answers(&[comparison], &[&run()]));
        let at = |word: &str| text.find(word).unwrap();
        assert!(
            at("**first**") < at("**second**") && at("**second**") < at("**last**"),
            "{text}"
        );
    }

    #[test]
    fn an_answer_names_the_side_that_costs_the_server_less() {
        let run = run();
        let forth = job(["weather-fixed-count@http@h2load", "weather-fixed-count@grpc@h2load"]);
        let answer = answer(&forth, Some(&run));
        let line = answer.line();
        assert!(
            line.starts_with("**a direct call**: HTTP costs less. gRPC takes × 1."),
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
            line.starts_with("**a direct call**: HTTP costs less. gRPC takes × 1."),
            "{line}"
        );
    }

    #[test]
    fn an_answer_says_that_it_is_unclear_or_not_measured() {
        let run = run();
        let missing = job(["weather-fixed-count@http@h2load", "x@y@z"]);
        assert_eq!(
            answer(&missing, Some(&run)).line(),
            "**a direct call**: not measured in this run."
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
            "**a direct call**: no difference in server CPU that this run can see (gRPC takes × 0.90 to × 1.20 of HTTP's)."
        );
    }
}
